"""The fault-layered search on files; for each level it is chosen who expands and deduplicates it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from time import monotonic
from typing import ClassVar

from counterexamples.trace import Ending, Trace
from modelcheck.contract.engine import Task
from modelcheck.contract.report import Reporter
from modelcheck.contract.result import End, Layer
from modelcheck.explicit.codegen.search.context import NOWHERE
from modelcheck.explicit.codegen.states.layout import Words
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.explicit.search.space import PackedLevel as Stand
from modelcheck.explicit.search.tally import CountsAndFinds, Find, FindKind
from modelcheck.search.layers import Counts, LayeredSearch, Sums
from spark_explore.search.blocks import FAILED, Expanded
from spark_explore.search.local_level import Executors
from spark_explore.search.runs import FarRuns
from spark_explore.search.settling import in_order, read_at_most
from spark_explore.storage.run import LEVELS, Json, RunFolder, RunLevel, new_name
from spark_explore.storage.sorted_pieces import SortedPiece, SortedPieces, count_states, verify
from spark_explore.storage.spent import CoreSeconds, as_json
from spec.meaning.semantics import Machine

Pieces = list[SortedPiece]
SUCCESSORS = 4  # of a state, without most of those that are made twice


@dataclass(slots=True)
class FoundStates:
    """The states with findings, numbered in order of discovery."""

    size: int = 0
    states: list[Words] = field(default_factory=list)
    stands: list[Stand] = field(default_factory=list)  # of each of them
    levels: list[Stand] = field(default_factory=list)
    new: dict[int, int] = field(default_factory=dict)  # by the place of the property, until they are noted

    def __len__(self) -> int:
        return self.size

    def grow(self, level: RunLevel) -> None:
        """Add the number of states of another level."""
        if level.count:
            self.levels.append(Stand((self.size,), level.faults, level.depth))
        self.size += level.count

    def number(self, state: Words, faults: int, depth: int) -> int:
        """The number of a new state."""
        self.states.append(state)
        self.stands.append(Stand((), faults, depth))
        return len(self.states) - 1

    def level(self, number: int) -> Stand:
        """The layer and depth of a state."""
        return self.stands[number]

    def firsts(self, place: int) -> Iterator[int]:
        """The state of the last level that violates or satisfies the property with an index."""
        return iter([self.new[place]] if place in self.new else [])

    def failures(self) -> Iterator[int]:
        """The state of the last level where evaluating a property fails."""
        return self.firsts(FAILED)


@dataclass(slots=True)
class Counter:
    """The sum of all expanders' counters, and the numbers of states with findings."""

    context: list[int]


class FileSearch(LayeredSearch[SortedPiece, Find]):
    """The fault-layered search on files; a `status` resumes it.

    `executors` are asked for each level, given how many states there are to expand, how many that were seen
    are read, and what it is.
    """

    quiet: ClassVar[float] = 0.0  # a level is long enough

    def __init__(
        self,
        task: Task,
        machine: Machine,
        kernel: Kernel,
        reporter: Reporter,
        run: RunFolder,
        status: Json | None = None,
    ) -> None:
        self.tally = CountsAndFinds(kernel.context, task.properties, reporter)
        super().__init__(task, machine, reporter, self.tally)
        self.kernel = kernel
        self.ready = kernel.seconds
        self.files = run
        self.states = SortedPieces(run.store, kernel.sorted_states(), kernel.layout.words)
        self.executors: Callable[[int, int, str], Executors]
        self._known = FoundStates()
        self._seen = set[int]()  # the places of the conditions that have a witness
        self._counter = Counter(kernel.context.new())
        self._spent = CoreSeconds()
        self._status = status
        self._frontier: Pieces = []

    def __len__(self) -> int:
        return len(self._known)

    def _stopped(self, end: End) -> None:
        """Restart the clock at a time limit, so that showing the findings may take as long again."""
        if end is End.SECONDS:  # as long again to show what was found, at most
            self.since = monotonic()

    # ---------------------------------------------------------- levels and layers

    def _start(self) -> int | None:
        """Queue the initial states, or restore a status; return the depth of the next level."""
        if self._status is None:
            self.entering = self._roots()
            return 0
        self._restore(self._status)
        last = self.files.levels[-1]
        self._frontier = list(last.new)
        self._note(last.faults, last.depth)
        return self._after(last.depth, is_any=bool(last.new))

    def _roots(self) -> dict[int, Pieces]:
        """The initial states, which enter the first layer at depth 0."""
        packed: dict[int, list[bytes]] = defaultdict(list)
        for state in {self.kernel.represent(state) for state in self.machine.initial()}:
            shard = self.kernel.shard_of(state, self.files.shards)
            packed[shard].append(b"".join(word.to_bytes(8, "little") for word in state))
        with ExitStack() as until_end:
            found = [
                (shard, until_end.enter_context(in_order(self.states.arrays, states)))
                for shard, states in sorted(packed.items())
            ]
            return {0: self.states.write(new_name(0, None), found)}

    def _advance(self, faults: int, depth: int) -> bool:
        """Search one level, commit it, and return whether it has any state."""
        frontier = self._frontier
        self._look_around(faults, depth, count_states(frontier))
        woken = self.entering.pop(depth, [])
        number = len(self.files.levels)
        states = count_states(frontier) + count_states(woken)
        executors = self.executors(states, self._read_for(states), f"layer {faults}, depth {depth}")
        done = executors.advance(number, frontier, woken, paid=self.may_pay(faults))
        level = RunLevel(number, faults, depth, tuple(done.new), tuple(done.waiting))
        self._spent.add(done.spent)
        self._count(level, done.expanded, done.finds)
        self.files.commit(level, self._status_now())
        self._frontier = list(done.new)
        return bool(done.new)

    def _enter_layer(self) -> dict[int, Pieces]:
        """The states that enter the next layer, by depth."""
        faults = len(self.layers) - 1
        waiting: dict[int, Pieces] = {}
        for level in self.files.levels:
            if level.faults == faults and level.waiting:
                waiting.setdefault(level.depth, []).extend(level.waiting)
        depths = sorted(waiting)
        if not depths:
            return {}
        states = sum(map(count_states, waiting.values()))
        executors = self.executors(states, self._read_for(states), f"what enters layer {faults + 1}")
        found = executors.deduplicate_waiting(len(self.files.levels), [waiting[depth] for depth in depths])
        entering = {depth: pieces for depth, pieces in zip(depths, found, strict=True) if pieces}
        data = {str(depth): [piece.as_json() for piece in pieces] for depth, pieces in entering.items()}
        self.files.write_json(layer_name(faults + 1), data)
        return entering

    def _leads_elsewhere(self) -> bool:
        """Whether one more fault reaches a new state or breaks more."""
        for level in self.files.levels:
            if level.faults != self.layers[-1].faults or not level.count:
                continue
            elsewhere, expanded = self.executors(
                level.count, self._read_for(level.count), "one more fault"
            ).leads_elsewhere(level.new)
            words = enumerate(self.kernel.context.new())
            found = [0 if place in expanded.finds else word for place, word in words]
            if elsewhere or self.tally.breaks_more(found):
                return True
        return False

    def _read_for(self, states: int) -> int:
        """The states that were seen and are read for the successors of some."""
        return read_at_most((level.count for level in self.files.levels), SUCCESSORS * states)

    # ------------------------------------------------------------------- counting

    def _count(self, level: RunLevel, expanded: Expanded, finds: dict[int, Words]) -> None:
        """Add a level's counters and findings."""
        context, own = self.kernel.context, self._counter.context
        for place in range(context.taken, context.size):
            own[place] += expanded.words[place]
        for place, state in sorted(expanded.finds.items()):
            if own[place] == NOWHERE:
                own[place] = self._known.number(state, *self._before(level))
        self._known.grow(level)
        conditions = range(len(context.of_states), len(context.noted))
        self._seen.update(place for place in finds if place in conditions)
        self._known.new = {
            place: self._known.number(state, level.faults, level.depth)
            for place, state in sorted(finds.items())
            if place not in conditions
        }
        self.tally.take([self._counter])

    def _before(self, level: RunLevel) -> tuple[int, int]:
        """The layer and depth of the states expanded for a level."""
        return level.faults, level.depth - 1

    def _take_note(self) -> None:
        """Pass the discoveries of the last level to `finds`."""
        self.tally.note(self._known, [self._counter])
        self._known.new = {}

    # --------------------------------------------------------------------- status

    def _status_now(self) -> Json:
        """The progress of the search as JSON data, without the levels."""
        finds = self._known
        return {
            "context": self._counter.context,
            "found": [
                [list(s), at.faults, at.depth] for s, at in zip(finds.states, finds.stands, strict=True)
            ],
            "new": sorted(finds.new.items()),
            "seen": sorted(self._seen),
            "best": {name: _find(find) for name, find in self.tally.best.items()},
            "error": None if self.tally.error is None else _find(self.tally.error),
            "layers": [asdict(layer) for layer in self.layers],
            "sums": list(self.sums),
            "seconds": monotonic() - self.started,
            "spent": as_json(self._spent),
            "taken": dict(self.counts().taken),
        }

    def _restore(self, status: Json) -> None:
        """Resume from a status."""
        finds = self._known
        self._counter.context = status["context"]
        for state, faults, depth in status["found"]:
            finds.number(tuple(state), faults, depth)
        finds.new = dict(status["new"])
        self._seen = set(status["seen"])
        for level in self.files.levels:
            finds.grow(level)
        self.tally.best = {name: _found(find) for name, find in status["best"].items()}
        self.tally.error = None if status["error"] is None else _found(status["error"])
        self.tally.take([self._counter])
        self.layers = [Layer(**layer) for layer in status["layers"]]
        free, paid, free_cut, paid_cut = status["sums"]
        self.sums = (free, paid, free_cut, paid_cut)
        self.go_on(status["seconds"])
        self._spent = CoreSeconds(status["spent"])
        last = self.files.levels[-1]
        if last.faults:
            entering = self.files.read_json(layer_name(last.faults))
            gone = {level.depth for level in self.files.levels if level.faults == last.faults}
            self.entering = {
                int(depth): [SortedPiece(*piece) for piece in pieces]
                for depth, pieces in entering.items()
                if int(depth) not in gone
            }
            words = self.kernel.layout.words
            verify(self.files.store, chain.from_iterable(self.entering.values()), words)

    # -------------------------------------------------------------------- telling

    def trace_of(self, prop: str) -> Trace:
        """The trace that decides a property."""
        return self._runs().trace(prop, self.tally.best[prop])

    def error(self) -> Trace | None:
        """The trace to an error of the model, if there is one."""
        return None if self.tally.error is None else self._runs().error(self.tally.error)

    def run_to(self, state: Words, level: RunLevel, ending: Ending, prop: str) -> Trace:
        """The trace to a state of a level."""
        return self._runs().to(self._known.number(state, level.faults, level.depth), ending, prop)

    def _runs(self) -> FarRuns:
        """The reconstruction of runs."""
        return FarRuns(self.task, self.machine, self.kernel, self)

    def found(self, number: int) -> tuple[Words, int, int]:
        """A state with a finding, its layer and depth."""
        return self._known.states[number], self._known.stands[number].faults, self._known.stands[number].depth

    def steps(self) -> Sums:
        """The number of steps taken, and of steps cut, so far."""
        return self.tally.sums()

    def counts(self) -> Counts:
        """The counters of the search."""
        noted = self.kernel.context.noted
        return replace(self.tally.counts(self._known), seen=frozenset(noted[at].name for at in self._seen))


def layer_name(faults: int) -> str:
    """The name of the file that lists the states entering a layer."""
    return f"{LEVELS}/layer-{faults:04}.json"


def _find(find: Find) -> list[object]:
    """A finding as JSON data."""
    return [find.faults, find.depth, find.number, find.way.name, find.by_fault]


def _found(data: Sequence[object]) -> Find:
    """The finding in JSON data."""
    faults, depth, number, way, by_fault = data
    return Find(int(str(faults)), int(str(depth)), int(str(number)), FindKind[str(way)], bool(by_fault))
