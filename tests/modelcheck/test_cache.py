"""The cache: whose files it removes, and whose it trusts."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from modelcheck import cache as cache_module
from modelcheck.cache import KERNELS, Cache
from modelcheck.cli import main
from modelcheck.engine import CannotStart
from spec.diagnostics import render
from tests.modelcheck.test_written import TINY

KEY = "0123456789abcdef" * 4


def test_a_damaged_cache_is_as_if_there_were_none(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("key", b"code")
    assert cache.get("key") == b"code"
    (tmp_path / "key").write_bytes((tmp_path / "key").read_bytes()[:-1] + b"?")

    assert cache.get("key") is None
    assert cache.get("other") is None


def test_a_cache_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    cache = Cache(tmp_path / "file")
    cache.put("key", b"code")

    assert cache.get("key") is None


# ---------------------------------------------------------------------- whose files


def test_only_kernels_are_removed_the_oldest_first(tmp_path: Path) -> None:
    mine = [f"letter-{n}.txt" for n in range(9)] + [KEY.replace("0", "f"), "new-abcdefgh", "state-1"]
    for name in mine:
        (tmp_path / name).write_text("mine", encoding="utf-8")
        os.utime(tmp_path / name, (1, 1))
    cache = Cache(tmp_path, replace(KERNELS, most=3))
    keys = [f"{n}{KEY[1:]}" for n in range(5)] + [f"5{KEY[1:]}-blocks"]
    for age, key in enumerate(keys):
        cache.put(key, b"code")
        os.utime(tmp_path / key, (100 + age, 100 + age))

    assert {path.name for path in tmp_path.iterdir()} == {*mine, *keys[-3:]}


def test_what_a_run_that_was_killed_has_left_is_removed(tmp_path: Path) -> None:
    cache = Cache(tmp_path, replace(KERNELS, most=1))
    cache.put(KEY, b"code")
    left = tmp_path / "new-12345678"
    left.write_bytes((tmp_path / KEY).read_bytes()[:30])
    os.utime(left, (1, 1))
    cache.put(KEY, b"code")

    assert [path.name for path in tmp_path.iterdir()] == [KEY]


# ----------------------------------------------------------------------- whose code


def test_a_new_cache_is_for_nobody_else(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Cache(tmp_path / "a" / "cache").put(KEY, b"code")
    finally:
        os.umask(before)

    assert (tmp_path / "a" / "cache").stat().st_mode & 0o077 == 0
    assert (tmp_path / "a" / "cache" / KEY).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_cache_that_others_can_write_to_is_refused(
    mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(mode)
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path / "cache"))

    assert main(["check", str(TINY), "--check", "as_expected"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert f"others can write to the cache {tmp_path / 'cache'}" in told.err
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_cache_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "OURS", {os.geteuid() + 1})

    with pytest.raises(CannotStart, match="somebody else owns the cache"):
        Cache(tmp_path).insist()


def test_a_cache_that_is_not_there_yet_is_fine(tmp_path: Path) -> None:
    Cache(tmp_path / "new").insist()
    Cache(tmp_path).insist()


@pytest.mark.parametrize("how", ["link", "writable", "somebody else's"])
def test_a_kernel_that_may_be_somebody_elses_is_not_run(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, path = Cache(tmp_path), tmp_path / KEY
    cache.put(KEY, b"code")
    assert cache.get(KEY) == b"code"
    match how:
        case "link":
            path.rename(tmp_path / "elsewhere")
            path.symlink_to("elsewhere")
        case "writable":
            path.chmod(0o620)
        case _:
            monkeypatch.setattr(cache_module, "OURS", {os.geteuid() + 1})

    assert cache.get(KEY) is None


def test_the_refusal_comes_through_from_another_process() -> None:
    again = pickle.loads(pickle.dumps(CannotStart("there is no Java")))  # noqa: S301 - our own

    assert isinstance(again, CannotStart)
    assert [render(each) for each in again.diagnostics] == ["modelcheck: error[R0912]: there is no Java"]
