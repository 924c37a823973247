"""Who is cut to what: against a plain comparison of logs, on random ones that followed the protocol."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelcheck.kafka.files.checkpoints import EpochStart, TopicPartition
from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.files.metadata.log import MetadataLog
from modelcheck.kafka.files.metadata.records import BrokerRegistered, PartitionCreated
from modelcheck.kafka.files.partition_log import PartitionLog
from modelcheck.kafka.incident.at_rest.directories import ClusterFiles
from modelcheck.kafka.incident.at_rest.election_outcome import Succession, cut, outcomes
from modelcheck.kafka.incident.at_rest.partitions import PartitionFiles, ReplicaLog
from modelcheck.kafka.incident.at_rest.start_order import given_up, judged, starting_order
from modelcheck.kafka.incident.at_rest.untraced import Cause
from modelcheck.kafka.incident.at_rest.wording import answer, reasons, what_to_do

TOPIC = UUID(int=1)
Log = list[int]  # the epoch of each record


def replica(node: int, log: Log, high: int | None = None, *, clean: bool = True) -> ReplicaLog:
    starts = [n for n, epoch in enumerate(log) if n == 0 or log[n - 1] != epoch]
    epochs = tuple(EpochStart(log[n], n) for n in starts)
    return ReplicaLog(node, PartitionLog(Path("x"), 0, len(log), epochs, 0, 0), high, clean)


def partition(
    isr: tuple[int, ...], *replicas: ReplicaLog, nodes: tuple[int, ...] = (1, 2, 3)
) -> PartitionFiles:
    state = PartitionCreated(0, TOPIC, nodes, isr, -1, 9, 9)
    return PartitionFiles(TopicPartition("t", 0), state, {each.node: each for each in replicas})


@st.composite
def histories(draw: st.DrawFn) -> list[Log]:
    """Three logs as leaders and followers write them: each epoch has one leader, who alone appends in it."""
    logs: list[Log] = [[], [], []]
    for epoch in range(draw(st.integers(1, 5))):
        leader = draw(st.integers(0, 2))
        for _ in range(draw(st.integers(0, 4))):
            logs[leader].append(epoch)
        for follower in range(3):
            if follower != leader and draw(st.booleans()):
                shared = common(logs[follower], logs[leader])
                copied = draw(st.integers(shared, len(logs[leader])))
                logs[follower] = logs[leader][:copied]
    return logs


def common(one: Log, other: Log) -> int:
    """How many records at the beginning of two logs are the same."""
    n = 0
    while n < min(len(one), len(other)) and one[n] == other[n]:
        n += 1
    return n


@given(histories())
def test_a_follower_keeps_what_it_shares_with_the_leader(logs: list[Log]) -> None:
    leader, follower, _ = logs

    assert cut(replica(2, follower), replica(1, leader).log) == common(leader, follower)


@given(histories(), st.lists(st.integers(0, 12), min_size=3, max_size=3))
def test_what_is_lost_is_what_no_leader_has(logs: list[Log], marks: list[int]) -> None:
    all_ = [
        replica(n + 1, log, min(mark, len(log)))
        for n, (log, mark) in enumerate(zip(logs, marks, strict=True))
    ]
    told = {each.leader: each for each in outcomes(partition((1,), *all_))}
    for n, leader in enumerate(logs):
        here = set(enumerate(leader))
        lost = {each for m, log in enumerate(logs) if m != n for each in enumerate(log)} - here
        noted = {each for m, log in enumerate(logs) if m != n for each in list(enumerate(log))[: marks[m]]}

        assert told[n + 1].lost == len(lost)
        assert told[n + 1].committed == len(noted - here)


def test_a_member_of_the_isr_with_an_empty_disk_is_not_to_start_first() -> None:
    one = partition((1,), replica(1, [], 5), replica(2, [0] * 5, 5))
    found = judged(one)

    assert found.wanted is not None
    assert (found.wanted.leader, found.wanted.way) == (2, Succession.BY_HAND)
    assert starting_order([1, 2], [found]) == (2, 1)


def test_uncommitted_records_are_no_reason_for_an_unclean_election() -> None:
    found = judged(partition((1,), replica(1, [0] * 5, 5), replica(2, [0] * 9, 5)))

    assert found.wanted is not None
    assert (found.wanted.leader, found.wanted.lost, found.wanted.doubtful) == (1, 4, 0)


def test_an_order_serves_most_partitions() -> None:
    first = judged(partition((1, 2), replica(1, [0] * 5), replica(2, [0] * 9)))
    second = judged(partition((2, 3), replica(2, [0] * 3), replica(3, [0] * 9)))
    order = starting_order([1, 2, 3], [first, second, second])

    assert order.index(3) < order.index(2) < order.index(1)


def test_whoever_loses_by_the_order_that_serves_most_is_named() -> None:
    first = judged(partition((1, 2), replica(1, [0] * 9), replica(2, [0] * 5)))
    second = judged(partition((1, 2), replica(1, [0] * 3), replica(2, [0] * 9)))
    order = starting_order([1, 2], [first, second, second])

    assert order == (2, 1)
    assert given_up([first, second], order) == (first,)
    assert given_up([first, second], (1, 2)) == (second,)
    assert (
        "loses 4 records of 1 of 2 partitions, where none would be lost if another broker led first: t-0"
        in (" ".join(answer([first, second], order)))
    )


def test_an_election_by_hand_takes_the_first_of_the_assignment_that_runs() -> None:
    """On Kafka 4.1.0 broker 1 led so, which had started before broker 3, with 16 records less."""
    logs = replica(1, [0] * 5, 5), replica(2, [], 9), replica(3, [0] * 7, 7)
    found = judged(partition((2,), *logs, nodes=(2, 1, 3)))
    said = " ".join(reasons(found))

    assert found.wanted is not None
    assert (found.wanted.leader, found.wanted.way, found.rivals) == (3, Succession.BY_HAND, (2, 1))
    assert starting_order([1, 2, 3], [found])[0] == 3
    assert given_up([found], (1, 3, 2)) == (found,)
    assert given_up([found], (3, 1, 2)) == ()
    assert "takes the first of 2, 1, 3 that runs: broker 1 must not run before broker 3" in said


def test_the_last_known_leader_waits_for_all_that_were_eligible() -> None:
    """On Kafka 4.1.0 broker 1 did not lead before broker 2 ran, which was elected by hand."""
    logs = [replica(node, [0] * end, 6, clean=False) for node, end in ((1, 6), (2, 10), (3, 0))]
    state = PartitionCreated(0, TOPIC, (2, 3, 1), (1,), 1, 1, 2, elr=(2, 3))
    files = {each.node: each for each in logs}
    found = judged(PartitionFiles(TopicPartition("t", 0), state, files, eligible_count=True))
    said = " ".join(reasons(found))

    assert found.wanted is not None
    assert (found.wanted.leader, found.wanted.way, found.last_leader) == (2, Succession.BY_HAND, 1)
    assert given_up([found], (1, 2, 3)) == ()
    assert given_up([found], (1, 3, 2)) == (found,)
    assert "when brokers 1, 2 and 3 run and has fewer records: these must not all run before broker 2" in said


def test_the_last_known_leader_is_who_is_fenced_last() -> None:
    """On Kafka 4.2.0 broker 2 led so, which had not been the leader when all brokers were killed."""
    logs = {each: replica(each, [0] * 5, 5, clean=False) for each in (1, 2)}
    state = PartitionCreated(0, TOPIC, (1, 2), (1, 2), 1, 0, 4)
    whole = PartitionFiles(TopicPartition("t", 0), state, logs, eligible_count=True)
    said = " ".join(reasons(judged(replace(whole, fenced_last=2))))

    assert (whole.last_known_leader, replace(whole, fenced_last=2).last_known_leader) == (1, 2)
    assert "Broker 2 is expected to lead, uncleanly as the last known leader, when brokers 1 and 2" in said


def test_who_is_fenced_last_may_be_another_and_the_worst_of_them_counts() -> None:
    """On Kafka 4.2.0 broker 2 registered between two fencings, and broker 1 was the last known leader."""
    logs = {1: replica(1, [0] * 3, 5, clean=False), 2: replica(2, [0] * 5, 5, clean=False)}
    state = PartitionCreated(0, TOPIC, (1, 2), (1, 2), 1, 0, 4)
    files = PartitionFiles(TopicPartition("t", 0), state, logs, eligible_count=True, fenced_last=2)
    known = judged(replace(files, fenced_last=None, state=replace(state, leader=2)))

    assert (files.may_be_last, judged(files).at_stake) == ((1,), 2)
    assert "Broker 1 may lead instead where brokers start at once" in " ".join(reasons(judged(files)))
    assert (known.partition.may_be_last, known.at_stake) == ((), 0)


def test_a_replica_that_leaves_is_told() -> None:
    state = PartitionCreated(0, TOPIC, (1, 2, 3), (3,), 3, 4, 6, removing=(3,))
    logs = replica(1, [2] * 3), replica(2, [0] * 3), replica(3, [0] * 3 + [4] * 7)
    files = PartitionFiles(TopicPartition("t", 0), state, {each.node: each for each in logs})
    said = " ".join(reasons(judged(files)))

    assert files.leaving == (3,)
    assert "broker 3 leaves the partition as soon as brokers 1 and 2 are in sync, and deletes the log" in said


@pytest.mark.parametrize(
    ("voters", "order", "at_once"),
    [
        ((1, 2, 3), (4, 2, 1, 3), (4, 2, 1)),
        ((1, 2, 3), (1, 2, 3, 4), (1, 2)),
        ((1,), (4, 1, 2, 3), (4, 1)),
        ((1, 100, 101), (2, 1, 3), (2,)),
        ((100,), (2, 1, 3), (2,)),
    ],
)
def test_brokers_that_are_controllers_start_as_a_majority(
    voters: tuple[int, ...], order: tuple[int, ...], at_once: tuple[int, ...]
) -> None:
    image = MetadataImage()
    for node in order:
        image.apply(BrokerRegistered(node, UUID(int=node), 0, fenced=False, shutting_down=False))
    metadata = MetadataLog(Path("x"), image, 9, 1, None, frozenset(voters))
    one = judged(partition((1,), replica(1, [], 5), replica(2, [0] * 5, 5)))
    steps = list(what_to_do([one], order, ClusterFiles((), metadata, 1, (), ()).at_once(order)))

    assert ClusterFiles((), metadata, 1, (), ()).at_once(order) == at_once
    assert ("at once" in steps[0]) is (len(at_once) > 1)
    assert [f"Start broker {node}" in " ".join(steps) for node in at_once] == [len(at_once) == 1] * len(
        at_once
    )


def test_many_brokers_get_an_order_too() -> None:
    every = [judged(partition((n, n + 1), replica(n, [0] * n), replica(n + 1, [0] * 9))) for n in range(1, 9)]

    assert sorted(starting_order(range(1, 10), every)) == list(range(1, 10))


def led_by(leader: int, isr: tuple[int, ...], *replicas: ReplicaLog) -> PartitionFiles:
    state = PartitionCreated(0, TOPIC, (1, 2, 3), isr, leader, 9, 9)
    return PartitionFiles(TopicPartition("t", 0), state, {each.node: each for each in replicas})


def test_a_leader_without_its_end_had_an_unknown_number_of_records() -> None:
    """Nobody else was in sync, so whatever it had may have been acknowledged with any acks."""
    (found,) = judged(led_by(1, (1,), replica(1, [0] * 2, 5), replica(2, [0] * 7, 5))).untraced

    assert (found.cause, found.number, found.since, found.all_acks) == (Cause.END, 1, 7, True)


def test_with_a_whole_follower_in_sync_only_acks_one_lost_records_without_a_trace() -> None:
    (found,) = judged(led_by(1, (1, 2), replica(1, [0] * 2, 5), replica(2, [0] * 7, 5))).untraced

    assert (found.since, found.all_acks) == (7, False)


def test_a_leader_that_began_short_may_have_lost_all_that_it_wrote() -> None:
    """On Kafka 3.9.1 it lost its log, wrote in epoch 3 from offset 1 on, and lost that too."""
    leader = replica(2, [0], 4, clean=False)
    short = replace(leader, log=replace(leader.log, begun=EpochStart(3, 1)))
    other = replica(1, [0] * 5 + [2] * 3, 8)
    for log, since in ([0], 1), ([0, 3, 3], 3):
        files = led_by(2, (2,), short, other, replica(3, log))
        (found,) = judged(files).untraced
        (whole,) = judged(led_by(2, (2,), leader, other, replica(3, log))).untraced

        assert (found.since, found.epoch) == (since, 3)
        assert (whole.since, whole.epoch) == (8, None)
        said = " ".join(reasons(judged(files)))
        assert "in epoch 3, which it began without records that others have" in said


def test_an_epoch_whose_first_records_are_deleted_did_not_begin_short() -> None:
    old = PartitionLog(Path("x"), 5, 9, (EpochStart(0, 5),), 0, 0, begun=EpochStart(0, 0))
    logs = ReplicaLog(1, replace(old, end=7), 8, clean=False), ReplicaLog(2, old, 8, clean=False)
    (found,) = judged(led_by(1, (1,), *logs)).untraced

    assert (found.since, found.epoch) == (9, None)


def test_a_follower_without_its_end_had_nothing_that_its_leader_has_not() -> None:
    assert judged(led_by(1, (1, 2), replica(1, [0] * 7, 5), replica(2, [0] * 2, 5))).untraced == ()


def test_records_that_no_copy_has_are_counted() -> None:
    assert judged(partition((1, 2), replica(1, [0] * 5, 8), replica(2, [0] * 6, 6))).gone == 2
