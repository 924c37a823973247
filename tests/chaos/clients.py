"""Producers that keep every answer, and consumers that keep what they read."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from modelcheck.kafka.reproduce import client
from modelcheck.kafka.reproduce.client import Unanswered
from modelcheck.kafka.reproduce.cluster import until
from tests.chaos.cluster import ChaosCluster
from tests.chaos.plan import Producer, TopicPlan

WAIT = 1.5  # seconds for an answer, before others are asked to write
GOES_ON = {  # who refuses so has appended nothing, and another broker may lead
    "NotLeaderForPartitionError",
    "UnknownTopicOrPartitionError",
    "LeaderNotAvailableError",
    "KafkaStorageError",
}


ENDS = ("commit", "commit", "commit", "abort", "leave open")  # how a transaction is to end
LIBRARY = {  # milliseconds
    "bootstrap_timeout_ms": 2000,
    "max_block_ms": 3000,
    "request_timeout_ms": 5000,
    "delivery_timeout_ms": 20_000,
    "metadata_max_age_ms": 2000,
}
TIMEOUT = 15_000  # milliseconds after which a coordinator aborts a transaction


class Answer(Protocol):
    """What becomes of records that were sent."""

    @property
    def offset(self) -> int | None:
        """The offset of the first record, where the broker has named it."""

    @property
    def is_answered(self) -> bool:
        """Whether an answer has arrived, positive or negative."""

    @property
    def is_acknowledged(self) -> bool:
        """Whether the records were acknowledged."""

    @property
    def refusal(self) -> str:
        """The error if the records were refused; else empty."""

    def close(self) -> None:
        """Stop waiting for the answer."""


@dataclass
class Transaction:
    """A transaction; `outcome` is "commit" or "abort" once that was answered."""

    outcome: str | None = None


@dataclass(frozen=True)
class Written:
    """A batch that was sent to a broker, and what became of it; 0 for the one that a library chose."""

    topic: str
    broker: int
    texts: tuple[str, ...]
    sent: Answer
    transaction: Transaction | None = None

    def told(self) -> dict[str, object]:
        """As JSON data; an answer that has not come is None."""
        is_known = self.sent.is_answered
        return {
            "broker": self.broker,
            "texts": list(self.texts),
            "acknowledged": self.sent.is_acknowledged if is_known else None,
            "refused": self.sent.refusal,
            "offset": self.sent.offset,
            "transaction": None if self.transaction is None else self.transaction.outcome,
        }


class OfLibrary:
    """A record that was given to the library's producer."""

    def __init__(self, future: Any) -> None:  # noqa: ANN401 - it has no types
        self._future = future

    @property
    def is_answered(self) -> bool:
        """Whether the library waits for no answer any more."""
        return bool(self._future.is_done)

    @property
    def is_acknowledged(self) -> bool:
        """Whether the record was acknowledged."""
        return bool(self._future.succeeded())

    @property
    def refusal(self) -> str:
        """The name of the error that the library gave up with; else empty."""
        return type(self._future.exception).__name__ if self._future.failed() else ""

    @property
    def offset(self) -> int | None:
        """The record's offset, if it was acknowledged."""
        found = self._future.value.offset if self.is_acknowledged else None
        return None if found is None or found < 0 else int(found)

    def close(self) -> None:
        """Nothing: it is the producer that waits."""


@dataclass
class Producers:
    """Writes to each topic in turn, to whom it wrote before or to who leads now.

    To some topics the library's producer writes, with idempotence or transactions.
    """

    cluster: ChaosCluster
    rng: Random
    written: list[Written] = field(default_factory=list)
    _last: dict[str, int] = field(default_factory=dict)
    _library: dict[str, Any] = field(default_factory=dict)
    _number: int = 0

    def write(self, leaders: Mapping[TopicPlan, int | None], running: Iterable[int]) -> None:
        """Send one batch to each topic at once, to the first broker that takes it."""
        up = set(running)
        with ThreadPoolExecutor(max(1, len(leaders))) as at_once:
            for topic, leader in leaders.items():
                count, end = self.rng.choice([1, 2, 3, 5]), self.rng.choice(ENDS)
                texts = tuple(f"{topic.name} {self._number + each}" for each in range(count))
                self._number += count
                if topic.producer is Producer.PLAIN:
                    at_once.submit(self._write, topic, leader, up, texts)
                elif up:
                    at_once.submit(self._write_by_library, topic, texts, end)

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
            sent = client.send(self.cluster.client(broker), texts, acks, topic=topic.name)
        except Unanswered:
            return False
        until(lambda: sent.is_answered, WAIT, every=0.02)
        if sent.refusal in GOES_ON:
            sent.close()
            return False
        self.written.append(Written(topic.name, broker, texts, sent))
        return True

    def _write_by_library(self, topic: TopicPlan, texts: tuple[str, ...], end: str) -> None:
        """Have the library's producer write; after a failure the next batch gets a new producer."""
        try:
            self._send(topic, texts, end)
        except Exception:  # noqa: BLE001 - the library's own, of a cluster in trouble
            self._give_up(topic.name)

    def _send(self, topic: TopicPlan, texts: tuple[str, ...], end: str) -> None:
        """Send a batch by the library's producer, in a transaction that ends so where there are any."""
        producer = self._library.get(topic.name) or self._opened(topic)
        transaction = Transaction() if topic.producer is Producer.TRANSACTIONAL else None
        if transaction:
            producer.begin_transaction()
        sent = [OfLibrary(producer.send(topic.name, text.encode())) for text in texts]
        self.written += [
            Written(topic.name, 0, (text,), each, transaction) for text, each in zip(texts, sent, strict=True)
        ]
        until(lambda: all(each.is_answered for each in sent), WAIT, every=0.02)
        if transaction is None:
            return
        if end == "leave open" or not _ended(producer, transaction, end):
            self._give_up(topic.name)

    def _opened(self, topic: TopicPlan) -> Any:  # noqa: ANN401 - it has no types
        """A new producer of the library for a topic."""
        import kafka  # noqa: PLC0415 - an extra, and slow to load

        more: dict[str, Any] = {}
        if topic.producer is Producer.TRANSACTIONAL:
            more = {"transactional_id": topic.name, "transaction_timeout_ms": TIMEOUT}
        brokers = [self.cluster.client(node) for node in self.cluster.brokers]
        producer = kafka.KafkaProducer(
            bootstrap_servers=brokers, acks="all", enable_idempotence=True, **LIBRARY, **more
        )
        self._library[topic.name] = producer
        if more:
            producer.init_transactions()
        return producer

    def _give_up(self, topic: str) -> None:
        """Forget a producer of the library, and what it has not sent."""
        producer = self._library.pop(topic, None)
        if producer is not None:
            with suppress(Exception):  # as above
                producer._sender.force_close()  # else `close` waits for what it cannot send
                producer.close(timeout=1)

    def of(self, topic: str) -> Iterator[Written]:
        """What was sent to a topic."""
        return (each for each in self.written if each.topic == topic)

    def close(self) -> None:
        """Wait for no more answers."""
        for topic in [*self._library]:
            self._give_up(topic)
        for each in self.written:
            each.sent.close()


def _ended(producer: Any, transaction: Transaction, end: str) -> bool:  # noqa: ANN401 - it has no types
    """Whether a transaction was committed or aborted within some time; an answer that comes later counts."""

    def run() -> None:
        with suppress(Exception):  # the library's own: nobody knows the outcome
            producer.commit_transaction() if end == "commit" else producer.abort_transaction()
            transaction.outcome = end

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(2 * WAIT)
    return transaction.outcome is not None


class Consumer:
    """Reads topics in a thread while brokers come and go, and keeps what it read.

    Up to their high watermarks; one that is `committed` gets records of committed transactions alone, and
    one in a `rack` reads from a follower there, if any is in sync.
    """

    def __init__(
        self, brokers: Sequence[str], topics: Sequence[str], *, committed: bool = False, rack: str = ""
    ) -> None:
        self._brokers, self._topics, self._rack = list(brokers), list(topics), rack
        self._isolation = "read_committed" if committed else "read_uncommitted"
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
        return dict(self._read.get(topic, {}))

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
            isolation_level=self._isolation,
            client_rack=self._rack,
        )
        try:
            consumer.assign([kafka.TopicPartition(topic, 0) for topic in self._topics])
            while not self._is_over.is_set():
                for place, records in consumer.poll(timeout_ms=500).items():
                    self._read[place.topic].update({each.value.decode(): each.offset for each in records})
        finally:
            consumer.close()
