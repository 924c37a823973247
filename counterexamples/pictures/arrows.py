"""The arrows of a step, and the messages that it sends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from counterexamples.diff import Change, Exchanged, Spliced
from counterexamples.pictures.cast import EPOCHS, Cast, element
from counterexamples.pictures.picture import CLIENT, CONTROLLER, Arrow, ArrowKind, Box, ReplicaState
from spec.meaning.semantics import Step
from spec.model.ir import Value
from spec.model.types import Bag, Map, Nat, Record, Seq, Set, Type, Union
from spec.model.values import show

LONG = 40  # characters of a message that are shown


class Arrows:
    """Finds the arrows of a picture; ask for steps in order, as senders of messages are remembered."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._trace = cast.trace
        self._sent: dict[tuple[int, Value], tuple[str, int]] = {}  # who and when, by network and message
        self._taken = {key for step in self._trace.steps for key in self._messages(step)}

    def of_step(
        self,
        number: int,
        step: Step,
        actors: list[str],
        found: tuple[Change, ...],
        old: Mapping[str, ReplicaState],
        new: Mapping[str, ReplicaState],
    ) -> Iterator[Arrow]:
        """The arrows of a step: messages, copies, decisions and answers; none for a fault."""
        if self._cast.actions[step.action].is_fault:
            return
        yield from self._received(number, step, actors)
        known = {(b.text, b.under) for n in old for b in old[n].log or ()}
        for name, replica in new.items():
            boxes = [box for box in replica.log or () if box.fresh]
            others = [other for other in actors if other != name]
            if any((box.text, box.under) not in known for box in boxes):
                yield Arrow(CLIENT, name, self._record(name, boxes), ArrowKind.RECORD)
            elif boxes and others:
                yield Arrow(others[0], name, ", ".join(map(_entry, boxes)), ArrowKind.COPY)
        decided = [c for c in found if c.place.member is None and not c.place.variable.ghost]
        if any(self._cast.is_decided(self._index(c), c.path.rpartition(".")[2]) for c in decided):
            is_sent = any(
                c.place.variable.network is not None for c in decided
            )  # so it is not known to others yet
            for name in actors[:1]:
                yield Arrow(CONTROLLER, CONTROLLER if is_sent else name, step.action, ArrowKind.DECISION)
        yield from self._answers(actors, found, new)

    def posted(
        self, number: int, sender: str, step: Step, found: tuple[Change, ...]
    ) -> Iterator[tuple[str, str]]:
        """The messages a step sends, or a fault drops, as notes by lane."""
        is_fault = self._cast.actions[step.action].is_fault
        for change in found:
            if change.place.variable.network is None or not isinstance(change.how, Exchanged | Spliced):
                continue
            of = change.type.of if isinstance(change.type, Set | Bag | Seq) else change.type
            to = change.path.partition("[")[2].rstrip("]")
            for message in dict.fromkeys(change.how.added):
                text = self._brief(of, message)
                if is_fault:
                    yield (to if to in self._cast.sort_of else sender), f"{text} once more"
                else:
                    self._sent[self._index(change), message] = sender, number
                    never = "" if (self._index(change), message) in self._taken else ", never taken up"
                    yield sender, (f"→ {to}: {text}" if to in self._cast.sort_of else f"sends {text}") + never
            if is_fault and isinstance(change.how, Exchanged):
                for message in dict.fromkeys(change.how.removed):
                    yield (
                        (to if to in self._cast.sort_of else sender),
                        f"✗ {self._brief(of, message)} is lost",
                    )

    def _messages(self, step: Step) -> Iterator[tuple[int, Value]]:
        """The messages that a step can have received, by network."""
        for of, value in self._cast.given(step):
            for index, variable in enumerate(self._trace.model.variables):
                if variable.network is not None and _may_hold(variable.type, of):
                    yield index, value

    def _received(self, number: int, step: Step, actors: list[str]) -> Iterator[Arrow]:
        """The arrows of messages that a step receives, from their senders."""
        for index, message in self._messages(step):
            sender, sent = self._sent.get((index, message), ("", 0))
            if sent and actors and sender != actors[0]:
                of = _message(self._trace.model.variables[index].type)
                when = "" if sent == number - 1 else f", sent in {sent}"
                yield Arrow(sender, actors[0], self._brief(of, message) + when, ArrowKind.MESSAGE)

    def _record(self, name: str, boxes: list[Box]) -> str:
        """The label of a record that a client sends."""
        text = ", ".join(box.text for box in boxes)
        log = self._cast.roles.field(self._cast.sort_of[name][0], "log")
        of = element(log.type) if log is not None else None
        parts = [f.type for f in of.fields if f.name not in EPOCHS] if isinstance(of, Record) else [of]
        if len(parts) == 1 and isinstance(parts[0], Nat):
            return f"{parts[0].name.lower()} {text}"
        return text

    def _answers(
        self, actors: list[str], found: tuple[Change, ...], new: Mapping[str, ReplicaState]
    ) -> Iterator[Arrow]:
        """The arrows of acknowledgements to clients."""
        acknowledged = self._cast.roles.whole.get("acknowledged")
        for change in found:
            if acknowledged is None or self._index(change) != acknowledged.variable:
                continue
            added = change.how.added if isinstance(change.how, Exchanged | Spliced) else ()
            if added and isinstance(change.type, Set | Bag | Seq):
                told_ = ", ".join(show(change.type.of, value, self._trace.scope) for value in added)
                word = "ack" if acknowledged.name.startswith("ack") else acknowledged.name
                who = next((a for a in actors if new[a].leads), actors[0] if actors else self._cast.common)
                yield Arrow(who, CLIENT, f"{word} {told_}", ArrowKind.ANSWER)

    def _brief(self, of: Type, value: Value) -> str:
        """A value in a few words."""
        text = show(of, value, self._trace.scope)
        if len(text) <= LONG:
            return text
        head, parenthesis, rest = text.partition("(")
        if not parenthesis:
            return text[: LONG - 1] + "…"
        kept = ""
        parts = rest.removesuffix(")").split(", ")
        for part in sorted(parts, key=lambda part: part.partition(" ")[0] not in EPOCHS):
            if len(head) + len(kept) + len(part) + 6 > LONG or part.count("{") != part.count("}"):
                break
            kept += f"{part}, "
        return f"{head}({kept}…)"

    def _index(self, change: Change) -> int:
        """The index of the variable that changed."""
        return self._trace.model.variables.index(change.place.variable)


def _entry(box: Box) -> str:
    """An entry of a log in words."""
    return f"{box.text} ({box.under})" if box.under else box.text


def _message(network: Type) -> Type:
    """The type of a network's messages."""
    return element(network.value if isinstance(network, Map) else network)


def _may_hold(network: Type, of: Type) -> bool:
    """Whether a network can contain messages of a type."""
    message = _message(network)
    return message == of or (isinstance(message, Union) and of in message.cases)
