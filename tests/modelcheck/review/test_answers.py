"""What a review makes of a verdict that comes without its run."""

from __future__ import annotations

from dataclasses import replace

from modelcheck.api import check
from modelcheck.contract.result import End, Outcome, Result, Unshown, Violated
from modelcheck.review.answers import Answer, _answer, _mixture
from modelcheck.review.kept import found
from modelcheck.review.questions import ANY, GUARANTEES, Question
from modelcheck.review.told import cell, mark, sentence
from spec.ir import Budget, PropertyKind
from spec.load import loads

WRITABLE = next(each for each in GUARANTEES if each.name == "writable")
MODEL = """
protocol road
state { stuck: bool = false }
fault snow { stuck := true }
recoverable writable: not stuck
check all { faults <= 2 }
"""


def stopped(least: int) -> Outcome:
    """A check whose search for the run was ended, when it had been through all runs with fewer faults."""
    (model,) = loads(MODEL)
    found = check(model, model.checks[0])
    (shown,) = found.findings.results
    assert isinstance(shown.verdict, Violated)
    extent = replace(shown.verdict.extent, faults=2)
    verdict = Violated(extent, None, fewest=False, unshown=Unshown(End.SECONDS.value, least))
    result = Result("writable", PropertyKind.RECOVERABLE, verdict, (True,) * least)
    return replace(found, findings=replace(found.findings, end=End.SECONDS, results=(result,)))


def answer(least: int) -> Answer:
    question = Question((WRITABLE,), ANY, Budget(2))
    return _mixture(_answer(question, WRITABLE, found(stopped(least))), [])


def test_what_is_known_to_break_a_guarantee_breaks_it_without_a_run() -> None:
    known = answer(1)

    assert [known.survives(faults) for faults in (0, 1, 2)] == [True, None, False]
    assert not known.complete
    assert cell(known)[0] == "<2"
    assert mark(known)[0] == "✗"
    assert sentence(known) == (
        "with at most 2 faults writes can stop until somebody repairs something; "
        "the search for such a run was cut short"
    )


def test_nothing_is_survived_for_certain_when_nobody_looked() -> None:
    assert [answer(0).survives(faults) for faults in (0, 1, 2)] == [None, None, False]
