"""Plans of rounds: a seed fixes them, they make sense, and they can be made smaller."""

from __future__ import annotations

import json

import pytest

from tests.chaos.figures import MARK, MEASURED, figures, sentence, shown
from tests.chaos.plan import (
    OF_DISKS,
    Event,
    Kind,
    Plan,
    Producer,
    Shape,
    as_json,
    drawn,
    drawn_shape,
    from_json,
)
from tests.chaos.shrink import shrunk

SEEDS = range(300)


def test_a_seed_fixes_the_plan_with_eligible_replicas_and_without() -> None:
    for seed in SEEDS:
        plan, other = (drawn(seed, Shape(3, elr=elr)) for elr in (True, False))

        assert plan == drawn(seed, Shape(3, elr=True))
        assert (plan.topics, plan.events, plan.end) == (other.topics, other.events, other.end)


@pytest.mark.parametrize(
    ("shape", "never"),
    [
        (Shape(4), {Kind.FAIL, Kind.LOSE_ONE, Kind.RACK}),
        (Shape(3, controllers=3, directories=2, racks=2), set()),
        (Shape(3, controllers=3, combined=True, racks=3), {Kind.FAIL, Kind.LOSE_ONE, Kind.CONTROLLER}),
    ],
)
def test_every_kind_of_event_is_drawn_and_only_where_it_makes_sense(shape: Shape, never: set[Kind]) -> None:
    kinds = set()
    for seed in SEEDS:
        plan = drawn(seed, shape)
        up = {*shape.nodes}
        for event in (*plan.events, *plan.end):
            kinds.add(event.kind)
            if event in plan.events and (event.kind in {Kind.START, Kind.RETRY} or event.kind in OF_DISKS):
                assert event.node not in up
            if event.kind in {Kind.KILL, Kind.STOP, Kind.PAUSE, Kind.FULL, Kind.FAIL}:
                assert event.node in up
            assert {*event.others} <= {0, *shape.nodes}
            up = up | {event.node} if event.kind is Kind.START else up
            up = up - {event.node} if event.kind in {Kind.KILL, Kind.STOP, Kind.FULL} else up
            up = up - {*shape.beside(event.node)} if event.kind is Kind.RACK else up

        assert all(len(set(topic.replicas)) >= topic.min_isr for topic in plan.topics)
        assert all(topic.acks == "all" or topic.producer is Producer.PLAIN for topic in plan.topics)

    assert kinds == set(Kind) - never


def test_clusters_of_all_kinds_are_drawn() -> None:
    shapes = [drawn_shape(seed) for seed in SEEDS]
    combined = next(each for each in shapes if each.combined)

    assert {(each.controllers, each.combined) for each in shapes} == {(1, False), (3, False), (3, True)}
    assert {each.directories for each in shapes} == {1, 2}
    assert Shape(3, controllers=3).quorum == (100, 101, 102)
    assert combined.quorum == (1, 2, 3)


@pytest.mark.parametrize(
    ("shape", "first"),
    [
        (Shape(3, controllers=3), [3]),
        (Shape(3, controllers=3, combined=True), [3, 1]),
        (Shape(4, controllers=3, combined=True), [4, 3, 1]),
    ],
)
def test_brokers_that_are_controllers_are_started_as_a_majority(shape: Shape, first: list[int]) -> None:
    order = [node for node in (4, 3, 1, 2) if node in shape.nodes]

    assert shape.started_first(order) == first


@pytest.mark.parametrize(
    ("shape", "node", "beside"),
    [(Shape(4, racks=2), 1, (1, 3)), (Shape(3, racks=3), 2, (2,)), (Shape(3), 2, (2,))],
)
def test_brokers_of_a_rack_are_beside_each_other(shape: Shape, node: int, beside: tuple[int, ...]) -> None:
    assert shape.beside(node) == beside
    assert len({shape.rack(each) for each in beside}) == 1


def test_the_controller_places_topics_only_where_there_are_racks() -> None:
    placed = {
        racks: {t.placed for seed in SEEDS for t in drawn(seed, Shape(3, racks=racks)).topics}
        for racks in (0, 2)
    }

    assert placed == {0: {False}, 2: {False, True}}


def test_a_plan_is_the_same_after_it_was_written_down() -> None:
    for seed in SEEDS:
        plan = drawn(seed, Shape(3, elr=True))

        assert from_json(as_json(plan)) == plan


def test_a_plan_shrinks_to_the_events_that_it_fails_by() -> None:
    plan = drawn(7, Shape(3, elr=False))
    kill, wipe = Event(Kind.KILL, 2), Event(Kind.WIPE, 2)
    plan = Plan(7, Shape(3), plan.topics, (*plan.events, kill), (*plan.end, wipe))
    kept = plan.topics[1].name

    def failing(smaller: Plan) -> set[str]:
        is_failing = kill in smaller.events and wipe in smaller.end
        return {kept} & {topic.name for topic in smaller.topics} if is_failing else set()

    small = shrunk(plan, failing)

    assert small is not None
    assert (small.topics, small.events, small.end) == ((plan.topics[1],), (kill,), (wipe,))


def test_a_plan_that_does_not_fail_is_not_made_smaller() -> None:
    assert shrunk(drawn(7, Shape(3)), lambda _: ()) is None


def test_topics_that_fail_together_stay() -> None:
    plan = drawn(7, Shape(3))
    both = {plan.topics[0].name, plan.topics[2].name}
    small = shrunk(plan, lambda smaller: both if both <= {each.name for each in smaller.topics} else ())

    assert small is not None
    assert ({each.name for each in small.topics}, small.events, small.end) == (both, (), ())


def test_a_smaller_plan_has_no_event_of_a_topic_that_is_gone() -> None:
    for seed in SEEDS:
        plan = drawn(seed, Shape(3, elr=False))
        for topic in plan.topics:
            small, alone = plan.without_topic(topic.name), plan.of_topic(topic.name)

            assert topic.name not in {event.topic for event in small.events}
            assert {event.topic for event in alone.events} <= {topic.name, ""}
            assert alone.topics == (topic,)


# ------------------------------------------------------------------ figures


def judgement(seed: int, topic: str, judge: str, verdict: str, **more: object) -> dict[str, object]:
    line = {"seed": seed, "kafka": "4.1.0", "elr": False, "brokers": 3, "reason": "why"}
    return {**line, "topic": topic, "judge": judge, "verdict": verdict, **more}


def test_figures_count_each_kind_of_cluster_alone() -> None:
    found = [
        judgement(1, "a", "leader", "right"),
        judgement(1, "b", "leader", "wrong"),
        judgement(2, "a", "leader", "right"),
        judgement(2, "a", "explained", "not known"),
        judgement(3, "a", "leader", "right", elr=True),
    ]
    without, with_elr = figures(found, "2026-01-01")

    assert (without["rounds"], without["partitions"], with_elr["partitions"]) == (2, 3, 1)
    assert without["verdicts"]["leader"] == {"right": 2, "wrong": 1, "not known": 0}
    assert without["wrong"] == ["b: leader: why"]
    assert "foretold for 3 of 4 partitions, and 0 of 1 were explained" in sentence([without, with_elr])


def test_what_documents_show_is_what_was_measured() -> None:
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    for path, text, end in shown(measured):
        after = path.read_text(encoding="utf-8").partition(f"{MARK}\n")[2]

        assert after.startswith(text + end)
