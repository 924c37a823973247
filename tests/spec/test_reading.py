"""Files that people name: whatever stands there is read up to a limit or refused, and never waited for."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

import spec.reading as reading
from spec.reading import OutOfTime, Patience, bytes_of, opened, text_of, unpacked
from tests.hostile_files import KINDS, patience, put

REFUSED = ("named pipe", "endless device", "full device", "link to itself", "link to nothing", "folder")


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_file_is_refused_at_once(kind: str, tmp_path: Path) -> None:
    put(kind, tmp_path / "x")

    with patience(), pytest.raises(OSError, match=r"pipe|device|directory|links|no such file|No such file"):
        bytes_of(tmp_path / "x", 100)


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - set(REFUSED)))
def test_no_more_is_read_than_a_limit(kind: str, tmp_path: Path) -> None:
    put(kind, tmp_path / "x")

    with patience():
        assert len(bytes_of(tmp_path / "x", 100)) == 100
        with pytest.raises(OSError, match="it has more than 100 bytes"):
            text_of(tmp_path / "x", 100)


def test_a_pipe_that_takes_the_place_of_a_file_meanwhile_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    put("named pipe", tmp_path / "x")
    before = (tmp_path / "file").stat()
    monkeypatch.setattr(Path, "stat", lambda *_, **__: before)

    with patience(), pytest.raises(OSError, match="it is a named pipe, and no file"):
        opened(tmp_path / "x")


def test_links_are_followed_unless_they_are_not_to_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text", encoding="utf-8")
    (tmp_path / "link").symlink_to("file")

    assert bytes_of(tmp_path / "link", 100) == b"text"
    with pytest.raises(OSError, match=r"no file|links"):
        opened(tmp_path / "link", follow=False)


def test_what_the_shell_has_opened_may_be_a_pipe() -> None:
    ours, theirs = os.pipe()
    os.write(theirs, b"text")
    os.close(theirs)

    with patience():
        assert bytes_of(Path(f"/dev/fd/{ours}"), 100) == b"text"
    os.close(ours)


@pytest.mark.parametrize("name", ["/dev/fd/../../../dev/zero", "/proc/self/fd/../../../dev/zero"])
def test_no_device_has_the_name_of_what_the_shell_has_opened(name: str) -> None:
    with patience(), pytest.raises(OSError, match="it is a device, and no file"):
        bytes_of(Path(name), 100)


# ------------------------------------------------------------------ what is packed


def all_of(path: Path) -> int:
    """How many bytes come out of a file."""
    with opened(path) as file, unpacked(file) as inside:
        size = 0
        while data := inside.read1(1 << 16):
            size += len(data)
        return size


def test_a_packed_file_is_unpacked_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"x" * 1000)
    (tmp_path / "packed").write_bytes(gzip.compress(b"x" * 1000))

    assert (all_of(tmp_path / "plain"), all_of(tmp_path / "packed")) == (1000, 1000)


def test_what_expands_beyond_all_measure_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "ROOM", 1 << 20)
    (tmp_path / "bomb").write_bytes(gzip.compress(bytes(1 << 24)))

    with patience(), pytest.raises(OSError, match=r"it unpacks to more than [\d,]+ bytes"):
        all_of(tmp_path / "bomb")


# ------------------------------------------------------------------ time


def test_patience_ends_when_it_is_over_and_not_before() -> None:
    Patience(None).look()
    Patience(100).look()
    assert Patience(None).left is None
    with pytest.raises(OutOfTime):
        Patience(0).look()
