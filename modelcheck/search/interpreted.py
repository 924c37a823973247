"""The fault-layered search over the interpreter: states in a dictionary, steps as the language means them."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import product

from counterexamples.trace import Erred, Trace
from modelcheck.contract.engine import Task
from modelcheck.contract.report import Reporter, RunFound
from modelcheck.contract.result import End
from modelcheck.search.bounded_run import bounded
from modelcheck.search.claims import Discovery, Place, PropertyMonitor
from modelcheck.search.forgotten import is_last
from modelcheck.search.layers import Counts, LayeredSearch, Sums
from modelcheck.search.persistent import persistence
from modelcheck.search.space import NONE, Space
from spec.meaning.semantics import CutOff, Machine, State, Taken
from spec.model.values import ModelError

EVERY = 256  # states between two looks at the clock and at the memory

Entering = tuple[bytes, int]  # the key of a state, and the number of the one that it was found from
Waiting = tuple[int, bytes, State]  # a state's number, what has been spent, the state
Successor = tuple[Taken, bytes, State]  # the step, the key of the state after it, that state as it is kept


@dataclass(slots=True)
class StepCounts:
    """Counters of steps by action, and of cut steps by limit, each for free steps and faults."""

    taken: Counter[str] = field(default_factory=Counter)
    cut: Counter[str] = field(default_factory=Counter)
    free: int = 0
    paid: int = 0
    free_cut: int = 0
    paid_cut: int = 0
    refused: set[tuple[str, int]] = field(default_factory=set)


@dataclass(slots=True)
class Names:
    """The action of each edge by its index in the model; for each state the actions with a cut step."""

    actions: array[int] = field(default_factory=lambda: array("q"))
    cut: dict[int, set[int]] = field(default_factory=dict)


@dataclass(slots=True)
class Edges:
    """The steps by actions and repairs: for each state its successors, and whether a step was cut.

    `names` is None unless fairness is asked about, which alone needs them.
    """

    starts: array[int] = field(default_factory=lambda: array("q"))
    targets: array[int] = field(default_factory=lambda: array("q"))
    cut: bytearray = field(default_factory=bytearray)
    names: Names | None = None

    def lead(self, target: int, action: int) -> None:
        """Add a step from the latest state to `target`."""
        self.targets.append(target)
        if self.names:
            self.names.actions.append(action)

    def cut_off(self, number: int, action: int) -> None:
        """Record a step from a state that leaves the scope."""
        if self.names:
            self.names.cut.setdefault(number, set()).add(action)


class InterpretedSearch(LayeredSearch[Entering, Discovery]):
    """The fault-layered search of the reference engine, over the interpreter."""

    def __init__(
        self,
        task: Task,
        machine: Machine,
        reporter: Reporter,
        *,
        keep_edges: bool,
        name_edges: bool = False,
        claims: PropertyMonitor | None = None,
    ) -> None:
        self.claims = claims or PropertyMonitor(machine, task.properties, self._report, task.witnesses)
        super().__init__(task, machine, reporter, self.claims)
        self.space = Space(machine, self.budget, task.symmetry, self.forgotten)
        self.tally = StepCounts()
        self.persistence = persistence(task)
        self.edges = Edges(names=Names() if name_edges else None) if keep_edges else None
        self._free = frozenset(task.model.free)
        self._faults = frozenset(task.model.faults)
        self._places = {action.name: place for place, action in enumerate(task.model.actions)}
        self._frontier: list[Waiting] = []
        self._seeds: dict[bytes, int] = {}  # states one fault away, and where from
        self._polled = 0

    def __len__(self) -> int:
        return len(self.space)

    def run(self) -> End:
        """Search until all states are visited or a limit or a finding ends the search."""
        end = super().run()
        if end is End.MEMORY:
            self._seeds.clear()
        return end

    # ---------------------------------------------------------------- levels and layers

    def _start(self) -> int:
        """Let the initial states wait to enter the first layer, and return depth 0."""
        initial = {self.space.key(self.budget.empty, state): NONE for state in self.space.initial()}
        self.entering = {0: list(initial.items())}
        return 0

    def _advance(self, faults: int, depth: int) -> bool:
        """Find the next level; return whether it has any state."""
        self.space.begin(faults, depth)
        self._frontier = self._expanded(self._frontier, faults, depth - 1)
        for key, predecessor in self.entering.pop(depth, []):
            if key not in self.space.index:
                spent, state = self.space.split(key)
                self._frontier.append((self._add(key, predecessor, state, faults, depth), spent, state))
        return bool(self._frontier)

    def _enter_layer(self) -> dict[int, list[Entering]]:
        """The states by a fault that no run with fewer faults reached, by their depth."""
        entering: dict[int, list[Entering]] = {}
        for key, predecessor in self._seeds.items():
            if key not in self.space.index:
                entering.setdefault(self.space.level(predecessor).depth + 1, []).append((key, predecessor))
        self._seeds = {}
        return entering

    def _expanded(self, frontier: list[Waiting], faults: int, depth: int) -> list[Waiting]:
        """The new states that the steps from a level's states lead to."""
        found: list[Waiting] = []
        for at, (number, spent, state) in enumerate(frontier):
            if number % EVERY == 0:
                self._look_around(faults, depth, len(frontier) - at)
            here = Place(faults, depth, number)
            can_go, is_whole = self._free_steps(here, spent, state, found)
            can_go |= is_whole and self._paid_steps(here, spent, state)
            if self.claims.deadlock and not can_go and not self.machine.can_go_on(state, self._faults):
                self.claims.see_end(state, here)
        return found

    # ---------------------------------------------------------------- one state

    def _free_steps(self, here: Place, spent: bytes, state: State, new: list[Waiting]) -> tuple[bool, bool]:
        """Take the actions and repairs from a state; return whether there is any, and whether all were taken.

        What is left for later (NOTE(persistent)) is counted and looked at, and not followed.
        """
        faults, after, tally = here.faults, here.depth + 1, self.tally
        edges, cut, last = self.edges, False, is_last(self.task, here.faults)
        if edges:
            edges.starts.append(len(edges.targets))
        any_step, erred = False, False
        successors: list[Successor] = []
        try:
            for step in self.machine.steps(state, tally.refused, self._free):
                any_step = True
                if isinstance(step, CutOff):
                    cut = True
                    if edges:
                        edges.cut_off(here.number, self._places[step.step.action])
                    tally.cut[step.limit] += 1
                    tally.free_cut += 1
                    continue
                tally.taken[step.step.action] += 1
                tally.free += 1
                kept = self.space.remembered(step.state, last=last)
                successor = step, self.space.key(spent, kept), kept
                if self.persistence is None:
                    self._follow(successor, here, spent, new)
                else:
                    successors.append(successor)
                self.claims.see_step(state, step, Place(faults, after, here.number, step.step, step.state))
        except ModelError as error:
            self.claims.erred(error, here)
            any_step = erred = True
        if edges:
            edges.cut.append(cut)
        enough = successors if erred else self._enough(here, state, successors)
        for successor in enough:
            self._follow(successor, here, spent, new)
        return any_step, len(enough) == len(successors)

    def _follow(self, successor: Successor, here: Place, spent: bytes, new: list[Waiting]) -> None:
        """Add the state after a step, if it is new."""
        step, key, kept = successor
        number = self.space.index.get(key, NONE)
        if number == NONE:
            number = self._add(key, here.number, step.state, here.faults, here.depth + 1)
            new.append((number, spent, self.space.squeezed(kept)))
        if self.edges:
            self.edges.lead(number, self._places[step.step.action])

    def _enough(self, here: Place, state: State, successors: list[Successor]) -> list[Successor]:
        """The successors that are enough: NOTE(persistent)."""
        if self.persistence is None or len(successors) < 2:
            return successors
        number = {each.action.name: each.number for each in self.persistence.numberings}
        failed = self._failed(state)
        groups = [number[step.step.action](step.step.args) for step, _, _ in successors]
        enabled = sum(1 << group for group in {*groups})
        changing = self._changing(state, successors, groups)
        chosen = self.persistence.chosen(enabled, failed, changing, with_faults=self.may_pay(here.faults))
        if chosen is None:
            return successors
        enough = [each for each, group in zip(successors, groups, strict=True) if chosen >> group & 1]
        known, begin = self.space.index, self.space.levels[-1].start
        is_later = any(known.get(key, begin) >= begin for _, key, _ in enough)
        return enough if is_later else successors

    def _failed(self, state: State) -> list[int]:
        """For each group the parts of the head, and in the end the body, that refused a step."""
        assert self.persistence is not None
        failed = [0] * len(self.persistence.is_open)
        for each in [one for one in self.persistence.numberings if not one.action.is_fault]:
            for args, part in self.machine.bindings(state, each.action.name):
                failed[each.number(args)] |= 1 << part
            for place in each.settled:
                for number, args in enumerate(product(*(values or (None,) for values in each.values))):
                    if not self.machine.passes(each.action.name, place, args, state):
                        failed[each.first + number] |= 1 << place
        return failed

    def _changing(self, state: State, successors: list[Successor], groups: list[int]) -> int:
        """The groups with a step that changes what a property reads."""
        assert self.persistence is not None
        found, watched = 0, self.persistence.watched
        for (step, _, _), group in zip(successors, groups, strict=True):
            if any(step.state[variable] != state[variable] for variable in watched):
                found |= 1 << group
        return found

    def _paid_steps(self, here: Place, spent: bytes, state: State) -> bool:
        """Take the faults that the budget allows; return whether there is any."""
        if not self.may_pay(here.faults):
            return False
        faults, after, tally = here.faults, here.depth + 1, self.tally
        any_step, last = False, is_last(self.task, here.faults + 1)
        try:
            for step in self.machine.steps(state, tally.refused, self.budget.affordable(spent)):
                paid = self.budget.pay(spent, step.step.action)
                any_step = True
                if isinstance(step, CutOff):
                    tally.cut[step.limit] += 1
                    tally.paid_cut += 1
                    continue
                tally.taken[step.step.action] += 1
                tally.paid += 1
                key = self.space.key(paid, self.space.remembered(step.state, last=last))
                if key not in self.space.index:
                    self._seeds.setdefault(key, here.number)
                place = Place(faults + 1, after, here.number, step.step, step.state)
                self.claims.see_step(state, step, place)
        except ModelError as error:  # counts like a run with that fault, so a cheaper one goes before it
            self.claims.erred(error, Place(here.faults + 1, here.depth, here.number))
        return any_step

    def _add(self, key: bytes, predecessor: int, state: State, faults: int, depth: int) -> int:
        """Store a new state and return its number."""
        number = self.space.add(key, predecessor)
        self.claims.see_state(state, Place(faults, depth, number))
        return number

    # ------------------------------------------------------------ when to stop

    def _take_note(self) -> None:
        """Do nothing: this search records discoveries as soon as it visits their states and steps."""

    def poll_limits(self) -> None:
        """Check the limits of time and memory in one call of `EVERY`; for loops over all states.

        Raises Stopped.
        """
        self._polled += 1
        if self._polled % EVERY == 0:
            self.check_limits()

    def _leads_elsewhere(self) -> bool:  # stops at the first fault that does, so it costs little then
        """Whether one more fault than the budget allows reaches a new state or breaks more."""
        faults = self.layers[-1].faults
        start = next((level.start for level in self.space.levels if level.faults == faults), len(self.space))
        undecided = [prop for prop in self.task.properties if prop.name not in self.claims.best]
        probe = PropertyMonitor(self.machine, undecided, lambda _: None)
        for number in range(start, len(self.space)):
            spent, state = self.space.node(number)
            try:
                for step in self.machine.steps(state, None, self.task.faults):
                    if isinstance(step, Taken):
                        probe.see_step(state, step, Place(faults + 1, 0, number))
                        if self.space.key(spent, step.state) not in self.space.index:
                            return True
            except ModelError:
                return True
            if probe.best or probe.error:
                return True
        return False

    # ------------------------------------------------------------------ telling

    def trace_of(self, prop: str) -> Trace:
        """The run that decides a property."""
        return self.trace(self.claims.best[prop])

    def error(self) -> Trace | None:
        """The run to an error of the model, if it makes one."""
        return None if self.claims.error is None else self.trace(self.claims.error)

    def trace(self, found: Discovery) -> Trace:
        """The trace to a discovery, in which members keep their names from state to state."""
        place = found.place
        states, steps = self.space.path(place.number)
        ending = found.ending
        if place.step is not None and place.state is not None:
            if self._is_reduced:
                found = self._renamed_step(states[-1], found)
                place, ending = found.place, found.ending
            assert place.step is not None
            assert place.state is not None
            states.append(place.state)
            steps.append(place.step)
        elif self._is_reduced and isinstance(ending, Erred):
            ending = self._renamed_error(states[-1], found) or ending
        model, check = self.task.model, self.task.check
        run = Trace(model, self.task.scope, tuple(states), tuple(steps), ending, found.name, check)
        return bounded(run)

    @property
    def _is_reduced(self) -> bool:
        """Whether a state represents others, so that steps have other names in a run."""
        return bool(self.task.symmetry or self.task.scope.unbounded or self.forgotten)

    def _renamed_error(self, state: State, found: Discovery) -> Erred | None:
        """The error of the model, with the names that members have in this run."""
        try:
            for prop in self.task.properties:
                if prop.name == found.name:
                    self.space.of_runs.ask(prop, state)
            for _ in self.space.of_runs.steps(state, actions=self._taken_from(found.place)):
                pass
        except ModelError as error:
            return Erred(error.code, error.message, error.span, error.step)
        return None

    def _renamed_step(self, state: State, found: Discovery) -> Discovery:
        """A step like the last one of a run, with the names of members in the state before it."""
        asked = [prop for prop in self.task.properties if prop.name == found.name]
        for step in self.space.of_runs.steps(state, actions=self._taken_from(found.place)):
            if isinstance(step, Taken):
                monitor = PropertyMonitor(self.space.of_runs, asked, lambda _: None)
                place = replace(found.place, step=step.step, state=step.state)
                monitor.see_step(state, step, place)
                same = (
                    monitor.error if isinstance(found.ending, Erred) else monitor.best.get(found.name or "")
                )
                if same is not None:
                    return same
        raise AssertionError(f"no step is like the one that was found for {found.name}")  # NOTE(alike)

    def _taken_from(self, place: Place) -> frozenset[str]:
        """The actions and repairs, or the faults within the budget, whichever the last step is of."""
        spent, _ = self.space.node(place.number)
        by_fault = place.faults != self.space.level(place.number).faults
        return self.budget.affordable(spent) if by_fault else self._free

    def counts(self) -> Counts:
        """The counters of the search."""
        space, tally = self.space, self.tally
        return Counts(
            states=len(space),
            transitions=tally.free + tally.paid,
            levels=1 + max((level.depth for level in space.levels if level.start < len(space)), default=-1),
            taken=tally.taken,
            cut=tally.cut,
            refused=frozenset(tally.refused),
            seen=frozenset(self.claims.seen),
        )

    def steps(self) -> Sums:
        """The number of steps taken, and of steps cut, so far."""
        tally = self.tally
        return tally.free, tally.paid, tally.free_cut, tally.paid_cut

    def _report(self, found: Discovery) -> None:
        """Report a discovery to the user."""
        self.reporter.tell(RunFound(found.name or "", found.place.faults, found.place.depth))
