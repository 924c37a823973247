"""Functions of machine code that are asked about values: written, compiled all at once, and called."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from modelcheck.explicit.codegen.arithmetic import V, const
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.values import values
from modelcheck.explicit.codegen.values.codes import encode
from modelcheck.explicit.codegen.values.packing import Packing
from modelcheck.explicit.native.compiling import Tier, compiled, loaded
from modelcheck.explicit.native.writing import text_of
from spec.model.ir import Value
from tests.modelcheck.explicit.packings import values_of

WORD = 64
Writes = Callable[..., Iterable[V]]  # from a function and the values that it is given to what it answers
Answers = Callable[..., list[int]]  # what machine code answers for some values


@dataclass(frozen=True)
class Asked:
    """What machine code is asked about values in some packings, and what it is to answer.

    Nothing is expected where `meaning` is None.
    """

    what: str
    packings: Sequence[Packing]
    write: Writes
    meaning: Callable[..., Sequence[int] | None]


def wrong(asked: Iterable[Asked]) -> list[str]:
    """For which values machine code answers what it should not."""
    every, found = list(asked), []
    for each, answer in zip(every, answers(every), strict=True):
        for some in product(*map(values_of, each.packings)):
            expected = each.meaning(*some)
            if expected is not None and answer(*some) != list(expected):
                found.append(f"{each.what} {', '.join(map(str, each.packings))}: {some}")
    return found


def answers(asked: Sequence[Asked]) -> list[Answers]:
    """What machine code answers to each."""
    routines = [_Routine(f"routine{n}", each.packings, each.write) for n, each in enumerate(asked)]
    text = text_of([each.fn for each in routines], {each.fn.name for each in routines})
    engine = loaded(compiled(text, Tier.QUICK))
    return [each.called(engine.get_function_address(each.fn.name), engine) for each in routines]


class _Routine:
    """A function that reads codes from memory, and writes numbers there."""

    def __init__(self, name: str, packings: Sequence[Packing], write: Writes) -> None:
        self.fn = Function(name, [("ptr", "from"), ("ptr", "to")], "void")
        self._packings = packings
        self._read = 0  # words
        self._written = 0
        given = [self._get(each) for each in packings]
        self._results = [self._put(each) for each in write(self.fn, *given)]
        self.fn.end("ret void")

    def _get(self, packing: Packing) -> values.Live:
        words = values.container(packing.width) // WORD
        whole = const(WORD * words, 0)
        for n in range(words):
            word = self.fn.resize(self.fn.read("%from", self._read + n), whole.bits)
            whole = self.fn.or_(whole, self.fn.shl(word, const(whole.bits, WORD * n)))
        self._read += words
        return values.value(self.fn, packing, whole)

    def _put(self, result: V) -> tuple[int, int]:
        """The words in which it stands."""
        first, words = self._written, -(-result.bits // WORD)
        wide = self.fn.resize(result, WORD * words)
        for n in range(words):
            word = self.fn.resize(self.fn.lshr(wide, const(wide.bits, WORD * n)), WORD)
            self.fn.write("%to", word, first + n)
        self._written += words
        return first, words

    def called(self, address: int, engine: object) -> Answers:
        call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)
        given, found = (ctypes.c_uint64 * max(self._read, 1))(), (ctypes.c_uint64 * max(self._written, 1))()

        def answer(*some: Value) -> list[int]:
            at = 0
            for packing, value in zip(self._packings, some, strict=True):
                for word in _words(encode(packing, value), values.container(packing.width) // WORD):
                    given[at] = word
                    at += 1
            call(given, found)
            assert engine is not None  # which has to live as long as its code
            return [_number(found[first : first + words]) for first, words in self._results]

        return answer


def _words(code: int, count: int) -> Iterable[int]:
    return (code >> WORD * n & (1 << WORD) - 1 for n in range(count))


def _number(words: Sequence[int]) -> int:
    return sum(word << WORD * n for n, word in enumerate(words))
