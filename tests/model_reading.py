"""What a random expression may read, and the shortest ways to write a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import spec.model.types as t
from spec.model.types import element
from tests.model_types import Stuck, World, same

Path = tuple[t.Type, Callable[[], str]]


@dataclass(frozen=True)
class Stored:
    """A variable of the state: global, or a field of the process of a sort; or a network."""

    name: str
    type: t.Type
    owner: str | None = None
    storage: str = "state"  # or durable, volatile, cached, ghost, network

    @property
    def ghost(self) -> bool:
        """Whether only properties and ghosts may read it."""
        return self.storage == "ghost"


@dataclass(frozen=True)
class View:
    """What an expression may read: bound names, the variables, and what only properties may say."""

    names: tuple[tuple[str, t.Type], ...] = ()
    variables: tuple[Stored, ...] = ()
    ghosts: bool = False
    step: bool = False
    actions: tuple[tuple[str, tuple[t.Type | None, ...]], ...] = ()
    enabled: bool = False

    def knowing(self, name: str, of: t.Type) -> View:
        """The same with one more bound name, or with what a test has told of one instead of what it was."""
        names = (pair for pair in self.names if pair[0] != name)
        variables = tuple(each for each in self.variables if each.name != name or each.owner is not None)
        return replace(self, names=(*names, (name, of)), variables=variables)

    def sees(self, stored: Stored) -> bool:
        """Whether a variable may be read."""
        return self.ghosts or not stored.ghost


class Reading:
    """Reads what is there; what is made of it is written by those who build on this."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.dice = world.dice

    def expr(self, of: t.Type, view: View, fuel: int) -> str:
        """An expression of a type where the place says which. Raises Stuck when there is none."""
        raise NotImplementedError

    def firm(self, of: t.Type, view: View, fuel: int) -> str:
        """An expression of a type where nothing else says which.

        What is read of an option is not always one: a test before may have told that it is there.
        """
        if self.dice.chance(60) and not isinstance(of, t.Option):
            try:
                return self.whole(of, self.path(of, view, fuel))
            except Stuck:
                pass
        return self.world.cast(of, self.expr(of, view, fuel))

    def whole(self, of: t.Type, text: str) -> str:
        """What was read, as an option where it is one: behind a test it may be known to be there."""
        return self.world.cast(of, text) if isinstance(of, t.Option) else text

    # -------------------------------------------------------------- short

    def leaf(self, of: t.Type, view: View) -> str:  # noqa: C901 - a case for each type
        """Something short. Raises Stuck for a sort of several members when none is at hand."""
        named = [name for name, actual in view.names if same(actual, of) and not isinstance(actual, t.Nat)]
        if named and self.dice.chance(75):
            return self.dice.pick(named)
        if view.variables and self.dice.chance(45):
            try:
                return self.path(of, view, -1)
            except Stuck:
                pass
        match of:
            case t.Bool():
                return self.dice.pick(["true", "false"])
            case t.Range(lo, hi):
                return literal(self.dice.number(lo, hi))
            case t.Nat(name):
                return str(self.dice.number(0, self.world.nats[name]))
            case t.Int():
                return literal(self.dice.number(-1, 3))
            case t.Enum(_, members):
                return self.dice.pick(members)
            case t.Sort(name):
                if named:
                    return self.dice.pick(named)
                return f"the({name})" if self.world.sorts[name] == 1 else self.path(of, view, -1)
            case t.Option(inner):
                return self._perhaps(inner, view)
            case t.Record(_, fields) | t.Case(_, _, fields):
                return self._all_of(str(of), fields, view)
            case t.Union(_, cases):
                return self._some_case(cases, view)
            case t.Tuple(items):
                return f"({', '.join(self.leaf(item, view) for item in items)})"
            case t.Set(inner, limit):
                return self._some(inner, "{}", self.world.limit(limit), view)
            case t.Seq(inner, limit):
                return self._some(inner, "[]", self.world.limit(limit), view)
            case t.Map(key, value):
                bound = self.world.fresh("k")
                return f"[{bound}: {key} -> {self.leaf(value, view.knowing(bound, key))}]"
            case t.Bag():
                return "{}"
            case _:
                raise Stuck

    def _perhaps(self, inner: t.Type, view: View) -> str:
        try:
            return self.leaf(inner, view) if self.dice.chance(50) else "none"
        except Stuck:
            return "none"

    def _all_of(self, name: str, fields: tuple[t.Field, ...], view: View) -> str:
        return f"{name}({', '.join(self.leaf(f.type, view) for f in fields)})" if fields else name

    def _some_case(self, cases: tuple[t.Case, ...], view: View) -> str:
        first = self.dice.below(len(cases)) if len(cases) > 1 else 0
        for case in cases[first:] + cases[:first]:
            try:
                return self.leaf(case, view)
            except Stuck:
                continue
        raise Stuck

    def _some(self, inner: t.Type, brackets: str, most: int, view: View) -> str:
        found = []
        if (
            brackets == "{}"
            and isinstance(inner, t.Sort | t.Enum)
            and most >= self.world.values(inner)
            and self.dice.chance(30)
        ):
            return str(inner)
        for _ in range(min(self.dice.pick([1, 2, 0]), most)):
            try:
                found.append(self.leaf(inner, view))
            except Stuck:
                break
        return brackets[0] + ", ".join(found) + brackets[1]

    # -------------------------------------------------------------- paths

    def paths(self, view: View, fuel: int) -> Iterator[Path]:
        """What can be read, parts of values included; the keys on the way are written with so much fuel."""
        for name, of in self._bases(view):
            yield from self._parts(of, lambda name=name: name, view, fuel, 2)  # type: ignore[misc]
        for stored in view.variables:
            if stored.owner is not None and view.sees(stored) and self._at_hand(stored.owner, view, fuel):
                read = self._field(stored, view, fuel)
                yield stored.type, read
                if stored.storage == "cached" and isinstance(stored.type, t.Seq):
                    yield flush_type(stored.type), lambda read=read: f"flushed({read()})"  # type: ignore[misc]

    def _bases(self, view: View) -> Iterator[tuple[str, t.Type]]:
        yield from view.names
        yield from self.world.configs.items()
        for stored in view.variables:
            if stored.owner is None and view.sees(stored):
                yield stored.name, stored.type

    def _field(self, stored: Stored, view: View, fuel: int) -> Callable[[], str]:
        return lambda: f"{self._to_member(stored.owner or '', view, fuel)}.{stored.name}"

    def _at_hand(self, sort: str, view: View, fuel: int) -> bool:
        return fuel >= 0 or any(of == t.Sort(sort) for _, of in view.names)

    def _to_member(self, sort: str, view: View, fuel: int) -> str:
        named = [name for name, of in view.names if of == t.Sort(sort)]
        if named:
            return self.dice.pick(named)
        text = self.expr(t.Sort(sort), view, min(fuel, 1))
        return text if text.isidentifier() or text.startswith("the(") else self.world.cast(t.Sort(sort), text)

    def _parts(
        self, of: t.Type, read: Callable[[], str], view: View, fuel: int, depth: int
    ) -> Iterator[Path]:
        yield of, read
        if depth == 0:
            return
        match of:
            case t.Record(_, fields) | t.Case(_, _, fields):
                for part in fields:
                    inner = lambda part=part: f"{read()}.{part.name}"  # noqa: E731
                    yield from self._parts(part.type, inner, view, fuel, depth - 1)
            case t.Union(_, cases):
                for part in cases[0].fields:
                    if all(part in case.fields for case in cases):
                        yield part.type, lambda part=part: f"{read()}.{part.name}"  # type: ignore[misc]
            case t.Map(key, value) if fuel >= 0:
                yield from self._parts(
                    value, lambda: f"{read()}[{self.expr(key, view, fuel - 1)}]", view, fuel, depth - 1
                )
            case t.Option(within) if self.dice.chance(3):
                yield within, lambda: f"the({self.whole(of, read())})"
            case t.Seq(within) if self.dice.chance(3):
                yield within, lambda: f"last({read()})"
                yield within, lambda: f"{read()}[{self.expr(t.INT, view, min(1, fuel - 1))}]"
            case _:
                pass

    def path(self, of: t.Type, view: View, fuel: int) -> str:
        """Something of the type that can be read. Raises Stuck when there is nothing."""
        found: list[Callable[[], str]] = []
        for actual, read in self.paths(view, fuel):
            if isinstance(of, t.Range | t.Nat) and t.is_number(actual) and not self._within(actual, of):
                if isinstance(of, t.Range) or not isinstance(actual, t.Nat):
                    found.append(lambda actual=actual, read=read: self._brought(actual, of, read()))  # type: ignore[misc]
            elif same(actual, of) or (isinstance(of, t.Nat) and isinstance(actual, t.Range | t.Int)):
                found.append(read)
            elif isinstance(actual, t.Nat) and isinstance(of, t.Int | t.Range):
                found.append(lambda read=read: f"int({read()})")  # type: ignore[misc]
        return self.dice.pick(found)()

    def _within(self, actual: t.Type, wanted: t.Type) -> bool:
        match actual, wanted:
            case t.Range(a, b), t.Range(lo, hi):
                return lo <= a and b <= hi
            case t.Range(a, b), t.Nat(name):
                return a >= 0 and b <= self.world.nats[name]
            case t.Nat(a), t.Nat(b):
                return a == b
            case _:
                return False

    def _brought(self, actual: t.Type, wanted: t.Type, text: str) -> str:
        """A number of another type, brought into bounds."""
        plain = f"int({text})" if isinstance(actual, t.Nat) else text
        return self.bounded(wanted, plain)

    def bounded(self, of: t.Type, text: str) -> str:
        """A number brought into the bounds of a type, most of the time."""
        match of:
            case t.Range(lo, hi) if self.dice.chance(97):
                return f"max({literal(lo)}, min({literal(hi)}, {text}))"
            case t.Nat(name) if self.dice.chance(97):
                least = f"max(0, {text})"
                return least if self.dice.chance(40) else f"min({self.world.nats[name]}, {least})"
            case _:
                return text

    # -------------------------------------------------------------- what to ask about

    def some_type(self, view: View) -> t.Type:
        """A type of which there is something to read, or another."""
        if self.dice.chance(80):
            found = [of for of, _ in self.paths(view, 0) if not isinstance(of, t.Case | t.Int)]
            if found:
                return self.dice.pick(found)
        return self.world.storable(1, 60)

    def ordered(self, view: View) -> t.Type:
        """A type with an order."""
        found = [of for of, _ in self.paths(view, 0) if t.is_ordered(of) and not isinstance(of, t.Int)]
        return self.dice.pick(found) if found and self.dice.chance(80) else t.Range(0, 3)

    def of_kind(self, view: View, kind: type[t.Type]) -> t.Type:
        """The type of something of a kind that can be read. Raises Stuck."""
        return self.dice.pick([of for of, _ in self.paths(view, 0) if isinstance(of, kind)])

    def collection(self, view: View) -> tuple[t.Type, t.Type]:
        """The type of something with members, and what they are."""
        if self.dice.chance(20):
            one = self.some_type(view)
            return t.Set(one), one
        of = self.dice.pick([of for of, _ in self.paths(view, 0) if element(of) is not None])
        return of, element(of) or t.UNKNOWN


def literal(number: int) -> str:
    """A number as it may stand anywhere."""
    return str(number) if number >= 0 else f"({number})"


def flush_type(of: t.Seq) -> t.Type:
    """The type of how much of a cached sequence is flushed."""
    assert of.limit is not None
    return t.Nat(of.limit.of) if isinstance(of.limit.of, str) else t.Range(0, of.limit.of)
