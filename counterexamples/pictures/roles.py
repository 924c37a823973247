"""Which parts of a state are the log, the high watermark, the leader: what a picture draws as more than text.

A model may declare them in a `display` block; what it leaves open is found by the
names that protocols use.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from spec.frozen import frozen
from spec.meaning.semantics import State
from spec.model.ir import Model, Value
from spec.model.roles import HIDDEN, LABEL, ROLES, WORDS, Shown
from spec.model.types import Bool, Enum, Map, Record, Type


@frozen
class NamedPart:
    """A named part of the state: a variable, or a field of a record variable or process."""

    name: str
    variable: int
    path: tuple[int, ...]
    type: Type
    owner: str | None = None  # the sort of its process, of a process field
    ghost: bool = False

    def spelt(self, model: Model) -> str:
        """The name in the model's syntax: `quorum.isr`, `Replica.log`."""
        whole = model.variables[self.variable].name
        return f"{whole}.{self.name}" if self.path else whole

    def of(self, state: State, member: int | None = None) -> Value:
        """The value of the part in a state; for a process field, that of a member."""
        value = state[self.variable]
        if member is not None:
            value = value[member]
        for index in self.path:
            value = value[index]
        return value


@frozen
class Roles:
    """The part of the state for each role in pictures: log, leader, epoch and so on.

    `fields` has the fields of processes, by sort and role; `whole` has the other parts, by role.
    """

    sorts: tuple[str, ...]
    fields: Mapping[tuple[str, str], NamedPart]
    whole: Mapping[str, NamedPart]
    label: str | None = None  # the field of an entry that is its text; None for all but its epoch
    hidden: frozenset[tuple[int, str]] = (
        frozenset()
    )  # variables, and fields of them or "", that are not drawn
    words: Mapping[str, str] = dataclasses.field(default_factory=dict)  # those of `WORDS`, by role

    def field(self, sort: str, role: str) -> NamedPart | None:
        """The process field of a sort with a role."""
        return self.fields.get((sort, role))


# The names that protocols use, the likelier first.
NAMES: Mapping[str, tuple[str, ...]] = {
    "log": ("log", "journal", "history", "entries"),
    "high_watermark": ("hw", "high_watermark", "hwm", "commit", "commit_index", "committed", "commit_point"),
    "flushed": ("flushed", "synced", "persisted", "stable"),
    "up": ("up", "alive", "running"),
    "leads": ("leads", "leader", "lead", "is_leader", "primary", "role", "status"),
    "leader": ("leader", "primary"),
    "membership": ("isr", "members", "configuration", "in_sync"),
    "epoch": ("epoch", "term", "view", "ballot", "ep", "promised"),
    "acknowledged": ("acked", "acknowledged", "committed", "commits", "chosen"),
}


def roles(model: Model) -> Roles:
    """The roles of a model's parts, as declared in `display`, else found by name."""
    networks = {index for index, variable in enumerate(model.variables) if variable.network}
    parts = [part for part in parts_of(model) if part.variable not in networks]
    sorts = tuple(sort.name for sort in model.sorts if any(p.owner == sort.name for p in parts))
    owners = (None, *sorts)
    shown = [each for each in model.display if each.role != HIDDEN]
    said = {(p.owner, each.role): p for each in shown for p in parts if _is_displayed_by(p, each)}
    hidden = frozenset(
        (s.variable, s.field or "") for s in model.display if s.role == HIDDEN and s.variable is not None
    )
    found = {(owner, role): _named(parts, owner, role) for owner in owners for role in NAMES} | said
    played = {key: part for key, part in found.items() if part is not None}
    fields = {(owner, role): part for (owner, role), part in played.items() if owner is not None}
    for sort in sorts:
        if (log := fields.get((sort, "log"))) and (synced := _companion(parts, log)):
            fields.setdefault((sort, "flushed"), synced)
    whole = {role: part for (owner, role), part in played.items() if owner is None}
    label = next((shown.field for shown in model.display if shown.role == LABEL), None)
    words = {shown.role: shown.field or "" for shown in model.display if shown.role in WORDS}
    return Roles(sorts, fields, whole, label, hidden, words)


def _is_displayed_by(part: NamedPart, shown: Shown) -> bool:
    """Whether an entry of the `display` block refers to the part."""
    field = part.name if part.path else None
    return shown.variable == part.variable and shown.field == field


def _named(parts: list[NamedPart], owner: str | None, role: str) -> NamedPart | None:
    """The first part with one of a role's usual names; a ghost may only be a global variable."""
    might = ROLES[role]
    if not (might.of_state if owner is None else might.of_process):
        return None
    own = [part for part in parts if part.owner == owner and not (part.ghost and owner)]
    found = (part for name in NAMES[role] for part in own if part.name == name)
    return next((part for part in found if might.fits(part.type, owner)), None)


def _companion(parts: list[NamedPart], log: NamedPart) -> NamedPart | None:
    """The implicit part with the length of a `cached` log that is on disk."""
    return next((p for p in parts if p.owner == log.owner and p.name == f"{log.name}.flushed"), None)


def parts_of(model: Model) -> Iterator[NamedPart]:
    """Every variable, and every field of a record variable."""
    for index, variable in enumerate(model.variables):
        of, owner = variable.type, variable.owner
        if owner is not None and isinstance(of, Map):
            of = of.value
        name = variable.name.removeprefix(f"{owner}.")
        yield NamedPart(name, index, (), of, owner, variable.ghost)
        if isinstance(of, Record):
            for place, field in enumerate(of.fields):
                yield NamedPart(field.name, index, (place,), field.type, owner, variable.ghost)


def leads(part: NamedPart, value: Value, member: int) -> bool:
    """Whether a value of a `leads` field means that the member considers itself the leader."""
    match part.type:
        case Bool():
            return bool(value)
        case Enum(_, names):
            return bool(value == names.index("leader"))
        case _:
            return bool(value == member and value is not None)
