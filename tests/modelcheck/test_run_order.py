"""Of runs that differ by the order of independent steps, the one shown is the run as it was published."""

from __future__ import annotations

import pytest

from modelcheck.api import check
from modelcheck.contract.result import Violated
from modelcheck.search.simulate import RandomRuns
from spec.load import loads
from tests.stories import named

TOLD = {
    # The in-sync set shrinks to the leader, which commits alone and then loses its session (Jepsen, 2013).
    ("kafka", "jepsen", "acknowledged_survive"): "produce isolate commit session_loss elect_unclean",
    # A follower truncates to its high watermark; then its leader fails, and it is elected (KIP-101, 1).
    ("kafka_followers", "kip101", "acknowledged_survive"): (
        "produce fetch fetch commit crash elect become_follower crash elect"
    ),
    # Both crash; who lost the record is back first and writes another in its place (KIP-101, 2).
    ("kafka_followers", "kip101_power", "no_divergence"): (
        "produce fetch commit crash power_loss give_up restart elect restart become_leader "
        "produce commit become_follower"
    ),
    # A manager is prepared, and then nobody is left to tell it how the transaction ended (Gray, 1978).
    ("two_phase_commit", "blocking", "finishes"): "prepare lose_coordinator",
}


@pytest.mark.parametrize("which", TOLD, ids=lambda which: which[1])
def test_a_known_failure_has_the_order_in_which_it_was_published(which: tuple[str, str, str]) -> None:
    file, name, claim = which
    verdict = check(*named(file, name), engine="explicit").verdict(claim)

    assert isinstance(verdict, Violated)
    assert verdict.trace is not None
    assert " ".join(step.action for step in verdict.trace.steps) == TOLD[which]


INDEPENDENT = """
protocol independent
state { n: 0..99 = 0, m: 0..99 = 0 }
action up { n := n + 1 }
fault down { m := m + 1 }
invariant low: n < 5
check all { faults any }
"""


def test_a_random_run_is_told_as_it_went() -> None:
    (model,) = loads(INDEPENDENT)
    random = check(model, model.checks[0], engine=RandomRuns(10, seed=1)).verdict("low")
    assert isinstance(random, Violated)
    assert random.trace is not None
    steps = [step.action for step in random.trace.steps]

    assert "down" in steps[: steps.index("up", 2)]


def test_a_long_run_keeps_the_order_in_which_it_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelcheck.api.MOST_REORDERED", 4)
    verdict = check(*named("kafka", "jepsen"), engine="explicit").verdict("acknowledged_survive")
    assert isinstance(verdict, Violated)
    assert verdict.trace is not None
    found, shown = (
        [s.action for s in verdict.trace.steps],
        TOLD["kafka", "jepsen", "acknowledged_survive"].split(),
    )

    assert sorted(found) == sorted(shown)
    assert found != shown
