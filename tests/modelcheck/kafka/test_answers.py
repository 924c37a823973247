"""What a review makes of a verdict that comes without its run."""

from __future__ import annotations

from dataclasses import replace

from modelcheck.api import check
from modelcheck.contract.result import End, Outcome, Result, Unshown, Violated
from modelcheck.kafka.questions.answer_cache import found
from modelcheck.kafka.questions.answers import Answer, _answer, with_parts
from modelcheck.kafka.questions.question import ANY, GUARANTEES, Question, harm, surprise
from modelcheck.kafka.report.run_text import story
from modelcheck.kafka.report.wording import cell, mark, sentence
from spec.load import loads
from spec.model.ir import Budget, PropertyKind
from tests.stories import story as story_of

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
    return with_parts(_answer(question, WRITABLE, found(stopped(least))), [], moved=False)


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


def test_what_harms_no_record_is_told_before_what_does() -> None:
    assert harm(["crash", "isolate"]) < harm(["crash", "power_loss"]) < harm(["disk_loss"])


def test_of_equally_long_stories_the_one_that_an_engineer_expects_is_told() -> None:
    told = [
        {"crash": 1},
        {"session_loss": 1},
        {"isolate": 1, "session_loss": 1},  # a network that parts
        {"isolate": 1, "crash": 1},
    ]

    assert sorted(told, key=surprise) == told


def test_no_sentence_of_a_story_says_more_than_is_known() -> None:
    trace = story_of("jepsen")
    said, unsure = (
        "".join(piece.text for piece in next(story("The first loss", [trace], 100, least=least)))
        for least in (True, False)
    )

    assert said == "The first loss (2 faults, 5 steps; no run has fewer faults)"
    assert unsure == "The first loss (2 faults, 5 steps; whether fewer are enough is not known)"
