"""The known bugs, *Warts* in `docs/explanation/limits.md`: each a test of what would be right, which fails.

When one passes, its line there goes with its test.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from counterexamples.trace import Trace
from modelcheck.api import Unsupported, check
from modelcheck.contract.result import Violated
from spec.load import loads
from tests.protocol_checks import named_check

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "limits.md"


def wart(raises: type[Exception] = AssertionError) -> pytest.MarkDecorator:
    """Marks a test as one of a known wrong, which fails in just this way."""
    return pytest.mark.xfail(strict=True, raises=raises, reason="a wart")


# A way round must come to 0, 3 and 7, where one of the fair actions cannot be taken.
ROUND = """
protocol way_round
state { x: 0..7 = 2, done: bool = false }
action left  { require x > 0 and not done  x := x - 1 }
action right { require x < 7 and not done  x := x + 1 }
fair action a { require x != 3 and not done  done := true }
fair action b { require x != 0 and not done  done := true }
fair action c { require x != 7 and not done  done := true }
always eventually over: done
check it { }
"""


@wart()
def test_way_round() -> None:
    (model,) = loads(ROUND)
    match check(model, model.checks[0]).verdict("over"):
        case Violated(trace=Trace() as trace):
            assert len(trace.steps) == 2 + 7 + 5  # to 0, to 7, and back
        case other:
            raise TypeError(other)  # another wrong than this one


@wart(Unsupported)
def test_viewstamped_by_a_solver() -> None:
    model, asked = named_check("viewstamped", "one_view")

    check(model, asked, engine="bmc")


def test_every_wart_on_the_page_has_a_test_and_every_test_a_wart() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("\n## Warts\n")[2].partition("\n## ")[0]
    told = re.findall(r"^- \*\*(\w+)\*\*: ", section, re.MULTILINE)
    tests = re.findall(r"^@wart\(.*\)\ndef test_(\w+)\(", Path(__file__).read_text("utf-8"), re.MULTILINE)

    assert len(told) == section.count("\n- ")
    assert told == tests
