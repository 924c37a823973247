"""What some directories hold together: whose they are, the metadata that goes furthest, every partition.

Mistakes in what was given are raised as `SpecError`; what is wrong inside a file is reported with the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import UUID

from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.damage import UnreadableError
from modelcheck.kafka.files.directories import LogDirectory, is_in_use, is_log_directory, read_directory
from modelcheck.kafka.files.fields import is_number
from modelcheck.kafka.files.metadata.log import MetadataLog, read_metadata
from modelcheck.kafka.files.metadata.records import PartitionCreated
from modelcheck.kafka.files.partition_log import PartitionLog, read_log
from modelcheck.kafka.incident.at_rest.election_outcome import in_no_other
from modelcheck.kafka.incident.at_rest.lost import LostDisk, refuse_wrong
from modelcheck.kafka.incident.at_rest.partitions import PartitionFiles, ReplicaLog
from modelcheck.kafka.incident.at_rest.sessions import fenced_last, staying
from modelcheck.kafka.settings.keys.levels import RELEASES
from spec.diagnostics import Diagnostic, SpecError
from spec.frozen import frozen
from spec.reading import OutOfTime, reason_of
from spec.source import Source

NAMED = re.compile(r"(\d{1,10})=(.+)")
MIN_ISR = "min.insync.replicas"
CLEANUP = "cleanup.policy"
UNCLEAN = "unclean.leader.election.enable"
ELIGIBLE = "eligible.leader.replicas.version"
KEEPS_ELIGIBLE = next(level for level, name in RELEASES if name.startswith("4.3-"))  # see kafka_replaced_disk
OnRead = Callable[[str, int], None]


@frozen
class Directory:
    """A log directory, and the node that it belongs to."""

    node: int
    read: LogDirectory


@frozen
class ClusterFiles:
    """The contents of all the directories given."""

    directories: tuple[Directory, ...]
    metadata: MetadataLog | None
    metadata_of: int | None
    partitions: tuple[PartitionFiles, ...]
    problems: tuple[str, ...]
    lost: tuple[LostDisk, ...] = ()

    @property
    def brokers(self) -> tuple[int, ...]:
        """The nodes, given or lost, that have partitions or that the metadata lists as brokers."""
        registered = set(self.metadata.image.brokers) if self.metadata else set()
        nodes = {each.node for each in self.directories if each.read.partitions or each.node in registered}
        return tuple(sorted(nodes | {each.node for each in self.lost}))

    @property
    def emptied(self) -> frozenset[int]:
        """The brokers of which every disk is lost."""
        return frozenset({each.node for each in self.lost} - {each.node for each in self.directories})

    @property
    def controllers(self) -> frozenset[int]:
        """The ids of the controllers that the metadata names."""
        return (
            frozenset() if self.metadata is None else self.metadata.voters | self.metadata.image.controllers
        )

    def at_once(self, order: Sequence[int]) -> tuple[int, ...]:
        """The first brokers of an order of starts, of which none runs before all are started.

        Brokers that are controllers as well need a majority of these; controllers that are no brokers are
        taken to run.
        """
        apart = self.controllers - {*(self.metadata.image.brokers if self.metadata else ())}
        missing = len(self.controllers) // 2 + 1 - len(apart)
        voters = [node for node in order if node in self.controllers]
        if missing <= 0 or len(voters) < missing:
            return tuple(order[:1])
        return tuple(order[: order.index(voters[missing - 1]) + 1])

    @property
    def has_controller(self) -> bool:
        """Whether a controller's directory was given, so that the metadata is the newest."""
        return bool(self.controllers & {each.node for each in self.directories})


def read_cluster(
    given: Sequence[str],
    *,
    copies: bool,
    every: bool,
    report: OnRead,
    lost: Sequence[LostDisk] = (),
) -> ClusterFiles:
    """The contents of directories, each given as PATH or NODE=PATH. Raises `SpecError`.

    A path is a log directory, or a folder of some; `lost` are disks that are gone for good.  `copies` takes
    directories whose lock is held; `every` looks at every checksum.  `report` is called with what is read,
    and how many bytes of it.
    Where it raises OutOfTime, or somebody asks to end, the partitions up to there are the answer; before the
    first of them that is raised here.
    """
    directories = tuple(_directories(given, copies=copies))
    problems = [problem for each in directories for problem in each.read.problems]
    metadata, of = _metadata(directories, problems, report)
    if metadata is not None:
        refuse_wrong(lost, ((each.node, each.read) for each in directories), metadata.image)
    states = metadata.image.by_place() if metadata else {}
    places = sorted({*states, *(place for each in directories for place in each.read.partitions)})
    known = ClusterFiles(directories, metadata, of, (), (), tuple(lost))
    partitions: list[PartitionFiles] = []
    try:
        for place in places:
            reading = _LogReading(every, report, problems)
            partitions.append(_partition(known, place, states.get(place), reading))
    except (KeyboardInterrupt, OutOfTime) as stop:
        why = "The time is over" if isinstance(stop, OutOfTime) else "Interrupted"
        left = len(places) - len(partitions)
        problems.append(f"{why}: {left:,} of {len(places):,} partitions were not looked at.")
    return replace(known, partitions=tuple(_beside_short(partitions)), problems=tuple(problems))


# ------------------------------------------------------------------ directories


def _directories(given: Sequence[str], *, copies: bool) -> list[Directory]:
    """The log directories at the given paths, each with its node. Raises SpecError for conflicts."""
    found: list[Directory] = []
    for text in given:
        named = NAMED.fullmatch(text)
        node, path = (int(named[1]), Path(named[2])) if named else (None, Path(text))
        for each in _inside(path):
            if not copies and is_in_use(each):
                raise _mistake("R0916", each, "a running broker holds this directory", _STOP)
            found.append(_whose(_reading(read_directory, each), node))
    _refuse_mixed(found)
    _refuse_twice(found)
    return found


_STOP = "stop the broker, or pass a copy with --copy"


def _inside(path: Path) -> list[Path]:
    """The log directories at a path: the path itself, or those directly in it."""
    try:
        if not path.is_dir():
            what = "this is no directory" if path.exists() else "there is no such directory"
            raise _mistake("R0904", path, what)
        if is_log_directory(path):
            return [path]
        inside = [each for each in sorted(path.iterdir()) if each.is_dir() and is_log_directory(each)]
    except OSError as error:  # also for a name that no file can have
        raise _mistake("R0904", path, reason_of(error)) from error
    except UnreadableError as error:
        raise _mistake("R0904", path, str(error)) from error
    if not inside:
        raise _mistake(
            "R0915", path, "nothing of Kafka is in this directory", "give what the broker has as `log.dirs`"
        )
    return inside


def _whose(read: LogDirectory, named: int | None) -> Directory:
    """The directory with its node, as it says or as `named`. Raises SpecError for a contradiction."""
    if named is not None and read.node is not None and named != read.node:
        raise _mistake("R0918", read.path, f"meta.properties names node {read.node}, not {named}")
    node = read.node if read.node is not None else named
    if node is None:
        help_ = f"name its broker: 1={read.path}"
        raise _mistake("R0918", read.path, "meta.properties does not name the directory's broker", help_)
    return Directory(node, read)


def _refuse_mixed(found: Iterable[Directory]) -> None:
    """Raise SpecError for directories of different clusters."""
    clusters: dict[str, Path] = {}
    for each in found:
        if each.read.cluster is not None:
            clusters.setdefault(each.read.cluster, each.read.path)
    if len(clusters) > 1:
        (one, first), (other, second), *_ = clusters.items()
        said = f"this is of cluster {other}, and {first} of {one}"
        raise _mistake("R0917", second, said, "ask about one cluster at a time")


def _refuse_twice(found: Iterable[Directory]) -> None:
    """Raise SpecError for a directory, or a node's partition, that is given twice."""
    seen: dict[tuple[int, TopicPartition], Path] = {}
    paths: dict[Path, int] = {}
    for each in found:
        resolved = each.read.path.resolve()
        if resolved in paths:
            raise _mistake("R0918", each.read.path, "this directory is given twice")
        paths[resolved] = each.node
        for place in each.read.partitions:
            other = seen.setdefault((each.node, place), each.read.path)
            if other != each.read.path:
                said = f"{place} of node {each.node} is here and in {other}"
                raise _mistake("R0918", each.read.path, said, "leave out the older copy")


def _mistake(code: str, path: Path, message: str, help_: str = "") -> SpecError:
    """The error about a path, with a code and advice."""
    return SpecError([Diagnostic(code, Source(str(path), ""), None, message, help=help_)])


def _reading(read: Callable[[Path], LogDirectory], path: Path) -> LogDirectory:
    """The contents of a directory. Raises SpecError if it cannot be read."""
    try:
        return read(path)
    except UnreadableError as error:
        raise _mistake("R0904", error.path, error.what) from error


# ------------------------------------------------------------------ metadata and replicas


def _metadata(
    directories: Iterable[Directory], problems: list[str], report: OnRead
) -> tuple[MetadataLog | None, int | None]:
    """The newest copy of the metadata log, by epoch and then end, and the node it is from.

    Of equal ones that with the least damage.
    """
    best: tuple[MetadataLog | None, int | None] = (None, None)
    for each in directories:
        folder = each.read.metadata
        if folder is None:
            continue
        try:
            of = f"the metadata log of node {each.node}"
            found = read_metadata(folder, lambda size, of=of: report(of, size))  # type: ignore[misc]
        except UnreadableError as error:
            problems.append(str(error))
            continue
        problems += map(str, found.damaged)
        if best[0] is None or _newness(found) > _newness(best[0]):
            best = (found, each.node)
    return best


def _newness(copy: MetadataLog) -> tuple[int, int, int]:
    """A key to compare copies of the metadata log by."""
    return (copy.epoch, copy.end, -len(copy.damaged))


@frozen
class _LogReading:
    """The options for reading logs, and the list of problems found."""

    every: bool
    report: OnRead
    problems: list[str]


def _partition(
    known: ClusterFiles, place: TopicPartition, state: PartitionCreated | None, reading: _LogReading
) -> PartitionFiles:
    """A partition with the replicas that the given brokers have of it."""
    nodes = [node for node in known.brokers if state is None or node in state.replicas]
    found = [_replica(known, node, place, state, reading) for node in nodes]
    replicas = {each.node: each for each in found if each is not None}
    outsiders = () if state is None else tuple(_outsiders(known, place, state, replicas, reading))
    if known.metadata is None or state is None:
        return PartitionFiles(place, state, replicas)
    image = known.metadata.image
    elr = image.features.get(ELIGIBLE, 0) > 0
    least = image.setting(place.topic, MIN_ISR) or ""
    return PartitionFiles(
        place,
        state,
        replicas,
        image.setting(place.topic, UNCLEAN) == "true",
        elr,
        image.features.get("metadata.version", 0) < KEEPS_ELIGIBLE,
        tuple(image.unclean_elections.get((state.topic, state.partition), ())),
        staying(state, image, least=int(least) if is_number(least) else 1, elr=elr),
        fenced_last(state, image) if elr else None,
        outsiders,
    )


def _outsiders(
    known: ClusterFiles,
    place: TopicPartition,
    state: PartitionCreated,
    replicas: Mapping[int, ReplicaLog],
    reading: _LogReading,
) -> Iterator[tuple[int, int]]:
    """The brokers that are no replicas and have a log of the topic, with the records that no replica has."""
    for each in known.directories:
        of_topic = each.read.topic_ids.get(place, state.topic) == state.topic
        if each.node in state.replicas or place not in each.read.partitions or not of_topic:
            continue
        found = _replica(known, each.node, place, state, reading)
        records = in_no_other(found.log, [replica.log for replica in replicas.values()]) if found else 0
        if records:
            yield each.node, records


def _beside_short(partitions: Sequence[PartitionFiles]) -> Iterator[PartitionFiles]:
    """The partitions, with each log marked whose broker has another one that has lost its end."""
    short = {
        replica.node
        for each in partitions
        for replica in each.replicas.values()
        if replica.is_short and not replica.absent
    }
    for each in partitions:
        if short.isdisjoint(each.replicas):
            yield each
        else:
            marked = {
                node: replace(replica, beside_short=node in short and not replica.clean)
                for node, replica in each.replicas.items()
            }
            yield replace(each, replicas=marked)


def _replica(
    known: ClusterFiles,
    node: int,
    place: TopicPartition,
    state: PartitionCreated | None,
    reading: _LogReading,
) -> ReplicaLog | None:
    """A node's replica; an empty one if the metadata lists it and there is no folder."""
    theirs = [each.read for each in known.directories if each.node == node]
    disks = [each for each in known.lost if each.node == node]
    clean = all(read.clean for read in theirs)
    proven = not disks and _is_proven(known, node, theirs)
    mark = max(
        (read.high_watermarks[place] for read in theirs if place in read.high_watermarks), default=None
    )
    for read in theirs:
        folder = read.partitions.get(place)
        if folder is None:
            continue
        topic = read.topic_ids.get(place)
        if state is not None and topic is not None and topic != state.topic:
            reading.problems.append(f"{folder}: of another topic of this name, deleted before; left out")
            mark = None
            continue
        try:
            log = read_log(
                folder,
                flushed=read.recovery_points.get(place, 0),
                clean=read.clean,
                start=read.starts.get(place, 0),
                every=reading.every,
                report=lambda size: reading.report(f"broker {node}, {place}", size),
            )
        except UnreadableError as error:
            reading.problems.append(str(error))
            return None
        reading.problems.extend(f"{each} {_consequence(log)}" for each in log.damaged)
        gaps = tuple(_gaps(known, place, log))
        reading.problems.extend(gaps)
        if log.remembered is not None:
            reading.problems.append(_forgotten(log))
        whole = not gaps and log.remembered is None and (log.cut or not log.damaged)
        return ReplicaLog(node, log, mark, read.clean, proven=proven, whole=whole)
    if state is None or not (theirs or disks):
        return None
    was_lost = any(each.had(_assigned(state, node)) for each in disks)
    if not (theirs or was_lost):
        return None
    folder = (theirs[0].path if theirs else Path(f"broker {node}")) / str(place)
    nothing = PartitionLog(folder, 0, 0, (), 0, 0)
    return ReplicaLog(node, nothing, mark, clean, absent=True, lost=was_lost, proven=proven)


def _gaps(known: ClusterFiles, place: TopicPartition, log: PartitionLog) -> Iterator[str]:
    """The gaps between segments of a log, in sentences; none of a topic that is compacted."""
    policy = known.metadata and known.metadata.image.setting(place.topic, CLEANUP)
    if "compact" in (policy or "") or place.topic.startswith("__"):
        return
    for begins, ends in log.gaps:
        yield (
            f"{log.folder}: no segment has offsets {begins:,} to {ends - 1:,}: a file is missing, unless the"
            " topic is compacted; a broker does not look, and has no such records for anyone"
        )


def _forgotten(log: PartitionLog) -> str:
    """What a broker does that has not all leader epochs of its log, in a sentence."""
    remembered = log.as_remembered.epochs
    gone = next(each for each in log.epochs if each not in remembered)
    return (
        f"{log.folder}: leader-epoch-checkpoint does not say that epoch {gone.epoch} began at {gone.start:,},"
        " as the records do; a broker reads epochs from segments that it recovers alone, and with too few two"
        " replicas may keep different records"
    )


def _assigned(state: PartitionCreated, node: int) -> UUID | None:
    """The log directory that the metadata has for a node's replica, if any."""
    at = dict(zip(state.replicas, state.directories, strict=False))
    return at.get(node)


def _is_proven(known: ClusterFiles, node: int, theirs: Sequence[LogDirectory]) -> bool:
    """Whether the controller takes a clean shutdown of a broker for one, by the epoch that it left."""
    registered = known.metadata.image.brokers.get(node) if known.metadata else None
    epochs = {read.clean_epoch for read in theirs}
    if registered is None or len(epochs) != 1:
        return registered is None
    (epoch,) = epochs
    return epoch is not None and epoch >= registered.epoch  # a later one is of a registration not seen here


def _consequence(log: PartitionLog) -> str:
    """What a broker does about the damage in a log at its start, as a phrase."""
    if log.cut:
        return f"(the broker drops all from offset {log.end:,} on when it starts)"
    return "(before the recovery point, so the broker does not look when it starts)"
