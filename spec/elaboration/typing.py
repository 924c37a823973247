"""Which types go together: what fits where, and what two types have in common.

Nats keep their names through arithmetic, so that an epoch is never compared
with an offset by mistake; a plain number goes with any of them.
"""

from __future__ import annotations

from dataclasses import replace

import spec.model.types as t


def fits(actual: t.Type, wanted: t.Type) -> bool:
    """Whether a value of type `actual` is allowed where `wanted` is expected.

    Says nothing of bounds: those are checked as the value is stored.
    """
    match actual, wanted:
        case (t.UnknownType(), _) | (_, t.UnknownType()):
            return True
        case t.Nat(a), t.Nat(b):
            return a == b
        case (t.Int() | t.Range() | t.Nat(), t.Int() | t.Range() | t.Nat()):
            return True
        case t.Case(union, _), t.Union(name):
            return union == name
        case t.Option(a), t.Option(b):
            return fits(a, b)
        case _, t.Option(b):
            return fits(actual, b)
        case (t.Set(a), t.Set(b)) | (t.Seq(a), t.Seq(b)) | (t.Bag(a), t.Bag(b)):
            return fits(a, b)
        case t.Map(k, a), t.Map(j, b):
            return k == j and fits(a, b)
        case t.Tuple(xs), t.Tuple(ys):
            return len(xs) == len(ys) and all(map(fits, xs, ys))
        case _:
            return actual == wanted


def join(a: t.Type, b: t.Type) -> t.Type | None:
    """The narrowest type that both fit; None if there is none."""
    match a, b:
        case t.UnknownType(), _:
            return b
        case _, t.UnknownType():
            return a
        case (t.Nat(), t.Int() | t.Range()) | (t.Range(), t.Range() | t.Int()) | (t.Int(), t.Int()):
            return t.INT if not isinstance(a, t.Nat) and a != b else a
        case t.Int() | t.Range(), t.Nat() | t.Range() | t.Int():
            return t.INT if not isinstance(b, t.Nat) and a != b else b
        case t.Option(x), t.Option(y):
            inner = join(x, y)
            return None if inner is None else t.Option(inner)
        case (t.Seq(x, n), t.Seq(y, m)) | (t.Set(x, n), t.Set(y, m)) | (t.Bag(x, n), t.Bag(y, m)):
            assert isinstance(a, t.Seq | t.Set | t.Bag)
            inner = join(x, y)
            return None if inner is None else replace(a, of=inner, limit=n if n is not None else m)
        case t.Map(k, x), t.Map(j, y) if k == j:
            inner = join(x, y)
            return None if inner is None else t.Map(k, inner)
        case t.Tuple(xs), t.Tuple(ys) if len(xs) == len(ys):
            parts = [part for pair in zip(xs, ys, strict=True) if (part := join(*pair)) is not None]
            return t.Tuple(tuple(parts)) if len(parts) == len(xs) else None
        case t.Case(u, _), t.Case(v, _) if u == v and a != b:
            return (
                None  # two cases of one union: the union's type is not at hand here; see `Elaborator.unify`
            )
        case _:
            if fits(a, b):
                return b
            return a if fits(b, a) else None


def length(of: t.Type) -> t.Type:
    """The type of a collection's size; a nat that bounds it keeps its name."""
    match of:
        case t.Seq(_, t.Limit(str(name))):
            return t.Nat(name)
        case _:
            return t.INT


def arithmetic(a: t.Type, b: t.Type) -> t.Type | None:
    """The type of `a + b` and the like; None if two different nats are mixed."""
    match a, b:
        case t.Nat(x), t.Nat(y):
            return a if x == y else None
        case t.Nat(), _:
            return a
        case _, t.Nat():
            return b
        case _:
            return t.INT
