"""Which tests run when nothing is said, and the record of the slow ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.slow_tests import (
    COLLECTED,
    RECORD,
    SECONDS,
    SlowTests,
    Speed,
    Wanted,
    in_order,
    read,
    renewed,
    written,
)

pytest_plugins = ["pytester"]

TESTS = """
import pytest

def test_quick(): pass
def test_slow(): pass
@pytest.mark.spark
def test_of_spark(): pass
"""
LATER = """
import pytest

@pytest.mark.nightly
def test_at_night(): pass
@pytest.mark.grid
@pytest.mark.parametrize("of", ["a", "b", "c"])
def test_of_a_grid(of): pass
"""
OTHER = "def test_other(): pass\ndef test_slow_too(): pass\n"
CONFTEST = """
import tests.slow_tests as slow_tests
from pathlib import Path

slow_tests.RECORD = Path(__file__).with_name("slow_tests.txt")
from tests.conftest import pytest_addoption

def pytest_configure(config):
    config.pluginmanager.register(slow_tests.SlowTests(config))
"""
INI = """
[pytest]
testpaths = some
markers =
    spark: starts a Java virtual machine
    nightly: at night
    grid: of many
"""
NIGHTLY = {"test_at_night", "test_of_a_grid[a]"}
SLOW = {"test_slow", "test_of_spark", "test_slow_too", "test_of_a_grid[b]"}
QUICK = {"test_quick", "test_other", "test_of_a_grid[c]"}
ALL = QUICK | SLOW | NIGHTLY


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with three files of tests, of which four are recorded as slow."""
    monkeypatch.setattr("tests.slow_tests.RECORD", RECORD)  # which its conftest changes, for here too
    folder = pytester.mkdir("some")
    (folder / "test_one.py").write_text(TESTS)
    (folder / "test_two.py").write_text(OTHER)
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_three.py").write_text(LATER)
    grid = {f"some/test_three.py::test_of_a_grid[{of}]": seconds for of, seconds in (("a", 2.0), ("b", 1.0))}
    record = {"some/test_one.py::test_slow": 4.0, "some/test_two.py::test_slow_too": 2.0, **grid}
    (folder / "slow_tests.txt").write_text(written(record))
    (pytester.path / "pytest.ini").write_text(INI)
    return pytester


def ran(project: pytest.Pytester, *words: str) -> set[str]:
    found = project.inline_run("-p", "no:xdist", "-p", "no:cacheprovider", *words)
    return {report.nodeid.split("::")[1] for report in found.getreports("pytest_runtest_logreport")}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", QUICK),
        ("some", QUICK),
        ("--all", ALL),
        ("--slow", SLOW),
        ("--nightly", NIGHTLY),
        ("--slow --nightly", SLOW | NIGHTLY),
        ("some/test_three.py", NIGHTLY | {"test_of_a_grid[b]", "test_of_a_grid[c]"}),
        ("some/test_one.py", {"test_quick", "test_slow", "test_of_spark"}),
        ("some/test_one.py::test_slow", {"test_slow"}),
        ("--slow some/test_two.py", {"test_slow_too"}),
        ("-k slow", {"test_slow", "test_slow_too"}),
        ("-m spark", {"test_of_spark"}),
        ("--update-golden", ALL),
    ],
)
def test_what_is_named_is_run_and_of_the_others_what_is_quick(
    project: pytest.Pytester, words: str, expected: set[str]
) -> None:
    assert ran(project, *words.split()) == expected


def test_how_many_were_left_out_is_said_and_how_to_run_them(project: pytest.Pytester) -> None:
    told = project.runpytest_inprocess("-p", "no:xdist", "-p", "no:cacheprovider").outlines

    assert "6 slow tests were left out; `python -m pytest --all` runs all" in told


def test_with_several_workers_it_is_said_once(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))  # workers are processes of their own
    told = project.runpytest_subprocess("-n", "2", "-p", "no:cacheprovider").outlines

    assert [line for line in told if "left out" in line] == [
        "6 slow tests were left out; `python -m pytest --all` runs all"
    ]
    assert "3 passed" in told[-1]


def test_a_run_that_records_writes_what_was_slow_and_forgets_what_is_gone(project: pytest.Pytester) -> None:
    kept = project.path / "some" / "slow_tests.txt"
    kept.write_text(kept.read_text() + "8 some/test_gone.py::test_gone\n")
    (project.path / "some" / "test_three.py").unlink()
    (project.path / "some" / "test_two.py").write_text(
        "import time\ndef test_slow_too(): time.sleep(0.6)\ndef test_fails(): time.sleep(0.6); assert 0\n"
    )

    assert ran(project, "--record-durations") == {
        "test_quick", "test_slow", "test_of_spark", "test_slow_too", "test_fails",
    }  # fmt: skip
    assert read(kept.read_text()) == {"some/test_two.py::test_slow_too": 2.0}


def test_what_was_not_run_stays_recorded(project: pytest.Pytester) -> None:
    kept = project.path / "some" / "slow_tests.txt"

    before = read(kept.read_text())

    ran(project, "--record-durations", "some/test_one.py")

    assert before.keys() - read(kept.read_text()).keys() == {"some/test_one.py::test_slow"}


def test_every_test_is_of_one_of_three_runs() -> None:
    file = Path("test_one.py")
    alone = [frozenset[Speed](), frozenset({Speed.SLOW}), frozenset({Speed.NIGHTLY})]
    runs = [Wanted(everything=False, alone=each, files=frozenset()) for each in alone]

    assert [[run.has(file, speed) for speed in Speed] for run in runs] == [
        [True, False, False],
        [False, True, False],
        [False, False, True],
    ]


def test_the_record_changes_only_where_it_is_wrong_by_more_than_two() -> None:
    record = {"a": 4.0, "b": 4.0, "c": 1.0, "d": 1.0, "e": 2.0}
    took = {"a": 7.0, "b": 9.0, "c": 0.3, "d": 0.2, "f": SECONDS, "g": SECONDS * 3}

    assert renewed(record, took, gone=["e"]) == {"a": 4.0, "b": 16.0, "c": 1.0, "g": 1.0}


def test_what_is_written_is_read() -> None:
    record = {"tests/a.py::test[one two]": 4.0, "tests/b.py::test": 0.5}

    assert read(written(record)) == record


def test_the_longest_come_first_and_the_tests_of_a_file_stay_together(project: pytest.Pytester) -> None:
    items, _ = project.inline_genitems("-p", "no:xdist", "-p", "no:cacheprovider", "--all")
    others = [item for item in reversed(items) if item.path.name != "test_three.py"]
    names = [item.name for item in in_order(others, {"some/test_two.py::test_slow_too": 2.0})]

    assert names == ["test_of_spark", "test_slow_too", "test_other", "test_slow", "test_quick"]


def test_the_record_is_sorted_and_written_as_the_command_writes_it() -> None:
    text = RECORD.read_text(encoding="utf-8")

    assert written(read(text)) == text


def test_the_record_names_tests_that_there_are(request: pytest.FixtureRequest) -> None:
    """Where this fails, tests have gone or have other names: record them anew, or take the lines out."""
    collected = request.config.stash.get(COLLECTED, None)
    if collected is None:
        pytest.skip("only where all tests are collected")

    assert sorted(read(RECORD.read_text(encoding="utf-8")).keys() - collected) == []


def test_the_plugin_is_at_work(request: pytest.FixtureRequest) -> None:
    assert any(isinstance(each, SlowTests) for each in request.config.pluginmanager.get_plugins())
