"""Logs as people have them: rotated, packed, damaged, in other layouts and in other languages."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.damage import UnreadableError
from modelcheck.kafka.files.messages import lines
from modelcheck.kafka.files.messages.lines import BLOCK, LogFile, read_log_file
from modelcheck.kafka.files.messages.names import chains, logs_below
from modelcheck.kafka.files.messages.templates import Says

PLACE = TopicPartition("orders", 0)
LEADS = (
    "[2024-05-01 12:00:00,000] INFO [Broker id=1] Leader orders-0 with topic id Some(UDzdvJ5CSFKmaQFt3qH6hw)"
    " starts at leader epoch 3 from offset 20 with partition epoch 7, high watermark 18, ISR [1,2], adding"
    " replicas [] and removing replicas [] . Previous leader None and previous leader epoch was -1."
    " (state.change.logger)"
)
CUT = (
    "[2024-05-01 12:00:01,000] INFO [UnifiedLog partition=orders-0, dir=/d] Truncating to offset 20"
    " (kafka.log.UnifiedLog)"
)
OTHER = "[2024-05-01 12:00:00,000] INFO [SocketServer] nothing of ours (kafka.network.SocketServer)"


def read(path: Path, *places: TopicPartition) -> LogFile:
    return read_log_file(path, places or (PLACE,), lambda _: None)


@pytest.fixture
def log(tmp_path: Path) -> Callable[[bytes], Path]:
    """A file with these bytes."""

    def write(data: bytes) -> Path:
        path = tmp_path / "server.log"
        path.write_bytes(data)
        return path

    return write


def test_lines_have_their_numbers_and_coverage_adds_up(log: Callable[[bytes], Path]) -> None:
    text = [OTHER, LEADS, OTHER, "\tat a.stack.Trace", CUT, LEADS.replace("orders-0", "my-orders-0")]
    unknown = "[2024-05-01 12:00:02,000] WARN strange things of orders-0 (kafka.log.Log)"
    found = read(log("\n".join([*text, unknown]).encode()))

    assert [(line.number, line.says) for line in found.matched] == [(2, Says.LEADS), (5, Says.TRUNCATED)]
    assert (found.total, found.entries, found.unknown, found.first_unknown) == (7, 6, 1, 7)


def test_a_name_that_is_a_part_of_another_is_not_meant(log: Callable[[bytes], Path]) -> None:
    lines = [CUT.replace("orders-0", name) for name in ("orders-01", "my.orders-0", "orders-0-0")]

    assert read(log("\n".join(lines).encode())).matched == ()


@pytest.mark.parametrize(
    "line",
    [
        LEADS,
        LEADS.replace("2024-05-01 12:00:00,000", "1 мая 2024 12:00:00"),  # a date in Russian
        LEADS.replace("2024-05-01 12:00:00,000", "٢٠٢٤-٠٥-٠١ ١٢:٠٠:٠٠"),  # noqa: RUF001 - Arabic digits
        LEADS.replace("[2024-05-01 12:00:00,000]", "2024-05-01 12:00:00,000") + " [ReplicaFetcherThread-0-1]",
        "May  1 12:00:00 host kafka[123]: " + LEADS,
        "broker-1  | " + LEADS,
        "2024-05-01T12:00:00.000 INFO [main] state.change.logger: "
        + LEADS.partition("INFO ")[2].removesuffix(" (state.change.logger)"),
    ],
    ids=["kafka", "russian", "arabic", "strimzi", "journal", "compose", "logger-first"],
)
def test_layouts_and_dates_of_any_language_are_read(line: str, log: Callable[[bytes], Path]) -> None:
    (found,) = read(log(line.encode())).matched

    assert (found.node, found.value("offset"), found.numbers("isr")) == (1, 20, (1, 2))


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (os.urandom(1000).replace(b"[", b"\0") * 50, "no text"),
        (LEADS.encode("utf-16"), "UTF-16"),
        (b"some notes\nof somebody\n", "laid out in a way that is known"),
        (b'{"level": "INFO", "message": "Leader orders-0"}\n', "laid out in a way that is known"),
    ],
)
def test_what_is_no_log_is_refused(data: bytes, what: str, log: Callable[[bytes], Path]) -> None:
    with pytest.raises(UnreadableError, match=what):
        read(log(data))


def test_junk_in_the_middle_is_damage_and_the_rest_is_read(log: Callable[[bytes], Path]) -> None:
    found = read(log(LEADS.encode() + b"\n" + b"\0" * 5000 + b"\n" + b"\xff\xfe broken\n" + CUT.encode()))

    assert [line.number for line in found.matched] == [1, 4]
    assert [damage.what for damage in found.damaged] == ["1 lines have bytes that are zero"]


def test_a_line_without_an_end_takes_no_more_memory_than_a_block(
    log: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "BLOCK", 1 << 12)
    monkeypatch.setattr(lines, "LONGEST", 1 << 12)
    sizes: list[int] = []
    monkeypatch.setattr(lines._Scan, "take", watched(lines._Scan.take, sizes))
    found = read(log(LEADS.encode() + b"\n" + b"x" * (1 << 20) + b"\n" + CUT.encode()))

    assert [line.says for line in found.matched] == [Says.LEADS, Says.TRUNCATED]
    assert max(sizes) <= 2 << 12
    assert found.total == 3
    assert "longer than" in found.damaged[0].what


def watched(
    take: Callable[[lines._Scan, bytes], None], sizes: list[int]
) -> Callable[[lines._Scan, bytes], None]:
    def taken(scan: lines._Scan, block: bytes) -> None:
        sizes.append(len(block))
        take(scan, block)

    return taken


@pytest.mark.parametrize("program", ["gzip", "zstd"])
def test_packed_files_are_read_and_one_cut_off_as_far_as_it_goes(program: str, tmp_path: Path) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program}")
    plain = tmp_path / "server.log"
    plain.write_text("".join(f"{LEADS}\n{OTHER} {number}\n" for number in range(5000)))
    subprocess.run([program, "-kq", str(plain)], check=True)
    (packed,) = [path for path in tmp_path.iterdir() if path != plain]

    assert len(read(packed).matched) == 5000
    packed.write_bytes(packed.read_bytes()[: packed.stat().st_size // 2])
    half = read(packed)

    assert 0 < len(half.matched) < 5000
    assert half.damaged


def test_zstd_without_a_program_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "server.log.zst").write_bytes(b"\x28\xb5\x2f\xfd....")
    monkeypatch.setattr(shutil, "which", lambda _: None)

    with pytest.raises(UnreadableError, match="unpack it first"):
        read(tmp_path / "server.log.zst")


def test_rotated_files_are_in_order_and_other_files_are_none(tmp_path: Path) -> None:
    names = [
        "server.log.2024-05-01-11",
        "server.log.2024-05-01-12.gz",
        "server.log.2024-05-02-00",
        "server.log",
        "controller.log.10",
        "controller.log.2.gz",
        "controller.log.1",
        "controller.log",
    ]
    for name in (*names, "server.log.swp", "log-cleaner.log", "kafkaServer.out", "kafkaServer-gc.log"):
        (tmp_path / name).touch()
    found = chains(logs_below(tmp_path))

    assert [path.name for path in found[tmp_path, "server"]] == names[:4]
    assert [path.name for path in found[tmp_path, "controller"]] == names[4:]
    assert len(found) == 2


def test_most_lines_are_never_looked_at(
    log: Callable[[bytes], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    line = lines._Scan._line

    def watched_line(scan: lines._Scan, text: str, number: int) -> None:
        looked.append(number)
        line(scan, text, number)

    monkeypatch.setattr(lines._Scan, "_line", watched_line)
    found = read(log("".join(f"{OTHER}\n" for _ in range(20_000)).encode() + LEADS.encode()))

    assert (found.total, looked) == (20_001, [20_001])
    assert found.total * len(OTHER) > BLOCK  # so it took more than one block


def test_of_high_watermarks_in_a_row_the_last_is_kept(log: Callable[[bytes], Path]) -> None:
    marks = [
        f"[2024] DEBUG [Partition orders-0 broker=1] High watermark updated from (offset={n}, segment=[0:1])"
        f" to (offset={n + 1}, segment=[0:2]) (kafka.cluster.Partition)"
        for n in range(1000)
    ]
    found = read(log("\n".join(marks).encode()))

    assert [line.value("mark") for line in found.matched] == [1000]
    assert found.total == 1000
