"""The fault-layered search: everything without faults first, then everything one fault away, and so on.

Layer k holds the states whose cheapest path has k faults.  A layer is explored
to the end with actions and repairs, by depth; the faults that its states allow
lead to states that wait for the next layer, where they enter at their own depth.
So a state is stored once, at its cheapest, and the first run found to anything
has the fewest faults and then the fewest steps.

NOTE(backend): this loop is written once, for every engine that searches so.  It knows the order of
levels and layers, the limits, when a violation ends the search, what is counted of a layer, and what
is reported meanwhile.  Who holds the states and takes their steps is a subclass: `_start`, `_advance`,
`_enter_layer` and `_leads_elsewhere` explore, `__len__`, `steps` and `counts` count, `_take_note`
hands over what was found.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import ClassVar, Generic, TypeVar

from counterexamples.trace import Trace
from modelcheck.contract.engine import Task
from modelcheck.contract.report import LayerDone, Progress, Reporter, Stopped
from modelcheck.contract.result import End, Layer
from modelcheck.processes.memory import resident
from modelcheck.search.finds import Cost, Costly, Finds
from modelcheck.search.forgotten import forgotten, is_last
from modelcheck.search.space import FaultBudget
from spec.frozen import frozen
from spec.meaning.semantics import Machine

SOON = 0.02  # seconds between two looks at the memory in use
QUIET = 0.5  # seconds between two reports of progress

Sums = tuple[int, int, int, int]  # steps taken, free ones and faults; and cut, free ones and faults


@frozen
class Counts:
    """What was counted: distinct states, levels, steps by action, cut ones by limit, guards that were false.

    `seen` are the names of the conditions of which a state is a witness.
    """

    states: int
    transitions: int
    levels: int
    taken: Mapping[str, int]
    cut: Mapping[str, int]
    refused: frozenset[tuple[str, int]]
    seen: frozenset[str] = frozenset()


E = TypeVar("E")  # some states that wait for a layer
F = TypeVar("F", bound=Costly)  # what was found


class LayeredSearch(ABC, Generic[E, F]):
    """One run of the search, and what it has found so far; `run` may be interrupted at any time.

    `entering` are the states that wait for this layer, by the depth at which they enter it,
    and `reached` is the layer and depth of the last level that is known as a whole.
    """

    quiet: ClassVar[float | None] = None  # seconds between two reports of progress, if not QUIET

    def __init__(self, task: Task, machine: Machine, reporter: Reporter, finds: Finds[F]) -> None:
        self.task = task
        self.machine = machine
        self.budget = FaultBudget(task.model, task.budget)
        self.forgotten = forgotten(task)
        self.reporter = reporter
        self.finds = finds
        self.layers: list[Layer] = []
        self.fixpoint = False
        self.ready = 0.0  # seconds that it took to get ready, before it started
        self.started = self.since = monotonic()  # of the search, and of its limit of seconds
        self.reached = (0, -1)
        self.entering: dict[int, list[E]] = {}
        self.sums: Sums = (0, 0, 0, 0)  # when the last layer was done
        self._reported = self.started
        self._looked, self._memory = 0.0, 0
        self.is_to_end = False  # on request

    # ------------------------------------------------------------------ the backend

    @abstractmethod
    def __len__(self) -> int:
        """The number of states found."""

    @abstractmethod
    def _start(self) -> int | None:
        """Let the initial states wait to enter the first layer, and return 0.

        A resumed search returns the depth of the next level; None
        where its layer has none.
        """

    @abstractmethod
    def _advance(self, faults: int, depth: int) -> bool:
        """Find the next level: the successors of the last one and the states that enter; whether any.

        The first level of a layer has none before it.  What faults lead to is to wait for the next
        layer, if this layer's states are allowed any (`may_pay`).  Takes what enters from `entering`.
        Looks at the limits now and then by `_look_around`, at moments when all is in order.
        """

    @abstractmethod
    def _enter_layer(self) -> dict[int, list[E]]:
        """The states reached only by one more fault, by the depth at which they enter.

        Empty where nothing is left, and the layer is not entered.
        """

    @abstractmethod
    def _leads_elsewhere(self) -> bool:
        """Whether one more fault than the budget allows reaches a new state or breaks more."""

    @abstractmethod
    def _take_note(self) -> None:
        """Pass the discoveries so far to `finds`."""

    @abstractmethod
    def steps(self) -> Sums:
        """The number of steps taken, and of steps cut, so far."""

    @abstractmethod
    def counts(self) -> Counts:
        """The counters of the search so far."""

    @abstractmethod
    def trace_of(self, prop: str) -> Trace:
        """The run that decides a property."""

    @abstractmethod
    def error(self) -> Trace | None:
        """The run to an error of the model, if it makes one."""

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """A context in which steps can be taken: threads and memory are ready."""
        yield

    def _stopped(self, end: End) -> None:
        """Prepare for a consistent end of the search before it is complete."""

    # --------------------------------------------------------------------- the loop

    def run(self) -> End:
        """Search until all states are visited or a limit or a finding ends the search."""
        try:
            with self.at_work():
                self._explore()
        except Stopped as stopped:
            self._stopped(stopped.end)
            return stopped.end
        except KeyboardInterrupt:
            return End.INTERRUPTED
        except MemoryError:
            return End.MEMORY
        return End.ERROR if self.finds.error is not None else End.COMPLETE

    def _explore(self) -> None:
        """Search every layer; a resumed search begins with the one where it stopped."""
        depth = self._start()
        self._layer(len(self.layers), depth)
        while self.entering:
            self._layer(len(self.layers), min(self.entering))

    def _layer(self, faults: int, depth: int | None) -> None:
        """Search one layer from a depth on, and then whether one more fault adds anything."""
        while depth is not None:
            is_any = self._advance(faults, depth)
            if is_any or not self.entering:  # else the next level is that of what enters
                self._note(faults, depth)
            depth = self._after(depth, is_any=is_any)
        self._finish(faults)

    def _after(self, depth: int, *, is_any: bool) -> int | None:
        """The depth of the next level; None at the end of the layer."""
        return depth + 1 if is_any else min(self.entering, default=None)

    def _note(self, faults: int, depth: int) -> None:
        """Decide properties after a complete level, so that no result depends on the order within it."""
        self.reached = faults, depth
        self._take_note()
        if self.finds.has_erred(faults, depth):
            raise Stopped(End.ERROR)
        one = self.task.at_first
        if self.task.stop_early and self.finds.best and self.finds.decided(faults, depth, one=one):
            raise Stopped(End.DECIDED)

    def _finish(self, faults: int) -> None:
        """Record a complete layer, and whether one more fault could add anything."""
        before, (_, paid, _, paid_cut), now = self.layers[-1:], self.sums, self.steps()
        counts, (free, _, free_cut, _) = self.counts(), now
        layer = Layer(
            faults=faults,
            new=counts.states - sum(each.states for each in before),
            states=counts.states,
            transitions=free + paid,  # the faults that lead to this layer are those of the one before
            levels=counts.levels,
            cut=free_cut + paid_cut,
        )
        self.sums = now
        self.layers.append(layer)
        self.reporter.tell(LayerDone(layer))
        self.entering = self._enter_layer()
        if not self.entering:
            bounds = (self.task.budget.kinds or {}).values()
            self.fixpoint = all(most is None for most in bounds) and self._adds_nothing(faults)

    def _adds_nothing(self, faults: int) -> bool:
        """Whether one more fault reaches no new state and breaks nothing, at the end of the budget."""
        if self.forgotten and is_last(self.task, faults):
            return False
        if self.task.partial_order and self.task.faults and faults == self.budget.total:
            return False  # NOTE(persistent): the last layer leaves steps for later as if there were no more
        return faults != self.budget.total or not self.task.faults or not self._leads_elsewhere()

    def may_pay(self, faults: int) -> bool:
        """Whether the budget allows one more fault after `faults`."""
        return bool(self.budget.allowed) and faults != self.budget.total

    # ------------------------------------------------------------------ when to stop

    def _look_around(self, faults: int, depth: int, waiting: int) -> None:
        """Check all limits, and report progress. Raises Stopped."""
        states = self.task.limits.states
        if states is not None and len(self) >= states:
            raise Stopped(End.STATES)
        self.check_limits()
        self.tell(faults, depth, waiting)

    def check_limits(self) -> None:
        """Raise Stopped on a request to end, or without time or memory left; safe from any thread."""
        if self.is_to_end:
            raise Stopped(End.INTERRUPTED)
        if self.left() == 0:
            raise Stopped(End.SECONDS)
        now = monotonic()
        if now - self._looked >= SOON:
            self._looked, self._memory = now, resident()
        most = self.task.limits.memory
        if most is not None and self._memory >= most:
            raise Stopped(End.MEMORY)

    def left(self) -> float | None:
        """The seconds left of the time limit; None without one."""
        limit = self.task.limits.seconds
        return None if limit is None else max(0.0, limit - (monotonic() - self.since))

    def tell(self, faults: int, depth: int, waiting: int) -> None:
        """Report progress at intervals; raises Stopped if the user has enough."""
        now = monotonic()
        if now - self._reported < (QUIET if self.quiet is None else self.quiet):
            return
        self._reported = now
        free, paid, *_ = self.steps()
        seconds = now - self.started
        self.reporter.tell(Progress(faults, depth, len(self), free + paid, waiting, seconds, self._memory))

    def go_on(self, seconds: float) -> None:
        """Count the seconds that the search took before it was resumed."""
        self.started = self.since = monotonic() - seconds

    def cost_of(self, prop: str) -> Cost | None:
        """The cost of the best run that decides a property; None when none was found."""
        found = self.finds.best.get(prop)
        return None if found is None else found.cost

    def error_cost(self) -> Cost | None:
        """The cost of the best run to an error of the model; None when none was found."""
        return None if self.finds.error is None else self.finds.error.cost
