"""Explanations: by hand on toys, by brute force on random models, as read by people for the protocols."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from counterexamples.certify import certify
from counterexamples.explanation import Explanation, NoReturn, brief, lines
from counterexamples.lines import plain
from counterexamples.trace import BadAssert, BadState, BadStep, Ending, Erred, Example, Lasso, Trace, Trapped
from modelcheck.api import check, traces
from modelcheck.contract.engine import Limits
from modelcheck.diagnosis.causal_core import causal_core
from modelcheck.diagnosis.explain import BRIEF, explain
from modelcheck.diagnosis.no_return import point_of_no_return
from modelcheck.search.simulate import RandomRuns
from spec.load import loads
from spec.meaning.semantics import Machine, State, Step, Taken
from spec.model.ir import Kind, Model
from spec.model.values import ModelError
from spec.source import Source
from tests.model_texts import model_text
from tests.partial_runs import random_traces, still_shown
from tests.stories import STORIES, named, story, wandering

Golden = Callable[[str, str], None]


def violation(text: str, limits: Limits | None = None) -> Trace:
    """The one counterexample of the only check of a text."""
    model = loads(text)[0]
    (trace,) = traces(check(model, model.checks[0], limits=limits).findings)
    return trace


def by_names(model: Model, names: Iterable[str], ending: Ending) -> Trace:
    """The run by actions of these names, whose end says something of the first property."""
    scope = model.checks[0].scope
    machine = Machine(model, scope)
    states, steps = [machine.initial()[0]], list[Step]()
    for name in names:
        taken = next(each for each in machine.steps(states[-1], None, [name]) if isinstance(each, Taken))
        states.append(taken.state)
        steps.append(taken.step)
    trace = Trace(model, scope, tuple(states), tuple(steps), ending, model.properties[0].name)
    return certify(trace).trace


def why(text: str) -> Explanation:
    found = explain(violation(text))
    assert found is not None
    return found


def no_return(text: str) -> NoReturn:
    found = why(text).no_return
    assert found is not None
    return found


# ------------------------------------------------------------------- what is false

LEDGER = """
protocol ledger
sort Desk
process Desk { durable paid: 0..3 = 0, durable noted: 0..3 = 0 }
state { open: set[Desk] = {} }
fun agrees(a: Desk, b: Desk): bool = a.paid == b.noted
action start(d: Desk) says "{d} opens" { require d not in open  open.add(d) }
action pay(d: Desk) says "{d} pays" { require d in open and d.paid < 1  d.paid := d.paid + 1 }
action note(d: Desk) says "{d} writes it down" { require d.noted < d.paid  d.noted := d.paid }
invariant noted says "what is paid is written down": forall d in open. d.paid < 2 implies agrees(d, d)
check all { scope Desk = {east, west} }
"""


def test_a_false_part_tells_for_whom_by_which_values_and_since_when() -> None:
    (part,) = why(LEDGER).parts

    assert (part.text, part.said, part.who) == ("a.paid == b.noted", "east.paid == east.noted", "d = east")
    assert [(f.text, f.value, f.age) for f in part.facts] == [
        ("a.paid", "1", "since step 2"),
        ("b.noted", "0", "since the start"),
    ]
    assert [(f.text, f.said, f.age) for f in part.given] == [("d in open", "east in open", "since step 1")]


def test_a_field_that_is_called_like_a_name_is_left_alone() -> None:
    (part,) = why("""
        protocol fields
        sort Node
        record Pair { n: 0..2, m: 0..2 }
        process Node { durable both: Pair = Pair(n = 0, m = 0) }
        action up(n: Node) { n.both.n := 1 }
        invariant level: forall n: Node. n.both == Pair(n = n.both.m, m = n.both.n)
        check all { scope Node = {x} }
    """).parts

    assert part.said == "x.both == Pair(n = x.both.m, m = x.both.n)"


def test_a_part_of_a_step_property_tells_the_values_before_the_step_too() -> None:
    (part,) = why("""
        protocol back
        state { x: 0..3 = 0 }
        action up { require x < 3  x := x + 1 }
        action down { require x == 2  x := 0 }
        step grows: x >= old(x)
        check all { }
    """).parts

    assert [(f.text, f.value, f.age) for f in part.facts] == [("x", "0", "since step 3"), ("old(x)", "2", "")]


# ------------------------------------------------------------- no return, by hand

TANK = """
protocol tank
state { level: 0..4 = 2, valve: bool = true, leak: bool = false, alarm: bool = false }
fault crack says "the tank cracks" { require not leak  leak := true }
fault jam says "the valve jams" { require valve  valve := false }
action ring says "the alarm rings" { require leak  alarm := true }
action drop says "the level drops" { require leak and level > 0  level := level - 1 }
repair weld says "somebody welds it" { require valve and leak  leak := false }
invariant wet says "the tank is never empty": level > 0
check all { faults <= FAULTS }
"""


def test_the_point_of_no_return_is_where_no_repair_helps_any_more() -> None:
    found = no_return(TANK.replace("FAULTS", "1"))

    # With a valve there is always a way: weld it, before it is empty.
    assert (found.state, found.last, found.at_risk) == (3, 3, 1)
    assert found.way_out == ("somebody welds it",)
    assert "before this last step there was a way out: somebody welds it" in found.sentences[0]


def test_a_fault_may_be_the_point_of_no_return() -> None:
    late = TANK.replace("FAULTS", "1").replace("require valve and leak", "require level < 0")
    found = no_return(late)

    assert (found.state, found.at_risk, found.way_out) == (1, 1, ())
    assert found.sentences[0].endswith("before that step, nothing could go wrong without a further fault.")


def test_it_may_be_too_late_from_the_start() -> None:
    found = no_return("""
        protocol doomed
        state { x: 0..3 = 0 }
        action up { require x < 3  x := x + 1 }
        action twice { require x < 2  x := x + 2 }
        invariant low: x < 2
        check all { }
    """)

    assert (found.state, found.sentences) == (
        0,
        ("From the start on, no run of actions and repairs avoids the violation.",),
    )


IDLE = """
protocol idle
state { x: 0..3 = 0, y: bool = false }
action up { require x < 2 and not y  x := x + 1 }
action other { OTHER }
invariant low: x < 2
check all { }
"""


@pytest.mark.parametrize(
    ("other", "state"),
    [
        ("x := x", 0),  # to go round here is not safe, since it may go on
        ("require x == 1  x := 0", 0),
        ("require x == 1  y := true", 2),  # nothing is left that may go wrong
        ("require x == 0  y := true", 1),
        ("y := true", 2),
    ],
)
def test_to_stay_is_a_way_out_only_where_nothing_is_left_that_may_go_wrong(other: str, state: int) -> None:
    assert no_return(IDLE.replace("OTHER", other)).state == state


def test_what_is_beyond_the_scope_is_told() -> None:
    found = no_return("""
        protocol count
        nat N
        state { x: N = 0, gone: bool = false }
        action up { x := x + 1 }
        action leave { require x == 0  gone := true }
        invariant low: x < 2 or gone
        check all { scope N = 2 }
    """)

    assert (found.state, found.beyond) == (1, ("N = 2",))
    assert found.sentences[-1] == "(What lies beyond N = 2 was not looked at.)"


def test_of_a_nat_without_a_bound_no_bound_is_told() -> None:
    found = no_return("""
        protocol count
        nat Epoch
        state { epoch: Epoch = 0, seen: Epoch = 0, bad: bool = false }
        action up { epoch := epoch + 1 }
        action look { seen := epoch }
        action fail { require epoch > seen  bad := true }
        invariant good: not bad
        check all { scope Epoch = any }
    """)

    assert found.sentences[-1] == "(What lies beyond the largest Epoch of this run was not looked at.)"


def test_what_could_not_be_looked_at_is_not_known() -> None:
    trace = violation("""
        protocol wide
        state { x: 0..99 = 0, y: 0..99 = 0, bad: bool = false }
        action right { require x < 99  x := x + 1 }
        action up { require y < 99  y := y + 1 }
        action fail { require x == 1  bad := true }
        invariant good: not bad
        check all { }
    """)
    found = point_of_no_return(trace, lambda looked: looked < 50)

    assert found is not None
    assert (found.state, found.at_latest, found.states) == (None, 2, 50)
    assert found.sentences == (
        (
            "From step 2 on at the latest, no run of actions and repairs avoids the violation; "
            "earlier, it is not known beyond 50 states looked at."
        ),
    )


ROAD = """
protocol road
state { place: 0..4 = 0, stuck: bool = false }
action go { require not stuck and place < 4  place := place + 1 }
fault snow { require place == 2  stuck := true }
RULE
check all { faults <= 1 }
"""


def test_no_way_back_is_settled_where_what_is_wanted_can_no_more_be_reached() -> None:
    found = no_return(ROAD.replace("RULE", "recoverable home: place == 4"))

    assert (found.state, found.way_out, found.goal) == (3, ("go", "go"), "a state where `home` is true")


def test_what_is_waited_for_is_settled_at_the_earliest_when_it_is_due() -> None:
    text = """
        protocol due
        state { place: 0..3 = 0, ready: bool = false }
        fair action go { require place < 2  place := place + 1 }
        leadsto far: place == 2 ~> ready
        check all { }
    """
    found = no_return(text)

    assert (found.state, found.is_due) == (2, True)
    assert found.sentences[0] == (
        "From step 2 on, since when it is due, no run of actions and repairs leads to what `far` waits for."
    )


BLINK = """
protocol blink
state { on: bool = false, done: bool = false }
fair action blink { on := not on }
fair action finish { require on  done := true }
leadsto ends: not done ~> done
check all { }
"""


def test_what_is_put_off_for_ever_has_no_point_of_no_return() -> None:
    found = no_return(BLINK)

    assert (found.state, found.is_put_off, found.way_out) == (None, True, ("blink", "finish"))


def test_what_claims_nothing_is_not_explained_and_an_example_cannot_be_averted() -> None:
    trace = wandering("kafka", "jepsen", 3, 1)
    example = violation("""
        protocol up
        state { x: 0..3 = 0 }
        action up { require x < 3  x := x + 1 }
        reachable two says "it may come to two": x == 2
        check all { }
    """)
    found = explain(example)

    assert explain(trace) is None
    assert found is not None
    assert found.no_return is None
    assert found.summary == ("In step 2, up happens.", "Then it is so that it may come to two.")


# --------------------------------------------------- no return, by brute force


class Graph:
    """All that actions and repairs lead to, worked out the long way."""

    def __init__(self, trace: Trace) -> None:
        self.machine = Machine(trace.model, trace.scope)
        self.trace = trace
        self.prop = next((p for p in trace.model.properties if p.name == trace.property), None)
        self.free = [a.name for a in trace.model.actions if a.kind is not Kind.FAULT]
        self.out = cache(self._out)

    def _is_over(self, state: State) -> bool:
        """Whether a future ends here, because it is wrong or makes an error."""
        try:
            list(self.machine.steps(state, None, self.free))
            match self.trace.ending:
                case BadState():
                    assert self.prop is not None
                    return not self.machine.holds(self.prop, state)
                case Erred() if self.prop is None:
                    list(self.machine.steps(state))
        except ModelError:
            return True
        return False

    def _out(self, state: State) -> tuple[frozenset[State], bool]:
        """Where it can go on to, and whether it goes wrong here or by one step."""
        if self._is_over(state):
            return frozenset(), True
        found, is_bad = set(), False
        for taken in self.machine.steps(state, None, self.free):
            if isinstance(taken, Taken):
                if self._is_bad_step(state, taken):
                    is_bad = True
                else:
                    found.add(taken.state)
        return frozenset(found), is_bad

    def _is_bad_step(self, state: State, taken: Taken) -> bool:
        match self.trace.ending:
            case BadAssert():
                return self.trace.property in taken.broken
            case BadStep():
                assert self.prop is not None
                try:
                    return not self.machine.step_holds(self.prop, state, taken.step, taken.state)
                except ModelError:
                    return False
            case _:
                return False

    def closure(self, start: State, most: int = 150) -> set[State] | None:
        """All that can be reached; None where that is too much."""
        seen, waiting = {start}, [start]
        while waiting:
            for state in self.out(waiting.pop())[0] - seen:
                seen.add(state)
                waiting.append(state)
            if len(seen) > most:
                return None
        return seen

    def is_settled(self, start: State) -> bool | None:
        """Whether every state that can be reached can still go wrong; None where that is too much."""
        reach = self.closure(start)
        if reach is None:
            return None
        return all(any(self.out(each)[1] for each in self.closure(state) or ()) for state in reach)

    def can_go_wrong(self, start: State) -> bool | None:
        reach = self.closure(start)
        return None if reach is None else any(self.out(each)[1] for each in reach)


def small(seeds: range) -> Iterator[tuple[Trace, Graph]]:
    """Random runs of random models with violations that one state or step shows, and few futures."""
    plain_ = BadState | BadStep | BadAssert | Erred
    for seed in seeds:
        for trace in random_traces(seed, length=8):
            if isinstance(trace.ending, plain_) and trace.steps:
                graph = Graph(trace)
                if all(graph.closure(state) is not None for state in trace.states):
                    yield trace, graph


def expected_state(trace: Trace, graph: Graph) -> int:
    at = len(trace.states) - 1
    while at > 0 and graph.is_settled(trace.states[at - 1]):
        at -= 1
    return at


def expected_risk(trace: Trace, graph: Graph) -> int | None:
    faults = {action.name for action in trace.model.actions if action.kind is Kind.FAULT}
    if all(step.action not in faults for step in trace.steps):
        return None
    at = len(trace.states) - 1
    while at > 0 and (trace.steps[at - 1].action not in faults or graph.can_go_wrong(trace.states[at - 1])):
        at -= 1
    return at


def test_no_return_is_what_brute_force_finds_on_random_models() -> None:
    seen = set()
    for trace, graph in islice(small(range(400)), 120):
        found = point_of_no_return(trace)
        assert found is not None

        assert found.state == expected_state(trace, graph)
        assert found.at_risk == expected_risk(trace, graph)
        if (found.state or 0) > 0:
            reach = graph.closure(trace.states[(found.state or 0) - 1]) or set()
            assert any(not graph.can_go_wrong(state) for state in reach)
        seen.add((type(trace.ending), found.state == len(trace.steps), bool(found.way_out), found.state == 0))

    assert len(seen) > 8  # of all kinds, early and late


# ------------------------------------------------------------------ the core


def test_the_core_shows_the_same_and_no_step_of_it_can_go() -> None:
    shorter = 0
    for seed in range(60):
        for trace in random_traces(seed, length=15):
            core, run = causal_core(trace)
            certify(run)

            assert core.is_least
            assert core.of == len(trace.steps)
            assert len(run.steps) == len(core.steps)
            assert (type(run.ending), run.property) == (type(trace.ending), trace.property)
            assert [trace.steps[s.number - 1].action for s in core.steps] == [s.action for s in run.steps]
            for at in range(len(run.steps)):
                assert not still_shown(run, [*run.steps[:at], *run.steps[at + 1 :]])
            shorter += len(core.steps) < core.of
    assert shorter > 100


def test_the_core_of_a_run_that_goes_round_still_goes_round() -> None:
    text = BLINK.replace("state {", "state { other: 0..3 = 0, ")
    (model,) = loads(text + "action more { require other < 3  other := other + 1 }")
    trace = by_names(model, ["more", "blink", "more", "blink", "blink", "blink"], Lasso(4))
    core, run = causal_core(trace)
    certify(run)

    assert core.is_least
    assert [step.name for step in core.steps] == ["blink", "blink"]
    assert run.ending == Lasso(0)


def test_a_step_is_needed_because_another_is_impossible_or_all_is_harmless_without_it() -> None:
    core, _ = causal_core(violation(LEDGER))

    assert [(s.number, s.name, s.without) for s in core.steps] == [
        (1, "start(east)", "step 2 is not possible: `east in open and east.paid < 1` is false"),
        (2, "pay(east)", "nothing is wrong at the end"),
    ]


def test_a_needed_step_is_named_as_it_is_in_the_run_also_where_another_choice_would_do() -> None:
    (model,) = loads("""protocol choices
        state { most: 0..1 = 0  chosen: bool = false }
        action more() { require most == 0  most := 1 }
        action pick() { choose which in (0 .. most)  chosen := true }
        invariant nothing: not chosen
        check it {}
    """)
    machine = Machine(model, model.checks[0].scope)
    states, steps = [machine.initial()[0]], list[Step]()
    for name in ("more", "pick"):
        *_, last = (each for each in machine.steps(states[-1], None, [name]) if isinstance(each, Taken))
        states.append(last.state)
        steps.append(last.step)
    trace = Trace(model, machine.scope, tuple(states), tuple(steps), BadState(), "nothing")

    core, least = causal_core(certify(trace).trace)

    assert [(each.number, each.name) for each in core.steps] == [(2, "pick | which = 1")]
    assert [machine.name(each) for each in least.steps] == ["pick | which = 0"]


def test_steps_that_have_nothing_to_do_with_it_are_told_from_the_core() -> None:
    model, asked = named("kafka", "jepsen")
    findings = check(model, asked, engine=RandomRuns(5000, 1, 60)).findings
    (trace,) = traces(findings)[:1]
    found = explain(trace)

    assert found is not None
    assert 0 < len(found.core.steps) < found.core.of == len(trace.steps)
    start = f"Of the {found.core.of} steps, {len(found.core.steps)} are needed"
    assert found.core.sentence.startswith(start)


def test_what_was_given_up_is_said() -> None:
    trace = story("two_leaders")
    found = explain(trace, Limits(states=1))

    assert found is not None
    assert (found.core.is_least, len(found.core.steps)) == (False, 11)
    assert found.core.sentence.endswith("it was not tried to the end whether fewer do.")
    assert all(step.without == "" for step in found.core.steps)


# -------------------------------------------------------- as people read it


def told(trace: Trace) -> str:
    """The explanation in full, wherever the model's file is, and wherever in it the property stands."""
    source = trace.model.source
    model = replace(trace.model, source=Source(Path(source.name).name, source.text, source.parts))
    found = explain(replace(trace, model=model))
    assert found is not None
    return re.sub(r"(\.rsm| kafka):\d+:\d+", r"\1:LINE:COLUMN", plain(lines(found, 100)))


@pytest.mark.parametrize("name", STORIES)
def test_protocols_are_explained(name: str, golden: Golden) -> None:
    golden(f"explanations/{name}.txt", told(story(name)))


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("figure8", "figure_8"),
        ("quorum", "promise_lost"),
        ("kisr", "high_watermark_truncation"),
        ("two_phase_commit", "hasty_coordinator"),
        ("two_phase_commit", "blocking"),
        ("kafka", "jepsen_clean_stops"),
    ],
)
def test_other_violations_are_explained(file: str, name: str, golden: Golden) -> None:
    outcome = check(*named(file, name))

    golden(f"explanations/{file}.{name}.txt", "\n".join(map(told, traces(outcome.findings))))


def test_random_models_are_explained_whatever_they_break() -> None:
    seen = set()
    for seed in range(60):
        (model,) = loads(model_text(Random(seed).randrange))  # noqa: S311 - no secret
        try:
            outcome = check(model, model.checks[0], engine="reference", limits=Limits(states=300))
        except ModelError:
            continue
        for trace in traces(outcome.findings):
            found = explain(trace, Limits(states=300))
            assert found is not None

            assert all(sentence.endswith(".") for sentence in found.summary)
            assert plain(lines(found, 60)).startswith("why\n")
            assert (found.no_return is None) == isinstance(trace.ending, Example)
            seen.add(type(trace.ending))
    assert {BadState, BadStep, BadAssert, Erred, Example, Trapped} <= seen


def test_a_brief_explanation_of_a_very_long_run_does_not_look_at_all_of_it() -> None:
    model = loads("""
        protocol long
        state { x: 0..10000 = 0, y: bool = false }
        action up { require x < 10000  x := x + 1 }
        action turn { y := not y }
        invariant low: x < 10000
        check all { }
    """)[0]
    trace = by_names(model, ["up"] * 10_000, BadState())
    found = explain(trace, replace(BRIEF, seconds=1))

    assert found is not None
    assert found.core.of == 10_000
    assert not found.core.is_least  # patience ended first
    assert len(plain(brief(found, 100)).splitlines()) < 20
