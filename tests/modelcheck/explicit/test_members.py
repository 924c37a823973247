"""Sets, bags and sequences in bits: what is in them, what comes in and goes out, asked of machine code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product

import pytest

from modelcheck.explicit.codegen.arithmetic import TRUE, V
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.values import codes, members, sets, values
from modelcheck.explicit.codegen.values import packing as p
from spec.meaning.operators import operation
from spec.model import types as t
from spec.model.ir import Value
from spec.model.op import Op
from tests.modelcheck.explicit.packings import collections_of, has_room, values_of
from tests.modelcheck.explicit.routines import Asked, answers, wrong

COLLECTIONS = collections_of(p.Mask, p.Slots, p.Sequence)
SETS = collections_of(p.Mask, p.Slots)
BAGS = {name: family for name, family in SETS.items() if name.startswith("bag")}
MEMBERS = [how for family in SETS.values() for how in family if how.of != p.Never()]


def is_bag(how: p.Packing) -> bool:
    return isinstance(how, p.Slots) and how.repeated


def each_of(how: p.Packing, whole: Value) -> list[Value]:
    """The members of a set, and of a bag as often as they are in it; the entries of a sequence."""
    return [member for member, n in whole for _ in range(n)] if is_bag(how) else list(whole)


def together(how: p.Packing, some: list[Value]) -> Value:
    """A set or bag of these."""
    return frozenset(Counter(some).items() if is_bag(how) else some)


@pytest.mark.parametrize("family", COLLECTIONS)
def test_the_candidates_that_are_there_are_the_members(family: str) -> None:
    def write(fn: Function, whole: values.Live, index: values.Live) -> Iterator[V]:
        there, member = members.candidate(fn, whole, index.v)
        yield there
        yield values.code(fn, member)

    packings = [how for how in COLLECTIONS[family] if how.of != p.Never() and how.most]
    asked = [Asked("", [how, p.Number(0, how.most - 1)], write, lambda *_: None) for how in packings]
    for how, answer in zip(packings, answers(asked), strict=True):
        for value in values_of(how):
            each = [answer(value, index) for index in range(how.most)]
            found = [codes.decode(how.of, code) for there, code in each if there]
            expected = each_of(how, value)

            assert found == expected if isinstance(how, p.Sequence) else Counter(found) == Counter(expected)


@pytest.mark.parametrize("family", COLLECTIONS)
def test_the_size_is_how_many_there_are(family: str) -> None:
    def write(fn: Function, whole: values.Live) -> Iterator[V]:
        yield members.size(fn, whole).v

    def asked(how: p.Packing) -> Asked:
        return Asked("size", [how], write, lambda whole: [len(each_of(how, whole))])

    assert wrong(map(asked, COLLECTIONS[family])) == []


def after(how: p.Packing, change: Callable[..., values.Live], meaning: Callable[..., Value]) -> Asked:
    """What a set or bag is after a change by one member; nothing is asked where there is no room for that."""

    def write(fn: Function, whole: values.Live, member: values.Live) -> Iterator[V]:
        yield change(fn, whole, member).v

    def expected(whole: Value, member: Value) -> list[int] | None:
        then = together(how, meaning(each_of(how, whole), member))
        return [codes.encode(how, then)] if has_room(how, then) else None

    (of,) = p.packings_in(how)
    return Asked(change.__name__, [how, of], write, expected)


@pytest.mark.parametrize("family", SETS)
def test_what_is_put_in_is_there_once_more(family: str) -> None:
    packings = [how for how in SETS[family] if how in MEMBERS]

    assert wrong(after(how, members.inserted, lambda whole, one: [*whole, one]) for how in packings) == []


@pytest.mark.parametrize("family", BAGS)
def test_what_is_taken_out_is_there_once_less(family: str) -> None:
    packings = [how for how in BAGS[family] if how in MEMBERS]

    def without(whole: list[Value], one: Value) -> list[Value]:
        return list((Counter(whole) - Counter([one])).elements())

    assert wrong(after(how, members.removed, without) for how in packings) == []


@pytest.mark.parametrize("family", [name for name in COLLECTIONS if name not in SETS or name in BAGS])
def test_a_value_is_counted_as_often_as_it_is_there(family: str) -> None:
    def write(fn: Function, whole: values.Live, member: values.Live) -> Iterator[V]:
        yield members.count_of(fn, whole, member, TRUE)

    def asked(how: p.Packing) -> Asked:
        (of,) = p.packings_in(how)
        return Asked("count", [how, of], write, lambda whole, one: [each_of(how, whole).count(one)])

    assert wrong(asked(how) for how in COLLECTIONS[family] if p.packings_in(how) != (p.Never(),)) == []


@pytest.mark.parametrize("how", dict.fromkeys(how for how in MEMBERS if isinstance(how, p.Mask)), ids=str)
def test_a_member_has_a_bit_of_a_mask_and_the_bit_is_its(how: p.Mask) -> None:
    def write(fn: Function, member: values.Live) -> Iterator[V]:
        yield (place := members.place(fn, member))
        yield values.code(fn, members.member_at(fn, how.of, place))

    def meaning(member: Value) -> list[int]:
        code = codes.encode(how.of, member)
        return [codes.place_of(how.of, code), code]

    assert wrong([Asked("place", [how.of], write, meaning)]) == []


def of_two(op: Op, of: t.Type, one: p.Packing, other: p.Packing) -> Asked:
    """What an operation makes of two sets or bags."""
    made: list[p.Packing] = []

    def write(fn: Function, a: values.Live, b: values.Live) -> Iterator[V]:
        live = sets.of_sets(fn, op, a, b)
        made.append(live.packing)
        yield values.code(fn, live)

    def meaning(a: Value, b: Value) -> list[int]:
        return [codes.encode(made[0], operation(op, [of, of])(a, b))]

    return Asked(str(op), [one, other], write, meaning)


@pytest.mark.parametrize("op", [Op.UNION, Op.MINUS, Op.INTERSECT, Op.SUBSET])
@pytest.mark.parametrize("family", [name for name in SETS if name not in BAGS])
def test_an_operation_on_two_sets_makes_what_it_means(family: str, op: Op) -> None:
    every = product(SETS[family], repeat=2)

    assert wrong(of_two(op, t.Set(t.INT), *pair) for pair in every) == []


@pytest.mark.parametrize("op", [Op.UNION, Op.MINUS])
@pytest.mark.parametrize("family", BAGS)
def test_an_operation_on_two_bags_makes_what_it_means(family: str, op: Op) -> None:
    every = product(BAGS[family], repeat=2)

    assert wrong(of_two(op, t.Bag(t.INT, None), *pair) for pair in every) == []
