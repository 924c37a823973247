"""An order among the points of a search that have as many faults: those that promise a run come first.

NOTE(guidance): six mistakes lead a search astray, since what they spoil shows much later.  A broker is
shut down before anything needs it down, and then gets no record.  A leader lacks records of earlier epochs,
which it never gets again, though logs have them.  A broker lacks a record or a high watermark of its
directory, and no broker that leads later has it.  A log grows beyond an end that it has not lost, or beyond
the length in a line that is still to come; so does a leader's, before a follower has the high watermark in
that line.  A new leader has to commit again what an earlier one had committed, which brings no log nearer to
its end.  No point is excluded, so the search still finds what there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from modelcheck.kafka.incident.explain_log.later_lines import reports_truncation
from modelcheck.kafka.incident.explain_log.observations import (
    Back,
    Decided,
    Event,
    Gone,
    LineObservation,
    Observed,
)
from modelcheck.kafka.incident.explain_log.out_of_reach import OutOfReach
from spec.frozen import frozen
from spec.meaning.semantics import State

BEHIND = 3  # what each record counts that the leader commits anew
EARLY = 4  # what each observation counts that a broker's fall comes before without need
LACKING = 30  # what each record counts that the leader, or a broker, can never get


@frozen
class _Length:
    """A line of the length of a broker's log: at most `most`, when its high watermark has reached `mark`.

    `behind` is the position behind it.
    """

    broker: int
    most: int
    mark: int
    behind: int


class Guidance:
    """A penalty for points that probably lead nowhere; `at` gives the index of a variable in a state."""

    def __init__(self, observed: Observed, at: Callable[[str], int]) -> None:
        names = "Broker.up", "Broker.session", "Broker.log", "Broker.hw", "leader", "epoch"
        self._at = {name: at(name) for name in names}
        brokers = range(len(observed.brokers) if observed.sessions else 0)
        self._needless = tuple(tuple(_needless(observed.events, broker)) for broker in brokers)
        self._epochs = tuple(_longest(observed))
        self._to_come = tuple(tuple(_lengths(log)) for log in observed.logs)
        self._lengths = {
            broker: len(end.log) if end.mark <= len(end.log) else observed.highest  # it has lost its end
            for broker, end in observed.ends.items()
            if end.log is not None and end.folder
        }
        self._out_of_reach = OutOfReach(observed, at)

    def penalty(self, state: State, position: int, marked: int, lines: Sequence[int]) -> int:
        """The penalty of a point: 0 for none.  Costs time linear in the length of the logs."""
        at = self._at
        up, session = state[at["Broker.up"]], state[at["Broker.session"]]
        early = sum(
            needless[position]
            for broker, needless in enumerate(self._needless)
            if not (up[broker] and session[broker])
        )
        highs, leader = state[at["Broker.hw"]], state[at["leader"]]
        behind = 0 if leader is None else max(highs) - highs[leader]
        astray = self._lacking(state) + self._too_many(state) + self._too_long(state, lines)
        astray += self._out_of_reach.count(state, position, marked)
        return BEHIND * behind + EARLY * early + LACKING * astray

    def _too_long(self, state: State, lines: Sequence[int]) -> int:
        """The number of records by which logs are longer than in lines that are still to come."""
        at = self._at
        logs, highs, leader = state[at["Broker.log"]], state[at["Broker.hw"]], state[at["leader"]]
        longest = 0 if leader is None else len(logs[leader])
        found = 0
        for to_come, count in zip(self._to_come, lines, strict=True):
            line = to_come[count]
            if line is not None:
                found += max(0, len(logs[line.broker]) - line.most)
            while line is not None and highs[line.broker] >= line.mark:
                line = to_come[line.behind]
            if line is not None:  # with its mark a fetch would bring more records than it has
                found += max(0, longest - line.most)
        return found

    def _too_many(self, state: State) -> int:
        """The number of records behind the ends of logs that no leader cuts away."""
        logs = state[self._at["Broker.log"]]
        return sum(
            bool(entry[0] == kept)
            for broker, length in self._lengths.items()
            for entry, kept in zip(logs[broker][length:], self._epochs[length:], strict=False)
        )

    def _lacking(self, state: State) -> int:
        """The number of records of earlier epochs that the leader's log lacks, or has others in place of."""
        leader, epoch = state[self._at["leader"]], state[self._at["epoch"]]
        if leader is None:
            return 0
        log = state[self._at["Broker.log"]][leader]
        earlier = sum(each < epoch for each in self._epochs)
        same = [entry[0] == wanted for entry, wanted in zip(log[:earlier], self._epochs, strict=False)]
        lacking: int = earlier - same.count(True)
        return lacking


def _lengths(log: Sequence[LineObservation]) -> Iterator[_Length | None]:
    """For each position in a log the next line of a length, if it is known that nothing is cut before it."""
    found: list[_Length | None] = [None]
    for number in reversed(range(len(log))):
        seen, now = log[number], found[-1]
        if reports_truncation(seen):
            now = None
        elif seen.length is not None:
            now = _Length(seen.broker, seen.length[1], seen.mark, number + 1)
        elif now is not None and now.broker == seen.broker:
            now = replace(now, mark=max(now.mark, seen.mark))
        found.append(now)
    return reversed(found)


def _longest(observed: Observed) -> Iterator[int]:
    """The epoch of the record at each place, as the newest leader left it."""
    logs = [end.log for end in observed.ends.values() if end.log is not None]
    for place in range(max(map(len, logs), default=0)):
        yield max((log[place] or 0 for log in logs if len(log) > place), default=0)


def _needless(events: tuple[Event, ...], broker: int) -> Iterator[int]:
    """For each position the number of observations up to the next one that needs the broker down."""
    found = [0]
    was: list[Decided | None] = [None]
    for event in events:
        was.append(event if isinstance(event, Decided) else was[-1])
    for number in reversed(range(len(events))):
        needs = _needs_down(events[number], was[number], broker)
        found.append(0 if needs else found[-1] + (not isinstance(events[number], Gone)))
    return reversed(found)


def _needs_down(event: Event, was: Decided | None, broker: int) -> bool:
    """Whether an observation shows that a broker was down, or cut off, before it."""
    if isinstance(event, Gone | Back):
        return event.broker == broker
    if not isinstance(event, Decided) or was is None:
        return False
    dropped = broker in was.isr and broker not in event.isr
    return dropped or (was.leader == broker and event.leader != broker)
