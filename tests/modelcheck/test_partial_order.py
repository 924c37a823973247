"""Steps that are left for later (NOTE(persistent)): fewer states, the same answers, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from counterexamples.lines import plain
from modelcheck import cli
from modelcheck.answers.card import card
from modelcheck.api import Unsupported, check
from modelcheck.contract.engine import Keep
from modelcheck.contract.result import Holds, Outcome, Violated
from modelcheck.search.accesses import Access, AccessKind, accesses_of, groups_of, parameter_values
from spec.load import load, loads
from spec.model.kinds import OF_STATES

ENGINES = ["reference", "explicit"]
RING = Path(__file__).with_name("ring.rsm")
LOOPS = """
protocol loops
state { a: bool = false, b: 0..2 = 0, c: bool = false }
action turn { a := not a }
action grow { require b < 2  b := b + 1 }
fault fail { c := true }
PROPERTY
check it { faults BUDGET }
"""
ROOM = """
protocol room
state { queue: seq[bool; 1] = [], ready: bool = false, seen: bool = false }
nat Length
init { queue := [true] }
action take(m in head(queue)) { queue := queue[1..] }
action prepare { require not ready  ready := true }
action put { require ready  require not seen  queue.append(false)  seen := true }
invariant fine: true
check it { scope Length = 1 }
"""

TAKEN_AWAY = """
protocol taken_away
state { queue: seq[0..1; 1] = [1], x: 0..1 = 0, ready: bool = false, gone: bool = false, seen: bool = false }
nat Length
action away { require not gone  gone := true }
action prepare { require not ready  ready := true }
KIND match { require ready  require x == 0  x := 1 }
action see(m in head(queue)) { require GUARD  require not gone  seen := true }
reachable found: seen
check it {
  scope Length = 1
  faults BUDGET
}
"""


def outcome(text: str, *, engine: str, **options: object) -> Outcome:
    """What an engine finds for the first check of a text."""
    model = loads(text)[0]
    return check(model, model.checks[0], engine=engine, **options)  # type: ignore[arg-type]


def loops(prop: str, budget: str = "none") -> str:
    """The text with a property and a budget of faults."""
    return LOOPS.replace("PROPERTY", prop).replace("BUDGET", budget)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_ring_takes_as_many_states_as_a_run_has_steps(engine: str) -> None:
    model = load(RING)[0]

    whole, fewer = (
        check(model, model.checks[0], engine=engine, partial_order=each) for each in (False, True)
    )

    assert (whole.findings.stats.states, fewer.findings.stats.states) == (182, 17)
    assert not fewer.mismatches


@pytest.mark.parametrize("threads", [1, 2])
def test_a_ring_of_ten_is_quick_by_any_number_of_threads(threads: int) -> None:
    model = load(RING)[0]

    found = check(model, model.checks[1], engine="explicit", partial_order=True, threads=threads)

    assert found.findings.stats.states == 39
    assert all(isinstance(each.verdict, Holds) for each in found.findings.results)


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_left_for_ever(engine: str) -> None:
    found = outcome(loops("invariant small: b < 2"), engine=engine, partial_order=True)

    assert isinstance(found.verdict("small"), Violated)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_fault_comes_as_early_as_without(engine: str) -> None:
    text = loops("action stop { require b == 2  require not a  b := 0 }\nreachable two: b == 2 and a", "<= 1")
    whole, fewer = (outcome(text, engine=engine, partial_order=each) for each in (False, True))

    faults = [found.trace("two").faults for found in (whole, fewer)]  # type: ignore[union-attr]

    assert faults[0] == faults[1] == 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("guard", ["m == x", "x == 1"])
@pytest.mark.parametrize(("kind", "budget"), [("action", "none"), ("fault", "<= 1")])
def test_what_makes_a_step_possible_may_come_before_what_prevents_it(
    engine: str, guard: str, kind: str, budget: str
) -> None:
    text = TAKEN_AWAY.replace("GUARD", guard).replace("KIND", kind).replace("BUDGET", budget)

    found = outcome(text, engine=engine, partial_order=True)

    assert isinstance(found.verdict("found"), Holds)


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_concluded_of_more_faults_than_the_budget_has(engine: str) -> None:
    text = loops("invariant small: b < 3", "<= 1")

    verdicts = [outcome(text, engine=engine, partial_order=each).verdict("small") for each in (False, True)]

    assert [each.extent.faults for each in verdicts if isinstance(each, Holds)] == [None, 1]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_queue_that_is_too_long_is_an_error_with_and_without(engine: str) -> None:
    ends = [outcome(ROOM, engine=engine, partial_order=each).findings.end for each in (False, True)]

    assert ends[0] is ends[1]
    assert ends[0].name == "ERROR"


def test_a_run_is_not_called_the_shortest() -> None:
    found = outcome(loops("invariant small: b < 2"), engine="explicit", partial_order=True)

    verdict = found.verdict("small")

    assert isinstance(verdict, Violated)
    assert not verdict.fewest
    assert "may have more steps than the shortest" in " ".join(plain(card(found, width=100)).split())


@pytest.mark.parametrize(
    ("prop", "why"),
    [
        ("recoverable back: b == 0", "recoverable back is about whole runs"),
        ("always eventually often: a", "always eventually often is about whole runs"),
        (
            "step moved: old(b) < b",
            "step moved may be broken by a step that changes nothing of what it reads",
        ),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_what_forbids_it_is_told(engine: str, prop: str, why: str) -> None:
    with pytest.raises(Unsupported, match=why):
        outcome(loops(prop), engine=engine, partial_order=True)


def test_a_step_that_only_grows_is_asked(tmp_path: Path) -> None:
    text = loops("step grows: old(b) <= b")

    found = outcome(text, engine="explicit", partial_order=True)

    assert isinstance(found.verdict("grows"), Holds)
    with pytest.raises(Unsupported, match="checkpoints"):
        outcome(text, engine="explicit", partial_order=True, keep=Keep(tmp_path))


@pytest.mark.parametrize("engine", ["bmc", "induction", "ic3"])
def test_solvers_take_no_partial_order(engine: str) -> None:
    with pytest.raises(Unsupported, match="partial-order reduction; --no-partial-order"):
        outcome(loops("invariant small: b < 3"), engine=engine, partial_order=True)


def test_the_command_says_that_it_was_by_partial_order(capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.main(["check", str(RING), "--check", "ten", "--partial-order"])

    told = capsys.readouterr().out

    assert code == 0
    assert "39 states" in told
    assert "by partial order" in told


def test_a_part_is_of_the_whole_and_a_key_that_is_not_known_may_be_any() -> None:
    whole, some, one, other = (Access(0, keys, AccessKind.READ) for keys in ((), (None,), (1,), (2,)))

    assert all(a.meets(b) for a in (whole, some) for b in (whole, some, one, other))
    assert not one.meets(other)
    assert one.meets(Access(0, (1, 2), AccessKind.WRITE))


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("act(m in head(queue)) { queue := queue[1..] }", AccessKind.POP),
        ("act { queue := queue[1..] }", AccessKind.WRITE),
        ("act(m in queue) { queue := queue[1..] }", AccessKind.WRITE),
        ("act(m in head(queue)) { queue := queue[2..] }", AccessKind.WRITE),
        ("act { queue.append(true) }", AccessKind.APPEND),
        ("act { queue := queue + [size(queue) > 0] }", AccessKind.WRITE),
        ("act { queue := [true] + queue }", AccessKind.WRITE),
    ],
)
def test_what_is_done_to_a_queue_is_known(action: str, kind: AccessKind) -> None:
    state = "state { queue: seq[bool; N] = [] }"
    text = f"protocol q\nnat N\n{state}\naction {action}\ncheck it {{ scope N = 2 }}"
    (model,) = loads(text)
    scope = model.checks[0].scope
    (group,) = groups_of(model.actions[0], parameter_values(model.actions[0], model, scope))

    found = accesses_of(group, model, scope).body

    assert kind in {each.kind for each in found}
    assert (kind is AccessKind.WRITE) == (Access(0, (), AccessKind.WRITE) in found)


@pytest.mark.parametrize(
    ("name", "asked"),
    [("chain", "two"), ("chain", "takes_over_too_early"), ("primary_backup", "synchronous")],
)
def test_protocols_are_answered_alike(name: str, asked: str) -> None:
    model = load(Path("spec/protocols") / f"{name}.rsm")[0]
    only = tuple(prop.name for prop in model.properties if prop.kind in OF_STATES)
    question = replace(next(each for each in model.checks if each.name == asked), only=only, expect=())

    whole, fewer = (check(model, question, partial_order=each, threads=1) for each in (False, True))

    said = [[type(each.verdict) for each in found.findings.results] for found in (whole, fewer)]
    assert said[0] == said[1]
