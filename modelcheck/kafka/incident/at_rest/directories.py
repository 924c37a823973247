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
from modelcheck.kafka.files.fields import is_number, uuid_text
from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.files.metadata.log import MetadataLog, read_metadata
from modelcheck.kafka.files.metadata.records import PartitionCreated
from modelcheck.kafka.files.partition_log import PartitionLog, read_log
from modelcheck.kafka.incident.at_rest.election_outcome import in_no_other
from modelcheck.kafka.incident.at_rest.log_faults import consequence, faults, set_aside
from modelcheck.kafka.incident.at_rest.lost import LostDisk, assigned, directories_of, refuse_wrong
from modelcheck.kafka.incident.at_rest.partitions import PartitionFiles, ReplicaLog
from modelcheck.kafka.incident.at_rest.quorum import committed_end, majority
from modelcheck.kafka.incident.at_rest.sessions import fenced_last, staying
from modelcheck.kafka.incident.at_rest.understood import ELIGIBLE
from modelcheck.kafka.settings.keys.levels import RELEASES
from spec.diagnostics import Diagnostic, SpecError
from spec.frozen import frozen
from spec.reading import OutOfTime, reason_of
from spec.source import Source

NAMED = re.compile(r"(\d{1,10})=(.+)")
MIN_ISR = "min.insync.replicas"
CLEANUP, TIERED = "cleanup.policy", "remote.storage.enable"
UNCLEAN = "unclean.leader.election.enable"
KEEPS_ELIGIBLE = next(level for level, name in RELEASES if name.startswith("4.3-"))  # see kafka_replaced_disk
OnRead = Callable[[str, int], None]


@frozen
class Directory:
    """A log directory, and the node that it belongs to."""

    node: int
    read: LogDirectory


@frozen
class ClusterFiles:
    """The contents of all the directories given.

    Of the metadata what comes before the offset `committed` is committed for sure (NOTE(committed)), and
    `before` is the cluster's state there, None where that is all.
    """

    directories: tuple[Directory, ...]
    metadata: MetadataLog | None
    metadata_of: int | None
    partitions: tuple[PartitionFiles, ...]
    problems: tuple[str, ...]
    lost: tuple[LostDisk, ...] = ()
    committed: int = 0
    before: MetadataImage | None = None

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
        missing = majority(self.controllers) - len(apart)
        voters = [node for node in order if node in self.controllers]
        if missing <= 0 or len(voters) < missing:
            return tuple(order[:1])
        return tuple(order[: order.index(voters[missing - 1]) + 1])

    @property
    def has_controller(self) -> bool:
        """Whether a controller's directory was given."""
        return bool(self.controllers & {each.node for each in self.directories})

    @property
    def has_majority(self) -> bool:
        """Whether a majority of the controllers was given, so that the metadata is the newest."""
        here = self.voters & {each.node for each in self.directories if each.read.metadata}
        return bool(here) and len(here) >= majority(self.voters)

    @property
    def voters(self) -> frozenset[int]:
        """The voters of the metadata log; where no file names them, all controllers."""
        return (self.metadata.voters if self.metadata else None) or self.controllers

    def directories_missing(self, node: int) -> tuple[UUID, ...]:
        """The log directories that a broker had and that were not given, if others of it were.

        None where one that was given does not say which it is.
        """
        given = {each.read.id for each in self.directories if each.node == node}
        if self.metadata is None or not given or None in given:
            return ()
        return tuple(
            each for each in directories_of(node, self.metadata.image) if uuid_text(each) not in given
        )


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
    for node in sorted({each.node for each in directories}):
        problems += set_aside([each.read for each in directories if each.node == node])
    copies_here = _copies(directories, problems, report)
    of = max(copies_here, key=lambda node: _newness(copies_here[node]), default=None)
    metadata = None if of is None else copies_here[of]
    if metadata is not None:
        refuse_wrong(lost, ((each.node, each.read) for each in directories), metadata.image)
    states = metadata.image.by_place() if metadata else {}
    places = sorted({*states, *(place for each in directories for place in each.read.partitions)})
    known = ClusterFiles(directories, metadata, of, (), (), tuple(lost))
    if metadata is not None:
        known = _with_committed(known, metadata, copies_here, report)
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


def _copies(directories: Iterable[Directory], problems: list[str], report: OnRead) -> dict[int, MetadataLog]:
    """The copies of the metadata log, by node; the newest of several that one has."""
    copies: dict[int, MetadataLog] = {}
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
        if each.node not in copies or _newness(found) > _newness(copies[each.node]):
            copies[each.node] = found
    return copies


def _newness(copy: MetadataLog) -> tuple[int, int, int]:
    """A key to compare copies of the metadata log by: epoch and then end; of equal ones the least damage."""
    return (copy.epoch, copy.end, -len(copy.damaged))


def _with_committed(
    known: ClusterFiles, metadata: MetadataLog, copies: Mapping[int, MetadataLog], report: OnRead
) -> ClusterFiles:
    """The files with the offset up to which the metadata is committed, and the state there."""
    end = committed_end(metadata, copies, known.voters)
    if end >= metadata.end:
        return replace(known, committed=metadata.end)
    of = f"the metadata log of node {known.metadata_of} again"
    try:
        before = read_metadata(metadata.folder, lambda size: report(of, size), until=end).image
    except UnreadableError:  # which it was not before
        before = MetadataImage()
    return replace(known, committed=end, before=before)


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
        known.committed if _is_unsettled(known, place, image) else None,
        None if known.before is None else known.before.at(place),
    )


def _is_unsettled(known: ClusterFiles, place: TopicPartition, image: MetadataImage) -> bool:
    """Whether what decides who may lead a partition is of records that may not be committed."""

    def deciding(of: MetadataImage) -> tuple[object, ...]:
        return of.at(place), of.setting(place.topic, UNCLEAN), of.setting(place.topic, MIN_ISR), of.features

    return known.before is not None and deciding(known.before) != deciding(image)


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
    is_other = False
    mark = max(
        (read.high_watermarks[place] for read in theirs if place in read.high_watermarks), default=None
    )
    for read in theirs:
        folder = read.partitions.get(place)
        if folder is None:
            continue
        topic = read.topic_ids.get(place)
        if state is not None and topic is not None and topic != state.topic:
            was_deleted = known.metadata is not None and topic in known.metadata.image.removed
            reading.problems.append(f"{folder}: {_of_another(was_deleted=was_deleted)}")
            mark, is_other = None, is_other or not was_deleted
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
            reading.problems.append(f"{error} (a broker takes the whole directory offline when it starts)")
            return None
        reading.problems.extend(f"{each} {consequence(log)}" for each in log.damaged)
        wrong = tuple(_faults(known, place, log))
        reading.problems.extend(wrong)
        whole = not wrong and (log.cut or not log.damaged)
        return ReplicaLog(node, log, mark, read.clean, proven=proven, whole=whole)
    if state is None or not (theirs or disks):
        return None
    at = assigned(state, node)
    was_lost = any(each.had(at) for each in disks)
    if not was_lost and (not theirs or _is_elsewhere(known, node, theirs, at)):
        return None
    folder = (theirs[0].path if theirs else Path(f"broker {node}")) / str(place)
    nothing = PartitionLog(folder, 0, 0, (), 0, 0)
    return ReplicaLog(
        node, nothing, mark, clean, absent=True, lost=was_lost, proven=proven, whole=not is_other
    )


def _of_another(*, was_deleted: bool) -> str:
    """Why the folder of another topic is left out, and what its broker does with it."""
    if was_deleted:
        return "of another topic of this name, deleted before; left out"
    return (
        "of another topic of this name, deleted before or created after the end of the metadata log here;"
        " left out. Copy it first: a broker that finds no such topic deletes the folder (up to Kafka 3.6) or"
        " sets it aside"
    )


def _faults(known: ClusterFiles, place: TopicPartition, log: PartitionLog) -> Iterator[str]:
    """What is wrong with a replica's log, in sentences."""
    image = known.metadata.image if known.metadata else MetadataImage()
    policy = image.setting(place.topic, CLEANUP) or ""
    tiered = image.setting(place.topic, TIERED) == "true"
    return faults(log, compacted="compact" in policy or place.topic.startswith("__"), tiered=tiered)


def _is_elsewhere(known: ClusterFiles, node: int, theirs: Sequence[LogDirectory], at: UUID | None) -> bool:
    """Whether a replica without a folder may be in a log directory of its broker that was not given.

    The directory `at` which the metadata has it may have failed, and be registered no more.
    """
    registered = known.metadata.image.brokers.get(node) if known.metadata else None
    may_be_in = (at,) if at is not None else registered.directories if registered else ()
    given = {read.id for read in theirs}
    return None not in given and any(uuid_text(each) not in given for each in may_be_in)


def _is_proven(known: ClusterFiles, node: int, theirs: Sequence[LogDirectory]) -> bool:
    """Whether the controller takes a clean shutdown of a broker for one, by the epoch that it left."""
    registered = known.metadata.image.brokers.get(node) if known.metadata else None
    epochs = {read.clean_epoch for read in theirs}
    if registered is None or len(epochs) != 1:
        return registered is None
    (epoch,) = epochs
    return epoch is not None and epoch >= registered.epoch  # a later one is of a registration not seen here
