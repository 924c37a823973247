"""How large a check is: the curve, and the estimate against a count that is known."""

from __future__ import annotations

from math import exp, log
from pathlib import Path

import pytest

from modelcheck import cli
from modelcheck.asking.estimate import Estimate, SampledScope, curve

ROOT = Path(__file__).parent.parent.parent
KISR = {1: 19_521, 2: 379_069, 3: 3_125_462, 4: 17_196_198, 6: 268_183_232}  # check m, by Epoch


def known(*bounds: int) -> tuple[SampledScope, ...]:
    return tuple(
        SampledScope(bound, KISR[bound], KISR[bound] / 1e6, 10**8 + 30 * KISR[bound]) for bound in bounds
    )


def test_the_curve_goes_through_its_points_and_finds_a_power_times_an_exponential() -> None:
    points = tuple(SampledScope(x, round(1e6 * x**3 * exp(x)), 1.0, 0) for x in (1, 2, 3))

    assert curve(points, 3) == pytest.approx(log(points[-1].states))
    assert exp(curve(points, 7)) == pytest.approx(1e6 * 7**3 * exp(7), rel=0.001)


@pytest.mark.parametrize(
    ("bounds", "bound", "most"), [((1, 2, 3), 4, 1.1), ((1, 2, 3), 6, 1.4), ((1, 2, 3, 4), 6, 1.1)]
)
def test_the_states_of_kisr_are_estimated_within_what_is_told(
    bounds: tuple[int, ...], bound: int, most: float
) -> None:
    found = Estimate("Epoch", bound, known(*bounds))

    assert 1 < found.states / KISR[bound] < most


def test_time_and_memory_follow_the_states() -> None:
    found = Estimate("Epoch", 4, known(1, 2, 3))

    assert found.seconds == pytest.approx(found.states / 1e6)
    assert found.memory == pytest.approx(10**8 + 30 * found.states, rel=0.02)


def test_the_command_tells_the_estimate_and_its_error(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(ROOT / "spec/protocols/figure8.rsm")

    code = cli.main(["check", path, "--check", "with_the_rule", "--estimate"])

    out = capsys.readouterr().out
    assert code == 3
    assert "about 25,000 states" in out
    assert "nothing was decided" in out
    assert "Term = 4: 24,944" in out
    assert "1.0 to 1.2 times" in out


def test_too_few_smaller_scopes_give_no_estimate(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(ROOT / "tests/modelcheck/tiny.rsm")

    code = cli.main(["check", path, "--check", "surprise", "--estimate"])

    assert code == 3
    assert "no estimate" in capsys.readouterr().out
