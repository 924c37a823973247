"""The reference engine: the fault-layered search over the interpreter, slow, exact, the oracle for others."""

from __future__ import annotations

from time import monotonic
from typing import ClassVar

from counterexamples.trace import Erred, Trace, Trapped
from modelcheck.claims import OF_RUNS, Discovery, Place
from modelcheck.engine import Refusal, Task
from modelcheck.layers import Search
from modelcheck.memory import resident
from modelcheck.recovery import Trap, trap
from modelcheck.report import Reporter
from modelcheck.result import End, Extent, Findings, Holds, Result, Stats, Unknown, Verdict, Violated
from spec.ir import Action, Guard, Kind, Property, PropertyKind
from spec.semantics import Machine, State
from spec.values import ModelError


class ReferenceEngine:
    """Explores every state, some thousands a second; memory is some hundred bytes a state."""

    name: ClassVar[str] = "reference"

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        """What it cannot do: nothing about fairness, so no `leadsto` and no `always eventually`."""
        kinds = {PropertyKind.LEADSTO, PropertyKind.ALWAYS_EVENTUALLY}
        of_runs = [Refusal(f"{p.kind.value} {p.name}") for p in task.properties if p.kind in kinds]
        kinds = {PropertyKind.STEP, PropertyKind.ASSERT} if task.symmetry else set()
        of_steps = [
            Refusal(f"{p.kind.value} {p.name} up to symmetry") for p in task.properties if p.kind in kinds
        ]
        return (*of_runs, *of_steps)

    def run(self, task: Task, reporter: Reporter) -> Findings:
        """The findings of the fault-layered search."""
        machine = Machine(task.model, task.scope)
        wanted = any(prop.kind in OF_RUNS for prop in task.properties)
        search = Search(task, machine, reporter, keep_edges=wanted)
        return _Account(search, search.run()).findings(self.name)


class _Account:
    """What a search that has ended says about each property."""

    def __init__(self, search: Search, end: End) -> None:
        self.search = search
        self.task = search.task
        self.end = end

    def findings(self, engine: str) -> Findings:
        results = tuple(map(self._result, self.task.properties))
        error = self.search.claims.error if self.end is End.ERROR else None
        return Findings(
            engine, self.end, results, self._stats(), None if error is None else self._trace(error)
        )

    # ----------------------------------------------------------------- verdicts

    def _result(self, prop: Property) -> Result:
        if prop.kind is PropertyKind.RECOVERABLE:
            return self._recoverable(prop)
        found = self.search.claims.best.get(prop.name)
        good = prop.kind is PropertyKind.REACHABLE
        if found is not None:
            return Result(
                prop.name, prop.kind, self._decided(found, good=good), self._by_faults(found, good=good)
            )
        return Result(prop.name, prop.kind, self._undecided(good=good), self._by_faults(None, good=good))

    def _decided(self, found: Discovery, *, good: bool) -> Verdict:
        trace = self._trace(found)
        extent = self._extent(found.place.faults)
        return Holds(extent, example=trace) if good else Violated(extent, trace)

    def _undecided(self, *, good: bool) -> Verdict:
        """No run to a violation (or to an example) was found."""
        if self.end in {End.COMPLETE, End.DECIDED}:
            return Violated(self._whole(), None) if good else Holds(self._whole())
        return Unknown(self.end.value, self._searched())

    def _recoverable(self, prop: Property) -> Result:
        if self.end is not End.COMPLETE or self.search.edges is None:
            return Result(prop.name, prop.kind, Unknown(self.end.value, None))
        try:
            caught = trap(prop, self.search.machine, self.search.space, self.search.edges)
        except ModelError as error:
            return Result(prop.name, prop.kind, Unknown(f"{prop.name} makes an error: {error.message}"))
        if not isinstance(caught, Trap):
            verdict: Verdict = Holds(self._whole(), beyond=caught.beyond)
            return Result(prop.name, prop.kind, verdict, self._by_faults(None, good=False))
        level = self.search.space.level(caught.number)
        found = Discovery(Place(level.faults, level.depth, caught.number), Trapped(), prop.name)
        return Result(
            prop.name, prop.kind, self._decided(found, good=False), self._by_faults(found, good=False)
        )

    def _by_faults(self, found: Discovery | None, *, good: bool) -> tuple[bool, ...]:
        """Whether the property holds with at most 0, 1 … faults, as far as that is known."""
        first = None if found is None else found.place.faults
        known = max(len(self.search.layers), 0 if first is None else first + 1)
        return tuple((first is not None and faults >= first) == good for faults in range(known))

    def _whole(self) -> Extent:
        faults = None if self.search.fixpoint else self._most()
        return Extent(self.task.scope, faults, self.task.budget.kinds)

    def _most(self) -> int:
        """How many faults the budget allows together, or how many the search found use for."""
        total = self.task.budget.total
        return max(len(self.search.layers) - 1, 0) if total is None else total

    def _extent(self, faults: int) -> Extent:
        return Extent(self.task.scope, faults, self.task.budget.kinds)

    def _searched(self) -> Extent | None:
        done = len(self.search.layers)
        return self._extent(done - 1) if done else None

    def _trace(self, found: Discovery) -> Trace:
        place = found.place
        states, steps = self.search.space.path(place.number)
        if place.step is not None and place.state is not None:
            states.append(place.state)
            steps.append(place.step)
        model, scope, check = self.task.model, self.task.scope, self.task.check
        ending = found.ending
        if self.task.symmetry and isinstance(ending, Erred):
            ending = self._renamed_error(states[-1]) or ending
        return Trace(model, scope, tuple(states), tuple(steps), ending, found.name, check)

    def _renamed_error(self, state: State) -> Erred | None:
        """The error of the model again, as the members are called in this run."""
        machine = self.search.machine
        try:
            for prop in self.task.properties:
                if prop.kind in {PropertyKind.INVARIANT, PropertyKind.LEMMA, PropertyKind.REACHABLE}:
                    machine.holds(prop, state)
            for _ in machine.steps(state):
                pass
        except ModelError as error:
            return Erred(error.code, error.message, error.span, error.step)
        return None

    # -------------------------------------------------------------------- counts

    def _stats(self) -> Stats:
        search, tally = self.search, self.search.tally
        space = search.space
        complete = self.end is End.COMPLETE
        allowed = [
            a for a in self.task.model.actions if a.kind is not Kind.FAULT or a.name in search.purse.allowed
        ]
        return Stats(
            states=len(space),
            transitions=search.transitions,
            levels=1 + max((level.depth for level in space.levels if level.start < len(space)), default=-1),
            layers=tuple(search.layers),
            taken={action.name: tally.taken[action.name] for action in allowed},
            cut=dict(sorted(tally.cut.items())),
            unused=tuple(a.name for a in allowed if not tally.taken[a.name]) if complete else (),
            unrefused=tuple(_unrefused(allowed, search)) if complete else (),
            seconds=monotonic() - search.started,
            memory=resident(),
        )


def _unrefused(actions: list[Action], search: Search) -> list[tuple[str, str]]:
    """Guards of actions that happen and that never said no: they might as well not be there."""
    return [
        (action.name, guard.name or search.task.model.source.at(guard.span))
        for action in actions
        if search.tally.taken[action.name]
        for index, guard in enumerate(action.head)
        if isinstance(guard, Guard) and (action.name, index) not in search.tally.refused
    ]
