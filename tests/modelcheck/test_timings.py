"""What `--timings` says the time of a command went into."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from modelcheck.answers.timings import Timings
from modelcheck.cli import main
from modelcheck.contract.report import PhaseDone

ROOT = Path(__file__).parents[2]


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, float]:
    """The phases in the line behind all that was said, and the sum."""
    (line,) = [each for each in capsys.readouterr().err.splitlines() if each.startswith("time: ")]
    return {name: float(seconds) for name, seconds in re.findall(r"([a-z]+) ([0-9.]+)", line)}


def test_what_is_counted_to_a_phase_is_counted_to_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("modelcheck.answers.timings.perf_counter", lambda: clock[0])
    timings = Timings()
    with timings.phase("tell"):
        clock[0] = 101.0
        timings.tell(PhaseDone("search", 100.0))
        with timings.phase("read"):
            clock[0] = 104.0
        clock[0] = 106.0

    # The sums begin with the process's own time, which is no whole number.
    spent = {name: timings._spent[name] for name in ("search", "read", "tell")}
    assert spent == pytest.approx({"search": 100, "read": 3, "tell": 3})


def test_a_check_says_what_it_took_and_its_json_stays_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path))
    code = main(["check", str(ROOT / "spec/protocols/kisr.rsm"), "--check", "xs", "--timings", "--json"])
    out, err = capsys.readouterr()

    assert code == 0
    assert json.loads(out)
    assert {"start", "read", "write", "compile", "search"} <= set(re.findall(r"([a-z]+) [0-9.]+", err))


def test_a_review_says_what_it_took(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path))
    inputs = ROOT / "tests/modelcheck/kafka/inputs"
    code = main(["kafka", "review", str(inputs / "server-3.7.properties"), "--faults", "1", "--timings"])

    assert code == 0
    assert {"start", "compile", "search"} <= told(capsys).keys()
