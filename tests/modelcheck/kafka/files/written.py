"""Batches and logs as Kafka writes them, for tests to read back."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from modelcheck.kafka.files.crc32c import crc32c

GZIP, CONTROL = 1, 0x20  # among the attributes of a batch


def uvarint(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def varint(value: int) -> bytes:
    return uvarint(value << 1 if value >= 0 else (-value << 1) - 1)


def record(delta: int, value: bytes, key: bytes | None = None) -> bytes:
    keyed = varint(-1) if key is None else varint(len(key)) + key
    body = b"\0" + varint(0) + varint(delta) + keyed + varint(len(value)) + value + varint(0)
    return varint(len(body)) + body


def batch(base: int, values: Sequence[bytes], epoch: int = 0, attributes: int = 0) -> bytes:
    records = b"".join(record(n, value) for n, value in enumerate(values))
    return _headed(base, len(values), epoch, attributes, records)


def packed_batch(base: int, count: int, epoch: int) -> bytes:
    """A batch of so many small records, packed by gzip."""
    return _headed(base, count, epoch, GZIP, _packed(count))


@cache
def _packed(count: int) -> bytes:
    return gzip.compress(b"".join(record(n, b"v") for n in range(count)), mtime=0)


def _headed(base: int, count: int, epoch: int, attributes: int, records: bytes) -> bytes:
    rest = struct.pack(">hiqqqhii", attributes, count - 1, 0, 0, -1, -1, -1, count) + records
    head = struct.Struct(">ibI")  # epoch, version, checksum
    return struct.pack(">qi", base, head.size + len(rest)) + head.pack(epoch, 2, crc32c(rest)) + rest


def snapshot(folder: Path, end: int, epoch: int, values: Sequence[bytes]) -> Path:
    """Write a snapshot of the metadata log up to an offset, with the footer that ends each."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{end:020}-{epoch:010}.checkpoint"
    footer = record(0, b"\0\0", b"\0\0\0\4")
    path.write_bytes(batch(0, values, epoch) + _headed(len(values), 1, epoch, CONTROL, footer))
    return path


def old_record(offset: int, value: bytes = b"v") -> bytes:
    """A record of the format 1, which stands alone and has no leader epoch."""
    body = struct.pack(">bbqii", 1, 0, 0, -1, len(value)) + value
    return struct.pack(">qiI", offset, 4 + len(body), zlib.crc32(body)) + body


def log(folder: Path, batches: Iterable[tuple[int, int]], *, segment: int = 0, per: int = 1) -> Path:
    """Write a segment of batches with `per` records each, given as offset and epoch."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{segment:020}.log"
    path.write_bytes(b"".join(batch(base, [b"v"] * per, epoch) for base, epoch in batches))
    return path


def epochs(folder: Path, *starts: tuple[int, int]) -> None:
    lines = "".join(f"{epoch} {start}\n" for epoch, start in starts)
    (folder / "leader-epoch-checkpoint").write_text(f"0\n{len(starts)}\n{lines}")
