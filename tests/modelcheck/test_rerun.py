"""Steps taken again: what is left out, what is chosen instead, and what counts as the same ending."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from counterexamples.certify import certify
from counterexamples.trace import (
    BadAssert,
    BadState,
    BadStep,
    Deadlocked,
    Ending,
    Erred,
    Example,
    Lasso,
    Stops,
    Trace,
    Trapped,
)
from modelcheck.diagnosis.rerun import Course, ReplayResult, ReplayStage
from spec.load import loads
from spec.meaning.semantics import Machine, Taken
from tests.partial_runs import random_traces, random_walks, still_shown

QUEUE = """
protocol queue
nat N
state { todo: set[0..3] = {}, done: set[0..3] = {}, up: bool = true }
action put(n in 0..3) { require up  todo.add(n) }
action take { choose n in todo  todo.remove(n)  done.add(n)  assert never_three: n != 3 }
fault stop { require up  up := false }
repair start { require not up  up := true }
invariant none_done: done == {}
invariant few_done: size(done) < 2
step not_up: old(up) or not up
reachable all_done: done == {1, 2}
recoverable fresh: done == {}
check all { scope N = 1  faults any }
"""


def run(*names: str, ending: Ending, prop: str | None, text: str = QUEUE) -> Trace:
    """The run that takes the steps of these names."""
    (model,) = loads(text)
    scope = model.checks[0].scope
    machine = Machine(model, scope)
    states, steps = [machine.initial()[0]], []
    for name in names:
        found = {
            machine.name(each.step): each for each in machine.steps(states[-1]) if isinstance(each, Taken)
        }
        assert name in found, f"{name} is none of {sorted(found)}"
        states.append(found[name].state)
        steps.append(found[name].step)
    return Trace(model, scope, tuple(states), tuple(steps), ending, prop, "all")


def without(trace: Trace, *out: int) -> ReplayResult:
    return ReplayStage(trace).course(trace).without(out)


def names(found: ReplayResult) -> list[str]:
    """The steps of the run that was found, which is one."""
    assert found.run is not None
    certify(found.run)
    machine = Machine(found.run.model, found.run.scope)
    return [machine.name(step) for step in found.run.steps]


# ------------------------------------------------------------------- the steps


def test_what_is_no_longer_possible_is_left_out_and_the_first_of_it_told() -> None:
    trace = run(
        "stop", "start", "stop", "start", "put(1)", "take | n = 1", ending=BadState(), prop="none_done"
    )

    found = without(trace, 0)

    assert (names(found), found.kept) == (["stop", "start", "put(1)", "take | n = 1"], (2, 3, 4, 5))
    assert found.refused == (1, trace.states[0])


def test_where_nothing_is_impossible_nothing_is_refused() -> None:
    trace = run("put(0)", "put(1)", "take | n = 1", ending=BadState(), prop="none_done")

    assert without(trace, 0) == ReplayResult(
        run("put(1)", "take | n = 1", ending=BadState(), prop="none_done"), (1, 2), None
    )
    assert without(trace, 1).refused is None  # another choice was made


def test_a_choice_is_made_as_it_was_and_in_another_way_only_where_it_is_gone() -> None:
    trace = run("put(0)", "put(1)", "put(2)", "take | n = 1", ending=BadState(), prop="none_done")

    assert names(without(trace, 2)) == ["put(0)", "put(1)", "take | n = 1"]
    assert names(without(trace, 1)) == ["put(0)", "put(2)", "take | n = 0"]


def test_of_several_choices_the_one_that_ends_as_it_must_is_found() -> None:
    text = QUEUE.replace("done == {}\ninvariant few", "not (2 in done)\ninvariant few")
    steps = ("put(0)", "put(1)", "put(2)", "take | n = 1", "put(1)", "take | n = 1", "take | n = 2")
    trace = run(*steps, ending=BadState(), prop="none_done", text=text)

    assert names(without(trace, 1, 4)) == ["put(0)", "put(2)", "take | n = 2"]


def test_the_run_ends_where_it_first_shows_its_ending() -> None:
    steps = ("put(0)", "take | n = 0", "put(1)", "take | n = 1", "stop")
    trace = run(*steps, ending=BadState(), prop="none_done")

    assert names(Course(ReplayStage(trace), trace).replay_all()) == ["put(0)", "take | n = 0"]


def test_what_does_not_end_as_it_must_is_no_run() -> None:
    trace = run("put(0)", "take | n = 0", ending=BadState(), prop="none_done")

    assert without(trace, 0) == ReplayResult(None, (), (1, trace.states[0]))
    assert without(trace, 1) == ReplayResult(None, (), None)


def test_a_step_can_be_taken_in_another_way() -> None:
    trace = run("put(0)", "put(1)", "take | n = 1", ending=BadState(), prop="none_done")
    stage = ReplayStage(trace)
    first, _ = stage.takings(trace.states[2], "take")

    assert names(Course(stage, trace).instead(2, first.step)) == ["put(0)", "put(1)", "take | n = 0"]


def test_whoever_looks_may_end_it() -> None:
    trace = run("put(0)", "put(1)", "take | n = 1", ending=BadState(), prop="none_done")
    looks = Counter[str]()

    def look() -> None:
        looks["at a step"] += 1
        if looks["at a step"] == 2:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        Course(ReplayStage(trace, look), trace).replay_all()


# --------------------------------------------------------------- the same ending


def test_a_property_of_steps_a_broken_assert_and_an_example_are_seen() -> None:
    step = run("put(0)", "stop", "start", ending=BadStep(), prop="not_up")
    assert_ = run("put(0)", "put(3)", "take | n = 3", ending=BadAssert(), prop="never_three")
    steps = ("put(0)", "put(1)", "take | n = 1", "put(2)", "take | n = 2")
    example = run(*steps, ending=Example(), prop="all_done")

    assert names(without(step, 0)) == ["stop", "start"]
    assert names(without(assert_, 0)) == ["put(3)", "take | n = 3"]
    assert names(without(example, 0)) == ["put(1)", "take | n = 1", "put(2)", "take | n = 2"]
    assert all(without(trace, 1).run is None for trace in (step, example))


def test_an_error_is_the_same_at_the_same_place_of_the_text_whatever_its_values() -> None:
    text = QUEUE.replace("assert never_three: n != 3", "done.add(n + size(todo) * 2)")
    steps = ("put(0)", "put(1)", "put(2)")
    trace = run(*steps, ending=Stops(), prop=None, text=text)
    machine = Machine(trace.model, trace.scope)
    with pytest.raises(Exception, match="outside") as met:
        list(machine.steps(trace.states[-1]))
    error = met.value
    ending = Erred(error.code, error.message, error.span, error.step)  # type: ignore[attr-defined]
    erring = run(*steps, ending=ending, prop=None, text=text)

    found = without(erring, 0)

    assert names(found) == ["put(1)", "put(2)"]
    assert found.run is not None
    assert isinstance(found.run.ending, Erred)
    assert found.run.ending.span == ending.span


def test_a_deadlock_is_seen() -> None:
    text = """
        protocol dead
        state { n: 0..3 = 0, m: 0..3 = 0 }
        action up { require n < 2  n := n + 1 }
        action turn { require n < 2  m := (m + 1) % 4 }
        deadlock free
        check all { }
    """
    trace = run("turn", "up", "turn", "up", ending=Deadlocked(), prop="deadlock_free", text=text)

    assert names(without(trace, 0, 2)) == ["up", "up"]
    assert without(trace, 1).run is None


def test_a_run_that_may_end_is_no_deadlock() -> None:
    text = """
        protocol dead
        state { n: 0..3 = 0, m: 0..3 = 0 }
        action up { require n < 2  n := n + 1 }
        action turn { require n < 2  m := (m + 1) % 4 }
        deadlock free unless m == 1
        check all { }
    """
    trace = run("turn", "up", "turn", "up", ending=Deadlocked(), prop="deadlock_free", text=text)

    assert names(without(trace, 0, 2)) == ["up", "up"]
    assert without(trace, 0).run is None


def test_a_trap_is_seen_from_another_state_than_the_one_of_the_trace() -> None:
    trace = run("put(0)", "put(1)", "stop", "take | n = 1", ending=Trapped(), prop="fresh")

    found = without(trace, 0, 2)

    assert names(found) == ["put(1)", "take | n = 1"]
    assert found.run is not None
    assert found.run.states[-1] != trace.states[-1]
    assert without(trace, 3).run is None


def test_a_loop_may_become_shorter_and_vanish() -> None:
    text = """
        protocol rounds
        state { s: 0..2 = 0, t: 0..3 = 0 }
        GO action go { s := (s + 1) % 3 }
        action back { s := (s + 2) % 3 }
        action other { t := (t + 1) % 4 }
        always eventually three: t == 3
        check all { }
    """
    steps = ("other", "go", "back", "back", "go", "go", "back")
    fair = run(*steps, ending=Lasso(1), prop="three", text=text.replace("GO", "fair"))
    free = run(*steps, ending=Lasso(1), prop="three", text=text.replace("GO", ""))

    less, least = without(fair, 0, 2, 3, 4, 5), without(free, *range(7))

    assert names(less) == ["go", "back"]
    assert less.run is not None
    assert less.run.ending == Lasso(0)
    assert without(fair, *range(7)).run is None
    assert least.run is not None
    assert (least.run.steps, least.run.ending) == ((), Lasso(0))


# ------------------------------------------------------------------ random runs


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_any_part_of_a_random_run_comes_to_what_the_semantics_say(first: int) -> None:
    seen = Counter[tuple[str, bool]]()
    for seed in range(first, first + 20):
        chance = Random(seed)  # noqa: S311 - no secret
        for trace in (*random_traces(seed, 25), *random_walks(seed)):
            course = ReplayStage(trace).course(trace)
            run = course.run
            for _ in range(6 if run.steps else 0):
                out = set(chance.sample(range(len(run.steps)), chance.randint(1, len(run.steps))))
                left = [step for number, step in enumerate(run.steps) if number not in out]

                found = course.without(out)

                assert (found.run is not None) == still_shown(run, left), (seed, run.ending, out)
                if found.run is not None:
                    certify(found.run)
                    assert not out & set(found.kept)
                    assert list(found.kept) == sorted(set(found.kept))
                    assert [run.steps[n].action for n in found.kept] == [s.action for s in found.run.steps]
                seen[type(run.ending).__name__, found.run is not None] += 1
    assert len([kind for kind, count in seen.items() if count > 3]) >= 8, seen
