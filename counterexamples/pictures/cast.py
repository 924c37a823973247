"""Who plays in a trace: its replicas, the state of each, and what was acknowledged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from counterexamples.pictures.picture import SHARED, Box, ReplicaState
from counterexamples.pictures.roles import NamedPart, leads, roles
from counterexamples.pictures.selection import ALL, Selection
from counterexamples.trace import Trace
from spec.meaning.semantics import Machine, State, Step
from spec.model.ir import Scope, Storage, Value
from spec.model.roles import CLIENT, CONTROLLER, SET
from spec.model.types import BOOL, Bag, Map, Nat, Option, Record, Seq, Set, Sort, Type
from spec.model.values import members, ordered, show

SEEN = (
    "log",
    "high_watermark",
    "flushed",
    "up",
    "epoch",
    "leads",
)  # roles of fields that `ReplicaState` shows
DECIDED = ("leader", "epoch", "membership")  # roles of what is decided for all
LONG = 14  # characters of an entry in a box
EPOCHS = ("epoch", "term", "view", "ballot")  # fields of an entry that date it


class Cast:
    """The replicas of a trace, each with a lane, and the state variables with a role in pictures."""

    def __init__(self, trace: Trace, selection: Selection = ALL) -> None:
        self.trace = trace
        self.selection = selection
        self.machine = Machine(trace.model, trace.scope)
        self.actions = {action.name: action for action in trace.model.actions}
        self.roles = selection.of_roles(roles(trace.model), trace.model.variables)
        self._lane_of = {
            (sort, ordinal): name
            for sort in self.roles.sorts
            for ordinal, name in enumerate(trace.scope.sorts[sort])
            if selection.has_member(name)
        }
        self.sort_of = {name: key for key, name in self._lane_of.items()}
        self._switches = tuple(self._found_switches())
        self._ties = tuple(self._found_ties())
        self._boxed: dict[tuple[Type, Value], Box] = {}
        self.short: dict[str, str] = {}  # by the text of a long entry, what a box has in its place

    @property
    def replicas(self) -> tuple[str, ...]:
        """The names of all replicas, in the order of lanes."""
        return tuple(self.sort_of)

    @property
    def membership(self) -> str:
        """The word for the set that replicas join and leave, such as ISR."""
        part, word = self.roles.whole.get("membership"), self.roles.words.get(SET)
        if part is None:
            return ""
        return part.name if word is None else f"the {word.replace('_', ' ')}"

    @property
    def controller(self) -> str:
        """Who decides what no replica owns; empty if the model names no one."""
        return self.roles.words.get(CONTROLLER, "").replace("_", " ")

    @property
    def client(self) -> str:
        """Who sends records and gets acknowledgements; empty if the model names no one."""
        return self.roles.words.get(CLIENT, "").replace("_", " ")

    @property
    def common(self) -> str:
        """The name of the lane for what belongs to no replica: of who decides it, or of no one."""
        return self.controller or SHARED

    @property
    def told(self) -> str:
        """The word for what must not be lost: acknowledged, or as the model calls it."""
        part = self.roles.whole.get("acknowledged")
        is_told = part is None or self.client or part.name.startswith("ack")
        return "acknowledged" if is_told or part is None else part.name.replace("_", " ")

    def lane(self, of: Type, value: Value) -> str | None:
        """The replica that a value names; None if it names none."""
        sort = sort_of_type(of)
        return None if sort is None or value is None else self._lane_of.get((sort, value))

    def actors(self, step: Step) -> list[str]:
        """The replicas named by a step's parameters and choices."""
        names = [self.lane(of, value) for _, of, value in self.given(step)]
        return [*dict.fromkeys(name for name in names if name is not None)]

    def given(self, step: Step) -> list[tuple[str, Type, Value]]:
        """The names, types and values of a step's parameters and choices."""
        action = self.actions[step.action]
        found = [(p.name, p.type, v) for p, v in zip(action.params, step.args, strict=True)]
        return [*found, *((choice.name, choice.type, choice.value) for choice in step.choices)]

    def says(self, number: int) -> str:
        """The sentence for step `number`, counted from 1."""
        step = self.trace.steps[number - 1]
        return self.machine.says(self.actions[step.action], step, self.trace.states[number - 1])

    # ------------------------------------------------------------- states of replicas

    def replica_state(self, name: str, state: State, before: State | None) -> ReplicaState:
        """The drawn state of a replica, with the change of its log since `before`."""
        sort, member = self.sort_of[name]
        found = ReplicaState()
        control = self.roles.whole.get("leader")
        if control is not None and sort_of_type(control.type) == sort:
            found = replace(found, chosen=control.of(state) == member)
        if up := self.roles.field(sort, "up"):
            found = replace(found, up=bool(up.of(state, member)))
        if leader := self.roles.field(sort, "leads"):
            value = leader.of(state, member)
            found = replace(found, leads=found.up and leads(leader, value, member))
            if found.up and sort_of_type(leader.type) == sort and value not in {None, member}:
                found = replace(found, follows=self.trace.scope.sorts[sort][value])
        elif found.chosen:  # what the members themselves believe is not known
            found = replace(found, leads=found.up)
        if (members := self.roles.whole.get("membership")) and element(members.type) == Sort(sort):
            found = replace(found, member=member in members.of(state))
        if epoch := self.roles.field(sort, "epoch"):
            found = replace(found, epoch=f"{_of_time(epoch)} {epoch.of(state, member)}")
            newest = self.roles.whole.get("epoch")
            is_old = newest is not None and newest.of(state) != epoch.of(state, member)
            found = replace(found, is_aware=found.leads and not is_old)
        if log := self.roles.field(sort, "log"):
            found = replace(found, log=self._boxes(log, state, before, member))
        found = replace(found, oddities=tuple(self._oddities(sort, member, state, is_up=found.up)))
        found = replace(found, ties=tuple(self._held(sort, member, state)) if found.up else ())
        if mark := self.roles.field(sort, "high_watermark"):
            value = int(mark.of(state, member))
            if log is None or isinstance(log.type, Seq):
                found = replace(found, high_watermark=value, mark=mark.name)
            else:  # there is no order of entries in which it could be a bar
                found = replace(found, epoch=f"{found.epoch} · {mark.name} {value}".removeprefix(" · "))
        return found

    def _oddities(self, sort: str, member: int, state: State, *, is_up: bool) -> Iterator[str]:
        """The Boolean fields of a replica that differ from the initial state, in words.

        Of one that is down, those that are true and that it would have lost: they were set since.
        """
        first = self.trace.states[0]
        for index, name in self._switches:
            variable = self.trace.model.variables[index]
            if variable.owner == sort and (is_up or variable.storage is Storage.VOLATILE):
                value = state[index][member]
                if value != first[index][member] and (is_up or value):
                    yield f"{name}: {'yes' if value else 'no'}"

    def _held(self, sort: str, member: int, state: State) -> Iterator[str]:
        """The others of its sort that a replica's fields without another role hold, in words."""
        for index, name in self._ties:
            variable = self.trace.model.variables[index]
            if variable.owner == sort and isinstance(variable.type, Map):
                value = state[index][member]
                if value is not None and value != frozenset():
                    yield f"{name} {show(variable.type.value, value, self.trace.scope)}"

    def _found_ties(self) -> Iterator[tuple[int, str]]:
        """The fields that hold members of their sort, or a set of them, and play no other role, by name."""
        played = {part.variable for part in self.roles.fields.values()}
        for index, variable in enumerate(self.trace.model.variables):
            owner, of = variable.owner, variable.type
            if owner is None or not isinstance(of, Map) or variable.ghost or variable.network is not None:
                continue
            holds = of.value.of if isinstance(of.value, Set | Option) else None
            if holds == Sort(owner) and index not in played and self._is_open(index):
                yield index, variable.name.removeprefix(f"{owner}.")

    def _found_switches(self) -> Iterator[tuple[int, str]]:
        """The Boolean fields without another role, with their names."""
        played = {part.variable for part in self.roles.fields.values()}
        for index, variable in enumerate(self.trace.model.variables):
            owner = variable.owner
            is_switch = owner is not None and variable.type == Map(Sort(owner), BOOL) and not variable.ghost
            if is_switch and index not in played and self._is_open(index):
                yield index, variable.name.removeprefix(f"{owner}.")

    def _is_open(self, index: int) -> bool:
        """Whether a variable is neither hidden by the model nor left out by selection."""
        return (index, "") not in self.roles.hidden and self.is_chosen(index, "")

    def is_chosen(self, index: int, field: str) -> bool:
        """Whether a variable or field is among what is to be shown."""
        return self.selection.has(index, field, self.trace.model.variables[index])

    def is_drawn(self, index: int, field: str) -> bool:
        """Whether a variable or field is drawn, as a box, bar or word, or hidden."""
        return (
            not {(index, ""), (index, field)}.isdisjoint(self.roles.hidden)
            or any(index == switch for switch, _ in self._switches)
            or any(part.variable == index for (_, role), part in self.roles.fields.items() if role in SEEN)
            or self.is_decided(index, field)
        )

    def is_decided(self, index: int, field: str) -> bool:
        """Whether a variable or field is the global leader, epoch or membership."""
        parts = [part for role, part in self.roles.whole.items() if role in DECIDED]
        return any(part.variable == index and (not part.path or part.name == field) for part in parts)

    def control(self, state: State) -> tuple[str, ...]:
        """The global leader, epoch and membership, in words."""
        scope = self.trace.scope
        parts = [self.roles.whole.get(role) for role in DECIDED]
        return tuple(f"{p.name}: {show(p.type, p.of(state), scope)}" for p in parts if p is not None)

    def _boxes(self, log: NamedPart, state: State, before: State | None, member: int) -> tuple[Box, ...]:
        """The entries of a replica's log as boxes, with the change since `before`."""
        if not isinstance(log.type, Seq):
            return self._boxes_in_no_order(log, state, before, member)
        now = log.of(state, member)
        old = now if before is None else log.of(before, member)
        same = next(
            (i for i, (a, b) in enumerate(zip(old, now, strict=False)) if a != b), min(map(len, (old, now)))
        )
        acknowledged = self.acknowledged_values(state)
        synced = self.roles.field(log.owner or "", "flushed")
        safe = len(now) if synced is None else synced.of(state, member)
        boxes = [self._box(log.type.of, entry) for entry in now]
        for i, entry in enumerate(now):
            is_acknowledged = not acknowledged.isdisjoint(self.holds(log.type.of, entry))
            if is_acknowledged or i >= min(same, safe):  # most entries of a long log are as they were
                is_fresh = i >= same and old[i : i + 1] != (entry,)
                boxes[i] = replace(
                    boxes[i], fresh=is_fresh, acknowledged=is_acknowledged, is_volatile=i >= safe
                )
        gone = [entry for i, entry in enumerate(old) if i >= same and now[i : i + 1] != (entry,)]
        return (*boxes, *(replace(self._box(log.type.of, entry), cut=True) for entry in gone))

    def _boxes_in_no_order(
        self, log: NamedPart, state: State, before: State | None, member: int
    ) -> tuple[Box, ...]:
        """The same of a log that is a set, a bag or a map, whose entries have their places before them."""
        scope = self.trace.scope
        of, now = entry_type(log.type), entries(log.type, log.of(state, member), scope)
        old = now if before is None else entries(log.type, log.of(before, member), scope)
        acknowledged = self.acknowledged_values(state)
        found = []
        for place, entry in dict.fromkeys((*now, *old)):
            box = self._box(of, entry)
            is_there, was_there = (place, entry) in now, (place, entry) in old
            made = replace(
                box,
                text=f"{place}:{box.text}" if place else box.text,
                fresh=not was_there,
                cut=not is_there,
                acknowledged=is_there and not acknowledged.isdisjoint(self.holds(of, entry)),
            )
            found += [made] * max(1, now.count((place, entry)))
        return tuple(found)

    def _box(self, of: Type, entry: Value) -> Box:
        """The box of a log entry, with its record and epoch; made once."""
        if (of, entry) not in self._boxed:
            self._boxed[of, entry] = self._made(of, entry)
        return self._boxed[of, entry]

    def _made(self, of: Type, entry: Value) -> Box:
        """A new box of a log entry."""
        scope = self.trace.scope
        if not isinstance(of, Record):
            return Box(self._fitting(show(of, entry, scope)))
        shown = {f.name: show(f.type, value, scope) for f, value in zip(of.fields, entry, strict=True)}
        epoch = next((name for name in EPOCHS if name in shown), None)
        under = "" if epoch is None else f"{epoch[0]}{shown.pop(epoch)}"
        if self.roles.label in shown:
            return Box(self._fitting(shown[self.roles.label]), under)
        return Box(self._fitting(",".join(shown.values())) or under, under if shown else "")

    def _fitting(self, text: str) -> str:
        """The text of an entry, or a short name for it that `Picture.entries` explains."""
        if len(text) <= LONG:
            return text
        letter = text[0].upper() if text[0].isalpha() else "#"
        return self.short.setdefault(text, f"{letter}{len(self.short) + 1}")

    # ------------------------------------------------- what was acknowledged to clients

    @property
    def record(self) -> str:
        """The word before the names of records if these are numbers."""
        acknowledged = self.roles.whole.get("acknowledged")
        of = None if acknowledged is None else element(acknowledged.type)
        return f"{spaced(of.name)} " if isinstance(of, Nat) else ""

    def acknowledged_values(self, state: State) -> set[Value]:
        """The values acknowledged to clients in a state."""
        acknowledged = self.roles.whole.get("acknowledged")
        if acknowledged is None:
            return set()
        found = acknowledged.of(state)
        return {value for value, _ in found} if isinstance(acknowledged.type, Bag) else {*found}

    def acknowledged(self, state: State) -> tuple[str, ...]:
        """The values acknowledged to clients, in words and canonical order."""
        return tuple(self.in_words(self.acknowledged_values(state)))

    def in_words(self, values: set[Value]) -> Iterator[str]:
        """Acknowledged values in words, in canonical order."""
        acknowledged = self.roles.whole.get("acknowledged")
        if acknowledged is not None:
            of = element(acknowledged.type)
            yield from (show(of, value, self.trace.scope) for value in ordered(values))

    def box_of_acknowledged(self, name: str, value: Value) -> Box:
        """The box that an acknowledged value has, or would have, in a replica's log."""
        sort, _ = self.sort_of[name]
        log, acknowledged = self.roles.field(sort, "log"), self.roles.whole["acknowledged"]
        of = element(acknowledged.type)
        is_entry = log is not None and entry_type(log.type) == of
        return self._box(of, value) if is_entry else Box(self._fitting(show(of, value, self.trace.scope)))

    def holds(self, of: Type, entry: Value) -> set[Value]:
        """The acknowledged values that a log entry contains."""
        acknowledged = self.roles.whole.get("acknowledged")
        wanted = None if acknowledged is None else element(acknowledged.type)
        if of == wanted:
            return {entry}
        if isinstance(of, Record):
            return {value for part, value in zip(of.fields, entry, strict=True) if part.type == wanted}
        return set()


def sort_of_type(of: Type) -> str | None:
    """The sort that values of a type name, if any."""
    if isinstance(of, Option):
        return sort_of_type(of.of)
    return of.name if isinstance(of, Sort) else None


def _of_time(epoch: NamedPart) -> str:
    """The name of a field with a time, and what its type calls one: "term", "follows epoch"."""
    word = spaced(epoch.type.name).split()[-1] if isinstance(epoch.type, Nat) else ""
    return epoch.name if word in epoch.name.lower() else f"{epoch.name} {word}"


def spaced(name: str) -> str:
    """The name of a type as words: `LeaderEpoch` is "leader epoch"."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()


def element(of: Type) -> Type:
    """The element type of a collection; another type itself."""
    return of.of if isinstance(of, Set | Bag | Seq) else of


def entry_type(log: Type) -> Type:
    """The type of the entries of a log."""
    if isinstance(log, Map):
        return log.value.of if isinstance(log.value, Option) else log.value
    return element(log)


def entries(log: Type, value: Value, scope: Scope) -> list[tuple[str, Value]]:
    """The entries of a log with their places: in a map its keys, else none."""
    match log:
        case Map():
            places = [show(log.key, key, scope) for key in members(log.key, scope)]
            return [pair for pair in zip(places, value, strict=True) if pair[1] is not None]
        case Seq():
            return [("", entry) for entry in value]
        case Bag():
            return [("", entry) for entry, times in ordered(value) for _ in range(times)]
        case _:
            return [("", entry) for entry in ordered(value)]
