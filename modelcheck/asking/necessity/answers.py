"""The answers of checks on the unchanged protocol, and on its mutants: the work of one process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from counterexamples.trace import Trace
from modelcheck.asking.necessity.switched import set_to
from modelcheck.asking.sweep import Orders, SweepAnswer, SweepPoint, answer
from modelcheck.contract.engine import Engine, Family, Limits
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import Holds, Outcome, Unknown, Violated
from modelcheck.engines.registry import engine
from spec.frozen import frozen
from spec.model.interchangeable import symmetric_sorts
from spec.model.ir import Check, ExpectVerdict, Model, PropertyKind
from spec.model.kinds import INVARIANTS, OF_STEPS

OF_SAFETY = OF_STEPS | {
    *INVARIANTS,
    *(PropertyKind.DEADLOCK_FREE, PropertyKind.RECOVERABLE),
}


@frozen
class MutationQuestion:
    """Some properties of a model with mutation switch, within the bounds of a check."""

    model: Model
    check: Check
    properties: tuple[str, ...]
    family: Family | None = field(compare=False, default=None)


@frozen
class UnmutatedAnswer:
    """A check's result on the unchanged protocol: properties that hold, or why it is `unknown`.

    `why` is empty where the check can be asked about mutants, by what holds.

    `unrefused` guards (action, guard) are never false in it, and `unused` actions never happen; `cut`
    are the limits at which the scope cuts it.
    """

    properties: tuple[str, ...] = ()
    states: int = 0
    unrefused: frozenset[tuple[str, str]] = frozenset()
    unused: frozenset[str] = frozenset()
    cut: frozenset[str] = frozenset()
    why: str = ""
    unknown: str = ""
    exit: Exit = Exit.EXPECTED


@frozen
class MutantAnswer:
    """The result of a check on a mutant: the best run that violates it, or why none is known."""

    place: int
    states: int = 0
    run: Trace | None = None
    problem: str = ""
    cut: frozenset[str] = frozenset()


class _Searches:
    """Runs searches in this process, sharing kernels within a family."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._engine: Engine | None = None

    def _answer(self, asked: MutationQuestion, check: Check, *, at_first: bool) -> SweepAnswer:
        """The result of one search, with symmetry where possible."""
        self._engine = self._engine or engine("explicit", series=True)
        symmetry = bool(symmetric_sorts(asked.model))
        orders = Orders(self._limits, symmetry, at_first)
        point = SweepPoint((), asked.model, replace(check, only=asked.properties))
        return answer(point, orders, engine=self._engine, family=asked.family)


class Unmutated(_Searches):
    """The result of each check on the unchanged protocol, by index."""

    def __init__(self, questions: Sequence[MutationQuestion], limits: Limits) -> None:
        super().__init__(limits)
        self._questions = tuple(questions)

    def __call__(self, number: int) -> UnmutatedAnswer:
        """The result of the check with an index."""
        asked = self._questions[number]
        if not asked.properties:
            return UnmutatedAnswer(why="it asks for no safety")
        verdicts = tuple(
            each
            for each in asked.check.expect
            if isinstance(each, ExpectVerdict) and each.property in asked.properties
        )
        found = self._answer(asked, replace(asked.check, expect=verdicts), at_first=False)
        if found.outcome is None:
            unknown = "" if found.exit is Exit.EXPECTED else found.problem
            return UnmutatedAnswer(why=found.problem, unknown=unknown, exit=found.exit)
        return _unmutated(found.outcome, found.exit)


def _unmutated(outcome: Outcome, exit_: Exit) -> UnmutatedAnswer:
    """The result of a check on the unchanged model."""
    findings = outcome.findings
    holding = tuple(each.property for each in findings.results if isinstance(each.verdict, Holds))
    reasons = [each.verdict.reason for each in findings.results if isinstance(each.verdict, Unknown)]
    unknown = "" if findings.error is not None else next(iter(reasons), "")
    why = ""
    if findings.error is not None:
        why = "the model makes an error"
    elif not holding:
        why = unknown or "nothing in it holds"
    stats = findings.stats
    return UnmutatedAnswer(
        () if why else holding,
        stats.states,
        frozenset(stats.unrefused),
        frozenset(stats.unused),
        frozenset(stats.cut),
        why,
        unknown,
        exit_,
    )


class Mutants(_Searches):
    """The results of checks on each mutant, by index, up to the first that is violated.

    `orders` has, for each mutant, the places of the questions to ask, in their order.
    """

    def __init__(
        self, questions: Sequence[MutationQuestion], orders: Sequence[Sequence[int]], limits: Limits
    ) -> None:
        super().__init__(limits)
        self._questions, self._orders = tuple(questions), tuple(orders)

    def __call__(self, number: int) -> tuple[MutantAnswer, ...]:
        """The results of the checks on the mutant with an index."""
        replies: list[MutantAnswer] = []
        for place in self._orders[number]:
            asked = self._questions[place]
            check = replace(set_to(asked.check, number + 1), expect=())
            replies.append(_of_mutant(place, self._answer(asked, check, at_first=True)))
            if replies[-1].run is not None:
                break
        return tuple(replies)


def _of_mutant(place: int, found: SweepAnswer) -> MutantAnswer:
    """The result of a check on a mutant: the cheapest violation, or why there is none."""
    if found.outcome is None:
        return MutantAnswer(place, problem=found.problem)
    findings = found.outcome.findings
    stats, cut = findings.stats, frozenset(findings.stats.cut)
    verdicts = [each.verdict for each in findings.results]
    runs = [each.trace for each in verdicts if isinstance(each, Violated) and each.trace is not None]
    runs += [] if findings.error is None else [findings.error]
    if runs:
        best = min(runs, key=lambda run: (run.faults, len(run.steps)))
        return MutantAnswer(place, stats.states, best, "", cut)
    unknown = [each.reason for each in verdicts if isinstance(each, Unknown)]
    unknown += [str(each.unshown) for each in verdicts if isinstance(each, Violated)]
    problem = findings.end.value if findings.end.partial else next(iter(unknown), "")
    return MutantAnswer(place, stats.states, None, problem, cut)
