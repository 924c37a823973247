"""A value stays what it is in whatever packing: machine code is asked about all small values.

What is wrong fails with the packings and the values, as `as Number(lo=0, hi=3), Number(lo=1, hi=2): (1,)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from modelcheck.explicit.codegen.arithmetic import V
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.values import conversion, values
from modelcheck.explicit.codegen.values import packing as p
from modelcheck.explicit.codegen.values.codes import decode, encode
from spec.model.ir import Value
from tests.modelcheck.explicit.packings import FAMILIES, collections_of, has_room, values_of
from tests.modelcheck.explicit.routines import Asked, wrong

each_family = pytest.mark.parametrize("family", FAMILIES)
COLLECTIONS = collections_of(p.Mask, p.Slots, p.Sequence)


def as_(to: p.Packing, one: p.Packing) -> Asked:
    """Whether there is room for a value in another packing, and then its code there."""

    def write(fn: Function, live: values.Live) -> Iterator[V]:
        got, ok = conversion.recode(fn, live, to)
        yield ok
        yield fn.select(ok, values.code(fn, got), values.code(fn, values.known_zero(to)))

    def meaning(value: Value) -> list[int]:
        return [1, encode(to, value)] if has_room(to, value) else [0, 0]

    return Asked(f"as {to},", [one], write, meaning)


@each_family
def test_a_value_is_the_same_in_another_packing_that_has_room_for_it(family: str) -> None:
    assert wrong(as_(to, one) for to, one in product(FAMILIES[family], repeat=2)) == []


@each_family
def test_a_value_is_the_same_in_a_packing_for_two_kinds_of_values(family: str) -> None:
    pairs = product(FAMILIES[family], repeat=2)
    both = [(each, p.join(one, other)) for one, other in pairs for each in (one, other)]
    held = [(how, value) for one, how in both for value in values_of(one)]

    assert [(how, value) for how, value in held if decode(how, encode(how, value)) != value] == []
    assert wrong(as_(how, one) for one, how in both) == []


@each_family
def test_values_are_the_same_exactly_where_they_are_equal(family: str) -> None:
    def write(fn: Function, a: values.Live, b: values.Live) -> Iterator[V]:
        yield conversion.same(fn, a, b)

    def asked(one: p.Packing, other: p.Packing) -> Asked:
        return Asked("==", [one, other], write, lambda a, b: [int(a == b)])

    assert wrong(asked(*pair) for pair in product(FAMILIES[family], repeat=2)) == []


def members(how: p.Packing, whole: Value) -> list[Value]:
    """What a set, bag or sequence has in it."""
    is_bag = isinstance(how, p.Slots) and how.repeated
    return [member for member, _ in whole] if is_bag else list(whole)


@pytest.mark.parametrize("family", COLLECTIONS)
def test_a_value_is_among_others_exactly_where_it_is_equal_to_one(family: str) -> None:
    def write(fn: Function, whole: values.Live, member: values.Live) -> Iterator[V]:
        yield conversion.has(fn, whole, member)

    def asked(whole: p.Packing, member: p.Packing) -> Asked:
        return Asked("in", [whole, member], write, lambda a, b: [int(b in members(whole, a))])

    wholes = COLLECTIONS[family]
    kinds = dict.fromkeys(of for whole in wholes for of in p.packings_in(whole) if of != p.Never())

    assert wrong(asked(whole, member) for whole in wholes for member in kinds) == []
