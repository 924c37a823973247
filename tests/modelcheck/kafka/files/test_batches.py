"""Batches: what is written is read back, and whatever the bytes are, reading ends with what is wrong."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelcheck.kafka.files.batches import Batch, read_batches
from modelcheck.kafka.files.crc32c import crc32c
from modelcheck.kafka.files.damage import Damage, UnreadableError
from modelcheck.kafka.files.fields import FieldReader, ShortError
from modelcheck.kafka.files.records import LogRecord, read_records
from tests.modelcheck.kafka.files.written import batch, old_record, uvarint, varint

VALUES = st.lists(st.lists(st.binary(max_size=40), min_size=1, max_size=5), min_size=1, max_size=5)


def laid_out(values: list[list[bytes]], epoch: int = 0) -> list[bytes]:
    found, base = [], 0
    for each in values:
        found.append(batch(base, each, epoch))
        base += len(each)
    return found


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("segments") / f"{0:020}.log"


def test_the_checksum_is_that_of_rfc_3720() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(bytes(range(32))) == 0x46DD794E


@given(st.binary(max_size=300), st.integers(0, 300))
def test_a_checksum_goes_on_where_it_was_left(data: bytes, at: int) -> None:
    assert crc32c(data[at:], crc32c(data[:at])) == crc32c(data)


@given(st.integers(-(2**31), 2**31 - 1))
def test_numbers_of_varying_length_are_read_back(value: int) -> None:
    assert FieldReader(varint(value)).varint() == value
    assert FieldReader(uvarint(abs(value))).uvarint() == abs(value)


@settings(max_examples=40)
@given(values=VALUES, epoch=st.integers(0, 2**31 - 1))
def test_what_is_written_is_read_back(values: list[list[bytes]], epoch: int, path: Path) -> None:
    path.write_bytes(b"".join(laid_out(values, epoch)))
    batches = list(read_batches(path))
    read = [list(read_records(found)) for found in batches if isinstance(found, Batch)]

    assert [[each.value for each in found if isinstance(each, LogRecord)] for found in read] == values
    assert {found.epoch for found in batches if isinstance(found, Batch)} == {epoch}
    offsets = [each.offset for found in read for each in found if isinstance(each, LogRecord)]
    assert offsets == list(range(sum(map(len, values))))


@settings(max_examples=40)
@given(values=VALUES, data=st.data())
def test_a_segment_that_is_cut_off_says_from_which_byte_on(
    values: list[list[bytes]], data: st.DataObject, path: Path
) -> None:
    whole = laid_out(values)
    size = sum(map(len, whole))
    cut = data.draw(st.integers(1, size - 1))
    path.write_bytes(b"".join(whole)[:cut])
    starts = [sum(map(len, whole[:n])) for n in range(len(whole) + 1)]
    found = list(read_batches(path))

    assert [each.position for each in found] == [start for start in starts if start < cut]
    assert isinstance(found[-1], Damage) == (cut not in starts)


@settings(max_examples=40)
@given(values=VALUES, data=st.data())
def test_a_bit_that_flips_behind_the_checksum_is_found(
    values: list[list[bytes]], data: st.DataObject, path: Path
) -> None:
    whole = laid_out(values)
    victim = data.draw(st.integers(0, len(whole) - 1))
    bit = data.draw(st.integers(21 * 8, len(whole[victim]) * 8 - 1))
    spoilt = bytearray(whole[victim])
    spoilt[bit // 8] ^= 1 << bit % 8
    path.write_bytes(b"".join([*whole[:victim], bytes(spoilt), *whole[victim + 1 :]]))
    found = list(read_batches(path))

    assert len(found) == victim + 1
    assert isinstance(found[-1], Damage)


@settings(max_examples=40)
@given(junk=st.binary(max_size=200))
def test_no_bytes_are_too_odd(junk: bytes, path: Path) -> None:
    path.write_bytes(junk)
    for found in read_batches(path):
        if isinstance(found, Batch):
            list(read_records(found))


@settings(max_examples=40)
@given(junk=st.binary(min_size=1, max_size=60))
def test_records_of_no_sense_are_damage(junk: bytes, path: Path) -> None:
    rest = struct.pack(">hiqqqhii", 0, 9, 0, 0, -1, -1, -1, 10) + junk
    path.write_bytes(struct.pack(">qiibI", 0, 9 + len(rest), 0, 2, crc32c(rest)) + rest)
    (found,) = read_batches(path)
    assert isinstance(found, Batch)
    records = list(read_records(found))

    assert isinstance(records[-1], Damage)


def test_the_old_formats_are_recognised(path: Path) -> None:
    path.write_bytes(old_record(7) + batch(8, [b"new"]))
    first, second = read_batches(path)

    assert isinstance(first, Batch)
    assert (first.version, first.last, first.epoch) == (1, 7, -1)
    assert isinstance(second, Batch)


def test_a_record_of_an_old_format_has_a_checksum_too(path: Path) -> None:
    path.write_bytes(old_record(6) + old_record(7)[:-1] + b"x")
    first, second = read_batches(path)

    assert isinstance(first, Batch)
    assert "the batch at offset 7 fails its checksum" in str(second)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (bytes(100), "nothing but zero bytes"),
        (b"\0" * 16 + b"\x07" + b"\0" * 60, "version 7"),
        (b"\0" * 5 + b"x", "no whole batch"),
    ],
)
def test_what_is_no_batch_is_told(content: bytes, said: str, path: Path) -> None:
    path.write_bytes(content)
    (found,) = read_batches(path)

    assert said in str(found)


def test_what_is_not_looked_at_fails_no_checksum(path: Path) -> None:
    whole = bytearray(batch(0, [b"value"]))
    whole[-2] ^= 1
    path.write_bytes(bytes(whole))

    assert isinstance(next(read_batches(path)), Damage)
    assert isinstance(next(read_batches(path, checksums=False)), Batch)


def test_a_segment_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="no such file"):
        list(read_batches(tmp_path / "nothing.log"))


def test_a_number_without_an_end_is_refused() -> None:
    with pytest.raises(ShortError):
        FieldReader(b"\xff" * 12).uvarint()


def plainly(data: bytes, before: int) -> int:
    """The checksum bit by bit."""
    crc = before ^ 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


@settings(max_examples=30)
@given(st.integers(0, 3000), st.integers(0, 2**32 - 1), st.randoms(use_true_random=False))
def test_long_data_have_the_checksum_that_they_have_bit_by_bit(
    size: int, before: int, random: Random
) -> None:
    data = random.randbytes(size)

    assert crc32c(data, before) == plainly(data, before)


def test_memory_does_not_grow_with_a_batch(path: Path) -> None:
    size = 16 << 20
    path.write_bytes(batch(0, [bytes(size)]))
    tracemalloc.start()
    try:
        (found,) = read_batches(path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert isinstance(found, Batch)
    assert most < size / 2
