"""What a proof assumes beside the claims: nothing that contradicts itself, or that is not so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from counterexamples.lines import plain
from modelcheck.answers.card import card
from modelcheck.api import check
from modelcheck.contract.result import Holds, Outcome, Violated
from modelcheck.symbolic.unbounded.engine import Prover
from spec.load import loads

PROVER = Prover(seconds=1, explain=False)


def proof(text: str, *claims: str) -> Outcome:
    """What the prover says of the check of a text, or of some of its claims."""
    (model,) = loads(text)
    return check(model, replace(model.checks[0], only=claims or None), engine=PROVER)


def held(outcome: Outcome) -> set[str]:
    return {each.property for each in outcome.findings.results if isinstance(each.verdict, Holds)}


SETS_IN_SETS = """
protocol sets
nat N
state {{ x: N = 0, known: set[set[N]] = {{{{}}}} }}
action tick {{ x := x + 1 }}
action grow(s in known, n: N) {{ known.add(s + {{n}}) }}
invariant wrong: x < 2
lemma first: forall s in known. s == {{}} or {0}
check c {{ scope N = 2 }}
"""


@pytest.mark.parametrize("first", ["min(s) >= 0", "(max n in s. n * 2) >= 0"])
def test_of_sets_without_end_nothing_is_said_that_contradicts_itself(first: str) -> None:
    assert "wrong" not in held(proof(SETS_IN_SETS.format(first)))


def test_the_greatest_of_a_set_inside_another_is_still_one_of_it() -> None:
    text = SETS_IN_SETS.format("max(s) in s and min(s) in s and forall n in s. n <= max(s)")

    assert held(proof(text, "first")) == {"first"}


HALVES = """
protocol halves
sort S
process S { durable v: bool? = none }
state { yes: bool = false, no: bool = false }
fun has(b: bool): set[S] = {s in S where s.v == b}
action vote(s: S, b: bool) { require free: s.v == none  s.v := b }
action win { require half: 2 * size(has(true)) >= size(S)  yes := true }
action lose { require half: 2 * size(has(false)) >= size(S)  no := true }
lemma won: yes implies 2 * size(has(true)) >= size(S)
lemma lost: no implies 2 * size(has(false)) >= size(S)
invariant one: not (yes and no)
check c { scope S = 2 }
"""


def test_two_halves_need_not_meet() -> None:
    (model,) = loads(HALVES)

    assert isinstance(check(model, model.checks[0]).verdict("one"), Violated)
    assert held(proof(HALVES)) == {"won", "lost"}


ASSUMED = """
protocol assumed
sort S
assume few: size(S) <= 2
state { x: set[S] = {} }
action add(s: S) { x.add(s) }
invariant claim: size(x) <= 2
check c { scope S = 2 }
"""


def test_the_card_of_a_proof_names_what_the_model_assumes() -> None:
    outcome = proof(ASSUMED)

    assert held(outcome) == {"claim"}
    assert "any number of S · where few is true" in plain(card(outcome, width=110))
