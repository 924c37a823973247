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


LET_GO = """
import signal
from modelcheck.symbolic.interrupts import interruptible
import modelcheck.symbolic.solver

names = {"__name__": "z3.z3", "signal": signal}
exec("class Value: __del__ = lambda self: signal.raise_signal(signal.SIGINT)", names)
try:
    with interruptible() as look:
        value = names["Value"]()
        del value
        look()
except KeyboardInterrupt:
    print("heard")
"""


def test_ctrl_c_while_a_value_is_let_go_is_heard_afterwards_without_a_traceback() -> None:
    found = subprocess.run([sys.executable, "-c", LET_GO], capture_output=True, text=True, check=True)

    assert (found.stdout, found.stderr) == ("heard\n", "")


MADE = """
import signal
from modelcheck.api import task_of
from modelcheck.symbolic.answers import searched
import modelcheck.symbolic.solver
from spec.load import load

names = {"__name__": "z3.z3", "signal": signal}
exec("class Value: __del__ = lambda self: signal.raise_signal(signal.SIGINT)", names)

def make():
    value = names["Value"]()
    del value

model = load("quorum")[0]
print(searched("ic3", task_of(model, model.checks[0]), make).end.name)
"""


def test_ctrl_c_that_gets_lost_while_a_search_is_made_ends_it() -> None:
    found = subprocess.run([sys.executable, "-c", MADE], capture_output=True, text=True, check=False)

    assert (found.stdout, found.stderr) == ("INTERRUPTED\n", "")
