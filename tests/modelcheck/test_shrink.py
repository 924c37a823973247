"""Smaller runs that end in the same way: that nothing more can go, and what becomes of real ones."""

from __future__ import annotations

import io
import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from counterexamples.certify import NotReplayable, certify
from counterexamples.itf.write import write
from counterexamples.trace import BadState, Erred, Stops, Trace
from modelcheck import cli
from modelcheck.answers.progress import ProgressLine
from modelcheck.api import check, traces
from modelcheck.asking.overrides import Overrides, apply
from modelcheck.contract.report import Event, Shrinking, Silent
from modelcheck.contract.result import Violated
from modelcheck.diagnosis.scopes import without_member
from modelcheck.diagnosis.shrink import ShowsNothing, ShrinkEnd, Shrunk, shrink
from modelcheck.search.simulate import RandomRuns
from spec.load import load, loads
from spec.meaning.semantics import Machine, Step, Taken
from spec.model.ir import Budget, Check, Scope
from spec.source import Span
from tests.partial_runs import random_traces, random_walks, shown_in, still_shown

ROOT = Path(__file__).parent.parent.parent
KAFKA = ROOT / "spec/protocols/kafka.rsm"
KISR = ROOT / "spec/protocols/kisr.rsm"


def names(trace: Trace) -> list[str]:
    machine = Machine(trace.model, trace.scope)
    return [machine.name(step) for step in trace.steps]


def first(path: Path, check_name: str, seed: int, scope: tuple[str, ...], faults: str = "any") -> Trace:
    """What a random run finds first."""
    model, asked = next((m, c) for m in load(path) for c in m.checks if c.name == check_name)
    outcome = check(
        model, apply(model, asked, Overrides(scope, (), faults)), engine=RandomRuns(3000, seed, 200)
    )
    return next(iter(traces(outcome.findings)))


def walk(text: str, *steps: str, prop: str) -> Trace:
    """The run of a model that takes the steps of these names, to a state where a property is false."""
    (model,) = loads(text)
    machine = Machine(model, model.checks[0].scope)
    states, taken = [machine.initial()[0]], list[Step]()
    for name in steps:
        found = {machine.name(s.step): s for s in machine.steps(states[-1]) if isinstance(s, Taken)}
        assert name in found, f"{name} is none of {sorted(found)}"
        states.append(found[name].state)
        taken.append(found[name].step)
    return Trace(model, machine.scope, tuple(states), tuple(taken), BadState(), prop)


# --------------------------------------------------------------------- minimal


def could_go(trace: Trace) -> Iterator[str]:
    """What can be taken out of a trace, by NOTE(minimal), as the semantics alone see it."""
    for number in range(len(trace.steps)):
        if still_shown(trace, trace.steps[:number] + trace.steps[number + 1 :]):
            yield f"step {number + 1}"
    yield from could_go_from_scope(trace)


def could_go_from_scope(trace: Trace) -> Iterator[str]:
    for scope, what in smaller_scopes(trace.scope):
        if shown_in(trace, scope):
            yield what


def smaller_scopes(scope: Scope) -> Iterator[tuple[Scope, str]]:
    for sort, members in scope.sorts.items():
        for member in members if len(members) > 1 else ():
            left = tuple(name for name in members if name != member)
            yield replace(scope, sorts={**scope.sorts, sort: left}), f"{sort} {member}"
    for name, bound in scope.nats.items():
        if bound > 0:
            yield replace(scope, nats={**scope.nats, name: bound - 1}), name
    for name, bound in scope.networks.items():
        if bound > 0:
            yield replace(scope, networks={**scope.networks, name: bound - 1}), name


@pytest.mark.parametrize("first_seed", range(0, 30, 10))
def test_nothing_more_can_go_from_random_runs_of_random_models(first_seed: int) -> None:
    seen, gone = Counter[str](), Counter[str]()
    for seed in range(first_seed, first_seed + 10):
        for trace in (*random_traces(seed), *random_walks(seed)):
            shrunk = shrink(trace)
            inside = shrink(trace, same_scope=True)

            assert shrunk.is_minimal
            assert inside.is_minimal
            assert list(could_go(shrunk.trace)) == [], (seed, trace.ending)
            assert [what for what in could_go(inside.trace) if what.startswith("step")] == [], (
                seed,
                trace.ending,
            )
            assert is_smaller(shrunk, trace)
            assert inside.trace.scope == trace.scope
            seen[type(trace.ending).__name__] += 1
            gone["steps"] += shrunk.steps_gone > 0
            gone["faults"] += shrunk.faults_gone > 0
            gone["members"] += bool(shrunk.members_gone)
            gone["bounds"] += bool(shrunk.bounds_lowered)
            gone["some stays"] += len(inside.trace.steps) > 2
    assert len(seen) >= 6, seen
    assert min(gone.values()) >= 5, gone


def is_smaller(shrunk: Shrunk, trace: Trace) -> bool:
    """Whether the result is certified, shows the same and has nothing that the trace does not have."""
    small = shrunk.trace
    certify(small)
    same = (type(small.ending), small.property) == (type(trace.ending), trace.property)
    if isinstance(small.ending, Erred) and isinstance(trace.ending, Erred):
        same = same and (small.ending.code, small.ending.span) == (trace.ending.code, trace.ending.span)
    actions = Counter(step.action for step in small.steps) <= Counter(step.action for step in trace.steps)
    return same and actions and shrunk.before == trace


def test_the_judge_sees_what_could_go() -> None:
    trace = first(KISR, "seeded_bug", 42, ())

    assert {what for what in could_go(trace) if what.startswith("step")}
    assert list(could_go(shrink(trace).trace)) == []


@pytest.mark.parametrize("seed", range(3))
def test_shrinking_twice_is_shrinking_once(seed: int) -> None:
    for trace in (*random_traces(seed), *random_walks(seed), first(KISR, "seeded_bug", seed, ())):
        once = shrink(trace)
        twice = shrink(once.trace)

        assert twice.trace == once.trace
        assert (twice.steps_gone, twice.faults_gone, twice.members_gone, twice.bounds_lowered) == (
            0,
            0,
            {},
            {},
        )


def test_the_same_trace_gives_the_same_result() -> None:
    trace = first(KISR, "seeded_bug", 1, ())

    one, other = shrink(trace), shrink(trace)

    assert (one.trace, one.tried) == (other.trace, other.tried)


# ---------------------------------------------------------------- real models


@pytest.mark.parametrize("seed", range(3))
def test_a_random_run_of_kafka_that_loses_a_record_comes_near_the_shortest_of_all(seed: int) -> None:
    trace = first(KAFKA, "jepsen", seed, ("Broker=4", "Epoch=9", "Offset=5", "Record=5"))

    shrunk = shrink(trace)

    least = shortest(shrunk.trace)
    small = shrunk.trace.faults, len(shrunk.trace.steps)
    assert len(trace.steps) > 15
    assert least <= small <= (least[0], least[1] + 3)  # by another way to lose it, of which no step can go
    assert shrunk.trace.scope.nats["Record"] == 1
    assert list(could_go(shrunk.trace)) == []


def shortest(trace: Trace) -> tuple[int, int]:
    """The fewest faults, then steps, that end as a trace does, in its scope: by the engine."""
    only = (trace.property or "",)
    asked = Check("least", trace.scope, Budget(trace.faults), only, (), None, span=Span(0, 0))
    verdict = check(trace.model, asked).verdict(only[0])
    assert isinstance(verdict, Violated)
    assert verdict.trace is not None
    return verdict.trace.faults, len(verdict.trace.steps)


def long_walk(length: int, seed: int = 1) -> Trace:
    """A random run of kafka in a wide scope that loses an acknowledged record by its last step only."""
    model, asked = next((m, c) for m in load(KAFKA) for c in m.checks if c.name == "jepsen")
    scope = apply(model, asked, Overrides(("Broker=5,Epoch=9999,Offset=30,Record=60",), (), "any")).scope
    machine, prop = Machine(model, scope), model.property("acknowledged_survive")
    chance = Random(seed)  # noqa: S311 - no secret
    states, steps = [chance.choice(machine.initial())], list[Step]()
    while machine.holds(prop, states[-1]):
        found = [each for each in machine.steps(states[-1]) if isinstance(each, Taken)]
        harmless = [each for each in found if len(steps) >= length or machine.holds(prop, each.state)]
        taken = chance.choice(harmless or found)
        states.append(taken.state)
        steps.append(taken.step)
    return Trace(model, scope, tuple(states), tuple(steps), BadState(), prop.name, asked.name)


def test_four_thousand_steps_shrink() -> None:
    trace = long_walk(4_000)

    shrunk = shrink(trace, seconds=1000)

    assert len(trace.steps) >= 4_000
    assert shrunk.is_minimal
    assert (shrunk.trace.faults, len(shrunk.trace.steps)) <= (3, 9)


# ------------------------------------------------------------- limits and refusals


def test_a_limit_of_time_ends_it_with_the_smallest_run_so_far() -> None:
    trace = first(KISR, "seeded_bug", 42, ())

    shrunk = shrink(trace, seconds=1e-9)

    assert shrunk.stopped is ShrinkEnd.SECONDS
    assert not shrunk.is_minimal
    assert shrunk.trace == trace


def test_an_interrupt_ends_it_with_the_smallest_run_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    class Impatient(Silent):
        """Somebody who presses Ctrl-C as soon as there is something smaller."""

        def __init__(self) -> None:
            self.last: Shrinking | None = None

        def tell(self, event: Event) -> None:
            assert isinstance(event, Shrinking)
            self.last = event
            if event.steps < len(trace.steps):
                raise KeyboardInterrupt

    monkeypatch.setattr("modelcheck.diagnosis.shrink.QUIET", 0)
    person = Impatient()
    trace = long_walk(200)

    shrunk = shrink(trace, reporter=person)

    assert person.last is not None
    assert (person.last.tried, person.last.steps) == (shrunk.tried, len(shrunk.trace.steps))
    assert shrunk.stopped is ShrinkEnd.INTERRUPTED
    assert shrunk.steps_gone > 0


def test_what_claims_nothing_cannot_become_smaller() -> None:
    trace = walk(LAMPS, "light(a)", "light(b)", prop="one")

    with pytest.raises(ShowsNothing):
        shrink(replace(trace, ending=Stops(), property=None))


def test_what_is_no_run_of_the_model_is_refused() -> None:
    trace = walk(LAMPS, "light(a)", "light(b)", prop="one")

    with pytest.raises(NotReplayable, match="the initial state"):
        shrink(replace(trace, states=(*trace.states[1:], trace.states[-1])))


# ------------------------------------------------------------ the command line


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """A random run of kisr that is longer than it needs to be."""
    path = tmp_path / "long.itf.json"
    path.write_text(write(first(KISR, "seeded_bug", 42, ())), encoding="utf-8")
    return path


def cli_run(capsys: pytest.CaptureFixture[str], *args: str | Path) -> tuple[int, str, str]:
    code = cli.main([str(each) for each in args])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command_tells_what_went_and_the_story_and_writes_it(
    capsys: pytest.CaptureFixture[str], long: Path, tmp_path: Path
) -> None:
    short = tmp_path / "short.itf.json"

    code, out, err = cli_run(capsys, "trace", "shrink", long, KISR, "--out", short)
    again, same, _ = cli_run(capsys, "trace", "shrink", short, KISR)

    assert (code, again) == (0, 0)
    assert err == f"modelcheck: wrote {short}\n"
    assert "    shrunk     from " in out
    assert "    minimal    no single step, fault, member or bound can go; " in out
    assert "\nstrong_isr is violated in " in out
    assert same.partition("\n\n")[2] == out.partition("\n\n")[2]
    assert "from" not in same.splitlines()[0]


def test_the_command_may_leave_the_scope_alone(capsys: pytest.CaptureFixture[str], long: Path) -> None:
    code, out, _ = cli_run(capsys, "trace", "shrink", long, KISR, "--same-scope")

    assert code == 0
    assert "    minimal    no single step can go; " in out
    assert "    scope  " not in out


def test_the_command_says_when_time_is_up(capsys: pytest.CaptureFixture[str], long: Path) -> None:
    code, out, _ = cli_run(capsys, "trace", "shrink", long, KISR, "--max-time", "0.000001")

    assert code == 3
    assert "    partial    the limit of time is reached, so more may go; " in out


def test_a_trace_that_claims_nothing_needs_a_property(capsys: pytest.CaptureFixture[str], long: Path) -> None:
    whole = json.loads(long.read_text(encoding="utf-8"))
    whole["#meta"]["modelcheck"] |= {"ending": {"kind": "stops"}, "property": None}
    long.write_text(json.dumps(whole), encoding="utf-8")

    code, _, err = cli_run(capsys, "trace", "shrink", long, KISR)
    found, out, _ = cli_run(capsys, "trace", "shrink", long, KISR, "--property", "strong_isr")
    missed, _, miss = cli_run(capsys, "trace", "shrink", long, KISR, "--property", "committed_agree")

    assert (code, found, missed) == (2, 0, 2)
    assert "error[R0808]: the trace claims nothing that a smaller one could show as well" in err
    assert "strong_isr" in err.partition("help: it shows ")[2]
    assert "\nstrong_isr is violated in " in out
    assert "error[R0808]: nothing in the trace shows `committed_agree`" in miss


def test_what_is_no_run_is_refused_on_the_command_line(
    capsys: pytest.CaptureFixture[str], long: Path
) -> None:
    whole = json.loads(long.read_text(encoding="utf-8"))
    del whole["states"][3]
    long.write_text(json.dumps(whole), encoding="utf-8")

    for more in ((), ("--property", "strong_isr")):
        code, _, err = cli_run(capsys, "trace", "shrink", long, KISR, *more)

        assert code == 2
        assert "error[R0807]" in err
        assert "this is not a run of counted: step 3: " in err


def test_random_runs_are_shrunk_on_demand(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "found.itf.json"
    asked = (
        "check",
        KISR,
        "--check",
        "seeded_bug",
        "--property",
        "strong_isr",
        "--simulate",
        "3000",
        "--seed",
        "42",
    )

    code, out, _ = cli_run(capsys, *asked, "--shrink", "--itf", path)
    _, plain, _ = cli_run(capsys, *asked)
    refused, _, err = cli_run(capsys, "check", KISR, "--check", "seeded_bug", "--shrink")

    assert code == 1
    card, _, rest = out.partition("\n\n")
    assert card.partition("engine")[0] == plain.partition("engine")[0]
    assert rest.startswith("    shrunk     from ")
    assert cli_run(capsys, "trace", "shrink", path, KISR)[1].splitlines()[1].startswith("    minimal")
    assert (refused, "--simulate N" in err) == (2, True)


def test_the_line_of_progress_says_how_small_it_is() -> None:
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

    stream = Terminal()
    ProgressLine(stream, "kafka · shrinking", columns=200).tell(Shrinking(1, 12, 3000, 6.0))

    assert stream.getvalue().endswith(
        "kafka · shrinking · down to 1 fault in 12 steps · 3,000 smaller runs · 500/s · 6.0 s"
    )


def test_the_readme_shows_what_the_command_says(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    in_document: Callable[[Path, str, str], None],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("COLUMNS", raising=False)
    page = ROOT / "docs/how-to/understand-a-violation.md"
    text = page.read_text(encoding="utf-8")
    blocks = [part.partition("```")[0] for part in text.split("```console\n")[1:]]
    block = next(each for each in blocks if "modelcheck" in each and "shrink " in each)
    first_, second, *shown = block.splitlines()
    paths = {name: str(tmp_path / name) for name in ("long.itf.json", "short.itf.json")}

    codes = []
    for line in (first_, second):
        prompt, program, *words = shlex.split(line)
        assert (prompt, program) == ("$", "modelcheck")
        codes.append(cli_run(capsys, *(paths.get(word, word) for word in words)))

    assert [code for code, _, _ in codes] == [1, 0]
    told = codes[1][1].splitlines()[: len(shown)]
    in_document(page, "\n".join(shown), "\n".join(told))


# --------------------------------------------------------------------- parts

LAMPS = """
protocol lamps
sort Lamp
nat N
config first: Lamp? = none
state { lit: set[Lamp] = {}, n: N = 0, power: bool = true, swaps: 0..9 = 0 }
action light(l: Lamp) { require power  lit.add(l) }
action light_any { require power  choose l: Lamp  lit.add(l) }
action add { n := n + 1 }
fault cut { require power  power := false  lit := {} }
fault swap(l: Lamp) { lit := {l}  swaps := swaps + 1 }
repair restore { require not power  power := true }
invariant one: size(lit) < 2
invariant few: n < 3
invariant low: swaps < 3 and size(lit) + swaps < 3
check all { scope Lamp = {a, b, c, d}, N = 9  faults any }
"""


def test_faults_go_first_then_members_and_bounds_and_steps() -> None:
    steps = ("light(d)", "cut", "add", "restore", "light(c)", "add", "light(c)", "light(b)")

    shrunk = shrink(walk(LAMPS, *steps, prop="one"))

    assert names(shrunk.trace) == ["light(a)", "light(b)"]
    assert (shrunk.faults_gone, shrunk.steps_gone) == (1, 6)
    assert shrunk.members_gone == {"Lamp": 2}
    assert shrunk.bounds_lowered == {"N": (9, 0)}
    assert shrunk.trace.scope.sorts == {"Lamp": ("a", "b")}


def test_a_bound_is_as_low_as_the_run_needs() -> None:
    shrunk = shrink(walk(LAMPS, "add", "light(a)", "add", "add", prop="few"))

    assert names(shrunk.trace) == ["add", "add", "add"]
    assert shrunk.bounds_lowered == {"N": (9, 3)}
    assert shrunk.members_gone == {"Lamp": 3}


def test_choices_become_simple_where_they_do_not_matter() -> None:
    steps = ("light_any | l = d", "light_any | l = c")

    shrunk = shrink(walk(LAMPS, *steps, prop="one"), same_scope=True)

    assert names(shrunk.trace) == ["light_any | l = a", "light_any | l = b"]


def test_another_member_takes_the_part_of_one_that_goes() -> None:
    text = LAMPS.replace("invariant one: size(lit) < 2", "invariant one: swaps < 2 or lit == {}")

    shrunk = shrink(walk(text, "swap(c)", "swap(a)", prop="one"))

    assert names(shrunk.trace) == ["swap(a)", "swap(a)"]
    assert shrunk.members_gone == {"Lamp": 3}


def test_a_member_that_a_setting_names_stays() -> None:
    trace = walk(LAMPS, "light(a)", "light(c)", prop="one")
    there = replace(trace, scope=replace(trace.scope, config={"first": 2}))

    shrunk = shrink(there)

    assert shrunk.trace.scope.config == {"first": 1}
    assert shrunk.trace.scope.sorts == {"Lamp": ("a", "b")}
    assert shrunk.before.scope.sorts == {"Lamp": ("a", "b", "c", "d")}


def test_an_assumption_keeps_a_scope_from_becoming_too_small() -> None:
    text = LAMPS.replace(
        "check all", "assume enough: size({l for l: Lamp}) > 2 and (exists i: N. i == 4)\ncheck all"
    )

    shrunk = shrink(walk(text, "light(a)", "light(c)", prop="one"))

    assert shrunk.trace.scope.sorts == {"Lamp": ("a", "b", "c")}
    assert shrunk.trace.scope.nats == {"N": 4}


VALUES = """
protocol values
sort S
record Pair { s: S, n: 0..1 }
union U { One(s: S)  Two(all: set[S]) }
fun maybe(s: S): S? = s
state { x: 0..1 = 0 }
action pick(v in DOMAIN) { x := 1 }
invariant zero: x == 0
check all { scope S = {a, b, c} }
"""
MAP = "[a -> true, b -> false, c -> true]"


@pytest.mark.parametrize(
    ("domain", "name", "without_c", "without_a"),
    [
        ("S", "c", None, "b"),
        ("S", "b", "b", "a"),
        ("{maybe(s) for s: S}", "c", None, "b"),
        ("subsets(S)", "{a, c}", "{a}", "{b}"),
        ("{Pair(s, 1) for s: S}", "Pair(s = c, n = 1)", None, "Pair(s = b, n = 1)"),
        ("{Two(some) for some in subsets(S)}", "Two(all = {b, c})", "Two(all = {b})", "Two(all = {a, b})"),
        ("{One(s) for s: S}", "One(s = b)", "One(s = b)", "One(s = a)"),
        ("{(s, 1) for s: S}", "(c, 1)", None, "(b, 1)"),
        ("{[s, s] for s: S}", "[c, c]", "[]", "[b, b]"),
        (
            "{[s: S -> s in some] for some in subsets(S)}",
            MAP,
            "[a -> true, b -> false]",
            "[a -> false, b -> true]",
        ),
    ],
)
def test_values_lose_a_member_and_those_behind_it_move_up(
    domain: str, name: str, without_c: str | None, without_a: str | None
) -> None:
    trace = walk(VALUES.replace("DOMAIN", domain), f"pick({name})", prop="zero")

    assert [left(trace, 2), left(trace, 0)] == [without_c, without_a]


def left(trace: Trace, member: int) -> str | None:
    """The parameter of the one step, without a member."""
    less = without_member(trace, "S", member)
    assert less is not None
    scope, (step,) = less
    assert scope.sorts == {"S": ("a", "b")}
    return None if step is None else Machine(trace.model, scope).name(step)[len("pick(") : -1]
