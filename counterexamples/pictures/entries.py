"""The entries of logs as boxes, and what of them was acknowledged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from counterexamples.pictures.picture import Box
from counterexamples.pictures.roles import NamedPart, Roles
from spec.meaning.semantics import State
from spec.model.ir import Scope, Value
from spec.model.types import Bag, Map, Nat, Option, Record, Seq, Set, Type
from spec.model.values import members, ordered, show

LONG = 14  # characters of an entry in a box
EPOCHS = ("epoch", "term", "view", "ballot")  # fields of an entry that date it


class LogEntries:
    """Makes the boxes of log entries, and knows which of them are acknowledged."""

    def __init__(self, scope: Scope, parts: Roles) -> None:
        self._scope = scope
        self._roles = parts
        self._boxed: dict[tuple[Type, Value], Box] = {}
        self.short: dict[str, str] = {}  # by the text of a long entry, what a box has in its place

    def boxes(self, log: NamedPart, state: State, before: State | None, member: int) -> tuple[Box, ...]:
        """The entries of a replica's log as boxes, with the change since `before`."""
        if not isinstance(log.type, Seq):
            return self._in_no_order(log, state, before, member)
        now = log.of(state, member)
        old = now if before is None else log.of(before, member)
        same = next(
            (i for i, (a, b) in enumerate(zip(old, now, strict=False)) if a != b), min(map(len, (old, now)))
        )
        acknowledged = self.acknowledged_values(state)
        synced = self._roles.field(log.owner or "", "flushed")
        safe = len(now) if synced is None else synced.of(state, member)
        boxes = [self._box(log.type.of, entry) for entry in now]
        for i, entry in enumerate(now):
            is_acknowledged = not acknowledged.isdisjoint(self.holds(log.type.of, entry))
            if is_acknowledged and now.count(entry) > 1:  # which of those that are the same
                is_acknowledged = self._is_acknowledged_at(state, log.type.of, i, entry)
            if is_acknowledged or i >= min(same, safe):  # most entries of a long log are as they were
                is_fresh = i >= same and old[i : i + 1] != (entry,)
                boxes[i] = replace(
                    boxes[i], fresh=is_fresh, acknowledged=is_acknowledged, is_volatile=i >= safe
                )
        gone = [] if before is None else self.gone(log, state, before, member)
        return (*boxes, *(replace(self._box(log.type.of, entry), cut=True) for entry in gone))

    def gone(self, log: NamedPart, state: State, before: State, member: int) -> list[Value]:
        """The entries that were in a replica's log before and are not there any more, as their boxes come."""
        now, old = log.of(state, member), log.of(before, member)
        if isinstance(log.type, Seq):
            return [entry for i, entry in enumerate(old) if now[i : i + 1] != (entry,)]
        was, there = (entries(log.type, value, self._scope) for value in (old, now))
        return [entry for place, entry in dict.fromkeys(was) if (place, entry) not in there]

    def _in_no_order(
        self, log: NamedPart, state: State, before: State | None, member: int
    ) -> tuple[Box, ...]:
        """The same of a log that is a set, a bag or a map, whose entries have their places before them."""
        scope = self._scope
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
        """A new box of a log entry; what a record does not have is no part of it."""
        scope = self._scope
        if not isinstance(of, Record):
            return Box(f"{dates(of)}{self._fitting(show(of, entry, scope))}")
        shown = {
            field.name: show(field.type, value, scope)
            for field, value in zip(of.fields, entry, strict=True)
            if value is not None
        }
        epoch = next((name for name in EPOCHS if name in shown), None)
        under = "" if epoch is None else f"{epoch[0]}{shown.pop(epoch)}"
        if self._roles.label in {field.name for field in of.fields} - {epoch}:
            shown = {name: text for name, text in shown.items() if name == self._roles.label}
        text = self._fitting(",".join(shown.values()))
        return Box(text, under) if text else Box(under)

    def _fitting(self, text: str) -> str:
        """The text of an entry, or a short name for it that `Picture.entries` explains."""
        if len(text) <= LONG:
            return text
        letter = text[0].upper() if text[0].isalpha() else "#"
        return self.short.setdefault(text, f"{letter}{len(self.short) + 1}")

    # ------------------------------------------------- what was acknowledged to clients

    @property
    def record(self) -> str:
        """The word before the names of records if these are numbers, or records of the model."""
        acknowledged = self._roles.whole.get("acknowledged")
        of = None if acknowledged is None else element(acknowledged.type)
        if of is not None and dates(of):
            return "entry "
        return f"{spaced(of.name)} " if isinstance(of, Nat | Record) else ""

    def acknowledged_values(self, state: State) -> set[Value]:
        """The values acknowledged to clients in a state."""
        acknowledged = self._roles.whole.get("acknowledged")
        if acknowledged is None:
            return set()
        found = acknowledged.of(state)
        return {value for value, _ in found} if isinstance(acknowledged.type, Bag) else {*found}

    def acknowledged(self, state: State) -> tuple[str, ...]:
        """The values acknowledged to clients in words, in their order or, if they have none, canonical."""
        part = self._roles.whole.get("acknowledged")
        in_order = part is not None and isinstance(part.type, Seq)
        return tuple(self.in_words(part.of(state) if part and in_order else self.acknowledged_values(state)))

    def _is_acknowledged_at(self, state: State, of: Type, place: int, entry: Value) -> bool:
        """Whether the entry at a place of a log is acknowledged, as far as places are known."""
        part = self._roles.whole.get("acknowledged")
        if part is None or not isinstance(part.type, Seq) or part.type.of != of:
            return True
        acknowledged = part.of(state)
        return place < len(acknowledged) and acknowledged[place] == entry

    def in_words(self, values: set[Value] | tuple[Value, ...]) -> Iterator[str]:
        """Acknowledged values in words: in canonical order, unless they have one."""
        acknowledged = self._roles.whole.get("acknowledged")
        if acknowledged is not None:
            of = element(acknowledged.type)
            for value in ordered(values) if isinstance(values, set) else values:
                box = self._box(of, value) if isinstance(of, Record) else None
                text = f"{dates(of)}{show(of, value, self._scope)}" if box is None else box.text
                yield f"{text}·{box.under}" if box is not None and box.under else text

    def box_of_acknowledged(self, value: Value) -> Box:
        """The box that an acknowledged value has, or would have, in a replica's log."""
        return self._box(element(self._roles.whole["acknowledged"].type), value)

    def may_hold(self, of: Type) -> bool:
        """Whether a log entry can contain an acknowledged value."""
        acknowledged = self._roles.whole.get("acknowledged")
        wanted = None if acknowledged is None else element(acknowledged.type)
        return of == wanted or (isinstance(of, Record) and any(part.type == wanted for part in of.fields))

    def may_be(self, of: Type, entry: Value, value: Value) -> bool:
        """Whether an entry of a log has an acknowledged value, or may be what that is of."""
        acknowledged = self._roles.whole.get("acknowledged")
        wanted = None if acknowledged is None else element(acknowledged.type)
        if self.may_hold(of) or not isinstance(wanted, Record):
            return value in self.holds(of, entry)
        return any(part.type == of and v == entry for part, v in zip(wanted.fields, value, strict=True))

    def holds(self, of: Type, entry: Value) -> set[Value]:
        """The acknowledged values that a log entry contains."""
        acknowledged = self._roles.whole.get("acknowledged")
        wanted = None if acknowledged is None else element(acknowledged.type)
        if of == wanted:
            return {entry}
        if isinstance(of, Record):
            return {value for part, value in zip(of.fields, entry, strict=True) if part.type == wanted}
        return set()


def dates(of: Type) -> str:
    """The letter before the number of a type that says when, such as a term; empty for others."""
    word = last_word(of)
    return word[0] if word in EPOCHS else ""


def last_word(of: Type) -> str:
    """The last word in the name of a nat, as "epoch" of `LeaderEpoch`; empty for other types."""
    return spaced(of.name).split()[-1] if isinstance(of, Nat) else ""


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
