"""The functions of machine code that Python calls, with their types, and where code is kept.

The types are here too since code that was kept is loaded without what wrote it; a test compares them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Hashable, Sequence
from typing import Any

from modelcheck.contract.report import NotCached
from modelcheck.explicit.native.compiling import loaded
from modelcheck.storage.cache import Cache

_P, _N, _FLAG = ctypes.c_void_p, ctypes.c_int64, ctypes.c_bool
Signatures = dict[str, tuple[Any, list[Any]]]
SIGNATURES: Signatures = {
    "expand": (_N, [_P, _P, _N, _N, _N, _FLAG]),
    "expand_round": (None, [_P, _P, _P, _N, _P]),
    "insert": (None, [_P, _P, _N]),
    "insert_round": (None, [_P]),
    "trace_back": (ctypes.c_uint64, [_P, _N]),
    "rehash": (None, [_P, _N, _P, _N]),
    "leads_elsewhere": (ctypes.c_uint8, [_P, _P, _N, _P, _N, _P]),
    "represent": (None, [_P, _P]),
    "hash": (ctypes.c_uint64, [_P]),
    "sort": (None, [_P, _N, _P, _P, _P]),
}
OF_RECOVERY: Signatures = {
    "mark_goal": (None, [_P, _N, _N]),
    "spread_fine": (_N, [_P, _P, _N, _P, _N, _P]),
    "spread_beyond": (_N, [_P, _P, _N, _P, _N, _P]),
    "count_marks": (_N, [_P, _N]),
    "revisit": (None, [_P, _P, _N]),
    "revisit_round": (None, [_P]),
}
OF_LIVENESS: Signatures = {
    "sort_out": (ctypes.c_uint64, [_P, _N, _N, _P]),
    "link": (_N, [_P, _P, _N, _P, _N, _N, _N, _P]),
    "enter": (_N, [_P, _N, _P, _P]),
    "reach": (None, [_P, _N, _N]),
    "wake_due": (None, [_P, _N, _N]),
    "wander": (_FLAG, [_P, _P, _N, _P, _N, _N, _FLAG, _FLAG, _P]),
}
OF_GRAPHS: Signatures = {
    "number": (None, [_P, _N, _N, _N]),
    "begin": (_N, [_P, _N]),
    "again": (_N, [_P]),
    "components": (_FLAG, [_P, _N]),
    "settled": (_N, [_P, _N, _N]),
    "way": (_FLAG, [_P, _N, _N, ctypes.c_uint64]),
}
OF_SORTED: Signatures = {
    "sort_by_value": (_N, [_P, _P, _N, _P]),
    "merge_sorted": (None, [_P]),
    "merge_tagged": (None, [_P]),
    "subtract": (None, [_P, _N, _P, _N, _P]),
    "drop": (_N, [_P, _N, _P]),
    "distinct": (_N, [_P, _N]),
    "pick": (_N, [_P, _N, _P, _N, _N, _P]),
    "first_from": (_N, [_P, _N, _P]),
    "split_bytes": (_N, [_P, _N, _P]),
    "join_bytes": (_FLAG, [_P, _N, _N, _P]),
    "split_tags": (None, [_P, _N, _P]),
    "join_tags": (None, [_P, _N, ctypes.c_uint16, _P]),
    "with_meta": (None, [_P, _N, _P]),
    "without_meta": (None, [_P, _N, _P]),
    "seek": (_N, [_P, _N, _P, _FLAG]),
}
OF_LEAVING: Signatures = {"mark_expanded": (None, [_P, _N, _P, _N])}
OF_BLOCKS: Signatures = {
    "deduplicate": (_N, [_P, _N, _P, _N]),
    "take_all": (_N, [_P, _N, _P]),
    "part": (_N, [_P, _N, _P, _P]),
    "tell_shards": (None, [_P, _N, _N, _P]),
    "ask": (None, [_P, _N, _P]),
    "lead_to": (_N, [_P, _N, _P, _FLAG]),
}
OF_SAMPLES: Signatures = {"sample": (_N, [_P, _P])}
OF_WAYS: Signatures = {
    "mark_goals": (None, [_P, _N, _P, _N]),
    "look_ahead": (_N, [_P, _P, _N, _P, _N, _N, _N, _FLAG]),
    "deal": (None, [_P, _N, _N, _P, _P, _P]),
    "want": (_N, [_P, _N, _P, _N, _P, _N]),
    "untag_marked": (_N, [_P, _N, _P, _N, _P, _N, _P]),
    "answer": (_N, [_P, _N, _P, _N, _P, _N, _P]),
    "put_marks": (None, [_P, _P, _N, ctypes.c_uint8]),
}
PUBLIC = {
    *SIGNATURES,
    *OF_RECOVERY,
    *OF_LIVENESS,
    *OF_LEAVING,
    *OF_GRAPHS,
    *OF_SORTED,
    *OF_BLOCKS,
    *OF_WAYS,
    *OF_SAMPLES,
    "configure",
}


class MachineCode:
    """Loaded machine code: its functions by name, and the most successors a state can have.

    `size` is how many bytes it has, `represented` the words that were found by it, for the kernels
    that share it.
    """

    def __init__(self, made: bytes, signatures: Signatures) -> None:
        self.most, self.size = int.from_bytes(made[:8]), len(made)
        self.represented: dict[Hashable, tuple[int, ...]] = {}
        self._engine = loaded(made[8:])
        self.call = {
            name: ctypes.CFUNCTYPE(result, *args)(self._engine.get_function_address(name))
            for name, (result, args) in signatures.items()
        }

    def configure(self, values: Sequence[int]) -> None:
        """Set the parameters of the code, unless they are set already."""
        if values:
            take = ctypes.CFUNCTYPE(None, _P)(self._engine.get_function_address("configure"))
            take((ctypes.c_uint64 * len(values))(*values))


class Codes:
    """A cache of compiled code by name, on disk and loaded; kernels may share code."""

    def __init__(self, cache: Cache | None = None) -> None:
        self._cache = cache or Cache()
        self._cache.insist()
        self._loaded: dict[str, MachineCode] = {}

    def find(self, name: str, signatures: Signatures) -> MachineCode | None:
        """The code with a name, loaded if necessary; None if there is none."""
        if name not in self._loaded:
            made = self._cache.get(name)
            if made is None:
                return None
            self._loaded[name] = MachineCode(made, signatures)
        return self._loaded[name]

    def has(self, name: str) -> bool:
        """Whether there is code with a name, without loading it."""
        return name in self._loaded or self._cache.get(name) is not None

    def not_kept(self) -> NotCached | None:
        """The event to report if code could not be written to disk."""
        problem = self._cache.problem
        return NotCached(str(self._cache.folder), problem) if problem else None

    def keep(self, name: str, made: bytes, signatures: Signatures) -> MachineCode:
        """Store compiled code under a name, and load it."""
        self._cache.put(name, made)
        self._loaded[name] = MachineCode(made, signatures)
        return self._loaded[name]
