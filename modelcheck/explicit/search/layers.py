"""The fault-layered search over packed states: rounds of chunks, the same for any number of threads."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from time import monotonic
from typing import Protocol

from counterexamples.trace import Trace
from modelcheck.contract.engine import Task
from modelcheck.contract.report import Kept, LayerDone, Progress, Reporter, Stopped
from modelcheck.contract.result import End, Layer
from modelcheck.explicit.codegen.layout import Words
from modelcheck.explicit.codegen.runtime import (
    CHUNK_SIZE,
    CHUNK_TABLE,
    CHUNKS,
    DONE,
    LOCAL,
    LOCAL_BITS,
    NEXT,
    OFFSETS,
    SHARD_NEXT,
    SHARD_SIZE,
    SHARD_TABLE,
    SHARDS,
    WITH_FAULTS,
)
from modelcheck.explicit.native.arena import Region
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.explicit.search.interrupts import interrupts
from modelcheck.explicit.search.runs import Runs
from modelcheck.explicit.search.space import LARGE, Space
from modelcheck.explicit.search.tally import Tally
from modelcheck.processes.memory import resident
from modelcheck.processes.watch import held
from modelcheck.search.account import Cost, Counts
from modelcheck.search.space import FaultBudget, is_unbounded
from spec.semantics import Machine, State

CHUNK = 256  # states
BEGUN = 1 << 13  # so many successors of a chunk, and no other state of it is begun, whatever code is at work
ROUND = 64  # chunks, if their successors fit
LARGEST_ROUND = 1 << 26  # bytes
SOON = 0.02  # seconds between two looks at the memory in use
QUIET = 0.5  # seconds between two reports of progress
SLOTS_AT_ONCE = 1 << 13  # of a table, between two looks at the limits
Part = tuple[int, int, int]  # of a frontier: a shard, the first of its states there, how many


@dataclass(slots=True)
class Position:
    """How far a search is: a level of a layer, where its states begin in each shard, what is left of them."""

    faults: int
    depth: int
    starts: list[int] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)


class Worker:
    """The memory of one thread."""

    def __init__(self, kernel: Kernel, room: int) -> None:
        self.context = (ctypes.c_uint64 * kernel.context.size)(*kernel.context.new())
        self.scratch = Region(8 * (kernel.layout.words + 1) * room)
        self.marks = Region(room)


class Keeper(Protocol):
    """Someone who writes down how far a search is; OSError when that does not work."""

    every: float

    def save(self, search: Search) -> None:
        """Write it down, so that a search can go on from here."""
        ...


class Optimiser(Protocol):
    """Someone who may give the kernel other code."""

    def look(self, seconds: float) -> None:
        """See what is to be done after so many seconds of search; nothing uses the kernel meanwhile."""
        ...


class Search:
    """One run of the search, and what it has found so far; `run` may be interrupted at any time."""

    def __init__(self, task: Task, space: Space, machine: Machine, reporter: Reporter, threads: int) -> None:
        self.task = task
        self.machine = machine
        self.kernel = kernel = space.kernel
        self.budget = FaultBudget(task.model, task.budget)
        self.space = space
        self.tally = Tally(kernel.context, task.properties, reporter)
        self.layers: list[Layer] = []
        self.fixpoint = False
        self.started = monotonic()
        self.ready = kernel.seconds
        self.reached = (0, -1)
        self.reporter = reporter
        self._told = self._kept = self.started
        self._looked, self._memory = 0.0, 0
        self.keeper: Keeper | None = None
        self.optimiser: Optimiser | None = None
        self._interrupts: Sequence[int] = ()
        self._entry = 8 * (kernel.layout.words + 1)
        self._room = BEGUN + kernel.most  # successors that a chunk can have
        self.workers = [Worker(kernel, self._room) for _ in range(threads)]
        self._spare: list[Worker] = []
        self._out = Region(0)
        self._round = (ctypes.c_uint64 * 8)()
        self.resize_rounds(max(2, min(ROUND, LARGEST_ROUND // (self._entry * self._room))))
        self._pool: ThreadPoolExecutor | None = None
        self.entering: dict[int, list[Part]] = {}
        self.seeds: list[tuple[int, tuple[int, ...]]] = []  # after each level: its depth, how many wait
        self.sums = (0, 0, 0, 0)
        self.position = Position(0, 0)
        self.resumed = False
        self.runs = Runs(task, machine, kernel, space)

    def run(self) -> End:
        """Search, until everything is seen or something ends the search."""
        try:
            starts = [] if self.resumed else [self._packed(state) for state in self.machine.initial()]
            with self.at_work():
                self._explore(starts)
        except Stopped as stopped:
            if stopped.end.partial:
                self._keep()
            return stopped.end
        except KeyboardInterrupt:
            return End.INTERRUPTED
        except MemoryError:
            return End.MEMORY
        finally:
            self.tally.take(self.workers)
        return End.ERROR if self.tally.error else End.COMPLETE

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """With all threads; Ctrl-C, like a watch, only ends what looks at the limits."""
        with held(), self._threads(), interrupts() as self._interrupts:
            yield

    @contextmanager
    def _threads(self) -> Iterator[None]:
        """With one thread less than there are workers: this one works too."""
        if len(self.workers) == 1:
            yield
            return
        with ThreadPoolExecutor(len(self.workers)) as self._pool:
            yield

    def _packed(self, state: State) -> Words:
        return self.kernel.represent(self.kernel.layout.pack(state))

    def _explore(self, starts: list[Words]) -> None:
        if not self.resumed:
            self.space.begin(0, 0)
            self.space.start(starts)
        while self.position.faults == 0 or self.entering or self.resumed:
            self._layer(self.position.faults)
            self.position = Position(self.position.faults + 1, 0)

    # ---------------------------------------------------------------- one layer

    def _layer(self, faults: int) -> None:
        """Everything with so many faults; then see what one more would add."""
        if self.resumed:
            self.resumed = False
            depth = self.position.depth + 1
            self.reached = faults, self.position.depth
            self._expand_on()
        else:
            depth = min(self.entering, default=0)
            self.seeds = []
            if faults:
                self.space.turn_layer()
                self.space.begin(faults, depth)
        while True:
            for shard, start, end in self.entering.pop(depth, []):
                self.space.wake(self.space.shards[shard], start, end)
            if self.space.has_new or not self.entering:  # else the next level is that of what enters
                self._note(faults, depth)
            counts = self.space.turn()
            self.space.begin(faults, depth + 1)
            if any(counts):
                self._expand(counts, faults, depth)
                depth += 1
            elif self.entering:
                depth = min(self.entering)
                self.space.begin(faults, depth)
            else:
                break
        self._finish(faults)

    def _finish(self, faults: int) -> None:
        """A layer is done: count it, and see whether another fault could add anything."""
        self.tally.take(self.workers)
        layer = self.tally.layer(faults, self.space, self.layers, self.sums)
        self.sums = self.tally.sums()
        self.layers.append(layer)
        self.reporter.tell(LayerDone(layer))
        self.entering = self._waiting()
        if not self.entering:
            self.fixpoint = is_unbounded(self.task.budget.kinds) and self._adds_nothing(faults)

    def _waiting(self) -> dict[int, list[Part]]:
        """What waits for the next layer, by the depth at which it enters; nothing if none is left."""
        if not any(self.space.still_waiting(shard) for shard in self.space.shards):
            return {}
        entering: dict[int, list[Part]] = {}
        before: tuple[int, ...] = (0,) * SHARDS
        for depth, counts in self.seeds:
            parts = [(s, a, b) for s, (a, b) in enumerate(zip(before, counts, strict=True)) if a < b]
            if parts:
                entering[depth] = parts
            before = counts
        return entering

    # ---------------------------------------------------------------- one level

    def _expand(self, counts: list[int], faults: int, depth: int) -> None:
        """All steps of the frontier, and the states that are new by them."""
        starts = [self.space.word(s, LOCAL) - n for s, n in zip(self.space.shards, counts, strict=True)]
        parts = [
            (shard, first, min(CHUNK, count - first))
            for shard, count in enumerate(counts)
            for first in range(0, count, CHUNK)
        ]
        self.position = Position(faults, depth, starts, parts[::-1])
        self._expand_on()

    def _expand_on(self) -> None:
        """What is left to do of a frontier."""
        at, parts = self.position, self.position.parts
        paid = bool(self.budget.allowed) and at.faults != self.budget.total
        waiting = sum(count for _, _, count in parts)
        while parts:
            taken = [parts.pop() for _ in range(min(self.round_size, len(parts)))]
            self._fill_round(taken)
            self._run_round(taken, paid=paid)
            for number, (shard, first, count) in reversed(list(enumerate(taken))):
                done = self._chunks[CHUNK_SIZE * number + DONE]
                waiting -= done
                if done < count:
                    parts.append((shard, first + done, count - done))
            self._look_around(at.faults, at.depth, waiting)
        if paid:
            self.seeds.append((at.depth + 1, self.space.waiting()))

    def _fill_round(self, taken: list[Part]) -> None:
        """Say where the chunks of a round are, and where their successors go."""
        words = self.kernel.layout.words
        for number, (shard, first, count) in enumerate(taken):
            states = self.space.shards[shard].frontiers[0].address + 8 * words * first
            number_of_first = shard << LOCAL_BITS | self.position.starts[shard] + first
            out, at = self._out.address + self._entry * self._room * number, CHUNK_SIZE * number
            self._chunks[at : at + OFFSETS] = [states, number_of_first, count, 0, out]

    def _run_round(self, taken: list[Part], *, paid: bool) -> None:
        """Expand these chunks; then each shard takes what is its own."""
        round_, chunks = self._round, len(taken)
        round_[NEXT], round_[SHARD_NEXT], round_[CHUNKS] = 0, 0, chunks
        round_[CHUNK_TABLE] = ctypes.addressof(self._chunks)
        round_[WITH_FAULTS] = int(paid)
        round_[SHARD_TABLE], round_[SHARD_SIZE] = self.space.address, self.space.size
        address, insert = ctypes.addressof(round_), self.kernel.call[f"{self.space.insert}_round"]
        few = sum(count for _, _, count in taken) <= CHUNK
        workers = self.workers[:1] if few else self.workers  # to wake the others takes as long
        self.together(lambda worker: self._expand_with(worker, address), workers)
        self._make_room(chunks)
        self.together(lambda _: insert(address), workers)

    def _make_room(self, chunks: int) -> None:
        """Let each shard have room for all that comes to it."""
        rows = [self._chunks[at : at + SHARDS + 1] for at in range(OFFSETS, CHUNK_SIZE * chunks, CHUNK_SIZE)]
        sums = [sum(column) for column in zip(*rows, strict=True)]
        ends = [behind - first for first, behind in pairwise(sums)]
        tight = [shard for shard in self.space.shards if self.space.is_tight(shard, ends[shard.number])]
        if self._pool is None or not tight or tight[0].slots < LARGE:  # threads would cost more
            for shard in tight:
                self.space.grow(shard, ends[shard.number])
        else:
            list(self._pool.map(lambda shard: self.space.grow(shard, ends[shard.number]), tight))

    def _expand_with(self, worker: Worker, address: int) -> None:
        end = worker.scratch.address + self._entry * min(BEGUN + self.kernel.most, self._room)
        self.kernel.call["expand_round"](
            worker.context, address, worker.scratch.address, end, worker.marks.address
        )

    def together(self, work: Callable[[Worker], object], workers: Sequence[Worker]) -> None:
        """Let workers do something at once, the first in this thread, and wait for them."""
        first, *rest = workers
        others = [self._pool.submit(work, worker) for worker in rest] if self._pool is not None else []
        try:
            work(first)
        finally:
            wait(others)
        for other in others:
            other.result()

    # ------------------------------------------------------------ when to stop

    def _note(self, faults: int, depth: int) -> None:
        """See what the level that has just been found decides."""
        self.reached = faults, depth
        self.tally.note(self.space, self.workers)
        if self.tally.has_erred(faults, depth):
            raise Stopped(End.ERROR)
        one = self.task.at_first
        if self.task.stop_early and self.tally.best and self.tally.decided(faults, depth, one=one):
            raise Stopped(End.DECIDED)

    def _look_around(self, faults: int, depth: int, waiting: int) -> None:
        """Look at the limits, and tell how far it has come; here, between two rounds, all is in order."""
        states = self.task.limits.states
        if states is not None and len(self.space) >= states:
            raise Stopped(End.STATES)
        self.look()
        self.tell(faults, depth, waiting)
        if self.optimiser is not None:
            self.optimiser.look(monotonic() - self.started)
        if self.keeper is not None and monotonic() - self._kept >= self.keeper.every:
            self._keep()
            self._kept = monotonic()

    def look(self) -> None:
        """Raise Stopped after Ctrl-C, and when there is no time or memory left; from any thread."""
        if self._interrupts:
            raise Stopped(End.INTERRUPTED)
        limits, now = self.task.limits, monotonic()
        if limits.seconds is not None and now - self.started >= limits.seconds:
            raise Stopped(End.SECONDS)
        if now - self._looked >= SOON:
            self._looked, self._memory = now, resident()
        if limits.memory is not None and self._memory >= limits.memory:
            raise Stopped(End.MEMORY)

    def tell(self, faults: int, depth: int, waiting: int) -> None:
        """Tell how far it has come, now and then; raises Stopped where that is enough."""
        now = monotonic()
        if now - self._told < QUIET:
            return
        self._told = now
        self.tally.take(self.workers)
        states, transitions, seconds = len(self.space), self.tally.transitions, now - self.started
        self.reporter.tell(Progress(faults, depth, states, transitions, waiting, seconds, self._memory))

    def _keep(self) -> None:
        """Write down how far the search is, if it is wanted."""
        if self.keeper is None:
            return
        self.tally.take(self.workers)
        try:
            with held():
                self.keeper.save(self)
        except OSError as error:
            self.reporter.tell(Kept(len(self.space), (error.strerror or str(error)).lower()))
        else:
            self.reporter.tell(Kept(len(self.space)))

    def _adds_nothing(self, faults: int) -> bool:
        """Whether one more fault leads nowhere new and breaks nothing; asked only where the budget ends."""
        if faults != self.budget.total:
            return True
        worker = self.spare_workers()[0]
        call, space, scratch = self.kernel.call["leads_elsewhere"], self.space, worker.scratch.address
        for part in space.parts(SLOTS_AT_ONCE):
            if call(worker.context, space.address, space.size, part.address, part.slots, scratch) & 1:
                return False
            try:
                self.look()
            except Stopped:  # what there is within the budget is known
                return False
        return not self.tally.breaks_more(worker.context)

    # ------------------------------------------------------------------ telling

    def cost_of(self, prop: str) -> Cost | None:
        """The cost of the best run that decides a property; None when none was found."""
        found = self.tally.best.get(prop)
        return None if found is None else found.cost[:2]

    def error_cost(self) -> Cost | None:
        """The cost of the best run to an error of the model; None when none was found."""
        return None if self.tally.error is None else self.tally.error.cost[:2]

    def trace_of(self, prop: str) -> Trace:
        """The run that decides a property. Raises NoWay."""
        return self.runs.trace(prop, self.tally.best[prop])

    def error(self) -> Trace | None:
        """The run to an error of the model, if it makes one. Raises NoWay."""
        return None if self.tally.error is None else self.runs.error(self.tally.error)

    def counts(self) -> Counts:
        """What was counted."""
        return self.tally.counts(self.space)

    def spare_workers(self) -> list[Worker]:
        """As many workers as there are threads, whose tallies nobody adds up; made once."""
        if not self._spare:
            self._spare = [Worker(self.kernel, self._room) for _ in self.workers]
        return self._spare

    def resize_rounds(self, chunks: int) -> None:
        """Let rounds have so many chunks: what is found is the same only where that is the same."""
        self._out.close()
        self.round_size, self._out = chunks, Region(self._entry * self._room * chunks)
        self._chunks = (ctypes.c_uint64 * (CHUNK_SIZE * chunks))()

    def close(self) -> None:
        """Give its memory back, but for the states."""
        self._out.close()
        for worker in [*self.workers, *self._spare]:
            worker.scratch.close()
            worker.marks.close()
