"""The arrows of a step, and the messages that it sends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from counterexamples.diff import Change, Exchanged, Spliced
from counterexamples.messages import Channel, Message, Needs, channels
from counterexamples.pictures.cast import Cast
from counterexamples.pictures.entries import EPOCHS, dates, entry_type, spaced
from counterexamples.pictures.participants import participants
from counterexamples.pictures.picture import SHARED, Arrow, ArrowKind, Box, ReplicaState
from counterexamples.pictures.senders import Senders
from spec.meaning.semantics import Step
from spec.model.ir import Value
from spec.model.types import Bag, Case, Nat, Record, Seq, Set, Union
from spec.model.values import ordered, show


class Arrows:
    """Finds the arrows of a picture; ask for steps in order, as senders of messages are remembered."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._trace = cast.trace
        self._needs = Needs(cast.trace)
        self._acting = {name: participants(action) for name, action in cast.actions.items()}
        self._senders = Senders(cast, self._needs)
        self._sent: dict[Message, list[tuple[str, int]]] = {}  # of each copy under way, who sent it and when

    def of_step(
        self,
        number: int,
        step: Step,
        actors: list[str],
        found: tuple[Change, ...],
        old: Mapping[str, ReplicaState],
        new: Mapping[str, ReplicaState],
    ) -> Iterator[Arrow]:
        """The arrows of a step: messages, copies, decisions, answers and calls; none for a fault."""
        if self._cast.actions[step.action].is_fault:
            return
        drawn = [*self._drawn(number, step, actors, found, old, new)]
        yield from drawn
        joined = {frozenset((each.start, each.end)) for each in drawn}
        for name in self._called(step, actors):
            if frozenset((actors[0], name)) not in joined:
                yield Arrow(actors[0], name, step.action, ArrowKind.CALL)

    def _called(self, step: Step, actors: list[str]) -> list[str]:
        """The others of a step of the first actor: a quorum, or a second one where nothing is ever sent.

        Who is only named, as a member of a new configuration is, takes no part.
        """
        acting = self._acting[step.action]
        is_sent = any(variable.network is not None for variable in self._trace.model.variables)
        lanes: list[str | None] = []
        for name, of, value in self._cast.given(step):
            if name in acting and isinstance(of, Set):
                lanes += [self._cast.lane(of.of, each) for each in ordered(value)]
            elif name in acting and not is_sent:
                lanes.append(self._cast.lane(of, value))
        found = dict.fromkeys(lane for lane in lanes if lane is not None)
        return [name for name in found if name != actors[0]] if actors else []

    def _drawn(
        self,
        number: int,
        step: Step,
        actors: list[str],
        found: tuple[Change, ...],
        old: Mapping[str, ReplicaState],
        new: Mapping[str, ReplicaState],
    ) -> Iterator[Arrow]:
        """The arrows of a step but for calls."""
        yield from self._received(number, actors)
        known = {(b.text, b.under) for n in old for b in old[n].log or ()}
        for name, replica in new.items():
            boxes = [box for box in replica.log or () if box.fresh]
            wanted = {(box.text, box.under) for box in boxes}
            if wanted - known:
                if self._cast.client and not _begins(old[name], replica):
                    yield Arrow(self._cast.client, name, self._record(name, boxes), ArrowKind.RECORD)
            elif boxes and (sources := [a for a in actors if a != name and _has(old[a], wanted)]):
                yield Arrow(sources[0], name, ", ".join(map(_entry, boxes)), ArrowKind.COPY)
        decided = [c for c in found if c.place.member is None and not c.place.variable.ghost]
        is_decided = any(self._cast.is_decided(self._index(c), c.path.rpartition(".")[2]) for c in decided)
        if is_decided and (controller := self._cast.controller):
            is_sent = any(
                c.place.variable.network is not None for c in decided
            )  # so it is not known to others yet
            for name in actors[:1]:
                yield Arrow(controller, controller if is_sent else name, step.action, ArrowKind.DECISION)
        if self._cast.client:
            for who, told in self._answers(actors, found, new):
                yield Arrow(who, self._cast.client, told, ArrowKind.ANSWER)

    def told(
        self, actors: list[str], found: tuple[Change, ...], new: Mapping[str, ReplicaState]
    ) -> Iterator[tuple[str, str]]:
        """What a step acknowledges, as notes by lane, where the model names no client."""
        return iter(()) if self._cast.client else self._answers(actors, found, new)

    def posted(self, number: int, found: tuple[Change, ...]) -> Iterator[tuple[str, str]]:
        """The messages a step sends, or a fault drops, as notes by lane."""
        trace = self._trace
        changed = {change.place.member for change in found if change.place.variable.network is None}
        is_fault = self._cast.actions[trace.steps[number - 1].action].is_fault
        was, now = ([*channels(trace.model, trace.scope, trace.states[n])] for n in (number - 1, number))
        for before, after in zip(was, now, strict=True):
            if before.content == after.content or not self._cast.is_chosen(after.network, ""):
                continue
            had, has = before.counted, after.counted
            for value in ordered(set(had - has)):
                sent = self._sent.get(Message(after.network, after.place, value), [])
                who = (sent[0][0] if sent else "") or self._cast.common
                del sent[: had[value] - has[value]]
                if is_fault:
                    beside = next((lane for lane in reversed(self._cast.lanes(after)) if lane != who), who)
                    yield beside, f"✗ {self._told(after, value)} is gone"
            for value in ordered(set(has - had)):
                by = self._senders.of(number, after, value, changed)
                to = next((lane for lane in reversed(self._cast.lanes(after)) if lane != by), None)
                message, text = Message(after.network, after.place, value), self._told(after, value)
                sent = self._sent.setdefault(message, [])
                copies = has[value] - had[value]
                sent += (sent[-1:] or [("", 0)]) * copies if is_fault else [(by, number)] * copies
                if is_fault:
                    yield to or by, f"{text} once more" if had[value] else f"{text} is there now"
                else:
                    use = ", which no step here needs" if self._needs.is_without_use(message, number) else ""
                    yield by, (f"sends {text}" if to is None else f"→ {to}: {text}") + use

    def under_way(self, number: int) -> tuple[str, ...]:
        """The messages after a step that later ones need, the next first; ask after `posted` of the step."""
        trace = self._trace
        found: list[tuple[int, str]] = []
        for channel in channels(trace.model, trace.scope, trace.states[number]):
            if not self._cast.is_chosen(channel.network, ""):
                continue
            for value in ordered(set(channel.counted)):
                message = Message(channel.network, channel.place, value)
                used = self._needs.next_use(message, number)
                if used is None:
                    continue
                sender, _ = next(iter(self._sent.get(message, ())), ("", 0))
                to = next((lane for lane in reversed(self._cast.lanes(channel)) if lane != sender), "")
                ends = f"{'' if sender == SHARED else sender}{' → ' if to else ''}{to}".lstrip()
                found.append((used, f"{ends}{': ' if ends else ''}{self._told(channel, value)}"))
        return tuple(text for _, text in sorted(found, key=lambda pair: pair[0]))

    def _received(self, number: int, actors: list[str]) -> Iterator[Arrow]:
        """The arrows of the messages that a step needs, from their senders."""
        trace, first = self._trace, self._cast.subject(number)
        for message in self._needs.of_step(number):
            if not self._cast.is_chosen(message.network, ""):
                continue
            sender, sent = next(iter(self._sent.get(message, ())), ("", 0))
            if sent:
                channel = next(
                    each
                    for each in channels(trace.model, trace.scope, trace.states[number - 1])
                    if (each.network, each.place) == (message.network, message.channel)
                )
                able = [lane for lane in self._cast.lanes(channel) if lane in actors]
                able += [lane for lane in (first, *actors) if lane is not None]
                to = [lane for lane in able if lane != sender]
                when = "" if sent == number - 1 else f", sent in {sent}"
                text = self._told(channel, message.value) + when
                yield Arrow(sender, [*to, *able, self._cast.common][0], text, ArrowKind.MESSAGE)

    def _record(self, name: str, boxes: list[Box]) -> str:
        """The label of a record that a client sends."""
        text = ", ".join(box.text for box in boxes)
        log = self._cast.roles.field(self._cast.sort_of[name][0], "log")
        of = entry_type(log.type) if log is not None else None
        parts = [f.type for f in of.fields if f.name not in EPOCHS] if isinstance(of, Record) else [of]
        if len(parts) == 1 and isinstance(parts[0], Nat):
            return f"{spaced(parts[0].name)} {text}" if not dates(parts[0]) else text
        return text

    def _answers(
        self, actors: list[str], found: tuple[Change, ...], new: Mapping[str, ReplicaState]
    ) -> Iterator[tuple[str, str]]:
        """Who acknowledges something in a step, and what."""
        acknowledged = self._cast.roles.whole.get("acknowledged")
        for change in found:
            if acknowledged is None or self._index(change) != acknowledged.variable:
                continue
            added = change.how.added if isinstance(change.how, Exchanged | Spliced) else ()
            if added and isinstance(change.type, Set | Bag | Seq):
                told_ = ", ".join(show(change.type.of, value, self._trace.scope) for value in added)
                word = "ack" if acknowledged.name.startswith("ack") else acknowledged.name
                who = next((a for a in actors if new[a].leads), actors[0] if actors else self._cast.common)
                yield who, f"{word} {told_}"

    def _told(self, channel: Channel, value: Value) -> str:
        """A message in words: what it says, after the name of its network where it has none of its own."""
        of, name = channel.type.of, self._trace.model.variables[channel.network].name
        text = show(of, value, self._trace.scope)
        return text if isinstance(of, Record | Case | Union) else f"{name} {text}"

    def _index(self, change: Change) -> int:
        """The index of the variable that changed."""
        return self._trace.model.variables.index(change.place.variable)


def _entry(box: Box) -> str:
    """An entry of a log in words."""
    return f"{box.text} ({box.under})" if box.under else box.text


def _begins(old: ReplicaState, new: ReplicaState) -> bool:
    """Whether a replica begins to lead: what it appends then is its own entry, and of no client."""
    return new.leads and not (old.leads and old.epoch == new.epoch)


def _has(replica: ReplicaState, wanted: set[tuple[str, str]]) -> bool:
    """Whether a replica's log has certain entries."""
    return wanted <= {(box.text, box.under) for box in replica.log or ()}
