from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterexamples.diff import Became, Change, Exchanged, How, Spliced, changes, places
from spec.model.ir import Const, Model, Scope, Storage, Variable
from spec.model.types import (
    BOOL,
    Bag,
    Case,
    Enum,
    Field,
    Limit,
    Map,
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
from spec.source import Source, Span

NOWHERE = Span(0, 0)
REPLICA = Sort("Replica")
DIGIT = Range(0, 9)
LEASE = Record("Lease", (Field("owner", REPLICA), Field("until", DIGIT)))
MSG = Union("Msg", (Case("Msg", "Ask", (Field("at", DIGIT),)), Case("Msg", "Bye", ())))
SEQ = Seq(DIGIT, Limit(9))


def a_model(of: Type, *, owner: str | None = None, network: str | None = None) -> Model:
    name = "Replica.x" if owner else "x"
    init = Const(0, type=of, span=NOWHERE)
    x = Variable(name, of, init, Storage.NONE, False, owner, network, span=NOWHERE)  # noqa: FBT003
    return Model("m", Source("m.rsm", ""), (REPLICA,), (), (), (), (), (), (), (x,), (), 0, (), (), ())


SCOPE = Scope({"Replica": ("r1", "r2")}, {}, {}, {})


def differences(of: Type, before: Any, after: Any, **how: Any) -> list[Change]:  # noqa: ANN401 - a value
    return list(changes(a_model(of, **how), SCOPE, (before,), (after,)))


def only(of: Type, before: Any, after: Any, **how: Any) -> tuple[str, How]:  # noqa: ANN401 - a value
    (change,) = differences(of, before, after, **how)
    return change.path, change.how


def test_nothing_changed_is_no_change() -> None:
    assert differences(SEQ, (1, 2), (1, 2)) == []


@pytest.mark.parametrize(
    ("before", "after", "how"),
    [
        ((), (1,), Spliced(0, None, (1,))),
        ((1,), (1, 2, 3), Spliced(0, None, (2, 3))),
        ((1, 2, 3), (1,), Spliced(0, 1, ())),
        ((1, 2), (), Spliced(0, 0, ())),
        ((1, 2, 3), (1, 4), Spliced(0, 1, (4,))),
        ((1, 2), (1, 3), Spliced(0, 1, (3,))),
        ((1, 2, 3), (2, 3), Spliced(1, None, ())),
        ((1, 2, 3), (3, 4), Spliced(2, None, (4,))),
        ((1, 2), (3, 4), Became()),
        ((1, 1), (1,), Spliced(0, 1, ())),
    ],
)
def test_a_sequence_grows_and_is_cut(before: tuple[int, ...], after: tuple[int, ...], how: How) -> None:
    assert only(SEQ, before, after) == ("x", how)


@pytest.mark.parametrize(
    ("before", "after", "how"),
    [
        ((1, 1), (1,), Spliced(1, None, ())),
        ((1,), (), Spliced(1, None, ())),
        ((1, 2), (2, 3), Spliced(1, None, (3,))),
    ],
)
def test_a_queue_is_taken_from_the_front(before: tuple[int, ...], after: tuple[int, ...], how: How) -> None:
    assert only(SEQ, before, after, network="fifo") == ("x", how)


def test_an_entry_written_over_is_not_a_cut() -> None:
    assert only(SEQ, (1, 2, 3), (1, 9, 3)) == ("x[1]", Became())


def test_sets_and_bags_get_and_lose_members() -> None:
    assert only(Set(DIGIT), frozenset({1, 2}), frozenset({2, 3})) == ("x", Exchanged((3,), (1,)))
    before, after = frozenset({(1, 1), (2, 3)}), frozenset({(1, 2), (2, 1)})
    assert only(Bag(DIGIT, None), before, after) == ("x", Exchanged((1,), (2, 2)))


def test_paths_go_as_deep_as_there_are_names() -> None:
    assert only(Map(REPLICA, DIGIT), (0, 0), (0, 5))[0] == "x[r2]"
    assert only(Map(BOOL, DIGIT), (0, 0), (7, 0))[0] == "x[false]"
    assert only(Map(Range(3, 4), DIGIT), (0, 0), (0, 5))[0] == "x[4]"
    assert only(LEASE, (0, 1), (0, 2))[0] == "x.until"
    assert only(Option(LEASE), (0, 1), (1, 1))[0] == "x.owner"
    assert only(Option(LEASE), None, (1, 1)) == ("x", Became())
    assert only(MSG, (0, 1), (0, 2))[0] == "x.at"
    assert only(MSG, (0, 1), (1,)) == ("x", Became())
    assert only(Map(REPLICA, Map(BOOL, LEASE)), (((0, 0),) * 2,) * 2, (((0, 0),) * 2, ((0, 0), (0, 1))))[
        0
    ] == ("x[r2][true].until")
    assert only(Tuple((BOOL, DIGIT)), (True, 1), (True, 2)) == ("x", Became())
    assert only(Enum("E", ("a", "b")), 0, 1) == ("x", Became())


def test_a_process_field_goes_by_its_member() -> None:
    (change,) = differences(Map(REPLICA, SEQ), ((), ()), ((), (1,)), owner="Replica")

    assert (change.path, change.place.member, change.how) == ("r2.x", "r2", Spliced(0, None, (1,)))


def test_members_stand_together_after_the_rest() -> None:
    def variable(name: str, of: Type, owner: str | None, *, ghost: bool = False) -> Variable:
        init = Const(0, type=of, span=NOWHERE)
        return Variable(name, of, init, Storage.NONE, ghost, owner, None, span=NOWHERE)

    field = Map(REPLICA, DIGIT)
    variables = (
        variable("seen", DIGIT, None, ghost=True),
        variable("Replica.a", field, "Replica"),
        variable("Replica.b.c", field, "Replica"),
        variable("x", DIGIT, None),
    )
    model = Model("m", Source("m", ""), (REPLICA,), (), (), (), (), (), (), variables, (), 0, (), (), ())

    found = [place.path for place in places(model, SCOPE, (0, (0, 0), (0, 0), 0))]

    assert found == ["x", "seen", "r1.a", "r1.b.c", "r2.a", "r2.b.c"]


@given(st.lists(st.integers(0, 2), max_size=6), st.lists(st.integers(0, 2), max_size=6), st.booleans())
def test_a_splice_tells_all_of_a_change(before: list[int], after: list[int], queue: bool) -> None:  # noqa: FBT001
    for change in differences(SEQ, tuple(before), tuple(after), network="fifo" if queue else None):
        match change.how:
            case Spliced(dropped, cut, added):
                assert (*change.before[dropped:][:cut], *added) == change.after
            case how:
                assert how == Became()


@given(st.lists(st.integers(0, 3), max_size=6), st.lists(st.integers(0, 3), max_size=6))
def test_an_exchange_tells_all_of_a_change(before: list[int], after: list[int]) -> None:
    had, has = Counter(before), Counter(after)
    for change in differences(Bag(DIGIT, None), frozenset(had.items()), frozenset(has.items())):
        assert isinstance(change.how, Exchanged)
        assert had - Counter(change.how.removed) + Counter(change.how.added) == has
