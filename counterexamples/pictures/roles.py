"""Which parts of a state are the log, the high watermark, the leader: what a picture draws as more than text.

A model may say so with a `display` block; what it leaves open is found by the
names that protocols use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from spec.ir import Model, Value
from spec.semantics import State
from spec.types import Bag, Bool, Enum, Int, Map, Nat, Option, Range, Record, Seq, Set, Sort, Type


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a state that has a name: a variable, or a field of one that is a record."""

    name: str
    variable: int
    path: tuple[int, ...]
    type: Type
    owner: str | None = None  # the sort of its process, of a process field
    ghost: bool = False

    def of(self, state: State, member: int | None = None) -> Value:
        """Its value; of a process field, that of a member."""
        value = state[self.variable]
        if member is not None:
            value = value[member]
        for index in self.path:
            value = value[index]
        return value


@dataclass(frozen=True, slots=True)
class Roles:
    """The parts that are drawn, by role; process fields by their sort as well."""

    sorts: tuple[str, ...]
    fields: Mapping[tuple[str, str], Part]
    whole: Mapping[str, Part]

    def field(self, sort: str, role: str) -> Part | None:
        """What plays a role in the processes of a sort."""
        return self.fields.get((sort, role))


Fits = Callable[[Type], bool]


def _is_number(of: Type) -> bool:
    return isinstance(of, Nat | Range | Int)


def _is_leader(of: Type) -> bool:
    return isinstance(of, Sort) or (isinstance(of, Option) and isinstance(of.of, Sort))


def _leads(of: Type) -> bool:
    return isinstance(of, Bool) or _is_leader(of) or (isinstance(of, Enum) and "leader" in of.members)


def _is_membership(of: Type) -> bool:
    return isinstance(of, Set) and isinstance(of.of, Sort)


FIELDS: Mapping[str, tuple[Fits, tuple[str, ...]]] = {
    "log": (lambda of: isinstance(of, Seq), ("log", "journal", "history", "entries")),
    "high_watermark": (
        _is_number,
        ("hw", "high_watermark", "hwm", "commit", "commit_index", "committed", "commit_point"),
    ),
    "up": (lambda of: isinstance(of, Bool), ("up", "alive", "running")),
    "leads": (_leads, ("leads", "leader", "lead", "is_leader", "primary", "role", "status")),
    "epoch": (_is_number, ("epoch", "term", "view", "ballot", "ep", "promised")),
}
WHOLE: Mapping[str, tuple[Fits, tuple[str, ...]]] = {
    "leader": (_is_leader, ("leader", "primary")),
    "membership": (_is_membership, ("isr", "members", "configuration", "in_sync")),
    "epoch": (_is_number, ("epoch", "term", "view")),
    "acknowledged": (
        lambda of: isinstance(of, Set | Seq | Bag),
        ("acked", "acknowledged", "committed", "commits", "chosen"),
    ),
}


def roles(model: Model) -> Roles:
    """The roles of a model's parts: as it says itself, or else as their names tell."""
    parts = [*_parts(model)]
    fields: dict[tuple[str, str], Part] = {}
    whole: dict[str, Part] = {}
    for shown in getattr(model, "display", ()):
        found = next(
            (p for p in parts if p.variable == shown.variable and shown.field in {None, p.name}), None
        )
        if found is not None and found.owner is not None:
            fields[found.owner, shown.role] = found
        elif found is not None:
            whole[shown.role] = found
    sorts = tuple(sort.name for sort in model.sorts if any(p.owner == sort.name for p in parts))
    for sort in sorts:
        own = [part for part in parts if part.owner == sort and not part.ghost]
        for role, (fits, names) in FIELDS.items():
            if (sort, role) not in fields and (named := _named(own, fits, names)):
                fields[sort, role] = named
    public = [part for part in parts if part.owner is None]
    for role, (fits, names) in WHOLE.items():
        if role not in whole and (named := _named(public, fits, names)):
            whole[role] = named
    return Roles(sorts, fields, whole)


def _named(parts: list[Part], fits: Fits, names: tuple[str, ...]) -> Part | None:
    """The part with the first of the names, whose type fits."""
    found = (part for name in names for part in parts if part.name == name and fits(part.type))
    return next(found, None)


def _parts(model: Model) -> Iterator[Part]:
    """Every variable, and every field of a variable that is a record."""
    for index, variable in enumerate(model.variables):
        of, owner = variable.type, variable.owner
        if owner is not None and isinstance(of, Map):
            of = of.value
        name = variable.name.removeprefix(f"{owner}.")
        yield Part(name, index, (), of, owner, variable.ghost)
        if isinstance(of, Record):
            for place, field in enumerate(of.fields):
                yield Part(field.name, index, (place,), field.type, owner, variable.ghost)


def leads(part: Part, value: Value, member: int) -> bool:
    """Whether a member whose `leads` has that value takes itself for the leader."""
    match part.type:
        case Bool():
            return bool(value)
        case Enum(_, names):
            return bool(value == names.index("leader"))
        case _:
            return bool(value == member and value is not None)
