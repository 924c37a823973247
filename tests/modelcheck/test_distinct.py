"""The distinct ways to violate a property: on toys, against brute force, and as the command tells them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from counterexamples.certify import certify
from counterexamples.compare import step_names
from counterexamples.reorder import Neighbours
from counterexamples.trace import Trace
from modelcheck.api import Unmet, check
from modelcheck.asking.overrides import Overrides, apply
from modelcheck.contract.engine import Limits
from modelcheck.contract.result import MOST_WAYS, Distinct, Outcome
from modelcheck.diagnosis.distinct.search import LIMITS, distinct
from modelcheck.diagnosis.distinct.shape import Shape
from spec.load import loads
from spec.meaning.semantics import Machine, Step, Taken
from spec.model.interchangeable import symmetric_sorts
from spec.model.ir import Kind, Value
from spec.model.renaming import renamed
from spec.model.types import Type
from spec.model.values import ModelError
from tests.model_texts import model_text
from tests.partial_runs import still_shown
from tests.stories import named, wandering

ROOT = Path(__file__).parent.parent.parent

# A lamp that burns out by rot alone, or by a crash and a cut in either order.
TWO = """
protocol lamp
state {
  crashed: bool = false
  is_cut:  bool = false
  rotten:  bool = false
}
action cut() { require not is_cut  is_cut := true }
fault rot() { rotten := true }
fault crash() { require not crashed  crashed := true }
invariant lit: not rotten and not (crashed and is_cut)
check all { faults <= 2 }
"""


def outcome(text: str) -> Outcome:
    """What the only check of a text finds, by the engine that needs no compiler."""
    model = loads(text)[0]
    return check(model, model.checks[0], engine="reference")


def ways(text: str, most: int = MOST_WAYS, limits: Limits = LIMITS) -> Distinct:
    """The ways to violate the only property of a text."""
    (found,) = distinct(outcome(text), most, limits)
    return found


def steps(found: Distinct) -> list[list[str]]:
    return [step_names(run) for run in found.runs]


# ------------------------------------------------------------------ which ways there are


def test_each_way_is_told_once_the_fewest_steps_first() -> None:
    found = ways(TWO)

    assert steps(found) == [["rot"], ["cut", "crash"]]
    assert [run.faults for run in found.runs] == [1, 1]
    assert found.unfinished == ""
    assert found.most_faults == 2


def test_steps_that_do_not_depend_on_each_other_come_in_any_order() -> None:
    found = ways(TWO.replace("not rotten and ", ""))

    assert found.looked_at > 1, "both orders are seen"
    assert len(found.runs) == 1


def test_steps_that_depend_on_each_other_are_two_ways() -> None:
    found = ways("""
protocol order
state { first: 0..2 = 0  a: bool = false  b: bool = false }
action go_a() { require not a  a := true  if first == 0 { first := 1 } }
action go_b() { require not b  b := true  if first == 0 { first := 2 } }
invariant never: not (a and b)
check all { }
""")

    assert steps(found) == [["go_a", "go_b"], ["go_b", "go_a"]]


NODES = """
protocol cluster
sort Node
state { leader: Node? = none }
process Node { durable down: bool = false }
fault crash(n: Node) { require not n.down  n.down := true }
invariant up: size({n: Node where n.down}) < 2
check all { scope Node = 3  faults <= 2 }
"""


def test_ways_that_differ_by_the_names_of_members_are_one() -> None:
    assert len(ways(NODES).runs) == 1


def test_members_that_play_other_parts_make_other_ways() -> None:
    found = ways(
        NODES.replace("process", "init { choose n: Node  leader := n }\nprocess", 1).replace("< 2", "< 1")
    )

    assert len(found.runs) == 2, "the leader crashes, or another one"
    parts = {run.steps[0].args[0] == run.states[0][0] for run in found.runs}
    assert parts == {True, False}


def test_members_that_a_config_tells_apart_keep_their_names() -> None:
    text = NODES.replace("state", "config special: Node? = none\nstate", 1).replace("< 2", "< 1")

    assert len(ways(text).runs) == 3


ALIKE = """
protocol alike
state { down: bool = false  lost: bool = false }
action lose() { require down  lost := true }
fault crash() { down := true }
fault power_loss() { down := true }
invariant kept: not lost
check all { faults <= 1 }
"""

# One step does harm alone, and after both of the others too, but not after one of them.
ARMED = """
protocol armed
state { p: bool = false  q: bool = false  r: bool = false  late: bool = false }
action a() { p := true }
action b() { q := true  if p { late := true } }
action c() { r := true  if p { late := true } }
invariant safe: not (p and q == r)
check all { }
"""


def test_a_way_with_all_steps_of_another_one_and_more_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    assert steps(ways(ARMED)) == [["a"]]

    monkeypatch.setattr(Shape, "contains", lambda *_: False)

    assert steps(ways(ARMED)) == [["a"], ["b", "c", "a"]], "no single step of it can be taken out"


def test_such_a_way_is_told_where_the_other_one_is_none() -> None:
    apart = ARMED.replace("not (p and q == r)", "not (p and q and r)")

    assert {tuple(sorted(each)) for each in steps(ways(apart))} == {("a", "b", "c")}


def test_other_faults_to_the_same_state_are_other_ways() -> None:
    assert steps(ways(ALIKE)) == [["crash", "lose"], ["power_loss", "lose"]]


def test_another_last_step_to_the_same_state_is_another_way() -> None:
    found = ways("""
protocol last
state { lost: bool = false }
action forget() { lost := true }
action erase() { lost := true }
invariant kept: not lost
check all { }
""")

    assert steps(found) == [["forget"], ["erase"]]


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("step kept: old(n) <= n", [["drop"], ["crash"]]),
        ("invariant zero: n == 1", [["drop"], ["crash"]]),
        ("deadlock free", [["drop"], ["crash"]]),
    ],
)
def test_what_is_said_of_steps_and_of_deadlocks_has_ways_too(claim: str, expected: list[list[str]]) -> None:
    found = ways(f"""
protocol counter
state {{ n: 0..1 = 1  by: 0..2 = 0 }}
action drop() {{ require n > 0  n := 0  by := 1 }}
fault crash() {{ require n > 0  n := 0  by := 2 }}
{claim}
check all {{ faults <= 1 }}
""")

    assert steps(found) == expected


def test_an_assert_has_ways_too() -> None:
    found = ways("""
protocol asserted
state { a: bool = false  b: bool = false }
action set_a() { a := true }
action set_b() { b := true }
action look() { assert fine: not a and not b }
check all { }
""")

    assert steps(found) == [["set_a", "look"], ["set_b", "look"]]


def test_a_fault_that_violates_and_leads_to_a_known_state_is_found() -> None:
    found = ways("""
protocol back
state { n: 0..1 = 0 }
action up() { n := 1 }
action reset() { require n == 1  n := 0 }
fault crash() { n := 0 }
step kept: old(n) <= n
check all { faults <= 1 }
""")

    assert steps(found) == [["up", "reset"], ["up", "crash"]]


def test_a_start_that_is_wrong_is_a_way_without_steps() -> None:
    found = ways(TWO.replace("rotten:  bool = false", "rotten:  bool = true"))

    assert steps(found) == [[]]


def test_runs_go_on_from_no_state_that_is_wrong_already() -> None:
    text = TWO.replace("state {", "state { n: 0..200 = 0", 1).replace(
        "fault rot", "action tick() { require rotten and n < 200  n := n + 1 }\nfault rot", 1
    )
    found = ways(text)

    assert steps(found) == steps(ways(TWO))
    assert found.states < 20


# ------------------------------------------------------------------ against brute force


def by_brute_force(text: str, most_steps: int, most_faults: int) -> set[tuple[str, ...]]:
    """The least sets of steps that some run takes which is wrong at its end, and there only."""
    model = loads(text)[0]
    machine, prop = Machine(model, model.checks[0].scope), model.properties[0]
    faults = {action.name for action in model.actions if action.kind is Kind.FAULT}
    found = set[tuple[str, ...]]()
    todo = [(state, tuple[str, ...]()) for state in machine.initial()]
    while todo:
        state, taken = todo.pop()
        if not machine.holds(prop, state):
            found.add(tuple(sorted(taken)))
        elif len(taken) < most_steps:
            todo += [
                (each.state, (*taken, machine.name(each.step)))
                for each in machine.steps(state)
                if isinstance(each, Taken)
                and sum(name in faults for name in (*taken, each.step.action)) <= most_faults
            ]
    return {each for each in found if not any(Counter(other) < Counter(each) for other in found)}


@pytest.mark.parametrize(("text", "faults"), [(TWO, 2), (ARMED, 0), (ALIKE, 1)])
def test_the_ways_of_small_models_are_those_that_brute_force_finds(text: str, faults: int) -> None:
    found = {tuple(sorted(each)) for each in steps(ways(text))}

    assert found == by_brute_force(text, 5, faults)


def violated(seed: int) -> list[tuple[Trace, ...]]:
    """The ways to violate properties of a random model, each property's."""
    model = loads(model_text(Random(seed).randrange))[0]  # noqa: S311 - no secret
    limits = Limits(states=300)
    try:
        result = check(model, model.checks[0], engine="reference", limits=limits)
    except (Unmet, ModelError):
        return []
    return [found.runs for found in distinct(result, MOST_WAYS, limits)]


@pytest.mark.parametrize("seed", range(30))
def test_every_step_of_a_way_is_needed_and_no_two_are_one(seed: int) -> None:
    for runs in violated(seed):
        for run in runs:
            assert certify(run).trace == run
            for at in range(len(run.steps)):
                assert not still_shown(run, (*run.steps[:at], *run.steps[at + 1 :]))
        shapes = [Shape(run, symmetric_sorts(run.model)) for run in runs]
        assert len({shape.key for shape in shapes}) == len(runs)
        assert not any(shape.contains(other) for shape in shapes for other in shapes)


# ------------------------------------------------------------------ shapes


def renamed_run(run: Trace, random: Random) -> Trace:
    """The same run with the members of interchangeable sorts called otherwise."""
    for sort in symmetric_sorts(run.model):
        members = range(len(run.scope.sorts[sort]))
        run = _renamed(run, sort, tuple(random.sample(members, k=len(members))))
    return certify(run).trace


def _renamed(run: Trace, sort: str, renaming: tuple[int, ...]) -> Trace:
    types = [variable.type for variable in run.model.variables]

    def values(of: Sequence[Type], old: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(renamed(t, sort, value, renaming) for t, value in zip(of, old, strict=True))

    def step(old: Step) -> Step:
        params = [param.type for param in run.model.action(old.action).params]
        chosen = values([each.type for each in old.choices], [each.value for each in old.choices])
        choices = tuple(replace(each, value=v) for each, v in zip(old.choices, chosen, strict=True))
        return replace(old, args=values(params, old.args), choices=choices)

    states = tuple(values(types, state) for state in run.states)
    return replace(run, states=states, steps=tuple(map(step, run.steps)))


def mixed(run: Trace, random: Random) -> Trace:
    """The same run with neighbours exchanged, here and there."""
    neighbours = Neighbours(Machine(run.model, run.scope))
    states, taken = list(run.states), list(run.steps)
    for _ in range(4 * len(taken)):
        at = random.randrange(len(taken) - 1)
        between = neighbours.exchanged(states[at], taken[at], taken[at + 1], states[at + 2])
        if between is not None:
            states[at + 1], taken[at], taken[at + 1] = between, taken[at + 1], taken[at]
    return replace(run, states=tuple(states), steps=tuple(taken))


@pytest.mark.parametrize(
    ("file", "name"), [("kisr", "high_watermark_truncation"), ("kafka_followers", "kip101")]
)
@pytest.mark.parametrize("seed", range(5))
def test_names_and_the_order_of_steps_do_not_change_a_shape(file: str, name: str, seed: int) -> None:
    random = Random(seed)  # noqa: S311 - no secret
    run = wandering(file, name, 8, seed)
    sorts = symmetric_sorts(run.model)
    other = mixed(renamed_run(run, random), random)

    assert sorts
    assert Shape(run, sorts).key == Shape(other, sorts).key


def test_another_step_makes_another_shape() -> None:
    run = wandering("kisr", "high_watermark_truncation", 8, 1)
    shorter = replace(run, states=run.states[:-1], steps=run.steps[:-1])
    sorts = symmetric_sorts(run.model)

    assert Shape(run, sorts).key != Shape(shorter, sorts).key
    assert Shape(run, sorts).contains(Shape(shorter, sorts))
    assert not Shape(shorter, sorts).contains(Shape(run, sorts))
    assert not Shape(run, sorts).contains(Shape(run, sorts))


# ------------------------------------------------------------------ the protocols


@pytest.mark.parametrize(
    ("file", "name", "scope", "expected"),
    [
        ("kafka", "jepsen", (), [(2, 5)] * 4),  # a broker is cut off, the leader or not; committed when
        ("kisr", "high_watermark_truncation", ("Offset=1",), [(1, 10), (1, 11)]),  # by a smaller ISR, or not
    ],
)
def test_the_ways_of_protocols(
    file: str, name: str, scope: tuple[str, ...], expected: list[tuple[int, int]]
) -> None:
    model, asked = named(file, name)
    found = distinct(check(model, apply(model, asked, Overrides(scope, ()))))[0]

    assert [(run.faults, len(run.steps)) for run in found.runs] == expected
    assert found.unfinished == ""


# ------------------------------------------------------------------ how far it goes


def test_without_a_number_in_the_budget_one_more_fault_is_looked_at() -> None:
    found = ways(TWO.replace("faults <= 2", "faults any"))

    assert found.most_faults == 2
    assert len(found.runs) == 2


def test_no_more_than_asked_for_are_told_and_that_there_may_be_more() -> None:
    found = ways(TWO, most=1)

    assert steps(found) == [["rot"]]
    assert found.unfinished == "no more than 1 were asked for"


def test_a_limit_of_states_ends_it_with_what_there_is() -> None:
    text = TWO.replace("state {", "state { n: 0..200 = 0", 1).replace(
        "fault rot", "action tick() { require n < 200  n := n + 1 }\nfault rot", 1
    )
    found = ways(text, limits=Limits(states=300))

    assert found.unfinished == "the limit of states is reached"
    assert len(found.runs) == 1, "that of the check itself"


def test_no_more_than_some_runs_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelcheck.diagnosis.distinct.search.MOST_RUNS", 1)
    found = ways(TWO)

    assert found.unfinished == "no more than 1 violating runs are looked at"


def test_an_error_of_the_model_on_the_way_is_said() -> None:
    found = ways(
        TWO.replace("invariant", "fault flood() { require crashed  rotten := 1 / 0 == 1 }\ninvariant")
    )

    assert steps(found) == [["rot"], ["cut", "crash"]]
    assert found.unfinished == "the model makes an error"


def test_ctrl_c_at_once_leaves_the_run_of_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    result = outcome(TWO)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("modelcheck.diagnosis.distinct.search.causal_core", interrupted)
    (found,) = distinct(result)

    assert found.unfinished == "interrupted"
    assert steps(found) == [["rot"]]


def test_ctrl_c_ends_it_with_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    result = outcome(TWO)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("modelcheck.diagnosis.distinct.search._Ways._look_into", interrupted)
    (found,) = distinct(result)

    assert found.unfinished == "interrupted"
    assert len(found.runs) == 1
