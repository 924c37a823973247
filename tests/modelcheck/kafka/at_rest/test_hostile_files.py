"""Directories of brokers in which pipes, devices, holes and bombs stand in the place of files."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Callable
from itertools import count
from pathlib import Path
from shutil import which
from typing import Any

import pytest

import modelcheck.kafka.files.batches as batches
import modelcheck.kafka.files.messages.lines as log_lines
import spec.reading as reading
from modelcheck.commands.kafka.explain_log import _Progress
from modelcheck.contract.exits import Exit
from modelcheck.kafka.files.batches import HEADER
from tests.hostile_files import KINDS, patience, put
from tests.modelcheck.conftest import CLUSTERS

Run = Callable[..., tuple[int, str, str]]
NAMES = sorted(
    {
        str(path.relative_to(CLUSTERS / "power_loss"))
        for path in (CLUSTERS / "power_loss" / "broker1").rglob("*")
        if path.is_file()
    }
    | {f"broker1/{name}" for name in (".lock", "orders-0/partition.metadata")}
    | {"broker1/__cluster_metadata-0/00000000000000000009-0000000001.checkpoint"}
)
LINE = (
    b"[2026-11-24 22:24:32,012] INFO [Partition orders-0 broker=1] Log loaded for partition orders-0 with "
    b"initial high watermark 0 (kafka.cluster.Partition)\n"
)


@pytest.mark.parametrize("kind", KINDS)
def test_at_rest_says_what_is_there_whatever_stands_for_a_file(
    kind: str, copied: Callable[[str], Path], run: Run
) -> None:
    cluster = copied("power_loss")
    for name in NAMES:
        path = cluster / name
        data = path.read_bytes() if path.exists() else None
        put(kind, path)
        with patience():
            code, out, err = run("kafka", "inspect", str(cluster), "--every-checksum")

        assert code in {Exit.VIOLATED, Exit.WRONG, Exit.UNKNOWN}, name
        assert out or err, name
        assert "Traceback" not in err, name
        path.rmdir() if kind == "folder" else path.unlink()
        if data is not None:
            path.write_bytes(data)


@pytest.mark.parametrize("name", NAMES)
def test_explain_log_waits_for_no_pipe(name: str, copied: Callable[[str], Path], run: Run) -> None:
    cluster = copied("power_loss")
    put("named pipe", cluster / name)
    with patience():
        code, out, err = run(
            "kafka", "explain-log", str(cluster), "--partition", "orders-0", "--max-states", "2000"
        )

    assert code in {Exit.EXPECTED, Exit.VIOLATED, Exit.WRONG, Exit.UNKNOWN}
    assert out or err
    assert "Traceback" not in err


def test_a_topic_whose_id_cannot_be_read_is_a_problem(copied: Callable[[str], Path], run: Run) -> None:
    cluster = copied("power_loss")
    put("endless device", cluster / "broker1/orders-0/partition.metadata")

    _, out, _ = run("kafka", "inspect", str(cluster), "--json")

    assert any("partition.metadata: it is a device" in each for each in json.loads(out)["problems"])


def hollow(path: Path, batches: int) -> None:
    """A segment of batches of a gigabyte of which only the headers were written, so that it takes no room."""
    size = (1 << 30) - 1
    with path.open("wb") as file:
        for number in range(batches):
            file.seek(number * size)
            file.write(HEADER.pack(number, size - 12, 0, 2, 1, 0, 0, 0, 0, -1, -1, -1, 1))
        file.truncate(batches * size)


def clocked(monkeypatch: pytest.MonkeyPatch, clock: Callable[[], float]) -> None:
    """Have limits of reading told by another clock."""
    monkeypatch.setattr(reading.Patience.__init__, "__defaults__", (clock,))


def test_time_is_kept_within_one_batch(
    copied: Callable[[str], Path], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever somebody looks at the clock, a hundredth of a second is gone."""
    looks = count()
    clocked(monkeypatch, lambda: next(looks) / 100)
    cluster = copied("power_loss")
    hollow(cluster / "broker1/orders-0/00000000000000000000.log", 40)
    summed: list[int] = []

    def noted(piece: bytes, crc: int) -> int:
        summed.append(len(piece))
        return crc

    begins, at, _ = batches.NEW_CRC
    monkeypatch.setattr(batches, "NEW_CRC", (begins, at, noted))
    code, out, _ = run("kafka", "inspect", str(cluster), "--every-checksum", "--max-time", "1", "--json")

    assert 0 < sum(summed) < 1 << 30
    assert code in {Exit.VIOLATED, Exit.UNKNOWN}
    assert any(each.startswith("The time is over: ") for each in json.loads(out)["problems"])


def packed(path: Path, lines: int) -> Path:
    """A log packed by gzip of so many equal lines."""
    with gzip.open(path, "wb", 1) as file:
        for _ in range(lines // 1000):
            file.write(LINE * 1000)
    return path


def test_what_was_read_of_a_log_in_time_is_explained(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A third of the time is for reading, of which each block of the log takes a second."""
    bomb = packed(tmp_path / "server.log.gz", 1_000)
    blocks: list[str] = []
    read = _Progress.read

    def read_slowly(progress: _Progress, what: str, size: int) -> None:
        blocks.extend([what] if "server.log.gz" in what else [])
        read(progress, what, size)

    clocked(monkeypatch, lambda: float(len(blocks)))
    monkeypatch.setattr(log_lines, "BLOCK", 1 << 12)
    monkeypatch.setattr(_Progress, "read", read_slowly)
    words = ["--partition", "orders-0", "--max-time", "30", "--json"]
    code, out, err = run("kafka", "explain-log", str(CLUSTERS / "power_loss"), str(bomb), *words)
    problems: list[Any] = json.loads(out)["problems"]

    assert code in {Exit.EXPECTED, Exit.VIOLATED}
    assert err == ""
    assert len(blocks) == 10
    assert any("the time is over; what follows is not read" in each for each in problems)


def test_a_log_that_expands_beyond_all_measure_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "ROOM", 1 << 20)
    monkeypatch.setattr(reading, "RATIO", 1)
    bomb = packed(tmp_path / "server.log.gz", 20_000)

    read = log_lines.read_log_file(bomb, None, lambda _: None)

    assert 0 < read.total < 20_000
    assert "it unpacks to more than" in str(read.damaged[-1])


@pytest.mark.skipif(which("zstd") is None, reason="zstd is not installed")
def test_one_that_a_program_unpacks_is_ended_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "ROOM", 1 << 20)
    monkeypatch.setattr(reading, "RATIO", 1)
    (tmp_path / "server.log").write_bytes(LINE * 20_000)
    subprocess.run([str(which("zstd")), "-q", str(tmp_path / "server.log")], check=True)

    read = log_lines.read_log_file(tmp_path / "server.log.zst", None, lambda _: None)

    assert 0 < read.total < 20_000
    assert "it unpacks to more than" in str(read.damaged[-1])


def test_a_file_without_any_line_of_a_log_is_given_up_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_lines, "MOST_STRANGE", 3)
    with gzip.open(tmp_path / "server.log.gz", "wb", 1) as file:
        for _ in range(20):
            file.write(b"\n" * (1 << 20))
    reported: list[int] = []

    with pytest.raises(Exception, match="no line of it is laid out in a way that is known"):
        log_lines.read_log_file(tmp_path / "server.log.gz", None, reported.append)

    assert sum(reported) <= log_lines.MOST_STRANGE * log_lines.BLOCK


@pytest.mark.parametrize("words", [["9" * 6000 + "=dir"], ["dir", "--partition", "orders-" + "9" * 6000]])
def test_an_argument_may_be_a_long_number(words: list[str], run: Run) -> None:
    code, _, err = run("kafka", "explain-log", *words)

    assert code == Exit.WRONG
    assert "Traceback" not in err


def test_a_line_may_have_a_long_number(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_bytes(LINE.replace(b"watermark 0", b"watermark " + b"9" * 6000) + LINE)

    read = log_lines.read_log_file(tmp_path / "server.log", None, lambda _: None)

    assert [each.number for each in read.matched] == [2]
