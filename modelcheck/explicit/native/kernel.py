"""A model within a scope as machine code: written, compiled once, kept on disk, called by address."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from time import perf_counter
from typing import Any

from modelcheck.contract.engine import Task
from modelcheck.explicit.codegen.expressions.costs import GENEROUS, SPARING
from modelcheck.explicit.codegen.expressions.parameters import Parameters
from modelcheck.explicit.codegen.search.context import (
    CURSOR,
    FORGETTING,
    GROUPS,
    context,
    forgotten_in_code,
    of_fair_runs,
    recoverable,
)
from modelcheck.explicit.codegen.search.runtime import FAULT, MARKS, SHARDS
from modelcheck.explicit.codegen.states.layout import WORD, Words, layout
from modelcheck.explicit.native.arena import words_of
from modelcheck.explicit.native.compiling import EFFORTS, Tier, environment
from modelcheck.explicit.native.functions import (
    OF_BLOCKS,
    OF_GRAPHS,
    OF_LEAVING,
    OF_LIVENESS,
    OF_RECOVERY,
    OF_SORTED,
    OF_WAYS,
    SIGNATURES,
    Codes,
    MachineCode,
)
from modelcheck.search.forgotten import forgetting
from modelcheck.search.persistent import persistence
from modelcheck.storage.cache import sources
from spec.frozen import This
from spec.meaning.ranks import Ranks
from spec.meaning.semantics import State
from spec.model.ir import Model, Property

REPRESENTED = 10_000  # states whose words are remembered: many searches of a family begin alike


class Kernel:
    """The compiled functions of a task; `call` has them by name, and is updated by better code.

    What is there already is used: code of the task's own, or what all questions of its
    family share, the better compiled first.  Else shared code is compiled
    quickly, and `improve` and `replace` take better code later.  All have the same layout, context
    and order of successors, so a search can change from one to another between any two
    rounds.  Kernels with the same `codes` are used one after the other, each from
    `configure` on; `shared` is the name of what a family has in common.

    With `blocks` it is for a search that keeps its states elsewhere: `blocks.py` and
    `recovery_blocks.py`; its code is compiled well at once, as with `tier` FULL.

    `seconds` is how long it took to get ready, `spent` on what, `cached` whether it was
    there.  Raises TooWide,
    and CannotStart where another user may have written what is on disk.
    """

    def __init__(
        self, task: Task, codes: Codes | None = None, *, blocks: bool = False, tier: Tier | None = None
    ) -> None:
        started = perf_counter()
        own_marks = recoverable(task) and not blocks  # else marks are kept elsewhere, like all of a state
        marks = MARKS if own_marks else 1 + task.partial_order
        self.layout = layout(task.model, task.scope, task.counted, marks=marks)
        self.context = context(task, persistence(task))
        self.key = _key(task) + "-blocks" * blocks
        self.shared = _key(task, of_family=True) + "-blocks" * blocks
        self._task, self._codes = task, codes or Codes()
        self._ranks = Ranks(task.model, task.scope)
        self._parameters = Parameters(task, folded=False)
        self._signatures = SIGNATURES | (OF_RECOVERY if own_marks else {}) | (OF_BLOCKS if blocks else {})
        self._signatures |= OF_WAYS if blocks and recoverable(task) else {}
        self._signatures |= OF_LEAVING if task.partial_order else {}
        self._signatures |= OF_LIVENESS if of_fair_runs(task) and not blocks else {}
        self._code: MachineCode | None = None
        self.spent: dict[str, float] = {}
        self._replaced: list[MachineCode] = []  # may still be running, and is kept
        least = Tier.FULL if blocks else tier or Tier.QUICK
        self.cached = self._find(least)
        if self.cached:
            self.configure()
        else:
            self._make(blocks=blocks, tier=least)
        self.seconds = perf_counter() - started
        self.spent["load"] = self.seconds - sum(self.spent.values())

    def _make(self, *, blocks: bool, tier: Tier) -> None:
        """Compile code: for the task alone if fully optimised, else for its whole family."""
        from modelcheck.explicit.native.writing import code, write  # noqa: PLC0415 - half of the engine, for new code

        shared = tier is not Tier.FULL
        parameters = self._parameters if shared else Parameters(self._task, folded=True)
        with self._phase("write"):
            unrolling = SPARING if shared else GENEROUS
            written = write(self._task, self.layout, parameters, blocks=blocks, unrolling=unrolling)
        with self._phase("compile"):
            made = code(written, tier)
        self._keep(made, tier, shared=shared)

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        """A context that reports a phase of the preparation."""
        began = perf_counter()
        try:
            yield
        finally:
            self.spent[name] = perf_counter() - began

    def _find(self, least: Tier) -> bool:
        """Use the best code in the cache of a tier or better; return whether there is any."""
        for tier, shared in ((Tier.FULL, False), (Tier.FULL, True), (Tier.MIDDLE, True), (Tier.QUICK, True)):
            if EFFORTS[tier] >= EFFORTS[least]:
                code = self._codes.find(self._name(tier, shared=shared), self._signatures)
                if code is not None:
                    self._use(code, tier, shared=shared)
                    return True
        return False

    @property
    def size(self) -> int:
        """The bytes of the code."""
        return 0 if self._code is None else self._code.size

    def improve(self) -> None:
        """Switch to code for the family that is compiled with cheap optimisations, here and now."""
        self._retire()
        if self._find(Tier.MIDDLE):  # another made it meanwhile
            self.configure()
        else:
            self._make(blocks=False, tier=Tier.MIDDLE)

    def replace(self, made: bytes, *, shared: bool = False) -> None:
        """Switch to fully optimised code, for the task alone or (`shared`) its family."""
        self._retire()
        self._keep(made, Tier.FULL, shared=shared)

    def _retire(self) -> None:
        """Keep the code that is in use now, which another is to replace."""
        self._replaced += [] if self._code is None else [self._code]

    @property
    def open(self) -> int:
        """The conditions that the task needs witnesses for, as the bits of `witnessed`."""
        names, first = {each.condition.name for each in self._task.witnesses}, len(self.context.of_states)
        return sum(1 << bit for bit, each in enumerate(self.context.witnesses, first) if each.name in names)

    def configure(self) -> None:
        """Set the parameters of this task in code that tasks share."""
        if self._code is not None and self._is_shared:
            self._code.configure(self._parameters.values)

    def _name(self, tier: Tier, *, shared: bool) -> str:
        """The cache name of the code."""
        return _name(self.shared if shared else self.key, tier)

    def _keep(self, made: bytes, tier: Tier, *, shared: bool) -> None:
        """Store compiled code, and use it."""
        code = self._codes.keep(self._name(tier, shared=shared), made, self._signatures)
        self._use(code, tier, shared=shared)
        self.configure()

    def _use(self, code: MachineCode, tier: Tier, *, shared: bool) -> None:
        """Use loaded code."""
        self._code, self._is_shared, self.tier = code, shared, tier
        self.most, self.call = code.most, code.call

    def graphs(self) -> Mapping[str, Any]:
        """The compiled functions on the graph of states, the same for all models."""
        key = _name_of_all("graphs")
        code = self._codes.find(key, OF_GRAPHS)
        if code is None:
            from modelcheck.explicit.native.writing import of_graphs  # noqa: PLC0415 - as in `_make`

            code = self._codes.keep(key, of_graphs(), OF_GRAPHS)
        return code.call

    def sorted_states(self) -> Mapping[str, Any]:
        """The compiled functions on sorted arrays of states of as many words."""
        return sorted_states(self.layout.words, self._codes)

    def shard_of(self, words: Words, shards: int = SHARDS) -> int:
        """The shard, of that many, that a state belongs to."""
        return int(self.call["hash"](words_of(words))) * shards >> WORD

    def represent(self, state: State, spent: tuple[int, ...] | None = None, *, last: bool = False) -> Words:
        """The words of a state's representative; nothing has been spent unless given.

        Of the `last` layer of faults it is without what that forgets.
        """
        assert self._code is not None
        known, key = self._code.represented, (state, spent, last)
        if key not in known:
            if len(known) >= REPRESENTED:
                known.clear()
            known[key] = self._represented(state, spent, last=last)
        return known[key]

    def _represented(self, state: State, spent: tuple[int, ...] | None, *, last: bool) -> Words:
        """The words of a state's representative, computed."""
        words = self.layout.pack(self._ranks.squeezed(state), spent)
        if last and self.context.forgotten:
            kept = (self.layout.keeping(n, self.context.forgotten) for n in range(len(words)))
            words = tuple(word & mask for word, mask in zip(words, kept, strict=True))
        found = words_of((0,) * len(words))
        self.call["represent"](words_of(words), found)
        return tuple(found)

    def successors(self, words: Words, faults: int) -> list[tuple[Words, bool]]:
        """The successors of a state after `faults`, in order, each with whether it is by a fault."""
        entry = len(words) + 1
        own = words_of(self.context.new())
        buffer = words_of((0,) * (entry * (self.most + 1)))
        if self.context.persistence is not None:  # all steps, as nothing says which to leave for later
            groups = words_of((0,) * self.most)
            own[self.context.leaving + GROUPS] = ctypes.addressof(groups)
        own[CURSOR], own[FORGETTING] = ctypes.addressof(buffer), forgetting(self._task, faults)
        end, with_faults = ctypes.addressof(buffer) + ctypes.sizeof(buffer), True
        self.call["expand"](own, words_of(words), 0, 1, end, with_faults)
        count = (own[CURSOR] - ctypes.addressof(buffer)) // (8 * entry)
        found = [tuple(buffer[entry * i : entry * (i + 1)]) for i in range(count)]
        return [(each[:-1], each[-1] >> FAULT == 1) for each in found]


def shared_name(task: Task) -> str:
    """The cache name of the quickly compiled code for a task's family."""
    return _name(_key(task, of_family=True), Tier.QUICK)


def name_of_runs(task: Task) -> str:
    """The cache name of the code that makes random runs of a task."""
    return _name(_key(task) + "-runs", Tier.QUICK)


def sorted_states(words: int, codes: Codes) -> Mapping[str, Any]:
    """The compiled functions on sorted arrays of states, the same for all models whose states are as wide.

    They are there as long as `codes`.
    """
    key = _name_of_all("sorted states", words)
    code = codes.find(key, OF_SORTED)
    if code is None:
        from modelcheck.explicit.native.writing import of_sorted_states  # noqa: PLC0415 - as in `_make`

        code = codes.keep(key, of_sorted_states(words), OF_SORTED)
    return code.call


def _name_of_all(*what: object) -> str:
    """The cache name of code that is the same for all models."""
    name = hashlib.sha256(repr((*what, sources("modelcheck.explicit"), environment())).encode())
    return _name(name.hexdigest(), Tier.FULL)


def _name(key: str, tier: Tier) -> str:
    """The cache name for a key and tier."""
    return f"{key}-{tier.value}"


def _key(task: Task, *, of_family: bool = False) -> str:
    """A digest of everything the code for a task, or for its family, depends on."""
    scope, family = task.scope, task.family
    varying = family.configs if family is not None and of_family else frozenset()
    config = {name: value for name, value in scope.config.items() if name not in varying}
    sizes = (
        [len(v) for v in scope.sorts.values()],
        *(sorted(m.items()) for m in (scope.nats, scope.networks, config)),
        sorted(scope.unbounded),
    )
    shared: tuple[object, ...] = ()
    if family is not None:
        conditions = _texts(tuple(each.condition for each in family.witnesses))
        shared = _texts(family.properties), conditions, sorted(family.faults), sorted(family.configs)
    caps = sorted(task.budget.counted.items())
    conditions = _texts(tuple(each.condition for each in task.witnesses))
    own: tuple[object, ...] = _texts(task.properties), conditions, sorted(task.faults), caps
    if family is not None and of_family:
        own = (recoverable(task), of_fair_runs(task))  # for which a table has bits, and the code functions
    parts: tuple[object, ...] = (shared, own, task.symmetry, sorted(forgotten_in_code(task)))
    parts = (*parts, sorted(task.counted.items()), task.partial_order, sizes)
    return hashlib.sha256((_model_digest(This(task.model)) + repr(parts)).encode()).hexdigest()


@lru_cache(maxsize=8)
def _model_digest(this: This[Model]) -> str:
    """The digest of the parts of a model that code depends on."""
    model = this.value
    parts = (model.sorts, model.nats, model.unions, model.variables, model.actions)
    text = repr((*parts, sources("modelcheck.explicit", "spec"), environment()))
    return hashlib.sha256(text.encode()).hexdigest()


def _texts(properties: tuple[Property, ...]) -> list[str]:
    """For each property what code depends on, as text."""
    return [_text(This(prop)) for prop in properties]


@lru_cache(maxsize=64)
def _text(this: This[Property]) -> str:
    """What code depends on in a property, as text."""
    return repr(this.value)
