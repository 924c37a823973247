"""Fair runs that never get to a goal: toy machines worked out by hand, and random ones by brute force."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from counterexamples.certify import NotReplayable, certify
from counterexamples.lines import plain
from counterexamples.pictures.compact import compact
from counterexamples.pictures.depict import picture
from counterexamples.text import story
from counterexamples.trace import Lasso, Trace
from modelcheck import cli
from modelcheck.api import Unsupported, check
from modelcheck.contract.engine import Limits, Refusal
from modelcheck.contract.report import Stopped
from modelcheck.contract.result import End, Holds, Outcome, Unknown, Violated
from modelcheck.diagnosis.explain import why
from modelcheck.explicit.search.findings import PackedFindings
from modelcheck.search.liveness import starving
from modelcheck.search.reference import ReferenceEngine
from spec.load import loads
from spec.meaning.semantics import Machine, Taken
from spec.model.ir import Check, Model
from tests.agreement import Found, differences

Golden = Callable[[str, str], None]


def toy(text: str) -> tuple[Model, Check]:
    """The first model of a text, and its only check."""
    model = loads(text)[0]
    return model, model.checks[0]


def run(text: str, limits: Limits | None = None) -> Outcome:
    """What the explicit engine finds, which must be what the reference engine finds."""
    model, only = toy(text)
    ours, theirs = (
        check(model, only, limits=limits, engine=engine, threads=1) for engine in ("explicit", "reference")
    )
    if not theirs.findings.end.partial:
        assert differences(Found(theirs.findings).facts, Found(ours.findings).facts) == {}, text
    return ours


def names(trace: Trace) -> list[str]:
    machine = Machine(trace.model, trace.scope)
    return [machine.name(step) for step in trace.steps]


def lasso(outcome: Outcome, name: str) -> tuple[list[str], int]:
    """The steps of a violation, and the number of the state it comes back to."""
    trace = shown(outcome, name)
    assert isinstance(trace.ending, Lasso)
    return names(trace), trace.ending.loop


def shown(outcome: Outcome, name: str) -> Trace:
    verdict = outcome.verdict(name)
    assert isinstance(verdict, Violated), verdict
    assert verdict.trace is not None
    return verdict.trace


def holds(outcome: Outcome, name: str) -> Holds:
    verdict = outcome.verdict(name)
    assert isinstance(verdict, Holds), verdict
    return verdict


# --------------------------------------------------------------------- fairness

CLOCK = """
protocol clock
state { hour: 0..3 = 0 }
FAIR action tick { hour := (hour + 1) % 4 }
always eventually noon: hour == 2
leadsto round: hour == 3 ~> hour == 1
check day { EXPECT }
"""


def clock(fair: str, expect: str = "") -> Outcome:
    return run(CLOCK.replace("FAIR", fair).replace("EXPECT", expect))


@pytest.mark.parametrize("fair", ["fair", "strong fair"])
def test_a_fair_clock_goes_on(fair: str) -> None:
    assert clock(fair, "expect noon holds, round holds, states 4, transitions 4").mismatches == ()


def test_a_clock_that_is_not_fair_may_stop() -> None:
    outcome = clock("", "expect noon violated in 0 steps, round violated with 0 faults in 3 steps")

    assert outcome.mismatches == ()
    assert lasso(outcome, "noon") == ([], 0)
    assert lasso(outcome, "round") == (["tick"] * 3, 3)


def test_a_state_where_nothing_can_happen_is_stayed_in_for_ever() -> None:
    outcome = run("""
        protocol stuck
        state { x: 0..3 = 0 }
        strong fair action up { require x < 2  x := x + 1 }
        leadsto far: x == 1 ~> x == 3
        leadsto near: x == 0 ~> x == 2
        check all { }
    """)

    assert lasso(outcome, "far") == (["up", "up"], 2)
    assert holds(outcome, "near").beyond == 0


BLINK = """
protocol blink
state { on: bool = false, done: bool = false }
fair action blink { on := not on }
FAIR action finish { require on  done := true }
leadsto ends: not done ~> done
check all { }
"""


def test_weak_fairness_is_not_enough_for_what_is_possible_only_now_and_then() -> None:
    assert lasso(run(BLINK.replace("FAIR", "fair")), "ends") == (["blink", "blink"], 0)


def test_strong_fairness_is_enough_for_what_is_possible_again_and_again() -> None:
    assert holds(run(BLINK.replace("FAIR", "strong fair")), "ends").beyond == 0


def test_strong_fairness_leaves_a_way_round_the_states_where_it_would_bite() -> None:
    outcome = run("""
        protocol choice
        state { place: 0..2 = 0, done: bool = false }
        fair action move { choose to: 0..2 where to != place  place := to }
        strong fair action finish { require place == 2  done := true }
        leadsto ends: place == 2 ~> done
        check all { }
    """)

    # 0 ⇄ 1 never comes to 2; what waits has been there, and gets away by a move.
    assert lasso(outcome, "ends") == (
        ["move | to = 2", "move | to = 0", "move | to = 1", "move | to = 0"],
        2,
    )


def test_two_fair_actions_are_both_on_the_way_round() -> None:
    outcome = run("""
        protocol pair
        state { a: bool = false, b: bool = false, end: bool = false }
        fair action left { a := not a }
        strong fair action right { b := not b }
        action stop { end := true }
        always eventually ended: end
        check all { }
    """)

    # Each alone would go round in two steps and put the other off.
    steps, loop = lasso(outcome, "ended")
    assert (sorted(steps), loop) == (["left", "left", "right", "right"], 0)


def test_a_step_that_changes_nothing_keeps_no_promise_and_breaks_none() -> None:
    outcome = run("""
        protocol idle
        state { x: 0..1 = 0 }
        strong fair action rest { x := x }
        action go { x := 1 }
        leadsto gone: x == 0 ~> x == 1
        check all { }
    """)

    assert lasso(outcome, "gone") == ([], 0)


def test_fairness_is_of_an_action_and_not_of_each_member() -> None:
    text = """
        protocol members
        sort Lamp
        process Lamp { durable lit: bool = false }
        fair action flip(l: Lamp) { l.lit := not l.lit }
        always eventually all_lit: forall l: Lamp. l.lit
        check all { scope Lamp = 2 }
    """
    steps, loop = lasso(run(text), "all_lit")

    assert (len(steps), loop) == (2, 0)
    assert len(set(steps)) == 1


def test_a_repair_may_be_fair() -> None:
    text = """
        protocol mending
        state { up: bool = true }
        fault crash { require up  up := false }
        FAIR repair restart { require not up  up := true }
        always eventually works: up
        check all { faults <= 2 }
    """

    assert holds(run(text.replace("FAIR", "fair")), "works").extent.faults is None
    assert lasso(run(text.replace("FAIR", "")), "works") == (["crash"], 1)


# -------------------------------------------------------------------- stability

UNREST = """
    protocol unrest
    state { n: 0..3 = 0 }
    fair action turn { n := if n == 3 then 1 else n + 1 }
    fault kick { require at: n == 2  n := 0 }
    eventually always high says "n is at least two in the end": n >= 2
    eventually always begun: n >= 1
    check all { faults any }
"""


def test_what_is_false_now_and_then_is_not_stable_and_what_is_left_for_ever_is() -> None:
    outcome = run(UNREST)

    assert lasso(outcome, "high") == (["turn"] * 4, 1)
    assert holds(outcome, "begun").extent.faults is None


def test_the_story_says_that_it_is_false_each_time(golden: Golden) -> None:
    trace = shown(run(UNREST), "high")

    golden("traces/unrest.txt", plain([*story(trace), *why(trace, 100, in_full=True)]))
    golden("pictures/unrest.txt", plain(compact(picture(trace))))


def test_a_run_may_stop_where_it_is_false() -> None:
    outcome = run(
        """
        protocol stops
        state { up: bool = true }
        fault crash { require up  up := false }
        FAIR repair restart { require not up  up := true }
        eventually always works: up
        check all { faults <= 2 }
    """.replace("FAIR", "")
    )

    assert lasso(outcome, "works") == (["crash"], 1)


def test_a_run_that_becomes_stable_is_no_proof_of_the_contrary() -> None:
    trace = shown(run(UNREST), "high")

    with pytest.raises(NotReplayable, match="does what `begun` promises"):
        certify(replace(trace, property="begun"))


# ----------------------------------------------------------------------- faults


def test_a_run_that_only_faults_keep_going_shows_nothing() -> None:
    outcome = run("""
        protocol flood
        state { up: bool = true, served: bool = false }
        fault crash { require up  up := false }
        repair restart { require not up  up := true }
        strong fair action serve { require up  served := true }
        leadsto answered: up and not served ~> served or not up
        leadsto in_the_end: up and not served ~> served
        check all { faults any }
    """)

    assert holds(outcome, "answered").extent.faults is None
    assert lasso(outcome, "in_the_end") == (["crash"], 1)  # nothing forces the restart


FAULTY = """
protocol faulty
state { asked: bool = false, lost: bool = false, done: bool = false }
action ask { require not asked  asked := true }
fair action serve { require asked and not lost  done := true }
fault lose { require asked  lost := true }
leadsto answered: asked ~> done
check all { faults FAULTS  EXPECT }
"""


def faulty(faults: str, expect: str = "") -> Outcome:
    return run(FAULTY.replace("FAULTS", faults).replace("EXPECT", expect))


def test_faults_stand_before_the_loop_and_are_the_fewest() -> None:
    outcome = faulty("<= 3", "expect answered violated with 1 fault in 2 steps")

    assert outcome.mismatches == ()
    assert lasso(outcome, "answered") == (["ask", "lose"], 2)
    assert outcome.result("answered").by_faults == (True, False)


def test_an_expectation_that_is_not_met_is_told() -> None:
    outcome = faulty("<= 3", "expect answered violated with 2 faults")

    assert [m.found for m in outcome.mismatches] == ["violated with 1 fault in 2 steps"]
    assert [m.found for m in faulty("any").mismatches] == ["violated with 1 fault in 2 steps"]
    assert faulty("none", "expect answered holds").mismatches == ()


def test_a_fault_while_waiting_counts_though_the_state_is_known_without_it() -> None:
    text = """
        protocol shortcut
        state { place: 0..2 = 0 }
        fair action serve { require place == 0  place := 1 }
        action on { require place == 1  place := 2 }
        fault jump { require place == 0  place := 2 }
        leadsto served: place == 0 ~> place == 1
        check all { faults FAULTS }
    """
    none, one = run(text.replace("FAULTS", "none")), run(text.replace("FAULTS", "<= 1"))

    # One fault leads to no new state, but without having been served.
    assert holds(none, "served").extent.faults == 0
    assert none.result("served").by_faults == (True,)
    assert lasso(one, "served") == (["jump"], 1)
    assert one.result("served").by_faults == (True, False)


@pytest.mark.parametrize("budget", ["<= 1", "jump <= 1"])
def test_faults_while_waiting_stay_within_the_budget(budget: str) -> None:
    text = """
        protocol shortcuts
        state { place: 0..4 = 0 }
        fair action serve { require place == 0  place := 1 }
        action on { require place in {1, 2}  place := place + 1 }
        fault jump { require place in {0, 2}  place := place + 2 }
        repair over { require place == 3  place := 4 }
        leadsto served: place == 0 ~> place in {1, 3}
        fair repair back { require place == 2  place := 3 }
        check all { faults BUDGET }
    """
    outcome = run(text.replace("BUDGET", "<= 2"))

    # Everything is known without a fault; to wait at 4 takes two, since 2 goes back.
    assert lasso(outcome, "served") == (["jump", "jump"], 2)
    assert holds(run(text.replace("BUDGET", budget)), "served").extent.faults == 1


def test_faults_by_kind_are_paid_for() -> None:
    text = """
        protocol kinds
        state { place: 0..2 = 0 }
        fault one { require place == 0  place := 1 }
        fault two { require place == 1  place := 2 }
        repair back { require place == 1  place := 0 }
        always eventually near: place != 2
        check all { faults one <= MOST, two <= 1 }
    """
    outcome = run(text.replace("MOST", "1"))

    assert holds(run(text.replace("MOST", "0")), "near").beyond == 0
    assert lasso(outcome, "near") == (["one", "two"], 2)
    assert outcome.result("near").by_faults == (True, True, False)


# ----------------------------------------------------------------------- length


def drawn(edges: str, property_: str) -> Outcome:
    """Two-digit numbers are edges, from the first digit to the second, of one fair action."""
    return run(f"""
        protocol graph
        state {{ s: 0..9 = 0 }}
        fair action go(e in {{ {edges} }}) {{ require s == e / 10  s := e % 10 }}
        {property_}
        check all {{ }}
    """)


def test_the_way_to_where_a_run_stays_is_the_shortest_from_where_it_begins_to_wait() -> None:
    outcome = drawn("1, 2, 3, 4, 43, 32, 21, 45, 56", "leadsto p: s == 4 ~> s == 9")

    # 1 and 6 are the ends; 1 is the nearer to 0, and 6 to 4.
    assert lasso(outcome, "p") == (["go(4)", "go(45)", "go(56)"], 3)


def test_a_way_round_goes_before_a_longer_way_to_stay() -> None:
    outcome = drawn("1, 10, 12, 23, 34", "always eventually p: s == 9")

    assert lasso(outcome, "p") == (["go(1)", "go(10)"], 0)


def test_a_way_to_stay_goes_before_a_longer_way_round() -> None:
    outcome = drawn("1, 12, 23, 30, 4", "always eventually p: s == 9")

    assert lasso(outcome, "p") == (["go(4)"], 1)


# ------------------------------------------------------------------------ scope

CUT = """
protocol counter
nat N
state { n: N = 0, flag: bool = false }
FAIR action up { n := n + 1 }
action wave { require WAVE  flag := not flag }
leadsto far: n == 0 ~> n >= 9
check small { scope N = 3 }
"""


def counter(fair: str, wave: str = "false") -> Outcome:
    return run(CUT.replace("FAIR", fair).replace("WAVE", wave))


def test_a_run_that_could_leave_the_scope_is_not_called_stuck() -> None:
    assert holds(counter("fair"), "far").beyond == 1


def test_a_run_that_may_stop_where_it_could_leave_the_scope_is_one_within_it() -> None:
    assert lasso(counter(""), "far") == ([], 0)


def test_a_way_round_that_puts_off_leaving_the_scope_for_ever_is_not_fair() -> None:
    outcome = counter("fair", "n == 3")

    assert holds(outcome, "far").beyond == 2


def test_a_fair_way_round_inside_the_scope_is_real() -> None:
    outcome = run("""
        protocol both
        nat N
        state { n: N = 0, place: 0..1 = 0 }
        fair action grow { require place == 0  n := n + 1 }
        fair action move { place := 1 - place }
        always eventually two: n == 2
        check small { scope N = 0 }
    """)

    # `grow` is cut at 0 and not possible at 1: weak fairness allows to go to and fro.
    assert lasso(outcome, "two") == (["move", "move"], 0)


# --------------------------------------------------------------- ends and limits


def test_a_search_that_did_not_end_says_nothing() -> None:
    outcome = run(
        CUT.replace("FAIR", "").replace("WAVE", "true").replace("N = 3", "N = 9999"), Limits(states=300)
    )
    verdict = outcome.verdict("far")

    assert isinstance(verdict, Unknown)
    assert verdict.reason == End.STATES.value


def test_an_error_of_the_property_is_one_of_the_model() -> None:
    outcome = run(CLOCK.replace("FAIR", "fair").replace("EXPECT", "").replace("hour == 2", "6 / hour == 2"))

    assert outcome.findings.end is End.ERROR
    assert outcome.findings.error is not None
    assert outcome.findings.error.property == "noon"
    assert {type(each.verdict) for each in outcome.findings.results} == {Unknown}


@pytest.mark.parametrize("engine", ["reference", "explicit"])
@pytest.mark.parametrize("why", [Stopped(End.INTERRUPTED), KeyboardInterrupt()], ids=["soon", "at once"])
def test_ctrl_c_while_it_is_looked_at_leaves_it_unknown(
    engine: str, why: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def impatient(*_: object) -> None:
        raise why

    module = {"reference": ReferenceEngine, "explicit": PackedFindings}[engine].__module__
    monkeypatch.setattr(f"{module}.{starving.__name__}", impatient)
    model, only = toy(CLOCK.replace("FAIR", "fair").replace("EXPECT", ""))
    outcome = check(model, only, engine=engine)

    assert outcome.findings.end is End.INTERRUPTED
    assert {type(result.verdict) for result in outcome.findings.results} == {Unknown}


def test_symmetry_and_fairness_do_not_go_together() -> None:
    model, only = toy("""
        protocol members
        sort Lamp
        process Lamp { durable lit: bool = false }
        fair action flip(l: Lamp) { l.lit := not l.lit }
        always eventually dark: forall l: Lamp. not l.lit
        check all { scope Lamp = 2 }
    """)

    for engine in (None, "explicit", "reference"):
        with pytest.raises(Unsupported, match="always eventually dark up to symmetry"):
            check(model, only, engine=engine, symmetry=True)


# ------------------------------------------------------------------ certificates


def refusal(trace: Trace) -> str:
    with pytest.raises(NotReplayable) as found:
        certify(trace)
    assert found.value.at is None
    return found.value.reason


def test_a_loop_that_puts_off_a_fair_action_is_refused() -> None:
    trace = shown(run(BLINK.replace("FAIR", "fair")), "ends")
    strong = replace(trace, model=toy(BLINK.replace("FAIR", "strong fair"))[0])
    stays = replace(trace, states=trace.states[:1], steps=(), ending=Lasso(0))

    assert certify(trace).trusted == ""
    assert refusal(strong) == "strong fair finish is put off for ever"
    assert refusal(stays) == "fair blink is put off for ever"


def test_a_loop_that_puts_off_what_leaves_the_scope_is_refused() -> None:
    trace = shown(counter(""), "far")
    fair = toy(CUT.replace("FAIR", "fair").replace("WAVE", "false"))[0]
    machine = Machine(fair, trace.scope)
    states, steps = [trace.states[0]], []
    for _ in range(3):
        (taken,) = machine.steps(states[-1])
        assert isinstance(taken, Taken)
        states.append(taken.state)
        steps.append(taken.step)

    assert refusal(Trace(fair, trace.scope, tuple(states), tuple(steps), Lasso(3), "far")) == (
        "fair up is put off for ever"
    )


def test_a_loop_with_a_fault_in_it_is_refused() -> None:
    model, only = toy("""
        protocol flood
        state { up: bool = true, x: bool = false }
        fault crash { up := not up }
        always eventually gone: x
        check all { faults any }
    """)
    trace = shown(check(model, only), "gone")
    machine = Machine(model, only.scope)
    states, steps = [trace.states[0]], []
    for _ in range(2):
        (taken,) = machine.steps(states[-1])
        assert isinstance(taken, Taken)
        states.append(taken.state)
        steps.append(taken.step)
    round_ = replace(trace, states=tuple(states), steps=tuple(steps), ending=Lasso(0))

    assert refusal(round_) == "the fault crash would happen again and again"


# ----------------------------------------------------------------- command line


def test_what_an_engine_refuses_is_told_and_is_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ReferenceEngine, "refusals", lambda *_: (Refusal("noon", "abacus"),))
    path = tmp_path / "clock.rsm"
    path.write_text(CLOCK.replace("FAIR", "fair").replace("EXPECT", ""), encoding="utf-8")

    assert cli.main(["check", str(path), "--engine", "reference"]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert "clock · day: not answered: the engine reference cannot do: noon (use abacus)" in said.err


def test_a_broken_assumption_is_shown_with_what_it_is_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sized.rsm"
    path.write_text(
        "protocol sized\nsort Replica\nnat Epoch\nconfig k: 0..3 = 1\nstate { e: Epoch = 0 }\n"
        "assume odd: size({r: Replica where true}) % 2 == k\n"
        "check all { scope Replica = 4, Epoch = 2 }\n",
        encoding="utf-8",
    )

    assert cli.main(["check", str(path)]) == 2
    said = capsys.readouterr().err
    assert "6:1: error[R0907]: all: the assumption `odd` does not hold" in said
    assert said.splitlines()[2].endswith("^ Replica = 4, k = 1")
