from __future__ import annotations

from tests.counterexamples.runs import divergence, walk


def test_faults_are_counted_by_name() -> None:
    trace = divergence()

    assert trace.faults == 2
    assert trace.fault_counts() == {"crash": 1, "net.drop": 1}


def test_each_state_knows_the_faults_before_it() -> None:
    assert divergence().faults_before() == (0, 0, 0, 0, 1, 1, 2, 2)


def test_repairs_and_actions_cost_nothing() -> None:
    assert walk("elect(a)", "write(a)").faults == 0
    assert walk().faults_before() == (0,)
