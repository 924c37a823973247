"""The explicit engine: counts that others have published, whatever the threads, stops and restarts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from modelcheck.api import Unsupported, check
from modelcheck.contract.engine import CannotResume, Keep, Limits
from modelcheck.contract.report import Checkpointed, Event
from modelcheck.contract.result import End, Findings, Holds, Outcome, Violated
from modelcheck.explicit.search import checkpoint, space
from spec.load import load, loads
from spec.model.ir import Check, Model
from tests.modelcheck.explicit.far_states import far

PROTOCOLS = Path(__file__).parents[3] / "spec" / "protocols"
ORBITS = {"s": (63_982, 218_072), "m": (523_490, 1_840_428)}  # of kisr under renaming of the replicas


def kisr(name: str) -> tuple[Model, Check]:
    return next((m, c) for m in load(PROTOCOLS / "kisr.rsm") for c in m.checks if c.name == name)


def bare(check_: Check) -> Check:
    return replace(check_, expect=())


def counted(findings: Findings) -> tuple[object, ...]:
    stats = findings.stats
    told = [(type(result.verdict), result.by_faults) for result in findings.results]
    return (
        findings.end,
        stats.states,
        stats.transitions,
        stats.levels,
        stats.layers,
        stats.taken,
        stats.cut,
        told,
    )


def trace(outcome: Outcome, name: str) -> tuple[object, object]:
    verdict = outcome.verdict(name)
    assert isinstance(verdict, Violated)
    assert verdict.trace is not None
    return verdict.trace.states, verdict.trace.steps


# --------------------------------------------------------------------- one answer


@pytest.mark.parametrize("name", ["any_crashes", "s"])
def test_the_number_of_threads_changes_no_count(name: str) -> None:
    model, given = kisr(name)
    found = [counted(check(model, given, engine="explicit", threads=n).findings) for n in (1, 2, 3)]

    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("name", ["seeded_bug", "high_watermark_truncation"])
def test_the_number_of_threads_changes_no_trace(name: str) -> None:
    model, given = kisr(name)
    found = [trace(check(model, given, engine="explicit", threads=n), "strong_isr") for n in (1, 2, 4)]

    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("name", sorted(ORBITS))
def test_kisr_has_the_orbits_that_others_have_counted(name: str) -> None:
    model, given = kisr(name)
    outcome = check(model, bare(given), engine="explicit", symmetry=True)

    assert (outcome.findings.stats.states, outcome.findings.stats.transitions) == ORBITS[name]
    assert outcome.findings.symmetry == ("Replica",)


def test_a_trace_up_to_symmetry_is_a_run() -> None:
    model, given = kisr("seeded_bug")
    plain = check(model, bare(given), engine="explicit").verdict("strong_isr")
    alike = check(model, bare(given), engine="explicit", symmetry=True).verdict("strong_isr")

    assert isinstance(plain, Violated)
    assert isinstance(alike, Violated)
    assert plain.trace is not None
    assert alike.trace is not None  # and `check` has replayed it
    assert len(alike.trace.steps) == len(plain.trace.steps) == 10


@pytest.mark.parametrize("name", ["kisr", "two_phase_commit", "quorum"])
def test_without_ways_the_same_is_found(name: str) -> None:
    for model in load(PROTOCOLS / f"{name}.rsm"):
        for asked in model.checks:
            if asked.name in {"m", "any_crashes"}:
                continue
            kept = check(model, asked, engine="explicit")
            less = check(model, asked, engine="explicit", ways=False)
            assert less.findings.results == kept.findings.results
            assert counted(less.findings) == counted(kept.findings)


def test_a_checkpoint_without_ways_goes_on_without_them(tmp_path: Path) -> None:
    model, asked = kisr("xs")
    check(model, bare(asked), ways=False, limits=Limits(states=3000), keep=Keep(tmp_path))
    resumed = check(model, bare(asked), ways=False, keep=Keep(tmp_path, resume=True))

    assert counted(resumed.findings) == counted(check(model, bare(asked)).findings)
    with pytest.raises(CannotResume):
        check(model, bare(asked), keep=Keep(tmp_path, resume=True))


@pytest.mark.parametrize(("given", "most"), [((), 16), (("--no-ways",), 14)])
def test_a_state_takes_few_bytes(given: tuple[str, ...], most: int) -> None:
    for name in ("xs", "m"):
        child("--check", name, "--json", *given)  # so that nothing is compiled in the runs that are measured
    figures = [child("--check", name, "--json", *given)["stats"] for name in ("xs", "m")]
    grown = figures[1]["memory"] - figures[0]["memory"]

    assert figures[1]["states"] == 3_125_462
    assert grown / figures[1]["states"] <= most


def child(*args: str) -> dict[str, dict[str, int]]:
    command = [sys.executable, "-m", "modelcheck", "check", str(PROTOCOLS / "kisr.rsm"), *args]
    done = subprocess.run(command, capture_output=True, check=True, cwd=PROTOCOLS.parents[1])
    found: dict[str, dict[str, int]] = json.loads(done.stdout)[0]
    return found


# ------------------------------------------------------------------- extreme sizes


@pytest.mark.parametrize("size", [1, 2, 5, 61, 62, 63, 64])
def test_a_sort_may_have_one_member_or_sixty_four(size: int) -> None:
    (model,) = loads(f"""
        protocol lamps
        sort Lamp
        state {{ lit: set[Lamp] = {{}} }}
        action on(l: Lamp) {{
            require size(lit) < 3
            require forall m in lit. m != l
            lit.add(l)
        }}
        invariant few: size(lit) <= 3
        check all {{ scope Lamp = {size} }}
    """)
    given = model.checks[0]
    found = check(model, given, engine="explicit").findings.stats.states
    alike = check(model, given, engine="explicit", symmetry=size < 6).findings.stats.states

    assert found == sum(choices(size, n) for n in range(min(size, 3) + 1))
    assert size >= 6 or alike == min(size, 3) + 1


def choices(size: int, count: int) -> int:
    found = 1
    for n in range(count):
        found = found * (size - n) // (n + 1)
    return found


def test_a_level_may_have_more_successors_than_there_is_room_for_at_once() -> None:
    (model,) = loads("""
        protocol broad
        state { x: 0..24 = 0, y: 0..24 = 0, z: 0..24 = 0 }
        action first(n: 0..24) { x := n }
        action second(n: 0..24) { y := n }
        action third(n: 0..24) { z := n }
        check all { expect states 1 }
    """)
    stats = check(model, model.checks[0], engine="explicit").findings.stats

    assert (stats.states, stats.transitions, stats.levels) == (25**3, 25**3 * 75, 4)


def test_a_run_goes_over_states_whose_ways_take_many_bytes() -> None:
    states, _ = trace(check(*far(20_000, 19_000), engine="explicit"), "still")

    assert states == ((0, 0), (19000, 0), (19000, 1))


def test_a_table_grows_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    model, given = kisr("s")
    whole = counted(check(model, given, engine="explicit").findings)
    monkeypatch.setattr(space, "AT_ONCE", 1 << 12)

    assert counted(check(model, given, engine="explicit").findings) == whole


def test_a_state_may_have_hundreds_of_words() -> None:
    (model,) = loads("""
        protocol wide
        sort Place
        nat Count
        state { cells: map[Place, map[Place, Count]] = [p: Place -> [q: Place -> 0]] }
        action add(p: Place) { cells[p][p] := cells[p][p] + 1 }
        invariant low: forall p: Place. cells[p][p] <= 2
        check all { scope Place = 48, Count = 65535 faults none }
    """)
    outcome = check(model, model.checks[0], engine="explicit")
    verdict = outcome.verdict("low")

    assert isinstance(verdict, Violated)
    assert verdict.trace is not None
    assert len(verdict.trace.steps) == 3


def test_what_is_too_wide_is_refused_by_name_and_answered_by_the_reference_engine() -> None:
    (model,) = loads("""
        protocol wide
        nat Big
        state { seen: set[(Big, Big)] = {} }
        action see(n in 0..1) { seen.add((n, n)) }
        invariant few: size(seen) <= 2
        check all { scope Big = 1000 }
    """)
    with pytest.raises(Unsupported, match=r"unless it has a limit: set\[\(Big, Big\); N\]"):
        check(model, model.checks[0], engine="explicit")
    outcome = check(model, model.checks[0])

    assert outcome.findings.engine == "reference"
    assert isinstance(outcome.verdict("few"), Holds)


# ---------------------------------------------------------------- stops and restarts


class Listener:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def tell(self, event: Event) -> None:
        self.events.append(event)


@pytest.mark.parametrize("name", ["s", "any_crashes"])
def test_a_search_that_is_stopped_again_and_again_counts_the_same(name: str, tmp_path: Path) -> None:
    model, given = kisr(name)
    whole = counted(check(model, given, engine="explicit").findings)
    for stops, states in enumerate((1, 20_000, 90_000, 91_000, 200_000, 340_000)):
        keep, limits = Keep(tmp_path, 1000, resume=stops > 0), Limits(states=states)
        part = check(model, given, engine="explicit", keep=keep, limits=limits, threads=1 + stops % 2)
        assert part.findings.end is End.STATES
    rest = check(model, given, engine="explicit", keep=Keep(tmp_path, 1000, resume=True))

    assert counted(rest.findings) == whole


def test_a_checkpoint_holds_what_was_found(tmp_path: Path) -> None:
    model, given = kisr("seeded_bug")
    whole = trace(check(model, given, engine="explicit"), "strong_isr")
    check(model, given, engine="explicit", keep=Keep(tmp_path), limits=Limits(states=20_000))
    rest = check(model, given, engine="explicit", keep=Keep(tmp_path, resume=True))

    assert trace(rest, "strong_isr") == whole


def test_a_checkpoint_of_another_search_is_refused(tmp_path: Path) -> None:
    model, given = kisr("s")
    check(model, given, engine="explicit", keep=Keep(tmp_path), limits=Limits(states=1000))
    other_model, other = kisr("any_crashes")

    with pytest.raises(CannotResume, match="another model"):
        check(other_model, other, engine="explicit", keep=Keep(tmp_path, resume=True))


@pytest.mark.parametrize("name", ["search.json", "shard-03"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_a_damaged_checkpoint_is_refused(name: str, damage: str, tmp_path: Path) -> None:
    model, given = kisr("s")
    check(model, given, engine="explicit", keep=Keep(tmp_path), limits=Limits(states=50_000))
    (path,) = tmp_path.glob(f"state-*/{name}")
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(data[: len(data) // 2] if damage == "cut" else data[:500] + b"?" + data[501:])

    with pytest.raises(CannotResume, match=r"damaged|cannot be read"):
        check(model, given, engine="explicit", keep=Keep(tmp_path, resume=True))


def test_a_full_disk_loses_neither_the_search_nor_the_checkpoint_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, given = kisr("s")
    check(model, given, engine="explicit", keep=Keep(tmp_path), limits=Limits(states=50_000))
    before = sorted(path.name for path in tmp_path.iterdir())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "_write", full)
    listener = Listener()
    keep = Keep(tmp_path, 0.0001, resume=True)
    outcome = check(model, given, engine="explicit", keep=keep, reporter=listener)
    problems = {event.problem for event in listener.events if isinstance(event, Checkpointed)}

    assert outcome.findings.stats.states == 379_069
    assert problems == {"no space left on device"}
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_ctrl_c_gives_what_was_found_and_the_search_goes_on_later(tmp_path: Path) -> None:
    args = ["check", str(PROTOCOLS / "kisr.rsm"), "--check", "m", "--json"]
    command = [sys.executable, "-m", "modelcheck", *args]
    environment = os.environ | {"MODELCHECK_CACHE": str(tmp_path / "cache")}
    kept = tmp_path / "kept"
    with subprocess.Popen(
        [*command, "--checkpoint", str(kept), "--every", "0.05"],
        stdout=subprocess.PIPE,
        cwd=PROTOCOLS.parents[1],
        env=environment,
    ) as running:
        while not list(kept.glob("state-*")):
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        output, _ = running.communicate(timeout=60)
    (found,) = json.loads(output)
    rest = subprocess.run(
        [*command, "--resume", str(kept)],
        capture_output=True,
        check=True,
        cwd=PROTOCOLS.parents[1],
        env=environment,
    )
    (whole,) = json.loads(rest.stdout)

    assert found["end"] in {"interrupted", "complete"}
    assert whole["stats"]["states"] == 3_125_462
    assert whole["stats"]["transitions"] == 10_989_726


# -------------------------------------------------------------------------- the cache


def test_runs_may_share_a_cache(tmp_path: Path) -> None:
    environment = os.environ | {"MODELCHECK_CACHE": str(tmp_path)}
    command = [
        sys.executable,
        "-m",
        "modelcheck",
        "check",
        str(PROTOCOLS / "kisr.rsm"),
        "--check",
        "xs",
        "-q",
    ]
    runs = [subprocess.Popen(command, cwd=PROTOCOLS.parents[1], env=environment) for _ in range(4)]

    assert [run.wait() for run in runs] == [0] * 4
    assert len([path for path in tmp_path.iterdir() if not path.name.startswith("new-")]) == 1


MULTIPLIED = """
protocol multiplied
sort S
process S { volatile on: bool = false }
action shuffle {
  for a: S {
    for b: S {
      choose c: S
      c.on := not c.on
    }
  }
}
check it { scope S = 4 }
"""


def test_choices_that_multiply_are_refused_before_they_are_written() -> None:
    """Each way through was written by itself: 4 to the power of 16."""
    (model,) = loads(MULTIPLIED)

    with pytest.raises(Unsupported, match="more than 1,000 ways through `shuffle`"):
        check(model, model.checks[0], engine="explicit")
