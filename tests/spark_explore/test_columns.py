"""Codes of random values of random types become the Arrow arrays that their definition says."""

from __future__ import annotations

from random import Random
from typing import Any, assert_never

import numpy as np
import pyarrow as pa
import pytest

from modelcheck.explicit.codegen.values.codes import decode, encode
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
    TooWide,
    Truth,
    packing,
)
from spark_explore.columns import PackedCodes, column
from spec.model.ir import Scope, Value
from tests.model_types import Dice, World, declarations

TYPES = 25  # for each seed
VALUES = 25
WIDEST = 400  # bits


def drawn(of: Packing, dice: Dice) -> Value:
    """A random value of a packing."""
    match of:
        case Never():
            return None
        case Truth():
            return dice.chance(50)
        case Number(lo):
            return lo + dice.below(of.codes)
        case Optional(inner):
            return None if dice.chance(30) else drawn(inner, dice)
        case Product() | Array():
            parts = of.parts if isinstance(of, Product) else [of.of] * of.count
            return tuple(drawn(part, dice) for part in parts)
        case TaggedUnion(cases):
            tag = dice.below(len(cases))
            return (tag, *drawn(cases[tag], dice))
        case Sequence(inner, most):
            return tuple(drawn(inner, dice) for _ in range(dice.number(0, most)))
        case Slots(inner, most, repeated):
            members = [drawn(inner, dice) for _ in range(dice.number(0, most))]
            return (
                frozenset((each, members.count(each)) for each in members) if repeated else frozenset(members)
            )
        case Mask(inner):
            return frozenset(drawn(inner, dice) for _ in range(dice.number(0, 4)))
        case _:
            assert_never(of)


def codes_of(codes: list[int], width: int, random: Random) -> tuple[PackedCodes, int]:
    """Codes in rows of words, from a random bit on, with other bits around them."""
    offset = random.randint(0, 130)
    words = (offset + width) // 64 + 1
    rows = []
    for code in codes:
        around = random.getrandbits(64 * words)
        row = around & ~(((1 << width) - 1) << offset) | code << offset
        rows.append([row >> 64 * n & 2**64 - 1 for n in range(words)])
    return PackedCodes(np.array(rows, np.uint64), offset), offset


@pytest.mark.parametrize("seed", range(5))
def test_random_values_are_unpacked_as_the_definition_says(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - no secret
    world = World(Dice(lambda n: random.randrange(max(n, 1))))
    declarations(world)
    scope = Scope(
        {name: tuple(f"{name}{n}" for n in range(count)) for name, count in world.sorts.items()},
        world.nats,
        {},
        {},
    )
    unions: Any = {union.name: union for union in world.unions}
    checked = 0
    for _ in range(TYPES):
        of = world.any_type(3)
        try:
            packed = packing(of, scope, unions)
        except TooWide:
            continue
        if not 0 < packed.width <= WIDEST:
            continue
        values = [drawn(packed, world.dice) for _ in range(VALUES)]
        codes = [encode(packed, value) for value in values]
        assert [decode(packed, code) for code in codes] == values
        found = column(of, packed, scope, unions)
        array = found.array(codes_of(codes, packed.width, random)[0])
        array.validate(full=True)
        assert array.equals(pa.array([found.convert(value) for value in values], found.arrow)), str(of)
        checked += 1

    assert checked > TYPES / 3
