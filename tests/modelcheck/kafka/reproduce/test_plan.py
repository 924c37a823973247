"""A run as phases: what is done, what follows by itself, and what has to wait meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from counterexamples.trace import Trace
from modelcheck.asking.models import pick_checks
from modelcheck.kafka.reproduce.observed_state import Ending, View
from modelcheck.kafka.reproduce.plan import NOT_FORCED, CannotForce, Plan, can_drive, plan
from modelcheck.kafka.reproduce.prediction import predict
from modelcheck.kafka.reproduce.selection import file_of
from spec.load import load
from spec.meaning.semantics import Step

Counterexample = Callable[[str], Trace]


def planned(trace: Trace) -> Plan:
    found = plan(trace)
    assert isinstance(found, Plan)
    return found


def predicted(trace: Trace, under: str) -> frozenset[Ending]:
    model, check = pick_checks(load(file_of(under)), [under])[0]
    return predict(planned(trace).phases, model, check.scope, trace.states[0])


def test_what_follows_by_itself_belongs_to_the_step_before(counterexample: Counterexample) -> None:
    phases = planned(counterexample("last_replica_standing")).phases
    found = [
        (each.first, [step.action for step in each.done], [step.action for step in each.following])
        for each in phases
    ]

    assert found == [
        (1, ["produce"], ["fetch", "fetch", "commit"]),
        (5, ["isolate"], []),
        (6, ["power_loss"], ["give_up"]),
        (8, ["restart"], ["elect"]),
    ]


def test_a_replica_that_is_not_to_have_a_record_cannot_fetch_it(counterexample: Counterexample) -> None:
    trace = counterexample("acks_one")
    leader = View(trace.model, trace.scope).seen(trace.states[0]).leader
    assert leader is not None
    first, second = planned(trace).phases

    assert first.held == {(1 - leader, leader)}
    assert second.held == set()


def test_the_first_leader_is_the_first_replica(counterexample: Counterexample) -> None:
    for name in ("acks_one", "last_replica_standing", "eligible_three"):
        trace = counterexample(name)

        assert planned(trace).order[0] == View(trace.model, trace.scope).seen(trace.states[0]).leader


def test_brokers_that_go_down_before_anybody_notices_go_together(counterexample: Counterexample) -> None:
    found = [
        [step.action for step in each.done] for each in planned(counterexample("eligible_all_lost")).phases
    ]

    assert ["power_loss", "crash"] in found or ["crash", "power_loss"] in found


def test_no_order_of_replicas_elects_who_has_no_session(counterexample: Counterexample) -> None:
    trace = counterexample("acks_one")
    (other,) = {0, 1} - set(trace.steps[-1].args)
    found = plan(replace(trace, steps=(*trace.steps[:-1], Step("elect", (other,)))))

    assert isinstance(found, CannotForce)
    assert found.step == len(trace.steps)
    assert "order of replicas" in found.why


def test_a_lost_request_cannot_be_forced(counterexample: Counterexample) -> None:
    found = plan(counterexample("acks_zero"))

    assert found == CannotForce(1, NOT_FORCED["lose_request"])


def test_models_of_something_else_are_not_driven() -> None:
    (quorum, *_) = load("quorum")

    assert not can_drive(quorum)
    assert all(can_drive(model) for model in load("kafka"))


@pytest.mark.parametrize("name", ["acks_one", "acks_one_moved", "last_replica", "last_replica_standing"])
def test_a_run_ends_as_it_was_foretold(name: str, counterexample: Counterexample) -> None:
    trace = counterexample(name)

    assert View(trace.model, trace.scope).ending(trace.states[-1]) is Ending.LOST
    assert Ending.LOST in predicted(trace, name)


@pytest.mark.parametrize(
    ("name", "under"),
    [
        ("acks_one", "acks_all"),
        ("last_replica", "last_replica_flushed"),
        ("last_replica_standing", "eligible_replicas"),
        ("two_in_sync_earlier", "two_in_sync_eligible"),
    ],
)
def test_under_another_configuration_nothing_is_lost(
    name: str, under: str, counterexample: Counterexample
) -> None:
    assert Ending.LOST not in predicted(counterexample(name), under)


def test_a_directory_that_is_told_late_may_leave_nobody_to_lead(counterexample: Counterexample) -> None:
    trace = counterexample("empty_leads_later")

    assert predicted(trace, "empty_leads_later") == {Ending.LOST}
    assert predicted(trace, "nobody_looks") == {Ending.LOST, Ending.NOBODY_LEADS}


@pytest.mark.parametrize("name", ["deposed_acks_one", "deposed_cut_off", "deposed_unclean"])
def test_a_leader_that_is_deposed_is_driven_until_it_has_cut_its_log(
    name: str, counterexample: Counterexample
) -> None:
    trace = counterexample(name)

    assert Ending.LOST in predicted(trace, name)
    assert predicted(trace, {"deposed_unclean": "deposed_clean"}.get(name, "deposed_acks_all")) == {
        Ending.KEPT
    }


def test_a_broker_is_registered_in_one_phase_and_unfenced_in_another(counterexample: Counterexample) -> None:
    trace = counterexample("registered_all_lost")
    phases = planned(trace).phases
    seen = [View(trace.model, trace.scope).seen(each.after) for each in phases]
    starts = [[step.action for step in each.done] for each in phases][-3:]

    assert starts == [["register"], ["register"], ["unfence"]]
    assert [sorted(each.up) for each in seen[-3:]] == [[0], [0, 1], [0, 1]]
    assert [sorted(each.session) for each in seen[-3:]] == [[], [], [0]]
