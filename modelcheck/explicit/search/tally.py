"""What a search has counted and found so far, gathered from its threads and shards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from ctypes import Array, c_uint64
from enum import Enum
from typing import Protocol

from modelcheck.contract.report import Reporter, RunFound
from modelcheck.explicit.codegen.search.context import NOWHERE, Context
from modelcheck.explicit.search.space import PackedLevel
from modelcheck.search.finds import Cost, Finds
from modelcheck.search.layers import Counts, Sums
from spec.frozen import frozen
from spec.model.ir import Property, PropertyKind


class FindKind(Enum):
    """How a run ends."""

    STATE = "in a state"
    STEP = "by a step"
    DEAD = "with nothing to do"
    ERROR_IN_STATE = "by asking something of a state"
    ERROR_IN_STEP = "by trying a step"
    ERROR_AFTER_STEP = "by asking something of a step"


@frozen
class Find:
    """A run that decides a property or ends in an error: to the state `number`, and perhaps a step on."""

    faults: int
    depth: int
    number: int
    way: FindKind
    by_fault: bool = False

    @property
    def cost(self) -> Cost:
        """What makes one run better than another: fewer faults, then fewer steps."""
        return self.faults, self.depth

    @property
    def rank(self) -> tuple[Cost, int]:
        """The cost, then the order in which states were found."""
        return self.cost, self.number


Words = MutableSequence[int] | Array[c_uint64]


class WorkerMemory(Protocol):
    """The memory of one thread."""

    @property
    def context(self) -> Words:
        """Its words."""
        ...


class States(Protocol):
    """The states found, by number."""

    @property
    def levels(self) -> Sequence[PackedLevel]:
        """Where the states of each layer and depth begin."""
        ...

    def __len__(self) -> int: ...

    def level(self, number: int) -> PackedLevel:
        """The layer and depth of a state."""
        ...

    def firsts(self, place: int) -> Iterator[int]:
        """States that have a property, by its place among those asked of states; the first of some."""
        ...

    def failures(self) -> Iterator[int]:
        """States where asking for a property makes an error; the first of some."""
        ...


class CountsAndFinds(Finds[Find]):
    """Counts, and the best find for each property."""

    def __init__(self, context: Context, properties: Sequence[Property], reporter: Reporter) -> None:
        super().__init__(properties, lambda name, find: reporter.tell(RunFound(name, *find.cost)))
        self.words = context.new()
        self._context = context
        self._deadlock = [p.name for p in properties if p.kind is PropertyKind.DEADLOCK_FREE]

    # ------------------------------------------------------------------- counts

    def take(self, workers: Iterable[WorkerMemory]) -> None:
        """Add up what the threads have counted."""
        context = self._context
        for place in range(context.taken, context.size):
            self.words[place] = sum(worker.context[place] for worker in workers)

    def sums(self) -> Sums:
        """How many steps were taken, free ones and faults; and how many were cut."""
        context = self._context
        taken = [0, 0]
        for place, action in enumerate(context.actions):
            taken[action.is_fault] += self.words[context.taken + place]
        cut = self.words[context.cut : context.refused]
        return taken[0], taken[1], sum(cut[0::2]), sum(cut[1::2])

    def counts(self, space: States) -> Counts:
        """All counts together."""
        context, words = self._context, self.words
        cut = words[context.cut : context.refused]
        size = len(space)
        return Counts(
            states=size,
            transitions=sum(words[context.taken : context.cut]),
            levels=1 + max((level.depth for level in space.levels if sum(level.starts) < size), default=-1),
            taken={a.name: words[context.taken + place] for place, a in enumerate(context.actions)},
            cut={limit: cut[2 * place] + cut[2 * place + 1] for place, limit in enumerate(context.limits)},
            refused=frozenset(g for place, g in enumerate(context.guards) if words[context.refused + place]),
            seen=frozenset(
                each.name
                for place, each in enumerate(context.witnesses, len(context.of_states))
                if any(True for _ in space.firsts(place))
            ),
        )

    def finds(self, workers: Sequence[WorkerMemory]) -> list[int]:
        """The first finds of all threads."""
        return [min(worker.context[place] for worker in workers) for place in self._context.finds]

    def as_words(self) -> list[int]:
        """The counts, and the guards that were false at some time: the same for any number of threads."""
        first = self._context.refused
        return [*self.words[:first], *(min(word, 1) for word in self.words[first:])]

    def restore(self, words: Sequence[int], finds: Sequence[int], worker: WorkerMemory) -> None:
        """Let one thread have counted and found what those of an earlier run have."""
        context = self._context
        self.words = list(words)
        for place in range(context.taken, context.size):
            worker.context[place] = words[place]
        for place, find in zip(context.finds, finds, strict=True):
            worker.context[place] = find

    # -------------------------------------------------------------------- finds

    def note(self, space: States, workers: Sequence[WorkerMemory]) -> None:
        """Take note of what was found since the last time."""
        context = self._context
        for place, prop in enumerate(context.of_states):
            if prop.name in self.names and prop.name not in self.best:
                self._better(prop.name, [_in_state(space, n, FindKind.STATE) for n in space.firsts(place)])
        for place, prop in enumerate(context.of_steps):
            if prop.name not in self.names:
                continue
            self._better(prop.name, self._in_steps(space, workers, context.broken + 2 * place, FindKind.STEP))
        for name in self._deadlock:
            self._better(name, [_in_state(space, n, FindKind.DEAD) for n in _least(workers, context.dead)])
        errors = [
            *(_in_state(space, n, FindKind.ERROR_IN_STATE) for n in space.failures()),
            *self._in_steps(space, workers, context.errors, FindKind.ERROR_IN_STEP),
            *self._in_steps(space, workers, context.errors + 2, FindKind.ERROR_AFTER_STEP),
        ]
        self.error = min([*errors, *([self.error] if self.error else [])], key=lambda f: f.rank, default=None)

    def _in_steps(
        self, space: States, workers: Sequence[WorkerMemory], place: int, way: FindKind
    ) -> list[Find]:
        """What a step found: the states before it are known, the cost is of the state after it."""
        found = []
        for by_fault in (False, True):
            for number in _least(workers, place + by_fault):
                level = space.level(number)
                depth = level.depth + (way is not FindKind.ERROR_IN_STEP)
                found.append(Find(level.faults + by_fault, depth, number, way, by_fault))
        return found

    def _better(self, name: str, finds: Sequence[Find]) -> None:
        if finds:
            self.better(name, min(finds, key=lambda find: find.rank))

    def breaks_more(self, context: Words) -> bool:
        """Whether a thread has found an error, or broken a property of steps that nothing broke before."""
        own = self._context
        errors = any(context[place] != NOWHERE for place in range(own.errors, own.dead))
        return errors or any(
            context[own.broken + 2 * place + by_fault] != NOWHERE
            for place, prop in enumerate(own.of_steps)
            if prop.name in self.names and prop.name not in self.best
            for by_fault in (0, 1)
        )


def _in_state(space: States, number: int, way: FindKind) -> Find:
    level = space.level(number)
    return Find(level.faults, level.depth, number, way)


def _least(workers: Sequence[WorkerMemory], place: int) -> Iterator[int]:
    """The first find of a kind of all threads, if there is one; it is forgotten by them."""
    found = min(worker.context[place] for worker in workers)
    if found != NOWHERE:
        yield found
