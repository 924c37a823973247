"""The batches of a log segment, one after the other, without reading what is in them.

The layout is that of `DefaultRecordBatch` in Kafka: 61 bytes of header, of which the
checksum covers all from the attributes on.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from modelcheck.kafka.files.crc32c import crc32c
from modelcheck.kafka.files.damage import Damage, UnreadableError
from spec.frozen import frozen
from spec.reading import opened

HEADER = struct.Struct(">qiibIhiqqqhii")  # base offset … number of records
PREFIX = struct.Struct(">qi")  # base offset, and how many bytes follow
MAGIC_AT = 16  # the version is at the same offset in all formats
SMALLEST_OLD = 26  # bytes of an empty record of version 0, with offset and size
CURRENT = 2
PIECE = 1 << 20  # bytes that are read at a time
LARGEST = 1 << 30  # no broker takes a batch of this many bytes


@frozen
class Batch:
    """A record batch of a segment, as its header describes it.

    `epoch` is -1 in the old formats 0 and 1, which have none; their `base` is the last offset
    as well where records are compressed.
    """

    path: Path
    position: int
    size: int
    base: int
    last: int
    epoch: int
    version: int
    compression: int = 0
    is_control: bool = False
    count: int = 0

    @property
    def end(self) -> int:
        """The offset after the last record."""
        return self.last + 1


OnRead = Callable[[int], None]
Summed = Callable[[bytes, int], int]
NEW_CRC: tuple[int, int, Summed] = (21, 17, crc32c)  # from where on it sums, and where it is
OLD_CRC: tuple[int, int, Summed] = (MAGIC_AT, 12, zlib.crc32)  # the same in the formats 0 and 1


def silent(_done: int) -> None:
    """A progress callback that ignores the number of bytes read."""


def read_batches(path: Path, *, checksums: bool = True, report: OnRead = silent) -> Iterator[Batch | Damage]:
    """The batches of a segment in order; at the first damage, that instead, and nothing after it.

    Headers alone are read without `checksums`, else all, a piece at a time, so that memory
    does not grow with the file.  `report` is called with the bytes that were looked at since, at least
    for each batch, and may raise OutOfTime.  Raises `UnreadableError`.
    """
    try:
        with opened(path) as file:
            yield from _batches(file, path, report, checksums=checksums)
    except OSError as error:
        raise UnreadableError.refused(path, error) from error


def _batches(file: BinaryIO, path: Path, report: OnRead, *, checksums: bool) -> Iterator[Batch | Damage]:
    """The batches of an open segment in order, up to the first damage."""
    total = file.seek(0, 2)
    position = 0
    while position < total:
        file.seek(position)
        head = file.read(HEADER.size)
        found = _batch(head, path, position, total)
        if isinstance(found, Damage):
            yield found
            return
        if checksums and not _is_sound(file, found, head, report):
            yield Damage(path, position, f"the batch at offset {found.base:,} fails its checksum")
            return
        yield found
        report(found.size)
        position += found.size


def _batch(head: bytes, path: Path, position: int, total: int) -> Batch | Damage:
    """The batch that a header describes, or the damage if there can be no such batch."""
    if not any(head):
        return Damage(path, position, f"nothing but zero bytes, {total - position:,} to the end of the file")
    if len(head) < MAGIC_AT + 1:
        return Damage(path, position, f"{total - position:,} bytes, which are no whole batch")
    base, length = PREFIX.unpack_from(head)
    size = PREFIX.size + length
    version = head[MAGIC_AT]
    if version > CURRENT:
        return Damage(path, position, f"a batch of version {version}, which is not known")
    smallest = HEADER.size if version == CURRENT else SMALLEST_OLD
    if base < 0 or not smallest <= size <= LARGEST:
        return Damage(path, position, f"no batch: offset {base:,} and {size:,} bytes cannot be")
    if position + size > total:
        missing = position + size - total
        return Damage(path, position, f"the batch at offset {base:,} lacks its last {missing:,} bytes")
    if version < CURRENT:
        return Batch(path, position, size, base, base, -1, version)
    _, _, epoch, _, _, attributes, delta, _, _, _, _, _, count = HEADER.unpack(head)
    if delta < 0 or count < 0:
        return Damage(path, position, f"no batch: {count} records to offset {base + delta:,} cannot be")
    return Batch(
        path,
        position,
        size,
        base,
        base + delta,
        epoch,
        version,
        compression=attributes & 7,
        is_control=bool(attributes & 0x20),
        count=count,
    )


def _is_sound(file: BinaryIO, batch: Batch, head: bytes, report: OnRead) -> bool:
    """Whether a batch of an open segment has the checksum that its header states."""
    begins, at, summed = NEW_CRC if batch.version == CURRENT else OLD_CRC
    stated = int.from_bytes(head[at : at + 4], "big")
    return _checksum(file, batch.position + begins, batch.size - begins, summed, report) == stated


def _checksum(file: BinaryIO, start: int, size: int, summed: Summed, report: OnRead) -> int:
    """The checksum of `size` bytes of a file, `summed` a piece at a time."""
    file.seek(start)
    crc = 0
    while size > 0:
        piece = file.read(min(size, PIECE))
        if not piece:
            return -1
        crc = summed(piece, crc)
        size -= len(piece)
        report(0)
    return crc
