"""Where the words of a packed state keep its variables, and what has been spent per kind of fault."""

from __future__ import annotations

from collections.abc import Mapping

from modelcheck.explicit.codegen.values.codes import decode, encode
from modelcheck.explicit.codegen.values.packing import WIDEST, Array, Packing, TooWide, number, packing
from spec.frozen import frozen
from spec.meaning.semantics import State
from spec.model.ir import Model, Scope

WORD = 64
Words = tuple[int, ...]


@frozen
class PackedField:
    """A variable, or a counter of faults: its packing, and the lowest of its bits."""

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
        """The bit that every state has."""
        return self.width + self.marks

    def uncounted(self) -> PackedLayout:
        """That of the same states where no fault is counted."""
        width = self.variables[-1].offset + self.variables[-1].packing.width if self.variables else 0
        return PackedLayout(self.variables, (), width, self.marks)

    def mark(self, number: int) -> tuple[int, int]:
        """The word in which the table keeps a bit for itself, and the bit there."""
        place = self.width + number
        return place // WORD, 1 << place % WORD

    @property
    def words(self) -> int:
        """How many words a state has."""
        return self.used // WORD + 1

    def own(self, word: int) -> int:
        """The bits of a word that are the state's own."""
        marks = (self.mark(number) for number in range(self.marks))
        return (1 << WORD) - 1 - sum(bit for place, bit in marks if place == word)

    def pack(self, state: State, spent: tuple[int, ...] | None = None) -> Words:
        """The words of a state; nothing has been spent unless given."""
        whole = 1 << self.used
        for field, value in zip(self.variables, state, strict=True):
            whole |= encode(field.packing, value) << field.offset
        for field, count in zip(self.counters, spent or (0,) * len(self.counters), strict=True):
            whole |= count << field.offset
        return tuple(whole >> WORD * i & (1 << WORD) - 1 for i in range(self.words))

    def unpack(self, words: Words) -> tuple[tuple[int, ...], State]:
        """What has been spent, and the state."""
        whole = sum(word << WORD * i for i, word in enumerate(words))
        state = tuple(
            decode(f.packing, whole >> f.offset & (1 << f.packing.width) - 1) for f in self.variables
        )
        spent = tuple(whole >> f.offset & (1 << f.packing.width) - 1 for f in self.counters)
        return spent, state


def layout(model: Model, scope: Scope, counted: Mapping[str, int], marks: int = 1) -> PackedLayout:
    """Where each variable of a model within a scope is among the bits of a state.

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
