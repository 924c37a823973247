"""The judges, on what a real round left: they find that right, and each change of it wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modelcheck.contract.result import End
from tests.chaos.faults import count, is_reviewed, lost, reviewed
from tests.chaos.judges import Judge, Judgement, Verdict, explained, inspected, promised, truth, validated
from tests.chaos.plan import Event, Kind
from tests.chaos.rounds import cuts

RECORDED = Path(__file__).parent / "recorded" / "power_lost_at_end.json"
TOPIC = "r100a"
Data = dict[str, Any]  # JSON
Change = Callable[[Data], object]


@pytest.fixture
def recorded() -> Data:
    """A round on Kafka 4.1.0: four acknowledged records are lost with the end of the last leader's log."""
    return dict(json.loads(RECORDED.read_text(encoding="utf-8")))


def all_judgements(found: Data) -> list[Judgement]:
    true = truth(found["truth"], TOPIC)
    return [
        *inspected(TOPIC, true, found["inspect"], found["seen"]),
        *explained(TOPIC, true, found["explain"], with_logs=False),
    ]


def outcome(found: Data, leader: int) -> Data:
    rows: list[Data] = found["inspect"]["partitions"][0]["outcomes"]
    return next(each for each in rows if each["leader"] == leader)


def test_answers_that_came_true_are_right(recorded: Data) -> None:
    found = {each.judge: each.verdict for each in all_judgements(recorded)}

    assert found == dict.fromkeys([Judge.LEADER, Judge.AFTERMATH, Judge.EXPLAINED, Judge.LOSS], Verdict.RIGHT)


WRONG: dict[str, tuple[Judge, Change]] = {
    "only by hand": (Judge.LEADER, lambda f: outcome(f, 2).update(how="by-hand")),
    "somebody else leads": (Judge.LEADER, lambda f: f["seen"]["trail"].update({TOPIC: [[[2, 3], 3, [3]]]})),
    "nobody leads": (Judge.LEADER, lambda f: f["seen"]["trail"].update({TOPIC: [[[2], -1, []]]})),
    "elected by hand": (Judge.LEADER, lambda f: f["seen"]["by_hand"].append(TOPIC)),
    "bad advice": (Judge.LEADER, lambda f: outcome(f, 2).update(committed=50)),
    "another end": (Judge.AFTERMATH, lambda f: outcome(f, 2).update(end=26)),
    "more lost": (Judge.AFTERMATH, lambda f: f["seen"]["values"][TOPIC].pop()),
    "another lost": (
        Judge.AFTERMATH,
        lambda f: f["seen"]["values"][TOPIC].__setitem__(3, "of another topic"),
    ),
    "cut back": (Judge.AFTERMATH, lambda f: f["seen"]["cut_back"][TOPIC].update({"1": 2})),
    "not cut back": (Judge.AFTERMATH, lambda f: outcome(f, 2).update(cut_back={"1": 2})),
    "no run": (Judge.EXPLAINED, lambda f: f["explain"]["partitions"][0].update(explained=None)),
    "no answer": (Judge.EXPLAINED, lambda f: f["explain"].pop("partitions")),
    "loss missed": (Judge.LOSS, lambda f: f["explain"]["partitions"][0]["explained"].update(lost=[])),
    "part of the loss": (
        Judge.LOSS,
        lambda f: f["explain"]["partitions"][0]["explained"]["lost"][0]["offsets"][0].update(end=30),
    ),
    "false alarm": (
        Judge.LOSS,
        lambda f: [batch.update(acknowledged=None) for batch in f["truth"]["topics"][TOPIC]["sent"]],
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_did_not_come_true_is_wrong(recorded: Data, name: str) -> None:
    judge, change = WRONG[name]
    if name == "bad advice":
        recorded["inspect"]["partitions"][0]["wanted"] = 1
    if name == "no run":
        recorded["explain"]["partitions"][0]["end"] = End.COMPLETE.value
    change(recorded)
    found = {each.judge: each for each in all_judgements(recorded)}

    assert found[judge].verdict is Verdict.WRONG
    assert found[judge].reason


def test_an_answer_that_is_not_known_is_not_wrong(recorded: Data) -> None:
    recorded["explain"]["partitions"][0].update(explained=None, end=End.STATES.value)
    found = {each.judge: each.verdict for each in all_judgements(recorded)}

    assert found[Judge.EXPLAINED] is Verdict.UNKNOWN
    assert Judge.LOSS not in found


@pytest.mark.parametrize(
    ("end", "nearest", "verdict"),
    [
        (End.COMPLETE, ["elect(b1, e2) would do it, but its guard `able` is false"], Verdict.WRONG),
        (End.COMPLETE, [], Verdict.WRONG),
        (End.STATES, [], Verdict.UNKNOWN),
    ],
)
def test_a_record_of_the_metadata_that_is_no_step_is_named_with_the_nearest(
    recorded: Data, end: End, nearest: list[str], verdict: Verdict
) -> None:
    answer = recorded["explain"]

    assert validated(TOPIC, answer).verdict is Verdict.RIGHT
    place = {"place": "controller at offset 9", "says": "broker 1 leads", "nearest": nearest}
    answer["partitions"][0].update(explained=None, end=end.value, unexplained=place)
    found = validated(TOPIC, answer)

    assert found.verdict is verdict
    if verdict is Verdict.WRONG:
        assert found.reason.startswith("controller at offset 9: broker 1 leads; ")
        assert found.reason.endswith(nearest[0] if nearest else "no step of the model comes near")


def test_promises_of_producers_and_consumers_are_judged(recorded: Data) -> None:
    found = recorded["truth"]
    plan, of = found["plan"]["topics"][0], found["topics"][TOPIC]

    assert list(promised(TOPIC, truth(found, TOPIC))) == []
    plan["producer"] = "transactional"
    of["sent"] = [{**each, "transaction": "commit"} for each in of["sent"]]
    text = of["sent"][0]["texts"][0]
    offset, value = of["copies"]["2"][0]
    of["read_committed"] = {text: 0}
    verdicts = [{each.judge: each.verdict for each in promised(TOPIC, truth(found, TOPIC))}]
    of["sent"][0]["transaction"] = "abort"
    of["copies"]["2"].append([offset + 9, value])
    verdicts.append({each.judge: each.verdict for each in promised(TOPIC, truth(found, TOPIC))})

    assert verdicts == [
        {Judge.COMMITTED: Verdict.RIGHT, Judge.ONCE: Verdict.RIGHT},
        {Judge.COMMITTED: Verdict.WRONG, Judge.ONCE: Verdict.WRONG},
    ]


def test_a_record_that_its_producer_wrote_again_is_not_lost(recorded: Data) -> None:
    recorded["seen"]["values"][TOPIC].pop()
    foretold = outcome(recorded, 2)
    foretold.update(end=foretold["end"] - 1, maybe_acknowledged=9)
    verdicts = []
    for producer in ("plain", "idempotent"):
        recorded["truth"]["plan"]["topics"][0]["producer"] = producer
        for more in (1, 2):
            foretold["lost"] += more
            verdicts += [each.verdict for each in all_judgements(recorded) if each.judge is Judge.AFTERMATH]
            foretold["lost"] -= more

    assert verdicts == [Verdict.RIGHT, Verdict.WRONG, Verdict.RIGHT, Verdict.RIGHT]


def test_a_replica_that_leaves_need_not_be_cut_back(recorded: Data) -> None:
    outcome(recorded, 2).update(cut_back={"1": 2})
    verdicts = []
    for recorded["inspect"]["partitions"][0]["leaving"] in ([1], [3]):
        verdicts += [each.verdict for each in all_judgements(recorded) if each.judge is Judge.AFTERMATH]

    assert verdicts == [Verdict.RIGHT, Verdict.WRONG]


def test_lost_records_of_an_unknown_number_from_an_offset_on_are_not_known(recorded: Data) -> None:
    said = recorded["explain"]["partitions"][0]
    said["explained"]["lost"] = []
    verdicts = []
    for said["unknown_from"] in (27, 28):
        verdicts += [each.verdict for each in all_judgements(recorded) if each.judge is Judge.LOSS]

    assert verdicts == [Verdict.UNKNOWN, Verdict.WRONG]


def test_who_may_be_dropped_from_the_isr_before_it_is_up_need_not_lead(recorded: Data) -> None:
    recorded["seen"] |= {"trail": {TOPIC: [[[2, 3], 3, [3]]]}, "by_advice": False}
    verdicts = []
    for staying in ([3], [2]):
        recorded["inspect"]["partitions"][0]["controllers_first"] = staying
        verdicts += [each.verdict for each in all_judgements(recorded) if each.judge is Judge.LEADER]

    assert verdicts == [Verdict.RIGHT, Verdict.WRONG]


def test_who_may_be_fenced_last_in_place_of_another_is_not_known(recorded: Data) -> None:
    recorded["seen"] |= {"trail": {TOPIC: [[[2, 3], 3, [3]]]}, "by_advice": False}
    verdicts = []
    for others, by_hand in (([3], []), ([1], []), ([3], [TOPIC])):
        recorded["inspect"]["partitions"][0]["last_leader_may_be"] = others
        recorded["seen"]["by_hand"] = by_hand
        verdicts += [each.verdict for each in all_judgements(recorded) if each.judge is Judge.LEADER]

    assert verdicts == [Verdict.UNKNOWN, Verdict.WRONG, Verdict.WRONG]


def test_which_of_several_that_start_at_once_leads_first_is_not_foretold(recorded: Data) -> None:
    outcome(recorded, 3)["how"] = "by-hand"
    recorded["seen"] |= {"trail": {TOPIC: [[[2, 3], 3, [3]]]}, "by_advice": False}
    verdicts = []
    for first in ([2, 3], [2]):
        recorded["seen"]["first"] = first
        verdicts += [each.verdict for each in all_judgements(recorded) if each.judge is Judge.LEADER]

    assert verdicts == [Verdict.RIGHT, Verdict.WRONG]


def test_the_loss_of_records_that_nobody_acknowledges_is_not_judged(recorded: Data) -> None:
    recorded["truth"]["plan"]["topics"][0]["acks"] = "0"

    assert Judge.LOSS not in {each.judge for each in all_judgements(recorded)}


def test_where_a_log_is_cut_back_is_read_from_the_output() -> None:
    output = (
        "[Log partition=r1a-0, dir=D] Truncating to offset 7 (kafka.log.UnifiedLog)\n"
        "[Log partition=r1a-0, dir=D] Truncating to 9 has no effect as the largest offset is 8\n"
        "[Log partition=r1b-0, dir=D] Truncating to offset 3 (kafka.log.UnifiedLog)\n"
    )

    assert cuts("r1a", {1: output, 2: ""}) == {"1": 7}


# ------------------------------------------------------------------ faults, and reviews


@pytest.mark.parametrize(
    ("befallen", "faults"),
    [
        ([Event(Kind.KILL, 1), Event(Kind.POWER, 1)], 1),
        ([Event(Kind.KILL, 1), Event(Kind.START, 1), Event(Kind.WIPE, 1)], 2),
        ([Event(Kind.STOP, 1), Event(Kind.WIPE, 1)], 1),
        ([Event(Kind.STOP, 1), Event(Kind.START, 1)], 1),
        ([Event(Kind.PAUSE, 1), Event(Kind.RESUME, 1), Event(Kind.CUT, 2, (3,)), Event(Kind.HEAL)], 2),
        ([Event(Kind.CONTROLLER), Event(Kind.PREFER, topic="r1a"), Event(Kind.CUT, 101, (0,))], 0),
        ([Event(Kind.FAIL, 1), Event(Kind.FULL, 2), Event(Kind.LOSE_ONE, 2)], 2),
    ],
)
def test_faults_are_counted_as_the_model_counts_them(befallen: list[Event], faults: int) -> None:
    assert count(befallen) == faults


def test_a_review_does_not_speak_of_settings_that_changed() -> None:
    changed = [Event(Kind.SET, topic="r1a", setting="min.insync.replicas", value="1")]

    assert not is_reviewed("r1a", changed)
    assert not is_reviewed("r1a", [Event(Kind.ELECT, topic="r1a")])
    assert is_reviewed("r1b", changed)


@pytest.mark.parametrize(
    ("least", "survives", "faults", "verdict"),
    [
        (1, 0, 1, Verdict.RIGHT),
        (2, 1, 1, Verdict.WRONG),
        (None, 2, 2, Verdict.WRONG),
        (None, 2, 3, Verdict.UNKNOWN),
    ],
)
def test_a_loss_with_fewer_faults_than_a_review_says_refutes_it(
    least: int | None, survives: int, faults: int, verdict: Verdict
) -> None:
    said = {"by_kind": {"any": {"lost_with": least, "survives": survives}}}
    other = {"by_kind": {"any": {"lost_with": 1, "survives": 0}}}
    for judge, of, rest in ((Judge.REVIEW, "durable", "committed"), (Judge.READ, "committed", "durable")):
        review = {"guarantees": {of: said, rest: other}}

        assert reviewed("r1a", judge, {"r1a 4"}, faults, review).verdict is verdict


def test_what_is_lost_with_a_leader_elected_by_hand_is_not_of_the_faults(recorded: Data) -> None:
    true = truth(recorded["truth"], TOPIC)
    recorded["seen"]["values"][TOPIC].pop()

    assert len(lost(TOPIC, true.acknowledged, true, recorded["seen"])) == 5
    recorded["seen"]["by_hand"].append(TOPIC)

    assert len(lost(TOPIC, true.acknowledged, true, recorded["seen"])) == 4
