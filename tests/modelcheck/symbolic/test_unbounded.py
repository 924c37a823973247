"""What is proved for every scope agrees with the explicit engine, and wrong models are not proved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest

import spec.model.ir as ir
from counterexamples.trace import BadState, Trace
from modelcheck.api import Unmet, Unsupported, check
from modelcheck.contract.engine import Limits
from modelcheck.contract.proof import ObligationStatus
from modelcheck.contract.result import Holds, Outcome, Unknown, Violated
from modelcheck.symbolic.process import ProcessAnswer, Program, ask, insist, programs
from modelcheck.symbolic.unbounded.engine import Prover
from modelcheck.symbolic.unbounded.induction import broken_step
from modelcheck.symbolic.unbounded.obligations import Obligation, ProofTask
from spec.load import loads
from spec.meaning.semantics import Machine
from spec.model.kinds import INVARIANTS, OF_STEPS
from spec.model.values import ModelError
from tests.model_texts import model_text

PROTOCOLS = Path(__file__).parents[3] / "spec" / "protocols"
QUICK = Prover(seconds=3)


def proof(text: str, name: str, prover: Prover = QUICK) -> Outcome:
    """What the prover says of a check in a text."""
    model, found = next((m, c) for m in loads(text) for c in m.checks if c.name == name)
    return check(model, found, engine=prover)


def alone(file: str, variant: str) -> str:
    """A shipped protocol and its proof, without the other variants and checks."""
    text = (PROTOCOLS / f"{file}.rsm").read_text()
    return text[: text.index("\ncheck ")] + "\n" + text[text.index(f"variant {variant} of") :]


def held(outcome: Outcome) -> set[str]:
    return {r.property for r in outcome.findings.results if isinstance(r.verdict, Holds)}


def small(text: str) -> str:
    """A model of its parts, with a check that looks at all it says."""
    return f"protocol small\n{text}\n"


# ------------------------------------------------------------- the shipped proofs


@pytest.mark.parametrize(("file", "name"), [("quorum", "any_n"), ("raft", "any_n_elections")])
def test_a_shipped_proof_is_found(file: str, name: str) -> None:
    outcome = proof((PROTOCOLS / f"{file}.rsm").read_text(), name, Prover())
    verdicts = {r.property: r.verdict for r in outcome.findings.results}

    assert all(isinstance(each, Holds) and each.extent.scope is None for each in verdicts.values())
    assert outcome.mismatches == ()


@dataclass(frozen=True, slots=True)
class Proved:
    """What is proved in a shipped protocol, and changes that break it."""

    variant: str
    check: str
    claim: str
    mutants: Mapping[str, tuple[str, str]]


QUORUM_MUTANTS = {
    "quorums that need not meet": (
        "assume quorums_meet: write_quorum + read_quorum > size(Node)",
        "assume quorums_meet: write_quorum + read_quorum >= size(Node)",
    ),
    "any voter is elected": ("  require complete: forall v in voters. rank(v) <= rank(l)\n", ""),
    "too few voters": ("  require quorum:   can_elect(voters)\n", ""),
    "obeys the deposed": ("f.up and f.promised <= l.promised", "f.up"),
    "commits older": ("  require own: l.log[n - 1] == l.promised\n", ""),
    "commits alone": ("  require acked: can_commit(acks)\n", ""),
    "forgets promises": ("durable  promised:", "volatile promised:"),
    "forgets records": ("durable  log: ", "volatile log: "),
}


RAFT_MUTANTS = {
    "forgets votes": ("durable  voted_for:", "volatile voted_for:"),
    "votes twice": ("  require free:     is_free_for(s, m.from)\n", ""),
    "wins with any votes": ("  require majority: is_majority(s.votes)\n", ""),
    "half is a majority": ("2 * size(servers) > size(Server)", "2 * size(servers) >= size(Server)"),
    "counts old votes": ("require current: m.term == s.term\n  require waits", "require waits"),
}


BROKEN = {
    "quorum": Proved("proved", "any_n", "committed_survives", QUORUM_MUTANTS),
    "raft": Proved("proved_elections", "any_n_elections", "election_safety", RAFT_MUTANTS),
}
MUTANTS = [
    pytest.param(file, mutant, marks=[pytest.mark.nightly] if number % 3 else [])
    for file, proved in BROKEN.items()
    for number, mutant in enumerate(proved.mutants)
]


@pytest.mark.parametrize(("file", "mutant"), MUTANTS)
def test_a_broken_protocol_is_not_proved(file: str, mutant: str) -> None:
    proved = BROKEN[file]
    old, new = proved.mutants[mutant]
    text = alone(file, proved.variant)
    outcome = proof(text.replace(old, new), proved.check, Prover(seconds=0.3, explain=False))

    assert old in text
    assert proved.claim not in held(outcome)


# Of each rung of the Kafka ladder, which step breaks which lemma of the proof of the last rung, as
# the table at the end of the file says.
BROKEN_RUNGS = {
    "kafka_log": {
        "fetch": "log_matching",
        "inc_hw": "isr_has_all",
        "expand_isr": "isr_has_all",
        "become_follower": "isr_has_all",
    },
    "kip101": {
        "fetch": "log_matching",
        "inc_hw": "isr_has_all",
        "expand_isr": "isr_has_all",
        "become_follower": "followers_agree",
    },
    "kip279": {
        "fetch": "log_matching",
        "become_follower": "followers_are_behind",
        "inc_hw": "isr_has_all",
        "expand_isr": "isr_has_all",
    },
    "kip320_first_try": {
        "fetch": "log_matching",
        "become_follower": "followers_are_behind",
        "expand_isr": "isr_has_all",
        "inc_hw": "isr_has_all",
    },
    "kip320_eager_expansion": {"expand_isr": "isr_has_all"},
}
CELLS = [(rung, action) for rung, actions in BROKEN_RUNGS.items() for action in actions]


def proof_of_rung(rung: str) -> tuple[ProofTask, tuple[ir.Property, ...]]:
    """What is to be proved when a rung of the Kafka ladder has the lemmas of the last one."""
    text = (PROTOCOLS / "kafka_log.rsm").read_text()
    assert "variant proved of kip320 " in text
    moved = text.replace("variant proved of kip320 ", f"variant proved of {rung} ")
    model = next(m for m in loads(moved) if m.name == "proved")
    return ProofTask(model, (), model.actions), model.properties


@pytest.mark.parametrize(("rung", "action"), CELLS)
def test_the_proof_of_kafkas_last_rung_breaks_on_the_others(rung: str, action: str) -> None:
    asked, claims = proof_of_rung(rung)
    lemma = BROKEN_RUNGS[rung][action]
    shown = broken_step(programs()[0], asked, Obligation(lemma, action), claims, 20)

    assert shown is not None
    assert len(shown.scope.sorts["Replica"]) == 2
    before, after = shown.states
    machine = Machine(shown.model, shown.scope)
    assert all(machine.holds(claim, before) for claim in claims)
    assert not machine.holds(shown.model.property(lemma), after)
    assert shown.steps[0].action == action


@pytest.mark.parametrize("action", ["become_follower", "inc_hw", "fetch", "shrink_isr"])
def test_one_guard_less_breaks_the_proof_of_kafka_in_one_place(action: str) -> None:
    asked, claims = proof_of_rung("kip320_eager_expansion")
    for lemma in ("isr_has_all", "leaders_have_all", "log_matching"):
        text = asked.formula(Obligation(lemma, action), claims).text()

        assert insist(programs()[0], text, seconds=20).answer is ProcessAnswer.UNSAT


# ------------------------------------------------------- each rule of the encoding

TRUE_CLAIMS = {  # a model with a claim that is true, a change that makes it false, and a scope
    "numbers": (
        """
        nat N
        state { x: N = 0 }
        action up { x := x + 1 }
        invariant claim: x != 2 or x >= 0 and x * 2 / 2 == x and -x <= 0 and x % 2 < 2
        """,
        ("x != 2 or x >= 0", "x != 2 and x >= 0"),
        "N = 3",
    ),
    "a limit of a nat is part of the scope": (
        """
        nat N
        state { x: N = 0 }
        action up { x := x + 1 }
        invariant claim: forall n: N. exists m: N. m == x and m + n >= x
        """,
        ("m == x and", "m == x + 1 and"),
        "N = 3",
    ),
    "enums and options": (
        """
        enum E { a, b, c }
        state { e: E = a, o: E? = none }
        action go { e := b  o := e }
        action back { e := a }
        invariant claim: e < c and (o == none or o == b)
        """,
        ("o := e", "o := c"),
        "",
    ),
    "records and tuples": (
        """
        nat N
        record R { n: N, s: bool }
        state { r: R = R(0, true), p: (N, N) = (0, 1) }
        action up { r.n := r.n + 1  p := (r.n, r.n + 1) }
        invariant claim: r.s and p < (r.n + 1, 0) and (r.n, 0) < p
        """,
        ("p := (r.n, r.n + 1)", "p := (r.n, 0)"),
        "N = 3",
    ),
    "sequences": (
        """
        nat N
        state { s: seq[bool; N] = [], u: seq[bool; N] = [] }
        action add { s.append(true) }
        action copy { u := s[..size(s) - 1] }
        action cut { s := s[1..]  u := [] }
        action join { s := u + s  u := [] }
        invariant claim: forall b in s. b and (u == [] or starts_with(u, [u[0]]))
        lemma same: forall b in u. b
        """,
        ("s.append(true)", "s := s + [size(s) < 2]"),
        "N = 3",
    ),
    "common prefixes": (
        """
        nat N
        state { s: seq[bool; N] = [], u: seq[bool; N] = [] }
        action both { s.append(true)  u.append(true) }
        action one { s.append(false) }
        action meet { let n = common_prefix(s, u)  s := s[..n]  u := u[..n] }
        action differ { require s != u  s := [] u := [] }
        invariant claim: common_prefix(s, u) <= size(u) and starts_with(s, s[..common_prefix(s, u)])
        """,
        ("common_prefix(s, u) <= size(u)", "common_prefix(s, u) == size(u)"),
        "N = 2",
    ),
    "sets": (
        """
        sort S
        state { a: set[S] = {}, b: set[S] = {} }
        action grow(s: S) { a.add(s)  b := b + {s} }
        action drop(s in a - b) { a.remove(s) }
        action less(s in b) { b.remove(s) }
        invariant claim: b subset a and (a & b) == b and size(b) <= size(a) and size(a) <= size(S)
        """,
        ("action drop(s in a - b)", "action drop(s in a)"),
        "S = 3",
    ),
    "maps and loops over members": (
        """
        sort S
        process S { durable x: bool = false  durable y: bool = false }
        action all(v in subsets(S)) { for s in v { s.x := true  if s.x { s.y := true } } }
        action off(s: S) { s.x := false  s.y := false }
        invariant claim: {s in S where s.x} == {s in S where s.y}
        """,
        ("if s.x { s.y := true }", "if not s.x { s.y := true }"),
        "S = 2",
    ),
    "what is chosen": (
        """
        sort S
        nat N
        process S { durable n: N = 0 }
        action up { choose s in S where s.n <= 1  s.n := s.n + 1 }
        action swap { let top = max s in S. s.n  choose s in S  s.n := top }
        invariant claim: forall s: S. s.n <= 2
        """,
        ("where s.n <= 1", "where s.n <= 2"),
        "S = 2, N = 3",
    ),
    "messages of a set": (
        """
        sort S
        nat N
        union M { Ask(n: N, of: S)  Tell(n: N) }
        network net: set of M with drop
        state { top: N = 0 }
        action ask(s: S) { net.send(Ask(top, s)) }
        action up { top := top + 1 }
        action answer(m: Ask in net) { net.receive(m)  net.send(Tell(m.n)) }
        invariant claim: forall m in net. m.n <= top
        """,
        ("net.send(Tell(m.n))", "net.send(Tell(m.n + 1))"),
        "S = 1, N = 2, net = 2",
    ),
    "messages of a bag": (
        """
        nat N
        union M { Ask(n: N)  Tell(n: N) }
        network net: bag of M with drop, duplicate
        state { top: N = 0 }
        action ask { net.send(Ask(top)) }
        action up { top := top + 1 }
        action answer(m: Ask in net) { net.receive(m)  net.send(Tell(m.n)) }
        invariant claim: forall m: Tell in net. m.n <= top
        lemma asked: forall m: Ask in net. m.n <= top
        """,
        ("net.send(Ask(top))", "net.send(Ask(top + 1))"),
        "N = 2, net = 2",
    ),
    "messages of a queue": (
        """
        nat N
        network net: fifo of N with drop, duplicate, reorder
        state { top: N = 0 }
        action send { net.send(top) }
        action up { top := top + 1 }
        action take(m in net) { net.receive(m) }
        invariant claim: forall n in net. n <= top
        """,
        ("net.send(top)", "net.send(top + 1)"),
        "N = 2, net = 2",
    ),
    "sets inside messages": (
        """
        sort S
        nat N
        record Told { of: set[S], n: N }
        network net: set of Told
        state { now: Told = Told(of = {}, n = 0) }
        action grow(s in S - now.of) { now.of.add(s)  now.n := now.n + 1  net.send(now) }
        action heard(m in net) { require newest: m.n == now.n  now := m }
        invariant claim: forall a in net, b in net. a.n <= b.n implies a.of subset b.of
        lemma told: forall m in net. m.n <= now.n and m.of subset now.of
        lemma newest: forall m in net. m.n == now.n implies m.of == now.of
        """,
        ("now.of.add(s)", "now.of := {s}"),
        "S = 2, N = 2, net = 3",
    ),
    "options and sets of sets": (
        """
        sort S
        state { a: set[S] = {}, best: set[S]? = none, all: set[set[S]] = {{}} }
        action grow(s: S) { a.add(s) }
        action save { best := a  all.add(a) }
        action load(b in best) { a := b }
        invariant claim: {} in all and forall b in best. b in all
        """,
        ("all.add(a)", "all.add({s in S where s not in a})"),
        "S = 2",
    ),
    "the greatest number of which something is true": (
        """
        nat N
        state { s: seq[bool; N] = [], k: N = 0 }
        action add(b: bool) { s.append(b)  k := 0 }
        action look { k := max n in 0..size(s) where n == 0 or s[n - 1]. n }
        invariant claim: k == 0 or (k <= size(s) and s[k - 1] and not exists n in k..size(s) - 1. s[n])
        """,
        ("s[n - 1]. n", "not s[n - 1]. n"),
        "N = 3",
    ),
    "majorities meet": (
        """
        sort S
        process S { durable v: bool? = none }
        state { yes: bool = false, no: bool = false }
        action vote(s: S, b: bool) { require free: s.v == none  s.v := b }
        action win { require most: 2 * size({s in S where s.v == true}) > size(S)  yes := true }
        action lose { require most: 2 * size({s in S where s.v == false}) > size(S)  no := true }
        lemma won: yes implies 2 * size({s in S where s.v == true}) > size(S)
        lemma lost: no implies 2 * size({s in S where s.v == false}) > size(S)
        invariant claim: not (yes and no)
        """,
        ("require free: s.v == none", "require free: true"),
        "S = 3",
    ),
    "steps": (
        """
        nat N
        state { x: N = 0 }
        action up { x := x + 1 }
        action keep { x := x }
        step claim: x >= old(x) and (did(up) implies x == old(x) + 1)
        """,
        ("x := x }", "x := 0 }"),
        "N = 3",
    ),
    "asserts": (
        """
        nat N
        state { x: N = 0 }
        action up { if x < 2 { x := x + 1  assert claim: x <= 2 } }
        """,
        ("if x < 2", "if x < 3"),
        "N = 3",
    ),
}


def rule(name: str, *, broken: bool) -> str:
    text, (old, new), scope = TRUE_CLAIMS[name]
    assert old in text
    clause = f"scope {scope}" if scope else ""
    body = text.replace(old, new) if broken else text
    return small(f"{body}\ncheck small {{ {clause} faults any }}")


@pytest.mark.parametrize("name", TRUE_CLAIMS)
def test_each_rule_proves_what_is_true(name: str) -> None:
    outcome = proof(rule(name, broken=False), "small")

    assert "claim" in held(outcome)


@pytest.mark.parametrize("name", TRUE_CLAIMS)
def test_no_rule_proves_what_the_explicit_engine_breaks(name: str) -> None:
    text = rule(name, broken=True)
    model = loads(text)[0]
    explicit = check(model, model.checks[0], engine="explicit")

    assert isinstance(explicit.verdict("claim"), Violated)
    assert "claim" not in held(proof(text, "small", Prover(seconds=0.3, explain=False)))


@pytest.mark.parametrize("first", [0, 30])
def test_what_is_proved_of_a_random_model_is_not_violated(first: int) -> None:
    proved, broken = 0, []
    for seed in range(first, first + 30):
        (model,) = loads(model_text(Random(seed).randrange))  # noqa: S311 - no secret
        for claim in model.properties:
            if claim.kind not in INVARIANTS | OF_STEPS:
                continue
            alone = replace(model, properties=(claim,))
            asked = replace(model.checks[0], only=(claim.name,), expect=())
            try:
                outcome = check(alone, asked, engine=Prover(seconds=0.3, explain=False))
                if claim.name in held(outcome):
                    proved += 1
                    explicit = check(alone, asked, engine="reference", limits=Limits(states=5000))
                    broken += [(seed, claim.name)] * isinstance(explicit.verdict(claim.name), Violated)
            except (Unsupported, Unmet, ModelError):
                continue

    assert proved > 0
    assert broken == []


def test_a_set_that_is_given_as_an_option_is_one_value() -> None:
    text = small("""
state { x: set[bool] = {} }
action a { x := {true} }
fun given(v: set[bool]): set[bool]? = v
invariant one: forall s in given(x). s == {} or s == {true}
invariant is_in: {true} not in given(x) or x == {true}
invariant wrong: forall s in given(x). s == {}
check c { }
""")

    assert held(proof(text, "c")) == {"one", "is_in"}


# ------------------------------------------------------------- what is not proved


def test_a_claim_that_is_not_inductive_is_shown_a_step_and_called_unknown() -> None:
    text = small(
        "nat N\nstate { x: N = 0 }\naction up { x := x + 2 }\ninvariant odd: x != 3\ncheck c { scope N = 9 }"
    )
    outcome = proof(text, "c")
    verdict = outcome.verdict("odd")
    assert outcome.findings.proof is not None
    (cell,) = [cell for cell in outcome.findings.proof.dropped if cell.kept is ObligationStatus.FAILED]

    assert isinstance(verdict, Unknown)
    assert "not inductive" in verdict.reason
    assert isinstance(cell.shown, Trace)
    assert (cell.shown.states, cell.shown.ending) == (((1,), (3,)), BadState())


def test_the_step_shown_is_one_by_the_semantics() -> None:
    text = (
        (PROTOCOLS / "quorum.rsm")
        .read_text()
        .replace("write_quorum + read_quorum > size", "write_quorum + read_quorum >= size")
    )
    outcome = proof(text, "any_n", Prover(seconds=0.3))
    assert outcome.findings.proof is not None
    shown = [cell for cell in outcome.findings.proof.dropped if cell.shown is not None]

    assert shown
    for cell in shown:
        assert cell.shown is not None
        machine = Machine(cell.shown.model, cell.shown.scope)
        after = {s.state for s in machine.steps(cell.shown.states[0]) if hasattr(s, "state")}
        assert cell.shown.states[1] in after


def test_a_lemma_that_is_false_at_the_start_helps_nobody() -> None:
    text = small(
        "nat N\nstate { x: N = 0 }\naction up { x := x + 2 }\nlemma wrong: x > 5\n"
        "invariant claim: x != 3\ncheck c { scope N = 9 only claim }"
    )

    assert held(proof(text, "c")) == set()


def test_faults_that_the_check_rules_out_are_not_steps() -> None:
    text = small(
        "nat N\nstate { x: N = 0 }\naction keep { x := x }\nfault up { x := x + 1 }\n"
        "invariant claim: x == 0\n"
        "check none { scope N = 2 faults none }\ncheck any { scope N = 2 faults any }"
    )

    assert held(proof(text, "none")) == {"claim"}
    assert held(proof(text, "any")) == set()


def test_what_cannot_be_said_is_refused_by_name_and_place() -> None:
    text = small(
        "sort S\nnat N\nprocess S { durable x: N = 0 }\nstate { y: N = 0 }\n"
        "action add { for s: S { y := y + s.x } }\ninvariant claim: y >= 0\ncheck c { scope S = 2, N = 2 }"
    )
    with pytest.raises(Unsupported) as refused:
        proof(text, "c")

    assert "a loop that changes more than its member's own entries (<text>:" in str(refused.value)


# ---------------------------------------------------------------- solvers that fail


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("#!/bin/sh\ncat > /dev/null\necho unknown\n", "the solver does not know"),
        ("#!/bin/sh\ncat > /dev/null\necho timeout\n", "the solver had no time left"),
        ("#!/bin/sh\ncat > /dev/null\necho '(error \"out of memory\")'\n", "the solver had no memory left"),
        ("#!/bin/sh\necho '(error \"line 1: what?\")'\necho unsat\n", "the solver did not understand"),
        ("#!/bin/sh\nexit 1\n", "the solver did not understand"),
    ],
)
def test_a_solver_without_an_answer_makes_a_claim_unknown(script: str, reason: str, tmp_path: Path) -> None:
    program = tmp_path / "solver"
    program.write_text(script)
    program.chmod(0o755)
    outcome = proof(rule("numbers", broken=False), "small", Prover(program=Program("fake", (str(program),))))
    verdict = outcome.verdict("claim")

    assert isinstance(verdict, Unknown)
    assert reason in verdict.reason


def test_a_solver_without_an_answer_is_asked_again_with_another_seed(tmp_path: Path) -> None:
    script = tmp_path / "solver"
    script.write_text(
        '#!/bin/sh\ncat > /dev/null\ncase "$*" in *random_seed=2*) echo unsat;; *) echo unknown;; esac\n'
    )
    script.chmod(0o755)
    program = Program("z3", (str(script),))

    assert insist(program, "(check-sat)", seconds=5).answer is ProcessAnswer.UNSAT
    assert ask(program, "(check-sat)", seconds=5).answer is ProcessAnswer.UNKNOWN


def test_without_a_solver_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelcheck.symbolic.unbounded.engine.programs", lambda: ())
    verdict = proof(rule("numbers", broken=False), "small").verdict("claim")

    assert verdict == Unknown("no solver is installed; `pip install z3-solver` brings one")
