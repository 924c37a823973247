"""Fair runs of small random graphs: found as by trying every set of states."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from counterexamples.trace import Lasso
from modelcheck.contract.result import Holds
from tests.modelcheck.test_liveness import lasso, run, shown

STATES = 5
WIDE = 8  # numbers from STATES on are beyond the scope
FAIRNESS = ("", "fair", "fair", "strong fair", "strong fair")  # without any, runs stop too soon


@dataclass(frozen=True)
class Toy:
    """A small graph: for each action its fairness and edges; faults have edges alone."""

    actions: tuple[tuple[str, frozenset[tuple[int, int]]], ...]
    faults: frozenset[tuple[int, int]]
    begins: frozenset[int]
    goal: frozenset[int]
    most: int
    stable: bool

    def text(self) -> str:
        actions = [
            f"{fair} action a{i}(e in {coded(edges)}) {{ require s == e / {WIDE}  s := e % {WIDE} }}"
            for i, (fair, edges) in enumerate(self.actions)
        ]
        return "\n".join(
            [
                "protocol random nat N state { s: N = 0 }",
                *actions,
                f"fault f(e in {coded(self.faults)}) {{ require s == e / {WIDE}  s := e % {WIDE} }}",
                self.claim(),
                f"check all {{ scope N = {STATES - 1} faults <= {self.most} }}",
            ]
        )

    def claim(self) -> str:
        """The property: the same again and again when a run begins to wait everywhere."""
        goal = f"s in {{ {listed(self.goal)} }}"
        if self.stable:
            return f"eventually always p: {goal}"
        if len(self.begins) == STATES:
            return f"always eventually p: {goal}"
        return f"leadsto p: s in {{ {listed(self.begins)} }} ~> {goal}"


def coded(edges: frozenset[tuple[int, int]]) -> str:
    return "{ " + listed(frozenset(WIDE * a + b for a, b in edges)) + " }"


def listed(numbers: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(numbers | {WIDE * WIDE})))


def is_home(toy: Toy, states: tuple[int, ...], *, at_all: bool) -> bool:
    """Whether a fair run can visit just these states for ever, all of them again and again."""
    inside = {(a, b) for _, edges in toy.actions for a, b in edges if a in states and b in states and a != b}
    if (set(states) & toy.goal and not toy.stable) or any(reach(inside, a) != set(states) for a in states):
        return False
    for fair, edges in toy.actions:
        taken = any(a != b and a in states and b in states for a, b in edges)
        possible = [any(a == s and b != s and (at_all or b < STATES) for a, b in edges) for s in states]
        if not taken and ((fair == "fair" and all(possible)) or (fair == "strong fair" and any(possible))):
            return False
    return True


def reach(edges: set[tuple[int, int]], start: int) -> set[int]:
    found, before = {start}, set[int]()
    while found != before:
        before = found
        found = found | {b for a, b in edges if a in found}
    return found


def homes(toy: Toy, *, at_all: bool) -> set[int]:
    sets = chain.from_iterable(combinations(range(STATES), size) for size in range(1, STATES + 1))
    return {state for states in sets if is_home(toy, states, at_all=at_all) for state in states} - toy.goal


def waiting(toy: Toy, most: int) -> Iterator[tuple[int, int, int]]:
    """All (faults, steps, state) of runs that are waiting, shortest first for each number of faults."""
    free = {(a, b) for _, edges in toy.actions for a, b in edges if b < STATES}
    paid = {(a, b) for a, b in toy.faults if b < STATES}

    def waits(state: int, before: bool) -> bool:  # noqa: FBT001 - one bit of a product
        return state not in toy.goal and (before or toy.stable or state in toy.begins)

    now, seen, steps = {(0, 0, waits(0, before=False))}, set[tuple[int, int, bool]](), 0
    while now - seen:
        yield from ((faults, steps, state) for faults, state, pending in sorted(now - seen) if pending)
        seen |= now
        now = {
            (faults + cost, b, waits(b, pending))
            for faults, state, pending in now
            for cost, edges in ((0, free), (1, paid))
            for a, b in edges
            if a == state and faults + cost <= most
        }
        steps += 1


numbers = st.integers(0, STATES - 1)
edges = st.frozensets(st.tuples(numbers, st.integers(0, STATES)), min_size=1, max_size=8)
toys = st.builds(
    Toy,
    actions=st.lists(st.tuples(st.sampled_from(FAIRNESS), edges), min_size=2, max_size=3).map(tuple),
    faults=st.frozensets(st.tuples(numbers, st.integers(0, STATES)), max_size=3),
    begins=st.one_of(st.frozensets(numbers, min_size=1), st.just(frozenset(range(STATES)))),
    goal=st.frozensets(numbers, max_size=4),
    most=st.integers(0, 2),
    stable=st.booleans(),
)


@settings(max_examples=150, deadline=None)
@given(toys)
def test_it_finds_what_an_enumeration_of_all_sets_of_states_finds(graph: Toy) -> None:
    outcome = run(graph.text())  # which certifies every lasso
    verdict, real = outcome.verdict("p"), homes(graph, at_all=True)
    best = min(((f, n) for f, n, state in waiting(graph, graph.most) if state in real), default=None)

    if best is None:
        assert isinstance(verdict, Holds)
        apparent = homes(graph, at_all=False)
        assert verdict.beyond == len(apparent & {state for _, _, state in waiting(graph, graph.most)})
        more = any(state in real for _, _, state in waiting(graph, STATES + graph.most + 1))
        assert not (more and verdict.extent.faults is None)
    else:
        trace = shown(outcome, "p")
        assert isinstance(trace.ending, Lasso)
        assert best[0] == trace.faults
        assert best[1] <= trace.ending.loop
        assert best[1] == trace.ending.loop or trace.ending.loop == len(trace.steps)


def test_a_long_circle_needs_no_recursion() -> None:
    hours = 2 * sys.getrecursionlimit()
    outcome = run(f"""
        protocol long
        state {{ hour: 0..{hours - 1} = 0, x: bool = false }}
        fair action tick {{ hour := (hour + 1) % {hours} }}
        always eventually never: x
        check day {{ }}
    """)

    assert lasso(outcome, "never") == (["tick"] * hours, 0)
