"""The records in a batch that is not compressed, such as those of the metadata log."""

from __future__ import annotations

from collections.abc import Iterator

from modelcheck.kafka.files.batches import CURRENT, HEADER, Batch
from modelcheck.kafka.files.damage import Damage, UnreadableError
from modelcheck.kafka.files.fields import FieldReader, ShortError
from spec.frozen import frozen
from spec.reading import opened

LARGEST = 1 << 26  # bytes of a batch of metadata that is read; Kafka makes none of more than 8 MB
COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")


@frozen
class LogRecord:
    """A record with its offset, and the batch that contains it."""

    batch: Batch
    offset: int
    key: bytes | None
    value: bytes | None


def read_records(batch: Batch) -> Iterator[LogRecord | Damage]:
    """The records of a batch in order; at the first damage, that instead. Reads the whole batch."""
    if batch.version < CURRENT:
        yield _damage(batch, f"records of version {batch.version}, which has no metadata")
        return
    if batch.compression:
        name = dict(enumerate(COMPRESSIONS)).get(batch.compression, str(batch.compression))
        yield _damage(batch, f"records that are compressed ({name}), which metadata never is")
        return
    if batch.size > LARGEST:
        yield _damage(batch, f"{batch.size:,} bytes, and no batch of metadata has more than {LARGEST:,}")
        return
    try:
        with opened(batch.path) as file:
            file.seek(batch.position + HEADER.size)
            fields = FieldReader(file.read(batch.size - HEADER.size))
    except OSError as error:
        raise UnreadableError.refused(batch.path, error) from error
    try:
        for _ in range(batch.count):
            yield _record(batch, FieldReader(fields.take(fields.varint())))
    except ShortError as error:
        yield _damage(batch, f"a record that cannot be read: {error}")


def _record(batch: Batch, fields: FieldReader) -> LogRecord:
    """Decode the next record of a batch."""
    fields.int8()  # attributes, which no record has
    fields.varint()  # time since the batch's first
    offset = batch.base + fields.varint()
    key = _bytes(fields)
    value = _bytes(fields)
    return LogRecord(batch, offset, key, value)


def _bytes(fields: FieldReader) -> bytes | None:
    """Decode a nullable byte string preceded by its length."""
    size = fields.varint()
    return None if size < 0 else fields.take(size)


def _damage(batch: Batch, what: str) -> Damage:
    """The damage of a batch, described by `what`."""
    return Damage(batch.path, batch.position, what)
