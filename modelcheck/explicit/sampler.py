"""Random runs in compiled code, for a simulation: many at once, up to one that is to be looked at."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Collection, Mapping

from modelcheck.contract.engine import Task
from modelcheck.explicit.codegen.search.context import context
from modelcheck.explicit.codegen.search.sampling import TO_LOOK_AT, SampleWords
from modelcheck.explicit.codegen.states.layout import layout
from modelcheck.explicit.codegen.values.packing import TooWide
from modelcheck.explicit.native.arena import Region, words_of
from modelcheck.explicit.native.compiling import Tier
from modelcheck.explicit.native.functions import OF_SAMPLES, Codes, MachineCode
from modelcheck.explicit.native.kernel import name_of_runs
from modelcheck.search.chance import MASK, mixed
from modelcheck.search.simulate import RandomRuns
from spec.meaning.semantics import State

NO_LIMIT = MASK


def sampler(wish: RandomRuns, task: Task, starts: Collection[State]) -> Sampler | None:
    """What makes the random runs of a task; None where they are the interpreter's.

    These are runs without a bound for a nat, and of states too wide for compiled code.
    Costs writing and compiling the code, unless it was kept.
    """
    if task.scope.unbounded:
        return None
    try:
        return Sampler(wish, task, starts)
    except TooWide:
        return None


class Sampler:
    """Compiled random runs: the same by number as those of the simulation that they are for.

    A run in which anything may be decided is left to whoever asks, and `make` begins behind it.
    """

    def __init__(self, wish: RandomRuns, task: Task, starts: Collection[State]) -> None:
        self._layout = packed = layout(task.model, task.scope, task.counted)
        self._context = words = context(task)
        self._code = code = _code(task)
        actions = [a for a in task.model.actions if not a.is_fault or a.name in words.allowed]
        self._actions = [action.name for action in actions]
        count, limits = len(actions), 2 * len(words.limits)
        self._own_context = words_of(words.new())
        self._state = words_of([0] * packed.words)
        self._starts = words_of([word for state in starts for word in packed.pack(state)])
        self._taken, self._own = words_of([0] * count), words_of([0] * count)
        self._cut = words_of([0] * limits)
        self._weights = words_of([wish.weights.get(name, 1) for name in self._actions])
        self._ends, self._weighed = words_of([0] * count), words_of([0] * count)
        self._scratch = Region(8 * (packed.words + 1) * (code.most + 1))
        self._skipped = 0  # runs that others have made
        total = task.budget.total
        self._words = SampleWords(
            key=mixed(wish.seed & MASK),
            depth=wish.depth,
            most_faults=NO_LIMIT if total is None else total,
            starts=ctypes.addressof(self._starts),
            start_count=len(starts),
            state=ctypes.addressof(self._state),
            scratch=self._scratch.address,
            taken=ctypes.addressof(self._taken),
            cut=ctypes.addressof(self._cut),
            own=ctypes.addressof(self._own),
            weights=ctypes.addressof(self._weights),
            ends=ctypes.addressof(self._ends),
            weighed=ctypes.addressof(self._weighed),
        )

    # ------------------------------------------------------------------ the runs

    def make(self, run: int, last: int, visits: int, wanted: Collection[str]) -> bool:
        """Make runs from number `run` to before `last`, with at most `visits` states visited.

        Returns whether the run it has come to is to be looked at; `wanted` are the properties of
        states that are of interest.  A run that is not finished is continued by the next call.
        """
        words = self._words
        if run != words.run:
            self._leave(run)
        words.last, words.fuel = last, visits
        words.wanted = sum(
            1 << bit for bit, prop in enumerate(self._context.of_states) if prop.name in wanted
        )
        why = self._code.call["sample"](ctypes.addressof(self._own_context), ctypes.addressof(words))
        if why == TO_LOOK_AT:
            self._leave(words.run)
        return bool(why == TO_LOOK_AT)

    def _leave(self, run: int) -> None:
        """Forget what the run in hand has counted, and be about to begin another."""
        new = self._context.new()
        ctypes.memmove(self._own_context, words_of(new), ctypes.sizeof(self._own_context))
        ctypes.memset(self._own, 0, ctypes.sizeof(self._own))
        self._skipped += run - self._words.run
        self._words.begun, self._words.run = 0, run

    @property
    def run(self) -> int:
        """The number of the run that is being made, or made next."""
        return int(self._words.run)

    @property
    def steps(self) -> int | None:
        """How many steps the run in hand has; None if it is not begun."""
        return int(self._words.steps) if self._words.begun else None

    @property
    def finished(self) -> int:
        """How many runs were made to their end here."""
        return int(self._words.run) - self._skipped

    @property
    def longest(self) -> int:
        """The steps of the longest run."""
        return int(max(self._words.longest, self.steps or 0))

    @property
    def taken(self) -> Mapping[str, int]:
        """How often each action was taken in these runs, that in hand included."""
        pairs = zip(self._actions, self._taken, self._own, strict=True)
        return {name: int(done + now) for name, done, now in pairs}

    @property
    def cut(self) -> Counter[str]:
        """How many steps of these runs, that in hand included, each limit of the scope has cut."""
        place = self._context.cut
        now = self._own_context[place : place + len(self._cut)]
        both = [done + new for done, new in zip(self._cut, now, strict=True)]
        return Counter({name: sum(both[2 * i : 2 * i + 2]) for i, name in enumerate(self._context.limits)})


def _code(task: Task) -> MachineCode:
    """The code for the random runs of a task, from the cache or compiled. Raises TooWide."""
    codes, name = Codes(), name_of_runs(task)
    found = codes.find(name, OF_SAMPLES)
    if found is not None:
        return found
    from modelcheck.explicit.native.writing import code, write_runs  # noqa: PLC0415 - half of the engine, for new code

    packed = layout(task.model, task.scope, task.counted)
    return codes.keep(name, code(write_runs(task, packed), Tier.QUICK), OF_SAMPLES)
