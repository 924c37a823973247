"""A producer, a consumer and an operator of a real cluster."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import kafka
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

TOPIC = "orders"
PARTITION = 0
PREFERRED = 0  # kind of an election
COMMITTING = 600_000  # milliseconds for a write that later steps may let through


class Sent:
    """A record that was sent, and what became of it."""

    def __init__(self, producer: kafka.KafkaProducer, future: Any) -> None:  # noqa: ANN401 - the library's own
        self._producer = producer
        self._future = future

    @property
    def is_answered(self) -> bool:
        """Whether there is an answer, good or bad."""
        return bool(self._future.is_done)

    @property
    def is_acknowledged(self) -> bool:
        """Whether the producer was told that it is stored."""
        return bool(self._future.is_done and self._future.succeeded())

    @property
    def refusal(self) -> str:
        """Why it was not, as Kafka names it; nothing where it was, or where there is no answer yet."""
        if not self._future.is_done or self._future.succeeded():
            return ""
        return type(self._future.exception).__name__

    def close(self) -> None:
        """Wait no longer."""
        self._producer.close(timeout=0)


def silence() -> None:
    """What the library has to say of lost connections is no news here."""
    logging.getLogger("kafka").setLevel(logging.CRITICAL)


def send(broker: str, text: str, acks: int | str) -> Sent:
    """One record to one broker, once; an answer is not waited for."""
    producer = kafka.KafkaProducer(
        bootstrap_servers=[broker],
        acks=acks,
        retries=0,
        enable_idempotence=False,
        linger_ms=0,
        request_timeout_ms=COMMITTING,
        delivery_timeout_ms=COMMITTING + 1000,
        max_block_ms=20_000,
    )
    future = producer.send(TOPIC, partition=PARTITION, value=text.encode())
    return Sent(producer, future)


def read(broker: str) -> list[str]:
    """All that a consumer is given, from the beginning to the high watermark. Raises KafkaError."""
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=[broker], group_id=None, enable_auto_commit=False, auto_offset_reset="earliest"
    )
    try:
        place = kafka.TopicPartition(TOPIC, PARTITION)
        consumer.assign([place])
        end = consumer.end_offsets([place])[place]
        consumer.seek(place, 0)
        found: list[str] = []
        while consumer.position(place) < end:
            for records in consumer.poll(timeout_ms=1000).values():
                found += [record.value.decode() for record in records if record.offset < end]
        return found
    finally:
        consumer.close()


def create(brokers: Sequence[str], replicas: Sequence[int], settings: Mapping[str, str]) -> None:
    """The topic with its one partition, whose first replica leads. Raises KafkaError."""
    topic = {"assignments": {PARTITION: list(replicas)}, "configs": dict(settings)}
    _asked(brokers, lambda admin: admin.create_topics({TOPIC: topic}))


def move(brokers: Sequence[str], replicas: Sequence[int]) -> None:
    """Make the first of these the preferred replica, and have it elected. Raises KafkaError."""
    place = kafka.TopicPartition(TOPIC, PARTITION)
    _asked(brokers, lambda admin: admin.alter_partition_reassignments({place: list(replicas)}))
    _asked(brokers, lambda admin: admin.elect_leaders(PREFERRED, {TOPIC: [PARTITION]}))


def _asked(brokers: Sequence[str], what: Callable[[KafkaAdminClient], object]) -> None:
    admin = KafkaAdminClient(bootstrap_servers=list(brokers))
    try:
        what(admin)
    finally:
        admin.close()


__all__ = ["KafkaError", "Sent", "create", "move", "read", "send", "silence"]
