"""Claims as a page for a course: each sentence as a question, and its answer folded away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.html.questions import Ground, PageQuestion, QuestionScene, questions_page
from counterexamples.lines import Role
from modelcheck.answers.html_report import LOOKED_AT
from modelcheck.diagnosis.explain import explain
from modelcheck.teaching.textbook.asked import Bearing
from modelcheck.teaching.textbook.search import CaseResult, DecidedClaim
from modelcheck.teaching.textbook.text import ROLES, caption, surprise_words, verdict
from modelcheck.teaching.textbook.wording import again, extent, found_words

TITLE = "Majority votes and in-sync replicas: is it true?"
ASKED = (
    "Sentences from manuals, papers and talks. Is each of them true, always or under some condition? "
    "Think of a run that refutes it before you open the answer."
)
ANSWERED = (
    "Every answer was computed: by a search of all runs of a model, as far as its scope and its budget of "
    "faults go. What holds, holds within these bounds; what is refuted has a run that shows it, with the "
    "fewest faults and then the fewest steps, unless what should happen never does."
)
PAIR = 2  # runs that are shown side by side
OF = {Bearing.FOR: Role.GOOD, Bearing.AGAINST: Role.BAD, Bearing.OPEN: Role.UNSURE}


def claims_page(found: Sequence[DecidedClaim]) -> str:
    """The HTML page of claims; equal findings give equal bytes.

    Costs the explanation of each run, up to some thousand states, and its pictures.
    """
    return questions_page([_question(each) for each in found], title=TITLE, about=(ASKED, ANSWERED))


def _question(found: DecidedClaim) -> PageQuestion:
    """A claim for the page."""
    claim, answer = found.claim, verdict(found)
    return PageQuestion(
        claim.name,
        claim.sentence,
        f"about {claim.about}",
        claim.source,
        f"{answer[0].upper()}{answer[1:]}.",
        ROLES[found.judgement],
        tuple(_ground(each) for each in found.shown),
        tuple(_scenes(found)),
        tuple(f"Not as expected: {words}." for words in surprise_words(found)),
        beside=len(found.runs) == PAIR,
    )


def _ground(shown: CaseResult) -> Ground:
    """A case as a reason for the answer."""
    asked = shown.found.asked
    found = f"{asked.model}, check {asked.check}: {found_words(shown.found)}"
    return Ground(shown.case.when, OF[shown.bearing], found, " · ".join(extent(shown.found)))


def _scenes(found: DecidedClaim) -> Iterator[QuestionScene]:
    """The runs of a claim for the page."""
    for shown, trace in found.runs:
        words = caption(shown)
        yield QuestionScene(
            f"{words[0].upper()}{words[1:]}", trace, explain(trace, LOOKED_AT), again(shown.found.asked)
        )
