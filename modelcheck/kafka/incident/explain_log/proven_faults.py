"""The faults that a timeline proves, though no file shows them: cuts of the network, and lost sessions.

NOTE(proven): a broker leaves the ISR while the leadership stays, and joins it again, with no return between.
At the join it is up, has a session and reaches its leader, and each start and each new session is a return.
So it was up and had its session when it left, and only a cut between it and its leader takes it out then: of
one of the two, by then.  Whoever joins, and who leads then, is linked: a cut before that is over.  A return
of a broker that did not restart proves that it lost its session and ran on.

One fault may be a cut and a lost session at once (`cut_off`): where that may be so, only the session counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from modelcheck.kafka.incident.explain_log.observations import Back, Decided, Event
from spec.frozen import frozen

CUTS = frozenset({"isolate", "cut_off"})
LOST_SESSIONS = frozenset({"session_loss", "cut_off"})


@frozen
class _Drop:
    """A drop from the ISR that proves a cut, by the index of its observation: of `broker` or of its leader.

    `ends` is whether the cut is over when the broker is back in the ISR, whoever of the two it is of.
    """

    index: int
    broker: int
    leader: int
    ends: bool


class ProvenFaults:
    """The faults that the observations from a position on prove, for a broker's state at that position.

    A bound from below, since each counted fault is another one, and none takes a broker down.  Costs time in
    proportion to the faults still to come.  Without `events` nothing is proven.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        decided = [number for number, event in enumerate(events) if isinstance(event, Decided)]
        self._decided = decided
        # For each broker where it is linked, and who joins there.
        self._links: dict[int, list[tuple[int, int]]] = {}
        for number, broker, leader in _joins(events, decided):
            for each in (broker, leader):
                self._links.setdefault(each, []).append((number, broker))
        self._backs: dict[int, list[int]] = {}
        self._reconnects: dict[int, list[int]] = {}
        for number, event in enumerate(events):
            if isinstance(event, Back):
                self._backs.setdefault(event.broker, []).append(number)
                if event.restarted is False:
                    self._reconnects.setdefault(event.broker, []).append(number)
        self._drops = self._independent(list(_drops(events, decided, self._backs)))
        self._indexes = [each.index for each in self._drops]

    def cuts(self, position: int, linked: Sequence[bool], isr: frozenset[int]) -> int:
        """How many more cuts must come."""
        return len(self._due(position, linked, isr))

    def heals(self, position: int, linked: Sequence[bool], isr: frozenset[int]) -> int:
        """How many cuts must still be healed, those that must come included."""
        now = sum(
            not is_linked and self._next_link(broker, position, isr) is not None
            for broker, is_linked in enumerate(linked)
        )
        return now + sum(each.ends for each in self._due(position, linked, isr))

    def lost_sessions(self, position: int, out: Sequence[bool]) -> int:
        """How many more brokers must lose their sessions and run on; `out` are those that have and do."""
        found = 0
        for broker, reconnects in self._reconnects.items():
            left = len(reconnects) - bisect_left(reconnects, position)
            if left and out[broker]:
                backs = self._backs[broker]
                left -= backs[bisect_left(backs, position)] == reconnects[-left]
            found += left
        return found

    def _due(self, position: int, linked: Sequence[bool], isr: frozenset[int]) -> Sequence[_Drop]:
        """The drops from a position on that need a cut which has not come yet."""
        first = bisect_left(self._indexes, position)
        drops = self._drops[first:]
        if drops and drops[0].index == self._next_decided(position) and drops[0].broker not in isr:
            drops = drops[1:]  # it has left, and so has not been observed yet
        if all(linked):
            return drops
        until = {
            broker: self._next_link(broker, position, isr)
            for broker, is_linked in enumerate(linked)
            if not is_linked
        }
        return [
            each
            for each in drops
            if not any(
                broker in until and ((link := until[broker]) is None or each.index < link)
                for broker in (each.broker, each.leader)
            )
        ]

    def _next_decided(self, position: int) -> int | None:
        """The index of the next decision."""
        found = bisect_left(self._decided, position)
        return self._decided[found] if found < len(self._decided) else None

    def _next_link(self, broker: int, position: int, isr: frozenset[int]) -> int | None:
        """The index of the next observation that shows a broker linked; None without one."""
        links = self._links.get(broker, [])
        following = self._next_decided(position)
        for index, joins in links[bisect_left(links, (position, -1)) :]:
            if index != following or joins not in isr:  # else it has joined, and is not observed yet
                return index
        return None

    def _independent(self, drops: Sequence[_Drop]) -> tuple[_Drop, ...]:
        """Drops of which no two come from one cut, nor from a lost session that counts."""
        found: list[_Drop] = []
        later: dict[int, int] = {}  # the drop behind that a cut of the broker may be the cause of
        for each in reversed(drops):
            brokers = (each.broker, each.leader)
            if any(
                (broker in later and not self._is_linked_in(broker, each.index, later[broker]))
                or self._reconnects_before(broker, each.index)
                for broker in brokers
            ):
                continue
            found.append(each)
            later |= dict.fromkeys(brokers, each.index)
        return tuple(reversed(found))

    def _is_linked_in(self, broker: int, start: int, end: int) -> bool:
        """Whether a broker is shown as linked between two observations."""
        links = self._links.get(broker, [])
        found = bisect_left(links, (start, -1))
        return found < len(links) and links[found][0] < end

    def _reconnects_before(self, broker: int, index: int) -> bool:
        """Whether a broker has come back without a restart, and may not have been linked since."""
        reconnects = self._reconnects.get(broker, [])
        found = bisect_left(reconnects, index)
        return found > 0 and not self._is_linked_in(broker, reconnects[found - 1], index)


def _same_leader(before: Decided, after: Decided) -> bool:
    """Whether the leadership stays."""
    return before.leader is not None and (before.leader, before.epoch) == (after.leader, after.epoch)


def _changes(events: Sequence[Event], decided: Sequence[int]) -> Iterator[tuple[int, int, Decided, Decided]]:
    """Each two decisions, next to each other, that leave the leadership as it was, with their indexes."""
    for first, second in pairwise(decided):
        before, after = events[first], events[second]
        if isinstance(before, Decided) and isinstance(after, Decided) and _same_leader(before, after):
            yield first, second, before, after


def _joins(events: Sequence[Event], decided: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Who joins the ISR, by the index of the observation, and the leader."""
    for _, number, before, after in _changes(events, decided):
        for broker in sorted(after.isr - before.isr):
            if after.leader is not None:
                yield number, broker, after.leader


def _drops(events: Sequence[Event], decided: Sequence[int], backs: dict[int, list[int]]) -> Iterator[_Drop]:
    """The drops that a cut alone explains."""
    joins: dict[int, list[tuple[int, int]]] = {}
    for number, broker, leader in _joins(events, decided):
        joins.setdefault(broker, []).append((number, leader))
    for since, number, before, after in _changes(events, decided):
        for broker in sorted(before.isr - after.isr):
            again = joins.get(broker, [])
            place = bisect_left(again, (number, -1))
            returns = backs.get(broker, [])
            back = bisect_left(returns, since)
            if after.leader is None or place == len(again):
                continue
            joined, leader = again[place]
            if back < len(returns) and returns[back] < joined:
                continue
            yield _Drop(number, broker, after.leader, leader == after.leader)
