"""A review of partitions that are not well starts from the state that kafka-topics shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from modelcheck.api import check
from modelcheck.cli import main
from modelcheck.contract.engine import Engine
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import Violated
from modelcheck.explicit.engine import ExplicitEngine
from modelcheck.kafka.questions.partition import PartitionModel, partition
from modelcheck.kafka.questions.question import KINDS, as_check, groups, under_these
from modelcheck.kafka.questions.today.degraded import degraded, with_true_names
from modelcheck.kafka.settings.readers.describe import read_topics
from modelcheck.kafka.settings.resolution.partition_states import PartitionState
from modelcheck.kafka.settings.resolution.settings import resolve
from modelcheck.search.reference import ReferenceEngine
from spec.meaning.semantics import Machine, State
from spec.source import Source

SCHEMA = json.loads((Path(__file__).parents[3] / "modelcheck/kafka/report/schema.json").read_text())


def described(*partitions: str, topic: str = "orders", configs: str = "") -> str:
    """What kafka-topics prints of a topic: its heading, then a line for each partition."""
    factor = max(line.split("Replicas: ")[1].split("\t")[0].count(",") + 1 for line in partitions)
    head = f"Topic: {topic}\tPartitionCount: {len(partitions)}\tReplicationFactor: {factor}"
    lines = (f"\tTopic: {topic}\tPartition: {number}\t{each}" for number, each in enumerate(partitions))
    return "\n".join([f"{head}\tConfigs: {configs}", *lines, ""])


def states(text: str) -> tuple[PartitionState, ...]:
    return resolve([read_topics(Source("topics.txt", text))], client="3.0").states


def only(text: str) -> PartitionState:
    (state,) = states(text)
    return state


# ------------------------------------------------------------------ which state is shown


@pytest.mark.parametrize("none", ["none", "-1", ""])
def test_a_partition_without_a_leader_is_not_well(none: str) -> None:
    state = only(described(f"Leader: {none}\tReplicas: 1,2,3\tIsr: 1"))

    assert (state.leader, state.isr, state.outside) == (None, (1,), (2, 3))


def test_replicas_that_miss_from_the_isr_are_outside() -> None:
    state = only(described("Leader: 2\tReplicas: 1,2,3\tIsr: 2"))

    assert (state.leader, state.isr, state.elr, state.outside) == (2, (2,), (), (1, 3))


def test_eligible_replicas_and_the_last_leader_are_read() -> None:
    state = only(described("Leader: none\tReplicas: 3,1,2\tIsr: \tElr: 1\tLastKnownElr: 3"))

    assert (state.isr, state.elr, state.outside, state.last_leader) == ((), (1,), (3, 2), 3)


@pytest.mark.parametrize(
    "line",
    [
        "Leader: 1\tReplicas: 1,2,3\tIsr: 3,1,2",
        "Leader: 1\tReplicas: 1,2\tIsr: 1,2\tElr: \tLastKnownElr: ",
        "Leader: 1\tReplicas: 1",
    ],
)
def test_a_partition_that_is_well_or_whose_isr_is_not_shown_has_no_state(line: str) -> None:
    assert states(described(line)) == ()


def test_a_broker_that_is_in_sync_elsewhere_runs_and_others_do_not() -> None:
    ill, well = "Leader: 1\tReplicas: 1,2,3\tIsr: 1", "Leader: 2\tReplicas: 2,1\tIsr: 2,1"

    assert only(described(ill, well)).running == (2,)
    assert only(described(ill)).running == ()
    assert only(described(f"{ill}\tOffline: 2", well)).running == ()


def test_an_isr_without_a_leader_does_not_say_that_its_broker_runs() -> None:
    found = states(described("Leader: none\tReplicas: 1,2\tIsr: 2", "Leader: 1\tReplicas: 1,2\tIsr: 1"))

    assert [state.running for state in found] == [(1,), ()]


def test_partitions_with_as_many_replicas_in_each_role_are_one_state_the_gravest_first() -> None:
    found = states(
        described(
            "Leader: 1\tReplicas: 1,2,3\tIsr: 1,2",
            "Leader: 2\tReplicas: 2,3,1\tIsr: 2",
            "Leader: 3\tReplicas: 3,1,2\tIsr: 3",
            "Leader: none\tReplicas: 1,2,3\tIsr: 3",
            "Leader: 1\tReplicas: 1,2,3\tIsr: 1,2,3",
        )
    )

    assert [state.numbers for state in found] == [(3,), (1, 2), (0,)]


def test_a_leader_that_is_none_of_the_replicas_leads_nothing() -> None:
    state = only(described("Leader: 9\tReplicas: 1,2\tIsr: 1,2"))

    assert (state.leader, state.isr, state.outside) == (None, (1, 2), ())


def test_a_leader_outside_the_isr_counts_as_in_sync_and_a_replica_counts_once() -> None:
    state = only(described("Leader: 1\tReplicas: 1,2,2,3\tIsr: 2"))

    assert (state.replicas, state.isr, state.outside) == ((1, 2, 3), (1, 2), (3,))


# ------------------------------------------------------------------ where the model begins


def model_of(line: str, *, kept: bool = False, acks: str = "3.0", minimum: int = 1) -> PartitionModel:
    text = described(line, configs=f"min.insync.replicas={minimum}")
    settings = resolve([read_topics(Source("topics.txt", text))], kafka="3.7", client=acks)
    return degraded(partition(settings), settings.states[0], kept=kept)


def first_logs(model: PartitionModel) -> set[tuple[bool, ...]]:
    """Which replicas, in the order of their names, have the record: in each first state."""
    machine = Machine(model.model, model.scope(1))
    return {tuple(bool(log) for log in named(model, state)["Broker.log"]) for state in machine.initial()}


def named(model: PartitionModel, state: State) -> dict[str, Any]:
    return dict(zip((each.name for each in model.model.variables), state, strict=True))


def test_in_sync_replicas_of_a_leader_have_the_record_and_others_may() -> None:
    model = model_of("Leader: 1\tReplicas: 1,2\tIsr: 1")
    firsts = [named(model, state) for state in Machine(model.model, model.scope(1)).initial()]

    assert first_logs(model) == {(True, False), (False, True), (True, True)}  # whichever leads
    for each in firsts:
        leads = each["leader"]
        assert each["isr"] == {leads}
        assert each["Broker.log"][leads]
        assert each["Broker.up"] == tuple(broker == leads for broker in range(2))
        assert each["acked"] == each["committed"] == {1}


def test_what_is_offline_may_have_lost_everything_unless_it_was_kept() -> None:
    line = "Leader: none\tReplicas: 1,2\tIsr: 1"

    assert (False, False) in first_logs(model_of(line))
    assert (False, False) not in first_logs(model_of(line, kept=True))


def test_with_acks_all_as_many_had_the_record_as_must_be_in_sync() -> None:
    line = "Leader: 1\tReplicas: 1,2,3\tIsr: 1"

    assert {sum(logs) for logs in first_logs(model_of(line, kept=True, minimum=2))} == {2, 3}
    assert {sum(logs) for logs in first_logs(model_of(line, kept=False, minimum=2))} == {1, 2, 3}
    assert {sum(logs) for logs in first_logs(model_of(line, kept=True, minimum=2, acks="2.8"))} == {1, 2, 3}


def test_without_records_there_is_none_in_the_first_states() -> None:
    model = model_of("Leader: 1\tReplicas: 1,2\tIsr: 1")

    for state in Machine(model.unattended, model.scope(0)).initial():
        assert set(named(model, state)["Broker.log"]) == {()}


# ------------------------------------------------------------------ what is found from there


Found = dict[str, tuple[int, int] | None]


def found(line: str, *faults: str, engine: Engine | None = None, alone: bool = False, **given: Any) -> Found:  # noqa: ANN401
    """The faults and steps of the run that breaks each property; None for one that holds."""
    model = model_of(line, **given)
    group = groups()[1 if alone else 0]
    kinds = tuple(kind for kind in KINDS if kind.name in faults)
    question = under_these(model, group, kinds, len(faults))
    outcome = check(*as_check(model, question), engine=engine or ExplicitEngine())
    runs = {each.property: each.verdict for each in outcome.findings.results}
    return {
        name: (verdict.trace.faults, len(verdict.trace.steps))
        if isinstance(verdict, Violated) and verdict.trace is not None
        else None
        for name, verdict in runs.items()
    }


@pytest.mark.parametrize(
    ("line", "alone"),
    [
        ("Leader: 1\tReplicas: 1,2\tIsr: 1", False),
        ("Leader: 1\tReplicas: 1,2\tIsr: 1", True),
        ("Leader: none\tReplicas: 1,2\tIsr: 1", True),
        ("Leader: 2\tReplicas: 1,2,3\tIsr: 2\tElr: 1\tLastKnownElr: ", True),
        ("Leader: none\tReplicas: 1,2,3\tIsr: \tElr: 1\tLastKnownElr: 2", True),
        ("Leader: none\tReplicas: 1,2\tIsr: \tElr: \tLastKnownElr: 2", True),
    ],
)
def test_the_engine_finds_what_the_definition_says(line: str, *, alone: bool) -> None:
    by_definition = found(line, "disk", alone=alone, engine=ReferenceEngine())

    assert found(line, "disk", alone=alone) == by_definition


ALONE = "Leader: 1\tReplicas: 1,2,3\tIsr: 1"


def test_a_crash_of_the_last_in_sync_replica_stops_writes_and_loses_nothing() -> None:
    assert found(ALONE, "crash", alone=True)["writable"] == (1, 1)
    kept = found(ALONE, "crash", "crash")
    assert (kept["acknowledged_survive"], kept["acknowledged_kept"]) == (None, None)


@pytest.mark.parametrize("fault", ["disk", "power"])
def test_its_lost_disk_loses_the_record(fault: str) -> None:
    assert found(ALONE, fault)["acknowledged_kept"] == (1, 1)


def test_writes_are_refused_where_too_few_are_in_sync() -> None:
    assert found(ALONE, alone=True, minimum=2)["writable"] == (0, 0)
    assert found(ALONE, alone=True, minimum=1)["writable"] is None
    assert found(ALONE, alone=True, minimum=2, acks="2.8")["writable"] is None


def test_without_a_leader_the_record_may_be_nowhere() -> None:
    none = "Leader: none\tReplicas: 1,2,3\tIsr: 1"

    assert found(none)["acknowledged_kept"] == (0, 0)
    assert found(none, kept=True)["acknowledged_kept"] is None
    assert found(none, alone=True, kept=True)["writable"] == (0, 0)


def test_whoever_led_last_has_what_it_kept() -> None:
    last = "Leader: none\tReplicas: 1,2\tIsr: \tElr: \tLastKnownElr: 2"

    assert found(last, kept=True)["acknowledged_survive"] is None
    assert found(last)["acknowledged_survive"] is not None


def test_a_run_has_the_names_of_the_brokers_in_their_roles() -> None:
    text = described("Leader: 7\tReplicas: 5,7,9\tIsr: 7,9")
    settings = resolve([read_topics(Source("topics.txt", text))], kafka="3.7", client="3.0")
    model = degraded(partition(settings), settings.states[0], kept=False)
    question = under_these(model, groups()[0], [kind for kind in KINDS if kind.name == "disk"], 2)
    results = check(*as_check(model, question), engine=ExplicitEngine()).findings.results
    verdict = next(each.verdict for each in results if each.property == "acknowledged_kept")
    assert isinstance(verdict, Violated)
    assert verdict.trace is not None
    trace = with_true_names(verdict.trace, settings.states[0])
    first = dict(zip((each.name for each in trace.model.variables), trace.states[0], strict=True))
    names = trace.scope.sorts["Broker"]

    assert names[first["leader"]] == "broker7"
    assert {names[member] for member in first["isr"]} == {"broker7", "broker9"}
    assert {names[step.args[0]] for step in trace.steps} == {"broker7", "broker9"}


# ------------------------------------------------------------------ what is told

Review = Callable[..., tuple[Any, Exit]]


@pytest.fixture
def review(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Review:
    """`review(text, "--all-topics")`: the JSON of a review of what kafka-topics printed, and the exit."""
    monkeypatch.chdir(tmp_path)

    def run(text: str, *options: str) -> tuple[Any, Exit]:
        Path("topics.txt").write_text(text)
        words = ["kafka", "review", "topics.txt", "--kafka", "3.7", "--client", "3.0", "--faults", "1"]
        code = Exit(main([*words, *options, "--json"]))
        return json.loads(capsys.readouterr().out), code

    return run


def test_a_cluster_that_is_well_has_no_today(review: Review) -> None:
    data, code = review(described("Leader: 1\tReplicas: 1,2\tIsr: 1,2"))

    jsonschema.validate(data, SCHEMA)
    assert data["today"] is None
    assert code is Exit.EXPECTED


def test_the_isr_of_one_is_told_with_what_one_more_fault_loses(review: Review) -> None:
    data, code = review(described(ALONE))

    jsonschema.validate(data, SCHEMA)
    (state,) = data["today"]["states"]
    told = state["guarantees"]
    assert code is Exit.EXPECTED
    assert (state["state"]["isr"], state["state"]["leader"]) == ([1], 1)
    assert told["durable"]["by_kind"]["any"]["lost_with"] == 1
    assert told["durable"]["by_kind"]["crash"]["survives"] == 1
    assert told["durable"]["by_kind"]["disk"]["lost_with"] == 1
    assert told["writable"]["by_kind"]["crash"]["lost_with"] == 1
    assert told["writable"]["says"].startswith("writes are taken now; with 1 further fault")
    assert data["guarantees"]["durable"]["by_kind"]["any"]["survives"] == 1  # when all are in sync
    assert state["first_steps"].startswith(
        "Bring replicas 2 and 3 back into the ISR. Until then do not restart broker 1"
    )
    assert [way["survives"]["durable"]["survives"] for way in state["ways_out"]] == [1]


def test_what_is_required_is_required_today(review: Review) -> None:
    _, met = review(described("Leader: 1\tReplicas: 1,2,3\tIsr: 1,2,3"), "--require", "durable:1")
    data, code = review(described(ALONE), "--require", "durable:1", "--require", "durable:1:crash")

    assert (met, code) == (Exit.EXPECTED, Exit.VIOLATED)
    assert [each["met"] for each in data["required"]] == [False, True]


def test_without_a_leader_the_exit_code_is_1_and_both_cases_are_told(review: Review) -> None:
    data, code = review(described("Leader: none\tReplicas: 1,2,3\tIsr: 2"))

    (state,) = data["today"]["states"]
    durable = state["guarantees"]["durable"]
    assert code is Exit.VIOLATED
    assert durable["by_kind"]["any"]["lost_with"] == 0
    assert durable["if_nothing_offline_is_lost"]["lost_with"] == 1
    assert state["guarantees"]["writable"]["says"].startswith("writes are refused now")
    assert state["first_steps"] == (
        "Start broker 2 with its log: the controller elects it, since it is in the ISR. "
        "Do not elect broker 1 or 3 by hand before: that can lose acknowledged records."
    )
    assert state["ways_out"][1]["survives"]["durable"]["lost_with"] == 0


def test_each_topic_has_its_own_states_and_the_one_most_at_risk_is_on_top(review: Review) -> None:
    text = (
        described("Leader: 1\tReplicas: 1,2\tIsr: 1,2", topic="well")
        + described("Leader: 1\tReplicas: 1,2\tIsr: 1", topic="at_risk")
        + described("Leader: none\tReplicas: 3,2\tIsr: 3", topic="stopped")
        + described("Leader: 2\tReplicas: 2,1\tIsr: 2", topic="at_risk_too")
    )
    data, code = review(text, "--all-topics")

    by_name = {each["name"]: each["review"]["today"] for each in data["topics"]}
    assert code is Exit.VIOLATED
    assert list(by_name) == ["stopped", "at_risk", "at_risk_too", "well"]
    assert by_name["well"] is None
    assert by_name["stopped"]["states"][0]["state"]["isr"] == [3]
    steps = [by_name[name]["states"][0]["first_loss"]["steps"][0] for name in ("at_risk", "at_risk_too")]
    assert [step["says"].split()[0] for step in steps] == ["broker1", "broker2"]


def test_text_page_and_reports_put_today_first(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    golden: Callable[[str, str], None],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("topics.txt").write_text(described(ALONE, configs="min.insync.replicas=2"))
    words = ["kafka", "review", "topics.txt", "--kafka", "3.7", "--client", "3.0", "--faults", "1"]
    files = ["--html", "page.html", "--junit", "junit.xml", "--sarif", "found.sarif"]
    code = main([*words, *files])
    text = capsys.readouterr().out
    page = Path("page.html").read_text()
    cases = {
        (each.get("classname"), each.get("name")): each.find("failure") is not None
        for each in ET.parse("junit.xml").iter("testcase")  # noqa: S314 - our own
    }
    (run,) = json.loads(Path("found.sarif").read_text())["runs"]
    (today,) = (each for each in run["results"] if each["ruleId"] == "review/today")

    assert code == Exit.VIOLATED
    golden("review/today.txt", text.split("When all replicas are in sync")[0])
    assert page.index("Today, partition 0 of orders") < page.index(
        "When all replicas are in sync: what can be lost"
    )
    assert cases["review orders today", "writable of partition 0"]
    assert not cases["review orders today", "durable of partition 0"]
    assert today["level"] == "error"
    assert today["locations"][0]["physicalLocation"]["region"]["startLine"] == 2
