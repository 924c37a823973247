"""Small types of every form, each with all of its values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations, combinations_with_replacement, product

from spec.model import types as t
from spec.model.ir import Scope, Value
from spec.model.values import members, ordered

SCOPE = Scope(sorts={"Node": ("n1", "n2")}, nats={"Epoch": 2}, networks={}, config={})

BIT, NUMBER = t.Range(0, 1), t.Range(-1, 2)
MODE = t.Enum("Mode", ("low", "mid", "high"))
PAIR = t.Tuple((BIT, t.BOOL))
ENTRY = t.Record("Entry", (t.Field("term", t.Option(BIT)), t.Field("on", t.BOOL)))
VOTE = t.Case("Msg", "Vote", (t.Field("term", NUMBER), t.Field("by", t.Option(t.Range(1, 1)))))
LOG = t.Case("Msg", "Log", (t.Field("entries", t.Seq(BIT, t.Limit(1))),))
MSG = t.Union("Msg", (VOTE, t.Case("Msg", "Ping", ()), LOG))

TYPES: Mapping[str, t.Type] = {
    "bool": t.BOOL,
    "number": NUMBER,
    "number above 0": t.Range(2, 4),
    "nat": t.Nat("Epoch"),
    "enum": MODE,
    "sort": t.Sort("Node"),
    "option": t.Option(t.Range(0, 2)),
    "option of a bool": t.Option(t.BOOL),
    "option of a tuple": t.Option(PAIR),
    "option of a set": t.Option(t.Set(t.BOOL)),
    "tuple": t.Tuple((t.Range(-1, 1), t.BOOL, BIT)),
    "tuple of collections": t.Tuple((t.Set(t.BOOL), t.Seq(BIT, t.Limit(1)))),
    "record": ENTRY,
    "map": t.Map(MODE, BIT),
    "map of sequences": t.Map(t.BOOL, t.Seq(BIT, t.Limit(1))),
    "union": MSG,
    "sequence": t.Seq(BIT, t.Limit(3)),
    "sequence of options": t.Seq(t.Option(t.Range(2, 2)), t.Limit("Epoch")),
    "sequence of records": t.Seq(ENTRY, t.Limit(1)),
    "sequence of sets": t.Seq(t.Set(BIT), t.Limit(1)),
    "set": t.Set(t.Range(0, 2)),
    "set with a limit": t.Set(t.Range(-1, 1), t.Limit(2)),
    "set of tuples": t.Set(t.Tuple((t.BOOL, t.Range(1, 1))), t.Limit(2)),
    "set of sequences": t.Set(t.Seq(t.BOOL, t.Limit(1))),
    "bag": t.Bag(BIT, t.Limit("Epoch")),
    "bag of options": t.Bag(t.Option(t.Range(1, 1)), t.Limit(2)),
}


def every_value(of: t.Type) -> Sequence[Value]:
    """All values of a type, in their order; what may be of any size has a limit."""
    return ordered(_values(of))


def _values(of: t.Type) -> Iterable[Value]:
    match of:
        case t.Option(inner):
            return [None, *_values(inner)]
        case t.Record() | t.Tuple() | t.Case():
            return product(*map(_values, t.parts(of)))
        case t.Union(_, cases):
            return [(tag, *parts) for tag, case in enumerate(cases) for parts in _values(case)]
        case t.Map(key, inner):
            return product(_values(inner), repeat=len(members(key, SCOPE)))
        case t.Seq(inner, limit):
            return chain.from_iterable(product(_values(inner), repeat=n) for n in _sizes(limit))
        case t.Set(inner, limit):
            every = list(_values(inner))
            sizes = range(len(every) + 1) if limit is None else _sizes(limit)
            return map(frozenset, chain.from_iterable(combinations(every, n) for n in sizes))
        case t.Bag(inner, limit):
            every = list(_values(inner))
            chosen = chain.from_iterable(combinations_with_replacement(every, n) for n in _sizes(limit))
            return (frozenset(Counter(each).items()) for each in chosen)
        case _:
            return members(of, SCOPE)


def _sizes(limit: t.Limit | None) -> range:
    assert limit is not None
    return range(1 + SCOPE.most(limit))
