"""The distinct ways in which a property is violated, the fewest faults first.

NOTE(distinct): a search over the interpreter, by faults and then by steps, expands no
state where the property is false.  It takes states for one that differ by the names of
interchangeable members, and for different ones where other kinds of faults led to them.  To
each step that violates the property leads the first run to the state before it.  That run is
reduced to the steps that its violation needs, and what remains is shown once for each shape
(NOTE(shape)).  So whatever is shown is a run, and no step of it can be left out; but a way may
be missing, since of the runs to one state one is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from counterexamples.certify import certify
from counterexamples.trace import BadState, Trace
from modelcheck.contract.engine import Limits, Task
from modelcheck.contract.report import Reporter, Silent, Stopped
from modelcheck.contract.result import MOST_WAYS, Distinct, End, Outcome, Result, Violated
from modelcheck.diagnosis.causal_core import causal_core
from modelcheck.diagnosis.distinct.shape import Shape
from modelcheck.processes.memory import memory_limit
from modelcheck.processes.watch import watched
from modelcheck.search.claims import Discovery, Place, PropertyMonitor
from modelcheck.search.interpreted import InterpretedSearch, Waiting
from modelcheck.search.symmetry import Orbits
from spec.meaning.semantics import Machine, State, Taken
from spec.model.interchangeable import symmetric_sorts
from spec.model.ir import Budget, Model, Property, PropertyKind
from spec.model.kinds import INVARIANTS, OF_STEPS
from spec.model.values import ModelError

LIMITS = Limits(states=100_000, seconds=60)  # for each property
MOST_RUNS = 10_000  # to violations of a property
MEMO = 50_000  # states of which it is remembered whether the property is true
MORE_FAULTS = 1  # than the fewest, where a budget has no number
KINDS = INVARIANTS | OF_STEPS | {PropertyKind.DEADLOCK_FREE}


def distinct(
    outcome: Outcome, most: int = MOST_WAYS, limits: Limits = LIMITS, reporter: Reporter | None = None
) -> tuple[Distinct, ...]:
    """At most `most` distinct ways to violate each violated property of an outcome.

    That run is always looked at.  Properties of whole runs, such as `recoverable`, are left
    out.  Costs up to the limits for each property, some thousand states a second and some tens of
    replays for each violating run.  Ctrl-C ends the search, with what was found so far.
    """
    found: list[Distinct] = []
    for result in outcome.findings.results:
        match result:
            case Result(kind=kind, verdict=Violated(trace=Trace() as first)) if kind in KINDS:
                ways = _Ways(outcome, first, most, limits, reporter or Silent())
                found.append(ways.found())
                if ways.end is End.INTERRUPTED:
                    break
            case _:
                pass
    return tuple(found)


class _Violations(PropertyMonitor):
    """Collects the steps that violate a property, one for each action and equivalent state."""

    def __init__(self, machine: Machine, prop: Property, alike: Callable[[Place, State], Hashable]) -> None:
        super().__init__(machine, (prop,), lambda _: None)
        self.bad: set[int] = set()  # states where the property is false
        self.waiting: list[Discovery] = []
        self._machine, self._prop, self._alike = machine, prop, alike
        self._seen: set[Hashable] = set()
        self._true: dict[State, bool] = {}

    def see_step(self, before: State, taken: Taken, place: Place) -> None:
        """Evaluate the property on a step and its state, even if that is known."""
        super().see_step(before, taken, place)
        if self._prop.kind in INVARIANTS and not self._is_true(taken.state):
            self._found(Discovery(place, BadState(), self._prop.name))

    def _is_true(self, state: State) -> bool:
        """Whether the property is true in a state."""
        if state not in self._true:
            if len(self._true) >= MEMO:
                self._true.clear()
            try:
                self._true[state] = self._machine.holds(self._prop, state)
            except ModelError:  # reported where the state is asked
                self._true[state] = True
        return self._true[state]

    def _found(self, discovery: Discovery) -> None:
        """Record a violation."""
        place = discovery.place
        if isinstance(discovery.ending, BadState) and place.step is None:
            self.bad.add(place.number)
            if place.depth:  # some step has found it
                return
        if place.step is not None and place.state is not None:
            alike = place.faults, place.step.action, self._alike(place, place.state)
            if alike in self._seen:
                return
            self._seen.add(alike)
        self.waiting.append(discovery)


class _Ways(InterpretedSearch):
    """The search for distinct ways to violate one property; `end` is why it ended."""

    def __init__(self, outcome: Outcome, first: Trace, most: int, limits: Limits, reporter: Reporter) -> None:
        model, check = outcome.model, outcome.check
        prop = model.property(first.property or "")
        limits = Limits(
            LIMITS.states if limits.states is None else limits.states,
            LIMITS.seconds if limits.seconds is None else limits.seconds,
            memory_limit(limits.memory),
        )
        budget = _told_apart(model, check.budget, first.faults)
        machine = Machine(model, check.scope)
        self._sorts = symmetric_sorts(model)
        symmetry = () if prop.kind in OF_STEPS else self._sorts  # `_run_to` knows a step by its end
        bounds = model, check.scope, budget
        task = Task(*bounds, (prop,), limits, check.name, stop_early=False, symmetry=symmetry)
        self._violations = _Violations(machine, prop, self._alike)
        super().__init__(task, machine, reporter, keep_edges=False, claims=self._violations)
        self.end = End.COMPLETE
        self._orbit = Orbits(machine, self._sorts).key if self._sorts else machine.encode
        self._first, self._most = first, most
        self._looked_at = 1
        self._shapes: set[Hashable] = set()
        self._kept: list[tuple[Trace, Shape]] = []

    def found(self) -> Distinct:
        """Search, and return the ways found and the extent of the search."""
        try:
            with watched(self.task.limits.seconds, self.task.limits.memory):
                self._reduce(self._first)
                self.end = self.run()
                self._look_into(self._violations.waiting)  # by a fault, when nothing follows
        except Stopped as stopped:
            self.end = stopped.end
        except KeyboardInterrupt:
            self.end = End.INTERRUPTED
        runs = sorted((run for run, _ in self._kept), key=lambda run: (run.faults, len(run.steps)))
        faults, steps = self.reached
        return Distinct(
            self._first.property or "",
            tuple(runs) or (self._first,),  # where there was no time to look at it
            self._looked_at,
            self._most_faults(),
            len(self.space),
            faults,
            max(steps, 0),
            self._unfinished(),
        )

    def _unfinished(self) -> str:
        """Why there may be more ways; empty if the search was complete."""
        if self.end is not End.DECIDED:
            return "" if self.end is End.COMPLETE else self.end.value
        if len(self._kept) >= self._most:
            return f"no more than {self._most:,} were asked for"
        return f"no more than {MOST_RUNS:,} violating runs are looked at"

    def _most_faults(self) -> int:
        """The greatest number of faults in a run."""
        total, each = self.budget.total, sum(self.task.budget.counted.values())
        return each if total is None else min(total, each)

    def _alike(self, place: Place, state: State) -> Hashable:
        """A key that is equal for violating steps to the same state, up to names."""
        spent, _ = self.space.node(place.number)
        return spent, self._orbit(state)

    def _expanded(self, frontier: list[Waiting], faults: int, depth: int) -> list[Waiting]:
        """The successors of a level's states, except those where the property is false."""
        kept = [each for each in frontier if each[0] not in self._violations.bad]
        return super()._expanded(kept, faults, depth)

    def _note(self, faults: int, depth: int) -> None:
        """Examine the violations up to this level, and see whether they are enough."""
        self.reached = faults, depth
        waiting = self._violations.waiting
        self._violations.waiting = [each for each in waiting if each.cost > self.reached]
        self._look_into([each for each in waiting if each.cost <= self.reached])

    def _look_into(self, violations: Sequence[Discovery]) -> None:
        """Reduce the runs to violations."""
        for violation in violations:
            if self._looked_at == MOST_RUNS or len(self._kept) >= self._most:
                raise Stopped(End.DECIDED)
            self._look_around(*self.reached, 0)
            run = self._run_to(violation)
            if (run.states, run.steps) != (self._first.states, self._first.steps):
                self._reduce(run)
                self._looked_at += 1

    def _run_to(self, violation: Discovery) -> Trace:
        """The run to a violation; under symmetry, by a last step that is possible in it."""
        place = violation.place
        if place.step is None or place.state is None or not self.task.symmetry:
            return self.trace(violation)
        run = self.trace(replace(violation, place=replace(place, step=None, state=None)))
        orbit = self._orbit(place.state)
        last = next(
            found
            for found in self.machine.steps(run.states[-1], actions=(place.step.action,))
            if isinstance(found, Taken) and self._orbit(found.state) == orbit
        )
        return replace(run, states=(*run.states, last.state), steps=(*run.steps, last.step))

    def _reduce(self, run: Trace) -> None:
        """Reduce a run to its needed steps, unless its shape is known."""
        shape = Shape(run, self._sorts)
        if not self._is_new(shape):
            return
        _, least = causal_core(run, self.poll_limits)
        if least.steps != run.steps:
            shape = Shape(least, self._sorts)
            if not self._is_new(shape):
                return
        self._keep(certify(least).trace, shape)

    def _keep(self, run: Trace, shape: Shape) -> None:
        """Keep a reduced run, unless it contains another; those that contain it are dropped."""
        if not any(shape.contains(other) for _, other in self._kept):
            self._kept = [each for each in self._kept if not each[1].contains(shape)]
            self._kept.append((run, shape))

    def _is_new(self, shape: Shape) -> bool:
        """Whether no kept run has the shape."""
        is_new = shape.key not in self._shapes
        self._shapes.add(shape.key)
        return is_new


def _told_apart(model: Model, budget: Budget, fewest: int) -> Budget:
    """The budget with a limit for each kind of fault, so that states differ by the faults before them."""
    kinds = dict.fromkeys(model.faults) if budget.kinds is None else budget.kinds
    total = budget.total
    if total is None and None in kinds.values():
        total = fewest + MORE_FAULTS
    return Budget(total, {name: total if most is None else most for name, most in kinds.items()})
