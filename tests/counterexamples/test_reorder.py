from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from counterexamples.certify import certify
from counterexamples.reorder import late_faults
from counterexamples.trace import BadStep, Lasso
from tests.counterexamples.runs import toy, walk, wander

MODEL = toy()


@given(st.integers(0, 10**6))
def test_a_run_with_late_faults_is_a_run_with_the_same_steps_and_end(seed: int) -> None:
    run = wander(MODEL, 15, seed)
    late = late_faults(run)

    assert certify(late).trace.states[-1] == run.states[-1]
    assert Counter(late.steps) == Counter(run.steps)
    assert sum(late.faults_before()) <= sum(run.faults_before())


def test_a_fault_waits_for_what_it_does_not_matter_to() -> None:
    late = late_faults(walk("crash(b)", "elect(a)", "write(a)", "restart(b)"))

    assert [step.action for step in late.steps] == ["elect", "write", "crash", "restart"]


def test_what_repeats_and_a_last_step_that_is_wrong_stay_where_they_are() -> None:
    run = walk("crash(b)", "elect(a)", "write(a)")
    wrong, repeats = replace(run, ending=BadStep()), replace(run, ending=Lasso(2))

    assert [step.action for step in late_faults(wrong).steps] == ["elect", "crash", "write"]
    assert [step.action for step in late_faults(repeats).steps] == ["elect", "crash", "write"]
