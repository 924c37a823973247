"""The strict operations of the language, each as a function from the values of its arguments to its value.

NOTE(enormous): some operations make much of little: all numbers between two, all subsets,
products, sequences twice as long.  What is sure to be too much for a memory is not begun:
nothing could interrupt it.  That is a MemoryError, so there is no verdict and no error of the model.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations

from spec.meaning.fits import bag_size
from spec.model.ir import Value
from spec.model.op import Op
from spec.model.types import Bag, Map, Option, Seq, Set, Type
from spec.model.values import number_words, position

Operation = Callable[..., Value]
MOST_MEMBERS = 1 << 23  # of what one operation makes
MOST_BITS = 1 << 20  # of a product


class NoValue(Exception):  # noqa: N818 - becomes a ModelError where the place in the text is known
    """Raised by an operator without a value for its arguments; `code` is one of R06."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(message)


_ALIKE: dict[Op, Operation] = {  # those that do the same for every type they take
    Op.NOT: operator.not_,
    Op.ADD: operator.add,
    Op.SUB: operator.sub,
    Op.NEG: operator.neg,
    Op.EQ: operator.eq,
    Op.NE: operator.ne,
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.MIN2: min,
    Op.MAX2: max,
    Op.SUBSET: operator.le,
    Op.INTERSECT: operator.and_,
    Op.TAKE: lambda entries, n: entries[: max(n, 0)],
    Op.DROP: lambda entries, n: entries[max(n, 0) :],
    Op.AT: lambda entries, i: entries[i] if 0 <= i < len(entries) else None,
    Op.STARTS: lambda entries, start: entries[: len(start)] == start,
    Op.COUNT: lambda value, bag: dict(bag).get(value, 0),
}


def operation(op: Op, args: Sequence[Type]) -> Operation:
    """The function of an operator for arguments of these types; it raises `NoValue` if undefined."""
    return _ALIKE[op] if op in _ALIKE else _special(op, args)


def _special(op: Op, args: Sequence[Type]) -> Operation:  # noqa: C901 - a dispatch, one line each
    """The function of an operator that depends on the types."""
    match op:
        case Op.MUL:
            return _multiply
        case Op.CONCAT:
            return _concatenate
        case Op.RANGE:
            return _range
        case Op.DIV:
            return _divide(operator.floordiv)
        case Op.MOD:
            return _divide(operator.mod)
        case Op.IN:
            return _is_in(args[1])
        case Op.UNION:
            return _add_bags if isinstance(args[0], Bag) else operator.or_
        case Op.MINUS:
            return _subtract_bags if isinstance(args[0], Bag) else operator.sub
        case Op.SIZE:
            return _size(args[0])
        case Op.ELEMENTS:
            return _elements(args[0])
        case Op.INDEX:
            return _index
        case Op.LAST:
            return _last
        case Op.COMMON:
            return common_prefix
        case Op.LOOKUP:
            return _lookup(args[0])
        case Op.THE:
            return _the_value if isinstance(args[0], Option) else _the_member
        case Op.LEAST:
            return _extreme(min)
        case Op.GREATEST:
            return _extreme(max)
        case Op.SUBSETS:
            return _subsets
        case _:
            raise TypeError(f"{op} has no meaning")


def _affordable(size: int, most: int) -> None:
    """Raise MemoryError for a result that would be enormous: NOTE(enormous)."""
    if size > most:
        raise MemoryError


def _multiply(a: int, b: int) -> int:
    """The product, unless it would be enormous."""
    _affordable(a.bit_length() + b.bit_length(), MOST_BITS)
    return a * b


def _concatenate(a: Value, b: Value) -> Value:
    """The concatenation of two sequences, unless it would be enormous."""
    _affordable(len(a) + len(b), MOST_MEMBERS)
    return a + b


def _range(lo: int, hi: int) -> Value:
    """The set of numbers from `lo` to `hi`."""
    _affordable(hi - lo, MOST_MEMBERS)
    return frozenset(range(lo, hi + 1))


def _divide(by: Operation) -> Operation:
    """The division operator by `by`, undefined for a divisor of 0."""

    def divide(a: int, b: int) -> Value:
        if b == 0:
            raise NoValue("R0603", f"{number_words(a)} is divided by zero")
        return by(a, b)

    return divide


def _is_in(of: Type) -> Operation:
    """The function that tests membership in a collection of the type."""
    match of:
        case Option():
            return lambda value, option: option is not None and option == value
        case Bag():
            return lambda value, bag: any(value == member for member, _ in bag)
        case _:
            return lambda value, collection: value in collection


def _size(of: Type) -> Operation:
    """The function to the size of a collection of the type."""
    match of:
        case Option():
            return lambda option: 0 if option is None else 1
        case Bag():
            return bag_size
        case _:
            return len


def _elements(of: Type) -> Operation:
    """The function to the set of a collection's elements."""
    match of:
        case Option():
            return lambda option: frozenset() if option is None else frozenset((option,))
        case Bag():
            return lambda bag: frozenset(member for member, _ in bag)
        case Seq() | Set():
            return frozenset
        case _:
            raise TypeError(f"{of} has no elements")


def _add_bags(a: Value, b: Value) -> Value:
    """The sum of two bags."""
    return frozenset((Counter(dict(a)) + Counter(dict(b))).items())


def _subtract_bags(a: Value, b: Value) -> Value:
    """The difference of two bags."""
    return frozenset((Counter(dict(a)) - Counter(dict(b))).items())


def _index(entries: Value, i: int) -> Value:
    """The entry at an index; undefined outside."""
    if 0 <= i < len(entries):
        return entries[i]
    raise NoValue("R0602", f"index {number_words(i)} is outside a sequence of {len(entries)}")


def _last(entries: Value) -> Value:
    """The last entry; undefined for an empty sequence."""
    if not entries:
        raise NoValue("R0604", "an empty sequence has no last entry")
    return entries[-1]


def common_prefix(a: Value, b: Value) -> int:
    """How many entries two sequences have in common at their start."""
    limit = min(len(a), len(b))
    return next((i for i in range(limit) if a[i] != b[i]), limit)


def _lookup(of: Type) -> Operation:
    """The function that looks up a key in a map of the type."""
    if not isinstance(of, Map):
        raise TypeError(f"{of} is no map")
    place = position(of.key)

    def lookup(entries: Value, key: Value) -> Value:
        return entries[place_in(entries, place(key), key)]

    return lookup


def place_in(entries: Value, at: int, key: Value) -> int:
    """The place `at` itself, if a map has an entry there; otherwise NoValue is raised."""
    if 0 <= at < len(entries):
        return at
    raise NoValue("R0602", f"{number_words(key)} is outside the keys of the map")


def _the_value(option: Value) -> Value:
    """The value in an option; undefined for none."""
    if option is None:
        raise NoValue("R0605", "`the` of none")
    return option


def _the_member(values: Value) -> Value:
    """The only member of a set; undefined if it has not exactly one."""
    if len(values) != 1:
        raise NoValue("R0605", f"`the` of a set of {len(values)}")
    return next(iter(values))


def _extreme(of: Callable[[Value], Value]) -> Operation:
    """The least or greatest member by `of`; undefined for an empty set."""

    def extreme(values: Value) -> Value:
        if not values:
            raise NoValue("R0604", f"an empty set has no {of.__name__}imum")
        return of(values)

    return extreme


def _subsets(values: Value) -> Value:
    """The set of all subsets, unless it would be enormous."""
    _affordable(len(values), MOST_MEMBERS.bit_length())
    return frozenset(frozenset(chosen) for n in range(len(values) + 1) for chosen in combinations(values, n))
