"""Observations of a partition in files: parts of states, in the order of the metadata log and of epochs.

Brokers are numbered as in the model's scope, epochs and records as the model counts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from spec.frozen import frozen


@frozen
class Evidence:
    """The source of an observation: a file, the place in it, and its content in words."""

    place: str
    says: str

    def __str__(self) -> str:
        """The evidence in one line."""
        return f"{self.place}: {self.says}"


@frozen
class Decided:
    """An observed decision of the controller: a record of the partition's state."""

    leader: int | None
    epoch: int
    isr: frozenset[int]
    eligible: frozenset[int]
    evidence: Evidence

    @property
    def control(self) -> Control:
        """The decided values, as they are compared with a state of the model."""
        return (self.leader, self.epoch, self.isr, self.eligible)


@frozen
class Gone:
    """An observation that a broker lost its session: it was fenced, or it `announced` that it shuts down."""

    broker: int
    evidence: Evidence
    announced: bool = True


@frozen
class Registered:
    """An observation that a process of a broker that has just started was registered, and is still fenced.

    `new_directory` is whether its directory is another one than the last process had, None if unknown.
    """

    broker: int
    new_directory: bool | None
    evidence: Evidence


@frozen
class Back:
    """An observation that a broker has a session again.

    `restarted` is whether a process of it that has started since is registered, and `new_directory` as
    there; each is None if unknown.
    """

    broker: int
    new_directory: bool | None
    evidence: Evidence
    restarted: bool | None = None


SETS_MIN_ISR, ALLOWS, FORBIDS = SETTING = ("set_min_isr", "allow_unclean", "forbid_unclean")


@frozen
class Changed:
    """An observation that a setting of the topic changed: the step of the model, and its arguments."""

    action: str
    args: tuple[int, ...]
    evidence: Evidence


Control = tuple[int | None, int, frozenset[int], frozenset[int]]
Event = Decided | Gone | Registered | Back | Changed


class Left(Enum):
    """How a broker's directory was left: after a clean or an unclean shutdown."""

    CLEAN = "shut down cleanly"
    UNCLEAN = "not shut down cleanly"
    UNKNOWN = "a copy, perhaps of a running broker"


@frozen
class Ended:
    """A broker's directory: the epochs of its log's records (None: any), and how it was left.

    A log that is None is not known.
    `mark` is the high watermark that it wrote down, as a number of records; `folder` is whether its
    folder of the partition is there, so that its disk was not lost last.
    """

    broker: int
    log: tuple[int | None, ...] | None
    mark: int
    left: Left
    folder: bool
    log_evidence: Evidence
    mark_evidence: Evidence
    left_evidence: Evidence


@frozen
class LineObservation:
    """What a log line implies about a state, in the order of its log.

    None and 0 are not known.  `length` is of the broker's log, at least and at most, and `mark` what
    its high watermark has reached; `epoch` is what the controller's had come to, so that no record in a
    log of that length is of a later one, and `position` how many observations of the metadata log were
    made by then.  `actions` are steps of the broker that such a line
    is usually written of, behind it or, with `ahead`, before it: they decide only where it is
    shown.  Without `evidence` it is the first half of the next one.
    """

    broker: int
    evidence: Evidence | None
    up: bool | None = None
    stopped: bool | None = None
    session: bool | None = None
    length: tuple[int, int] | None = None
    mark: int = 0
    epoch: int = 0
    position: int = 0
    actions: frozenset[str] = frozenset()
    ahead: bool = False


@frozen
class Coverage:
    """The numbers of records, or lines, that were matched, irrelevant, and unknown."""

    matched: int
    ignored: int
    unknown: int
    damaged: int = 0

    @property
    def total(self) -> int:
        """The sum of the numbers."""
        return self.matched + self.ignored + self.unknown + self.damaged


@frozen
class Interval:
    """The offsets that one record of the model represents, `end` excluded."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def __str__(self) -> str:
        """The first and the last offset."""
        if len(self) == 1:
            return f"offset {self.start:,}"
        return f"offsets {self.start:,} to {self.end - 1:,}"


@frozen
class Observed:
    """All observations of a partition: the timeline, the brokers' directories, and the lines.

    `whole` is whether the spine begins with the partition itself.  `intervals` are the offsets of the
    records at each place of a log.  `logs` are the lines of each log, in its order; without `sessions`
    it is not known when a broker came back, so that it may at any time.  `starts` has, for a broker, the
    number of the log that has all of its starts.  The first `promised` records of the first epoch count as
    acknowledged and as committed.
    """

    brokers: tuple[str, ...]
    events: tuple[Event, ...]
    ends: Mapping[int, Ended]
    intervals: tuple[Interval, ...]
    whole: bool
    logs: tuple[tuple[LineObservation, ...], ...] = ()
    sessions: bool = True
    starts: Mapping[int, int] = field(default_factory=dict)
    promised: int = 0

    @property
    def shown(self) -> frozenset[tuple[int, int | None]]:
        """The records found in logs: position from 1 on, and epoch (None: any).

        A high watermark shows that there was a record at each place below it, and in a log that has lost its
        end it was of the epoch of the last one that is there, or of a later one.  So does a line with the
        length of a log, for an epoch that had begun by then.
        """
        found = {
            (place, epoch)
            for end in self.ends.values()
            for place, epoch in enumerate(end.log or (), 1)
            if epoch is not None
        }
        for seen in (each for log in self.logs for each in log):
            least = max(seen.mark, 0 if seen.length is None else seen.length[0])
            found |= {
                (place, epoch)
                for place in range(1, least + 1)
                for epoch in range(1, (seen.epoch or self.epochs) + 1)
            }
        for end in self.ends.values():
            if end.log is not None:
                least = (end.log[-1] or 1) if end.log else 1
                found |= {
                    (place, epoch)
                    for place in range(len(end.log) + 1, end.mark + 1)
                    for epoch in range(least, self._last_epoch(end.broker) + 1)
                }
        known = {place for place, _ in found}
        return frozenset(
            found | {(place, None) for place in range(1, self.highest + 1) if place not in known}
        )

    def _last_epoch(self, broker: int) -> int:
        """The last leader epoch that a broker may have heard of: none behind the end of its last session."""
        epoch, last = 1, self.epochs
        for event in self.events if self.sessions else ():
            if isinstance(event, Decided):
                epoch = event.epoch
            elif isinstance(event, Gone) and event.broker == broker:
                last = epoch
            elif isinstance(event, Back) and event.broker == broker:
                last = self.epochs
        return last

    @property
    def highest(self) -> int:
        """The highest high watermark found, in records of the model."""
        lines = (seen.mark for log in self.logs for seen in log)
        return max((*(end.mark for end in self.ends.values()), *lines), default=0)

    @property
    def epochs(self) -> int:
        """The last leader epoch in the model."""
        return max((each.epoch for each in self.events if isinstance(each, Decided)), default=1)
