"""Random types, and random values of a type, for the tests of everything that handles values."""

from __future__ import annotations

from hypothesis import strategies as st

from spec.model.ir import Scope, Value
from spec.model.types import (
    BOOL,
    INT,
    Bag,
    Case,
    Enum,
    Field,
    Int,
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
from spec.model.values import members

SCOPE = Scope(
    sorts={"Replica": ("r1", "r2", "r3"), "Many": tuple(f"m{i}" for i in range(300))},
    nats={"Epoch": 3, "Long": 70_000},
    networks={},
    config={},
)

SMALL: list[Type] = [
    BOOL,
    Range(-2, 1),
    Range(5, 5),
    Nat("Epoch"),
    Enum("Colour", ("red", "green")),
    Sort("Replica"),
]
SCALARS: list[Type] = [*SMALL, Range(-200, 200), Nat("Long"), Sort("Many")]


def types() -> st.SearchStrategy[Type]:
    """Types of every shape, nested a little."""
    return st.recursive(st.sampled_from([*SCALARS, INT]), _larger, max_leaves=5)


def _larger(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    fields = st.lists(inner, max_size=3).map(lambda of: tuple(Field(f"f{i}", t) for i, t in enumerate(of)))
    cases = st.lists(fields, min_size=1, max_size=3).map(
        lambda of: Union("U", tuple(Case("U", f"C{i}", parts) for i, parts in enumerate(of)))
    )
    return st.one_of(
        inner.filter(lambda of: not isinstance(of, Option)).map(Option),  # `T??` is no type
        fields.map(lambda parts: Record("R", parts)),
        cases,
        st.lists(inner, min_size=2, max_size=3).map(lambda of: Tuple(tuple(of))),
        inner.map(Set),
        inner.map(lambda of: Seq(of, Limit(3))),
        inner.map(lambda of: Bag(of, Limit(3))),
        st.builds(Map, st.sampled_from(SMALL), inner),
    )


def values(of: Type) -> st.SearchStrategy[Value]:
    """Values of a type, small ones mostly."""
    match of:
        case Int():
            return st.integers()
        case Option(inner):
            return st.none() | values(inner)
        case Record(_, fields):
            return st.tuples(*(values(field.type) for field in fields))
        case Tuple(items):
            return st.tuples(*map(values, items))
        case Union(_, cases):
            return st.one_of(
                *(
                    st.tuples(st.just(i), *(values(f.type) for f in case.fields))
                    for i, case in enumerate(cases)
                )
            )
        case Seq(inner):
            return st.lists(values(inner), max_size=3).map(tuple)
        case Set(inner):
            return st.frozensets(values(inner), max_size=3)
        case Bag(inner):
            return st.dictionaries(values(inner), st.integers(1, 300), max_size=3).map(
                lambda bag: frozenset(bag.items())
            )
        case Map(key, inner):
            return st.tuples(*[values(inner)] * len(members(key, SCOPE)))
        case _:
            return st.sampled_from(members(of, SCOPE))
