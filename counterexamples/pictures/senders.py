"""Who sends a message, as far as the model and the run tell."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from counterexamples.messages import Channel, Needs, channels
from counterexamples.pictures.cast import Cast
from counterexamples.pictures.picture import SHARED
from spec.model.ir import Value
from spec.model.types import Case, Record, Union

FROM = ("from", "sender")  # fields of a message that name who sends it


class Senders:
    """Finds the senders of messages, without a guess: where nothing tells, it is the shared state."""

    def __init__(self, cast: Cast, needs: Needs) -> None:
        self._cast = cast
        self._trace = cast.trace
        self._needs = needs

    def of(self, number: int, channel: Channel, value: Value, changed: Collection[str | None]) -> str:
        """Who sends a message that step `number` puts into a channel; the step changed what `changed` have.

        It is the one that the message names as its sender; else that the step's sentence begins with; else
        who is in the step and has its name on the channel, where channels are named by who sends; else the
        only one that may be it.
        """
        found = (
            self._named_by(channel, value)
            or self._told(number, channel)
            or self._owner(number, channel)
            or self._only(number, channel, changed)
        )
        return found or (SHARED if self._cast.actors(number) else self._cast.common)

    def _named_by(self, channel: Channel, value: Value) -> str | None:
        """The replica that a message says it is from."""
        of = channel.type.of
        if isinstance(of, Union):
            of = of.cases[value[0]]
        if not isinstance(of, Record | Case):
            return None
        parts = value[1:] if isinstance(of, Case) else value
        named = {
            field.name: self._cast.lane(field.type, part)
            for field, part in zip(of.fields, parts, strict=True)
        }
        return next((named[name] for name in FROM if named.get(name)), None)

    def _owner(self, number: int, channel: Channel) -> str | None:
        """The replica that sends all that is in a channel; None where that is not known.

        Nothing tells that one does a step that does not name it, as one that finds it in the state: others
        may put a message into its channel too.
        """
        lanes = self._cast.lanes(channel)
        is_known = len(lanes) == 1 and channel.network in self._of_senders
        return lanes[0] if is_known and lanes[0] in self._cast.involved(number) else None

    def _able(self, number: int, channel: Channel) -> list[str]:
        """Who of those in a step may send into a channel: one of its two ends, and not who takes it up."""
        lanes, actors = self._cast.lanes(channel), self._cast.actors(number)
        if len(lanes) > 1:
            return [each for each in actors if each in lanes]
        return [each for each in actors if each not in lanes or channel.network not in self._of_takers]

    def _told(self, number: int, channel: Channel) -> str | None:
        """Who the sentence of a step begins with, if it may send into a channel."""
        able, first = self._able(number, channel), self._cast.subject(number)
        if first in able or first is None:
            return first
        is_taker = first in self._cast.actors(number)  # who asks, and is answered in the same step
        return None if is_taker or len(self._cast.lanes(channel)) > 1 else first

    def _only(self, number: int, channel: Channel, changed: Collection[str | None]) -> str | None:
        """The only one in a step who may send into a channel, or the only one of several that it changed.

        Where the sentence begins with another, it has to be one that the step changed.
        """
        cast, able = self._cast, self._able(number, channel)
        is_of_another = cast.has_sentence(number) and cast.subject(number) is None
        is_of_another = is_of_another and len(cast.lanes(channel)) < 2
        if len(able) > 1 or is_of_another:
            able = [each for each in able if each in changed]
        return able[0] if len(able) == 1 else None

    @property
    def _of_senders(self) -> frozenset[int]:
        """The networks whose channels are named by who sends."""
        return self._named[0]

    @property
    def _of_takers(self) -> frozenset[int]:
        """The networks whose channels are named by who takes up what is in them."""
        return self._named[1]

    @cached_property
    def _named(self) -> tuple[frozenset[int], frozenset[int]]:
        """The networks whose channels are named by who sends, and by who takes up: seen from who acts.

        Who takes a message up alone has its name on the channel; else who takes up what another's channel has
        is not its owner, and neither is another who sends into the channel that alone acts, unless the
        sentence begins with somebody else, as a client.
        """
        trace, cast = self._trace, self._cast
        taken: dict[int, list[tuple[bool, bool]]] = {}
        sent: dict[int, list[bool]] = {}
        for number, step in enumerate(trace.steps, 1):
            if cast.actions[step.action].is_fault:
                continue
            named, first = cast.named(step), cast.subject(number)
            is_of_another = cast.has_sentence(number) and first is None
            actors = {*named, first} - {None}
            was, now = ([*channels(trace.model, trace.scope, trace.states[n])] for n in (number - 1, number))
            needed = {(each.network, each.channel) for each in self._needs.of_step(number)}
            for before, after in zip(was, now, strict=True):
                lanes = cast.lanes(before)
                if len(lanes) != 1:
                    continue
                is_alone = named == lanes and first in {None, lanes[0]}
                if (before.network, before.place) in needed:
                    is_anothers = bool(actors) and lanes[0] not in actors
                    taken.setdefault(before.network, []).append((is_alone, is_anothers))
                if after.counted - before.counted:
                    sent.setdefault(before.network, []).append(is_alone and not is_of_another)
        of_takers = frozenset(network for network, seen in taken.items() if any(alone for alone, _ in seen))
        of_senders = frozenset(
            network
            for network in {*taken, *sent} - of_takers
            if any(other for _, other in taken.get(network, ())) or any(sent.get(network, ()))
        )
        return of_senders, of_takers
