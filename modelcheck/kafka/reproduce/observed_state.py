"""What can be seen of a partition, of a state of the model and of a cluster alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path

from modelcheck.kafka.files.batches import Batch, read_batches
from modelcheck.kafka.files.checkpoints import TopicPartition, read_offsets
from modelcheck.kafka.files.damage import UnreadableError
from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.files.metadata.log import FOLDER, read_metadata
from modelcheck.kafka.files.partition_log import segments
from modelcheck.kafka.files.records import LogRecord, read_records
from spec.frozen import frozen
from spec.meaning.semantics import State
from spec.model.ir import Model, Scope
from spec.reading import opened

RECORD = "record "
OTHER = "other traffic"
HIGH_WATERMARKS = "replication-offset-checkpoint"
NODES = 1  # the number of the model's first broker


class Ending(Enum):
    """The fate of the acknowledged records."""

    LOST = "lost"
    KEPT = "kept"
    NOBODY_LEADS = "nobody leads"


@frozen
class SeenPartition:
    """The observable state of a partition: brokers by the model's numbers, records by name."""

    leader: int | None
    isr: frozenset[int]
    eligible: frozenset[int]
    up: frozenset[int]
    session: frozenset[int]
    logs: tuple[tuple[int, ...], ...]
    acked: frozenset[int]


@frozen
class Difference:
    """A part of the partition that differs from the prediction."""

    part: str
    model: str
    cluster: str


class View:
    """Extracts the observable part of the model's states."""

    def __init__(self, model: Model, scope: Scope) -> None:
        self.names = scope.sorts["Broker"]
        self._at = {variable.name: index for index, variable in enumerate(model.variables)}
        self._registered = self._at.get("registered")

    def of(self, state: State, name: str) -> object:
        """The value of a variable."""
        return state[self._at[name]]

    def acting(self, state: State) -> frozenset[int]:
        """The brokers that act as leader."""
        leads = state[self._at["Broker.leads"]]
        return frozenset(b for b, up in enumerate(state[self._at["Broker.up"]]) if up and leads[b] == b)

    def seen(self, state: State) -> SeenPartition:
        """The observable part of a state."""
        at = self._at
        registered = frozenset() if self._registered is None else state[self._registered]
        return SeenPartition(
            state[at["leader"]],
            state[at["isr"]],
            state[at["eligible"]],
            registered | {b for b, up in enumerate(state[at["Broker.up"]]) if up},  # those with a process
            frozenset(b for b, has in enumerate(state[at["Broker.session"]]) if has),
            tuple(tuple(record for _, record in log) for log in state[at["Broker.log"]]),
            state[at["acked"]],
        )

    def high_watermarks(self, state: State) -> tuple[int, ...]:
        """The high watermark of each broker, in records."""
        return tuple(state[self._at["Broker.hw"]])

    def ending(self, state: State) -> Ending:
        """The fate of the acknowledged records, by the log of the state's leader."""
        seen = self.seen(state)
        if seen.leader is None or seen.leader not in seen.up:
            return Ending.NOBODY_LEADS
        return Ending.KEPT if seen.acked <= set(seen.logs[seen.leader]) else Ending.LOST

    def differences(self, model: SeenPartition, cluster: SeenPartition) -> tuple[Difference, ...]:
        """The parts in which the cluster differs from the model."""
        return tuple(
            Difference(part, one, other)
            for (part, one), (_, other) in zip(self.parts(model), self.parts(cluster), strict=True)
            if one != other
        )

    def parts(self, seen: SeenPartition) -> Iterator[tuple[str, str]]:
        """The names and values of the observable parts, in words."""
        yield "leader", "none" if seen.leader is None else self.names[seen.leader]
        yield "in sync", self._brokers(seen.isr)
        yield "eligible", self._brokers(seen.eligible)
        yield "running", self._brokers(seen.up)
        yield "with a session", self._brokers(seen.session)
        for name, log in zip(self.names, seen.logs, strict=True):
            yield f"log of {name}", _records(log)
        yield "acknowledged", _records(sorted(seen.acked))

    def _brokers(self, found: Iterable[int]) -> str:
        """Brokers in words."""
        return ", ".join(self.names[each] for each in sorted(found)) or "none"


def _records(found: Sequence[int]) -> str:
    """Records in words."""
    return ", ".join(map(str, found)) or "empty"


# ------------------------------------------------------------------ of a cluster's directories


def image(controller: Path) -> MetadataImage | None:
    """The metadata in the controller's directory; None if there is none yet."""
    try:
        return read_metadata(controller / FOLDER).image
    except UnreadableError:
        return None


def registration(found: MetadataImage | None, node: int) -> int | None:
    """The epoch of a broker's registration; None if it has none."""
    known = None if found is None else found.brokers.get(node)
    return None if known is None else known.epoch


def unfenced(found: MetadataImage) -> frozenset[int]:
    """The ids of brokers with a session."""
    return frozenset(node for node, broker in found.brokers.items() if not broker.fenced)


def records(directory: Path, place: TopicPartition) -> Iterator[tuple[int, LogRecord]]:
    """The model's records in a replica's log, each with its place; none without a log."""
    try:
        for record in all_records(directory, place):
            if (name := named(record.value)) is not None:
                yield name, record
    except UnreadableError:
        return


def all_records(directory: Path, place: TopicPartition) -> Iterator[LogRecord]:
    """All records in a replica's log, including unrelated ones. Raises UnreadableError."""
    for _, path in segments(directory / str(place)):
        for batch in read_batches(path, checksums=False):
            for record in read_records(batch) if isinstance(batch, Batch) else ():
                if isinstance(record, LogRecord):
                    yield record


def high_watermark(directory: Path, place: TopicPartition) -> int:
    """The number of the model's records below a replica's last high watermark checkpoint."""
    try:
        mark = read_offsets(directory / HIGH_WATERMARKS).get(place, 0)
    except UnreadableError:
        return 0
    return sum(record.offset < mark for _, record in records(directory, place))


def cut_log(folder: Path, end: int) -> None:
    """Delete all batches of a log from an offset on."""
    for base, path in segments(folder):
        at = next(
            (each.position for each in read_batches(path) if isinstance(each, Batch) and each.end > end), None
        )
        if base >= end:
            at = 0
        if at is not None:
            with opened(path, to_change=True) as file:
                file.truncate(at)


def named(value: bytes | None) -> int | None:
    """The model's record that a value encodes; None for unrelated records."""
    text = "" if value is None else value.decode(errors="replace")
    number = text.removeprefix(RECORD)
    return int(number) if text.startswith(RECORD) and number.isdecimal() else None
