"""The golden files' own rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import GOLDEN, golden_mismatch


def test_an_equal_text_passes(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("one\r\n✓\n".encode())

    assert golden_mismatch(tmp_path / "a.txt", "one\r\n✓\n", update=False) == ""


@pytest.mark.parametrize("kept", ["one\n", "one", "", None])
def test_any_difference_shows_both_texts_whole(tmp_path: Path, kept: str | None) -> None:
    path = tmp_path / "a.txt"
    if kept is not None:
        path.write_text(kept)

    told = golden_mismatch(path, "two\nlines\n", update=False)

    assert "--- got\ntwo\nlines\n" in told
    assert f"--- expected\n{'(no such file)' if kept is None else kept}\n" in told
    assert not path.exists() or path.read_text() == kept


def test_an_update_writes_the_text(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"

    assert golden_mismatch(path, "two\n", update=True) == ""
    assert path.read_text() == "two\n"


def test_no_golden_folder_is_empty() -> None:
    folders = [folder for folder in GOLDEN.rglob("*") if folder.is_dir()]

    assert [folder for folder in folders if not any(folder.iterdir())] == []
