"""How much memory is left, as machines and containers say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelcheck.processes import memory

GIB = 1 << 30


@pytest.fixture
def container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A control group with a limit of 1 GiB, of which nearly all is used, most of it for pages of files."""
    monkeypatch.setattr(memory, "CONTAINER", tmp_path)
    (tmp_path / "memory.max").write_text(f"{GIB}\n")
    (tmp_path / "memory.current").write_text(f"{GIB - 4096}\n")
    (tmp_path / "memory.stat").write_text(
        f"anon {GIB // 8}\nfile {GIB // 2}\ninactive_file {GIB // 4}\nactive_file {GIB // 4}\n"
    )
    return tmp_path


@pytest.mark.usefixtures("container")
def test_what_a_container_keeps_of_files_is_not_lost() -> None:
    assert memory.available() == GIB // 2 + 4096


def test_a_container_that_is_full_has_nothing_left(container: Path) -> None:
    (container / "memory.stat").write_text("")
    (container / "memory.current").write_text(f"{2 * GIB}\n")

    assert memory.available() == 0
    assert memory.memory_limit(None) == pytest.approx(memory.resident(), rel=0.1)


@pytest.mark.parametrize("limit", ["max", "", "much"])
def test_a_container_without_a_limit_has_what_the_machine_has(container: Path, limit: str) -> None:
    (container / "memory.max").write_text(limit)

    free = memory.available()

    assert free is None or free > GIB // 2


def test_who_says_how_much_gets_as_much() -> None:
    assert memory.memory_limit(123) == 123
