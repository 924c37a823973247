"""Whether checks keep their answers with each bound of their scope one larger: what to ask, and who asks.

First each check is answered as it is.  Then every bound is raised alone, and all together.  A bound that
the check calls `exactly` so large is no bound on how far to look: it is raised too, to show what changes,
and left as it is where the others are raised together.  NOTE(monotone) lists what is not searched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import factorial, prod
from time import monotonic

from modelcheck.asking.crew import shared_out
from modelcheck.asking.next_scope.answers import LargerAnswer, compared
from modelcheck.asking.next_scope.larger import (
    Bounds,
    are_unreached,
    bounds,
    is_monotone,
    larger,
    limits,
    refused,
)
from modelcheck.asking.sweep import Orders, SweepAnswer, SweepPoint, answer
from modelcheck.contract.assessment import assess
from modelcheck.contract.engine import Engine, Limits
from modelcheck.contract.exits import Exit
from modelcheck.contract.families import families, looked_at
from modelcheck.contract.report import AnswersDone, Reporter, Silent
from modelcheck.contract.result import End, Outcome
from modelcheck.engines.registry import engine
from modelcheck.processes.workers import Workers
from spec.frozen import frozen
from spec.model.interchangeable import symmetric_sorts
from spec.model.ir import Check, Model
from spec.model.kinds import OF_FAIR_RUNS

LIMITS = Limits(states=2_000_000)  # of each search
MOST_RENAMINGS = 720  # of members, up to which states are counted up to renaming
UNREACHED = "no step is cut there"
WITH_ALL = "the same with all of them larger"


@frozen
class NextScopeRow:
    """A check, and its verdicts at larger scopes: each bound alone, and several together.

    `why` is empty where the check itself has an answer to compare with; `exit` is that of the check as it is,
    and `own` its answer in words.
    """

    model: Model
    check: Check
    exit: Exit
    states: int
    answers: tuple[LargerAnswer, ...] = ()
    why: str = ""
    own: str = ""

    def is_declared(self, answer: LargerAnswer) -> bool:
        """Whether the check declares that these bounds are exact."""
        return any(name in self.check.exact for name in answer.names)

    @property
    def changed(self) -> tuple[LargerAnswer, ...]:
        """The larger scopes that change a verdict."""
        return tuple(each for each in self.answers if each.changes and not self.is_declared(each))

    @property
    def unfinished(self) -> tuple[LargerAnswer, ...]:
        """The larger scopes whose effect is unknown."""
        open_ = (each for each in self.answers if each.unfinished and not each.changes)
        return tuple(each for each in open_ if not self.is_declared(each))

    @property
    def confirmed(self) -> tuple[LargerAnswer, ...]:
        """The larger scopes that change nothing."""
        return tuple(each for each in self.answers if each.is_same)

    @property
    def idle(self) -> Bounds:
        """The bounds declared exact although a larger one is known to change nothing."""
        return tuple(name for name in self.check.exact if self._is_idle(name))

    def _is_idle(self, name: str) -> bool:
        """Whether a bound is such."""
        own = [each for each in self.answers if name in each.names]
        return bool(own) and all(each.is_same for each in own)


class LargerSearches:
    """Runs searches by index in this process, sharing kernels within a family."""

    def __init__(self, points: Sequence[SweepPoint], limits: Limits) -> None:
        self._points, self._limits = tuple(points), limits
        self._families = families([(point.model, point.check) for point in points])
        self._symmetric = frozenset(n for n, point in enumerate(points) if _is_symmetric(point))
        self._engine: Engine | None = None  # of this process

    def __call__(self, number: int) -> SweepAnswer:
        """The result of the search with an index, under symmetry where possible."""
        self._engine = self._engine or engine("explicit", series=True)
        orders = Orders(self._limits, symmetry=number in self._symmetric)
        return answer(self._points[number], orders, engine=self._engine, family=self._families[number])


def _is_symmetric(point: SweepPoint) -> bool:
    """Whether symmetry applies, with few enough renamings to pay off."""
    sorts = symmetric_sorts(point.model)
    renamings = prod(factorial(len(point.check.scope.sorts[name])) for name in sorts)
    asked = looked_at(point.model, point.check)
    return 1 < renamings <= MOST_RENAMINGS and not any(prop.kind in OF_FAIR_RUNS for prop in asked)


class NextScopeSearch:
    """Runs checks at larger scopes; `rows` yields the results."""

    def __init__(self, asked: Sequence[tuple[Model, Check]]) -> None:
        self.asked = tuple(asked)
        known = {id(model): limits(model) for model, _ in asked}
        self._plans = [ScopePlan(model, check, known[id(model)]) for model, check in asked]
        self._numbers = {
            key: number
            for number, key in enumerate(
                (place, names) for place, plan in enumerate(self._plans) for names in plan.scopes()
            )
        }
        self._places = tuple(self._numbers)

    def rows(
        self, limits: Limits = LIMITS, reporter: Reporter | None = None
    ) -> Iterator[tuple[int, NextScopeRow]]:
        """The index and row of each check, as they are complete; partial ones after an interrupt.

        Costs a search for the check and for each larger scope that could decide something, within `limits`
        each, on all cores.  Every run has been replayed.
        """
        tell, began, states, done = (reporter or Silent()).tell, monotonic(), 0, 0
        found: list[dict[Bounds, SweepAnswer]] = [{} for _ in self._plans]
        open_ = dict(enumerate(self._plans))
        wanted = {place: plan.next({}) for place, plan in open_.items()}
        with self._workers(limits) as workers:
            while wanted:
                left = {place: len(scopes) for place, scopes in wanted.items()}
                asked = [self._numbers[place, names] for place, scopes in wanted.items() for names in scopes]
                wanted, most = {}, done + len(asked)
                for number, reply in workers.some(asked):
                    place, names = self._places[number]
                    found[place][names] = reply
                    left[place] -= 1
                    states += 0 if reply.outcome is None else reply.outcome.findings.stats.states
                    done += 1
                    tell(AnswersDone("search", done, most, states, monotonic() - began))
                    if not left[place]:
                        scopes = open_[place].next(found[place])
                        if scopes:
                            wanted[place] = scopes
                        else:
                            yield place, open_.pop(place).row(found[place])
                if done < most:
                    break
        for place, plan in open_.items():
            if found[place]:
                yield place, plan.row(found[place])

    def _workers(self, limits: Limits) -> Workers[SweepAnswer]:
        """The worker processes for the searches."""
        plans, places = self._plans, self._places
        points = [SweepPoint((), plans[place].model, plans[place].at(names)) for place, names in places]
        models = list({id(model): model for model, _ in self.asked}.values())
        return Workers(LargerSearches(points, shared_out(limits, len(points))), models)


class ScopePlan:
    """Decides which larger scopes of a check to search, from the results so far."""

    def __init__(self, model: Model, check: Check, limits: frozenset[str]) -> None:
        self.model, self.check = model, check
        self._is_monotone = is_monotone(model, check)
        self._refused = {name: why for name in bounds(check) if (why := refused(model, check, name))}
        able = [name for name in bounds(check) if name not in self._refused]
        self._limits = limits
        self._cutting = tuple(name for name in able if name in limits and name not in check.exact)
        self._others = tuple(name for name in able if name not in limits and name not in check.exact)
        self._exact = tuple(name for name in able if name in check.exact)

    @property
    def _all(self) -> Bounds:
        """All bounds that can be larger."""
        return (*self._others, *self._cutting)

    def at(self, names: Bounds) -> Check:
        """The check with the bounds of these names one larger each; the check itself without names."""
        return larger(self.check, names)

    def scopes(self) -> tuple[Bounds, ...]:
        """The check's own scope, and every larger one that may be searched."""
        alone = [(name,) for name in (*self._all, *self._exact)]
        together = [self._cutting, self._all, *((name, *self._all) for name in self._exact)]
        return tuple(dict.fromkeys([(), *alone, *(names for names in together if names)]))

    def next(self, found: Mapping[Bounds, SweepAnswer]) -> tuple[Bounds, ...]:
        """The scopes to search now."""
        if () not in found:
            return ((),)
        if self._why(found[()]):
            return ()
        wanted = [names for names in self._wanted(found) if names and names not in found]
        return tuple(names for names in dict.fromkeys(wanted) if self._decided(names, found) is None)

    def _wanted(self, found: Mapping[Bounds, SweepAnswer]) -> Iterator[Bounds]:
        """The scopes to search, in order."""
        yield from ((name,) for name in (*self._others, *self._exact))
        yield self._cutting
        yield self._all
        together = self._decided(self._cutting, found) if self._cutting else None
        if not self._is_monotone or (together is not None and not together.is_same):
            yield from ((name,) for name in self._cutting)
        for name in self._exact:
            alone = self._decided((name,), found)
            if alone is not None and alone.is_same:
                yield (name, *self._all)

    def _decided(self, names: Bounds, found: Mapping[Bounds, SweepAnswer]) -> LargerAnswer | None:
        """What is known about a larger scope, with or without a search; None if nothing."""
        own = found[()].outcome
        assert own is not None
        if names in found:
            return _answer(names, own, found[names])
        if self._limits.issuperset(names) and are_unreached(self.model, self.check, names, own.findings):
            return LargerAnswer(names, because=UNREACHED)
        if self._is_monotone and len(names) == 1 and names[0] in self._cutting and self._cutting in found:
            together = _answer(self._cutting, own, found[self._cutting])
            return replace(together, names=names, because=WITH_ALL, states=0) if together.is_same else None
        return None

    def row(self, found: Mapping[Bounds, SweepAnswer]) -> NextScopeRow:
        """The row of the check."""
        own = found[()]
        states = 0 if own.outcome is None else own.outcome.findings.stats.states
        why = self._why(own)
        answers: list[LargerAnswer] = []
        if not why:
            every = dict.fromkeys([*((name,) for name in bounds(self.check)), self._all, *found])
            for names in every:
                if names in self._wished(found):
                    answers.append(self._decided(names, found) or LargerAnswer(names, unfinished="not asked"))
                elif len(names) == 1 and names[0] in self._refused:
                    answers.append(LargerAnswer(names, problem=self._refused[names[0]]))
        words = "" if own.outcome is None else assess(own.outcome).words
        return NextScopeRow(self.model, self.check, own.exit, states, tuple(answers), why, words)

    def _wished(self, found: Mapping[Bounds, SweepAnswer]) -> set[Bounds]:
        """The scopes that a row reports."""
        alone = {(name,) for name in (*self._all, *self._exact)}
        together = {self._all} if len(self._all) > 1 else set()
        return alone | together | {names for names in found if names and names[0] in self._exact}

    @staticmethod
    def _why(own: SweepAnswer) -> str:
        """Why the check has no verdicts to compare with."""
        if own.outcome is None:
            return own.problem
        findings = own.outcome.findings
        if findings.error is not None or findings.end is End.ERROR:
            return "the model makes an error"
        return findings.end.value if findings.end.partial else ""


def _answer(names: Bounds, own: Outcome, found: SweepAnswer) -> LargerAnswer:
    """The comparison for a larger scope from the result of its search."""
    if found.outcome is not None:
        return compared(names, own, found.outcome)
    if found.exit is Exit.EXPECTED:  # an assumption of the model is against it: there is no such question
        return LargerAnswer(names, problem=found.problem)
    return LargerAnswer(names, unfinished=found.problem)
