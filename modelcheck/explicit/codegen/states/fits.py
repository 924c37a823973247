"""Whether bits are a state at all, as code: each part of it one of the values that its packing has."""

from __future__ import annotations

from typing import assert_never

from modelcheck.explicit.codegen.arithmetic import FALSE, TRUE, InstructionBlock, V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.states.layout import WORD, PackedLayout
from modelcheck.explicit.codegen.states.state import BitPlace, StateBits
from modelcheck.explicit.codegen.values.codes import code_at
from modelcheck.explicit.codegen.values.packing import (
    Array,
    Mask,
    Never,
    Number,
    Optional,
    Packing,
    Product,
    Sequence,
    Slots,
    TaggedUnion,
    Truth,
    parts_of,
    places,
)
from modelcheck.explicit.codegen.values.values import code, container


def fits(layout: PackedLayout) -> Function:
    """Write the LLVM function `fits`: whether words without marks are the encoding of a state."""
    fn = Function("fits", [("ptr", "state")], "i1")
    bits, wrong = StateBits(fn, layout, "%state"), fn.new("wrong")
    for index in range(len(layout.variables)):
        _check_place(bits, bits.variable(index), wrong)
    for index in range(len(layout.counters)):
        _check_place(bits, bits.counter(index), wrong)
    for place in range(layout.words):
        above = layout.own(place) & ~((1 << max(0, min(WORD, layout.width - WORD * place))) - 1)
        always = 1 << layout.used % WORD if place == layout.used // WORD else 0
        word = fn.and_(fn.read("%state", place), i64(above | (~layout.own(place) & (1 << WORD) - 1)))
        fn.leave_if(fn.ne(word, i64(always)), wrong)
    fn.end("ret i1 true")
    fn.exit(wrong, "ret i1 false")
    return fn


def _check_place(bits: StateBits, place: BitPlace, wrong: InstructionBlock) -> None:
    """Emit a jump to `wrong` unless the bits at a place are the code of a value."""
    match place.packing:
        case (Product() | Array()) as whole:
            for index in range(len(whole.parts)):
                _check_place(bits, bits.part(place, index), wrong)
        case packing:
            number = code(bits.fn, bits.get(place))
            bits.fn.leave_if(bits.fn.not_(_is_code(bits.fn, packing, number)), wrong)


def _is_code(fn: Function, packing: Packing, whole: V) -> V:
    """Emit whether a number, in the container of a packing, is the code of a value."""

    def part(of: Packing, offset: int) -> V:
        """Emit the code of the part at bit `offset`."""
        low = fn.and_(fn.lshr(whole, const(whole.bits, offset)), const(whole.bits, (1 << of.width) - 1))
        return fn.resize(low, container(of.width))

    match packing:
        case Never() | Truth():
            return TRUE
        case Number():
            return fn.below(whole, const(whole.bits, packing.codes))
        case Optional(of):
            few = fn.up_to(whole, const(whole.bits, of.codes))
            inner = fn.resize(fn.sub(whole, const(whole.bits, 1)), container(of.width))
            return fn.or_(fn.is_zero(whole), fn.and_(few, _is_code(fn, of, inner)))
        case Product() | Array():
            return _all(fn, [_is_code(fn, of, part(of, at)) for of, at in parts_of(packing)])
        case TaggedUnion(cases):
            tag, found = fn.lshr(whole, const(whole.bits, packing.payload)), FALSE
            low = fn.and_(whole, const(whole.bits, (1 << packing.payload) - 1))
            for number, case in enumerate(cases):
                empty = fn.eq(fn.lshr(low, const(low.bits, case.width)), const(low.bits, 0))
                inner = _is_code(fn, case, part(case, 0))
                here = fn.eq(tag, const(tag.bits, number))
                found = fn.or_(found, _all(fn, [here, empty, inner]))
            return found
        case Mask(of):
            known = sum(1 << n for n in range(places(of)) if is_code(fn, of, code_at(of, n)))
            return fn.eq(fn.and_(whole, const(whole.bits, ~known)), const(whole.bits, 0))
        case Sequence(of) | Slots(of):
            return _entries(fn, packing, whole, [part(of, i * of.width) for i in range(packing.most)])
        case _:
            assert_never(packing)


def is_code(fn: Function, packing: Packing, number: int) -> bool:
    """Whether a constant is the code of a value; emits nothing."""
    found = _is_code(fn, packing, const(container(packing.width), number))
    assert found.const is not None
    return bool(found.const)


def _entries(fn: Function, packing: Sequence | Slots, whole: V, entries: list[V]) -> V:
    """Emit whether the entries are codes up to the length (ascending in slots) and zeros after it."""
    many = fn.lshr(whole, const(whole.bits, packing.body))
    found = [fn.up_to(many, const(many.bits, packing.most))]
    for index, entry in enumerate(entries):
        is_there = fn.below(const(many.bits, index), many)
        right = _is_code(fn, packing.of, entry)
        if isinstance(packing, Slots) and index:
            compare = fn.up_to if packing.repeated else fn.below
            right = fn.and_(right, compare(entries[index - 1], entry))
        found.append(fn.select(is_there, right, fn.is_zero(entry)))
    return _all(fn, found)


def _all(fn: Function, tests: list[V]) -> V:
    """Emit the conjunction of tests."""
    found = TRUE
    for test in tests:
        found = fn.and_(found, test)
    return found
