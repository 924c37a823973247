"""How a value becomes bits: fixed widths, equal values as equal bits.

A packing is chosen for a type within a scope, or for an expression from what
can be known of its numbers.  Whatever is not there (the entries behind the end
of a sequence, the payload of `none`, the fields of the other cases of a union)
is zero, so that equal values are equal numbers.  The first part of a tuple
is highest: where `is_monotone`, the order of the numbers is the canonical
order of the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from math import prod
from typing import assert_never

import spec.model.types as t
from spec.frozen import frozen
from spec.model.ir import Scope, Value

MASK = 64  # a set whose members have so few codes is kept as one bit for each code
WIDEST_MASK = 1024  # members that a set without a limit may have
WIDEST = 4096  # bits of one value: what is wider is refused
MOST = 1 << 62  # numbers stay below, so that no arithmetic overflows


class TooWide(Exception):  # noqa: N818 - an answer to the user, not a bug
    """A value would need more bits than the native engine can handle."""


@frozen(slots=False)
class Never:
    """The packing of a type without values, such as that of the members of `{}`."""

    width = 0
    codes = 1


@frozen(slots=False)
class Truth:
    """The packing of a bool: one bit."""

    width = 1
    codes = 2


@frozen(slots=False)
class Number:
    """The packing of whole numbers from `lo` to `hi` (also enums, members of sorts), kept as value - lo."""

    lo: int
    hi: int

    @cached_property
    def codes(self) -> int:
        """The number of values."""
        return self.hi - self.lo + 1

    @cached_property
    def width(self) -> int:
        """The bits of a code."""
        return bits(self.codes)


@frozen(slots=False)
class Optional:
    """The packing of an option: code 0 for none, else 1 + the code of the value."""

    of: Packing

    @cached_property
    def codes(self) -> int:
        """An upper bound on the codes: each is below it."""
        return self.of.codes + 1

    @cached_property
    def width(self) -> int:
        """The bits of a code."""
        return bits(self.codes)


@frozen(slots=False)
class Product:
    """The packing of a record or tuple: its parts one after the other, the first in the highest bits."""

    parts: tuple[Packing, ...]

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """For each part the index of its lowest bit."""
        found = [0]
        for part in reversed(self.parts):
            found.append(found[-1] + part.width)
        return tuple(reversed(found[:-1]))

    @cached_property
    def width(self) -> int:
        """The bits of a code."""
        return sum(part.width for part in self.parts)

    @cached_property
    def codes(self) -> int:
        """An upper bound on the codes: each is below it."""
        if not self.parts:
            return 1
        first, *rest = self.parts
        return first.codes << sum(part.width for part in rest)


@frozen(slots=False)
class TaggedUnion:
    """The packing of a union: the index of the case in the highest bits, below it the case's fields."""

    cases: tuple[Product, ...]

    @cached_property
    def payload(self) -> int:
        """The bits of the widest case."""
        return max(case.width for case in self.cases)

    @cached_property
    def width(self) -> int:
        """The bits of a code."""
        return self.payload + bits(len(self.cases))

    @cached_property
    def codes(self) -> int:
        """An upper bound on the codes: each is below it."""
        return len(self.cases) << self.payload


@frozen(slots=False)
class Array:
    """The packing of a map: the values of its `count` keys, that of the first key in the highest bits."""

    of: Packing
    count: int
    lo: int = 0  # the least key, where keys are numbers

    @cached_property
    def width(self) -> int:
        """The bits of a code."""
        return self.of.width * self.count

    @cached_property
    def codes(self) -> int:
        """An upper bound on the codes: each is below it."""
        return 1 << self.width

    @cached_property
    def parts(self) -> tuple[Packing, ...]:
        """The packing of each key's value, as those of a tuple."""
        return (self.of,) * self.count

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """For each key the index of the lowest bit of its value."""
        return tuple(self.of.width * above for above in reversed(range(self.count)))


@frozen(slots=False)
class Entries:
    """The packing of at most `most` elements, the first in the lowest bits, and their number above them."""

    of: Packing
    most: int

    @cached_property
    def body(self) -> int:
        """The bits of all entries together."""
        return self.of.width * self.most

    @cached_property
    def width(self) -> int:
        """The bits of a code."""
        return self.body + bits(self.most + 1)

    @cached_property
    def codes(self) -> int:
        """An upper bound on the codes: each is below it."""
        return (self.most + 1) << self.body


@frozen(slots=False)
class Sequence(Entries):
    """The packing of a sequence: its entries in their order."""


@frozen(slots=False)
class Slots(Entries):
    """The packing of a set or (`repeated`) bag as a list of its members, their codes ascending."""

    repeated: bool = False


@frozen(slots=False)
class Mask:
    """The packing of a set as a bit for each possible member, see `places`."""

    of: Packing

    @cached_property
    def width(self) -> int:
        """The bits of a code."""
        return places(self.of)

    @property
    def most(self) -> int:
        """The most members that a set can have."""
        return self.width

    @cached_property
    def codes(self) -> int:
        """An upper bound on the codes: each is below it."""
        return 1 << self.width


Packing = Never | Truth | Number | Optional | Product | TaggedUnion | Array | Sequence | Mask | Slots
Unions = Mapping[str, t.Union]


def bits(count: int) -> int:
    """The number of bits that distinguish `count` codes."""
    return (count - 1).bit_length()


def places(of: Packing) -> int:
    """The number of bits in a mask of such members; `codes.place_of` gives the bit of a member.

    A few codes are places themselves.  Many are counted without the gaps that whole bits leave
    between them, so that a set of a union is as wide as the sets of its cases together.
    """
    return of.codes if of.codes <= MASK else places_without_gaps(of)


def places_without_gaps(of: Packing) -> int:
    """The number of codes that can represent a value, as far as that is cheap to find."""
    match of:
        case Optional(inner):
            return places_without_gaps(inner) + 1
        case Product(parts):
            return prod(map(places_without_gaps, parts))
        case TaggedUnion(cases):
            return sum(map(places_without_gaps, cases))
        case Array(inner, count):
            return int(places_without_gaps(inner) ** count)
        case _:
            return of.codes


def has_gaps(of: Packing) -> bool:
    """Whether the bit of a member in a mask is not simply its code; the order of both is the same."""
    return places(of) != of.codes


def parts_of(of: Product | Array) -> list[tuple[Packing, int]]:
    """The parts of a record, tuple or map in order, each with the index of its lowest bit."""
    return list(zip(of.parts, of.offsets, strict=True))


def packings_in(of: Packing) -> tuple[Packing, ...]:
    """The packings of the components of a value, parallel to `spec.model.types.parts` of its type."""
    match of:
        case Never() | Truth() | Number():
            return ()
        case Product(parts) | TaggedUnion(parts):
            return parts
        case _:
            return (of.of,)


def typed_parts(of: t.Type, packing: Packing, unions: Unions) -> list[tuple[t.Type, Packing]]:
    """The types of the components of a value, each with its packing."""
    match of, packing:
        case t.Case(name), TaggedUnion():
            return typed_parts(unions[name], packing, unions)
        case t.Option(inner), _ if not isinstance(packing, Optional):  # a value is an option that has it
            return [(inner, packing)]
        case _:
            return list(zip(t.parts(of), packings_in(packing), strict=True))


# ------------------------------------------------------------------ choosing


def packing(of: t.Type, scope: Scope, unions: Unions) -> Packing:  # noqa: C901 - a dispatch over a union
    """The packing of values of a type in a state. Raises TooWide if they may need too many bits."""

    def inner(of: t.Type) -> Packing:
        """The packing of a component's type."""
        return packing(of, scope, unions)

    def product(of: t.Type) -> Product:
        """The packing of a record, a tuple or a case of a union."""
        return Product(tuple(map(inner, t.parts(of))))

    match of:
        case t.Bool():
            return Truth()
        case t.Range(lo, hi):
            return number(lo, hi)
        case t.Nat(name):
            return Number(0, scope.limit(name))
        case t.Enum(_, names):
            return Number(0, len(names) - 1)
        case t.Sort(name):
            return Number(0, len(scope.sorts[name]) - 1)
        case t.Option(value):
            return Optional(inner(value))
        case t.Record() | t.Tuple():
            return product(of)
        case t.Union(_, cases):
            return TaggedUnion(tuple(map(product, cases)))
        case t.Case(name):
            return inner(unions[name])
        case t.Map(key, value):
            return array(key, inner(value), scope)
        case t.Seq(entry, limit):
            return Sequence(inner(entry), _most(of, limit, scope))
        case t.Set(member, None):
            return _unlimited(of, inner(member))
        case t.Set(member, limit):
            return _limited(inner(member), _most(of, limit, scope))
        case t.Bag(member, limit):
            return Slots(inner(member), _most(of, limit, scope), repeated=True)
        case t.UnknownType():
            return Never()
        case t.Int():
            raise TooWide("a number of any size cannot be stored")
        case _:
            assert_never(of)


def number(lo: int, hi: int) -> Number:
    """The packing of the numbers from `lo` to `hi`. Raises TooWide beyond 62 bits."""
    if lo <= -MOST or hi >= MOST:
        raise TooWide("a number that may be beyond 62 bits")
    return Number(lo, hi)


def array(key: t.Type, value: Packing, scope: Scope) -> Array:
    """The packing of a map with this type of keys and packing of values."""
    keys = packing(key, scope, {})
    return Array(value, keys.codes, keys.lo if isinstance(keys, Number) else 0)


def _most(of: t.Type, limit: t.Limit | None, scope: Scope) -> int:
    """The most elements of a collection with a limit. Raises TooWide if there is none."""
    if limit is None:
        raise TooWide(f"the size of {of} has no bound")
    return scope.most(limit)


def _unlimited(of: t.Type, member: Packing) -> Packing:
    """The packing of a set without a limit on its size. Raises TooWide for too many possible members."""
    if places(member) > WIDEST_MASK:
        limited = f"it has a limit: {str(of)[:-1]}; N]"
        split = " or is split into one for each case" if isinstance(member, TaggedUnion) else ""
        raise TooWide(f"a {of} could have {places(member):,} members, unless {limited}{split}")
    return Mask(member)


def _limited(member: Packing, most: int) -> Packing:
    """The packing of a set of at most `most` members: a mask if that is narrower, else slots."""
    most = min(most, member.codes)
    slots = Slots(member, most)
    narrow = member.codes <= slots.width or places(member) <= WIDEST_MASK < slots.width
    return Mask(member) if narrow else slots


def set_of(member: Packing, most: int) -> Mask | Slots:
    """The packing of a set of at most `most` members as a result of an expression."""
    return Mask(member) if member.codes <= MASK else Slots(member, min(most, member.codes))


def of_value(of: t.Type, value: Value, scope: Scope, unions: Unions) -> Packing:
    """The narrowest packing for one known value of a type."""

    def all_of(inner: t.Type, values: Iterable[Value]) -> Packing:
        return join_all(of_value(inner, each, scope, unions) for each in values)

    match of:
        case t.Int() | t.Range() | t.Nat():
            return number(value, value)
        case t.Option(inner):
            return Optional(all_of(inner, () if value is None else (value,)))
        case t.Record() | t.Tuple():
            return Product(tuple(all_of(i, (v,)) for i, v in zip(t.parts(of), value, strict=True)))
        case t.Map(key, inner):
            return array(key, all_of(inner, value), scope)
        case t.Seq(inner):
            return Sequence(all_of(inner, value), len(value))
        case t.Set(inner):
            return set_of(all_of(inner, value), len(value))
        case t.Bag(inner):
            return Slots(all_of(inner, (v for v, _ in value)), sum(n for _, n in value), repeated=True)
        case t.Bool() | t.Enum() | t.Sort() | t.Union() | t.Case() | t.UnknownType():
            return packing(of, scope, unions)
        case _:
            assert_never(of)


def join_all(packings: Iterable[Packing]) -> Packing:
    """The narrowest packing with room for the values of each, by `join`."""
    found: Packing = Never()
    for each in packings:
        found = join(found, each)
    return found


def join(a: Packing, b: Packing) -> Packing:  # noqa: C901 - a dispatch over pairs
    """The packing with room for the values of both, which must be of one type."""
    if a == b:
        return a
    match a, b:
        case (Never(), other) | (other, Never()):
            return other
        case Number(lo, hi), Number(lo2, hi2):
            return Number(min(lo, lo2), max(hi, hi2))
        case Optional(of), Optional(of2):
            return Optional(join(of, of2))
        case (Optional(of), other) | (other, Optional(of)):  # a value is an option that has it
            return Optional(join(of, other))
        case Product(parts), Product(parts2):
            return Product(tuple(join(x, y) for x, y in zip(parts, parts2, strict=True)))
        case TaggedUnion(cases), TaggedUnion(cases2):
            joined = [join(x, y) for x, y in zip(cases, cases2, strict=True)]
            return TaggedUnion(tuple(case for case in joined if isinstance(case, Product)))
        case Array(of, count, lo), Array(of2):
            return Array(join(of, of2), count, lo)
        case Sequence(of, most), Sequence(of2, most2):
            return Sequence(join(of, of2), max(most, most2))
        case Slots(of, most, repeated), Slots(of2, most2):
            return Slots(join(of, of2), max(most, most2), repeated)
        case Mask(of), Mask(of2):
            return mask_or_slots(join(of, of2), a.width + b.width)
        case (Mask(of), Slots(of2, most)) | (Slots(of2, most), Mask(of)):
            return mask_or_slots(join(of, of2), places(of) + most)
        case _:
            raise TypeError(f"{a} and {b} are packings of different types")


def mask_or_slots(of: Packing, most: int) -> Mask | Slots:
    """The packing for the union of sets of which one was a mask: a mask again if it is not too wide."""
    return Mask(of) if places(of) <= WIDEST_MASK else Slots(of, most)
