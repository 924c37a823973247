"""A producer that keeps every answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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

    def write(self, topic: TopicPlan, leader: int | None, running: Iterable[int]) -> None:
        """Send one batch to the first of these brokers that takes it."""
        count = self._rng.choice([1, 2, 3, 5])
        texts = tuple(f"{topic.name} {self._number + each}" for each in range(count))
        self._number += count
        up = set(running)
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
