"""Random runs in compiled code: those of the definition, by the same seed, whatever happens in them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

import modelcheck.search.simulate as simulate
from modelcheck.api import check, task_of
from modelcheck.contract.engine import Limits, Task
from modelcheck.contract.report import Event, RunsDone, Silent
from modelcheck.contract.result import End, Findings, Holds, Unknown, Violated
from modelcheck.engines.registry import random_runs
from modelcheck.explicit.sampler import Sampler, sampler
from modelcheck.search.simulate import RandomRuns, Samples
from spec.load import load, loads
from spec.meaning.semantics import State
from spec.model.ir import Check, Model
from spec.model.kinds import OF_RUNS
from tests.fuzz.of_runs import timeless

PROTOCOLS = Path(__file__).parents[3] / "spec/protocols"
LOTS = 10**9
NONE = Limits()

WALK = """
protocol walk
sort Node
nat N
state { n: N = 0, spot: map[Node, N] = [x: Node -> 0], seen: set[Node] = {} }
action up says "up" { require n < 6
  n := n + 1 }
action move(x: Node) says "{x} moves" { spot[x] := spot[x] + 1
  seen := seen + {x} }
action pick says "one is picked" { choose x in seen
  spot[x] := 0 }
fault slip says "slip" { require n > 1
  n := n - 2 }
fault jump says "jump" { n := n + 2 }
fault burn(x: Node) says "{x} burns" { seen := seen - {x} }
"""
CHECK = """
check all { scope Node = {a, b, c}, N = 6
  FAULTS }
"""


@pytest.fixture(autouse=True)
def compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code is compiled for the first run already."""
    monkeypatch.setattr(simulate, "FEW", -1)


def model_of(claims: str = "", faults: str = "faults any", text: str = WALK) -> tuple[Model, Check]:
    """A model with these claims, and its check with these faults."""
    model = loads(text + claims + CHECK.replace("FAULTS", faults))[0]
    return model, model.checks[0]


def both(
    model: Model,
    asked: Check,
    runs: int = 60,
    depth: int = 40,
    weights: dict[str, int] | None = None,
    limits: Limits = NONE,
) -> tuple[Findings, Findings]:
    """The findings of random runs in compiled code, and interpreted, without times."""
    compiled = random_runs(runs, 7, depth, weights or {})
    interpreted = RandomRuns(runs, 7, depth, weights or {})
    one, other = (check(model, asked, engine=e, limits=limits).findings for e in (compiled, interpreted))
    return timeless(one), timeless(other)


def sampled(model: Model, asked: Check, wish: RandomRuns) -> tuple[Sampler, tuple[State, ...]]:
    """A sampler for a check, and the initial states."""
    task = task_of(model, asked)
    starts = simulate._Simulation(wish, task, Silent())._starts
    made = sampler(wish, task, starts)
    assert isinstance(made, Sampler)
    return made, starts


@pytest.mark.parametrize(
    "faults", ["faults none", "faults any", "faults <= 2", "faults slip <= 1, burn <= 3"]
)
def test_runs_are_those_of_the_interpreter_state_by_state(faults: str) -> None:
    model, asked = model_of(faults=faults)
    wish = RandomRuns(5, 3, 30)
    made, _ = sampled(model, asked, wish)

    for number in range(wish.runs):
        alone = simulate._Simulation(wish, task_of(model, asked), Silent())
        alone._run(number)
        states: list[State] = []
        while not states or made.run == number:
            assert not made.make(made.run, wish.runs, 1, [])
            states.append(made._layout.unpack(tuple(made._state))[1])
            if made.run != number or len(states) == len(alone._states):
                break

        assert states == alone._states
        made.make(number, number + 1, LOTS, [])


@pytest.mark.parametrize(
    ("claims", "end"),
    [
        ("invariant small: n < 5", End.DECIDED),
        ("step even: n != 4 or old(n) != 3", End.DECIDED),
        ("reachable three: n == 3", End.DECIDED),
        ("reachable never: n > 6\nreachable three: n == 3", End.SAMPLED),
        ("invariant fails: [1, 2, 3][n] > 0", End.ERROR),
        ("step fails: [1, 2, 3][n] > 0", End.ERROR),
        ("invariant fine: n <= 6", End.SAMPLED),
    ],
)
def test_what_a_run_decides_is_found_in_the_same_run(claims: str, end: End) -> None:
    compiled, interpreted = both(*model_of(claims))

    assert compiled == interpreted
    assert compiled.end is end


@pytest.mark.parametrize(
    ("guard", "claim"),
    [
        ("assert low: n < 3", ""),
        ("require n < 3", "deadlock free"),
        ("require n < 3", "deadlock free unless n == 3"),
        ("require n < 3", "deadlock free unless n < 3"),
        ("require n < 3", "deadlock free unless [1, 2, 3][n] > 0"),
        ("require [1, 2, 3][n] > 0", ""),
        ("", ""),
    ],
)
def test_asserts_deadlocks_and_errors_are_found_in_the_same_run(guard: str, claim: str) -> None:
    text = f"""
protocol broken
nat N
state {{ n: N = 0 }}
action up says "up" {{ {guard}
  n := n + 1 }}
action stay says "stay" {{ require n < 3 }}
fault back says "back" {{ require n > 2
  n := 1 }}
{claim}
check all {{ scope N = 20
  faults <= 1 }}
"""
    model = loads(text)[0]
    compiled, interpreted = both(model, model.checks[0])

    assert compiled == interpreted


@pytest.mark.parametrize("limit", [1, 2, 41, 400, 1_000])
def test_a_limit_of_states_ends_the_same_run_at_the_same_state(limit: int) -> None:
    compiled, interpreted = both(*model_of(), limits=Limits(states=limit))

    assert compiled == interpreted
    assert (compiled.end, compiled.stats.states) == (End.STATES, limit)


def test_a_model_may_start_in_several_states() -> None:
    text = WALK.replace("action up", "init { choose x in Node\n  seen := {x} }\naction up")
    compiled, interpreted = both(*model_of(text=text), depth=3)

    assert compiled == interpreted


def test_weights_are_those_of_actions_and_a_weight_of_zero_is_never_taken() -> None:
    compiled, interpreted = both(*model_of(), runs=200, weights={"up": 5, "slip": 0, "move": 2})
    plain, _ = both(*model_of(), runs=200)

    assert compiled == interpreted
    assert compiled.stats.taken["slip"] == 0 < plain.stats.taken["slip"]
    assert compiled.stats.taken["up"] > 0


def test_steps_are_chosen_with_the_same_probability() -> None:
    text = """
protocol coin
nat N
state { n: N = 0 }
action left says "left" { }
action right(x: N) says "right" { n := x }
check all { scope N = 2 }
"""
    model = loads(text)[0]
    taken = check(model, model.checks[0], engine=random_runs(100, 1, 4_000, {})).findings.stats.taken

    assert sum(taken.values()) == 400_000
    assert abs(taken["left"] - 100_000) < 1_500  # more than five standard deviations


def test_a_run_that_only_seems_to_decide_something_is_not_the_last() -> None:
    step = "step rarely: not (old(n) == 3 and n == 1)"  # a fault may break it in many runs, few take it
    compiled, interpreted = both(*model_of(step, faults="faults slip <= 1"), weights={"move": 1_000})

    assert compiled == interpreted
    assert compiled.sample is not None
    assert compiled.sample.runs > 1


@pytest.mark.grid
@pytest.mark.one_of_many
@pytest.mark.parametrize("file", sorted(PROTOCOLS.glob("*.rsm")), ids=lambda file: file.stem)
def test_runs_of_protocols_are_those_of_the_interpreter(file: Path) -> None:
    for model in load(file):
        for asked in model.checks[:2]:
            names = tuple(p.name for p in model.properties if p.kind not in OF_RUNS)
            alone = replace(asked, only=names, expect=(), symmetry=False)  # of which runs have no use
            compiled, interpreted = both(model, alone, runs=20, depth=30, limits=Limits(states=100))

            assert compiled == interpreted, asked.name


# ------------------------------------------------------- where there is no code, limits, Ctrl-C


def test_without_code_the_interpreter_answers_with_the_same_words() -> None:
    model, asked = model_of("invariant small: n < 5")

    def none(_wish: RandomRuns, _task: Task, _starts: Collection[State]) -> Samples | None:
        return None

    refused = RandomRuns(60, 7, 40, {}, none)
    compiled, _ = both(model, asked)

    assert timeless(check(model, asked, engine=refused).findings) == compiled


def test_a_nat_without_a_bound_is_interpreted() -> None:
    text = """
protocol terms
nat Term
state { term: Term = 0, voted: Term = 0 }
action up says "up" { term := term + 1 }
action vote says "vote" { voted := term }
invariant behind: voted <= term
check all { scope Term = any }
"""
    model = loads(text)[0]
    compiled, interpreted = both(model, model.checks[0], runs=3, depth=10)
    task = task_of(model, model.checks[0])

    assert compiled == interpreted
    assert sampler(RandomRuns(3, 7), task, ()) is None


class Clock(Silent):
    """Somebody who presses Ctrl-C at the first report of progress."""

    def tell(self, event: Event) -> None:
        if isinstance(event, RunsDone):
            raise KeyboardInterrupt


def test_an_interrupt_keeps_what_was_found_and_counted() -> None:
    model, asked = model_of("reachable three: n == 3\ninvariant fine: n <= 6")
    task = task_of(model, asked)
    for depth in (20, LOTS):
        found = random_runs(LOTS, 7, depth, {}).run(task, Clock())

        assert found.end is End.INTERRUPTED
        assert found.sample is not None
        assert found.stats.transitions > 10_000
        assert found.stats.states - found.stats.transitions - found.sample.runs in {0, 1}  # one is begun
        assert isinstance(found.results[0].verdict, Holds)


@pytest.mark.parametrize("depth", [20, LOTS])
def test_a_limit_of_time_ends_runs_of_any_length_soon(depth: int) -> None:
    model, asked = model_of("invariant fine: n <= 6")

    found = check(model, asked, engine=random_runs(LOTS, 7, depth, {}), limits=Limits(seconds=0.2)).findings

    assert found.end is End.SECONDS
    assert found.stats.seconds < 60  # of a machine that is busy with all tests
    assert isinstance(found.results[0].verdict, Unknown)
    assert found.sample is not None
    assert found.sample.run is not None
    assert len(found.sample.run.steps) <= simulate.AGAIN


def test_a_violation_far_into_a_run_is_replayed() -> None:
    model, asked = model_of("invariant small: n < 5")
    compiled, interpreted = both(model, asked, runs=500, weights={"move": 20})

    assert compiled == interpreted
    assert isinstance(compiled.results[0].verdict, Violated)


def test_choices_are_in_the_order_of_the_definition_also_where_codes_sort_differently() -> None:
    text = """
protocol chosen
sort Node
state { sets: set[set[Node]] = subsets(Node), mine: set[Node] = {} }
action take(m: set[Node] in sets) { mine := m
  sets := sets - {m} }
action put(x: Node) { sets := sets + {mine + {x}} }
action pick { choose m in sets
  mine := m }
check all { scope Node = {a, b, c} }
"""
    model = loads(text)[0]
    compiled, interpreted = both(model, model.checks[0], runs=30)

    assert compiled == interpreted
