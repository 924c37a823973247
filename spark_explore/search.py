"""The fault-layered search, level by level: who expands and settles a level is asked for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from time import monotonic

from counterexamples.trace import Ending, Trace
from modelcheck.contract.engine import Task
from modelcheck.contract.report import LayerDone, Progress, Reporter, Stopped
from modelcheck.contract.result import End, Layer
from modelcheck.explicit.codegen.context import NOWHERE
from modelcheck.explicit.codegen.layout import Words
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.explicit.search.space import Level as Stand
from modelcheck.explicit.search.tally import Find, Tally, Way
from modelcheck.processes.memory import resident
from modelcheck.search.account import Cost, Counts
from modelcheck.search.space import FaultBudget, is_unbounded
from spark_explore.files import Place, by_depth, write
from spark_explore.here import Hands
from spark_explore.pieces import Piece, piece_told, total, verify
from spark_explore.run import LEVELS, Json, Level, Run
from spark_explore.runs import FarRuns
from spark_explore.spent import Spent, told
from spark_explore.steps import FAILED, Expanded, filled
from spec.semantics import Machine

Pieces = list[Piece]


@dataclass(slots=True)
class Finds:
    """The states in which something was found, numbered as they came; for `Tally`, which knows the rest."""

    size: int = 0
    states: list[Words] = field(default_factory=list)
    stands: list[Stand] = field(default_factory=list)  # of each of them
    levels: list[Stand] = field(default_factory=list)
    new: dict[int, int] = field(default_factory=dict)  # by the place of the property, until they are noted

    def __len__(self) -> int:
        return self.size

    def grow(self, level: Level) -> None:
        """Count the states of another level."""
        if level.count:
            self.levels.append(Stand((self.size,), level.faults, level.depth))
        self.size += level.count

    def number(self, state: Words, faults: int, depth: int) -> int:
        """The number of a state from now on."""
        self.states.append(state)
        self.stands.append(Stand((), faults, depth))
        return len(self.states) - 1

    def level(self, number: int) -> Stand:
        """The layer and depth of a state."""
        return self.stands[number]

    def firsts(self, place: int) -> Iterator[int]:
        """The state of the last level that has a property."""
        return iter([self.new[place]] if place in self.new else [])

    def failures(self) -> Iterator[int]:
        """The state of the last level where asking makes an error."""
        return self.firsts(FAILED)


@dataclass(slots=True)
class Counter:
    """What all who expand have counted together, and the numbers of what they have found."""

    context: list[int]


class Search:
    """One run of the search; `hands` are asked for each level, given how many states there are to expand."""

    def __init__(self, task: Task, machine: Machine, kernel: Kernel, reporter: Reporter, run: Run) -> None:
        self.task = task
        self.machine = machine
        self.kernel = kernel
        self.budget = FaultBudget(task.model, task.budget)
        self.tally = Tally(kernel.context, task.properties, reporter)
        self.layers: list[Layer] = []
        self.fixpoint = False
        self.started = self._since = monotonic()
        self.ready = kernel.seconds
        self.reached = (0, -1)
        self.run = run
        self.hands: Callable[[int], Hands]
        self._finds = Finds()
        self._counter = Counter(kernel.context.new())
        self._reporter = reporter
        self._sums = (0, 0, 0, 0)
        self._spent = Spent()
        self._entering: dict[int, Pieces] = {}
        self._status: Json | None = None

    # ------------------------------------------------------------------ searching

    def search(self, status: Json | None = None) -> End:
        """Search, until everything is seen or something ends the search; go on from a status."""
        try:
            self._explore(status)
        except Stopped as stopped:
            if stopped.end is End.SECONDS:  # as long again to show what was found, at most
                self._since = monotonic()
            return stopped.end
        except KeyboardInterrupt:
            return End.INTERRUPTED
        except MemoryError:
            return End.MEMORY
        return End.ERROR if self.tally.error else End.COMPLETE

    def _explore(self, status: Json | None) -> None:
        if status is None:
            self._entering = self._roots()
            self._layer(0, None)
        else:
            self._restore(status)
            last = self.run.levels[-1]
            self._note(last.faults, last.depth)
            self._layer(last.faults, last)
        while self._entering:
            self._layer(len(self.layers), None)

    def _roots(self) -> dict[int, Pieces]:
        """The initial states, which enter the first layer at depth 0."""
        layout, width = self.kernel.layout, 8 * self.kernel.layout.words
        packed = {self.kernel.represent(layout.pack(state)) for state in self.machine.initial()}
        block = b"".join(b"".join(word.to_bytes(8, "little") for word in state) for state in packed)
        table = filled(self.kernel, 1, [block])
        try:
            sorted_ = table.take(waiting=False)
        finally:
            table.close()
        assert len(sorted_) == width * len(packed)
        return by_depth([0], write(self.kernel, Place(self.run.store, self.run.shards, 0), [sorted_]))

    def _layer(self, faults: int, last: Level | None) -> None:
        """Everything with so many faults, from a level on; then see what one more would add."""
        depth = min(self._entering, default=0) if last is None else last.depth
        frontier: Pieces = [] if last is None else list(last.new)
        if last is None:
            frontier = self._advance(faults, depth, [])
        while frontier or self._entering:
            depth = depth + 1 if frontier else min(self._entering)
            frontier = self._advance(faults, depth, frontier)
        self._finish(faults)

    def _advance(self, faults: int, depth: int, frontier: Pieces) -> Pieces:
        """One level: what the level before leads to, and what enters the layer here."""
        self._look_around(faults, depth, frontier)
        woken = self._entering.pop(depth, [])
        paid = bool(self.budget.allowed) and faults != self.budget.total
        number = len(self.run.levels)
        hands = self.hands(total(frontier) + total(woken))
        done = hands.advance(number, frontier, woken, paid=paid)
        level = Level(number, faults, depth, tuple(done.new), tuple(done.waiting))
        self._spent.add(done.spent)
        self._count(level, done.expanded, done.finds)
        self.run.commit(level, self._told())
        if done.new or not self._entering:  # else the next level is that of what enters
            self._note(faults, depth)
        return list(done.new)

    def _finish(self, faults: int) -> None:
        """A layer is done: count it, and see whether another fault could add anything."""
        layer = self.tally.layer(faults, self._finds, self.layers, self._sums)
        self._sums = self.tally.sums()
        self.layers.append(layer)
        self._reporter.tell(LayerDone(layer))
        self._entering = self._sifted(faults)
        if not self._entering:
            self.fixpoint = is_unbounded(self.task.budget.kinds) and self._adds_nothing(faults)

    def _sifted(self, faults: int) -> dict[int, Pieces]:
        """What waits for the next layer, by the depth at which it enters."""
        waiting: dict[int, Pieces] = {}
        for level in self.run.levels:
            if level.faults == faults and level.waiting:
                waiting.setdefault(level.depth, []).extend(level.waiting)
        depths = sorted(waiting)
        if not depths:
            return {}
        hands = self.hands(sum(map(total, waiting.values())))
        found = hands.sift(len(self.run.levels), [waiting[depth] for depth in depths])
        entering = by_depth(depths, found)
        told = {str(depth): [piece.told() for piece in pieces] for depth, pieces in entering.items()}
        self.run.tell(layer_name(faults + 1), told)
        return entering

    def _adds_nothing(self, faults: int) -> bool:
        """Whether one more fault leads nowhere new and breaks nothing; asked only where the budget ends."""
        context = self.kernel.context
        if faults != self.budget.total or not context.allowed:
            return True
        for level in self.run.levels:
            if level.faults != faults or not level.count:
                continue
            elsewhere, expanded = self.hands(level.count).leads_elsewhere(level.new)
            found = [0 if place in expanded.finds else word for place, word in enumerate(context.new())]
            if elsewhere or self.tally.breaks_more(found):
                return False
        return True

    # ------------------------------------------------------------------- counting

    def _count(self, level: Level, expanded: Expanded, finds: dict[int, Words]) -> None:
        """Take up what a level has counted and found."""
        context, own = self.kernel.context, self._counter.context
        for place in range(context.taken, context.size):
            own[place] += expanded.words[place]
        for place, state in sorted(expanded.finds.items()):
            if own[place] == NOWHERE:
                own[place] = self._finds.number(state, *self._before(level))
        self._finds.grow(level)
        self._finds.new = {
            place: self._finds.number(state, level.faults, level.depth)
            for place, state in sorted(finds.items())
        }
        self.tally.take([self._counter])

    def _before(self, level: Level) -> tuple[int, int]:
        """The layer and depth of what was expanded for a level."""
        return level.faults, level.depth - 1

    def _note(self, faults: int, depth: int) -> None:
        """See what the level that has just been found decides."""
        self.reached = faults, depth
        self.tally.note(self._finds, [self._counter])
        self._finds.new = {}
        if self.tally.has_erred(faults, depth):
            raise Stopped(End.ERROR)
        if self.task.stop_early and self.tally.best and self.tally.decided(faults, depth):
            raise Stopped(End.DECIDED)

    def left(self) -> float | None:
        """How many seconds there are left; None where nobody counts them."""
        limit = self.task.limits.seconds
        return None if limit is None else max(0.0, limit - (monotonic() - self._since))

    def _look_around(self, faults: int, depth: int, frontier: Sequence[Piece]) -> None:
        """Look at the limits, and tell how far it has come."""
        most = self.task.limits.states
        if most is not None and len(self._finds) >= most:
            raise Stopped(End.STATES)
        self.look(faults, depth, total(frontier))

    def look(self, faults: int, depth: int, waiting: int) -> None:
        """Look at the limits of time and memory, and tell how far it has come. Raises Stopped."""
        if self.left() == 0:
            raise Stopped(End.SECONDS)
        memory, most = resident(), self.task.limits.memory
        if most is not None and memory >= most:
            raise Stopped(End.MEMORY)
        states, seconds = len(self._finds), monotonic() - self.started
        transitions = self.tally.transitions
        self._reporter.tell(Progress(faults, depth, states, transitions, waiting, seconds, memory))

    # --------------------------------------------------------------------- status

    def _told(self) -> Json:
        """How far the search is, but for the levels."""
        finds = self._finds
        return {
            "context": self._counter.context,
            "found": [
                [list(s), at.faults, at.depth] for s, at in zip(finds.states, finds.stands, strict=True)
            ],
            "new": sorted(finds.new.items()),
            "best": {name: _find(find) for name, find in self.tally.best.items()},
            "error": None if self.tally.error is None else _find(self.tally.error),
            "layers": [asdict(layer) for layer in self.layers],
            "sums": list(self._sums),
            "seconds": monotonic() - self.started,
            "spent": told(self._spent),
            "taken": dict(self.counts().taken),
        }

    def _restore(self, status: Json) -> None:
        """Go on from there."""
        finds = self._finds
        self._counter.context = status["context"]
        for state, faults, depth in status["found"]:
            finds.number(tuple(state), faults, depth)
        finds.new = dict(status["new"])
        for level in self.run.levels:
            finds.grow(level)
        self.tally.best = {name: _found(find) for name, find in status["best"].items()}
        self.tally.error = None if status["error"] is None else _found(status["error"])
        self.tally.take([self._counter])
        self.layers = [Layer(**layer) for layer in status["layers"]]
        free, paid, free_cut, paid_cut = status["sums"]
        self._sums = (free, paid, free_cut, paid_cut)
        self.started = self._since = monotonic() - status["seconds"]
        self._spent = Spent(status["spent"])
        last = self.run.levels[-1]
        if last.faults:
            entering = self.run.told(layer_name(last.faults))
            gone = {level.depth for level in self.run.levels if level.faults == last.faults}
            self._entering = {
                int(depth): [piece_told(piece) for piece in pieces]
                for depth, pieces in entering.items()
                if int(depth) not in gone
            }
            width = 8 * self.kernel.layout.words
            verify(self.run.store, chain.from_iterable(self._entering.values()), width)

    # -------------------------------------------------------------------- telling

    def cost_of(self, prop: str) -> Cost | None:
        """The cost of the best run that decides a property; None when none was found."""
        found = self.tally.best.get(prop)
        return None if found is None else found.cost[:2]

    def error_cost(self) -> Cost | None:
        """The cost of the best run to an error of the model; None when none was found."""
        return None if self.tally.error is None else self.tally.error.cost[:2]

    def trace_of(self, prop: str) -> Trace:
        """The run that decides a property."""
        return self._runs().trace(prop, self.tally.best[prop])

    def error(self) -> Trace | None:
        """The run to an error of the model, if it makes one."""
        return None if self.tally.error is None else self._runs().error(self.tally.error)

    def run_to(self, state: Words, level: Level, ending: Ending, prop: str) -> Trace:
        """The run to a state of a level."""
        return self._runs().to(self._finds.number(state, level.faults, level.depth), ending, prop)

    def _runs(self) -> FarRuns:
        return FarRuns(self.task, self.machine, self.kernel, self)

    def found(self, number: int) -> tuple[Words, int, int]:
        """A state in which something was found, its layer and depth."""
        return self._finds.states[number], self._finds.stands[number].faults, self._finds.stands[number].depth

    @property
    def size(self) -> int:
        """How many states there are by now."""
        return len(self._finds)

    def counts(self) -> Counts:
        """What was counted."""
        return self.tally.counts(self._finds)


def layer_name(faults: int) -> str:
    """The name of the file that says what enters a layer."""
    return f"{LEVELS}/layer-{faults:04}.json"


def _find(find: Find) -> list[object]:
    return [find.faults, find.depth, find.number, find.way.name, find.by_fault]


def _found(told: Sequence[object]) -> Find:
    faults, depth, number, way, by_fault = told
    return Find(int(str(faults)), int(str(depth)), int(str(number)), Way[str(way)], bool(by_fault))
