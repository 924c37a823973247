"""Small packings of every form, with the values that they have room for.

Those of a family are for values of one type, as different expressions have them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations, combinations_with_replacement, product

from modelcheck.explicit.codegen.values import packing as p
from spec.model.ir import Value
from spec.model.values import ordered

FEW = 4  # of more values only some are tried

BIT, NUMBER, TRUTH, NEVER = p.Number(0, 1), p.Number(-1, 1), p.Truth(), p.Never()
PAIR, OTHER_PAIR = p.Product((BIT, TRUTH)), p.Product((p.Number(-1, 2), TRUTH))
GAPS, MORE_GAPS = (
    p.Product((p.Number(0, 4),) * 3),
    p.Product((p.Number(-1, 4), p.Number(0, 4), p.Number(0, 5))),
)
ENTRIES = p.Sequence(TRUTH, 1)


def union(number: p.Packing, *more: p.Packing) -> p.TaggedUnion:
    """Three cases, the second without fields."""
    return p.TaggedUnion((p.Product((number, TRUTH)), p.Product(()), p.Product((p.Optional(number), *more))))


FAMILIES: Mapping[str, Sequence[p.Packing]] = {
    "number": (p.Number(0, 2), p.Number(1, 3), p.Number(-2, 0), p.Number(5, 5), p.Number(-3, 4)),
    "wide number": (p.Number(-(1 << 61), 1 << 61), p.Number(0, 1 << 61), p.Number(-1, 1 << 32)),
    "bool": (TRUTH,),
    "option": (
        p.Optional(NEVER),
        p.Optional(BIT),
        p.Optional(p.Number(-1, 2)),
        p.Number(1, 1),
        p.Number(-2, 0),
    ),
    "option of a bool": (p.Optional(TRUTH), TRUTH, p.Optional(NEVER)),
    "option of a tuple": (p.Optional(PAIR), p.Optional(OTHER_PAIR), PAIR, OTHER_PAIR),
    "option of a set": (p.Optional(p.Mask(BIT)), p.Optional(p.Slots(NUMBER, 1)), p.Mask(BIT)),
    "option of a wide number": (p.Optional(p.Number(0, 1 << 61)), p.Optional(p.Number(-1, 1 << 61))),
    "tuple": (p.Product((BIT, TRUTH, p.Number(3, 3))), p.Product((NUMBER, TRUTH, p.Number(2, 4)))),
    "empty tuple": (p.Product(()),),
    "wide tuple": (
        p.Product((BIT, p.Number(0, 1 << 61), p.Number(0, 1 << 40), p.Number(0, 2))),
        p.Product((NUMBER, p.Number(-1, 1 << 61), p.Number(0, 1 << 40), p.Number(1, 2))),
    ),
    "map": (p.Array(BIT, 3), p.Array(NUMBER, 3), p.Array(p.Number(1, 1), 3)),
    "map of options": (p.Array(p.Optional(BIT), 2), p.Array(BIT, 2), p.Array(p.Optional(NEVER), 2)),
    "map of sets": (p.Array(p.Mask(BIT), 2), p.Array(p.Slots(NUMBER, 1), 2)),
    "union": (union(BIT), union(NUMBER)),
    "union with a sequence": (union(BIT, ENTRIES), union(BIT, p.Sequence(TRUTH, 2))),
    "sequence": (
        p.Sequence(NEVER, 0),
        p.Sequence(BIT, 0),
        p.Sequence(BIT, 2),
        p.Sequence(BIT, 3),
        p.Sequence(NUMBER, 2),
        p.Sequence(p.Number(1, 1), 2),
    ),
    "wide sequence": (p.Sequence(p.Number(0, 1 << 40), 3), p.Sequence(p.Number(-1, 1 << 20), 4)),
    "sequence of options": (p.Sequence(p.Optional(BIT), 2), p.Sequence(BIT, 2)),
    "sequence of sets": (p.Sequence(p.Mask(BIT), 1), p.Sequence(p.Slots(NUMBER, 1), 2)),
    "set": (
        p.Mask(NEVER),
        p.Slots(NEVER, 0),
        p.Mask(p.Number(0, 2)),
        p.Mask(p.Number(1, 3)),
        p.Mask(p.Number(-2, 0)),
        p.Slots(p.Number(0, 2), 2),
        p.Slots(p.Number(-1, 3), 2),
    ),
    "set of many numbers": (p.Mask(p.Number(0, 99)), p.Mask(p.Number(-70, 70)), p.Slots(p.Number(0, 99), 2)),
    "set of wide numbers": (p.Slots(p.Number(0, 1 << 30), 3), p.Slots(p.Number(-1, 1 << 61), 2)),
    "set of bools": (p.Mask(TRUTH), p.Slots(TRUTH, 1)),
    "set of tuples": (p.Mask(PAIR), p.Slots(OTHER_PAIR, 2)),
    "set of tuples with gaps": (p.Mask(GAPS), p.Mask(MORE_GAPS), p.Slots(GAPS, 3)),
    "set of options with gaps": (p.Mask(p.Optional(GAPS)), p.Mask(GAPS), p.Slots(p.Optional(MORE_GAPS), 2)),
    "set of unions with gaps": (
        p.Mask(p.TaggedUnion((GAPS, PAIR))),
        p.Slots(p.TaggedUnion((GAPS, OTHER_PAIR)), 2),
    ),
    "set of maps with gaps": (p.Mask(p.Array(p.Number(0, 2), 4)), p.Slots(p.Array(p.Number(0, 4), 4), 2)),
    "set of sets": (p.Mask(p.Mask(BIT)), p.Slots(p.Mask(BIT), 2), p.Slots(p.Slots(NUMBER, 1), 2)),
    "set of sequences": (p.Mask(ENTRIES), p.Slots(ENTRIES, 2), p.Slots(p.Sequence(TRUTH, 2), 2)),
    "bag": (
        p.Slots(NEVER, 0, repeated=True),
        p.Slots(BIT, 2, repeated=True),
        p.Slots(NUMBER, 3, repeated=True),
        p.Slots(p.Number(1, 1), 2, repeated=True),
    ),
    "bag of tuples": (p.Slots(PAIR, 2, repeated=True), p.Slots(OTHER_PAIR, 2, repeated=True)),
    "bag of sequences": (p.Slots(ENTRIES, 2, repeated=True), p.Slots(p.Sequence(TRUTH, 2), 2, repeated=True)),
}  # fmt: skip


def values_of(packing: p.Packing) -> Sequence[Value]:
    """The values that a packing has room for, in their order; of many only some, the first and the last."""
    return few(ordered({*_values(packing)}))


def few(values: Sequence[Value], most: int = 24) -> Sequence[Value]:
    """At most so many of some, at equal distances."""
    if len(values) <= most:
        return values
    return [values[n * (len(values) - 1) // (most - 1)] for n in range(most)]


def _values(packing: p.Packing) -> Iterable[Value]:
    match packing:
        case p.Never():
            return []
        case p.Truth():
            return [False, True]
        case p.Number(lo, hi):
            return few(range(lo, hi + 1), FEW)
        case p.Optional(of):
            return [None, *_values(of)]
        case p.Product(parts):
            return product(*(few(values_of(part), FEW) for part in parts))
        case p.TaggedUnion(cases):
            return [(tag, *value) for tag, case in enumerate(cases) for value in _values(case)]
        case p.Array(of, count):
            return product(few(values_of(of), FEW), repeat=count)
        case p.Sequence(of, most):
            entries = few(values_of(of), 3)
            return chain.from_iterable(product(entries, repeat=n) for n in range(most + 1))
        case p.Slots(of, most, True):
            members = few(values_of(of), 4)
            chosen = (combinations_with_replacement(members, n) for n in range(most + 1))
            return (frozenset(Counter(each).items()) for each in chain.from_iterable(chosen))
        case p.Slots(of) | p.Mask(of):
            members = few(values_of(of), FEW - 1)
            most = min(packing.most, len(members))
            some = (combinations(members, n) for n in range(most + 1))
            return map(frozenset, chain.from_iterable(some))


Collection = p.Mask | p.Slots | p.Sequence


def collections_of(*kinds: type[Collection]) -> Mapping[str, Sequence[Collection]]:
    """The families that have such packings of sets, bags or sequences only."""
    each = {name: [how for how in family if isinstance(how, kinds)] for name, family in FAMILIES.items()}
    return {name: packings for name, packings in each.items() if len(packings) == len(FAMILIES[name])}


def has_room(packing: p.Packing, value: Value) -> bool:
    """Whether a packing has room for a value of its type."""
    match packing:
        case p.Never():
            return False
        case p.Optional(of):
            return value is None or has_room(of, value)
        case _ if value is None:
            return False
        case p.Truth():
            return True
        case p.Number(lo, hi):
            return bool(lo <= value <= hi)
        case p.Product(parts):
            return all(map(has_room, parts, value))
        case p.TaggedUnion(cases):
            return has_room(cases[value[0]], value[1:])
        case p.Array(of):
            return all(has_room(of, each) for each in value)
        case p.Slots(of, most, True):
            return sum(n for _, n in value) <= most and all(has_room(of, each) for each, _ in value)
        case p.Sequence(of, most) | p.Slots(of, most):
            return len(value) <= most and all(has_room(of, each) for each in value)
        case p.Mask(of):
            return all(has_room(of, each) for each in value)
