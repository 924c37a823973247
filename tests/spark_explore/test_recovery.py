"""Ways back in a search on files: what is found, in how many looks, whatever happens meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from time import monotonic

import pytest
from pyspark.sql import SparkSession

from modelcheck.api import check
from modelcheck.contract.engine import CannotResume, Limits
from modelcheck.contract.result import End, Holds, Outcome, Unknown, Unshown, Verdict, Violated
from spark_explore.engine import SparkEngine
from spark_explore.search.layers import FileSearch
from spark_explore.search.local_level import LocalExecutor
from spark_explore.search.marks import Aim, Marked, Marks
from spark_explore.search.recovery import FileRecovery
from spark_explore.storage.run import marks_folder
from spec.load import loads
from tests.agreement import Found
from tests.spark_explore.test_files import OnUnreliable

ROAD = """
protocol road
nat Place
state { place: Place = 0, stuck: bool = false, signs: seq[bool; 2] = [true] }
action go { require not stuck  place := place + 1 }
action back { require not stuck and place > 0 and BACK  place := place - 1 }
fault snow { require place == 2 and not stuck  stuck := true }
repair plough { require stuck and PLOUGH  stuck := false }
invariant on_the_road: place < 7
recoverable home: GOAL
check all { scope Place = 6 faults any }
"""
ROADS = {
    "leads on": ("false", "true", "place == 6"),
    "leads back": ("true", "true", "place == 0"),
    "leads on, beyond": ("false", "true", "place == 3"),
    "leads nowhere": ("false", "false", "place == 6"),
    "leads nowhere at all": ("false", "true", "place == 6 and stuck and false"),
    "asks for what is not there": ("true", "true", "signs[place]"),
}


def road(name: str) -> str:
    back, plough, goal = ROADS[name]
    return ROAD.replace("BACK", back).replace("PLOUGH", plough).replace("GOAL", goal)


def outcome(text: str, engine: object, limits: Limits | None = None) -> Outcome:
    model = loads(text)[0]
    return check(model, model.checks[0], engine=engine, limits=limits)  # type: ignore[arg-type]


def facts(text: str, engine: object) -> dict[str, object]:
    return dict(Found(outcome(text, engine).findings).facts)


def here(place: Path | None = None, *, resume: bool = False) -> SparkEngine:
    return SparkEngine(
        run_dir=None if place is None else str(place), resume=resume, shards=3, driver_states=None
    )


class Looks:
    """How often one looks at levels in this process; and what happens then instead, at one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self.goals = 0
        self.last: tuple[int, type[BaseException]] | None = None
        look, goals = LocalExecutor.look, LocalExecutor.goals

        def counted(
            self_: LocalExecutor, aim: Aim, at: Sequence[Marked], seen: Sequence[Marked]
        ) -> tuple[list[Marks], bool]:
            self.count += 1
            if self.last and self.count == self.last[0]:
                raise self.last[1]
            return look(self_, aim, at, seen)

        def begun(self_: LocalExecutor, aim: Aim) -> list[Marks]:
            self.goals += 1
            return goals(self_, aim)

        monkeypatch.setattr(LocalExecutor, "look", counted)
        monkeypatch.setattr(LocalExecutor, "goals", begun)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    return Looks(monkeypatch)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every level is looked at by itself, as large ones are."""
    monkeypatch.setattr("spark_explore.search.recovery.TOGETHER", 1)


@pytest.mark.parametrize("name", ROADS)
def test_small_levels_together_are_answered_as_by_the_reference(name: str) -> None:
    assert facts(road(name), here()) == facts(road(name), "reference")


def test_the_roads_lead_where_their_names_say() -> None:
    said = {name: outcome(road(name), here()).verdict("home") for name in ROADS}

    assert {name: _short(verdict) for name, verdict in said.items()} == {
        "leads on": "holds, 0 beyond",
        "leads back": "holds, 0 beyond",
        "leads on, beyond": "holds, 3 beyond",
        "leads nowhere": "violated by 1 fault in 3 steps",
        "leads nowhere at all": "holds, 8 beyond",
        "asks for what is not there": "unknown: the model makes an error",
    }


def _short(verdict: Verdict) -> str:
    match verdict:
        case Holds():
            return f"holds, {verdict.beyond} beyond"
        case Violated(_, trace):
            assert trace is not None
            return f"violated by {trace.faults} fault in {len(trace.steps)} steps"
        case Unknown():
            return f"unknown: {verdict.reason.partition(':')[0]}"


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", ROADS)
def test_each_level_by_itself_is_answered_as_by_the_reference(name: str) -> None:
    assert facts(road(name), here()) == facts(road(name), "reference")


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", ["leads on", "leads back"])
def test_a_way_through_all_levels_is_found_in_two_passes(name: str, looks: Looks) -> None:
    levels = outcome(road(name), here()).findings.stats.levels

    assert levels <= looks.count <= 3 * levels  # two layers: the second need not be looked at twice


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("leads nowhere", "by files"),
        ("asks for what is not there", "by Spark"),
    ],
)
def test_jobs_whose_tasks_fail_or_run_twice_find_the_same(name: str, how: str, tmp_path: Path) -> None:
    place = str(tmp_path / "run") if how == "by files" else (tmp_path / "run").as_uri()
    seed = Random(name).randrange(100)  # noqa: S311 - no secret

    assert facts(road(name), OnUnreliable(seed, place)) == facts(road(name), "reference")


@pytest.mark.spark
def test_jobs_of_a_real_spark_find_the_same(local_spark: SparkSession) -> None:
    short = road("leads nowhere").replace("Place = 6", "Place = 3").replace("place == 6", "place == 3")

    assert facts(short, SparkEngine(driver_states=0, shards=3)) == facts(short, "reference")


# ------------------------------------------------------------------------- going on


class Killed(BaseException):
    """As if the process were gone."""


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", ["leads back", "leads on, beyond", "leads nowhere"])
def test_who_is_killed_anywhere_goes_on_there(name: str, looks: Looks, tmp_path: Path) -> None:
    text = road(name)
    outcome(text, here())
    every = looks.count
    expected = facts(text, "reference")
    for last in range(1, every + 1, 3):
        place = tmp_path / str(last)
        looks.count, looks.goals, looks.last = 0, 0, (last, Killed)
        with pytest.raises(Killed):
            outcome(text, here(place))
        looks.last = None

        assert facts(text, here(place, resume=True)) == expected
        assert looks.goals == 1  # of the first


def test_ctrl_c_leaves_the_property_unknown_and_keeps_the_rest(looks: Looks, tmp_path: Path) -> None:
    text = road("leads back")
    looks.last = 1, KeyboardInterrupt
    part = outcome(text, here(tmp_path / "run")).findings
    verdicts = {result.property: result.verdict for result in part.results}

    assert part.end is End.INTERRUPTED
    assert verdicts["home"] == Unknown("interrupted")
    assert not isinstance(verdicts["on_the_road"], Unknown)
    looks.last = None
    assert facts(text, here(tmp_path / "run", resume=True)) == facts(text, "reference")


def test_a_run_that_has_ended_says_the_same_again_without_a_look(looks: Looks, tmp_path: Path) -> None:
    text = road("leads back")
    first = facts(text, here(tmp_path / "run"))
    looks.count = looks.goals = 0

    assert facts(text, here(tmp_path / "run", resume=True)) == first
    assert (looks.count, looks.goals) == (0, 0)


def test_marks_that_were_changed_are_noticed(tmp_path: Path) -> None:
    text = road("leads back")
    outcome(text, here(tmp_path / "run"))
    changed = 0
    for path in (tmp_path / "run" / marks_folder(0)).iterdir():
        data = path.read_bytes()
        if set(data) <= {0, 1, 2}:
            path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
            changed += 1

    assert changed
    with pytest.raises(CannotResume, match="is not as it was written"):
        outcome(text, here(tmp_path / "run", resume=True))


def test_only_the_marks_that_count_are_kept(tmp_path: Path) -> None:
    text = road("leads back")
    outcome(text, here(tmp_path / "run"))
    levels = len([*(tmp_path / "run" / "levels").glob("0*.json")])

    assert len([*(tmp_path / "run" / marks_folder(0)).iterdir()]) <= 1 + 2 * levels


# ------------------------------------------------------------------------- stopped


def test_time_that_is_up_leaves_the_property_unknown_and_the_run_can_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = road("leads back")
    with monkeypatch.context() as patch:
        patch.setattr(FileRecovery, "spread", late(FileRecovery.spread, patch))
        part = outcome(text, here(tmp_path / "run"), limits=Limits(seconds=1e4)).findings
    verdicts = {result.property: result.verdict for result in part.results}

    assert part.end is End.SECONDS
    assert verdicts["home"] == Unknown(End.SECONDS.value)
    assert isinstance(verdicts["on_the_road"], Holds)
    assert facts(text, here(tmp_path / "run", resume=True)) == facts(text, "reference")


def test_a_trap_whose_run_nobody_had_time_to_find_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = road("leads nowhere")
    with monkeypatch.context() as patch:
        patch.setattr(FileSearch, "run_to", interrupted)
        found = outcome(text, here(tmp_path / "run"))
    verdict = found.verdict("home")

    assert found.findings.end is End.INTERRUPTED
    assert isinstance(verdict, Violated)
    assert (verdict.trace, verdict.unshown) == (None, Unshown(End.INTERRUPTED.value, 1))
    assert facts(text, here(tmp_path / "run", resume=True)) == facts(text, "reference")


def late(work: Callable[[FileRecovery], int], patch: pytest.MonkeyPatch) -> Callable[[FileRecovery], int]:
    """The same, when there is no time left."""

    def done(recovery: FileRecovery) -> int:
        patch.setattr("modelcheck.search.layers.monotonic", lambda: monotonic() + 1e6)
        return work(recovery)

    return done


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt
