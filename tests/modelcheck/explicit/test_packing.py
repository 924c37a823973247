"""A value and its code: nothing is lost, equal values have equal codes, in order where promised."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from modelcheck.explicit.codegen.values.codes import code_at, decode, encode, is_monotone, place_of
from modelcheck.explicit.codegen.values.packing import (
    Packing,
    TooWide,
    has_gaps,
    join,
    of_value,
    packing,
    places,
)
from spec.model import types as t
from spec.model.ir import Value
from spec.model.values import rank
from tests.spec.typed_values import SCOPE, types, values

WIDE = 2000  # bits from which on a test would take long


def packed(of: t.Type) -> Packing:
    unions = {of.name: of} if isinstance(of, t.Union) else {}
    try:
        found = packing(of, SCOPE, unions)
    except TooWide:
        found = None
    assume(found is not None and found.width <= WIDE)
    assert found is not None
    return found


@st.composite
def typed(draw: st.DrawFn, count: int) -> tuple[t.Type, list[Value]]:
    of = draw(types())
    return of, [draw(values(of)) for _ in range(count)]


@given(typed(1))
def test_a_code_gives_its_value_back_and_fits_its_width(case: tuple[t.Type, list[Value]]) -> None:
    of, (value,) = case
    how = packed(of)
    try:
        code = encode(how, value)
    except OverflowError:  # more elements than a limit allows
        reject()

    assert decode(how, code) == value
    assert 0 <= code < max(how.codes, 1)
    assert code.bit_length() <= how.width


@given(typed(2))
def test_codes_are_equal_exactly_for_equal_values_and_in_order_where_promised(
    case: tuple[t.Type, list[Value]],
) -> None:
    of, (a, b) = case
    how = packed(of)
    try:
        x, y = encode(how, a), encode(how, b)
    except OverflowError:
        reject()

    assert (x == y) == (a == b)
    if is_monotone(how):
        assert (x < y) == (rank(a) < rank(b))


@given(typed(2))
def test_a_joined_packing_has_room_for_both(case: tuple[t.Type, list[Value]]) -> None:
    of, (a, b) = case
    unions = {of.name: of} if isinstance(of, t.Union) else {}
    try:
        both = join(of_value(of, a, SCOPE, unions), of_value(of, b, SCOPE, unions))
        assume(both.width <= WIDE)
        first, second = encode(both, a), encode(both, b)
    except (TooWide, OverflowError):  # OverflowError: more elements than a limit allows
        reject()

    assert decode(both, first) == a
    assert decode(both, second) == b


def test_a_set_without_a_limit_of_too_many_members_is_refused() -> None:
    with pytest.raises(TooWide, match="unless it has a limit"):
        packing(t.Set(t.Tuple((t.Nat("Long"), t.Nat("Long")))), SCOPE, {})


def test_a_set_of_a_union_is_as_wide_as_the_sets_of_its_cases_together() -> None:
    small = t.Case("Mail", "Low", (t.Field("rank", t.Range(0, 4)), t.Field("from", t.Range(0, 2))))
    large = t.Case("Mail", "High", (t.Field("rank", t.Range(0, 4)), t.Field("to", t.Option(t.Range(0, 8)))))
    mail = t.Union("Mail", (small, large, small))

    assert packing(t.Set(mail), SCOPE, {}).width == 5 * 3 + 5 * 10 + 5 * 3


def test_a_mask_has_a_place_for_every_member_and_no_two_have_the_same() -> None:
    numbers, flags = [None, 1, 2, 3, 4], product(range(5), repeat=2)
    values = list(product(numbers, flags, range(3)))
    how = packing(
        t.Tuple((t.Option(t.Range(1, 4)), t.Map(t.Bool(), t.Range(0, 4)), t.Range(0, 2))), SCOPE, {}
    )
    taken = [place_of(how, encode(how, value)) for value in values]

    assert has_gaps(how)
    assert taken == list(range(places(how)))
    assert [decode(how, code_at(how, place)) for place in taken] == values
