from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterexamples.compare import ALIGNED, RunComparison, Stretch, compare, is_comparable
from counterexamples.lines import plain
from counterexamples.side_by_side import side_by_side, two_states
from counterexamples.trace import BadState, Example, Stops, Trace
from tests.counterexamples.runs import DIVERGENCE, divergence, toy, walk, wander
from tests.cpu_time import cpu_seconds

WIDTH = 100
OTHER = (
    *("elect(a)", "write(a)", "ask(b)", "elect(b)", "crash(a)", "restart(a)"),
    "net.drop(Fetch(from = b, at = 0))",
)


def told(found: RunComparison) -> str:
    return plain(side_by_side(found, ("a.itf.json", "b.itf.json"), WIDTH))


def other() -> Trace:
    return walk(*OTHER)


def long(count: int) -> Trace:
    """A long run: a crashes and restarts for ever."""
    again = ["crash(a)", "restart(a)"] * (count // 2)
    return walk(*again, ending=Stops(), prop=None)


def test_runs_are_aligned_by_their_steps() -> None:
    found = compare(divergence(), other())

    assert found.common == 3
    assert found.stretches == (
        Stretch(range(4, 4), range(4, 5), same=False),
        Stretch(range(4, 5), range(5, 6), same=True),
        Stretch(range(5, 6), range(6, 7), same=False),
        Stretch(range(6, 7), range(7, 8), same=True),
        Stretch(range(7, 8), range(8, 8), same=False),
    )


def test_what_differs_where_they_part_is_told_by_place() -> None:
    found = compare(divergence(), other())

    assert [change.path for change in found.parted or ()] == [
        *("leader", "epoch", "lease.owner", "lease.epoch", "seen[b]", "a.up")
    ]
    assert found.ends == ()


def test_a_run_and_its_beginning_differ_in_nothing_until_one_ends() -> None:
    found = compare(divergence(), walk(*DIVERGENCE[:4]))

    assert (found.common, found.parted) == (4, ())
    assert found.ends


def test_runs_of_other_scopes_are_compared_by_their_steps_only() -> None:
    wider = divergence()
    wider = replace(wider, scope=replace(wider.scope, sorts={"Replica": ("a", "b", "c")}))
    found = compare(divergence(), wider)

    assert not is_comparable(divergence(), wider)
    assert (found.same_steps, found.parted, found.ends) == (True, None, None)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 30))
def test_the_stretches_go_through_all_steps_in_order(first: int, second: int, length: int) -> None:
    runs = wander(toy(), length, first), wander(toy(), 30 - length, second)
    found = compare(*runs)
    for side, run in zip(("first", "second"), runs, strict=True):
        numbers = [number for stretch in found.stretches for number in getattr(stretch, side)]

        assert numbers == list(range(found.common + 1, len(run.steps) + 1))
    for stretch in found.stretches:
        if stretch.same:
            pairs = zip(stretch.first, stretch.second, strict=True)
            assert all(runs[0].steps[a - 1] == runs[1].steps[b - 1] for a, b in pairs)


SIDES: dict[str, Callable[[], RunComparison]] = {
    "parted": lambda: compare(divergence(), other()),
    "beginning": lambda: compare(divergence(), walk(*DIVERGENCE[:2], ending=Stops(), prop=None)),
    "same": lambda: compare(divergence(), divergence()),
    "at-once": lambda: compare(walk("elect(a)", ending=Stops()), walk("elect(b)", ending=Stops())),
    "no-step": lambda: compare(walk(ending=Stops()), walk(ending=Stops())),
    "other-start": lambda: compare(
        walk("elect(a)", ending=Stops()),
        replace(walk("elect(a)", ending=Stops()), states=walk("crash(b)", "elect(a)").states[1:]),
    ),
    "other-ending": lambda: compare(
        walk("elect(a)", "elect(b)", "elect(a)", ending=Example(), prop="third"),
        walk("elect(a)", "write(a)", "elect(b)", ending=BadState()),
    ),
    "long": lambda: compare(long(20), walk(*["crash(a)", "restart(a)"] * 8, "crash(b)", ending=Stops())),
}


@pytest.mark.parametrize("name", SIDES)
def test_two_runs_side_by_side_read_as_reviewed(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"traces/compared/{name}.txt", told(SIDES[name]()))


def test_two_states_of_a_run_read_as_reviewed(golden: Callable[[str, str], None]) -> None:
    run = divergence()
    golden("traces/compared/two-states.txt", plain(two_states(run, 2, run, 5, WIDTH)))


def test_two_states_of_two_runs_read_as_reviewed(golden: Callable[[str, str], None]) -> None:
    golden("traces/compared/a-state-of-each.txt", plain(two_states(divergence(), 4, other(), 5, WIDTH)))


def test_of_long_runs_only_so_much_is_aligned() -> None:
    """To align all of it takes the square of its steps."""
    short, long = ((wander(toy(), steps, 1), wander(toy(), steps, 2)) for steps in (300, 3_000))
    found = compare(*long)
    text = told(found)

    assert cpu_seconds(lambda: told(compare(*long))) < 30 * cpu_seconds(lambda: told(compare(*short)))
    assert sum(len(stretch.first) for stretch in found.stretches) == ALIGNED
    assert f"{3_000 - found.common - ALIGNED:,} more steps of the first" in text
