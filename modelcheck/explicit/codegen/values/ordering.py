"""The canonical order of values whose codes are in another order."""

from __future__ import annotations

from functools import lru_cache, partial

from modelcheck.explicit.codegen.arithmetic import V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.values.codes import code_at, decode, encode, is_monotone
from modelcheck.explicit.codegen.values.members import candidate, entry, length
from modelcheck.explicit.codegen.values.packing import (
    WIDEST_MASK,
    Array,
    Optional,
    Packing,
    Product,
    Sequence,
    Slots,
    TaggedUnion,
    TooWide,
    places,
)
from modelcheck.explicit.codegen.values.values import (
    Live,
    code,
    container,
    cut_out,
    packed_as,
    some,
    split,
    tag_of,
)
from spec.model.values import rank

TABLED = 256  # of so few codes, the place in the order is looked up


@lru_cache(maxsize=32)  # the kernels for one file have the same packings
def canonical_order(of: Packing) -> tuple[int, ...]:
    """The codes that represent a value, in the values' canonical order. Raises TooWide for too many."""
    if places(of) > WIDEST_MASK:
        raise TooWide(f"the order of {places(of)} values")
    codes = [code for code in map(partial(code_at, of), range(places(of))) if _represents_a_value(of, code)]
    return tuple(sorted(codes, key=lambda code: rank(decode(of, code))))


def _represents_a_value(of: Packing, code: int) -> bool:
    """Whether a code is that of some value."""
    try:
        return encode(of, decode(of, code)) == code
    except (IndexError, OverflowError):
        return False


def ranks(fn: Function, whole: Live) -> list[tuple[V, tuple[V, Live]]]:
    """Emit for each slot of a set or bag: its rank in canonical order, whether it counts, and its member."""
    packing = packed_as(whole, Slots)
    slots = [(i64(n), *candidate(fn, whole, i64(n))) for n in range(packing.most)]
    counted = [(is_first(fn, whole, *slot), slot[-1]) for slot in slots]
    keys = [key(fn, member)[0] for _, member in counted]
    ranked = []
    for mine, slot in zip(keys, counted, strict=True):
        before = i64(0)
        for other, (there, _) in zip(keys, counted, strict=True):
            if other is not mine:
                before = fn.add(before, fn.resize(fn.and_(there, fn.below(other, mine)), 64))
        ranked.append((before, slot))
    return ranked


def is_first(fn: Function, whole: Live, index: V, there: V, member: Live) -> V:
    """Emit whether a slot that is `there` is the first of equal members of a bag; true for a set."""
    if not packed_as(whole, Slots).repeated or index.const == 0:
        return there
    first = fn.is_zero(index)
    before = entry(fn, whole, fn.select(first, i64(0), fn.sub(index, i64(1))))
    return fn.and_(there, fn.or_(first, fn.ne(before.v, member.v)))


def key(fn: Function, live: Live) -> tuple[V, int]:
    """Emit a number that sorts as the values do, and its bits. Raises TooWide if there is no cheap one."""
    packing = live.packing
    if is_monotone(packing):
        return code(fn, live), packing.width
    if packing.codes <= TABLED:
        return fn.look_up(fn.table(_places(packing)), fn.resize(live.v, 64)), packing.width
    match packing:
        case Optional(of):
            inner, width = key(fn, some(fn, live, of))
            none = fn.is_zero(live.v)
            wide = fn.add(fn.resize(inner, container(width + 1)), const(container(width + 1), 1))
            return fn.select(none, const(wide.bits, 0), wide), width + 1
        case Product() | Array():
            return _joined(fn, [key(fn, part) for part in [*split(fn, live)]])
        case TaggedUnion(cases):
            return _of_union(fn, live, cases)
        case Sequence(of, most) | Slots(of, most, False) if isinstance(packing, Sequence) or is_monotone(of):
            return _joined(fn, [_entry(fn, live, index) for index in range(most)])
        case _:
            raise TooWide(f"the order of values of {packing.width} bits")


def _places(of: Packing) -> list[int]:
    """For each code its index in the canonical order of the values; 0 for one that represents none."""
    found = [0] * of.codes
    for place, number in enumerate(canonical_order(of)):
        found[number] = place
    return found


def _entry(fn: Function, live: Live, index: int) -> tuple[V, int]:
    """Emit 1 + the key of an entry, or 0 beyond the end, so that a prefix sorts first; and its bits."""
    inner, width = key(fn, entry(fn, live, i64(index)))
    there = fn.less(i64(index), length(fn, live))
    size = container(width + 1)
    wide = fn.add(fn.resize(inner, size), const(size, 1))
    return fn.select(there, wide, const(size, 0)), width + 1


def _of_union(fn: Function, live: Live, cases: tuple[Product, ...]) -> tuple[V, int]:
    """Emit the key of a union's value: its case first, then the key of its fields; and its bits."""
    keys = [key(fn, cut_out(fn, live.v, 0, case)) for case in cases]
    width = max(width for _, width in keys)
    tag = tag_of(fn, live)
    found = const(container(width), 0)
    for ordinal, (inner, _) in enumerate(keys):
        found = fn.select(fn.eq(tag, i64(ordinal)), fn.resize(inner, found.bits), found)
    return _joined(fn, [(tag, len(cases).bit_length()), (found, width)])


def _joined(fn: Function, keys: list[tuple[V, int]]) -> tuple[V, int]:
    """Emit the concatenation of keys, the first in the highest bits; and its bits."""
    width = sum(width for _, width in keys)
    size = container(width)
    whole, at = const(size, 0), width
    for piece, bits in keys:
        at -= bits
        whole = fn.or_(whole, fn.shl(fn.resize(piece, size), const(size, at)))
    return whole, width
