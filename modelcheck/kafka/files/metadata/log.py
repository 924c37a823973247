"""The metadata log of a KRaft cluster as a node has it: the newest snapshot, and what follows it."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path

from modelcheck.kafka.files.batches import Batch, OnRead, read_batches, silent
from modelcheck.kafka.files.checkpoints import EpochStart, read_text
from modelcheck.kafka.files.damage import Damage, UnreadableError
from modelcheck.kafka.files.fields import ShortError
from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.files.metadata.records import MetadataRecord, decode
from modelcheck.kafka.files.partition_log import segments
from modelcheck.kafka.files.records import LogRecord, read_records
from spec.frozen import frozen

FOLDER = "__cluster_metadata-0"
MISSHAPEN = (ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError)  # of JSON
SNAPSHOT = re.compile(r"(\d{20})-(\d{10})\.checkpoint")
FOOTER = struct.pack(">hh", 0, 4)  # the key of a snapshot's last record: a version, and the kind of control


@frozen
class MetadataEntry:
    """A record of the metadata log, with its file and offset."""

    path: Path
    position: int
    offset: int
    epoch: int
    record: MetadataRecord


@frozen
class MetadataLog:
    """The metadata of a node: the cluster's state up to offset `end`, whose last record is of `epoch`.

    `snapshot_end` is the offset up to which it is from a snapshot, and `epochs` are those of the records
    behind that, by where each begins.
    """

    folder: Path
    image: MetadataImage
    end: int
    epoch: int
    snapshot: Path | None
    voters: frozenset[int]
    damaged: tuple[Damage, ...] = ()
    snapshot_end: int = 0
    epochs: tuple[EpochStart, ...] = ()


def read_metadata(folder: Path, report: OnRead = silent, *, until: int | None = None) -> MetadataLog:
    """The cluster's state in a node's copy of the metadata log. Raises `UnreadableError`.

    Reads the newest snapshot and what follows it, records before the offset `until` alone; memory grows with
    the cluster and not with the log.  `report` as for `read_batches`.
    """
    image = MetadataImage()
    damaged: list[Damage] = []
    epochs: list[EpochStart] = []
    end, epoch = 0, 0
    snapshot = newest_snapshot(folder)
    if snapshot is not None:
        found = SNAPSHOT.fullmatch(snapshot.name)
        end, epoch = (int(found[1]), int(found[2])) if found is not None else (0, 0)
        damaged += _without_footer(snapshot)
    snapshot_end, snapshot_epoch = end, epoch
    for path, begins in ((snapshot, 0), *((path, end) for path in _behind(folder, end))):
        for each in [] if path is None else entries(path, begins, report):
            match each:
                case Damage():
                    damaged.append(each)
                case Batch() | MetadataEntry() if path != snapshot and each.epoch < snapshot_epoch:
                    pass  # before the snapshot, or dropped for it (`truncateToLatestSnapshot`)
                case Batch() if path != snapshot:
                    if each.base > end:
                        damaged.append(_gap(each, end))
                    if each.epoch > epoch:
                        epochs.append(EpochStart(each.epoch, each.base))
                    end, epoch = max(end, each.end), max(epoch, each.epoch)
                case MetadataEntry() if path == snapshot or until is None or each.offset < until:
                    image.apply(each.record)
                case _:
                    pass
    voters = _voters(folder)
    return MetadataLog(
        folder, image, end, epoch, snapshot, voters, tuple(damaged), snapshot_end, tuple(epochs)
    )


def _without_footer(snapshot: Path) -> Iterator[Damage]:
    """The damage of a snapshot that ends before the record with which each ends."""
    last = None
    for each in read_batches(snapshot, checksums=False):
        last = each
    if isinstance(last, Damage):
        return  # its reading yields that damage too
    records = [] if last is None or last.compression or not last.is_control else list(read_records(last))
    if not records or not isinstance(records[-1], LogRecord) or records[-1].key != FOOTER:
        yield Damage(
            snapshot, 0 if last is None else last.position + last.size, "the snapshot's end is missing"
        )


def _gap(behind: Batch, end: int) -> Damage:
    """The damage of a log that has records behind a gap, which no snapshot reaches over."""
    missing = f"metadata records {end:,} to {behind.base - 1:,} are in no file here"
    what = f"{missing}, so what they changed is not known"
    return Damage(behind.path, behind.position, what)


def newest_snapshot(folder: Path) -> Path | None:
    """The snapshot with the highest offset, if there is one."""
    return max((path for path in folder.glob("*.checkpoint") if SNAPSHOT.fullmatch(path.name)), default=None)


def entries(path: Path, begins: int = 0, report: OnRead = silent) -> Iterator[MetadataEntry | Batch | Damage]:
    """The records of a segment or snapshot from an offset on, each after its batch, and the damage."""
    for batch in read_batches(path, report=report):
        if isinstance(batch, Damage):
            yield batch
            continue
        for record in () if batch.is_control or batch.end <= begins else read_records(batch):
            if isinstance(record, Damage):
                yield record
            elif record.offset >= begins and record.value is not None:
                yield _entry(path, batch, record.offset, record.value)
        yield batch


def _entry(path: Path, batch: Batch, offset: int, value: bytes) -> MetadataEntry | Damage:
    """The decoded record of a batch, or the damage."""
    try:
        said: MetadataRecord = decode(value)
    except ShortError as error:
        return Damage(
            path, batch.position, f"the metadata record at offset {offset:,} cannot be read: {error}"
        )
    return MetadataEntry(path, batch.position, offset, batch.epoch, said)


def _behind(folder: Path, end: int) -> list[Path]:
    """The segments with records at or after an offset."""
    found = segments(folder)
    following = [base for base, _ in found[1:]]
    return [path for n, (_, path) in enumerate(found) if n >= len(following) or following[n] > end]


def _voters(folder: Path) -> frozenset[int]:
    """The ids of the voters in the node's quorum files, if it has any."""
    try:
        found = json.loads(read_text(folder / "quorum-state") or "{}")
        return frozenset(int(each["voterId"]) for each in found.get("currentVoters") or ())
    except (*MISSHAPEN, UnreadableError):
        return frozenset()
