"""An assessment of an outcome: as expected, or not, or not known; the exit code follows from it."""

from __future__ import annotations

from counterexamples.lines import Role
from modelcheck.contract.coverage import not_tested
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import End, Holds, Outcome, Result, Unknown, Violated
from spec.frozen import frozen
from spec.model.ir import ExpectVerdict

MARKS = {  # before a line with the result of something
    Exit.EXPECTED: ("✓", Role.GOOD),
    Exit.VIOLATED: ("✗", Role.BAD),
    Exit.UNKNOWN: ("?", Role.UNSURE),
}
NOT_EXPECTED = "not as expected"


@frozen
class Assessment:
    """An exit code with its reason in a few words."""

    exit: Exit
    words: str
    role: Role


def assess(outcome: Outcome, *, strict: bool = False) -> Assessment:
    """The exit code of an outcome, by its worst result.

    `strict` counts what holds of nothing, and unused parts of the model too.
    """
    violated = [result.property for result in surprises(outcome)]
    if outcome.findings.error is not None or outcome.findings.end is End.ERROR:
        return Assessment(Exit.VIOLATED, "the model makes an error", Role.BAD)
    if violated:
        return Assessment(Exit.VIOLATED, f"violated: {', '.join(violated)}", Role.BAD)
    wrong = [result.property for result in outcome.findings.results if is_expected(outcome, result) is False]
    if wrong or (outcome.mismatches and not outcome.findings.end.partial):
        return Assessment(Exit.VIOLATED, NOT_EXPECTED, Role.BAD)
    unknown = [r.property for r in outcome.findings.results if isinstance(r.verdict, Unknown)]
    if unknown or outcome.findings.end.partial:
        why = f"no verdict on {', '.join(unknown)}" if unknown else "partial"
        return Assessment(Exit.UNKNOWN, why, Role.UNSURE)
    if strict and (names := not_tested(outcome)):
        return Assessment(Exit.VIOLATED, f"not put to the test: {', '.join(names)} (--strict)", Role.BAD)
    if strict and outcome.unused:
        return Assessment(Exit.VIOLATED, "something in the model is never used (--strict)", Role.BAD)
    return Assessment(Exit.EXPECTED, "as expected" if outcome.check.expect else "holds", Role.GOOD)


def surprises(outcome: Outcome) -> tuple[Result, ...]:
    """The results that are violated unexpectedly."""
    return tuple(
        result
        for result in outcome.findings.results
        if isinstance(result.verdict, Violated) and is_expected(outcome, result) is not True
    )


def is_expected(outcome: Outcome, result: Result) -> bool | None:
    """Whether a verdict is as expected; None if the check expects none.

    Details (how many faults, in how many steps) are part of the outcome's mismatches.
    """
    expected = [
        each
        for each in outcome.check.expect
        if isinstance(each, ExpectVerdict) and each.property == result.property
    ]
    if not expected or isinstance(result.verdict, Unknown):
        return None
    return all(each.holds is isinstance(result.verdict, Holds) for each in expected)
