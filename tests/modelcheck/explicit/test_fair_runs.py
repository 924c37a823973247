"""Fair runs in the explicit engine: networkx finds the same homes, and whatever is stopped is not known."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path
from random import Random
from time import process_time

import networkx as nx
import pytest

from counterexamples.trace import Lasso
from modelcheck.api import check
from modelcheck.contract.assessment import assess
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit
from modelcheck.contract.report import Event, LayerDone, Progress
from modelcheck.contract.result import Findings, Holds, Outcome, Unknown, Violated
from modelcheck.contract.wording import verdict_words
from modelcheck.explicit.search import endless, waiting
from modelcheck.explicit.search.endless import Endless
from modelcheck.explicit.search.waiting import Waiting
from spec.load import load, loads
from spec.model.ir import Check, Model
from tests.modelcheck.explicit.test_recovery import NEVER, Trouble, begins, trouble

__all__ = ["trouble"]  # a fixture

# ---------------------------------------------------------------------- by networkx

WHEELS = Path(__file__).with_name("wheels.rsm")
STATES = 24
WIDE = 100
GRAPHS = 30  # in each part
PARTS = 4
FAIR = ("", "fair ", "fair ", "strong fair ", "strong fair ")
Edges = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Drawn:
    """A random graph, as data: for each action its fairness and edges; states from STATES on are beyond."""

    actions: tuple[tuple[str, Edges], ...]
    faults: Edges
    begins: frozenset[int] | None
    goal: frozenset[int]
    most: int | None
    stable: bool

    def model(self) -> tuple[Model, Check]:
        """A model whose runs are those of the graph."""
        goal = f"s in {listed(self.goal)}"
        claim = f"{'eventually always' if self.stable else 'always eventually'} p: {goal}"
        if self.begins is not None:
            claim = f"leadsto p: s in {listed(self.begins)} ~> {goal}"
        (model,) = loads(
            "\n".join(
                [
                    "protocol drawn nat N state { s: N = 0 }",
                    *(action(f"{f}action a{i}", edges) for i, (f, edges) in enumerate(self.actions)),
                    action("fault f", self.faults),
                    claim,
                    f"check all {{ scope N = {STATES - 1} faults {self.budget} }}",
                ]
            )
        )
        return model, model.checks[0]

    @property
    def budget(self) -> str:
        """How many faults there may be."""
        return "any" if self.most is None else f"<= {self.most}"

    def allowed(self) -> frozenset[int]:
        """The states of a way round: those without the goal, or all that a run may be unstable in."""
        return frozenset(range(STATES)) - (frozenset() if self.stable else self.goal)

    def is_waiting(self, state: int, *, before: bool) -> bool:
        """Whether a run waits in a state, given whether it did before."""
        return state not in self.goal and (before or self.begins is None or state in self.begins)


def action(head: str, edges: Edges) -> str:
    coded = ", ".join(str(WIDE * a + b) for a, b in sorted(edges))
    return f"{head}(e in {{ {coded} }}) {{ require s == e / {WIDE}  s := e % {WIDE} }}"


def listed(states: frozenset[int]) -> str:
    return f"{{ {', '.join(map(str, sorted(states | {WIDE})))} }}"


def drawn(seed: int) -> Drawn:
    chance = Random(seed)  # noqa: S311 - no secret

    def edges(count: int, behind: int) -> Edges:
        return frozenset((chance.randrange(STATES), chance.randrange(STATES + behind)) for _ in range(count))

    some = frozenset(chance.sample(range(STATES), chance.randint(1, 6)))
    begins = None if chance.random() < 0.5 else some
    return Drawn(
        tuple(
            (chance.choice(FAIR), edges(chance.randint(6, 40), chance.choice([0, 0, 2])))
            for _ in range(chance.randint(2, 4))
        ),
        edges(chance.randint(1, 6), 0),
        begins,
        frozenset(chance.sample(range(STATES), chance.randint(0, 8))),
        chance.choice([0, 1, 2, None]),
        begins is None and chance.random() < 0.6,
    )


def homes(graph: Drawn, *, at_all: bool) -> set[int]:
    """Where a fair run can be for ever; `at_all` counts steps that leave the scope as possible."""

    def possible(edges: Edges, state: int) -> bool:
        return any(a == state != b and (at_all or b < STATES) for a, b in edges)

    fair = [(f.strip(), edges) for f, edges in graph.actions if f]
    free = nx.DiGraph((a, b) for _, edges in graph.actions for a, b in edges if b < STATES and a != b)
    found = {s for s in graph.allowed() if not any(possible(edges, s) for _, edges in fair)}
    parts = [set(graph.allowed())]
    while parts:
        for component in nx.strongly_connected_components(free.subgraph(parts.pop())):
            if len(component) == 1:
                continue
            owed = [
                edges
                for fairness, edges in fair
                if not any(a != b and {a, b} <= component for a, b in edges)
                and (any if fairness == "strong fair" else all)(possible(edges, s) for s in component)
            ]
            if owed:
                parts.append({s for s in component if not any(possible(edges, s) for edges in owed)})
            else:
                found |= component
    return found - graph.goal


def costs(graph: Drawn, most: float) -> dict[int, tuple[int, int]]:
    """The fewest faults, and then steps, with which a run comes to wait in a state."""
    free = [(0, a, b) for _, edges in graph.actions for a, b in edges if b < STATES]
    steps = free + [(1, a, b) for a, b in graph.faults]
    heap = [(0, 0, 0, graph.is_waiting(0, before=False))]
    seen: dict[tuple[int, bool], tuple[int, int]] = {}
    while heap:
        faults, depth, state, waits = heappop(heap)
        if (state, waits) in seen:
            continue
        seen[state, waits] = faults, depth
        for cost, a, b in steps:
            if a == state and faults + cost <= most:
                for after in {graph.is_waiting(b, before=waits), graph.is_waiting(b, before=False)}:
                    heappush(heap, (faults + cost, depth + 1, b, after))
    return {state: cost for (state, waits), cost in seen.items() if waits}


def near(graph: Drawn, cost: dict[int, tuple[int, int]], real: set[int]) -> tuple[int, int] | None:
    """The faults and steps to the nearest home."""
    return min((cost[state] for state in real if state in cost), default=None)


@pytest.mark.usefixtures("quickly_compiled")
@pytest.mark.parametrize("part", range(PARTS))
def test_networkx_finds_the_same_homes(part: int) -> None:
    held = 0
    for seed in range(GRAPHS * part, GRAPHS * (part + 1)):
        graph = drawn(seed)
        found = check(*graph.model(), engine="explicit", threads=1 + seed % 2)
        verdict, cost, real = found.verdict("p"), costs(graph, most(graph)), homes(graph, at_all=True)
        best = near(graph, cost, real)
        if best is None:
            held += 1
            assert isinstance(verdict, Holds), seed
            assert verdict.beyond == len(homes(graph, at_all=False) & cost.keys()), seed
            assert verdict.extent.faults is not None or near(graph, costs(graph, 9e9), real) is None, seed
        else:
            assert isinstance(verdict, Violated), seed
            assert verdict.trace is not None
            assert isinstance(verdict.trace.ending, Lasso)
            stem, stays = verdict.trace.ending.loop, verdict.trace.ending.loop == len(verdict.trace.steps)
            nearest = [best, (best[0], best[1] + 1)][: 1 + stays]
            assert (verdict.trace.faults, stem) in nearest, seed
            assert verdict.extent.faults == best[0], seed

    assert 0 < held < GRAPHS


def most(graph: Drawn) -> float:
    return float("inf") if graph.most is None else graph.most


# --------------------------------------------------------------------------- a larger one

RING = """
protocol ring
state { a: 0..SIZE = 0, b: 0..SIZE = 0, c: 0..SIZE = 0, done: bool = false }
fair action left { require not done  a := if a == SIZE then 0 else a + 1 }
fair action up   { require not done  b := if b == SIZE then 0 else b + 1 }
fair action out  { require not done  c := if c == SIZE then 0 else c + 1 }
FAIR action finish { require a == 0 and not done  done := true }
invariant inside: a <= SIZE
always eventually ends: done
leadsto found: a == 2 and b == 1 ~> done
leadsto never: a > SIZE ~> false
check all { }
"""


def ring(size: int, fair: str, only: str | None = None) -> tuple[Model, Check]:
    names = only or "inside, ends, found, never"
    text = RING.replace("SIZE", str(size)).replace("FAIR", fair)
    (model,) = loads(text.replace("check all { }", f"check all {{ only {names} }}"))
    return model, model.checks[0]


def shown(outcome: Outcome, name: str) -> Lasso:
    verdict = outcome.verdict(name)
    assert isinstance(verdict, Violated)
    assert verdict.trace is not None
    assert isinstance(verdict.trace.ending, Lasso)
    return verdict.trace.ending


def test_a_run_goes_round_where_fairness_is_too_weak() -> None:
    strong, weak = (check(*ring(9, fair), engine="explicit") for fair in ("strong fair", "fair"))

    assert {type(result.verdict) for result in strong.findings.results} == {Holds}
    assert shown(weak, "ends").loop == 0
    assert shown(weak, "found").loop == 3
    assert isinstance(weak.verdict("never"), Holds)


def test_any_number_of_threads_and_no_ways_find_the_same_runs() -> None:
    found = [
        check(*ring(12, "fair"), engine="explicit", threads=threads, ways=ways).findings.results
        for threads, ways in ((1, True), (2, True), (3, True), (2, False))
    ]

    assert found[1:] == found[:-1]


def test_it_takes_some_times_as_long_as_to_search_the_same_states() -> None:
    def seconds(only: str) -> float:
        model, asked = ring(59, "strong fair", only)
        check(model, asked, engine="explicit", threads=1)  # which leaves the code behind
        began = process_time()
        found = check(model, asked, engine="explicit", threads=1)
        assert found.findings.stats.states > 200_000
        assert isinstance(found.verdict(only), Holds)
        return process_time() - began

    assert seconds("ends") < 30 * max(seconds("inside"), 0.1)


class Listening:
    """Keeps what is told."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def tell(self, event: Event) -> None:
        self.events.append(event)


def test_it_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelcheck.search.layers.QUIET", 0.0)
    monkeypatch.setattr(endless, "STEPS", 100)
    heard = Listening()
    check(*ring(5, "strong fair"), engine="explicit", reporter=heard)
    last = max(at for at, event in enumerate(heard.events) if isinstance(event, LayerDone))
    later = [event.waiting for event in heard.events[last:] if isinstance(event, Progress)]

    assert len(later) > 10
    assert min(later) < max(later)


# -------------------------------------------------------------------------- stopped

PHASES = ((Endless, "build"), (Endless, "look_for_homes"), (Waiting, "first_home"))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("room", "phase"), PHASES, ids=lambda each: each if isinstance(each, str) else "")
def test_what_nobody_had_time_to_look_at_is_not_known(
    room: type, phase: str, threads: int, trouble: Trouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, phase, begins(trouble, getattr(room, phase)))
    found = check(*ring(7, "fair"), engine="explicit", limits=NEVER, threads=threads)

    assert {name: found.verdict(name) for name in ("ends", "found", "never")} == dict.fromkeys(
        ("ends", "found", "never"), Unknown(trouble.how.value)
    )
    assert found.findings.end is trouble.how
    assert isinstance(found.verdict("inside"), Holds)
    assert assess(found).exit is Exit.UNKNOWN


def test_more_states_than_there_are_numbers_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endless, "NONE", 1000)
    found = check(*ring(7, "strong fair"), engine="explicit")

    assert {type(found.verdict(name)) for name in ("ends", "found", "never")} == {Unknown}


def test_a_search_that_its_limits_ended_says_nothing() -> None:
    model, asked = ring(20, "strong fair")
    found = check(model, asked, engine="explicit", limits=Limits(states=500))

    assert {type(found.verdict(name)) for name in ("ends", "found", "never")} == {Unknown}
    assert assess(found).exit is Exit.UNKNOWN


def test_all_that_is_asked_in_small_parts_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(part: int) -> Findings:
        for module, name in ((endless, "STEPS"), (endless, "AT_ONCE"), (waiting, "AT_ONCE")):
            monkeypatch.setattr(module, name, part)
        return check(*ring(6, "fair"), engine="explicit", threads=1).findings

    assert found(7).results == found(100).results == found(10**6).results


# ---------------------------------------------------------------------- by hand


@pytest.mark.parametrize(("fairness", "holds"), [("strong fair", True), ("fair", False)])
def test_wheels_ring_the_bell_only_with_strong_fairness(fairness: str, *, holds: bool) -> None:
    """The model that is measured, small: what takes its one component apart is a strong fairness."""
    (model,) = loads(load(WHEELS)[0].source.text.replace("strong fair", fairness))
    verdict = check(model, model.checks[0], engine="explicit").verdict("rings")

    assert isinstance(verdict, Holds if holds else Violated)


VACUOUS = """
protocol lights
state { red: bool = true, broken: bool = false, seen: bool = false }
fair action turn { red := not red }
fault break { broken := true }
leadsto mended: broken ~> not broken
leadsto at_once: not red ~> not red
leadsto green: red ~> not red
always eventually some: red or not red
check no_fault { faults none }
check faults_too { faults <= 1  only mended }
"""


@pytest.mark.parametrize("engine", ["reference", "explicit"])
def test_a_leadsto_that_never_begins_to_wait_holds_for_nothing_and_that_is_said(engine: str) -> None:
    (model,) = loads(VACUOUS)
    outcome = check(model, model.checks[0], engine=engine)
    words = {each.property: verdict_words(model, each) for each in outcome.findings.results}
    for_nothing = {name for name, text in words.items() if "no run ever begins to wait" in text}

    assert for_nothing == {"mended", "at_once"}
    assert isinstance(check(model, model.checks[1], engine=engine).verdict("mended"), Violated)
