"""The metadata log as the spine: its records about one partition and its brokers, in its own order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from uuid import UUID

from modelcheck.kafka.files.batches import Batch
from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.damage import Damage
from modelcheck.kafka.files.fields import is_number
from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.files.metadata.log import SNAPSHOT, MetadataEntry, entries, newest_snapshot
from modelcheck.kafka.files.metadata.records import (
    BrokerChanged,
    BrokerRegistered,
    ConfigSet,
    FeatureLevel,
    Other,
    PartitionCreated,
    TopicCreated,
    TransactionMark,
    UnknownRecord,
)
from modelcheck.kafka.files.partition_log import segment_end, segments
from modelcheck.kafka.incident.explain_log.observations import (
    ALLOWS,
    FORBIDS,
    SETS_MIN_ISR,
    Back,
    Changed,
    Coverage,
    Decided,
    Event,
    Evidence,
    Gone,
    Registered,
)
from modelcheck.kafka.settings.keys.levels import RELEASES
from spec.frozen import frozen

OnRead = Callable[[str, int], None]
MOST_MIN_ISR = 9  # of the model
SHUTDOWNS = next(level for level, name in RELEASES if name == "3.3-IV3")  # that are in the metadata log
FIRST = "_first"  # behind the name of a config entry of the model whose setting changes on the way
MIN_ISR, UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"


@frozen
class TopicSettings:
    """The settings of a topic in the model, as metadata records set them; None where none does."""

    min_isr: int | None = None
    unclean: bool = False

    def effective(self, replicas: int) -> int:
        """The effective min.insync.replicas: Kafka's default if unset, at most the replicas."""
        return max(1, min(self.min_isr or 1, replicas, MOST_MIN_ISR))


@frozen
class Beginning:
    """A state from which on a timeline can be explained alone, by the index of its observation.

    `epoch` is Kafka's leader epoch there, whose records begin at `offset`; all records below `promised` are
    taken as acknowledged.
    """

    index: int
    epoch: int
    offset: int
    promised: int
    evidence: Evidence


@frozen
class Spine:
    """The timeline of a partition in the metadata log: decisions, sessions and settings.

    `epochs` has for each leader epoch of Kafka's in which a broker was made the leader the model's
    number for it, `last` is the last of all; `whole` is whether the log has the partition's beginning;
    `image` is the final state.  `versions` has for each partition epoch how many observations there
    are by then, and `topic` the topic's id, where there are ids.  `first` are the settings at its beginning,
    and `begins` is the state from which on it is explained, if not all of it is.
    """

    brokers: tuple[int, ...]
    events: tuple[Event, ...]
    epochs: tuple[tuple[int, int], ...]
    last: int
    image: MetadataImage
    coverage: Coverage
    whole: bool
    notes: tuple[str, ...]
    versions: Mapping[int, int]
    topic: UUID | None = None
    sessions: bool = True
    first: TopicSettings = TopicSettings()
    begins: Beginning | None = None

    def epoch_of(self, epoch: int) -> int:
        """The model's number for a leader epoch; one not in the log comes after all others."""
        if epoch > self.last:
            return self.epochs[-1][1] + 1
        return max((each for each in self.epochs if each[0] <= epoch), default=self.epochs[0])[1]


def read_spines(
    folder: Path, places: Sequence[TopicPartition], report: OnRead, *, changes: bool = True
) -> list[tuple[TopicPartition, Spine]]:
    """The timelines of partitions in a copy of the metadata log, for those that it has.

    Reads all segments that there are, once, behind the oldest snapshot that reaches them.  Without `changes`
    settings that change on the way are left out.  `report` is called with what is read, and how
    many bytes of it.  Raises `UnreadableError`.
    """
    image = MetadataImage()
    readings = [_SpineReading(place, image, changes=changes) for place in places]
    for path, begins in _parts(folder):
        for each in entries(path, begins, lambda size: report("the metadata log", size)):
            if isinstance(each, MetadataEntry):
                image.apply(each.record)
            for reading in readings:
                reading.take(each)
    spines = [(reading.place, reading.spine()) for reading in readings]
    return [(place, spine) for place, spine in spines if spine is not None]


def _parts(folder: Path) -> Iterator[tuple[Path, int]]:
    """The files of the metadata log to read, each with the offset to read from.

    A node that has fetched a snapshot beyond the end of its log drops that log (`truncateToLatestSnapshot`).
    """
    found = segments(folder)
    newest = newest_snapshot(folder)
    if newest is not None and int(newest.name[:20]) > (segment_end(*found[-1]) if found else 0):
        yield newest, 0
        return
    first = found[0][0] if found else None
    begins = 0
    if first != 0:
        snapshots = sorted(path for path in folder.glob("*.checkpoint") if SNAPSHOT.fullmatch(path.name))
        reaching = [path for path in snapshots if first is None or int(path.name[:20]) >= first]
        if reaching:
            begins = int(reaching[0].name[:20])
            yield reaching[0], 0
    yield from ((path, begins) for _, path in found)


class _SpineReading:
    """The timeline of a partition so far; `image` is the cluster's state at this point of the log."""

    def __init__(self, place: TopicPartition, image: MetadataImage, *, changes: bool) -> None:
        self.place = place
        self.changes = changes
        self.first = self.settings = TopicSettings()
        self.image = image
        self.state: PartitionCreated | None = None
        self.events: list[Event] = []
        self.epochs: list[tuple[int, int]] = []
        self.brokers: tuple[int, ...] = ()
        self.counted: Counter[str] = Counter()
        self.notes: list[str] = []
        self.whole = False
        self.versions: dict[int, int] = {}
        self._out: dict[int, bool] = {}  # whether a broker is without a session
        self._directories: dict[int, tuple[UUID, ...]] = {}
        self._renewed: dict[int, bool | None] = {}
        self._incarnations: dict[int, UUID] = {}
        self._restarted: dict[int, bool] = {}

    def take(self, each: MetadataEntry | Batch | Damage) -> None:
        """Process the next entry of the metadata log, which `image` includes already."""
        match each:
            case Damage():
                self.counted["damaged"] += 1
            case MetadataEntry():
                self.counted[self._count(each)] += 1
            case _:
                pass

    def spine(self) -> Spine | None:
        """The complete timeline; None if the log has nothing of the partition."""
        if self.state is None:
            return None
        coverage = Coverage(*(self.counted[kind] for kind in ("matched", "ignored", "unknown", "damaged")))
        events, epochs, notes = tuple(self.events), tuple(self.epochs), tuple(self.notes)
        return Spine(
            self.brokers,
            events,
            epochs,
            self.state.leader_epoch,
            self.image,
            coverage,
            self.whole,
            notes,
            self.versions,
            self.state.topic,
            first=self.first,
        )

    # ---------------------------------------------------------------- one record

    def _count(self, entry: MetadataEntry) -> str:
        """Process a record, and return how it counts: "matched", "ignored" or "unknown"."""
        self._change_settings(entry)
        matched = self._partition(entry) | self._sessions(entry)
        match entry.record:
            case UnknownRecord():
                return "unknown"
            case TransactionMark() | Other() if not matched:
                return "ignored"
            case TopicCreated(name, _) if name == self.place.topic:
                return "matched"
            case ConfigSet(_, resource, name, _):
                mine = resource in {self.place.topic, ""} and name in {MIN_ISR, UNCLEAN}
                return "matched" if mine else "ignored"
            case FeatureLevel():
                return "matched"
            case _:
                return "matched" if matched else "ignored"

    def _change_settings(self, entry: MetadataEntry) -> None:
        """Record changes of the topic's settings, except in a snapshot."""
        if self.state is None or not isinstance(entry.record, ConfigSet | TransactionMark):
            return
        before, now = self.settings, self._settings()
        self.settings = now
        if _is_snapshot(entry):
            self.first = now
        elif self.changes:
            self.events += _changes(before, now, len(self.brokers), _where(entry))

    def _settings(self) -> TopicSettings:
        """The topic's settings at this point."""
        least = self.image.setting(self.place.topic, MIN_ISR)
        unclean = self.image.setting(self.place.topic, UNCLEAN)
        return TopicSettings(
            int(least) if least is not None and is_number(least) else None, unclean == "true"
        )

    def _partition(self, entry: MetadataEntry) -> bool:
        """Record a change of the partition's state; return whether there is one."""
        state = self.image.at(self.place)
        if state is None or state is self.state:
            return False
        before, self.state = self.state, state
        evidence = Evidence(_where(entry), _state_words(state))
        if before is None or before.topic != state.topic or set(before.replicas) != set(state.replicas):
            self._begin(entry, before, state, evidence)
        elif state.leader_epoch != before.leader_epoch and state.leader >= 0 and _elected(before, state):
            self._decide(state, self.epochs[-1][1] + 1, evidence)
        elif _control(before) != _control(state):
            self._decide(state, self.epochs[-1][1], evidence)
        self.versions[state.partition_epoch] = len(self.events)
        return True

    def _begin(
        self,
        entry: MetadataEntry,
        before: PartitionCreated | None,
        state: PartitionCreated,
        evidence: Evidence,
    ) -> None:
        """Begin the timeline with the first state of the partition and its replicas."""
        if before is not None and before.topic == state.topic:
            self.notes.append(
                f"{_where(entry)}: the replicas of {self.place} change from {list(before.replicas)} to"
                f" {list(state.replicas)}. The model has no reassignment: what was before is left out."
            )
        self.brokers = tuple(sorted(state.replicas))
        self.events, self.epochs, self.versions = [], [], {}
        self.first = self.settings = self._settings()
        self.whole = isinstance(entry.record, PartitionCreated) and not _is_snapshot(entry)
        self._decide(state, 1, evidence)
        for broker in self.brokers:
            known = self.image.brokers.get(broker)
            self._out[broker] = known is None or known.fenced
            if known is not None:
                self._directories[broker] = known.directories
                self._incarnations[broker] = known.incarnation
                self._restarted[broker] = False
            if self._out[broker]:
                self.events.append(Gone(self._number(broker), evidence))
                self._restarted.pop(broker, None)  # it may have been registered before, or not

    def _decide(self, state: PartitionCreated, epoch: int, evidence: Evidence) -> None:
        """Record a state of the partition."""
        if not self.epochs or self.epochs[-1][1] != epoch:
            self.epochs.append((state.leader_epoch, epoch))
        leader = self._number(state.leader) if state.leader in self.brokers else None
        isr = frozenset(self._number(each) for each in state.isr if each in self.brokers)
        eligible = frozenset(self._number(each) for each in state.elr if each in self.brokers)
        self.events.append(Decided(leader, epoch, isr, eligible, evidence))

    def _sessions(self, entry: MetadataEntry) -> bool:
        """Record a change of a broker's session; return whether the record is of one."""
        match entry.record:
            case BrokerRegistered(broker):
                pass
            case BrokerChanged(broker):
                pass
            case _:
                return False
        if self.state is None:
            return True
        if broker not in self.brokers:
            return False
        now = self.image.brokers.get(broker)
        if now is None:
            return False
        if isinstance(entry.record, BrokerRegistered):
            self._renewed[broker] = self._is_renewed(broker, now.directories)
            self._directories[broker] = now.directories
        is_new = now.incarnation != self._incarnations.get(broker)
        starts = now.fenced and is_new and not _is_snapshot(entry)
        self._incarnations[broker] = now.incarnation
        out = now.fenced or now.shutting_down
        number = self._number(broker)
        if out and not self._out[broker]:
            says = f"broker {broker} is {'fenced' if now.fenced else 'being shut down'}"
            known = self.image.features.get("metadata.version", 0) >= SHUTDOWNS
            announced = now.shutting_down or not known
            self.events.append(Gone(number, Evidence(_where(entry), says), announced=announced))
        if starts:
            renewed = self._renewed.get(broker, False)
            says = f"broker {broker} is registered: it has started"
            says += ", with another log directory" if renewed else ""
            self.events.append(Registered(number, renewed, Evidence(_where(entry), says)))
            self._restarted[broker] = True
        elif not out and self._out[broker]:
            says = f"broker {broker} is unfenced"
            renewed, restarted = self._renewed.pop(broker, False), self._restarted.get(broker)
            self.events.append(Back(number, renewed, Evidence(_where(entry), says), restarted))
            self._restarted[broker] = False
        self._out[broker] = out
        return True

    def _is_renewed(self, broker: int, now: Sequence[UUID]) -> bool | None:
        """Whether a broker registers without the directory that its replica was in; None if unknown.

        Of several directories the one that counts is the one that the metadata has for the replica.
        """
        old = self._directories.get(broker, ())
        if not now or not old:
            return None
        state = self.state
        at = dict(zip(state.replicas, state.directories, strict=False)).get(broker) if state else None
        if at in old:
            return at not in now
        return False if set(old) <= set(now) else True if set(old).isdisjoint(now) else None

    def _number(self, broker: int) -> int:
        """The model's number of a broker that is a replica."""
        return self.brokers.index(broker)


def _changes(before: TopicSettings, now: TopicSettings, replicas: int, where: str) -> Iterator[Changed]:
    """The changes of the settings as steps of the model."""
    least = now.effective(replicas)
    if least != before.effective(replicas):
        says = f"{MIN_ISR}={now.min_isr}" if now.min_isr else f"{MIN_ISR} is set no more, so it is taken as 1"
        yield Changed(SETS_MIN_ISR, (least,), Evidence(where, says))
    if now.unclean != before.unclean:
        action = ALLOWS if now.unclean else FORBIDS
        yield Changed(action, (), Evidence(where, f"{UNCLEAN}={str(now.unclean).lower()}"))


def _elected(before: PartitionCreated, state: PartitionCreated) -> bool:
    """Whether the change elected a leader, instead of only changing the ISR.

    Up to metadata version 3.6 an ISR that shrinks raises the leader's epoch, too (KAFKA-15021).
    """
    return before.leader != state.leader or (before.isr == state.isr and before.elr == state.elr)


def _control(state: PartitionCreated) -> tuple[object, ...]:
    """The parts of a partition's state that the controller decides."""
    return (state.leader, sorted(state.isr), sorted(state.elr))


def _is_snapshot(entry: MetadataEntry) -> bool:
    """Whether an entry is of a snapshot."""
    return SNAPSHOT.fullmatch(entry.path.name) is not None


def _where(entry: MetadataEntry) -> str:
    """The folder and offset of an entry, as evidence."""
    folder = entry.path.parent
    return f"{folder.parent.name}/{folder.name} at offset {entry.offset:,}"


def _state_words(state: PartitionCreated) -> str:
    """A partition's state in words."""
    leader = "no broker leads" if state.leader < 0 else f"broker {state.leader} leads"
    parts = [f"{leader} in epoch {state.leader_epoch}", f"in sync {list(state.isr)}"]
    parts += [f"eligible {list(state.elr)}"] if state.elr else []
    return ", ".join(parts)
