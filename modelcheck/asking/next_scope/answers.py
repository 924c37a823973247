"""The answers of a check at a larger scope, next to those at its own."""

from __future__ import annotations

from collections.abc import Iterator

from counterexamples.lines import count
from counterexamples.trace import Erred, Trace
from modelcheck.asking.next_scope.larger import Bounds
from modelcheck.contract.result import Holds, Outcome, Result, Unknown, Verdict, Violated, run_of
from modelcheck.contract.wording import fault_words
from spec.frozen import frozen
from spec.model.ir import ExpectVerdict, Model, PropertyKind


@frozen
class ChangedAnswer:
    """A property whose verdict changes at a larger scope: both in words, with a run that shows it.

    `property` is empty where the model makes an error there.
    """

    property: str
    was: str
    now: str
    run: Trace | None


@frozen
class LargerAnswer:
    """The verdicts of a check with the bounds `names` one larger, compared with its own.

    `changes` are answers that differ: another verdict, or another fewest number of faults.  `lengths` are
    those of which only the steps differ.  `unfinished` is why something is not known, and `problem` why
    there is no such scope.  Where nothing was searched, `because` is what decides it all the same.
    """

    names: Bounds
    changes: tuple[ChangedAnswer, ...] = ()
    lengths: tuple[ChangedAnswer, ...] = ()
    unfinished: str = ""
    problem: str = ""
    because: str = ""
    states: int = 0

    @property
    def is_same(self) -> bool:
        """Whether every verdict is known to be unchanged."""
        return not self.changes and not self.unfinished and not self.problem


def compared(names: Bounds, own: Outcome, found: Outcome) -> LargerAnswer:
    """The comparison of the outcome at a larger scope with that of the check."""
    findings = found.findings
    states = findings.stats.states
    if findings.error is not None:
        return LargerAnswer(names, changes=(_error(findings.error),), states=states)
    changes, lengths, open_ = list[ChangedAnswer](), list[ChangedAnswer](), list[str]()
    for result in findings.results:
        before = own.result(result.property).verdict
        if not _is_comparable(before, result.verdict):
            reason = result.verdict.reason if isinstance(result.verdict, Unknown) else findings.end.value
            open_.append(reason)
            continue
        change = ChangedAnswer(
            result.property,
            _words(own.model, result, before),
            _words(own.model, result, result.verdict),
            run_of(result.verdict),
        )
        if _cost(before)[:2] != _cost(result.verdict)[:2] or _is_weaker(found, result):
            changes.append(change)
        elif _cost(before) != _cost(result.verdict):
            lengths.append(change)
    return LargerAnswer(names, tuple(changes), tuple(lengths), "; ".join(dict.fromkeys(open_)), states=states)


def _error(run: Trace) -> ChangedAnswer:
    """An error of the model as a changed verdict."""
    code = run.ending.code if isinstance(run.ending, Erred) else "an error"
    return ChangedAnswer("", "no error", f"the model makes an error, {code}", run)


def _cost(verdict: Verdict) -> tuple[bool, int | None, int | None]:
    """Whether a verdict holds, and the faults and steps of its run."""
    run = run_of(verdict)
    holds = isinstance(verdict, Holds)
    return (holds, None, None) if run is None else (holds, run.faults, len(run.steps))


def _is_comparable(before: Verdict, now: Verdict) -> bool:
    """Whether both verdicts are final; a run with fewer faults is, too."""
    if isinstance(before, Unknown) or isinstance(now, Unknown):
        return False
    if isinstance(before, Holds) is not isinstance(now, Holds):
        return True
    own, run = run_of(before), run_of(now)
    if now.unshown is not None or before.unshown is not None:
        return False
    if isinstance(now, Violated) and not now.fewest:
        return own is not None and run is not None and run.faults < own.faults
    return True


def _is_weaker(found: Outcome, result: Result) -> bool:
    """Whether a property expected to hold for any number of faults holds only for some here."""
    if not isinstance(result.verdict, Holds) or result.verdict.extent.faults is None:
        return False
    expected = (each for each in found.check.expect if isinstance(each, ExpectVerdict))
    return any(each.any_faults and each.property == result.property for each in expected)


def _words(model: Model, result: Result, verdict: Verdict) -> str:
    """A verdict with its run in words: "is violated (1 fault, 5 steps)"."""
    run = run_of(verdict)
    costs = "" if run is None else f" ({count(run.faults, 'fault')}, {count(len(run.steps), 'step')})"
    match verdict:
        case Holds() if result.kind is PropertyKind.REACHABLE:
            return f"is reached{costs}"
        case Holds(extent=extent):
            return f"holds {fault_words(model, extent)}".rstrip()
        case Violated() if result.kind is PropertyKind.REACHABLE and run is None:
            return "is never reached"
        case Violated():
            return f"is violated{costs}"
        case Unknown(reason):
            return f"is not known: {reason}"


def runs(answers: tuple[LargerAnswer, ...]) -> Iterator[Trace]:
    """The runs that show the changes."""
    changes = (change for answer in answers for change in answer.changes)
    yield from (change.run for change in changes if change.run is not None)
