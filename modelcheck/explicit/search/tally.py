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
    """The ways in which a run ends."""

    STATE = "in a state"
    STEP = "by a step"
    DEAD = "with nothing to do"
    ERROR_IN_STATE = "by asking something of a state"
    ERROR_IN_STEP = "by trying a step"
    ERROR_AFTER_STEP = "by asking something of a step"


@frozen
class Find:
    """A run that decides a property or ends in an error: to state `number`, and perhaps one step on."""

    faults: int
    depth: int
    number: int
    way: FindKind
    by_fault: bool = False

    @property
    def cost(self) -> Cost:
        """The cost that runs are compared by: faults, then steps."""
        return self.faults, self.depth

    @property
    def rank(self) -> tuple[Cost, int]:
        """The cost, then the number of the state."""
        return self.cost, self.number


Words = MutableSequence[int] | Array[c_uint64]


class WorkerMemory(Protocol):
    """The memory of one thread."""

    @property
    def context(self) -> Words:
        """The words of its memory."""
        ...


class States(Protocol):
    """The interface of the visited set, by numbers of states."""

    @property
    def levels(self) -> Sequence[PackedLevel]:
        """The levels."""
        ...

    def __len__(self) -> int: ...

    def level(self, number: int) -> PackedLevel:
        """The level of a state."""
        ...

    def firsts(self, place: int) -> Iterator[int]:
        """States that violate or satisfy the property with an index, at least the first."""
        ...

    def failures(self) -> Iterator[int]:
        """States where evaluating a property fails, at least the first."""
        ...


class CountsAndFinds(Finds[Find]):
    """The counters, and the best find for each property."""

    def __init__(self, context: Context, properties: Sequence[Property], reporter: Reporter) -> None:
        super().__init__(properties, lambda name, find: reporter.tell(RunFound(name, *find.cost)))
        self.words = context.new()
        self._context = context
        self._deadlock = [p.name for p in properties if p.kind is PropertyKind.DEADLOCK_FREE]

    # ------------------------------------------------------------------- counts

    def take(self, workers: Iterable[WorkerMemory]) -> None:
        """Add the counters of the threads, and reset them."""
        first, behind = self._context.taken, self._context.size
        rows = [worker.context[first:behind] for worker in workers]
        self.words[first:behind] = rows[0] if len(rows) == 1 else map(sum, zip(*rows, strict=True))

    def sums(self) -> Sums:
        """The number of free steps, of faults, and of cut steps."""
        context = self._context
        taken = [0, 0]
        for place, action in enumerate(context.actions):
            taken[action.is_fault] += self.words[context.taken + place]
        cut = self.words[context.cut : context.refused]
        return taken[0], taken[1], sum(cut[0::2]), sum(cut[1::2])

    def counts(self, space: States) -> Counts:
        """All counters."""
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
        """The counters and flags of guards, the same for any number of threads."""
        first = self._context.refused
        return [*self.words[:first], *(min(word, 1) for word in self.words[first:])]

    def restore(self, words: Sequence[int], finds: Sequence[int], worker: WorkerMemory) -> None:
        """Set a thread's counters and finds to those of an earlier run."""
        context = self._context
        self.words = list(words)
        for place in range(context.taken, context.size):
            worker.context[place] = words[place]
        for place, find in zip(context.finds, finds, strict=True):
            worker.context[place] = find

    # -------------------------------------------------------------------- finds

    def note(self, space: States, workers: Sequence[WorkerMemory]) -> None:
        """Record the finds since the last call."""
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
        """The finds in steps; their cost is that of the state after the step."""
        found = []
        for by_fault in (False, True):
            for number in _least(workers, place + by_fault):
                level = space.level(number)
                depth = level.depth + (way is not FindKind.ERROR_IN_STEP)
                found.append(Find(level.faults + by_fault, depth, number, way, by_fault))
        return found

    def _better(self, name: str, finds: Sequence[Find]) -> None:
        """Record finds that are better than the one known."""
        if finds:
            self.better(name, min(finds, key=lambda find: find.rank))

    def breaks_more(self, context: Words) -> bool:
        """Whether a thread found an error, or violated a property of steps not violated before."""
        own = self._context
        errors = any(context[place] != NOWHERE for place in range(own.errors, own.dead))
        return errors or any(
            context[own.broken + 2 * place + by_fault] != NOWHERE
            for place, prop in enumerate(own.of_steps)
            if prop.name in self.names and prop.name not in self.best
            for by_fault in (0, 1)
        )


def _in_state(space: States, number: int, way: FindKind) -> Find:
    """The find in a state."""
    level = space.level(number)
    return Find(level.faults, level.depth, number, way)


def _least(workers: Sequence[WorkerMemory], place: int) -> Iterator[int]:
    """The least first find of all threads, which is reset; none if there is none."""
    found = min(worker.context[place] for worker in workers)
    if found != NOWHERE:
        yield found
