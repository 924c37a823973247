"""Which parts of a state, and which members, a picture shows: all, or what a reader has chosen."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from counterexamples.diff import StatePlace
from counterexamples.pictures.roles import NAMES, NamedPart, Roles, parts_of, roles
from spec.diagnostics import Diagnostic, SpecError, suggest
from spec.frozen import frozen
from spec.model.ir import Model, Scope, Variable
from spec.source import Source, Span


@frozen
class SelectedNames:
    """What names mean: parts of the state as variable and field, members, ghosts, messages."""

    parts: frozenset[tuple[int, str]] = frozenset()
    members: frozenset[str] = frozenset()
    ghosts: bool = False
    messages: bool = False

    @property
    def has_parts(self) -> bool:
        """Whether something of the state is named, and not members alone."""
        return bool(self.parts) or self.ghosts or self.messages


@frozen
class Selection:
    """What is shown: of parts and of members those in `show`, if it names any, but for those in `hide`.

    Ghosts are shown where they are named alone.  Who is down is always shown, unless it is hidden: else a
    picture would have it run.
    """

    show: SelectedNames = SelectedNames()
    hide: SelectedNames = SelectedNames()

    def has_member(self, name: str) -> bool:
        """Whether a member has a lane."""
        return (not self.show.members or name in self.show.members) and name not in self.hide.members

    def has(self, index: int, field: str, variable: Variable) -> bool:
        """Whether a variable, or a field of it, is shown."""
        keys = {(index, ""), (index, field)}
        named, left_out = not keys.isdisjoint(self.show.parts), not keys.isdisjoint(self.hide.parts)
        if variable.ghost:
            return (named or self.show.ghosts) and not (left_out or self.hide.ghosts)
        if variable.network is not None:
            return (named or self.show.messages or not self.show.has_parts) and not (
                left_out or self.hide.messages
            )
        return (named or not self.show.has_parts) and not left_out

    def has_claimed(self, index: int) -> bool:
        """Whether a ghost is shown at the end, where a claim that reads it is false."""
        named = self.show.ghosts or not self.show.has_parts or any(i == index for i, _ in self.show.parts)
        return named and not (self.hide.ghosts or any(i == index for i, _ in self.hide.parts))

    def has_lane(self, place: StatePlace) -> bool:
        """Whether a part of the state is of a member with a lane, or of none."""
        return place.member is None or self.has_member(place.member)

    def has_place(self, model: Model, place: StatePlace, path: str) -> bool:
        """Whether a part of the state is shown; `path` names what is meant of it."""
        index = model.variables.index(place.variable)
        return self.has_lane(place) and self.has(index, path.rpartition(".")[2], place.variable)

    def of_roles(self, found: Roles, variables: tuple[Variable, ...]) -> Roles:
        """The roles of what is shown."""

        def is_shown(part: NamedPart, role: str) -> bool:
            field = part.name if part.path else ""
            if role == "up" or (part.ghost and not self.show.has_parts):
                return {(part.variable, ""), (part.variable, field)}.isdisjoint(self.hide.parts) and not (
                    part.ghost and self.hide.ghosts
                )
            return self.has(part.variable, field, variables[part.variable])

        return dataclasses.replace(
            found,
            fields={key: part for key, part in found.fields.items() if is_shown(part, key[1])},
            whole={role: part for role, part in found.whole.items() if is_shown(part, role)},
        )


ALL = Selection()
GHOSTS, MESSAGES = "ghost", "messages"  # names for all of them


def selected(model: Model, scope: Scope, show: Sequence[str], hide: Sequence[str]) -> Selection:
    """What a picture shows: the parts of the state and members that are named, all ghosts, all messages.

    Raises SpecError for a name that nothing has; one that several have means all of them.
    """
    return Selection(_names(model, scope, "--show", show), _names(model, scope, "--hide", hide))


def _names(model: Model, scope: Scope, option: str, names: Sequence[str]) -> SelectedNames:
    """What names mean."""
    known, found = [*parts_of(model)], roles(model)
    lanes = {name for sort in found.sorts for name in scope.sorts[sort]}
    parts, members, rest = set[NamedPart](), set[str](), set[str]()
    for name in names:
        named = [p for p in known if p.spelt(model) == name or p.spelt(model).endswith(f".{name}")]
        playing = (found.whole.get(name), *(found.field(sort, name) for sort in found.sorts))
        parts |= {*(named or (part for part in playing if part is not None))}
        members |= {name} & lanes
        members |= {*scope.sorts[name]} if name in found.sorts else set()
        rest |= {name} & {GHOSTS, MESSAGES}
        if not (named or any(playing) or name in lanes or name in found.sorts or name in rest):
            spelt = [part.spelt(model) for part in known]
            short = [part.name for part in known]
            help_ = suggest(name, [*lanes, *short, *spelt, *NAMES, *found.sorts, GHOSTS, MESSAGES])
            what = f"{model.name} has no variable, field, role or member `{name}`"
            help_ = help_ or f"it has {', '.join(sorted({*short, *lanes}))}"
            text = ",".join(names)
            start = 0 if text.startswith(f"{name},") or text == name else text.index(f",{name}") + 1
            place = Span(start, start + len(name))
            raise SpecError([Diagnostic("R0902", Source(option, text), place, what, help=help_)])
    keys = frozenset((part.variable, part.name if part.path else "") for part in parts)
    return SelectedNames(keys, frozenset(members), GHOSTS in rest, MESSAGES in rest)
