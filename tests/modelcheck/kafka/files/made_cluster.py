"""Directories of a cluster of any age, made without Kafka: what its brokers would have left on their disks.

One partition of three brokers, with the records that a controller of Kafka 4.1 writes for each event.
Whoever is in sync has each record before anything else happens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from uuid import UUID

from modelcheck.kafka.files.metadata.records import (
    NOBODY,
    BrokerChanged,
    BrokerRegistered,
    ConfigSet,
    FeatureLevel,
    MetadataRecord,
    PartitionChanged,
    PartitionCreated,
    TopicCreated,
)
from tests.modelcheck.kafka.files.metadata_written import encoded
from tests.modelcheck.kafka.files.written import batch, epochs, packed_batch

BROKERS = (1, 2, 3)
TOPIC = UUID(int=7)
PER_BATCH, PER_SEGMENT = 1_000, 100_000
LEVEL_OF_4_1 = 27


@dataclass
class MadeCluster:
    """A cluster that lives as it is told; `write` leaves its directories.

    `cuts` counts how often the network failed.
    """

    leader: int = 1
    epoch: int = 0
    isr: set[int] = field(default_factory=lambda: set(BROKERS))
    up: set[int] = field(default_factory=lambda: set(BROKERS))
    killed: set[int] = field(default_factory=set)
    logs: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # epochs, and where they begin
    ends: dict[int, int] = field(default_factory=lambda: dict.fromkeys(BROKERS, 0))
    records: list[MetadataRecord] = field(default_factory=list)
    cuts: int = 0
    _starts: int = 0

    def __post_init__(self) -> None:
        self.logs = {broker: [] for broker in BROKERS}
        self._registered: dict[int, int] = {}
        self.records.append(FeatureLevel("metadata.version", LEVEL_OF_4_1))
        for broker in BROKERS:
            self.register(broker)
        first = PartitionCreated(0, TOPIC, BROKERS, BROKERS, 1, 0, 0)
        self.records += [
            TopicCreated("orders", TOPIC),
            ConfigSet(2, "orders", "min.insync.replicas", "1"),
            first,
        ]

    def produce(self, count: int) -> None:
        """Send so many records, which all in-sync replicas get."""
        log = self.logs[self.leader]
        if not log or log[-1][0] != self.epoch:
            log.append((self.epoch, self.ends[self.leader]))
        self.ends[self.leader] += count
        self._catch_up()

    def stop(self, broker: int) -> None:
        """Shut a broker down cleanly."""
        self._leaves(broker)
        self.records.append(BrokerChanged(broker, self._registered[broker], shutting_down=True))
        self.records.append(BrokerChanged(broker, self._registered[broker], fenced=True))

    def kill(self, broker: int) -> None:
        """Kill a broker, which keeps its log."""
        self.records.append(BrokerChanged(broker, self._registered[broker], fenced=True))
        self._leaves(broker)
        self.killed.add(broker)

    def start(self, broker: int) -> None:
        """Start a broker again; it joins the ISR."""
        self.register(broker)
        self.up.add(broker)
        self.killed.discard(broker)
        self._joins(broker)

    def lag(self, broker: int) -> None:
        """Cut a follower off from its leader, though it stays registered."""
        self.cuts += 1
        self._change(self.isr - {broker})

    def heal(self, broker: int) -> None:
        """Let a follower that lags catch up."""
        self._joins(broker)

    def cut_off(self, broker: int) -> None:
        """Cut a follower off from all others, so that it loses its session."""
        self.cuts += 1
        self._change(self.isr - {broker})
        self.records.append(BrokerChanged(broker, self._registered[broker], fenced=True))

    def reconnect(self, broker: int) -> None:
        """Let a follower that was cut off have its session again, and catch up."""
        self.records.append(BrokerChanged(broker, self._registered[broker], fenced=False))
        self._joins(broker)

    def move(self, broker: int) -> None:
        """Move the leadership to a member of the ISR."""
        self._change(self.isr, broker)

    def reassign(self, *replicas: int) -> None:
        """Have other replicas, or these in another order, and the same leader and ISR."""
        self.records.append(PartitionChanged(0, TOPIC, replicas=replicas))

    def write(self, folder: Path) -> None:
        """Write the directories of all brokers, as they are now."""
        for broker in BROKERS:
            here = folder / f"broker{broker}"
            _segments(here / "orders-0", self.logs[broker], self.ends[broker])
            epochs(here / "orders-0", *self.logs[broker])
            (here / "meta.properties").write_text(f"node.id={broker}\nversion=1\ncluster.id=made\n")
            offsets = f"0\n1\norders 0 {self.ends[broker]}\n"
            (here / "replication-offset-checkpoint").write_text(offsets)
            if broker not in self.killed:
                (here / ".kafka_cleanshutdown").write_text("")
                (here / "recovery-point-offset-checkpoint").write_text(offsets)
            metadata = here / "__cluster_metadata-0"
            metadata.mkdir()
            (metadata / f"{0:020}.log").write_bytes(
                b"".join(batch(n, [encoded(record)], epoch=1) for n, record in enumerate(self.records))
            )

    def register(self, broker: int) -> None:
        """Register a new process of a broker, and unfence it."""
        self._starts += 1
        self._registered[broker] = self._starts
        incarnation = UUID(int=self._starts)
        directory = UUID(int=(1 << 64) + broker)
        self.records.append(
            BrokerRegistered(broker, incarnation, self._starts, True, False, (directory,))  # noqa: FBT003
        )
        self.records.append(BrokerChanged(broker, self._starts, fenced=False))

    def _leaves(self, broker: int) -> None:
        """Take a broker out of the ISR, and elect another leader if it led."""
        self.up.discard(broker)
        left = self.isr - {broker}
        if left:
            self._change(left, min(left) if broker == self.leader else None)
        else:
            self._change(self.isr, NOBODY)  # without eligible leader replicas the ISR stays as it is

    def _joins(self, broker: int) -> None:
        """Let a broker catch up and join the ISR."""
        self.isr.add(broker)
        self._catch_up()
        self._change(self.isr)

    def _change(self, isr: set[int], leader: int | None = None) -> None:
        """Record a change of the partition."""
        self.isr = set(isr)
        said = tuple(sorted(isr))
        if leader is None:
            self.records.append(PartitionChanged(0, TOPIC, isr=said))
            return
        self.leader, self.epoch = leader, self.epoch + 1
        self.records.append(PartitionChanged(0, TOPIC, isr=said, leader=leader))

    def _catch_up(self) -> None:
        """Give each in-sync replica what its leader has."""
        for broker in self.isr:
            self.logs[broker] = list(self.logs[self.leader])
            self.ends[broker] = self.ends[self.leader]


def without_leader() -> MadeCluster:
    """A cluster with eligible leader replicas, all killed; 2 runs again, and only 3 is eligible."""
    cluster = MadeCluster()
    cluster.records.insert(1, FeatureLevel("eligible.leader.replicas.version", 1))
    cluster.records.append(ConfigSet(2, "orders", "min.insync.replicas", "2"))
    cluster.produce(100)
    cluster.kill(1)
    cluster.kill(2)
    cluster.records[-1] = PartitionChanged(0, TOPIC, isr=(3,), leader=3, elr=(2,))
    cluster.kill(3)
    cluster.records[-1:] = [
        PartitionChanged(0, TOPIC, isr=(), leader=NOBODY, elr=(2, 3)),
        PartitionChanged(0, TOPIC, elr=(3,)),  # as 2 was not shut down cleanly
    ]
    cluster.register(2)
    return cluster


def aged(folder: Path, *, epochs_: int, records: int, seed: int) -> MadeCluster:
    """Write the directories of a cluster with so many leader epochs and records.

    Brokers are restarted while records come, some are killed, leadership is moved, followers are cut off
    from their leader or from all; at the end one is killed, another one lacks what came after it was shut
    down, and the last is shut down.
    """
    random = Random(seed)  # noqa: S311 - no secret
    cluster = MadeCluster()
    while cluster.epoch < epochs_ - 2:
        _happens(cluster, random, max(1, records // (4 * epochs_)))
    behind, killed, last = random.sample(BROKERS, 3)
    cluster.stop(behind)
    cluster.produce(max(1, records - cluster.ends[cluster.leader] - 1))
    cluster.kill(killed)
    cluster.produce(1)
    cluster.stop(last)
    cluster.write(folder)
    return cluster


def _happens(cluster: MadeCluster, random: Random, count: int) -> None:
    """One event, while records are sent."""
    cluster.produce(count)
    follower = random.choice(sorted(set(BROKERS) - {cluster.leader}))
    match random.choice(["restart", "leader", "kill", "move", "lag", "cut off"]):
        case "move":
            cluster.move(follower)
        case "lag":
            cluster.lag(follower)
            cluster.produce(count)
            cluster.heal(follower)
        case "cut off":
            cluster.cut_off(follower)
            cluster.produce(count)
            cluster.reconnect(follower)
        case kind:
            broker = cluster.leader if kind != "restart" else follower
            (cluster.kill if kind == "kill" else cluster.stop)(broker)
            cluster.produce(count)
            cluster.start(broker)


def _segments(folder: Path, log: list[tuple[int, int]], end: int) -> None:
    """Write the segments of a log, in batches of a thousand records."""
    folder.mkdir(parents=True)
    found: dict[int, list[bytes]] = {0: []}
    for base, count, epoch in _batches(log, end):
        segment = max(found)
        if base - segment >= PER_SEGMENT:
            segment = base
        found.setdefault(segment, []).append(packed_batch(base, count, epoch))
    for segment, parts in found.items():
        (folder / f"{segment:020}.log").write_bytes(b"".join(parts))


def _batches(log: list[tuple[int, int]], end: int) -> Iterator[tuple[int, int, int]]:
    """The batches of a log: the first offset, the number of records and the epoch of each."""
    for number, (epoch, start) in enumerate(log):
        until = log[number + 1][1] if number + 1 < len(log) else end
        for base in range(start, until, PER_BATCH):
            yield base, min(PER_BATCH, until - base), epoch
