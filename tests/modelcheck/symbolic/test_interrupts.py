"""What an interrupt leaves of the solver's values."""

from __future__ import annotations

import subprocess
import sys

HALF_MADE = """
import z3
import modelcheck.symbolic.solver
value = z3.BoolSortRef.__new__(z3.BoolSortRef)
del value
class Mine:
    def __del__(self):
        raise AttributeError("mine")
Mine()
"""


def test_a_value_that_is_half_made_goes_without_a_word_and_nothing_else_does() -> None:
    found = subprocess.run([sys.executable, "-c", HALF_MADE], capture_output=True, text=True, check=True)

    assert found.stderr.count("Traceback") == 1
    assert found.stderr.endswith("AttributeError: mine\n")
