from __future__ import annotations

from dataclasses import replace

import pytest

from counterexamples.certify import NotReplayable, certify
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
from spec.load import loads
from spec.meaning.semantics import Step
from spec.model.ir import PropertyKind
from spec.source import Span
from tests.counterexamples.runs import divergence, toy, walk


def refusal(trace: Trace) -> NotReplayable:
    with pytest.raises(NotReplayable) as caught:
        certify(trace)
    return caught.value


def test_a_run_of_the_model_is_certified() -> None:
    trace = divergence()

    assert certify(trace).trace is trace
    assert certify(trace).trusted == ""


def test_another_initial_state_is_named_by_what_differs() -> None:
    trace = walk(ending=Stops())
    leader, epoch, *rest = trace.states[0]
    found = refusal(replace(trace, states=((leader, epoch + 1, *rest),)))

    assert found.at == 0
    assert found.reason == "epoch is 1, the model has 0"


def test_a_guard_that_refuses_is_named() -> None:
    trace = divergence()
    steps = (Step("restart", (0,), ()), *trace.steps[1:])
    found = refusal(replace(trace, steps=steps))

    assert found.at == 1
    assert found.reason == "restart(a) cannot happen here: guard `not r.up` is false: `r.up` is true"


def test_a_named_guard_is_named_by_its_name() -> None:
    trace = divergence()
    steps = (*trace.steps[:2], Step("elect", (0,), ()), *trace.steps[3:])
    found = refusal(replace(trace, steps=steps))

    assert found.at == 3
    assert found.reason == "elect(a) cannot happen here: guard `free` (leader != r) is false: leader is a"


def test_a_step_that_leads_elsewhere_says_where_it_differs() -> None:
    trace = divergence()
    states = list(trace.states)
    states[2] = states[1]
    found = refusal(replace(trace, states=tuple(states)))

    assert found.at == 2
    assert found.reason == "write(a) does not lead to this state: a.log is [], the model has [1]"


def test_a_step_beyond_the_scope_is_refused() -> None:
    trace = walk("elect(a)", "write(a)", "write(a)", ending=Stops())
    longer = replace(trace, states=(*trace.states, trace.states[-1]), steps=(*trace.steps, trace.steps[-1]))

    assert "beyond the scope of Offset" in refusal(longer).reason


def test_an_unknown_action_is_refused() -> None:
    trace = divergence()

    assert refusal(replace(trace, steps=(Step("vote", (0,), ()), *trace.steps[1:]))).at == 1


def test_a_choice_that_is_not_offered_is_refused() -> None:
    trace = walk("elect(a)", "ask(b)", "answer | m = Fetch(from = b, at = 0)", ending=Stops())
    chosen = replace(trace.steps[2].choices[0], value=(0, 1, 1))
    steps = (*trace.steps[:2], replace(trace.steps[2], choices=(chosen,)))

    assert "no choice or parameter of this kind is offered" in refusal(replace(trace, steps=steps)).reason


def test_states_and_steps_must_match_in_number() -> None:
    trace = divergence()

    assert refusal(replace(trace, states=trace.states[:-1])).at is None


@pytest.mark.parametrize(
    ("ending", "prop"),
    [
        (BadState(), "third"),
        (BadState(), None),
        (BadState(), "nonsense"),
        (Example(), "third"),
        (BadStep(), "steady"),
        (BadAssert(), "alone"),
        (Erred("R0603", "division by zero", Span(0, 1)), None),
        (Deadlocked(), None),
        (Lasso(0), "alone"),
        (Lasso(99), "alone"),
        (Trapped(), "third"),
    ],
)
def test_an_ending_that_is_not_so_is_refused(ending: Ending, prop: str | None) -> None:
    trace = walk("elect(a)", "write(a)", ending=ending, prop=prop)
    if prop == "third" and isinstance(ending, BadState):
        trace = walk("elect(a)", "elect(b)", "elect(a)", ending=ending, prop=prop)

    assert refusal(trace).at is None


@pytest.mark.parametrize(("where", "refused"), [("n == 1", True), ("n == 0", False)])
def test_a_state_in_which_a_run_may_end_is_no_deadlock(where: str, *, refused: bool) -> None:
    text = f"""protocol once
        state {{ n: 0..1 = 0 }}
        action up {{ require n == 0; n := 1 }}
        deadlock free unless {where}
        check all {{ }}
    """
    trace = walk("up", model=loads(text)[0], ending=Deadlocked(), prop="deadlock_free")
    if refused:
        assert "allows a run to end" in refusal(trace).reason
    else:
        assert certify(trace).trace is trace


def test_an_example_shows_what_it_says() -> None:
    trace = walk("elect(a)", "elect(b)", "elect(a)", ending=Example(), prop="third")

    assert certify(trace).trace == trace


def test_the_model_is_the_one_in_the_trace() -> None:
    assert divergence().model == toy()


ALL_KINDS = """
protocol kinds
state { n: 0..3 = 0 }
action up { require n < 3; n := n + 1; assert small: n < 3 }
invariant inside: n <= 3
lemma likewise: n <= 3
step rising: n > old(n)
reachable two: n == 2
recoverable back: n == 3
leadsto onward: n == 0 ~> n == 3
always eventually top: n == 3
deadlock free
check all { faults any }
"""
ENDINGS = (
    *(BadState(), BadStep(), BadAssert(), Deadlocked(), Lasso(0), Lasso(1), Trapped(), Example(), Stops()),
    *(Erred("R0603", "division by zero", Span(0, 1), step) for step in (None, Step("up", ()))),
)


@pytest.mark.parametrize("ending", ENDINGS, ids=str)
def test_an_ending_is_about_a_property_of_its_kind(ending: Ending) -> None:
    (model,) = loads(ALL_KINDS)
    named = {None: None} | {prop.name: prop.kind for prop in model.properties}
    for name, kind in named.items():
        trace = walk("up", model=model, ending=ending, prop=name)
        stays = ending == Lasso(1) and kind in {PropertyKind.LEADSTO, PropertyKind.ALWAYS_EVENTUALLY}
        if stays or isinstance(ending, Stops):
            assert certify(trace).trace is trace
        elif isinstance(ending, Example) and kind is PropertyKind.REACHABLE:
            assert "is false in the last state" in refusal(trace).reason
        else:
            assert refusal(trace).at is None
