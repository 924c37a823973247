from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.meaning.fits import fits
from spec.model.ir import Value
from spec.model.types import (
    BOOL,
    INT,
    Bag,
    Case,
    Enum,
    Field,
    Limit,
    Map,
    Nat,
    Option,
    Range,
    Record,
    Seq,
    Set,
    Sort,
    Tuple,
    Type,
    Union,
)
from spec.model.values import Cut, Misfit, decode, encode, ends, in_order, members, ordered, rank, show
from tests.spec.typed_values import SCOPE, types, values

ROOT = Path(__file__).parent.parent.parent
ENTRY = Record("Entry", (Field("epoch", Nat("Epoch")), Field("by", Sort("Replica"))))
VOTE = Case("Msg", "Vote", (Field("term", Nat("Epoch")),))
MSG = Union("Msg", (Case("Msg", "Ping", ()), VOTE))
REPLICA = Sort("Replica")


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Type, Value, Value]:
    of = draw(types())
    return of, draw(values(of)), draw(values(of))


@given(pairs())
def test_bytes_are_injective_and_sort_as_the_values_do(pair: tuple[Type, Value, Value]) -> None:
    of, a, b = pair
    to_bytes = encode(of, SCOPE)

    assert (to_bytes(a) == to_bytes(b)) == (a == b)
    assert (to_bytes(a) < to_bytes(b)) == (rank(a) < rank(b))


@given(pairs())
def test_no_bytes_begin_others(pair: tuple[Type, Value, Value]) -> None:
    of, a, b = pair
    to_bytes = encode(of, SCOPE)

    assert a == b or not to_bytes(a).startswith(to_bytes(b))


@given(pairs())
def test_decode_is_the_inverse_of_encode(pair: tuple[Type, Value, Value]) -> None:
    of, value, _ = pair

    assert decode(of, SCOPE)(encode(of, SCOPE)(value)) == value


def test_what_is_left_over_is_no_value() -> None:
    with pytest.raises(ValueError, match="too many"):
        decode(BOOL, SCOPE)(b"\0\0")


@given(pairs())
def test_a_set_is_walked_in_the_order_of_its_members_bytes(pair: tuple[Type, Value, Value]) -> None:
    of, a, b = pair
    to_bytes = encode(of, SCOPE)

    assert list(in_order(Set(of))(frozenset({a, b}))) == sorted({a, b}, key=to_bytes)


@given(pairs())
def test_a_bag_is_walked_by_its_distinct_members(pair: tuple[Type, Value, Value]) -> None:
    of, a, b = pair

    assert list(in_order(Bag(of, None))(frozenset({a: 2, b: 1}.items()))) == list(ordered({a, b}))


def test_order_is_numerical_none_first_a_prefix_first() -> None:
    assert ordered([2, -1, 10]) == (-1, 2, 10)
    assert ordered([1, None, 0]) == (None, 0, 1)
    assert ordered([(2,), (1, 5), (1,), ()]) == ((), (1,), (1, 5), (2,))
    assert ordered([frozenset({2}), frozenset({1, 3}), frozenset()]) == (
        frozenset(),
        frozenset({1, 3}),
        frozenset({2}),
    )


PROGRAM = """
import hashlib
from spec.load import loads
from spec.meaning.semantics import Machine
model = loads(open("tests/spec/seeds.rsm").read())[0]
machine = Machine(model, model.checks[0].scope)
digest, seen = hashlib.sha256(), list(machine.initial())
for state in seen:
    for found in machine.steps(state):
        digest.update(machine.name(found.step).encode() + machine.encode(found.state))
        if found.state not in seen and len(seen) < 200:
            seen.append(found.state)
print(len(seen), digest.hexdigest())
"""


def test_nothing_depends_on_the_seed_of_hashes() -> None:
    runs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    ]

    assert runs[0].split()[0] == "200"
    assert len(set(runs)) == 1


# ---------------------------------------------------------------------- fitting


@pytest.mark.parametrize(
    ("of", "value"),
    [
        (Range(0, 3), 3),
        (Nat("Epoch"), 3),
        (Option(Range(0, 3)), None),
        (Seq(Nat("Epoch"), Limit("Epoch")), (1, 2, 3)),
        (Bag(REPLICA, Limit(3)), frozenset({(0, 2), (1, 1)})),
        (MSG, (1, 3)),
    ],
)
def test_what_fits_is_accepted(of: Type, value: Value) -> None:
    check = fits(of, SCOPE)

    assert check is not None
    check(value)


@pytest.mark.parametrize(
    ("of", "value"),
    [
        (Range(0, 3), 4),
        (Range(-1, 3), -2),
        (Nat("Epoch"), -1),
        (Option(Range(0, 3)), 4),
        (Seq(BOOL, Limit(1)), (True, True)),
        (Set(REPLICA, Limit(1)), frozenset({0, 1})),
        (Bag(REPLICA, Limit(2)), frozenset({(0, 3)})),
        (Map(REPLICA, Range(0, 1)), (0, 2, 0)),
        (Tuple((BOOL, Range(0, 1))), (True, 2)),
        (Set(Range(0, 1)), frozenset({0, 7})),
    ],
)
def test_what_is_outside_a_range_is_an_error(of: Type, value: Value) -> None:
    check = fits(of, SCOPE)

    assert check is not None
    with pytest.raises(Misfit):
        check(value)


@pytest.mark.parametrize(
    ("of", "value"),
    [
        (Nat("Epoch"), 4),
        (ENTRY, (4, 0)),
        (MSG, (1, 4)),
        (Seq(REPLICA, Limit("Epoch")), (0, 0, 0, 0)),
        (Bag(REPLICA, Limit("Epoch")), frozenset({(0, 4)})),
        (Map(REPLICA, Option(Nat("Epoch"))), (None, 4, None)),
    ],
)
def test_what_is_beyond_the_scope_is_cut(of: Type, value: Value) -> None:
    check = fits(of, SCOPE)

    assert check is not None
    with pytest.raises(Cut) as cut:
        check(value)
    assert cut.value.limit == "Epoch"


# ------------------------------------------------------------------ for a person


@pytest.mark.parametrize(
    ("of", "value", "text"),
    [
        (BOOL, True, "true"),
        (INT, -3, "-3"),
        (Enum("Colour", ("red", "green")), 1, "green"),
        (REPLICA, 2, "r3"),
        (Option(REPLICA), None, "none"),
        (Option(REPLICA), 0, "r1"),
        (Seq(ENTRY, Limit(2)), ((1, 0),), "[Entry(epoch = 1, by = r1)]"),
        (Set(REPLICA), frozenset({2, 0}), "{r1, r3}"),
        (Bag(REPLICA, None), frozenset({(2, 1), (0, 2)}), "{r1, r1, r3}"),
        (MSG, (0,), "Ping"),
        (MSG, (1, 3), "Vote(term = 3)"),
        (VOTE, (1, 3), "Vote(term = 3)"),
        (Tuple((BOOL, INT)), (False, 7), "(false, 7)"),
        (Map(REPLICA, Nat("Epoch")), (0, 1, 0), "[r1 -> 0, r2 -> 1, r3 -> 0]"),
    ],
)
def test_values_are_shown_in_the_languages_own_words(of: Type, value: Value, text: str) -> None:
    assert show(of, value, SCOPE) == text


def test_a_number_may_go_further_than_can_be_listed() -> None:
    far = 2**63  # as a trace from elsewhere may have it
    scope = replace(SCOPE, nats={**SCOPE.nats, "Far": far})

    assert ends(Nat("Far"), scope) == (0, far)
    assert decode(Nat("Far"), scope)(encode(Nat("Far"), scope)(far)) == far
    with pytest.raises(MemoryError):
        members(Nat("Far"), scope)
