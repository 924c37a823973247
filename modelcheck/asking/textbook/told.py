"""Claims as they were decided, for a terminal and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from counterexamples.text import story
from modelcheck.answers.outcome_json import as_json as outcome_json
from modelcheck.asking.textbook.claims import Bearing, Judgement
from modelcheck.asking.textbook.search import Decided, Shown
from modelcheck.contract.wording import budget_words, engine_words, scope_words, verdict_words
from modelcheck.diagnosis.explain import why

Json = dict[str, object]
SIGNS = {
    Bearing.FOR: Piece("✓ ", Role.GOOD),
    Bearing.AGAINST: Piece("✗ ", Role.BAD),
    Bearing.OPEN: Piece("? ", Role.UNSURE),
}
ROLES = {
    Judgement.TRUE: Role.GOOD,
    Judgement.CONDITIONAL: Role.UNSURE,
    Judgement.FALSE: Role.BAD,
    Judgement.OPEN: Role.UNSURE,
}


def told(found: Decided, width: int) -> Iterator[Line]:
    """The sentence, whether it is true, and each case with what its check came to and how far it looked."""
    claim, judged = found.claim, found.judgement
    yield ()
    yield from wrapped(line(Piece(f"{claim.name:<4} ", Role.STRONG)), claim.sentence, width)
    yield from wrapped(line("     "), verdict(found), width, ROLES[judged])
    yield from wrapped(line("     "), f"said in {claim.source}", width, Role.DIM)
    for each in found.shown:
        yield from _case(each, width)
    yield from _surprises(found, width)


def verdict(found: Decided) -> str:
    """Whether the sentence is true, with its condition where there is one."""
    return found.claim.words(found.judgement)


def _case(shown: Shown, width: int) -> Iterator[Line]:
    yield from wrapped(line("     ", SIGNS[shown.bearing]), shown.case.when, width)
    yield from wrapped(line("       "), f"{check_words(shown)}: {found_words(shown)}", width, Role.DIM)
    if shown.outcome is not None:
        yield from wrapped(line("       "), " · ".join(extent(shown)), width, Role.DIM)


def check_words(shown: Shown) -> str:
    """Which check of which protocol a case is."""
    case = shown.case
    return f"{case.model}, {case.check}"


def found_words(shown: Shown) -> str:
    """What was found of the property, and that it was to fail, where it was."""
    if shown.outcome is None or shown.result is None:
        return shown.problem
    words = verdict_words(shown.outcome.model, shown.result)
    return f"{shown.case.property} {words}" + (", as it must" if _fails_rightly(shown) else "")


def _fails_rightly(shown: Shown) -> bool:
    return shown.case.must == "fail" and shown.bearing is Bearing.FOR


def extent(shown: Shown) -> list[str]:
    """How far it was looked: the scope, the faults, the engine and how many states it met."""
    outcome = shown.outcome
    if outcome is None:
        return []
    faults = f"faults: {budget_words(outcome.check.budget)}"
    states = count(outcome.findings.stats.states, "state")
    return [*scope_words(outcome.check.scope), faults, f"{engine_words(outcome.findings)}, {states}"]


def _surprises(found: Decided, width: int) -> Iterator[Line]:
    for words in surprise_words(found):
        yield from wrapped(line("     "), f"NOT AS EXPECTED: {words}", width, Role.BAD)


def surprise_words(found: Decided) -> Iterator[str]:
    """What came out otherwise than the claim says."""
    for each in found.surprises:
        yield f"the case “{each.case.when}” {each.bearing.value}"
    if not found.is_foretold:
        yield f"the sentence is {found.judgement.value}, and was {found.claim.foretold.value}"


def stories(found: Decided, width: int) -> Iterator[Line]:
    """The story of each run that refutes the sentence, or that bears it out where none does."""
    for each, trace in found.runs:
        yield ()
        yield from wrapped((), f"{found.claim.name}, {caption(each)}", width, Role.STRONG)
        yield from story(trace, width=width)
        yield from why(trace, width, in_full=False)


def caption(shown: Shown) -> str:
    """What the run of a case is there for."""
    return f"{'refuted' if shown.bearing is Bearing.AGAINST else 'borne out'}: {shown.case.when}"


def summary(found: Sequence[Decided]) -> str:
    """How many sentences came to what."""
    judged = [each.judgement for each in found]
    parts = [f"{judged.count(kind)} {kind.value}" for kind in Judgement if kind in judged]
    wrong = sum(bool(each.surprises or not each.is_foretold) for each in found)
    parts += [f"{wrong} NOT AS EXPECTED"] * bool(wrong)
    return f"{count(len(found), 'claim')}: {', '.join(parts)}"


def as_json(found: Decided) -> Json:
    """A claim and its cases as plain values."""
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


def _case_json(shown: Shown) -> Json:
    case = shown.case
    return {
        "when": case.when,
        "protocol": case.model,
        "check": case.check,
        "property": case.property,
        "must": case.must,
        "found": shown.bearing.value,
        "expected": case.expected.value,
        "outcome": None if shown.outcome is None else outcome_json(shown.outcome),
        "problem": shown.problem or None,
    }
