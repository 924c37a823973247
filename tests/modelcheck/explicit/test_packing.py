"""A value and its code: nothing is lost, equal values have equal codes, in order where promised."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from modelcheck.explicit.codegen.codes import decode, encode, is_monotone
from modelcheck.explicit.codegen.packing import Packing, TooWide, join, of_value, packing
from spec import types as t
from spec.ir import Value
from spec.values import rank
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
