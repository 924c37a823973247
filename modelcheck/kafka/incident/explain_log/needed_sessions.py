"""The sessions that the timeline needs: who has none, and returns too late for them, leads to no run.

NOTE(sessions): whoever is made the leader has a session, and so have whoever joins the ISR, where fenced
brokers are kept out, and the leader who takes it in.  Each new session is a return in the timeline.  So a
broker that is without one, and has to do one of these before its next return, can never do it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from modelcheck.kafka.incident.explain_log.observations import Back, Decided, Event

NEVER = -1


class NeededSessions:
    """For each position in a timeline the brokers that must have a session there."""

    def __init__(self, events: Sequence[Event], brokers: int) -> None:
        self._events = events
        self._next = [NEVER]  # for each position the index of the next decision
        for number in reversed(range(len(events))):
            self._next.append(number if isinstance(events[number], Decided) else self._next[-1])
        self._next.reverse()
        needs: list[frozenset[int]] = []
        before: Decided | None = None
        for event in events:
            needs.append(frozenset(_needing(before, event)))
            before = event if isinstance(event, Decided) else before
        self._needed: list[tuple[int, ...]] = [(NEVER,) * brokers]
        for number in reversed(range(len(events))):
            now, event = list(self._needed[-1]), events[number]
            if isinstance(event, Back):
                now[event.broker] = NEVER
            for broker in needs[number]:
                now[broker] = number
            self._needed.append(tuple(now))
        self._needed.reverse()

    def is_lacking(self, position: int, session: Sequence[bool], epoch: int, isr: frozenset[int]) -> bool:
        """Whether some broker has no session, and needs one before it returns; `epoch` and `isr` are decided.

        Of the next decision a part may be done, and not be observed yet: that needs no session.
        """
        for broker, number in enumerate(self._needed[position]):
            if session[broker] or number == NEVER:
                continue
            event = self._events[number]
            if number != self._next[position] or not isinstance(event, Decided):
                return True
            if event.epoch != epoch or not (event.isr if broker == event.leader else {broker}) <= isr:
                return True
        return False


def _needing(before: Decided | None, event: Event) -> Iterator[int]:
    """The brokers that need a session for what is observed, if that is a decision."""
    if before is None or not isinstance(event, Decided) or event.leader is None:
        return
    if event.epoch != before.epoch:
        yield event.leader
    elif event.leader == before.leader and event.isr - before.isr:
        yield from event.isr - before.isr
        yield event.leader
