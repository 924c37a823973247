"""Claims as they were decided, for a terminal and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from counterexamples.text import story
from modelcheck.diagnosis.explain import why
from modelcheck.teaching.textbook.asked import Bearing
from modelcheck.teaching.textbook.claims import ClaimJudgement
from modelcheck.teaching.textbook.search import CaseResult, DecidedClaim
from modelcheck.teaching.textbook.wording import SIGNS, check_words, extent, found_json, found_words

Json = dict[str, object]
ROLES = {
    ClaimJudgement.TRUE: Role.GOOD,
    ClaimJudgement.CONDITIONAL: Role.UNSURE,
    ClaimJudgement.FALSE: Role.BAD,
    ClaimJudgement.OPEN: Role.UNSURE,
}


def judgement_lines(found: DecidedClaim, width: int) -> Iterator[Line]:
    """The lines on a claim: sentence, judgement, and each case with its result and extent."""
    claim, judged = found.claim, found.judgement
    yield ()
    yield from wrapped(line(Piece(f"{claim.name:<4} ", Role.STRONG)), claim.sentence, width)
    yield from wrapped(line("     "), verdict(found), width, ROLES[judged])
    yield from wrapped(line("     "), f"source: {claim.source}", width, Role.DIM)
    for each in found.shown:
        yield from _case(each, width)
    yield from _surprises(found, width)


def verdict(found: DecidedClaim) -> str:
    """The judgement in words, with its condition if there is one."""
    return found.claim.words(found.judgement)


def _case(shown: CaseResult, width: int) -> Iterator[Line]:
    """The lines on a case."""
    found = shown.found
    yield from wrapped(line("     ", SIGNS[shown.bearing]), shown.case.when, width)
    yield from wrapped(line("       "), f"{check_words(found.asked)}: {found_words(found)}", width, Role.DIM)
    if found.outcome is not None:
        yield from wrapped(line("       "), " · ".join(extent(found)), width, Role.DIM)


def _surprises(found: DecidedClaim, width: int) -> Iterator[Line]:
    """The lines on unexpected results."""
    for words in surprise_words(found):
        yield from wrapped(line("     "), f"NOT AS EXPECTED: {words}", width, Role.BAD)


def surprise_words(found: DecidedClaim) -> Iterator[str]:
    """The unexpected results in sentences."""
    for each in found.surprises:
        yield f"the case “{each.case.when}” {each.bearing.value}"
    if not found.is_as_expected:
        yield f"the sentence is {found.judgement.value}, and was {found.claim.expected.value}"


def stories(found: DecidedClaim, width: int) -> Iterator[Line]:
    """The stories of the runs that refute the claim, or else support it."""
    for each, trace in found.runs:
        yield ()
        yield from wrapped((), f"{found.claim.name}, {caption(each)}", width, Role.STRONG)
        yield from story(trace, width=width)
        yield from why(trace, width, in_full=False)


def caption(shown: CaseResult) -> str:
    """The heading of a case's run."""
    return f"{'refuted' if shown.bearing is Bearing.AGAINST else 'borne out'}: {shown.case.when}"


def summary(found: Sequence[DecidedClaim]) -> str:
    """The number of claims with each judgement, in words."""
    judged = [each.judgement for each in found]
    parts = [f"{judged.count(kind)} {kind.value}" for kind in ClaimJudgement if kind in judged]
    wrong = sum(bool(each.surprises or not each.is_as_expected) for each in found)
    parts += [f"{wrong} NOT AS EXPECTED"] * bool(wrong)
    return f"{count(len(found), 'claim')}: {', '.join(parts)}"


def as_json(found: DecidedClaim) -> Json:
    """A claim and its cases as JSON data."""
    claim = found.claim
    return {
        "name": claim.name,
        "about": claim.about,
        "sentence": claim.sentence,
        "source": claim.source,
        "verdict": found.judgement.value,
        "condition": claim.condition or None,
        "as_expected": not found.surprises,
        "cases": [_case_json(each) for each in found.shown],
    }


def _case_json(shown: CaseResult) -> Json:
    """A case as JSON data."""
    found = {"when": shown.case.when, **found_json(shown.found)}
    return {**found, "expected": shown.case.expected.value}
