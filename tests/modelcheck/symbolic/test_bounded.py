"""Bounded search finds what a plain breadth-first search finds, in both orders."""

from __future__ import annotations

import signal
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from modelcheck import cli
from modelcheck.api import Unmet, Unsupported, check
from modelcheck.asking.overrides import Overrides, apply
from modelcheck.contract.engine import Limits
from modelcheck.contract.report import Event, Progress
from modelcheck.contract.result import End, Findings, Holds, Unknown, Violated
from modelcheck.grounding import layout
from modelcheck.symbolic.bounded import BoundedSearch
from spec.load import load, loads
from spec.model.ir import Check, Model
from spec.model.values import ModelError
from tests.agreement import cost
from tests.modelcheck.symbolic.proved import asked, random_checks
from tests.plain_search import Plain, shown
from tests.stories import named

DEPTH = 4
MODELS = 30


def agree(model: Model, question: Check, depth: int = DEPTH) -> bool:
    """Compare both orders with a plain search; whether there was something to compare."""
    question = asked(model, question)
    if not question.only:
        return False
    plain = Plain(model, question, depth)
    try:
        if not plain.search():
            return False
        steps = check(model, question, engine=BoundedSearch(depth)).findings
        faults = check(model, question, engine=BoundedSearch(depth, fewest_faults=True)).findings
    except (Unsupported, Unmet, ModelError):
        return False
    if "" in plain.shown:  # where it errs, what else is true there depends on the order of looking
        first, fewest = min(plain.shown[""]), min((f, s) for s, f in plain.shown[""])
        if End.DECIDED in (steps.end, faults.end):  # before it came to an error
            return False
        assert steps.error is not None
        assert cost(steps.error)[::-1] == first
        assert faults.error is not None
        assert cost(faults.error) == fewest
        return True
    assert steps.error is None
    assert faults.error is None
    expected = {name: min(costs) for name, costs in plain.shown.items()}
    assert {name: (len(t.steps), t.faults) for name, t in shown(steps).items()} == expected
    cheapest = {name: min((f, s) for s, f in costs) for name, costs in plain.shown.items()}
    assert {name: (t.faults, len(t.steps)) for name, t in shown(faults).items()} == cheapest
    return True


def test_a_set_of_few_members_out_of_a_hundred_is_written_in_few_terms() -> None:
    """Each member that may be there asked all others whether they were: twenty minutes."""
    (model,) = load(str(Path(__file__).parents[1] / "agreement" / "wide_members.rsm"))

    assert agree(model, model.checks[0], 3)


def test_both_orders_agree_on_raft() -> None:
    assert agree(*named("raft", "elections_two_terms"))


def test_both_orders_agree_with_sets_in_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "FEW_MEMBERS", 1)
    compared = sum(agree(model, question, 3) for model, question in random_checks("places", 0, MODELS))

    assert compared > MODELS // 6


# -------------------------------------------------------------------------- answers


COUNTER = """
protocol counter
nat N
state { n: N = 0 }
action up { n := n + 1 }
fault slip { require n > 0
  n := n - 1 }
invariant low: n < 3
reachable two: n == 2
step slow: n <= old(n) + 1
check it { scope N = 5
  faults any }
"""


def counter(depth: int, extra: str = "", *, fewest_faults: bool = False) -> Findings:
    model = loads(COUNTER + extra)[0]
    return check(model, model.checks[0], engine=BoundedSearch(depth, fewest_faults=fewest_faults)).findings


def test_what_no_run_of_the_depth_shows_is_unknown() -> None:
    found = counter(2)

    assert (found.end, found.depth) == (End.DEPTH, 2)
    assert {r.property: type(r.verdict) for r in found.results} == {
        "low": Unknown,
        "two": Holds,
        "slow": Unknown,
    }
    verdict = next(r.verdict for r in found.results if r.property == "low")
    assert isinstance(verdict, Unknown)
    assert verdict.reason == "no violation in runs of up to 2 steps"


def test_a_depth_of_none_is_the_start_alone() -> None:
    found = counter(0)

    assert (found.end, found.depth) == (End.DEPTH, 0)


def test_where_no_run_is_longer_it_holds() -> None:
    text = "protocol p\nnat N\nstate { n: N = 0 }\naction up { require n < 2\n  n := n + 1 }\n"
    model = loads(text + "invariant low: n < 3\ncheck it { scope N = 5 }")[0]
    found = check(model, model.checks[0], engine=BoundedSearch(20)).findings

    assert (found.end, found.depth) == (End.COMPLETE, 3)
    assert isinstance(found.results[0].verdict, Holds)


def test_the_fewest_faults_may_take_more_steps() -> None:
    text = """
protocol p
nat N
state { n: N = 0 }
action up { n := n + 1 }
fault jump { n := 3 }
invariant low: n < 3
check it { scope N = 4
  faults any }
"""
    model = loads(text)[0]
    costs = []
    for fewest in (False, True):
        found = check(model, model.checks[0], engine=BoundedSearch(5, fewest_faults=fewest)).findings
        trace = shown(found)["low"]
        costs.append((len(trace.steps), trace.faults))

    assert costs == [(1, 1), (3, 0)]


@pytest.mark.parametrize("fewest", [False, True])
def test_there_are_no_more_faults_of_a_kind_than_the_budget_says(*, fewest: bool) -> None:
    text = """
protocol p
state { n: 0..3 = 0 }
fault slip { require n < 3
  n := n + 1 }
invariant low: n < MOST
check it { faults slip <= 2 }
"""
    found = {}
    for most in (2, 3):
        (model,) = loads(text.replace("MOST", str(most)))
        engine = BoundedSearch(5, fewest_faults=fewest)
        found[most] = type(check(model, model.checks[0], engine=engine).findings.results[0].verdict)

    assert found == {2: Violated, 3: Holds}


def test_an_error_of_the_model_is_found_with_the_run_to_it() -> None:
    text = "protocol p\nstate { n: 0..2 = 0 }\naction up { n := n + 1 }\ninvariant low: n < 9\ncheck it { }"
    model = loads(text)[0]
    found = check(model, model.checks[0], engine=BoundedSearch(5)).findings

    assert found.end is End.ERROR
    assert found.error is not None
    assert len(found.error.steps) == 2


def test_of_two_errors_after_as_many_steps_the_one_with_fewer_faults_is_shown() -> None:
    text = """
protocol p
sort Replica
process Replica { durable term: 0..1 = 0 }
fun all_of(some: set[Replica]): set[Replica] = some
fault slow { require chosen: (argmax r in all_of({}). 0).term == 0 }
reachable led: (argmax r: Replica. r.term).term == 0
check it { scope Replica = 2  faults any }
"""
    model = loads(text)[0]
    found = check(model, model.checks[0], engine=BoundedSearch(2)).findings

    assert found.error is not None
    assert cost(found.error) == (0, 0)


@pytest.mark.parametrize("engine", ["bmc", "induction", "ic3"])
def test_a_model_that_cannot_start_is_told(engine: str) -> None:
    text = "protocol p\nstate { n: 0..3 = 0 }\ninit { choose x in 0..4\n  n := x }\ncheck it { }"
    model = loads(text)[0]
    with pytest.raises(ModelError, match="outside"):
        check(model, model.checks[0], engine=engine)


def test_a_set_of_what_may_be_very_much_is_refused_without_listing_it() -> None:
    text = "protocol p\nstate { a: map[0..9, 0..9] = [k: 0..9 -> 0] }\naction look(x in {a}) {}\ncheck it { }"
    model = loads(text)[0]
    with pytest.raises(Unsupported, match="more than 4096 values"):
        check(model, model.checks[0], engine="ic3")


def test_no_time_is_no_answer_and_no_wrong_one() -> None:
    model = loads(COUNTER)[0]
    limits = Limits(seconds=0.0)
    found = check(model, model.checks[0], engine=BoundedSearch(5), limits=limits).findings

    assert found.end is End.SECONDS
    assert all(isinstance(result.verdict, Unknown) for result in found.results)


def test_a_ctrl_c_that_python_forgets_ends_the_search() -> None:
    class Forgets:
        """Presses Ctrl-C after some steps, where nobody hears it."""

        def tell(self, event: Event) -> None:
            if isinstance(event, Progress) and event.depth == 2:
                with suppress(KeyboardInterrupt):
                    signal.raise_signal(signal.SIGINT)

    model = loads(COUNTER)[0]
    found = check(model, model.checks[0], engine=BoundedSearch(9), reporter=Forgets()).findings

    assert (found.end, found.depth) == (End.INTERRUPTED, 2)
    assert [type(r.verdict) for r in found.results] == [Unknown, Unknown, Unknown]


def test_it_finds_the_loss_of_kip_101_with_five_replicas() -> None:
    model, question = named("kafka_followers", "kip101")
    wider = apply(model, question, Overrides(("Broker=5",), ())).scope
    narrowed = replace(question, scope=wider, expect=(), only=("acknowledged_survive",))
    trace = shown(check(model, narrowed, engine=BoundedSearch(12)).findings)["acknowledged_survive"]

    assert (len(trace.steps), trace.faults) == (11, 2)


def test_it_finds_the_loss_of_kip_279_with_three_replicas() -> None:
    model, question = named("kafka_log", "kip101_three_large")
    narrowed = replace(question, expect=(), only=("weak_isr",))
    trace = shown(check(model, narrowed, engine=BoundedSearch(10)).findings)["weak_isr"]

    assert (len(trace.steps), trace.faults) == (10, 0)


def test_members_that_no_step_has_told_apart_are_taken_in_order() -> None:
    text = """
protocol p
sort S
state { seen: set[S] = {} }
action see(s: S) { require not_yet: s not in seen
  seen.add(s) }
invariant few: size(seen) < 3
check it { scope S = 4 }
"""
    model = loads(text)[0]
    trace = shown(check(model, model.checks[0], engine=BoundedSearch(4)).findings)["few"]

    assert [step.args for step in trace.steps] == [(0,), (1,), (2,)]


def test_the_command_line_says_how_deep_it_looked(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(Path(__file__).parents[3] / "spec/protocols/kafka.rsm")

    code = cli.main(
        ["check", file, "--check", "jepsen", "--engine", "bmc", "--depth", "6", "--fewest-faults"]
    )

    out = capsys.readouterr().out
    assert code == 0
    assert "runs of up to 5 steps · by a solver" in out
    assert "violated by a run with 2 faults, in 5 steps" in out


def test_an_order_without_its_engine_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(Path(__file__).parents[3] / "spec/protocols/kisr.rsm")

    assert cli.main(["check", file, "--check", "xs", "--fewest-faults"]) == 2
    assert "--engine bmc" in capsys.readouterr().err


def test_a_limit_for_questions_needs_an_engine_that_asks_some(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(Path(__file__).parents[3] / "spec/protocols/kisr.rsm")

    assert cli.main(["check", file, "--check", "xs", "--seconds", "5"]) == 2
    assert "--seconds is for --engine bmc" in capsys.readouterr().err
    assert (
        cli.main(["check", file, "--check", "xs", "--engine", "bmc", "--depth", "1", "--seconds", "60"]) == 3
    )
