"""Where the words of a packed state keep its variables, and what has been spent per kind of fault."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

from modelcheck.explicit.codegen.values.codes import decode, encode
from modelcheck.explicit.codegen.values.packing import WIDEST, Array, Packing, TooWide, number, packing
from spec.frozen import This, frozen
from spec.meaning.semantics import State
from spec.model.ir import Model, Scope, Value

WORD = 64
Words = tuple[int, ...]


@frozen
class PackedField:
    """A variable of a state, or a counter of faults: its packing, and the index of its lowest bit."""

    name: str
    packing: Packing
    offset: int


@frozen
class PackedLayout:
    """The bits of a state, in words of 64.

    The variables are in the order of the model from bit 0 on; then the
    counters of what each limited kind of fault has spent; then those that the
    table of states keeps for itself, which are 0 in every state: whether it only
    waits for a fault; and where that is asked, whether it can get to a goal, or
    beyond the scope, and whether it was found once more; then a bit that is
    always 1, so that no state's last word is 0.
    """

    variables: tuple[PackedField, ...]
    counters: tuple[PackedField, ...]
    width: int
    marks: int = 1  # bits that the table keeps for itself

    @property
    def used(self) -> int:
        """The index of the bit that is 1 in every state."""
        return self.width + self.marks

    def uncounted(self) -> PackedLayout:
        """The layout of the same variables without counters of faults."""
        width = self.variables[-1].offset + self.variables[-1].packing.width if self.variables else 0
        return PackedLayout(self.variables, (), width, self.marks)

    def mark(self, number: int) -> tuple[int, int]:
        """The index of the word with mark `number` of the table of states, and the mark's bit in it."""
        place = self.width + number
        return place // WORD, 1 << place % WORD

    @property
    def words(self) -> int:
        """The number of 64-bit words of a state."""
        return self.used // WORD + 1

    @property
    def slot(self) -> int:
        """The number of bytes of a slot in the table of states; its last byte is never 0."""
        return self.used // 8 + 1

    def own(self, word: int) -> int:
        """The bits of a word that belong to the state: all but the marks of the table."""
        marks = (self.mark(number) for number in range(self.marks))
        return (1 << WORD) - 1 - sum(bit for place, bit in marks if place == word)

    def keeping(self, word: int, forgotten: Collection[int]) -> int:
        """The bits of a word that are of no forgotten variable: one without its bits has its least value."""
        fields = [self.variables[number] for number in forgotten]
        lost = sum(((1 << field.packing.width) - 1) << field.offset for field in fields)
        return ~(lost >> WORD * word) & (1 << WORD) - 1

    def pack(self, state: State, spent: tuple[int, ...] | None = None) -> Words:
        """The words of a state; `spent` has the number of faults per counter, 0 by default."""
        whole = 1 << self.used
        for field, value in zip(self.variables, state, strict=True):
            whole |= _code(This(field.packing), value) << field.offset
        for field, count in zip(self.counters, spent or (0,) * len(self.counters), strict=True):
            whole |= count << field.offset
        return tuple(whole >> WORD * i & (1 << WORD) - 1 for i in range(self.words))

    def in_slot(self, data: bytes) -> Words:
        """The words of the state in a slot, without the marks of the table."""
        whole = int.from_bytes(data, "little")
        return tuple(whole >> WORD * n & self.own(n) for n in range(self.words))

    def unpack(self, words: Words) -> tuple[tuple[int, ...], State]:
        """The number of faults per counter, and the state, from its words."""
        whole = sum(word << WORD * i for i, word in enumerate(words))
        state = tuple(
            decode(f.packing, whole >> f.offset & (1 << f.packing.width) - 1) for f in self.variables
        )
        spent = tuple(whole >> f.offset & (1 << f.packing.width) - 1 for f in self.counters)
        return spent, state


@lru_cache(maxsize=1 << 14)
def _code(packing: This[Packing], value: Value) -> int:
    """The code of a variable's value; thousands of initial states have the same few."""
    return encode(packing.value, value)


def layout(model: Model, scope: Scope, counted: Mapping[str, int], marks: int = 1) -> PackedLayout:
    """The layout of the states of a model within a scope.

    `counted` has the most of each kind of fault that gets a counter, `marks` how many bits
    the table of states keeps for itself.  Raises TooWide.
    """
    unions = {union.name: union for union in model.unions}
    at = 0
    variables = []
    for variable in model.variables:
        packed = packing(variable.type, scope, unions)
        if packed.width > WIDEST and not isinstance(packed, Array):
            raise TooWide(f"{variable.name} needs {packed.width} bits, more than {WIDEST}")
        variables.append(PackedField(variable.name, packed, at))
        at += packed.width
    counters = []
    for name in [action.name for action in model.actions if action.name in counted]:
        counters.append(PackedField(name, number(0, counted[name]), at))
        at += counters[-1].packing.width
    return PackedLayout(tuple(variables), tuple(counters), at, marks)
