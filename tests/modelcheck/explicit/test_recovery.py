"""Ways back in the explicit engine: found without ways, and whatever is stopped is said as it is."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from time import monotonic

import pytest

from counterexamples.lines import plain
from modelcheck.answers.card import card
from modelcheck.api import check
from modelcheck.contract.assessment import assess
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit
from modelcheck.contract.report import Event, LayerDone
from modelcheck.contract.result import End, Holds, Outcome, Unknown, Unshown, Violated
from modelcheck.explicit.search import recovery
from modelcheck.explicit.search.rounds import PackedSearch
from modelcheck.search.recovery import trap
from spec.load import loads
from spec.model.ir import Check, Model

ROAD = """
protocol road
nat Place
state { place: Place = 0, stuck: bool = false }
action go { require not stuck  place := place + 1 }
action back { require not stuck and place > 0  place := place - 1 }
action slide { require stuck and place > 0  place := place - 1 }
fault snow { require not stuck and place > 4  stuck := true }
repair plough { require stuck and PLOUGHED  stuck := false }
invariant on_the_road: place <= 20
recoverable home: place == 0 and not stuck
invariant near: place <= NEAR
check all { scope Place = 20 faults any }
"""


FAR = "reachable far: place == 3 check"


def road(*, ploughed: bool = False, near: int = 20) -> tuple[Model, Check]:
    text = ROAD.replace("PLOUGHED", str(ploughed).lower()).replace("NEAR", str(near))
    (model,) = loads(text)
    return model, model.checks[0]


def told(outcome: Outcome) -> str:
    return plain(card(outcome, width=100))


# ----------------------------------------------------------------------- without ways


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("near", [20, 7])
def test_a_trap_is_found_without_ways_as_with_them(near: int, threads: int) -> None:
    model, asked = road(near=near)
    kept = check(model, asked, engine="explicit", threads=threads)
    less = check(model, asked, engine="explicit", threads=threads, ways=False)
    verdict = less.verdict("home")

    assert isinstance(verdict, Violated)
    assert verdict.trace is not None
    assert (verdict.trace.faults, len(verdict.trace.steps)) == (1, 6)
    assert less.findings.results == kept.findings.results
    assert less.findings.end is kept.findings.end


def test_ways_are_looked_for_again_for_all_that_is_shown_and_no_longer() -> None:
    model, asked = road(near=7)
    (model,) = loads(model.source.text.replace("check", FAR))
    kept = check(model, asked, engine="explicit")
    less = check(model, asked, engine="explicit", ways=False)

    assert less.findings.results == kept.findings.results


# -------------------------------------------------------------------------- stopped

NEVER = Limits(seconds=1e5, memory=10**15)


class Trouble:
    """What ends a search from the moment on when it is `due`: its time, its memory or Ctrl-C."""

    def __init__(self, how: End, patch: pytest.MonkeyPatch) -> None:
        self.due = False
        self.how = how
        patch.setattr("modelcheck.search.layers.resident", self.resident)
        for module in ("explicit.search.findings", "search.layers"):
            patch.setattr(f"modelcheck.{module}.monotonic", self.monotonic)

    def monotonic(self) -> float:
        return monotonic() + 1e6 * (self.due and self.how is End.SECONDS)

    def resident(self) -> int:
        is_main = threading.current_thread() is threading.main_thread()
        if self.due and is_main and self.how is End.INTERRUPTED:
            self.due = False
            signal.raise_signal(signal.SIGINT)
        return 10**18 * (self.due and self.how is End.MEMORY)


@pytest.fixture(params=[End.SECONDS, End.MEMORY, End.INTERRUPTED], ids=lambda end: end.name.lower())
def trouble(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Trouble:
    monkeypatch.setattr("modelcheck.search.layers.SOON", 0.0)
    return Trouble(request.param, monkeypatch)


def begins(trouble: Trouble, work: Callable[..., object], times: int = 1) -> Callable[..., object]:
    """The same, and the trouble begins with it, when it is done for so many times."""
    done = []

    def with_trouble(*args: object) -> object:
        done.append(1)
        trouble.due = trouble.due or len(done) == times
        return work(*args)

    return with_trouble


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("phase", ["mark_goals", "spread"])
def test_a_way_back_that_nobody_had_time_to_look_for_is_not_known(
    phase: str, threads: int, trouble: Trouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        recovery.PackedRecovery, phase, begins(trouble, getattr(recovery.PackedRecovery, phase))
    )
    model, asked = road()
    found = check(model, asked, engine="explicit", limits=NEVER, threads=threads)

    assert found.verdict("home") == Unknown(trouble.how.value)
    assert found.result("home").by_faults == ()
    assert found.findings.end is trouble.how
    assert {type(found.verdict(name)) for name in ("on_the_road", "near")} == {Holds}


def test_the_reference_engine_says_so_too(trouble: Trouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelcheck.search.interpreted.EVERY", 1)
    monkeypatch.setattr("modelcheck.search.reference.trap", begins(trouble, trap))
    model, asked = road()
    found = check(model, asked, engine="reference", limits=NEVER)

    assert found.verdict("home") == Unknown(trouble.how.value)
    assert found.findings.end is trouble.how
    assert {type(found.verdict(name)) for name in ("on_the_road", "near")} == {Holds}


@pytest.mark.parametrize("ways", [True, False])
def test_a_trap_whose_run_nobody_had_time_to_find_is_one(
    trouble: Trouble, monkeypatch: pytest.MonkeyPatch, *, ways: bool
) -> None:
    monkeypatch.setattr(PackedSearch, "run", begins(trouble, PackedSearch.run, times=2))
    model, asked = road()
    found = check(model, asked, engine="explicit", limits=NEVER, ways=ways)
    verdict = found.verdict("home")

    assert isinstance(verdict, Violated)
    assert verdict.trace is None
    assert verdict.unshown == Unshown(trouble.how.value, 0)
    assert found.findings.end is trouble.how
    assert assess(found).exit is Exit.VIOLATED
    assert found.findings.stats.states == 42
    assert f"home         violated with at most 1 fault; no run is shown: {trouble.how.value}" in told(found)


@pytest.mark.parametrize("name", ["near", "far"])
def test_a_run_that_nobody_had_time_to_find_again_is_there(
    name: str, trouble: Trouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PackedSearch, "run", begins(trouble, PackedSearch.run, times=2))
    (model,) = loads(ROAD.replace("PLOUGHED", "true").replace("NEAR", "7").replace("check", FAR))
    found = check(model, model.checks[0], engine="explicit", limits=NEVER, ways=False)
    verdict = found.verdict(name)

    assert isinstance(verdict, Violated if name == "near" else Holds)
    assert verdict.unshown == Unshown(trouble.how.value, 0)
    assert found.result(name).by_faults[0] is (name == "far")
    assert found.findings.end is trouble.how
    assert assess(found).exit is Exit.VIOLATED
    assert isinstance(found.verdict("home"), Holds)


def test_what_is_expected_of_a_run_is_not_said_to_be_wrong_when_there_is_no_run(
    trouble: Trouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PackedSearch, "run", begins(trouble, PackedSearch.run, times=2))
    model, _ = road()
    expects = "faults any expect home violated with 1 faults in 6 steps }"
    (model,) = loads(model.source.text.replace("faults any }", expects))
    found = check(model, model.checks[0], engine="explicit", limits=NEVER)

    assert found.mismatches == ()
    assert assess(found).exit is Exit.UNKNOWN  # as expected, as far as it is known


def test_an_error_of_the_model_whose_run_nobody_had_time_to_find_again_is_one(
    trouble: Trouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PackedSearch, "run", begins(trouble, PackedSearch.run, times=2))
    (model,) = loads(
        ROAD.replace("PLOUGHED", "true").replace("place <= NEAR", "[true, true, true, true][place]")
    )
    found = check(model, model.checks[0], engine="explicit", limits=NEVER, ways=False)

    assert (found.findings.end, found.findings.error) == (End.ERROR, None)
    assert assess(found).exit is Exit.VIOLATED
    assert "the model makes an error; the run to it could not be shown in time" in told(found)


def test_a_search_that_its_time_has_ended_still_shows_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    time = Trouble(End.SECONDS, monkeypatch)
    model, asked = road(near=7)

    class Late:
        def tell(self, event: Event) -> None:
            time.due = time.due or isinstance(event, LayerDone)

    found = check(model, asked, engine="explicit", limits=NEVER, ways=False, reporter=Late())
    verdict = found.verdict("near")

    assert found.findings.end is End.SECONDS
    assert isinstance(verdict, Violated)
    assert verdict.trace is not None
