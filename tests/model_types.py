"""The types of a random model: dice, declarations, and types small enough to be searched."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import TypeVar

import spec.model.types as t
from spec.elaboration.typing import fits

T = TypeVar("T")
MANY = 10**9  # more values than anything that is kept may have


class Stuck(Exception):  # noqa: N818 - the writer then tries something else
    """Nothing of that type can be written here."""


class Dice:
    """Every decision of a writer; `below(n)` gives a number from 0, and the smaller the simpler."""

    def __init__(self, below: Callable[[int], int]) -> None:
        self.below = below

    def number(self, lo: int, hi: int) -> int:
        """A number from `lo` to `hi`, both included."""
        return lo + self.below(hi - lo + 1) if hi > lo else lo

    def chance(self, percent: int) -> bool:
        """Whether something of that chance happens."""
        return self.below(100) >= 100 - percent

    def pick(self, options: Sequence[T]) -> T:
        """One of them. Raises Stuck when there is none."""
        if not options:
            raise Stuck
        return options[self.below(len(options))] if len(options) > 1 else options[0]

    def weighted(self, options: Sequence[tuple[int, T]]) -> T:
        """One of them, by weight. Raises Stuck when there is none."""
        if not options:
            raise Stuck
        at = self.below(sum(weight for weight, _ in options))
        for weight, option in options:
            at -= weight
            if at < 0:
                return option
        raise Stuck


@dataclass
class World:
    """What a random model declares before its state."""

    dice: Dice
    sorts: dict[str, int] = field(default_factory=dict)
    nats: dict[str, int] = field(default_factory=dict)
    enums: list[t.Enum] = field(default_factory=list)
    records: list[t.Record] = field(default_factory=list)
    unions: list[t.Union] = field(default_factory=list)
    configs: dict[str, t.Type] = field(default_factory=dict)
    casts: dict[str, str] = field(default_factory=dict)
    functions: dict[str, tuple[tuple[t.Type, ...], t.Type]] = field(default_factory=dict)
    asserts: list[str] = field(default_factory=list)
    count: int = 0

    def fresh(self, stem: str) -> str:
        """A name that nothing else has."""
        self.count += 1
        return f"{stem}{self.count}"

    def cast(self, of: t.Type, text: str) -> str:
        """The text as an argument of a function that says its type."""
        shown = re.sub(
            r"; net[0-9]+", "; 3", str(of)
        )  # the scope of a network is no limit that a text can name
        name = self.casts.setdefault(shown, f"as{len(self.casts) + 1}")
        return f"{name}({text})"

    # -------------------------------------------------------------- sizes

    def values(self, of: t.Type) -> int:  # noqa: C901 - a case for each type
        """How many values a type has, or MANY."""
        match of:
            case t.Bool():
                return 2
            case t.Range(lo, hi):
                return hi - lo + 1
            case t.Nat(name):
                return self.nats[name] + 1
            case t.Sort(name):
                return self.sorts[name]
            case t.Enum(_, members):
                return len(members)
            case t.Option(inner):
                return self.values(inner) + 1
            case t.Record(_, fields) | t.Case(_, _, fields):
                return self._product([f.type for f in fields])
            case t.Tuple(items):
                return self._product(items)
            case t.Union(_, cases):
                return sum(map(self.values, cases))
            case t.Map(key, value):
                return self._product([value] * self.values(key))
            case t.Set(inner, limit):
                one = self.values(inner)
                return MANY if one > 20 else sum(comb(one, n) for n in range(min(self.limit(limit), one) + 1))
            case t.Seq(inner, limit):
                one, most = self.values(inner), self.limit(limit)
                return sum(self._product([inner] * n) for n in range(most + 1)) if one < MANY else MANY
            case t.Bag(inner, limit):
                return min(MANY, comb(self.values(inner) + self.limit(limit), self.limit(limit)))
            case _:
                return MANY

    def limit(self, limit: t.Limit | None) -> int:
        """How many elements fit."""
        if limit is None:
            return 20
        return limit.of if isinstance(limit.of, int) else self.nats.get(limit.of, 2)

    def _product(self, types: Sequence[t.Type]) -> int:
        total = 1
        for of in types:
            total = min(MANY, total * self.values(of))
        return total

    # -------------------------------------------------------------- types

    def scalar(self, *, sorts: bool = True) -> t.Type:
        """A type whose values can be listed."""
        dice = self.dice
        options: list[tuple[int, t.Type]] = [(3, t.BOOL)]
        lo = dice.pick([0, 0, 0, 1, -1, -2])
        options.append((4, t.Range(lo, lo + dice.pick([1, 2, 3, 1, 2, 0]))))
        options += [(2, t.Nat(name)) for name in self.nats]
        options += [(2, enum) for enum in self.enums]
        options += [(4, t.Sort(name)) for name in self.sorts if sorts]
        return dice.weighted(options)

    def any_type(self, depth: int) -> t.Type:
        """A type that a state can hold, nested so deep."""
        dice = self.dice
        if depth <= 0 or dice.chance(25):
            return self.scalar()
        inner = depth - 1
        kind = dice.weighted(
            [(3, "option"), (2, "tuple"), (4, "set"), (3, "bag"), (4, "seq"), (4, "map"), (5, "declared")]
        )
        match kind:
            case "option":
                of = self.any_type(inner)
                return of if isinstance(of, t.Option) else t.Option(of)
            case "tuple":
                return t.Tuple(tuple(self.any_type(inner) for _ in range(dice.number(2, 3))))
            case "set":
                limit = self.a_limit() if dice.chance(35) else None
                return t.Set(self.any_type(inner), limit)
            case "bag":
                return t.Bag(self.any_type(inner), self.a_limit())
            case "seq":
                return t.Seq(self.any_type(inner), self.a_limit())
            case "map":
                return t.Map(self.scalar(), self.any_type(inner))
            case _:
                declared: list[t.Type] = [*self.records, *self.unions]
                return dice.pick(declared) if declared else self.scalar()

    def a_limit(self) -> t.Limit:
        """A limit by number or by a nat."""
        by: list[int | str] = [1, 2, 3, *self.nats]
        return t.Limit(self.dice.pick(by))

    def storable(self, depth: int, most: int) -> t.Type:
        """A type with at most so many values and with a value that can be written without any member."""
        for _ in range(12):
            of = self.any_type(depth)
            if self.values(of) <= most and self.starts(of):
                return of
        return t.BOOL

    def starts(self, of: t.Type) -> bool:
        """Whether a value of the type can be written where no member of a sort is at hand."""
        match of:
            case t.Sort(name):
                return self.sorts[name] == 1
            case t.Record(_, fields) | t.Case(_, _, fields):
                return all(self.starts(f.type) for f in fields)
            case t.Tuple(items):
                return all(map(self.starts, items))
            case t.Union(_, cases):
                return any(map(self.starts, cases))
            case t.Map(key, value):
                return key == value or self.starts(value)
            case _:
                return True


def same(actual: t.Type, wanted: t.Type) -> bool:
    """Whether one type may stand for the other in both directions, but for limits and bounds."""
    return fits(actual, wanted) and _nats(actual) == _nats(wanted) and _same_shape(actual, wanted)


def _same_shape(actual: t.Type, wanted: t.Type) -> bool:
    """Whether what is optional in the one is so in the other; a value where it may be none is no option."""
    match actual, wanted:
        case (
            (t.Option(a), t.Option(b))
            | (t.Set(a), t.Set(b))
            | (t.Bag(a), t.Bag(b))
            | (t.Seq(a), t.Seq(b))
            | (t.Map(_, a), t.Map(_, b))
        ):
            return _same_shape(a, b)
        case t.Tuple(xs), t.Tuple(ys):
            return all(map(_same_shape, xs, ys))
        case _:
            return not isinstance(wanted, t.Option)


def _nats(of: t.Type) -> list[str]:
    """The nats inside a type, in order, and a mark for each other number."""
    match of:
        case t.Nat(name):
            return [name]
        case t.Int() | t.Range():
            return ["int"]
        case t.Set(inner) | t.Bag(inner) | t.Seq(inner) | t.Option(inner):
            return _nats(inner)
        case t.Map(_, inner):
            return _nats(inner)
        case t.Tuple(items):
            return [name for item in items for name in _nats(item)]
        case _:
            return []


def declarations(world: World) -> list[str]:
    """Random sorts, nats, enums, records and unions, declared in the world; and their text."""
    dice = world.dice
    world.sorts = {f"S{n}": dice.pick([2, 2, 3, 1]) for n in range(dice.pick([1, 1, 1, 0, 2]))}
    world.nats = {f"N{n}": dice.pick([1, 2, 2, 1, 2, 1, 2, 0]) for n in range(dice.pick([1, 0, 1, 2]))}
    lines = [f"sort {name}" for name in world.sorts] + [f"nat {name}" for name in world.nats]
    for n in range(dice.pick([1, 0, 1, 2])):
        enum = t.Enum(f"E{n}", tuple(f"m{n}{chr(97 + i)}" for i in range(dice.number(1, 4))))
        world.enums.append(enum)
        lines.append(f"enum {enum} {{ {', '.join(enum.members)} }}")
    for n in range(dice.pick([0, 1, 1])):
        record = t.Record(f"R{n}", tuple(_fields(world, dice.number(1, 3))))
        world.records.append(record)
        lines.append(f"record {record} {{ {_written(record.fields)} }}")
    for n in range(dice.pick([0, 1, 1])):
        shared = _fields(world, 1) if dice.chance(40) else []
        cases = []
        for i in range(dice.number(1, 3)):
            own = [*shared, *(t.Field(f"{f.name}{i}", f.type) for f in _fields(world, dice.number(0, 2)))]
            cases.append(t.Case(f"U{n}", f"C{n}{i}", tuple(own[::-1] if dice.chance(20) else own)))
        world.unions.append(t.Union(f"U{n}", tuple(cases)))
        each = [f"{c}({_written(c.fields)})" if c.fields else str(c) for c in cases]
        lines.append(f"union U{n} {{ {', '.join(each)} }}")
    for n in range(dice.pick([0, 1, 0, 2])):
        of = world.scalar(sorts=False)
        if not isinstance(of, t.Nat):
            world.configs[f"conf{n}"] = of
    return lines


def _fields(world: World, count: int) -> list[t.Field]:
    found = []
    for n in range(count):
        of = world.any_type(1) if world.dice.chance(35) else world.scalar()
        if world.values(of) > 40:
            of = t.BOOL
        found.append(t.Field(f"f{n}", of))
    return found


def _written(fields: Sequence[t.Field]) -> str:
    return ", ".join(f"{f.name}: {f.type}" for f in fields)
