"""What is new in the files of a cluster: entries of the metadata log, records, what processes wrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from uuid import UUID

from modelcheck.kafka.files.checkpoints import TopicPartition, read_offsets
from modelcheck.kafka.files.damage import UnreadableError
from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.files.metadata.log import FOLDER, MetadataEntry, entries, read_metadata
from modelcheck.kafka.files.metadata.records import (
    NOBODY,
    UNCHANGED,
    BrokerChanged,
    BrokerRegistered,
    BrokerRemoved,
    ConfigSet,
    FeatureLevel,
    MetadataRecord,
    PartitionChanged,
    PartitionCreated,
    TopicCreated,
)
from modelcheck.kafka.files.partition_log import segments
from modelcheck.kafka.reproduce.cluster import CONTROLLER, Cluster
from modelcheck.kafka.reproduce.observed_state import HIGH_WATERMARKS, all_records
from spec.frozen import frozen
from spec.reading import opened

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
MOST = 40  # lines of an excerpt
LAST = 8  # lines of what a process wrote
LAST_BYTES = 1 << 16  # in which they are looked for
LONGEST = 300  # characters of a line


@frozen
class Excerpt:
    """Lines of a node's file, translated to words if it is binary."""

    node: int
    file: str
    lines: tuple[str, ...]


class NewInFiles:
    """Reads what is new in a cluster's files since the last call.

    Reads the whole of them, which are small; what is being written meanwhile may be seen the next time.
    """

    def __init__(self, cluster: Cluster, place: TopicPartition) -> None:
        self._cluster = cluster
        self._place = place
        self._end = 0
        self._logs: dict[int, tuple[str, ...]] = {}

    def read(self) -> tuple[Excerpt, ...]:
        """The new records of the metadata log, and each broker's log that has changed."""
        return (*self._metadata(), *self._changed_logs())

    def last_lines(self) -> tuple[Excerpt, ...]:
        """The last lines of output of each process."""
        nodes = (CONTROLLER, *self._cluster.brokers)
        found = ((node, self._cluster.output(node)) for node in nodes)
        return tuple(
            Excerpt(node, path.name, lines) for node, path in found if (lines := tuple(_last_lines(path)))
        )

    def _metadata(self) -> Iterator[Excerpt]:
        """The new records of the metadata log."""
        folder = self._cluster.folder(CONTROLLER) / FOLDER
        try:
            known = read_metadata(folder)
            new = list(_entries(folder, self._end, known.end))
        except UnreadableError:
            return
        topic = next((key for key, name in known.image.topics.items() if name == self._place.topic), None)
        about = [(each, words) for each in new if (words := record_words(each.record, topic)) is not None]
        lines = [f"offset {each.offset} · epoch {each.epoch} · {words}" for each, words in about]
        others = len(new) - len(about)
        if others:
            lines.append(f"and {others:,} about neither the partition nor a broker")
        lines += _as_it_is(known.image, self._place, known.end)
        self._end = known.end
        yield Excerpt(CONTROLLER, FOLDER, _cut(lines))

    def _changed_logs(self) -> Iterator[Excerpt]:
        """The logs of brokers that have changed."""
        for node in self._cluster.brokers:
            lines = _cut(list(_log_lines(self._cluster.folder(node), self._place)))
            if lines != self._logs.get(node):
                self._logs[node] = lines
                yield Excerpt(node, str(self._place), lines)


def record_words(record: MetadataRecord, topic: UUID | None) -> str | None:
    """A metadata record in words; None if it is not about this topic or a broker."""
    match record:
        case TopicCreated(name=name, id=of) if of == topic:
            return f"topic {name}"
        case PartitionCreated(topic=of) if of == topic:
            return (
                f"partition: replicas {_nodes(record.replicas)}; leader {_leader(record.leader)};"
                f" in sync {_nodes(record.isr)}"
            )
        case PartitionChanged(topic=of) if of == topic:
            return f"partition changes: {'; '.join(_changes(record)) or 'its directories or replicas'}"
        case BrokerRegistered(broker=broker, epoch=epoch, fenced=fenced):
            return f"broker {broker} registers, {'fenced' if fenced else 'unfenced'}, in broker epoch {epoch}"
        case BrokerChanged(broker=broker, fenced=True):
            return f"broker {broker} is fenced"
        case BrokerChanged(broker=broker, fenced=False):
            return f"broker {broker} is unfenced"
        case BrokerChanged(broker=broker):
            return f"broker {broker} shuts down" if record.shutting_down else f"broker {broker} changes"
        case BrokerRemoved(broker=broker):
            return f"broker {broker} is unregistered"
        case FeatureLevel(name=name, level=level):
            return f"feature {name} = {level}"
        case ConfigSet(resource=resource, name=name, value=value):
            return f"setting of {resource or 'all brokers'}: {name}={'(none)' if value is None else value}"
        case _:
            return None


def _changes(record: PartitionChanged) -> Iterator[str]:
    """A partition change in words, part by part."""
    if record.leader != UNCHANGED:
        yield f"leader {_leader(record.leader)}"
    if record.isr is not None:
        yield f"in sync {_nodes(record.isr)}"
    if record.elr is not None:
        yield f"eligible {_nodes(record.elr)}"
    if record.last_known_elr is not None:
        yield f"last known leader {_nodes(record.last_known_elr)}"


def _as_it_is(image: MetadataImage, place: TopicPartition, end: int) -> Iterator[str]:
    """The partition's state at an offset of the metadata log, in words."""
    found = image.at(place)
    if found is not None:
        yield (
            f"so after offset {end - 1}: leader {_leader(found.leader)} in leader epoch {found.leader_epoch};"
            f" in sync {_nodes(found.isr)}; eligible {_nodes(found.elr)};"
            f" partition epoch {found.partition_epoch}"
        )


def _entries(folder: Path, since: int, end: int) -> Iterator[MetadataEntry]:
    """The metadata records between two offsets."""
    for _, path in segments(folder):
        for each in entries(path, since):
            if isinstance(each, MetadataEntry) and each.offset < end:
                yield each


def _log_lines(directory: Path, place: TopicPartition) -> Iterator[str]:
    """The records of a replica with offsets and epochs, and its checkpoints, in words."""
    if not (directory / str(place)).exists():
        yield "it has no log"
        return
    try:
        for record in all_records(directory, place):
            value = (record.value or b"").decode(errors="replace")
            yield f"offset {record.offset} · epoch {record.batch.epoch} · {value[:LONGEST]}"
        for name in (HIGH_WATERMARKS, RECOVERY_POINTS):
            found = read_offsets(directory / name).get(place)
            yield f"{name}: {'nothing' if found is None else found}"
    except UnreadableError as error:
        yield f"it cannot be read further: {error}"


def _last_lines(path: Path) -> Iterable[str]:
    """The last lines of a file."""
    try:
        with opened(path) as file:
            file.seek(max(0, path.stat().st_size - LAST_BYTES))
            text = file.read(LAST_BYTES).decode(errors="replace")
    except OSError:
        return ()
    return (line[:LONGEST] for line in text.splitlines()[-LAST:])


def _cut(lines: list[str]) -> tuple[str, ...]:
    """The last lines, and a note on how many are left out."""
    left_out = len(lines) - MOST
    return tuple(lines) if left_out <= 0 else (f"{left_out:,} lines are left out", *lines[-MOST:])


def _leader(node: int) -> str:
    """A leader in words."""
    return "none" if node == NOBODY else str(node)


def _nodes(found: Iterable[int]) -> str:
    """Nodes in words."""
    return ", ".join(map(str, found)) or "none"
