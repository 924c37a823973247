"""Which settings a run needs, against a plain replay with another value."""

from __future__ import annotations

from dataclasses import replace

import pytest

from counterexamples.explanation import Explanation, NeededSetting
from counterexamples.trace import Trace
from modelcheck.api import check
from modelcheck.contract.result import Violated
from modelcheck.diagnosis.causal_core import Exhausted
from modelcheck.diagnosis.explain import explain
from modelcheck.diagnosis.settings import settings
from spec.load import loads
from spec.meaning.semantics import Machine, State, Taken
from spec.model.ir import Value
from spec.model.values import members, show
from tests.stories import STORIES, story

SWITCHES = """
protocol switches
nat N
config fast: bool = true
config double: bool = true
config most: 0..3 = 2
config idle: bool = true
assume some: most > 0
state { n: N = 0
  told: N = 0 }
action step says "n grows" { require allowed: n < most
  n := if double then n + 2 else n + 1 }
action tell says "n is told" { require quick: fast or n == 0
  told := n }
invariant small: told < 2
check it { scope N = 4 }
"""


def violation(text: str) -> Trace:
    model = loads(text)[0]
    verdict = check(model, model.checks[0]).verdict("small")
    assert isinstance(verdict, Violated)
    assert verdict.trace is not None
    return verdict.trace


def goes_wrong(trace: Trace, name: str, value: Value) -> bool:
    """Whether the same steps, those left out that are not possible, break the property with another value."""
    scope = replace(trace.scope, config={**trace.scope.config, name: value})
    machine = Machine(trace.model, scope)
    prop = trace.model.property(trace.property or "")
    states: set[State] = {trace.states[0]}
    for step in trace.steps:
        if not all(machine.holds(prop, state) for state in states):
            return True
        after: set[State] = set()
        for state in states:
            able = [t for t in machine.steps(state) if isinstance(t, Taken)]
            same = [t for t in able if (t.step.action, t.step.args) == (step.action, step.args)]
            after |= {t.state for t in same if t.step == step} or {t.state for t in same}
        states = after or states
    return not all(machine.holds(prop, state) for state in states)


def test_each_setting_that_matters_is_named_with_what_another_value_does() -> None:
    assert settings(violation(SWITCHES)) == (
        NeededSetting(
            "fast",
            "true",
            "false",
            "step 2 is not possible: `quick` (fast or n == 0) is false",
            2,
            ("fast = true", "fast = false"),
        ),
        NeededSetting(
            "double",
            "true",
            "false",
            "nothing is wrong at the end",
            by_key=("double = true", "double = false"),
        ),
    )


def test_a_value_that_breaks_an_assumption_is_none_to_try() -> None:
    text = SWITCHES.replace("most: 0..3 = 2", "most: 0..3 = 1")

    assert "most" not in {each.name for each in settings(violation(text))}


@pytest.mark.parametrize("name", STORIES)
def test_a_plain_replay_agrees(name: str) -> None:
    trace = story(name)
    found = {each.name: each for each in settings(trace)}

    for entry in trace.model.configs:
        if entry.name not in found:
            continue
        told = found[entry.name]
        other = next(
            v for v in members(entry.type, trace.scope) if show(entry.type, v, trace.scope) == told.other
        )
        assert not goes_wrong(trace, entry.name, other)
    for entry in trace.model.configs:
        assert goes_wrong(trace, entry.name, trace.scope.config[entry.name])


def test_the_jepsen_loss_takes_one_in_sync_replica_and_an_unclean_election() -> None:
    found = explain(story("jepsen"))

    assert isinstance(found, Explanation)
    assert found.needs == (
        "It takes min_isr = 1 and unclean = true: with min_isr = 2, nothing is wrong at the end; "
        "with unclean = false, step 5 is not possible."
    )


def test_without_patience_nothing_is_claimed() -> None:
    def look() -> None:
        raise Exhausted

    assert settings(story("jepsen"), look) == ()
