"""Lines of logs as observations of parts of states, each in its weakest meaning.

NOTE(weak): a line is one more reason to refuse a run, so it means no more than must be true in the model.
A broker reads the metadata log behind the others, and may start to lead in an epoch that is over already:
so a line shows that the controller has reached an epoch, not that the broker is in it.  A follower forgets
what it had of its high watermark when it is killed, and the model does not: so a mark is reached, not had.
A broker writes of its log before it has a session again: so no line of a log shows that it is up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.fields import uuid_of
from modelcheck.kafka.files.messages.lines import LogLine
from modelcheck.kafka.files.messages.templates import Says
from modelcheck.kafka.incident.explain_log.logs import NodeLog, short_name
from modelcheck.kafka.incident.explain_log.metadata_timeline import Spine
from modelcheck.kafka.incident.explain_log.observations import Evidence, Interval, LineObservation
from modelcheck.kafka.incident.explain_log.product import RETURNS, STARTS
from spec.frozen import frozen

LEADS = frozenset({"become_leader"})
FOLLOWS = frozenset({"become_follower"})
LEARNS = frozenset({"learn", "become_leader", "become_follower"})
LEAVE_ISR = frozenset({"shrink", "isolate", "cut_off"})
ANNOUNCE = frozenset({Says.STARTS, Says.STOPPED, Says.WAS_CLEAN, Says.WAS_UNCLEAN, Says.UNFLUSHED})
DOWN = frozenset({"shut_down"})
HOW_LEFT = frozenset({Says.WAS_CLEAN, Says.WAS_UNCLEAN})
UNCLEAN = frozenset({"elect_unclean", "elect_last_leader"})
SHORTEN = 160  # letters of a line that are shown
# Which offsets in lines matter first, where there are more of them than records of the model.
RANKS: Mapping[Says, int] = {
    Says.TRUNCATED: 0,
    Says.LEADS: 1,
    Says.FOLLOWS: 2,
    Says.RECOVERED: 3,
    Says.SHRINKS: 4,
}
MOST_OFFSETS = 8  # of lines, in addition to those of directories


@frozen
class Meaning:
    """The facts about a state that a kind of line implies.

    `state` is whether its epochs and high watermark are of that state, and `length` whether its
    offset is the end of the broker's log; for the rest see `LineObservation`.
    """

    state: bool = False
    length: bool = False
    up: bool | None = None
    stopped: bool | None = None
    session: bool | None = None
    actions: frozenset[str] = frozenset()
    ahead: bool = False


MEANINGS: Mapping[Says, Meaning] = {
    Says.LEADS: Meaning(state=True, length=True, actions=LEADS),
    Says.FOLLOWS: Meaning(state=True, length=True, actions=FOLLOWS, ahead=True),
    Says.TOLD: Meaning(state=True, actions=LEARNS),
    Says.ISR: Meaning(state=True),
    Says.CREATED: Meaning(state=True),
    Says.CHANGED: Meaning(state=True),
    Says.ELECTED: Meaning(state=True, actions=UNCLEAN),
    Says.SHRINKS: Meaning(state=True, length=True, actions=LEAVE_ISR),
    Says.EXPANDS: Meaning(actions=frozenset({"expand"})),
    Says.LOADED: Meaning(state=True, actions=STARTS),
    Says.RECOVERED: Meaning(length=True, up=False, actions=STARTS, ahead=True),  # before it has a session
    Says.MARK: Meaning(state=True),
    Says.BELOW_MARK: Meaning(state=True, actions=FOLLOWS, ahead=True),
    Says.TRUNCATED: Meaning(length=True, actions=FOLLOWS),
    Says.FENCED: Meaning(session=False),
    Says.EXPIRED: Meaning(session=False),
    Says.UNFENCED: Meaning(session=True, actions=RETURNS),
    Says.LEAVES: Meaning(actions=DOWN, ahead=True),
    Says.STOPS: Meaning(actions=DOWN, ahead=True),
    Says.STOPPED: Meaning(up=False, stopped=True, actions=DOWN),
    Says.STARTS: Meaning(up=False, actions=STARTS, ahead=True),
    Says.STARTED: Meaning(up=True, actions=STARTS),
    Says.WAS_CLEAN: Meaning(up=False, stopped=True, actions=STARTS, ahead=True),
    Says.WAS_UNCLEAN: Meaning(up=False, stopped=False, actions=STARTS, ahead=True),
    Says.UNFLUSHED: Meaning(up=False, stopped=False, actions=STARTS, ahead=True),
}


@frozen
class PartitionLines:
    """The lines of a log about a partition, and about `node`, the broker that wrote it.

    `starts` is whether the log has each start of the broker since its first line.
    """

    node: int | None
    lines: tuple[LogLine, ...]
    starts: bool = False


def lines_of_partition(log: NodeLog, place: TopicPartition, spine: Spine, *, gaps: bool) -> PartitionLines:
    """The lines of a log about the partition of a metadata timeline.

    A log that has one start has all of them: they are logged at the same level.  With `gaps` that is not
    assumed.
    """
    lines = tuple(log.lines(place))
    starts = not gaps and any(line.says in {Says.STARTS, Says.STARTED} for line in lines)
    return _of_the_partition(PartitionLines(log.node, lines, starts), spine)


def _of_the_partition(log: PartitionLines, spine: Spine) -> PartitionLines:
    """The lines without those older than the partition's first metadata record.

    That is all before the partition is named first, where the metadata log has its beginning; and all up
    to the last line of a state before, of an older epoch or of another topic of this name.
    """
    lines = log.lines
    if spine.begins is not None:
        return replace(log, lines=lines[_first_line_since(lines, spine) :])
    first = next((n for n, line in enumerate(lines) if line.place is not None), len(lines))
    begin = first if spine.whole else 0
    oldest = spine.epochs[0][0] if spine.epochs else 0
    for number, line in enumerate(lines):
        epoch, version = line.value("epoch"), line.value("version")
        is_older = (epoch is not None and epoch < oldest) or (
            version is not None and bool(spine.versions) and version < min(spine.versions)
        )
        if is_older or _is_of_another(line, spine.topic):
            begin = number + 1
    return replace(log, lines=lines[begin:])


def _first_line_since(lines: Sequence[LogLine], spine: Spine) -> int:
    """The first line that is surely of the part that is explained: of a state since, or of a later epoch."""
    oldest, version = spine.epochs[0][0], min(spine.versions, default=0)
    return next(
        (
            number
            for number, line in enumerate(lines)
            if (line.value("version") or -1) >= version or (line.value("epoch") or -1) > oldest
        ),
        len(lines),
    )


def _is_of_another(line: LogLine, topic: UUID | None) -> bool:
    """Whether a line is about another topic of the same name, by its id."""
    text = line.values.get("id")
    return text is not None and topic is not None and uuid_of(text) not in {None, topic}


def offsets(logs: Sequence[PartitionLines]) -> list[int]:
    """The most important offsets in the lines, as many as the model has records for.

    Of a log that was cut, one record behind the cut is among them if no line has its end before.
    """
    ranked: dict[int, int] = {}
    for line in (line for log in logs for line in log.lines if line.says in RANKS):
        offset, rank = line.value("offset"), RANKS[line.says]
        if offset is not None:
            ranked[offset] = min(ranked.get(offset, rank), rank)
    cuts = [offset for offset, rank in ranked.items() if rank == RANKS[Says.TRUNCATED]]
    if cuts and max(cuts) == max(ranked):
        ranked[max(cuts) + 1] = RANKS[Says.TRUNCATED]
    best = sorted(ranked, key=lambda offset: (ranked[offset], offset))[:MOST_OFFSETS]
    return sorted(best)


def seen(log: PartitionLines, spine: Spine, intervals: Sequence[Interval]) -> tuple[LineObservation, ...]:
    """The observations from a log's lines, in order, without those about brokers that have no replica."""
    return tuple(_LineTranslator(log, spine, intervals).all())


class _LineTranslator:
    """Translates the lines of one log to observations of the model."""

    def __init__(self, log: PartitionLines, spine: Spine, intervals: Sequence[Interval]) -> None:
        self._log = log
        self._spine = spine
        self._intervals = intervals

    def all(self) -> Iterator[LineObservation]:
        """The observations of all lines."""
        announced = False  # whether a line since the last start shows that the broker is down
        for line in of_its_directory(self._log.lines):
            evidence = Evidence(f"{short_name(line.path)}:{line.number}", shortened(line.text))
            for about in self._about(line):
                if about not in self._spine.brokers:
                    continue
                broker = self._spine.brokers.index(about)
                if line.says is Says.STARTED and not announced:
                    yield LineObservation(broker, None, up=False, actions=STARTS, ahead=True)
                yield from self._line(line, broker, evidence)
            announced = line.says is not Says.STARTED and (announced or line.says in ANNOUNCE)

    def _about(self, line: LogLine) -> Iterator[int]:
        """The brokers that a line is about, by their numbers in the model."""
        node = line.node if line.node is not None else self._log.node
        match line.says:
            case Says.FENCED | Says.UNFENCED | Says.LEAVES:
                about = line.value("about")
            case Says.ELECTED:
                about = line.value("leader")
            case Says.CREATED | Says.CHANGED:
                about = self._spine.brokers[0]  # what the controller decided is of all
            case _:
                about = node
        if about is not None:
            yield about

    def _line(self, line: LogLine, broker: int, evidence: Evidence) -> Iterator[LineObservation]:
        """The observations from a line about a broker."""
        meant = MEANINGS.get(line.says)
        if meant is None:
            return
        offset = line.value("offset")
        length = None if offset is None or not meant.length else self._length(offset)
        if line.says is Says.TRUNCATED and length is not None and self._is_cut_since(length, offset):
            yield LineObservation(broker, None, length=(length[0] + 1, len(self._intervals)))
        yield LineObservation(
            broker,
            evidence,
            meant.up,
            meant.stopped,
            meant.session,
            length,
            self._mark(line) if meant.state else 0,
            self._epoch(line) if meant.state else 0,
            self._position(line) if meant.state else 0,
            meant.actions,
            meant.ahead,
        )

    def _is_cut_since(self, length: tuple[int, int], offset: int | None) -> bool:
        """Whether a cut shows that the log was longer before; not if that may be of before its beginning."""
        begins = self._spine.begins
        return self._is_between(length) and (begins is None or (offset or 0) > begins.offset)

    def _is_between(self, length: tuple[int, int]) -> bool:
        """Whether a length is exact: the log ends at a boundary between records of the model."""
        return length[0] == length[1] < len(self._intervals)

    def _length(self, offset: int) -> tuple[int, int]:
        """The least and the greatest number of the model's records in a log with this end offset."""
        return (
            sum(each.end <= offset for each in self._intervals),
            sum(each.start < offset for each in self._intervals),
        )

    def _mark(self, line: LogLine) -> int:
        """The number of the model's records below the high watermark in a line."""
        return self._length(line.value("mark") or 0)[0]

    def _epoch(self, line: LogLine) -> int:
        """The model's leader epoch for the one in a line."""
        epoch = line.value("epoch")
        if epoch is None or not self._spine.epochs:
            return 0
        return min(self._spine.epoch_of(epoch), self._spine.epochs[-1][1])

    def _position(self, line: LogLine) -> int:
        """The number of metadata observations up to the partition state that a line refers to."""
        version = line.value("version")
        known = [] if version is None else [n for v, n in self._spine.versions.items() if v <= version]
        return max(known, default=0)


def of_its_directory(lines: Sequence[LogLine]) -> Iterator[LogLine]:
    """The lines without those on the end of a broker that may not hold for the partition's log directory.

    Of several directories some may have failed, and then nothing of theirs is flushed by a clean shutdown.
    Where a broker finds some that were shut down cleanly and some that were not, it does not say which has
    the partition.
    """
    failed = False
    for number, line in enumerate(lines):
        if line.says in {Says.STARTS, Says.STARTED}:
            failed = False
        failed = failed or line.says is Says.OFFLINE
        if line.says is Says.STOPPED and failed:
            continue
        if line.says in HOW_LEFT and len(set(_how_left(lines, number))) > 1:
            continue
        yield line


def _how_left(lines: Sequence[LogLine], number: int) -> Iterator[Says]:
    """How the directories were left that are looked at together with one, by all lines about them."""
    for way in (range(number, -1, -1), range(number + 1, len(lines))):
        for at in way:
            if lines[at].says in {Says.STARTS, Says.STARTED, Says.STOPPED}:
                break
            if lines[at].says in HOW_LEFT:
                yield lines[at].says


def shortened(text: str) -> str:
    """A line cut to the length that reports show."""
    return text if len(text) <= SHORTEN else f"{text[: SHORTEN - 1]}…"
