"""The fault-layered search over packed states: rounds of chunks, the same for any number of threads."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from time import monotonic, process_time
from typing import Protocol

from counterexamples.trace import Trace
from modelcheck.contract.engine import Task
from modelcheck.contract.report import Checkpointed, Reporter, Stopped
from modelcheck.contract.result import End
from modelcheck.explicit.codegen.search.context import (
    BEFORE_FAULTS,
    FORGETTING,
    GROUPS,
    LAST_LAYER,
    SHARD_SIZE,
    STATES,
)
from modelcheck.explicit.codegen.search.runtime import LOCAL, LOCAL_BITS, SHARDS, Chunk, Round
from modelcheck.explicit.native.arena import Region
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.explicit.search.runs import PackedRuns, Replay
from modelcheck.explicit.search.space import LARGE, PackedSpace
from modelcheck.explicit.search.tally import CountsAndFinds, Find
from modelcheck.processes.signals import at_request
from modelcheck.processes.threads import together
from modelcheck.processes.watch import held
from modelcheck.search.forgotten import forgetting
from modelcheck.search.layers import Counts, LayeredSearch, Sums
from spec.meaning.semantics import Machine
from spec.reading import reason_of

CHUNK = 256  # states
BEGUN = 1 << 13  # successors of a chunk, after which no other state of it is begun, in either tier
ROUND = 64  # chunks, if their successors fit
LARGEST_ROUND = 1 << 26  # bytes
SLOTS_AT_ONCE = 1 << 13  # of a table, between two looks at the limits
Part = tuple[int, int, int]  # of a frontier: a shard, the first of its states there, how many


@dataclass(slots=True)
class Position:
    """How far a search is: layer, depth, and the part of the frontier that is not expanded yet."""

    faults: int
    depth: int
    starts: list[int] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)


class Worker:
    """The memory of one thread: buffers, counters and first finds."""

    def __init__(self, kernel: Kernel, room: int) -> None:
        self.context = (ctypes.c_uint64 * kernel.context.room)(*kernel.context.new())
        self.scratch = Region(8 * (kernel.layout.words + 1) * room)
        self.marks = Region(room)
        self.groups = Region(8 * kernel.most * (kernel.context.persistence is not None))
        if kernel.context.persistence is not None:
            self.context[kernel.context.leaving + GROUPS] = self.groups.address


class Keeper(Protocol):
    """The interface of what saves checkpoints. Raises OSError."""

    every: float

    def save(self, search: PackedSearch) -> None:
        """Save a checkpoint, from which the search can continue."""
        ...


class CodeImprover(Protocol):
    """The interface of what may replace the kernel's code by faster code during a search."""

    def look(self, seconds: float) -> None:
        """Replace the code, if better code is ready, or begin to compile it; the kernel is not in use.

        `seconds` are those of processors that the search has taken so far.
        """
        ...


class PackedSearch(LayeredSearch[Part, Find]):
    """The search that the explicit engine makes: in rounds, the same for any number of threads.

    `position` is how much of the current level is expanded; from there it continues when `resumed`.
    """

    def __init__(
        self, task: Task, space: PackedSpace, machine: Machine, reporter: Reporter, threads: int
    ) -> None:
        self.kernel = kernel = space.kernel
        self.tally = CountsAndFinds(kernel.context, task.properties, reporter)
        super().__init__(task, machine, reporter, self.tally)
        self.ready = kernel.seconds
        self.space = space
        self._kept = self.started
        self._began = process_time()
        self.keeper: Keeper | None = None
        self.optimiser: CodeImprover | None = None
        self._entry = 8 * (kernel.layout.words + 1)
        self._room = BEGUN + kernel.most  # successors that a chunk can have
        self.workers = [Worker(kernel, self._room) for _ in range(threads)]
        self._spare: list[Worker] = []
        self._out = Region(0)
        self._round = Round()
        self.resize_rounds(max(2, min(ROUND, LARGEST_ROUND // (self._entry * self._room))))
        self._pool: ThreadPoolExecutor | None = None
        self.seeds: list[tuple[int, tuple[int, ...]]] = []  # after each level: its depth, how many wait
        self.position = Position(0, 0)
        self.resumed = False
        self.runs: Replay = PackedRuns(task, machine, kernel, space)

    def __len__(self) -> int:
        return len(self.space)

    @property
    def knows_ways(self) -> bool:
        """Whether runs are found without a second search."""
        return self.space.ways

    def run(self) -> End:
        """Search, until everything is seen or something ends the search."""
        try:
            return super().run()
        finally:
            self.tally.take(self.workers)

    def _stopped(self, end: End) -> None:
        """Prepare for an end of the search before it is complete."""
        if end.partial:
            self._keep()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """A context with all threads; a request to end only takes effect at checks of limits."""
        with held(), self._threads(), at_request(self._end, if_free=True):
            yield

    def _end(self) -> None:
        """Request an end between rounds, so that counts are consistent; the second time at once."""
        if self.is_to_end:
            raise KeyboardInterrupt
        self.is_to_end = True

    @contextmanager
    def _threads(self) -> Iterator[None]:
        """A context with the other workers' threads."""
        if len(self.workers) == 1:
            yield
            return
        with ThreadPoolExecutor(len(self.workers)) as self._pool:
            yield

    # ---------------------------------------------------------------- levels and layers

    def _start(self) -> int | None:
        """Insert the initial states, or continue from a checkpoint; return the depth of the next level."""
        if self.resumed:
            self.reached = self.position.faults, self.position.depth
            return self.position.depth + 1
        self.space.begin(0, 0)
        self.space.start([self.kernel.represent(state) for state in self.machine.initial()])
        return 0

    def _advance(self, faults: int, depth: int) -> bool:
        """Find the next level; return whether it has any state."""
        if self.resumed:
            self.resumed = False
            self._expand_on()
        elif (faults, depth) != (0, 0):  # else these are the initial states, which are there
            counts = self.space.turn()
            self.space.begin(faults, depth)
            if any(counts):
                self._expand(counts, faults, depth - 1)
        for shard, start, end in self.entering.pop(depth, []):
            self.space.wake(self.space.shards[shard], start, end)
        return self.space.has_new

    def _enter_layer(self) -> dict[int, list[Part]]:
        """The states reached only by one more fault, by the depth at which they enter."""
        if not any(self.space.still_waiting(shard) for shard in self.space.shards):
            return {}
        entering: dict[int, list[Part]] = {}
        before: tuple[int, ...] = (0,) * SHARDS
        for depth, counts in self.seeds:
            parts = [(s, a, b) for s, (a, b) in enumerate(zip(before, counts, strict=True)) if a < b]
            if parts:
                entering[depth] = parts
            before = counts
        self.space.turn_layer()
        self.seeds = []
        self.position = Position(len(self.layers), 0)
        return entering

    # ---------------------------------------------------------------- one level

    def _expand(self, counts: list[int], faults: int, depth: int) -> None:
        """Expand the frontier, and insert the new states."""
        if self.kernel.context.persistence is not None:
            self.space.mark_expanded(counts)
        starts = [self.space.word(s, LOCAL) - n for s, n in zip(self.space.shards, counts, strict=True)]
        self.position = Position(faults, depth, starts, parts_of(counts))
        self._expand_on()

    def _expand_on(self) -> None:
        """Expand the rest of the frontier, round by round."""
        at, paid = self.position, self.may_pay(self.position.faults)
        for worker in self.workers:
            worker.context[FORGETTING] = forgetting(self.task, at.faults)
            self._leave_for_later(worker, paid=paid)
        self._expand_parts(paid=paid)
        if paid:
            self.seeds.append((at.depth + 1, self.space.waiting()))

    def _expand_parts(self, *, paid: bool, behind: int = 0) -> None:
        """Expand parts of the frontier, `behind` which others wait, and insert the new states."""
        at, parts = self.position, self.position.parts
        waiting = sum(count for _, _, count in parts) + behind
        while parts:
            taken = [parts.pop() for _ in range(min(self.round_size, len(parts)))]
            self._fill_round(taken)
            self._run_round(taken, paid=paid)
            waiting -= self._put_back(taken, parts)
            self._look_around(at.faults, at.depth, waiting)

    def _put_back(self, taken: list[Part], parts: list[Part]) -> int:
        """Put back what the chunks of a round had no room for; returns how many states are expanded."""
        expanded = 0
        for number, (shard, first, count) in reversed(list(enumerate(taken))):
            done = self._chunks[number].done
            expanded += done
            if done < count:
                parts.append((shard, first + done, count - done))
        return expanded

    def _leave_for_later(self, worker: Worker, *, paid: bool) -> None:
        """Tell a thread which steps of a level may be left for later, if any: NOTE(persistent)."""
        if self.kernel.context.persistence is not None:
            leaving = self.kernel.context.leaving
            worker.context[leaving] = BEFORE_FAULTS if paid else LAST_LAYER
            worker.context[leaving + STATES] = self.space.address
            worker.context[leaving + SHARD_SIZE] = self.space.size

    def _fill_round(self, taken: list[Part]) -> None:
        """Store where the chunks of a round are, and where their successors go."""
        for number, (shard, first, count) in enumerate(taken):
            chunk = self._chunks[number]
            chunk.states, chunk.first = self._place(shard, first)
            chunk.how_many, chunk.done = count, 0
            chunk.out = self._out.address + self._entry * self._room * number

    def _place(self, shard: int, first: int) -> tuple[int, int]:
        """The address and the number of a state of the frontier."""
        address = self.space.shards[shard].frontiers[0].address + 8 * self.kernel.layout.words * first
        return address, shard << LOCAL_BITS | self.position.starts[shard] + first

    def _run_round(self, taken: list[Part], *, paid: bool) -> None:
        """Expand the chunks, then insert their successors shard by shard."""
        few = sum(count for _, _, count in taken) <= CHUNK
        workers = self.workers[:1] if few else self.workers  # to wake the others takes as long
        self._expand_chunks(len(taken), workers, paid=paid)
        self._insert_chunks(len(taken), workers)

    def _expand_chunks(self, chunks: int, workers: Sequence[Worker], *, paid: bool) -> None:
        """Expand the chunks of a round."""
        self._begin_round(chunks, paid=paid)
        address = ctypes.addressof(self._round)
        self.together(lambda worker: self._expand_with(worker, address), workers)

    def _begin_round(self, chunks: int, *, paid: bool) -> None:
        """Let the threads share a round."""
        self._round = Round(
            next=0,
            chunks=chunks,
            chunk_table=ctypes.addressof(self._chunks),
            with_faults=paid,
            shard_next=0,
            shard_table=self.space.address,
            shard_size=self.space.size,
        )

    def _insert_chunks(self, chunks: int, workers: Sequence[Worker]) -> None:
        """Insert the successors of the chunks of a round."""
        address, insert = ctypes.addressof(self._round), self.kernel.call[f"{self.space.insert}_round"]
        self._make_room(chunks)
        self.together(lambda _: insert(address), workers)

    def _make_room(self, chunks: int) -> None:
        """Grow the shards for the states they may receive."""
        rows = [chunk.offsets[:] for chunk in self._chunks[:chunks]]
        sums = rows[0] if chunks == 1 else [sum(column) for column in zip(*rows, strict=True)]
        ends = [behind - first for first, behind in pairwise(sums)]
        tight = self.space.tight(ends)
        if self._pool is None or not tight or tight[0].slots < LARGE:  # threads would cost more
            for shard in tight:
                self.space.grow(shard, ends[shard.number])
        else:
            list(self._pool.map(lambda shard: self.space.grow(shard, ends[shard.number]), tight))

    def _expand_with(self, worker: Worker, address: int) -> None:
        """Expand chunks of a round with one worker."""
        end = worker.scratch.address + self._entry * min(BEGUN + self.kernel.most, self._room)
        self.kernel.call["expand_round"](
            worker.context, address, worker.scratch.address, end, worker.marks.address
        )

    def together(self, work: Callable[[Worker], object], workers: Sequence[Worker]) -> None:
        """Run `work` with each worker at once, the first in this thread, and wait."""
        together([partial(work, worker) for worker in workers], self._pool)

    # ------------------------------------------------------------ when to stop

    def _take_note(self) -> None:
        """Record the finds of all threads."""
        self.tally.note(self.space, self.workers)
        if self.task.witnesses:
            self.space.close_seen()

    def _look_around(self, faults: int, depth: int, waiting: int) -> None:
        """Check the limits, report progress, and save checkpoints."""
        super()._look_around(faults, depth, waiting)
        if self.optimiser is not None:
            self.optimiser.look(process_time() - self._began)
        if self.keeper is not None and monotonic() - self._kept >= self.keeper.every:
            self._keep()
            self._kept = monotonic()

    def _keep(self) -> None:
        """Save a checkpoint, if one is wanted."""
        if self.keeper is None:
            return
        self.tally.take(self.workers)
        try:
            with held():
                self.keeper.save(self)
        except OSError as error:
            self.reporter.tell(Checkpointed(len(self.space), reason_of(error)))
        else:
            self.reporter.tell(Checkpointed(len(self.space)))

    def _leads_elsewhere(self) -> bool:
        """Whether one more fault than the budget allows reaches a new state or breaks more."""
        worker = self.spare_workers()[0]
        call, space, scratch = self.kernel.call["leads_elsewhere"], self.space, worker.scratch.address
        for part in space.parts(SLOTS_AT_ONCE):
            if call(worker.context, space.address, space.size, part.address, part.slots, scratch) & 1:
                return True
            try:
                self.check_limits()
            except Stopped:  # what there is within the budget is known
                return True
        return self.tally.breaks_more(worker.context)

    # ------------------------------------------------------------------ telling

    def trace_of(self, prop: str) -> Trace:
        """The trace that decides a property. Raises NoWay."""
        return self.runs.trace(prop, self.tally.best[prop])

    def error(self) -> Trace | None:
        """The trace to an error of the model, if there is one. Raises NoWay."""
        return None if self.tally.error is None else self.runs.error(self.tally.error)

    def steps(self) -> Sums:
        """The number of steps taken, and of steps cut, so far."""
        self.tally.take(self.workers)
        return self.tally.sums()

    def counts(self) -> Counts:
        """The counters of the search."""
        return self.tally.counts(self.space)

    def spare_workers(self) -> list[Worker]:
        """A worker for each thread whose tallies are not counted; made once."""
        if not self._spare:
            self._spare = [Worker(self.kernel, self._room) for _ in self.workers]
        return self._spare

    def resize_rounds(self, chunks: int) -> None:
        """Set the number of chunks of a round, on which the order of states depends."""
        self._out.close()
        self.round_size, self._out = chunks, Region(self._entry * self._room * chunks)
        self._chunks = (Chunk * chunks)()

    def close(self) -> None:
        """Free its memory, except the states."""
        self._out.close()
        for worker in [*self.workers, *self._spare]:
            worker.scratch.close()
            worker.marks.close()
            worker.groups.close()


def parts_of(counts: Sequence[int]) -> list[Part]:
    """The parts of some states of each shard, the first at the end."""
    return [
        (shard, first, min(CHUNK, count - first))
        for shard, count in enumerate(counts)
        for first in range(0, count, CHUNK)
    ][::-1]
