"""Induction over steps proves only what a search of all states finds true, and says why where it cannot."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from counterexamples.trace import BadState, BadStep
from modelcheck import cli
from modelcheck.api import Unsupported, check
from modelcheck.contract.engine import Limits, Task
from modelcheck.contract.proof import ObligationStatus
from modelcheck.contract.result import End, Findings, Holds, Unknown, Violated
from modelcheck.grounding.term_values import term_value
from modelcheck.grounding.terms import GroundTerm
from modelcheck.symbolic.finite.induction import Induction
from modelcheck.symbolic.finite.system import system
from spec.load import loads
from spec.meaning.semantics import Machine
from spec.model.ir import Check, Model, PropertyKind
from spec.model.values import ModelError
from tests.model_texts import model_text
from tests.protocol_checks import named_check, smallest

FORMED = ("hdfs_qjm", "kafka_acks", "kafka_transactions", "kisr", "pacifica", "paxos", "quorum")


def induct(text: str, depth: int = 1, limits: Limits | None = None) -> Findings:
    model = loads(text)[0]
    return check(model, model.checks[0], engine=Induction(depth), limits=limits).findings


JUMPS = """
protocol p
state { n: 0..9 = 0 }
action up { require n < 2
  n := n + 1 }
action over { require n == 5
  n := 9 }
invariant low: n != 9
check it { }
"""


def test_what_is_no_inductive_claim_is_unknown_with_the_step_that_shows_it() -> None:
    found = induct(JUMPS)
    assert found.proof is not None
    (cell,) = [cell for cell in found.proof.dropped if cell.kept is ObligationStatus.FAILED]

    assert (cell.claim, cell.action) == ("low", "over")
    assert cell.shown is not None
    assert [state[0] for state in cell.shown.states] == [5, 9]
    assert cell.shown.ending == BadState()
    assert isinstance(found.results[0].verdict, Unknown)


def test_two_steps_prove_what_one_does_not() -> None:
    kinds = [type(induct(JUMPS, depth).results[0].verdict) for depth in (1, 2)]

    assert kinds == [Unknown, Holds]


def test_a_lemma_proves_what_it_implies() -> None:
    found = induct(JUMPS.replace("check it { }", "lemma small: n <= 2\ncheck it { only low }"))

    assert isinstance(found.results[0].verdict, Holds)
    assert found.proof is not None
    assert {"low", "small"} <= set(found.proof.claims)
    assert not found.proof.dropped


def test_a_lemma_that_is_not_true_at_the_start_helps_nothing() -> None:
    found = induct(JUMPS.replace("check it { }", "lemma large: n > 9 - 1 or n == 5\ncheck it { only low }"))

    assert isinstance(found.results[0].verdict, Unknown)


def test_a_lemma_that_some_run_breaks_is_told_when_it_is_asked_about() -> None:
    found = induct(JUMPS.replace("check it { }", "lemma small: n <= 1\ncheck it { }"), 4)
    by_name = {result.property: result.verdict for result in found.results}

    assert isinstance(by_name["small"], Violated)
    assert isinstance(by_name["low"], Holds)


def test_runs_that_go_round_are_left_out_so_that_many_steps_prove_everything() -> None:
    text = """
protocol p
state { n: 0..7 = 0 }
action round { require n < 2
  n := (n + 1) % 2 }
action other { require n >= 3 and n < 6
  n := if n == 5 then 3 else n + 1 }
action bad { require n == 4
  n := 7 }
invariant low: n != 7
check it { }
"""
    assert isinstance(induct(text, 4).results[0].verdict, Holds)


def test_a_claim_about_steps_needs_what_is_true_of_the_state_before() -> None:
    text = """
protocol p
state { n: 0..9 = 0 }
action up { require n < 9
  n := if n == 7 then 0 else n + 1 }
step grows: n >= old(n)
check it { only grows }
"""
    (broken,) = induct(text.replace("n < 9", "n < 8"), 9).results
    assert isinstance(broken.verdict, Violated)

    stuck = induct(text.replace("n < 9", "n < 4 or n == 7"))
    assert stuck.proof is not None
    (cell,) = [cell for cell in stuck.proof.dropped if cell.kept is ObligationStatus.FAILED]
    assert cell.shown is not None
    assert cell.shown.ending == BadStep()

    helped = induct(text.replace("n < 9", "n < 4 or n == 7").replace("check it", "lemma l: n <= 4\ncheck it"))
    assert isinstance(helped.results[0].verdict, Holds)


def test_an_error_that_induction_cannot_exclude_leaves_everything_open() -> None:
    text = """
protocol p
state { n: 0..9 = 0  m: bool = true }
action up { require n < 3
  n := n + 1 }
action err { require n == 7
  n := n + 9 }
invariant always: m
check it { }
"""
    (result,) = induct(text).results
    assert isinstance(result.verdict, Unknown)
    assert "error" in result.verdict.reason

    (result,) = induct(text.replace("check it", "lemma low: n <= 3\ncheck it")).results[:1]
    assert isinstance(result.verdict, Holds)


def test_the_budget_of_faults_is_part_of_the_proof() -> None:
    text = """
protocol p
state { n: 0..4 = 0 }
fault slip { require n < 4
  n := n + 1 }
invariant low: n < 3
check it { faults BUDGET }
"""
    none, two, three, any_ = (
        induct(text.replace("BUDGET", budget), 6).results[0].verdict
        for budget in ("none", "<= 2", "<= 3", "any")
    )

    assert isinstance(none, Holds)
    assert isinstance(two, Holds)
    assert isinstance(three, Violated)
    assert isinstance(any_, Violated)
    assert three.trace is not None
    assert three.trace.faults == 3


def test_the_step_shown_is_small() -> None:
    text = """
protocol p
sort Node
nat Len
process Node { durable log: seq[bool; Len] = []  durable on: bool = false }
action write(n: Node) { n.log := n.log + [true] }
action switch(n: Node) { require size(n.log) >= 1
  n.on := true }
invariant never: forall n: Node. not n.on
check it { scope Node = 4, Len = 3 }
"""
    found = induct(text.replace("size(n.log) >= 1", "size(n.log) >= 1 and at(n.log, 0) == false"))
    assert found.proof is not None
    (cell,) = [cell for cell in found.proof.dropped if cell.kept is ObligationStatus.FAILED]
    assert cell.shown is not None
    logs, _ = cell.shown.states[0]

    assert sorted(map(len, logs)) == [0, 0, 0, 1]


def test_no_time_is_no_answer() -> None:
    found = induct(JUMPS, limits=Limits(seconds=0.0))

    assert found.end is End.SECONDS
    assert isinstance(found.results[0].verdict, Unknown)


def test_what_is_about_whole_runs_is_refused() -> None:
    with pytest.raises(Unsupported, match="recoverable"):
        induct(JUMPS.replace("check it", "recoverable again: n == 0\ncheck it"))


def test_states_that_no_value_has_are_not_looked_at() -> None:
    text = """
protocol p
nat Len
state { log: seq[0..2; Len] = []  held: 1..3 = 1  bag_: bag[bool; 2] = {}  seen: bool = false }
action write { log := log + [1] }
action odd { require held == 0 or size(bag_) > 2 or size(log) > 2
  seen := true }
invariant unseen: not seen
check it { scope Len = 2 }
"""
    (result,) = induct(text).results

    assert isinstance(result.verdict, Holds)


def test_the_command_line_tells_how_far_the_proof_goes(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(Path(__file__).parents[3] / "spec/protocols/quorum.rsm")

    code = cli.main(["check", file, "--check", "n3_w2_r2", "--engine", "induction", "--depth", "2", "-v"])

    out = capsys.readouterr().out
    assert code == 3
    assert "by induction over 2 steps" in out
    assert "Node = 3" in out
    assert "all claims are true in the first 2 states" in " ".join(out.split())


def test_the_kinds_of_claims_that_it_takes_are_those_of_states_and_steps() -> None:
    text = """
protocol p
state { n: 0..3 = 0 }
action up { require n < 2
  assert fine: n < 3
  n := n + 1 }
reachable two: n == 2
reachable three: n == 3
check it { }
"""
    model = loads(text)[0]
    kinds = {prop.name: prop.kind for prop in model.properties}
    found = {result.property: result.verdict for result in induct(text, 4).results}

    assert kinds["fine"] is PropertyKind.ASSERT
    assert isinstance(found["fine"], Holds)
    assert isinstance(found["two"], Holds)
    assert found["two"].example is not None
    assert isinstance(found["three"], Violated)
    assert found["three"].trace is None


@pytest.mark.parametrize("protocol", FORMED)
def test_every_state_of_a_run_is_among_those_that_it_looks_at(protocol: str) -> None:
    found = smallest(protocol)
    assert found is not None

    assert reached(*named_check(protocol, found.name)) > 0


def test_every_state_of_a_run_of_a_random_model_is_among_those_that_it_looks_at() -> None:
    looked = 0
    for seed in range(30):
        (model,) = loads(model_text(Random(f"formed {seed}").randrange))  # noqa: S311 - no secret
        looked += reached(model, model.checks[0])

    assert looked > 100


def reached(model: Model, question: Check) -> int:
    """Walk some steps from the start of the plain variables; how many states were looked at."""
    task = Task(model, question.scope, question.budget, ())
    try:
        if Induction().refusals(task) or not [*Machine(model, question.scope).initial()]:
            return 0
    except ModelError:
        return 0
    whole = system(task)
    flat = whole.machine
    level = set(flat.starts)
    seen = set(level)
    while level and len(seen) < 100:
        after = set()
        for values in sorted(level):
            known: dict[GroundTerm, int] = {}
            assert term_value(whole.formed, values, known) == 1
            assert all(
                value <= (1 if f.most is None else f.most)
                for value, f in zip(values, flat.flats, strict=True)
            )
            for rule in flat.rules:
                if term_value(rule.guard, values, known):
                    changed = {to.value: term_value(value, values, known) for to, value in rule.changes}
                    after.add(tuple(changed.get(n, value) for n, value in enumerate(values)))
        level = after - seen
        seen |= level
    return len(seen)


def test_without_properties_nothing_holds_before_it_is_proved_that_there_is_no_error() -> None:
    found = induct("protocol p\nstate { x: bag[0..0; 2] = {} }\naction a { x.add(0) }\ncheck it { }", 2)

    assert found.end is not End.COMPLETE
