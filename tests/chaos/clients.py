"""A producer that keeps every answer, and a consumer that keeps what it read."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from random import Random

from modelcheck.kafka.reproduce import client
from modelcheck.kafka.reproduce.client import Sent, Unanswered
from modelcheck.kafka.reproduce.cluster import until
from tests.chaos.cluster import ChaosCluster
from tests.chaos.plan import TopicPlan

WAIT = 1.5  # seconds for an answer, before others are asked to write
GOES_ON = {  # who refuses so has appended nothing, and another broker may lead
    "NotLeaderForPartitionError",
    "UnknownTopicOrPartitionError",
    "LeaderNotAvailableError",
    "KafkaStorageError",
}


@dataclass(frozen=True)
class Written:
    """A batch that was sent to a broker, and what became of it."""

    topic: str
    broker: int
    texts: tuple[str, ...]
    sent: Sent

    def told(self) -> dict[str, object]:
        """As JSON data; an answer that has not come is None."""
        is_known = self.sent.is_answered
        return {
            "broker": self.broker,
            "texts": list(self.texts),
            "acknowledged": self.sent.is_acknowledged if is_known else None,
            "refused": self.sent.refusal,
            "offset": self.sent.offset,
        }


class Producers:
    """Writes to each topic in turn, to whom it wrote before or to who leads now."""

    def __init__(self, cluster: ChaosCluster, rng: Random) -> None:
        self._cluster, self._rng = cluster, rng
        self._last: dict[str, int] = {}
        self._number = 0
        self.written: list[Written] = []

    def write(self, leaders: Mapping[TopicPlan, int | None], running: Iterable[int]) -> None:
        """Send one batch to each topic at once, to the first broker that takes it."""
        up = set(running)
        with ThreadPoolExecutor(max(1, len(leaders))) as at_once:
            for topic, leader in leaders.items():
                count = self._rng.choice([1, 2, 3, 5])
                texts = tuple(f"{topic.name} {self._number + each}" for each in range(count))
                self._number += count
                at_once.submit(self._write, topic, leader, up, texts)

    def _write(self, topic: TopicPlan, leader: int | None, up: set[int], texts: tuple[str, ...]) -> None:
        """Send a batch to the first of the brokers that takes it: the last one, the leader, or a replica."""
        wanted = dict.fromkeys([self._last.get(topic.name), leader, *topic.replicas])
        for broker in wanted:
            if broker in up and self._takes(topic, broker, texts):
                self._last[topic.name] = broker
                return

    def _takes(self, topic: TopicPlan, broker: int, texts: tuple[str, ...]) -> bool:
        """Whether a broker takes a batch, or does not answer; else another one may be asked."""
        acks = topic.acks if topic.acks == "all" else int(topic.acks)
        try:
            sent = client.send(self._cluster.client(broker), texts, acks, topic=topic.name)
        except Unanswered:
            return False
        until(lambda: sent.is_answered, WAIT, every=0.02)
        if sent.refusal in GOES_ON:
            sent.close()
            return False
        self.written.append(Written(topic.name, broker, texts, sent))
        return True

    def of(self, topic: str) -> Iterator[Written]:
        """What was sent to a topic."""
        return (each for each in self.written if each.topic == topic)

    def close(self) -> None:
        """Wait for no more answers."""
        for each in self.written:
            each.sent.close()


class Consumer:
    """Reads topics up to their high watermarks in a thread while brokers come and go; keeps what it read."""

    def __init__(self, brokers: Sequence[str], topics: Sequence[str]) -> None:
        self._brokers, self._topics = list(brokers), list(topics)
        self._read: dict[str, dict[str, int]] = {topic: {} for topic in topics}
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Read no more."""
        self._is_over.set()
        self._thread.join(timeout=10)

    def of(self, topic: str) -> dict[str, int]:
        """The values that were read of a topic, each with its offset."""
        return dict(self._read[topic])

    def _run(self) -> None:
        while not self._is_over.is_set():
            with suppress(Exception):  # the library's own, of a cluster in trouble: another consumer goes on
                self._follow()
            self._is_over.wait(1)

    def _follow(self) -> None:
        """Read from the first record on, until that fails or the round is over."""
        import kafka  # noqa: PLC0415 - an extra, and slow to load

        consumer = kafka.KafkaConsumer(
            bootstrap_servers=self._brokers,
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
        )
        try:
            consumer.assign([kafka.TopicPartition(topic, 0) for topic in self._topics])
            while not self._is_over.is_set():
                for place, records in consumer.poll(timeout_ms=500).items():
                    self._read[place.topic].update({each.value.decode(): each.offset for each in records})
        finally:
            consumer.close()
