"""Toy machines whose states, transitions and levels were counted by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from counterexamples.trace import BadAssert, BadState, BadStep, Deadlocked, Erred, Trace, Trapped
from modelcheck.api import Unmet, Unsupported, check
from modelcheck.contract.engine import Limits
from modelcheck.contract.report import Event, LayerDone, RunFound
from modelcheck.contract.result import End, Findings, Holds, Outcome, Unknown, Violated
from spec.load import loads
from spec.meaning.semantics import Machine, State
from spec.model.ir import Check, Model


def toy(text: str) -> tuple[Model, Check]:
    """The first model of a text, and its only check."""
    model = loads(text)[0]
    return model, model.checks[0]


def run(text: str, limits: Limits | None = None) -> Outcome:
    model, only = toy(text)
    return check(model, only, engine="reference", limits=limits)


def counts(findings: Findings) -> tuple[int, int, int]:
    return findings.stats.states, findings.stats.transitions, findings.stats.levels


def names(trace: Trace | None) -> list[str]:
    assert trace is not None
    machine = Machine(trace.model, trace.scope)
    return [machine.name(step) for step in trace.steps]


def violated(outcome: Outcome, name: str) -> Trace:
    verdict = outcome.verdict(name)
    assert isinstance(verdict, Violated)
    assert verdict.trace is not None
    return verdict.trace


# ------------------------------------------------------------------ plain graphs

CLOCK = """
protocol clock
state { hour: 0..11 = 0 }
action tick { hour := (hour + 1) % 12 }
invariant in_range: hour < LIMIT
reachable noon: hour == 6
check day { expect states 12, transitions 12, levels 12, taken tick 12, cut 0 }
"""


def test_a_clock_comes_round() -> None:
    outcome = run(CLOCK.replace("LIMIT", "12"))

    assert counts(outcome.findings) == (12, 12, 12)
    assert outcome.findings.end is End.COMPLETE
    assert outcome.mismatches == ()
    assert isinstance(outcome.verdict("in_range"), Holds)


def test_a_reachable_state_comes_with_its_example() -> None:
    verdict = run(CLOCK.replace("LIMIT", "12")).verdict("noon")

    assert isinstance(verdict, Holds)
    assert names(verdict.example) == ["tick"] * 6


def test_what_is_never_reached_is_violated_without_a_run() -> None:
    verdict = run(CLOCK.replace("LIMIT", "12").replace("hour == 6", "hour == 12")).verdict("noon")

    assert isinstance(verdict, Violated)
    assert verdict.trace is None


def test_a_violation_that_nothing_expects_is_a_mismatch() -> None:
    outcome = run(CLOCK.replace("LIMIT", "9"))

    assert names(violated(outcome, "in_range")) == ["tick"] * 9
    assert [m.found for m in outcome.mismatches] == ["violated with 0 faults in 9 steps"]
    assert outcome.findings.end is End.COMPLETE  # the counts are asked for, so it goes on


def test_equal_steps_count_and_so_do_steps_that_change_nothing() -> None:
    outcome = run("""
        protocol twice
        state { x: 0..1 = 0 }
        action put(i in {1, 2}) { x := 1 }
        action stay { }
        check all { expect states 2, transitions 6, levels 2, taken put 4, taken stay 2 }
    """)

    assert outcome.mismatches == ()


def test_a_cut_step_is_no_transition() -> None:
    outcome = run("""
        protocol counter
        nat N, M
        state { n: N = 0, m: M = 0 }
        action up { n := n + 1 }
        action over { m := m + 1 }
        deadlock free
        check small { scope N = 2, M = 1  expect states 6, transitions 7, levels 4, cut 5 }
    """)

    assert outcome.mismatches == ()
    assert outcome.findings.stats.cut == {"M": 3, "N": 2}
    assert [result.verdict.__class__ for result in outcome.findings.results] == [Holds]


def test_unused_actions_and_idle_guards_are_told() -> None:
    stats = run("""
        protocol idle
        state { x: 0..2 = 0 }
        action go { require more: x < 2  require always: x >= 0  x := x + 1 }
        action never { require no: x > 2 }
        check all { }
    """).findings.stats

    assert stats.unused == ("never",)
    assert stats.unrefused == (("go", "always"),)


# ----------------------------------------------------------------------- layers

LAMPS = """
protocol lamps
sort Lamp
process Lamp { durable on: bool = true }
state { dark: 0..9 = 0 }
fault break(l: Lamp) { require l.on  l.on := false }
repair mend(l: Lamp) { require not l.on  l.on := true }
action look { dark := size({l: Lamp where not l.on}) }
invariant light: exists l: Lamp. l.on
invariant few: dark < 2
check all { scope Lamp = 3  faults FAULTS  EXPECT }
"""


def lamps(faults: str, expect: str = "") -> Outcome:
    return run(LAMPS.replace("FAULTS", faults).replace("EXPECT", expect))


def test_no_faults_is_one_layer_and_one_fault_two() -> None:
    none, one = lamps("none", "expect states 1").findings, lamps("<= 1", "expect states 8").findings

    # One lamp broken or none × looked at or not: (0, 0), (1 of 3, 0), (1 of 3, 1), (0, 1).
    assert counts(none) == (1, 1, 1)
    assert [(layer.new, layer.states) for layer in one.stats.layers] == [(1, 1), (7, 8)]
    # look in all 8, mend in the 6 with a broken lamp, break in the one of layer 0.
    assert counts(one) == (8, 8 + 6 + 3, 4)


def test_the_first_violation_has_the_fewest_faults_then_the_fewest_steps() -> None:
    outcome = lamps("<= 3")

    assert names(violated(outcome, "few")) == ["break(lamp1)", "break(lamp2)", "look"]
    assert violated(outcome, "light").faults == 3
    assert outcome.result("few").by_faults[:3] == (True, True, False)
    assert outcome.result("light").by_faults[:4] == (True, True, True, False)


def test_any_number_of_faults_ends_when_a_layer_adds_nothing() -> None:
    outcome = lamps(
        "any", "expect states 32, light violated with 3 faults, few violated with 2 faults in 3 steps"
    )

    assert outcome.mismatches == ()
    assert [layer.faults for layer in outcome.findings.stats.layers] == [0, 1, 2, 3]


TOGGLE = """
protocol toggle
state { up: bool = true, seen: bool = false }
fault crash { require up  up := false }
repair restart { require not up  up := true  seen := true }
invariant fine: true
PROPERTY
check all { faults FAULTS }
"""


@pytest.mark.parametrize(
    ("faults", "proved"), [("any", True), ("<= 2", True), ("<= 1", False), ("none", False)]
)
def test_it_holds_for_any_number_of_faults_when_one_more_adds_nothing(faults: str, *, proved: bool) -> None:
    verdict = run(TOGGLE.replace("FAULTS", faults).replace("PROPERTY", "")).verdict("fine")

    # 0: up; 1: down, then up and seen; 2: down and seen; the third crash leads nowhere new.
    assert isinstance(verdict, Holds)
    assert (verdict.extent.faults is None) == proved


def test_nothing_is_proved_for_more_faults_when_the_next_one_would_break_a_property_of_steps() -> None:
    text = TOGGLE.replace("PROPERTY", "step once: not (old(seen) and old(up) and not up and LAST)")
    outcome = run(text.replace("FAULTS", "<= 2").replace("LAST", "true"))

    assert names(violated(outcome, "once")) == ["crash", "restart", "crash"]
    assert outcome.result("once").by_faults == (True, True, False)


def test_faults_per_kind_are_part_of_a_state() -> None:
    text = """
        protocol kinds
        state { a: bool = false, b: bool = false }
        fault one { a := true }
        fault two { b := true }
        repair clear { a := false b := false }
        invariant not_both: not (a and b)
        check all { faults one <= 1, two <= 1 EXPECT }
    """
    # Counters (0,0): 1 state; (1,0) and (0,1): 2 each; (1,1): a and b, a, b, none.
    outcome = run(text.replace("EXPECT", "expect states 9, not_both violated with 2 faults in 2 steps"))

    assert outcome.mismatches == ()
    # clear in all 9; one or two: from 1 state both, from 4 states the other.
    assert outcome.findings.stats.transitions == 9 + 2 + 4
    assert outcome.findings.stats.taken == {"one": 3, "two": 3, "clear": 9}


def test_a_kind_that_is_not_listed_does_not_happen() -> None:
    model, only = toy(LAMPS.replace("FAULTS", "any").replace("EXPECT", ""))
    outcome = check(model, replace(only, budget=replace(only.budget, kinds={})))

    assert outcome.findings.stats.states == 1


def test_a_cheaper_run_goes_before_one_found_earlier() -> None:
    outcome = run("""
        protocol late
        nat N
        state { n: N = 0, bad: bool = false }
        action up { n := n + 1 }
        action slip { require n == 5  bad := true }
        fault fall { bad := true }
        step no_fall: not bad
        check all { scope N = 5 faults <= 1 }
    """)

    # The fault breaks it in one step, and is found first; without faults it takes six.
    assert names(violated(outcome, "no_fall")) == ["up"] * 5 + ["slip"]


# ------------------------------------------------------------- kinds of property


def test_an_assert_is_a_property_of_the_step() -> None:
    outcome = run("""
        protocol asserting
        state { x: 0..3 = 0 }
        action go { x := x + 1  assert low: x < 2 }
        check all { }
    """)
    trace = violated(outcome, "low")

    assert isinstance(trace.ending, BadAssert)
    assert names(trace) == ["go", "go"]


def test_a_step_property_is_asked_of_every_step() -> None:
    outcome = run("""
        protocol stepping
        state { x: 0..3 = 0 }
        action up { require x < 3  x := x + 1 }
        repair reset { require x == 2  x := 0 }
        step grows: x >= old(x)
        check all { }
    """)
    trace = violated(outcome, "grows")

    assert isinstance(trace.ending, BadStep)
    assert names(trace) == ["up", "up", "reset"]


def test_a_state_without_any_step_is_a_deadlock() -> None:
    outcome = run("""
        protocol stuck
        state { x: 0..3 = 0 }
        action up { require x < 3  x := x + 1 }
        deadlock free
        check all { }
    """)
    (result,) = outcome.findings.results
    trace = violated(outcome, result.property)

    assert isinstance(trace.ending, Deadlocked)
    assert len(trace.steps) == 3


ENDS = """
    protocol ends
    state {{ x: 0..3 = 0, log: seq[0..3; 1] = [] }}
    action up {{ require x < 2  x := x + 1 }}
    action over {{ require x == 0  x := 3 }}
    deadlock free unless {where}
    check all {{ }}
"""


def test_a_state_in_which_a_run_may_end_is_no_deadlock() -> None:
    (result,) = run(ENDS.format(where="x >= 2")).findings.results

    assert isinstance(result.verdict, Holds)


def test_a_deadlock_is_the_nearest_state_in_which_no_run_may_end() -> None:
    trace = violated(run(ENDS.format(where="x == 3")), "deadlock_free")

    assert names(trace) == ["up", "up"]


def test_where_a_run_may_end_is_asked_of_states_without_steps_alone() -> None:
    error = run(ENDS.format(where="log[x - 2] == 0")).findings.error
    guarded = run(ENDS.format(where="1 / (x / 2) <= 1")).findings

    assert error is not None
    assert error.property == "deadlock_free"
    assert names(error) == ["over"]
    assert guarded.error is None


TRAP = """
protocol trap
nat N
state { open: bool = true, n: N = 0 }
fault jam { require open  open := false  n := n + 1 }
repair free { require not open  require n < WORST  open := true }
action work { require open }
recoverable working: enabled(work)
check all { scope N = SCOPE faults any }
"""


def test_what_can_always_be_mended_is_recoverable() -> None:
    verdict = run(TRAP.replace("WORST", "9").replace("SCOPE", "4")).verdict("working")

    assert isinstance(verdict, Holds)
    assert verdict.beyond == 0


def test_a_state_without_a_way_back_is_found_with_the_fewest_faults() -> None:
    outcome = run(TRAP.replace("WORST", "2").replace("SCOPE", "4"))
    trace = violated(outcome, "working")

    assert isinstance(trace.ending, Trapped)
    assert names(trace) == ["jam", "free", "jam"]
    assert outcome.result("working").by_faults == (True, True, False)


def test_a_state_whose_only_way_leaves_the_scope_is_not_called_trapped() -> None:
    text = TRAP.replace("open := true }", "open := true  n := n + 1 }")
    verdict = run(text.replace("WORST", "9").replace("SCOPE", "1")).verdict("working")

    assert isinstance(verdict, Holds)
    assert verdict.beyond == 1


def test_an_error_of_the_model_ends_the_search_with_its_run() -> None:
    outcome = run("""
        protocol wrong
        state { x: 0..3 = 0 }
        action up { x := x + 1 }
        invariant fine: x < 9
        check all { }
    """)
    error = outcome.findings.error

    assert outcome.findings.end is End.ERROR
    assert error is not None
    assert isinstance(error.ending, Erred)
    assert error.ending.code == "R0601"
    assert names(error) == ["up", "up", "up"]
    assert isinstance(outcome.verdict("fine"), Unknown)


def test_an_error_in_a_property_is_one_too() -> None:
    outcome = run("""
        protocol wrong
        state { x: 0..3 = 2 }
        action down { x := x - 1 }
        invariant fine: 6 / x > 1
        check all { }
    """)
    error = outcome.findings.error

    assert error is not None
    assert error.property == "fine"
    assert names(error) == ["down", "down"]


def test_an_error_that_costs_a_fault_waits_for_what_is_cheaper() -> None:
    text = """
        protocol wrong
        nat N
        state { x: 0..3 = 0, n: N = 0 }
        fault break { x := 4 }
        action up { n := n + 1 }
        invariant low: n < 3
        check all { scope N = 5 faults FAULTS }
    """

    cheap = run(text.replace("FAULTS", "<= 1"))

    assert names(violated(cheap, "low")) == ["up"] * 3
    assert cheap.findings.end is End.DECIDED
    assert run(text.replace("FAULTS", "none").replace("n < 3", "n < 9")).findings.end is End.COMPLETE
    assert run(text.replace("FAULTS", "<= 1").replace("n < 3", "n < 9")).findings.end is End.ERROR


# --------------------------------------------------------------- ends and limits

BIG = """
protocol big
sort Cell
process Cell { durable n: 0..9 = 0 }
action up(c: Cell) { require c.n < 9  c.n := c.n + 1 }
invariant one_is_low: exists c: Cell. c.n < LIMIT
check all { scope Cell = 4 EXPECT }
"""


def test_it_stops_when_everything_is_decided() -> None:
    outcome = run(BIG.replace("LIMIT", "1").replace("EXPECT", ""))

    assert outcome.findings.end is End.DECIDED
    assert outcome.findings.stats.states < 1000
    assert len(violated(outcome, "one_is_low").steps) == 4


def test_it_goes_on_when_counts_are_expected() -> None:
    expect = "expect states 10000, transitions 36000, levels 37, one_is_low violated in 4 steps"
    outcome = run(BIG.replace("LIMIT", "1").replace("EXPECT", expect))

    assert outcome.mismatches == ()
    assert outcome.findings.end is End.COMPLETE


@pytest.mark.parametrize(
    ("limits", "end"),
    [
        (Limits(states=500), End.STATES),
        (Limits(seconds=0.0), End.SECONDS),
        (Limits(memory=1), End.MEMORY),
    ],
)
def test_a_limit_gives_a_partial_outcome_that_says_so(limits: Limits, end: End) -> None:
    outcome = run(BIG.replace("LIMIT", "10").replace("EXPECT", "expect states 10000"), limits)

    assert outcome.findings.end is end
    assert outcome.findings.end.partial
    verdict = outcome.verdict("one_is_low")
    assert isinstance(verdict, Unknown)
    assert verdict.reason == end.value
    assert [mismatch.found for mismatch in outcome.mismatches] == ["the search did not come to an end"]


def test_ctrl_c_gives_what_was_found_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    model, only = toy(BIG.replace("LIMIT", "1").replace("EXPECT", "expect states 10000"))
    encode = Machine.encode

    def impatient(machine: Machine, state: State) -> bytes:
        if sum(map(sum, (row for row in state))) == 6:
            raise KeyboardInterrupt
        return encode(machine, state)

    monkeypatch.setattr(Machine, "encode", impatient)
    outcome = check(model, only, engine="reference")

    assert outcome.findings.end is End.INTERRUPTED
    assert len(violated(outcome, "one_is_low").steps) == 4


def test_a_partial_search_still_says_what_holds_with_fewer_faults() -> None:
    text = LAMPS.replace("FAULTS", "any").replace("EXPECT", "").replace("dark < 2", "true")
    outcome = run(text.replace("Lamp = 3", "Lamp = 7"), Limits(states=100))
    verdict = outcome.verdict("few")

    assert isinstance(verdict, Unknown)
    assert verdict.extent is not None
    assert verdict.extent.faults == 3
    assert outcome.result("few").by_faults == (True,) * 4


class Listener:
    """Keeps every event."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def tell(self, event: Event) -> None:
        self.events.append(event)

    def layers(self) -> Iterator[int]:
        return (event.layer.faults for event in self.events if isinstance(event, LayerDone))


def test_the_reporter_hears_of_layers_and_findings() -> None:
    model, only = toy(LAMPS.replace("FAULTS", "<= 3").replace("EXPECT", ""))
    listener = Listener()
    check(model, only, reporter=listener)

    assert list(listener.layers()) == [0, 1, 2]
    assert RunFound("few", 2, 3) in listener.events


# ---------------------------------------------------------------- before the run


def test_what_the_engine_cannot_do_it_refuses_by_name() -> None:
    model, only = toy("""
        protocol alive
        sort Lamp
        process Lamp { durable lit: bool = false }
        action go(l: Lamp) { l.lit := true }
        always eventually shines: exists l: Lamp. l.lit
        check all { scope Lamp = 2 }
    """)

    with pytest.raises(Unsupported, match="shines up to symmetry"):
        check(model, only, symmetry=True)


def test_a_broken_assumption_stops_before_the_run() -> None:
    model, only = toy("""
        protocol sized
        sort Replica
        state { x: 0..1 = 0 }
        assume odd: size({r: Replica where true}) % 2 == 1
        check all { scope Replica = 4 }
    """)

    with pytest.raises(Unmet, match="odd"):
        check(model, only)


def test_an_unknown_engine_is_a_key_error() -> None:
    model, only = toy(CLOCK.replace("LIMIT", "12"))

    with pytest.raises(KeyError):
        check(model, only, engine="abacus")


def test_the_first_bad_state_may_be_the_first() -> None:
    outcome = run(CLOCK.replace("LIMIT", "0"))

    assert isinstance(violated(outcome, "in_range").ending, BadState)
    assert violated(outcome, "in_range").steps == ()


EARLY = """
protocol early
state { n: 0..9 = 0, m: 0..9 = 0 }
action inc { require n < 4  n := n + 1 }
action wander { require m < 9  m := m + 1 }
action leap { require n == 4  n := 9 }
fault jump { require n == 0  n := 9 }
step small: n <= old(n) + 1
check all { faults <= 1  expect small violated in 5 steps }
"""


def test_a_search_that_ends_early_has_not_seen_that_fewer_faults_would_not_do() -> None:
    model = loads(EARLY)[0]
    outcome = check(model, model.checks[0], engine="explicit", limits=Limits(states=5))
    (result,) = outcome.findings.results
    assert isinstance(result.verdict, Violated)
    assert result.verdict.trace is not None

    assert outcome.findings.end is End.STATES
    assert result.verdict.trace.faults == 1  # though five steps do it without any
    assert not result.verdict.fewest
    assert result.by_faults == ()
    assert not outcome.mismatches
