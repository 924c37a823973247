"""The cache: whose files it removes, and whose it trusts."""

from __future__ import annotations

import json
import os
import pickle
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from modelcheck.cli import main
from modelcheck.contract.engine import CannotStart, Task
from modelcheck.explicit.native.compiling import Tier, compiled
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.storage import cache as cache_module
from modelcheck.storage.cache import KERNELS, Cache
from spec.diagnostics import render
from spec.load import load
from tests.modelcheck.test_written import TINY

SMALL = Path(__file__).parents[2] / "spec/protocols/two_phase_commit.rsm"
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

    with pytest.raises(CannotStart, match="another user owns the cache"):
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


# ------------------------------------------------------- what cannot be kept or used


def checked(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """A check by a process of its own, with its cache there."""
    return subprocess.run(
        [sys.executable, "-m", "modelcheck", "check", str(SMALL), "--engine", "explicit", "--json", *options],
        env={**os.environ, "MODELCHECK_CACHE": str(folder), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def answers(done: subprocess.CompletedProcess[str]) -> list[tuple[int, object]]:
    """The exit code, and states and verdicts of each check."""
    found = [(each["stats"]["states"], each["properties"]) for each in json.loads(done.stdout)]
    return [(done.returncode, each) for each in found]


@pytest.mark.parametrize("trouble", ["no folder", "full disk"])
def test_where_nothing_can_be_kept_it_is_said_once_and_the_answers_are_the_same(
    trouble: str, tmp_path: Path
) -> None:
    whole = checked(tmp_path / "cache")
    (tmp_path / "file").write_text("no folder")
    if trouble == "no folder":
        found = checked(tmp_path / "file")
    else:
        limit, most = resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(limit, (1000, most[1]))
        try:
            found = checked(tmp_path / "full")
        finally:
            resource.setrlimit(limit, most)
        assert list((tmp_path / "full").iterdir()) == []

    assert answers(found) == answers(whole)
    assert whole.stderr == ""
    assert found.stderr.count("what was compiled is not kept in") == 1
    assert len(found.stderr.splitlines()) == 1


def test_damaged_kernels_are_made_again_by_two_processes_at_once(tmp_path: Path) -> None:
    whole = checked(tmp_path)
    kernels = list(tmp_path.iterdir())
    assert kernels
    for number, path in enumerate(kernels):
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2] if number % 2 else data[:-100] + b"?" * 100)

    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(checked, [tmp_path, tmp_path]))

    assert [answers(each) for each in both] == [answers(whole)] * 2
    assert checked(tmp_path).stderr == ""


def test_code_for_another_processor_or_by_another_version_is_another_kernel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path))
    monkeypatch.setattr(
        "modelcheck.explicit.native.writing.compiled", lambda text, _: compiled(text, Tier.QUICK)
    )

    def key() -> str:
        (model, *_) = load(SMALL)
        return Kernel(Task(model, model.checks[0].scope, model.checks[0].budget, ())).key

    own = key()
    assert key() == own
    monkeypatch.setattr("modelcheck.explicit.native.kernel.environment", lambda: "another processor")
    other = key()
    monkeypatch.setattr("modelcheck.explicit.native.kernel.sources", lambda *_: "another version")

    assert len({own, other, key()}) == 3
