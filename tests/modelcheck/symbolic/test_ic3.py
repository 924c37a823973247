"""Property-directed reachability proves what is true, and what it finds on the way is true of every state."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from ctypes import ArgumentError
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from modelcheck import cli
from modelcheck.api import Unsupported, check
from modelcheck.asking.overrides import Overrides, apply
from modelcheck.contract.engine import Limits, Task
from modelcheck.contract.report import Event, Proving
from modelcheck.contract.result import End, Findings, Holds, Unknown, Violated
from modelcheck.grounding.term_values import term_value
from modelcheck.grounding.terms import GroundTerm
from modelcheck.symbolic.finite.facts import StateFact, facts
from modelcheck.symbolic.finite.ic3 import Reachability
from modelcheck.symbolic.finite.induction import Induction
from modelcheck.symbolic.finite.invariant import Clauses
from modelcheck.symbolic.finite.orbits import Cube, CubeOrbits
from modelcheck.symbolic.finite.system import System, system
from modelcheck.symbolic.formulas import Formulas
from modelcheck.symbolic.interrupts import interruptible
from spec.load import loads
from spec.meaning.semantics import Machine, State, Taken
from spec.model.ir import Budget, Check, Kind, Model
from tests.modelcheck.symbolic.proved import asked, compare, random_checks
from tests.protocol_checks import PROTOCOLS, models
from tests.stories import named

QUICK = Limits(seconds=2)
MODELS = 25
MOST = 30_000  # states that are listed


def lemmas(found: Findings) -> list[str]:
    """The lemmas that were found, in the language."""
    assert found.proof is not None
    assert found.proof.found is not None
    return [each for each in found.proof.found if not each.startswith("//")]


def with_lemmas(model: Model, found: Findings) -> Model:
    """The protocol of the same text with what was found written into it."""
    return loads(model.source.text + "\n" + "\n".join(lemmas(found)) + "\n")[0]


def states(model: Model, question: Check, actions: Sequence[str] | None = None) -> Iterator[State]:
    """Every state of a check without limits of faults, or that some actions alone lead to."""
    machine = Machine(model, question.scope)
    level, seen = set(machine.initial()), set[State]()
    while level:
        seen |= level
        yield from level
        taken = (t for s in level for t in machine.steps(s, actions=actions))
        level = {t.state for t in taken if isinstance(t, Taken)} - seen
        assert len(seen) < MOST


def system_of(model: Model, question: Check) -> System:
    return system(Task(model, question.scope, question.budget, model.properties))


# ------------------------------------------------------------------------- agreement


def test_it_agrees_on_random_models_and_what_it_finds_is_of_the_language() -> None:
    verdicts, said = set(), 0
    for model, question in random_checks("ic3", 0, MODELS):
        found = compare(model, question, Reachability(), QUICK)
        if found is not None:
            verdicts |= {type(result.verdict) for result in found.results}
            if found.proof is not None:
                with_lemmas(model, found)
                said += len(lemmas(found))

    assert {Holds, Violated} <= verdicts
    assert said > 0


# ------------------------------------------------------------------------- invariants


def test_what_it_finds_for_majorities_is_true_of_every_state_and_proves_them_by_induction() -> None:
    model, question = named("quorum", "n3_w2_r2")
    found = check(model, question, engine="ic3").findings
    helped = with_lemmas(model, found)
    claims = [prop for prop in helped.properties if prop.name.startswith("found_")]
    machine = Machine(helped, question.scope)
    usual = [action.name for action in model.actions if action.kind is not Kind.FAULT]
    plain = replace(question, only=("committed_survives",), expect=())

    assert len(claims) == len(lemmas(found)) >= 5
    assert all(isinstance(result.verdict, Holds) for result in found.results)
    assert isinstance(check(model, plain, engine=Induction(1)).findings.results[0].verdict, Unknown)
    assert isinstance(check(helped, plain, engine=Induction(1)).findings.results[0].verdict, Holds)
    for state in states(helped, question, usual):
        assert all(machine.holds(claim, state) for claim in claims)


def test_majorities_of_five_are_proved_without_a_lemma() -> None:
    model, question = named("quorum", "n5_w3_r3")
    found = check(model, question, engine="ic3").findings

    assert [type(result.verdict) for result in found.results] == [Holds, Holds, Holds]


@pytest.mark.nightly
def test_the_invariants_of_kisr_are_proved_without_a_lemma() -> None:
    model, question = named("kisr", "any_crashes")
    small = apply(model, question, Overrides(("Offset=2", "Epoch=1"), ()))
    found = check(model, small, engine="ic3").findings
    helped = with_lemmas(model, found)
    machine = Machine(helped, small.scope)
    claims = [prop for prop in helped.properties if prop.name.startswith("found_")]

    assert [type(result.verdict) for result in found.results] == [Holds, Holds]
    assert all(result.verdict.extent.faults is None for result in found.results)  # type: ignore[union-attr]
    assert all(machine.holds(claim, state) for state in states(helped, small) for claim in claims)


def test_no_lemma_can_be_left_out() -> None:
    model, question = named("quorum", "n2_w2_r1")
    found = check(model, replace(question, only=("committed_survives",)), engine="ic3").findings
    said = lemmas(found)

    for left_out in said:
        others = "\n".join(each for each in said if each != left_out)
        weaker = loads(f"{model.source.text}\n{others}\n")[0]
        names = tuple(p.name for p in weaker.properties if p.name.startswith("found_"))
        asked_ = replace(question, only=("committed_survives", *names), expect=())
        results = check(weaker, asked_, engine=Induction(1)).findings.results
        assert not all(isinstance(result.verdict, Holds) for result in results)


def test_the_fresh_solver_tells_what_is_no_invariant() -> None:
    model, question = named("quorum", "n2_w2_r1")
    system = system_of(model, question)
    known = facts(model, question.scope, system.machine)

    def accepts(*groups: list[Cube]) -> bool:
        return Clauses(system, known, groups, lambda: None).check(("committed_survives",))

    assert not accepts()  # does not imply the claim
    assert not accepts([frozenset()])  # not true of the start
    assert not accepts(*([frozenset({n})] for n in range(1, len(known) + 1)))


@pytest.mark.parametrize("name", ["quorum", "kisr", "two_phase_commit", "figure8"])
def test_facts_tell_every_state_from_every_other(name: str) -> None:
    model = models(PROTOCOLS / f"{name}.rsm")[0]
    question = model.checks[0]
    system = system_of(model, asked(model, question))
    known = facts(model, question.scope, system.machine)
    machine = system.machine
    level, seen = set(machine.starts), set(machine.starts)
    for _ in range(6):
        level = set(list(after(system, level) - seen)[:60])
        seen |= level
    cubes = {tuple(truth(fact.term, values) for fact in known) for values in seen}

    assert len(cubes) == len(seen) > 20


def after(system: System, level: set[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """The states after one more step."""
    found = set()
    for values in level:
        for rule in system.machine.rules:
            if truth(rule.guard, values):
                changed = {to.value: term_value(value, values) for to, value in rule.changes}
                found.add(tuple(changed.get(n, value) for n, value in enumerate(values)))
    return found


def truth(term: GroundTerm, values: tuple[int, ...]) -> bool:
    return bool(term_value(term, values))


def test_a_cube_has_as_many_names_as_its_members_can_have() -> None:
    model, question = named("quorum", "n5_w3_r3")
    system = system_of(model, question)
    known = facts(model, question.scope, system.machine)
    orbits = CubeOrbits(model, question.scope, known)
    sizes = {len(set(orbits.of(frozenset({n})))) for n, fact in enumerate(known, 1) if fact.expr is not None}

    assert sizes == {1, 5, 10, 20}  # of no member, of one, of two alike, of two


SAID_TWICE = """
protocol said_twice
sort S
process S { durable zero: 0..0 = 0  durable of: bag[bool; 2] = {} }
state { n: 0..2 = 0 }
action put(s: S, v: bool) { require n < 2
  s.of.add(v)
  n := n + 1 }
check it { scope S = 2 }
"""


@pytest.mark.parametrize("under_all_names", [True, False])
def test_a_fact_that_says_the_same_of_every_member_has_all_names(
    monkeypatch: pytest.MonkeyPatch, *, under_all_names: bool
) -> None:
    """`n == s.zero` is one fact of all members; else one clause rests on another's name."""

    def poor(*given: Any) -> tuple[StateFact, ...]:  # noqa: ANN401 - as it is given
        return tuple(replace(fact, also=(), unlike=()) for fact in facts(*given))

    model = loads(SAID_TWICE)[0]
    if not under_all_names:
        monkeypatch.setattr("modelcheck.symbolic.finite.ic3.facts", poor)
    found = check(model, model.checks[0], engine=Reachability()).findings

    assert found.end is End.COMPLETE
    assert found.proof is not None


# --------------------------------------------------------------------------- answers


STAIRS = """
protocol stairs
state { n: 0..9 = 0  odd: bool = false }
action up { require n < 6
  n := n + 2 }
action over { require n == 7
  n := 9 }
invariant low: n != 9
reachable six: n == 6
reachable five: n == 5
check it { }
"""


def search(text: str, limits: Limits | None = None, faults: Budget | None = None) -> Findings:
    model = loads(text)[0]
    question = model.checks[0] if faults is None else replace(model.checks[0], budget=faults)
    return check(model, question, engine=Reachability(), limits=limits).findings


def test_what_is_reached_and_what_never_is() -> None:
    found = {result.property: result.verdict for result in search(STAIRS).results}

    assert isinstance(found["low"], Holds)
    assert isinstance(found["six"], Holds)
    assert found["six"].example is not None
    assert isinstance(found["five"], Violated)
    assert found["five"].trace is None


def test_a_violation_comes_with_a_run() -> None:
    (low, *_) = search(STAIRS.replace("n + 2", "n + 1").replace("n < 6", "n < 7")).results

    assert isinstance(low.verdict, Violated)
    assert low.verdict.trace is not None
    assert [state[0] for state in low.verdict.trace.states] == [0, 1, 2, 3, 4, 5, 6, 7, 9]
    assert not low.verdict.fewest


def test_an_error_of_the_model_is_a_run_of_its_own() -> None:
    found = search(STAIRS.replace("n := 9", "n := n + 3").replace("n + 2", "n + 1").replace("n < 6", "n < 7"))

    assert found.end is End.ERROR
    assert found.error is not None
    assert len(found.error.steps) == 7


def test_an_error_of_asking_is_one_of_the_model() -> None:
    text = "protocol p\nsort Node\nstate { n: 0..3 = 0 }\naction up { require n < 2\n  n := n + 1 }\n"
    found = search(
        text + "reachable odd: n == 2 and (argmax k: Node. 1) in Node\ncheck it { scope Node = 2 }"
    )

    assert found.end is End.ERROR


SLIPS = """
protocol p
state { n: 0..4 = 0 }
fault slip { require n < 4
  n := n + 1 }
invariant low: n < 3
check it { faults any }
"""


@pytest.mark.parametrize(("most", "verdict"), [(0, Holds), (2, Holds), (3, Violated), (None, Violated)])
def test_the_budget_of_faults_is_part_of_the_proof(most: int | None, verdict: type) -> None:
    found = search(SLIPS, faults=Budget(most))

    assert isinstance(found.results[0].verdict, verdict)


def test_what_has_no_word_in_the_language_is_a_comment() -> None:
    found = search(SLIPS, faults=Budget(2))
    assert found.proof is not None
    assert found.proof.found is not None

    assert any(each.startswith("//") and "faults" in each for each in found.proof.found)


def test_no_time_is_no_answer() -> None:
    found = search(STAIRS, Limits(seconds=0.0))

    assert found.end is End.SECONDS
    assert all(isinstance(result.verdict, Unknown) for result in found.results)


@pytest.mark.parametrize("engine", ["ic3", "bmc", "induction"])
def test_the_limit_of_time_is_kept_while_formulas_are_made(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[GroundTerm] = []
    monkeypatch.setattr(Formulas, "_formula", lambda _, term, __: made.append(term))
    model = loads(STAIRS)[0]

    found = check(model, model.checks[0], engine=engine, limits=Limits(seconds=0.0)).findings

    assert found.end is End.SECONDS
    assert made == []


def test_ctrl_c_gives_what_was_found() -> None:
    class Stops:
        """Presses Ctrl-C as soon as a run was found."""

        def tell(self, event: Event) -> None:
            if isinstance(event, Proving) and event.steps > 2:
                raise KeyboardInterrupt

    model, question = named("quorum", "n3_w2_r2")
    found = check(model, question, engine="ic3", reporter=Stops()).findings

    assert found.end is End.INTERRUPTED
    assert found.depth is not None
    assert isinstance(found.results[0].verdict, Unknown)


def test_what_is_about_whole_runs_is_refused() -> None:
    with pytest.raises(Unsupported, match="recoverable"):
        search(STAIRS.replace("check it", "recoverable again: n == 0\ncheck it"))


def test_a_reachable_that_solvers_cannot_say_is_refused() -> None:
    with pytest.raises(Unsupported, match="`%` of anything but a number from 0"):
        search(STAIRS.replace("check it", "reachable one: (0 - n) % 3 == 1\ncheck it"))


def test_the_command_line_tells_the_lemmas(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(Path(__file__).parents[3] / "spec/protocols/quorum.rsm")

    code = cli.main(["check", file, "--check", "n2_w2_r1", "--engine", "ic3", "--seconds", "60", "-v"])

    out = capsys.readouterr().out
    assert code == 0
    assert "an inductive invariant, with" in out
    assert "lemma found_1: forall n1: Node" in out


def test_ctrl_c_is_not_lost_where_python_forgets_it() -> None:
    with interruptible() as look_up:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            look_up()

    with pytest.raises(KeyboardInterrupt), interruptible():
        raise ArgumentError("argument 1: KeyboardInterrupt: ")


def heard(*_: object) -> None:
    raise KeyboardInterrupt


def unheard(*_: object) -> None:
    """Ctrl-C is nothing."""


@pytest.mark.parametrize("minds", [heard, unheard, signal.SIG_IGN])
def test_what_ctrl_c_is_remains_to_who_minds_it(minds: Callable[..., None] | signal.Handlers) -> None:
    before = signal.signal(signal.SIGINT, minds)
    try:
        with interruptible() as look_up:
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            with pytest.raises(KeyboardInterrupt) if minds is heard else nullcontext():
                look_up()
        assert signal.getsignal(signal.SIGINT) is minds
    finally:
        signal.signal(signal.SIGINT, before)
