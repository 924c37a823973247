"""The fault-layered search: everything without faults first, then everything one fault away, and so on.

Layer k holds the states whose cheapest path has k faults.  A layer is explored
to the end with actions and repairs, by depth; the faults that its states allow
lead to states that wait for the next layer, where they enter at their own depth.
So a state is stored once, at its cheapest, and the first run found to anything
has the fewest faults and then the fewest steps.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from time import monotonic

from counterexamples.trace import Erred, Trace
from modelcheck.contract.engine import Task
from modelcheck.contract.report import Found, LayerDone, Progress, Reporter, Stopped
from modelcheck.contract.result import End, Layer
from modelcheck.processes.memory import resident
from modelcheck.search.account import Cost, Counts
from modelcheck.search.claims import Claims, Discovery, Place
from modelcheck.search.space import NONE, FaultBudget, Space, is_unbounded
from spec.semantics import CutOff, Machine, State, Taken
from spec.values import ModelError

EVERY = 256  # states between two looks at the clock and at the memory
QUIET = 0.5  # seconds between two reports of progress

Waiting = tuple[int, bytes, State]  # a state's number, what has been spent, the state


@dataclass(slots=True)
class Tally:
    """What was counted; `paid` are the transitions that are faults, by the layer they lead out of."""

    taken: Counter[str] = field(default_factory=Counter)
    cut: Counter[str] = field(default_factory=Counter)
    free: Counter[int] = field(default_factory=Counter)
    paid: Counter[int] = field(default_factory=Counter)
    free_cut: Counter[int] = field(default_factory=Counter)
    paid_cut: Counter[int] = field(default_factory=Counter)
    refused: set[tuple[str, int]] = field(default_factory=set)


@dataclass(slots=True)
class Names:
    """The action of each edge by its place in the model; for a state the actions of which a step was cut."""

    actions: array[int] = field(default_factory=lambda: array("q"))
    cut: dict[int, set[int]] = field(default_factory=dict)


@dataclass(slots=True)
class Edges:
    """Where actions and repairs lead: for each state the numbers of the next, and whether a step was cut.

    `names` is None where nobody asks about fairness, which alone needs them.
    """

    starts: array[int] = field(default_factory=lambda: array("q"))
    targets: array[int] = field(default_factory=lambda: array("q"))
    cut: bytearray = field(default_factory=bytearray)
    names: Names | None = None

    def lead(self, target: int, action: int) -> None:
        """Add a step from the last state to another."""
        self.targets.append(target)
        if self.names:
            self.names.actions.append(action)

    def cut_off(self, number: int, action: int) -> None:
        """Note a step from a state that leaves the scope."""
        if self.names:
            self.names.cut.setdefault(number, set()).add(action)


class Search:
    """One run of the search, and what it has found so far; `run` may be interrupted at any time."""

    def __init__(
        self,
        task: Task,
        machine: Machine,
        reporter: Reporter,
        *,
        keep_edges: bool,
        name_edges: bool = False,
    ) -> None:
        self.task = task
        self.machine = machine
        self.budget = FaultBudget(task.model, task.budget)
        self.space = Space(machine, self.budget, task.symmetry)
        self.claims = Claims(machine, task.properties, self._tell)
        self.tally = Tally()
        self.edges = Edges(names=Names() if name_edges else None) if keep_edges else None
        self.layers: list[Layer] = []
        self.fixpoint = False
        self.started = monotonic()
        self.ready = 0.0
        self.reached = (0, -1)
        self._reporter = reporter
        self._told = self.started
        self._free = frozenset(task.model.free)
        self._faults = frozenset(task.model.faults)
        self._places = {action.name: place for place, action in enumerate(task.model.actions)}
        self._seeds: dict[bytes, int] = {}  # states one fault away, and where from
        self._waiting = 0
        self._minded = 0

    def run(self) -> End:
        """Search, until everything is seen or something ends the search."""
        try:
            self._start()
            while self._seeds or not self.layers:
                self._layer(len(self.layers))
        except Stopped as stopped:
            return stopped.end
        except KeyboardInterrupt:
            return End.INTERRUPTED
        except MemoryError:
            self._seeds.clear()
            return End.MEMORY
        return End.ERROR if self.claims.error else End.COMPLETE

    # ---------------------------------------------------------------- one layer

    def _start(self) -> None:
        """The initial states wait for the first layer."""
        for state in self.machine.initial():
            self._seeds[self.space.key(self.budget.empty, state)] = NONE

    def _layer(self, faults: int) -> None:
        """Everything with so many faults; then see what one more would add."""
        entering = self._entering()
        depth = min(entering, default=0)
        frontier: list[Waiting] = []
        while frontier or entering:
            depth = depth if frontier else min(entering)
            self._level(frontier, entering.pop(depth, []), faults, depth)
            if frontier or not entering:  # else the next level is that of what enters
                self._stop_if_decided(faults, depth)
            frontier = self._expanded(frontier, faults, depth)
            depth += 1
        self._stop_if_decided(faults, depth)
        self._finish(faults)

    def _entering(self) -> dict[int, list[tuple[bytes, int]]]:
        """The states that faults led to and nothing cheaper did, by the depth at which they enter."""
        entering: dict[int, list[tuple[bytes, int]]] = {}
        for key, parent in self._seeds.items():
            if key not in self.space.index:
                depth = 0 if parent == NONE else self.space.level(parent).depth + 1
                entering.setdefault(depth, []).append((key, parent))
        self._seeds = {}
        return entering

    def _level(
        self, frontier: list[Waiting], entering: list[tuple[bytes, int]], faults: int, depth: int
    ) -> None:
        """Add the states that enter the layer at this depth to those that steps led to."""
        if not frontier:
            self.space.begin(faults, depth)
        for key, parent in entering:
            if key not in self.space.index:
                spent, state = self.space.split(key)
                frontier.append((self._add(key, parent, state, faults, depth), spent, state))

    def _expanded(self, frontier: list[Waiting], faults: int, depth: int) -> list[Waiting]:
        """All steps of a level's states, and the states that are new by them."""
        self.space.begin(faults, depth + 1)
        found: list[Waiting] = []
        self._waiting = len(frontier)
        for number, spent, state in frontier:
            if number % EVERY == 0:
                self._look_around(faults, depth)
            here = Place(faults, depth, number)
            can_go = self._free_steps(here, spent, state, found)
            can_go |= self._paid_steps(here, spent, state)
            if self.claims.deadlock and not can_go and not self.machine.can_go_on(state, self._faults):
                self.claims.see_deadlock(here)
            self._waiting -= 1
        return found

    # ---------------------------------------------------------------- one state

    def _free_steps(self, here: Place, spent: bytes, state: State, new: list[Waiting]) -> bool:
        """Actions and repairs; whether there is any."""
        faults, after, tally, index = here.faults, here.depth + 1, self.tally, self.space.index
        edges, cut = self.edges, False
        if edges:
            edges.starts.append(len(edges.targets))
        any_step = False
        try:
            for step in self.machine.steps(state, tally.refused, self._free):
                any_step = True
                if isinstance(step, CutOff):
                    cut = True
                    if edges:
                        edges.cut_off(here.number, self._places[step.step.action])
                    tally.cut[step.limit] += 1
                    tally.free_cut[faults] += 1
                    continue
                tally.taken[step.step.action] += 1
                tally.free[faults] += 1
                key = self.space.key(spent, step.state)
                number = index.get(key, NONE)
                if number == NONE:
                    number = self._add(key, here.number, step.state, faults, after)
                    new.append((number, spent, step.state))
                if edges:
                    edges.lead(number, self._places[step.step.action])
                self.claims.see_step(state, step, Place(faults, after, here.number, step.step, step.state))
        except ModelError as error:
            self.claims.erred(error, here)
            any_step = True
        if edges:
            edges.cut.append(cut)
        return any_step

    def _paid_steps(self, here: Place, spent: bytes, state: State) -> bool:
        """Faults that the budget allows; whether there is any. What they lead to waits for the next layer."""
        if not self.budget.allowed or here.faults == self.budget.total:
            return False
        faults, after, tally = here.faults, here.depth + 1, self.tally
        any_step = False
        try:
            for step in self.machine.steps(state, tally.refused, self.budget.affordable(spent)):
                paid = self.budget.pay(spent, step.step.action)
                any_step = True
                if isinstance(step, CutOff):
                    tally.cut[step.limit] += 1
                    tally.paid_cut[faults] += 1
                    continue
                tally.taken[step.step.action] += 1
                tally.paid[faults] += 1
                key = self.space.key(paid, step.state)
                if key not in self.space.index:
                    self._seeds.setdefault(key, here.number)
                place = Place(faults + 1, after, here.number, step.step, step.state)
                self.claims.see_step(state, step, place)
        except ModelError as error:  # counts like a run with that fault, so a cheaper one goes before it
            self.claims.erred(error, Place(here.faults + 1, here.depth, here.number))
        return any_step

    def _add(self, key: bytes, parent: int, state: State, faults: int, depth: int) -> int:
        number = self.space.add(key, parent)
        self.claims.see_state(state, Place(faults, depth, number))
        return number

    # ------------------------------------------------------------ when to stop

    def _stop_if_decided(self, faults: int, depth: int) -> None:
        """Stop between two levels, so that what was counted does not depend on the order within one."""
        self.reached = faults, depth
        if self.claims.error and self.claims.has_erred(faults, depth):
            raise Stopped(End.ERROR)
        one = self.task.at_first
        if self.task.stop_early and self.claims.best and self.claims.decided(faults, depth, one=one):
            raise Stopped(End.DECIDED)

    def _look_around(self, faults: int, depth: int) -> None:
        """Look at the limits, and tell how far it has come."""
        now, most = monotonic(), self.task.limits.states
        if most is not None and len(self.space) >= most:
            raise Stopped(End.STATES)
        self._look()
        if now - self._told >= QUIET:
            self._told = now
            states, transitions = len(self.space), self.transitions
            self._reporter.tell(
                Progress(faults, depth, states, transitions, self._waiting, now - self.started, resident())
            )

    def _look(self) -> None:
        limits = self.task.limits
        if limits.seconds is not None and monotonic() - self.started >= limits.seconds:
            raise Stopped(End.SECONDS)
        if limits.memory is not None and resident() >= limits.memory:
            raise Stopped(End.MEMORY)

    def mind(self) -> None:
        """Look at the limits of time and memory, one time of so many; for what is done with all states.

        Raises Stopped.
        """
        self._minded += 1
        if self._minded % EVERY == 0:
            self._look()

    def _finish(self, faults: int) -> None:
        """A layer is done: count it, and see whether another fault could add anything."""
        tally = self.tally
        before = self.layers[-1].states if self.layers else 0
        layer = Layer(
            faults=faults,
            new=len(self.space) - before,
            states=len(self.space),
            transitions=sum(tally.free.values()) + sum(n for k, n in tally.paid.items() if k < faults),
            levels=self.counts().levels,
            cut=sum(tally.free_cut.values()) + sum(n for k, n in tally.paid_cut.items() if k < faults),
        )
        self._seeds = {key: parent for key, parent in self._seeds.items() if key not in self.space.index}
        self.layers.append(layer)
        self._reporter.tell(LayerDone(layer))
        if not self._seeds:
            self.fixpoint = is_unbounded(self.task.budget.kinds) and self._adds_nothing(faults)

    def _adds_nothing(self, faults: int) -> bool:
        """Whether one more fault leads nowhere new and breaks nothing; asked only where the budget ends.

        Stops at the first fault that does, so it costs little when there is one.
        """
        if faults != self.budget.total:
            return True
        kinds = self.task.budget.kinds
        allowed = self._faults if kinds is None else self._faults & frozenset(kinds)
        if not allowed:
            return True
        start = next((level.start for level in self.space.levels if level.faults == faults), len(self.space))
        undecided = [prop for prop in self.task.properties if prop.name not in self.claims.best]
        probe = Claims(self.machine, undecided, lambda _: None)
        for number in range(start, len(self.space)):
            spent, state = self.space.node(number)
            try:
                for step in self.machine.steps(state, None, allowed):
                    if isinstance(step, Taken):
                        probe.see_step(state, step, Place(faults + 1, 0, number))
                        if self.space.key(spent, step.state) not in self.space.index:
                            return False
            except ModelError:
                return False
            if probe.best or probe.error:
                return False
        return True

    # ------------------------------------------------------------------ telling

    def cost_of(self, prop: str) -> Cost | None:
        """The cost of the best run that decides a property; None when none was found."""
        found = self.claims.best.get(prop)
        return None if found is None else found.cost

    def error_cost(self) -> Cost | None:
        """The cost of the best run to an error of the model; None when none was found."""
        return None if self.claims.error is None else self.claims.error.cost

    def trace_of(self, prop: str) -> Trace:
        """The run that decides a property."""
        return self.trace(self.claims.best[prop])

    def error(self) -> Trace | None:
        """The run to an error of the model, if it makes one."""
        return None if self.claims.error is None else self.trace(self.claims.error)

    def trace(self, found: Discovery) -> Trace:
        """The run to a discovery, its members called as they are in it."""
        place = found.place
        states, steps = self.space.path(place.number)
        if place.step is not None and place.state is not None:
            states.append(place.state)
            steps.append(place.step)
        model, scope, check = self.task.model, self.task.scope, self.task.check
        ending = found.ending
        if self.task.symmetry and isinstance(ending, Erred):
            ending = self._renamed_error(states[-1], found) or ending
        return Trace(model, scope, tuple(states), tuple(steps), ending, found.name, check)

    def _renamed_error(self, state: State, found: Discovery) -> Erred | None:
        """The error of the model again, as the members are called in this run."""
        spent, _ = self.space.node(found.place.number)
        by_fault = found.place.faults != self.space.level(found.place.number).faults
        actions = self.budget.affordable(spent) if by_fault else self._free
        try:
            for prop in self.task.properties:
                if prop.name == found.name:
                    self.machine.holds(prop, state)
            for _ in self.machine.steps(state, actions=actions):
                pass
        except ModelError as error:
            return Erred(error.code, error.message, error.span, error.step)
        return None

    def counts(self) -> Counts:
        """What was counted."""
        space, tally = self.space, self.tally
        return Counts(
            states=len(space),
            transitions=self.transitions,
            levels=1 + max((level.depth for level in space.levels if level.start < len(space)), default=-1),
            taken=tally.taken,
            cut=tally.cut,
            refused=frozenset(tally.refused),
        )

    @property
    def transitions(self) -> int:
        """How many steps were taken so far."""
        return sum(self.tally.free.values()) + sum(self.tally.paid.values())

    def _tell(self, found: Discovery) -> None:
        self._reporter.tell(Found(found.name or "", found.place.faults, found.place.depth))
