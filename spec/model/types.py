"""The types of the language: a closed union of frozen values.

A type says nothing of a scope: how many members a sort has and how far a nat
goes is given per check.  `Int` is the type of arithmetic and is the one type
that no state can hold.
"""

from __future__ import annotations

from collections.abc import Iterator

from spec.frozen import frozen

LARGEST_LISTED = 1_000_000  # as the scope of a nat


@frozen
class Bool:
    """The type `bool`."""

    def __str__(self) -> str:
        return "bool"


@frozen
class Int:
    """The type `int`: a whole number of any size, the result of arithmetic; never stored."""

    def __str__(self) -> str:
        return "int"


@frozen
class Range:
    """The type `lo..hi`: whole numbers from `lo` to `hi`, both included; outside is an error of the model."""

    lo: int
    hi: int

    def __str__(self) -> str:
        return f"{self.lo}..{self.hi}"


@frozen
class Nat:
    """The type of a declared `nat`: 0, 1, 2, … up to the scope's bound, beyond which a step is cut."""

    name: str

    def __str__(self) -> str:
        return self.name


@frozen
class Enum:
    """The type of a fixed list of names, in order."""

    name: str
    members: tuple[str, ...]

    def __str__(self) -> str:
        return self.name


@frozen
class Sort:
    """The type of a declared sort such as `Replica`, whose members are interchangeable.

    The check gives their number; the language only compares them for equality.
    """

    name: str

    def __str__(self) -> str:
        return self.name


@frozen
class Option:
    """The type `T?`: a value of `of`, or `none`."""

    of: Type

    def __str__(self) -> str:
        return "none" if isinstance(self.of, UnknownType) else f"{self.of}?"


@frozen
class Field:
    """A named part of a record or of a case of a union."""

    name: str
    type: Type


@frozen
class Record:
    """The type of named fields, all present."""

    name: str
    fields: tuple[Field, ...]

    def __str__(self) -> str:
        return self.name


@frozen
class Case:
    """An alternative of a union with its fields; also the type of a value known to be one."""

    union: str
    name: str
    fields: tuple[Field, ...]

    def __str__(self) -> str:
        return self.name


@frozen
class Union:
    """The type of a tagged union: a value is exactly one of the cases."""

    name: str
    cases: tuple[Case, ...]

    def __str__(self) -> str:
        return self.name


@frozen
class Tuple:
    """The type `(A, B)`: ordered lexicographically when its parts are ordered."""

    items: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))})"


@frozen
class Limit:
    """The greatest number of elements of a collection: a number, or a name that the scope bounds.

    By number (more is an error of the model) or by the name of a nat or of a
    network whose scope the check gives (a step that needs more is cut).
    """

    of: int | str

    def __str__(self) -> str:
        return str(self.of)


@frozen
class Set:
    """The type `set[T]` or `set[T; limit]`."""

    of: Type
    limit: Limit | None = None

    def __str__(self) -> str:
        return f"set[{self.of}]" if self.limit is None else f"set[{self.of}; {self.limit}]"


@frozen
class Bag:
    """The type `bag[T; limit]`: a set that counts; `limit` bounds the sum of the counts."""

    of: Type
    limit: Limit | None

    def __str__(self) -> str:
        return f"bag[{self.of}]" if self.limit is None else f"bag[{self.of}; {self.limit}]"


@frozen
class Seq:
    """The type `seq[T; limit]`: a sequence indexed from 0.

    `limit` is None only for the type of an expression whose length nothing
    declared (`[1, 2]` where nothing says more); such a type is never stored.
    """

    of: Type
    limit: Limit | None

    def __str__(self) -> str:
        return f"seq[{self.of}]" if self.limit is None else f"seq[{self.of}; {self.limit}]"


@frozen
class Map:
    """The type `map[K, V]`: total over the finite type `key`; a partial map has an option for `value`."""

    key: Type
    value: Type

    def __str__(self) -> str:
        return f"map[{self.key}, {self.value}]"


@frozen
class UnknownType:
    """The type of an expression with a reported mistake, which fits every other."""

    def __str__(self) -> str:
        return "?"


Type = (
    Bool
    | Int
    | Range
    | Nat
    | Enum
    | Sort
    | Option
    | Record
    | Case
    | Union
    | Tuple
    | Set
    | Bag
    | Seq
    | Map
    | UnknownType
)

BOOL = Bool()
INT = Int()
UNKNOWN = UnknownType()


def is_number(of: Type) -> bool:
    """Whether values of the type are whole numbers."""
    return isinstance(of, Int | Range | Nat)


def is_scalar(of: Type) -> bool:
    """Whether values of the type can be enumerated and index a map."""
    if isinstance(of, Range):
        return can_be_listed(of.lo, of.hi)
    return isinstance(of, Bool | Nat | Enum | Sort)


def can_be_listed(lo: int, hi: int) -> bool:
    """Whether a range is small enough to enumerate."""
    return hi - lo <= LARGEST_LISTED


def is_ordered(of: Type) -> bool:
    """Whether `<` is defined on the type: numbers, enums, Booleans, and tuples of such.

    What has been reported as wrong is not reported again.
    """
    match of:
        case Bool() | Int() | Range() | Nat() | Enum() | UnknownType():
            return True
        case Tuple(items):
            return all(map(is_ordered, items))
        case _:
            return False


def element(of: Type) -> Type | None:
    """The element type of a collection or option; None for other types."""
    match of:
        case Set(inner) | Bag(inner) | Seq(inner) | Option(inner):
            return inner
        case UnknownType():
            return UNKNOWN
        case _:
            return None


def parts(of: Type) -> tuple[Type, ...]:
    """The types of the components of a value; the keys of a map are no components."""
    match of:
        case Option(inner) | Set(inner) | Bag(inner) | Seq(inner) | Map(_, inner):
            return (inner,)
        case Tuple(items):
            return items
        case Record(_, fields) | Case(_, _, fields):
            return tuple(field.type for field in fields)
        case Union(_, cases):
            return cases
        case _:
            return ()


def walk_type(of: Type) -> Iterator[Type]:
    """The type and all component types, outer ones first; keys of maps are left out."""
    yield of
    for part in parts(of):
        yield from walk_type(part)


def sorts_in(of: Type) -> Iterator[str]:
    """The names of the sorts in a type, including keys."""
    for part in walk_type(of):
        if isinstance(part, Sort):
            yield part.name
        if isinstance(part, Map):
            yield from sorts_in(part.key)


def names_sort(of: Type) -> bool:
    """Whether values contain members of a sort, so that choosing the first is not symmetric."""
    return any(True for _ in sorts_in(of))


def tells_apart(domain: Type) -> bool:
    """Whether choosing the first of two members distinguishes interchangeable members."""
    return isinstance(domain, Set | Bag) and names_sort(domain.of)
