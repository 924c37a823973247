from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterexamples.nearest import leading, nearest, no_step
from spec.load import loads
from spec.meaning.semantics import CutOff, Machine, State, Taken
from tests.counterexamples.runs import divergence, scope, toy, walk, wander

MODEL = toy()
MACHINE = Machine(MODEL, scope(MODEL))


def changed(state: State, **values: object) -> State:
    """The state with other values of some variables; `a_up` is the field of a member."""
    parts = list(state)
    names = [variable.name for variable in MODEL.variables]
    for name, value in values.items():
        parts[names.index(name.replace("Replica_", "Replica."))] = value
    return tuple(parts)


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_a_step_of_the_model_is_found_and_is_the_nearest(seed: int, length: int) -> None:
    run = wander(MODEL, length, seed)
    before, after = run.states[-2:]
    found = leading(MACHINE, before, after)

    assert found is not None
    assert any(
        isinstance(taken, Taken) and taken.state == after
        for taken in MACHINE.steps(before)
        if taken.step == found
    )
    assert nearest(MACHINE, before, after)[0].differs == ()
    assert nearest(MACHINE, before, after)[0].guard is None


@given(st.integers(0, 10**6), st.integers(0, 10))
def test_without_guards_there_is_every_step_and_what_guards_refuse(seed: int, length: int) -> None:
    state = wander(MODEL, length, seed).states[-1]
    allowed, regardless = list(MACHINE.steps(state)), list(MACHINE.unguarded(state))

    assert [found for found in regardless if found in allowed] == allowed
    for found in regardless:
        refused = MACHINE.why_not(found.step.action, found.step.args, state) is not None
        assert refused == (found not in allowed)


@given(st.integers(0, 10**6), st.integers(0, 10))
def test_steps_of_given_parameters_are_those_of_all(seed: int, length: int) -> None:
    state = wander(MODEL, length, seed).states[-1]
    every = list(MACHINE.steps(state))
    for step in [found.step for found in every]:
        same = [found for found in every if found.step.action == step.action and found.step.args == step.args]

        assert list(MACHINE.steps(state, actions=(step.action,), args=step.args)) == same


def test_the_preferred_action_is_taken_where_several_lead_there() -> None:
    run = divergence()
    before, after = run.states[5:7]

    assert (found := leading(MACHINE, before, after)) is not None
    assert found.action == "answer"
    assert (found := leading(MACHINE, before, after, "net.drop")) is not None
    assert found.action == "net.drop"


def test_an_effect_that_a_guard_forbids_is_told_with_its_values() -> None:
    before = walk("elect(a)", "crash(a)").states[-1]
    logs = (walk("elect(a)", "write(a)").states[-1])[5]

    assert no_step(MACHINE, 3, before, changed(before, Replica_log=logs)) == (
        "write(a) would lead to this state, but its guard `up` (r.up) is false in state 2.",
    )


def test_a_part_of_a_guard_is_told_with_the_members_it_fails_for() -> None:
    text = """
    protocol votes
    sort Replica
    process Replica { durable vote: bool = false }
    state { done: bool = false }
    action finish { require all: (forall r: Replica. r.vote) and not done; done := true }
    action vote(r: Replica) { r.vote := true }
    check two { scope Replica = {a, b} }
    """
    (model,) = loads(text)
    machine = Machine(model, scope(model))
    (start,) = machine.initial()
    votes, done = (True, False), True
    after = tuple(done if variable.name == "done" else votes for variable in model.variables)
    before = tuple(False if variable.name == "done" else votes for variable in model.variables)

    (told,) = no_step(machine, 1, before, after)

    assert start != before
    assert told.startswith("finish would lead to this state, but its guard `all` (")
    assert told.endswith(") is false in state 0: `r.vote` is false for r = b.")


def test_what_is_otherwise_after_the_nearest_is_told() -> None:
    before = walk("elect(a)").states[-1]
    after = changed(walk("elect(a)", "elect(b)").states[-1], epoch=3, acked=1)

    assert no_step(MACHINE, 2, before, after) == (
        "elect(b) comes nearest, but after it epoch is 2, not 3; acked is 0, not 1.",
    )


def test_a_step_that_leaves_the_scope_is_told() -> None:
    run = walk("elect(a)", "write(a)", "write(a)")
    after = changed(run.states[-1], acked=2)

    assert no_step(MACHINE, 4, run.states[-1], after)[-1] == "write(a) goes beyond the scope of Offset."


def test_a_state_that_stays_is_told() -> None:
    state = walk("elect(a)").states[-1]

    assert no_step(MACHINE, 2, state, state)[0] == (
        "State 2 is state 1 again, and no action leaves it as it is."
    )


def test_an_action_that_makes_an_error_hides_no_other() -> None:
    text = """
    protocol faulty
    state { log: seq[0..3; 3] = [], n: 0..3 = 0 }
    action first { require log[0] == 1; n := 3 }
    action second(i: 0..3) { require log == []; n := size(log) + 1 + log[i] * 0 }
    action up { n := n + 1 }
    check one { faults any }
    """
    (model,) = loads(text)
    machine = Machine(model, scope(model))
    (start,) = machine.initial()
    found = leading(machine, start, ((), 1))

    assert found is not None
    assert found.action == "up"
    assert [near.step.action for near in nearest(machine, start, ((), 2))] == ["first", "up"]
    assert not [each for each in machine.unguarded(start) if isinstance(each, CutOff)]


@pytest.mark.parametrize("length", [1, 5])
def test_long_values_are_cut(length: int) -> None:
    before = walk("elect(a)").states[-1]
    told = no_step(MACHINE, 1, before, changed(before, Replica_log=((1,) * (40 * length), ())))

    assert max(map(len, told)) < 300
