"""Which tests are slow: those in `slow_tests.txt`, those that start Spark, and those of many that are marked.

`python -m pytest` leaves them out, `--slow` runs these alone, and `--all` runs all.  Who names
tests (a file, `-k`, `-m`, `--last-failed`) gets all that were named.  `--record-durations` writes
the file: what it does not name is quick, as are tests that nobody has recorded yet.

Some slow ones are left to the night, and `--nightly` runs these alone: those that are marked `nightly`, and
those of a `grid`, which asks the same of every protocol, that take more than a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from math import ceil, log2
from pathlib import Path
from typing import Protocol

import pytest

RECORD = Path(__file__).with_suffix(".txt")
SECONDS = 0.2  # beyond which a test is slow: such that all others take some two minutes on two cores
HEAD = f"""\
# Tests that take more than {SECONDS} seconds, and how many seconds about: a power of two.
# `python -m pytest --record-durations` writes this, on a machine that does nothing else.
"""
LONG = 1.0  # seconds beyond which a test of a grid is left to the night
COLLECTED = pytest.StashKey[frozenset[str]]()  # the names of all tests, where all have been collected
ENDED = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}  # a run in which every test had its turn

Record = Mapping[str, float]  # the seconds of each slow test, by its name


class Speed(Enum):
    """Who runs a test: everybody, `.ci/run`, or `.ci/nightly`."""

    QUICK = auto()
    SLOW = auto()
    NIGHTLY = auto()


class Worker(Protocol):
    """What pytest-xdist says of a process that has ended."""

    workeroutput: dict[str, object]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which tests a command asks for."""

    everything: bool
    alone: frozenset[Speed]  # kinds that are wanted alone; none, where quick ones are
    files: frozenset[Path]  # named, so all their tests are wanted

    def has(self, file: Path, speed: Speed) -> bool:
        if self.alone:
            return speed in self.alone
        return self.everything or speed is Speed.QUICK or file in self.files


ALONE = {Speed.SLOW: "slow_alone", Speed.NIGHTLY: "nightly_alone"}


def wanted(config: pytest.Config) -> Wanted:
    """Which tests are asked for on the command line."""
    words = "run_all", "record_durations", "update_golden", "keyword", "markexpr", "lf", "stepwise"
    named = (config.invocation_params.dir / word.partition("::")[0] for word in config.args)
    return Wanted(
        any(config.getoption(word, None) for word in words),
        frozenset(speed for speed, word in ALONE.items() if config.getoption(word)),
        frozenset(path.resolve() for path in named if path.is_file()),
    )


def read(text: str) -> Record:
    """What a file of this kind records."""
    lines = (line.split(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {name: float(seconds) for seconds, name in lines}


def written(record: Record) -> str:
    """The file that records it."""
    return HEAD + "".join(f"{seconds:g} {name}\n" for name, seconds in sorted(record.items()))


def renewed(record: Record, took: Record, gone: Iterable[str] = ()) -> Record:
    """The record after a run in which tests took so many seconds, and in which some are gone.

    What is still true within a factor of two stays as it is, so that the file does not change
    with every run.
    """
    new = dict(record)
    for name, seconds in took.items():
        known = record.get(name)
        if known is not None and known / 4 < seconds <= known * 2:
            continue
        if seconds > SECONDS:
            new[name] = 2.0 ** ceil(log2(seconds))
        else:
            new.pop(name, None)
    for name in gone:
        new.pop(name, None)
    return new


def in_order(items: list[pytest.Item], record: Record) -> list[pytest.Item]:
    """The tests as they run best: what needs Spark first, for one worker to have it all, then the longest.

    Tests of a file stay together, for what they share.  The short ones come last, so that no
    worker waits long for another.
    """
    longest: dict[Path, float] = {}
    for item in items:
        longest[item.path] = max(longest.get(item.path, 0), record.get(item.nodeid, 0))

    def place(item: pytest.Item) -> tuple[int, float, Path, float]:
        return _by_session(item), -longest[item.path], item.path, -record.get(item.nodeid, 0)

    return sorted(items, key=place)


def _by_session(item: pytest.Item) -> int:
    """Who shares a session of Spark goes together."""
    fixtures = getattr(item, "fixturenames", ())
    if item.get_closest_marker("spark") is None:
        return 3
    return 0 if "local_spark" in fixtures else 1 if "cluster_spark" in fixtures else 2


class SlowTests:
    """Leaves out the slow tests, says how many these are, and writes down how long tests take."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._wanted = wanted(config)
        self._record = read(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
        self._took: dict[str, float] = {}
        self._ran: set[str] = set()
        self._untold: set[str] = set()  # failed or were skipped, so nobody knows how long they take
        self._left_out = 0

    def _speed(self, item: pytest.Item) -> Speed:
        marked = {mark.name for mark in item.iter_markers()}
        seconds = self._record.get(item.nodeid, 0)
        if "nightly" in marked or ("grid" in marked and seconds > LONG):
            return Speed.NIGHTLY
        return Speed.SLOW if seconds or marked & {"spark", "one_of_many"} else Speed.QUICK

    def _is_whole(self) -> bool:
        """Whether all tests that there are have been asked for."""
        named = {(self._config.invocation_params.dir / word).resolve() for word in self._config.args}
        return named == {self._config.rootpath / name for name in self._config.getini("testpaths")}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._is_whole():
            self._config.stash[COLLECTED] = frozenset(item.nodeid for item in items)
        kept: list[pytest.Item] = []
        out: list[pytest.Item] = []
        for item in items:
            (kept if self._wanted.has(item.path, self._speed(item)) else out).append(item)
        items[:] = in_order(kept, self._record)
        self._config.hook.pytest_deselected(items=out)
        self._left_out = len(out)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._ran.add(report.nodeid)
        self._took[report.nodeid] = self._took.get(report.nodeid, 0) + report.duration
        if not report.passed:
            self._untold.add(report.nodeid)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if hasattr(self._config, "workerinput"):
            self._config.workeroutput["left_out"] = self._left_out  # type: ignore[attr-defined]
        elif self._config.getoption("record_durations"):
            took = {name: seconds for name, seconds in self._took.items() if name not in self._untold}
            gone = self._record.keys() - self._ran if self._is_whole() and exitstatus in ENDED else ()
            RECORD.write_text(written(renewed(self._record, took, gone)), encoding="utf-8")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Worker) -> None:
        """A worker of pytest-xdist has ended; each of them has left out the same."""
        left_out = getattr(node, "workeroutput", {}).get("left_out", 0)
        self._left_out = max(self._left_out, left_out)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._left_out:
            which = "other" if self._wanted.alone else "slow"
            told = f"{self._left_out:,} {which} tests were left out; `python -m pytest --all` runs all"
            terminalreporter.write_line(told)
