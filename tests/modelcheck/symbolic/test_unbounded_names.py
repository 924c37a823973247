"""What variables are called is theirs alone: no formula takes one for a name of its own."""

from __future__ import annotations

import pytest

from modelcheck.api import check
from modelcheck.contract.result import Holds, Unknown
from spec.load import loads

NAMED = """
protocol named
state {{ {0}: 0..3 = 0 }}
action up {{ require {0} < 3  {0} := {0} + 1 }}
invariant small: {0} < 4
invariant wrong: exists n in 2..2. n != {0}
check c {{ }}
"""
BOUND = [f"{letter}{number}" for letter in "xyz" for number in range(1, 7)]


@pytest.mark.parametrize("name", [*BOUND, "xor", "distinct", "most", "one"])
def test_a_variable_is_not_taken_for_what_formulas_have_by_that_name(name: str) -> None:
    (model,) = loads(NAMED.format(name))
    found = check(model, model.checks[0], engine="prove")

    assert isinstance(found.verdict("small"), Holds)
    assert isinstance(found.verdict("wrong"), Unknown)
