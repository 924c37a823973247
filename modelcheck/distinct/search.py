"""The distinct ways in which a property is violated, the fewest faults first.

NOTE(distinct): a search over the interpreter, by faults and then by steps, which goes on
from no state where the property is false, and in which states differ that were reached by
other kinds of faults.  To each step that violates it leads the first run to the state
before; the run is reduced to the steps that its violation needs, and these are told once
for each shape.  So what is told is real and minimal; what is not there is only that no run
looked at came down to it, since of the runs to one state one is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from counterexamples.certify import certify
from counterexamples.trace import BadState, Trace
from modelcheck.claims import Claims, Discovery, Place
from modelcheck.distinct.shape import Shape
from modelcheck.engine import Limits, Task
from modelcheck.explanation.needed import needed
from modelcheck.interchangeable import symmetric_sorts
from modelcheck.layers import Search, Waiting
from modelcheck.memory import careful
from modelcheck.report import Reporter, Stopped
from modelcheck.result import Distinct, End, Outcome, Result, Violated
from spec.ir import Budget, Kind, Model, Property, PropertyKind
from modelcheck.symmetry import Orbits
from spec.semantics import Machine, State, Taken
from spec.values import ModelError

MOST_STATES = 100_000
MOST_RUNS = 10_000  # to violations
MOST_SECONDS = 60.0  # for each property
MORE_FAULTS = 1  # than the fewest, where a budget has no number
OF_STATES = {PropertyKind.INVARIANT, PropertyKind.LEMMA}
OF_STEPS = {PropertyKind.STEP, PropertyKind.ASSERT}
KINDS = OF_STATES | OF_STEPS | {PropertyKind.DEADLOCK_FREE}


def distinct(outcome: Outcome, most: int, limits: Limits, reporter: Reporter) -> tuple[Distinct, ...]:
    """The distinct ways, at most so many, in which each property is violated for which a run is shown.

    What is about whole runs, such as `recoverable`, is left out.  The limits are for each
    property; what has none is limited to MOST_STATES and MOST_SECONDS.  After Ctrl-C, no further one is
    looked at.
    """
    found: list[Distinct] = []
    for result in outcome.findings.results:
        match result:
            case Result(kind=kind, verdict=Violated(trace=Trace() as first)) if kind in KINDS:
                found.append(_Ways(outcome, first, most, limits, reporter).told())
        if found and found[-1].end is End.INTERRUPTED:
            break
    return tuple(found)


class _Every(Claims):
    """Every step that violates a property; of those that lead to states alike, one of each action."""

    def __init__(self, machine: Machine, prop: Property, alike: Callable[[Place, State], object]) -> None:
        super().__init__(machine, (prop,), lambda _: None)
        self.bad: set[int] = set()  # states where the property is false
        self.waiting: list[Discovery] = []
        self._machine, self.prop, self._alike = machine, prop, alike
        self._seen: set[object] = set()
        self._holds: dict[State, bool] = {}

    def see_step(self, before: State, taken: Taken, place: Place) -> None:
        """Ask about a step, and where it leads, be that known or not."""
        super().see_step(before, taken, place)
        if self.prop.kind in OF_STATES and not self._is_true(taken.state):
            self._found(Discovery(place, BadState(), self.prop.name))

    def _is_true(self, state: State) -> bool:
        if state not in self._holds:
            try:
                self._holds[state] = self._machine.holds(self.prop, state)
            except ModelError:  # which is asked of the state, too
                self._holds[state] = True
        return self._holds[state]

    def _found(self, discovery: Discovery) -> None:
        place = discovery.place
        if isinstance(discovery.ending, BadState) and place.step is None:
            self.bad.add(place.number)
            if place.depth:  # found by a step
                return
        if place.step is not None and place.state is not None:
            alike = place.faults, place.step.action, self._alike(place, place.state)
            if alike in self._seen:
                return
            self._seen.add(alike)
        self.waiting.append(discovery)


class _Ways(Search):
    """The search for the ways in which one property is violated."""

    def __init__(
        self, outcome: Outcome, first: Trace, most: int, limits: Limits, reporter: Reporter
    ) -> None:
        model, check = outcome.model, outcome.check
        prop = model.property(first.property or "")
        states = MOST_STATES if limits.states is None else limits.states
        seconds = MOST_SECONDS if limits.seconds is None else limits.seconds
        bounds = Limits(states, seconds, careful(limits.memory))
        budget = _told_apart(model, check.budget, first.faults)
        task = Task(model, check.scope, budget, (prop,), bounds, check.name, stop_early=False)
        machine = Machine(model, check.scope)
        super().__init__(task, machine, reporter, keep_edges=False)
        self._sorts = symmetric_sorts(model)
        self._identity = Orbits(machine, self._sorts).key if self._sorts else machine.encode
        self._every = self.claims = _Every(machine, prop, self._alike)
        self._first, self._most = first, most
        self._looked_at = 0
        self._known: set[Hashable] = set()
        self._found: list[tuple[Trace, Shape]] = []

    def told(self) -> Distinct:
        """Search, and say what was found, and how far that goes."""
        try:
            self._look_into(self._first)
            end = self.run()
        except Stopped as stopped:
            end = stopped.end
        except KeyboardInterrupt:
            end = End.INTERRUPTED
        runs = [run for run, shape in self._found if not any(shape.contains(other) for _, other in self._found)]
        runs.sort(key=lambda run: (run.faults, len(run.steps)))
        return Distinct(
            self._every.prop.name, tuple(runs[: self._most]), self._looked_at, len(self.space), *self.reached, end
        )

    def _alike(self, place: Place, state: State) -> object:
        """What violating steps of one action have in common that lead to the same, but for names."""
        spent, _ = self.space.node(place.number)
        return spent, self._identity(state)

    def _expanded(self, frontier: list[Waiting], faults: int, depth: int) -> list[Waiting]:
        """All steps of a level's states but for those that are violations themselves."""
        kept = [each for each in frontier if each[0] not in self._every.bad]
        return super()._expanded(kept, faults, depth)

    def _stop_if_decided(self, faults: int, depth: int) -> None:
        """Look into all runs that are no longer than this, and see whether there are enough."""
        waiting = self._every.waiting
        self._every.waiting = [each for each in waiting if each.cost > (faults, depth)]
        for discovery in waiting:
            if discovery.cost <= (faults, depth):
                self._look_into(self._to(discovery))
        self.reached = faults, depth

    def _to(self, discovery: Discovery) -> Trace:
        return self.trace(discovery)

    def _look_into(self, run: Trace) -> None:
        """Reduce a run to the steps that it needs, and keep it if there is none of its shape. Raises Stopped."""
        self._look()
        if self._looked_at == MOST_RUNS or len(self._found) >= self._most:
            raise Stopped(End.DECIDED)
        self._looked_at += 1
        if not self._is_new(run):
            return
        _, least = needed(run, self._look)
        if least.steps == run.steps or self._is_new(least):
            self._found.append((certify(least).trace, Shape(least, self._sorts)))

    def _is_new(self, run: Trace) -> bool:
        """Whether no run of this shape was seen before."""
        key = Shape(run, self._sorts).key
        is_new = key not in self._known
        self._known.add(key)
        return is_new


def _told_apart(model: Model, budget: Budget, fewest: int) -> Budget:
    """The budget with a number for each kind of fault, so that states differ that other kinds led to."""
    faults = [action.name for action in model.actions if action.kind is Kind.FAULT and budget.allows(action.name)]
    kinds = {name: None if budget.kinds is None else budget.kinds[name] for name in faults}
    total = budget.total
    if total is None and None in kinds.values():
        total = fewest + MORE_FAULTS
    return Budget(total, {name: total if most is None else most for name, most in kinds.items()})
