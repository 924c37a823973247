"""How many values a type has within a scope."""

from __future__ import annotations

import math
from typing import assert_never

import spec.model.ir as ir
import spec.model.types as t

_EXACT = 1_000_000_000  # beyond, only the order of magnitude is of use
_LARGEST_POWER = 100_000  # bits


def size(of: t.Type, scope: ir.Scope) -> int | None:
    """The number of values of a type in a scope; None for infinite or far too many.

    Raises KeyError where the scope leaves a bound open.
    """
    try:
        return _size(of, scope)
    except OverflowError:
        return None


def size_words(of: t.Type, scope: ir.Scope) -> str:
    """The number of values in words: `12`, `about 10^24`, `infinite`."""
    found = size(of, scope)
    if found is None:
        return "infinite" if isinstance(of, t.Int) else "beyond counting"
    if found <= _EXACT:
        return f"{found:,}"
    return f"about 10^{math.floor(math.log10(found))}"


def weight(model: ir.Model, check: ir.Check) -> float:
    """The size of a check's scope: the decimal digits of the number of representable states.

    Infinite too where the check leaves a bound open, which is a mistake.
    """
    try:
        sizes = [size(each.type, check.scope) for each in model.variables]
    except KeyError:
        return math.inf
    return sum(math.inf if each is None else math.log10(max(each, 1)) for each in sizes)


def smallest(models: tuple[ir.Model, ...], name: str) -> ir.Check | None:
    """The check of a model with the smallest scope; of any model if it has none."""
    pairs = [(weight(model, check), model, check) for model in models for check in model.checks]
    own = [pair for pair in pairs if pair[1].name == name]
    return min(own or pairs, key=lambda pair: pair[0], default=(0, None, None))[2]


def _size(of: t.Type, scope: ir.Scope) -> int:  # noqa: C901 - by type
    """The number of values of a type. Raises OverflowError for too many."""
    match of:
        case t.Bool():
            return 2
        case t.Range(lo, hi):
            return hi - lo + 1
        case t.Nat(name):
            return scope.nats[name] + 1
        case t.Enum(_, members):
            return len(members)
        case t.Sort(name):
            return len(scope.sorts[name])
        case t.Option(inner):
            return _size(inner, scope) + 1
        case t.Record(_, fields) | t.Case(_, _, fields):
            return math.prod(_size(each.type, scope) for each in fields)
        case t.Union(_, cases):
            return sum(_size(each, scope) for each in cases)
        case t.Tuple(items):
            return math.prod(_size(each, scope) for each in items)
        case t.Set(inner, limit):
            return _subsets(_size(inner, scope), _limit(limit, scope))
        case t.Bag(inner, limit):
            most = _limit(limit, scope) or 0
            return _chosen(_size(inner, scope) + most, most)
        case t.Seq(inner, limit):
            each, longest = _size(inner, scope), _limit(limit, scope) or 0
            return longest + 1 if each == 1 else (_power(each, longest + 1) - 1) // (each - 1)
        case t.Map(key, value):
            return _power(_size(value, scope), _size(key, scope))
        case t.Int() | t.UnknownType():
            raise OverflowError
        case _:
            assert_never(of)


def _subsets(members: int, most: int | None) -> int:
    """The number of subsets of at most `most` members."""
    if most is None or most >= members:
        return _power(2, members)
    return sum(_chosen(members, count) for count in range(most + 1))


def _chosen(members: int, some: int) -> int:
    """The binomial coefficient."""
    fewer = min(some, members - some)
    if members > 1 and fewer * math.log2(members) > _LARGEST_POWER:
        raise OverflowError
    return math.comb(members, fewer)


def _limit(limit: t.Limit | None, scope: ir.Scope) -> int | None:
    """The number of elements that a limit allows; None without one."""
    if limit is None:
        return None
    if isinstance(limit.of, int):
        return limit.of
    return scope.nats[limit.of] if limit.of in scope.nats else scope.networks[limit.of]


def _power(of: int, times: int) -> int:
    """The power, unless it is too large."""
    if of > 1 and times * math.log2(of) > _LARGEST_POWER:
        raise OverflowError
    return int(of**times)
