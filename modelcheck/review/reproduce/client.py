"""A producer, a consumer and an operator of a real cluster."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

TOPIC = "orders"
PARTITION = 0
PREFERRED = 0  # kind of an election
COMMITTING = 600_000  # milliseconds for a write that later steps may let through


class Unanswered(Exception):  # noqa: N818 - often no failure: a cluster in trouble answers nobody
    """A cluster did not do what it was asked, or refused it; the reason as Kafka names it."""


class Sent:
    """A record that was sent, and what became of it."""

    def __init__(self, producer: Any, future: Any) -> None:  # noqa: ANN401 - the library has no types
        self._producer = producer
        self._future = future

    @property
    def is_answered(self) -> bool:
        """Whether there is an answer, good or bad."""
        return bool(self._future.is_done)

    @property
    def is_acknowledged(self) -> bool:
        """Whether it was acknowledged to the producer."""
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


def begin() -> None:
    """Load the library, which is slow, and have it say nothing of lost connections: they are no news here.

    Raises ModuleNotFoundError where it is not installed.
    """
    _library()
    logging.getLogger("kafka").setLevel(logging.CRITICAL)


def send(broker: str, text: str, acks: int | str) -> Sent:
    """One record to one broker, once; an answer is not waited for. Raises Unanswered."""
    with _answered():
        producer = _library().KafkaProducer(
            bootstrap_servers=[broker],
            acks=acks,
            retries=0,
            enable_idempotence=False,
            linger_ms=0,
            request_timeout_ms=COMMITTING,
            delivery_timeout_ms=COMMITTING + 1000,
            max_block_ms=20_000,
        )
        return Sent(producer, producer.send(TOPIC, partition=PARTITION, value=text.encode()))


def read(broker: str) -> list[str]:
    """All that a consumer is given, from the beginning to the high watermark. Raises Unanswered."""
    library = _library()
    with _answered():
        consumer = library.KafkaConsumer(
            bootstrap_servers=[broker], group_id=None, enable_auto_commit=False, auto_offset_reset="earliest"
        )
        try:
            place = library.TopicPartition(TOPIC, PARTITION)
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
    """The topic with its one partition, whose first replica leads. Raises Unanswered."""
    topic = {"assignments": {PARTITION: list(replicas)}, "configs": dict(settings)}
    _asked(brokers, lambda admin: admin.create_topics({TOPIC: topic}))


def move(brokers: Sequence[str], replicas: Sequence[int]) -> None:
    """Make the first of these the preferred replica, and have it elected. Raises Unanswered."""
    place = _library().TopicPartition(TOPIC, PARTITION)
    _asked(brokers, lambda admin: admin.alter_partition_reassignments({place: list(replicas)}))
    _asked(brokers, lambda admin: admin.elect_leaders(PREFERRED, {TOPIC: [PARTITION]}))


def _asked(brokers: Sequence[str], what: Callable[[Any], object]) -> None:
    with _answered():
        admin = _library().KafkaAdminClient(bootstrap_servers=list(brokers))
        try:
            what(admin)
        finally:
            admin.close()


@contextmanager
def _answered() -> Iterator[None]:
    try:
        yield
    except _library().errors.KafkaError as error:
        raise Unanswered(str(error) or type(error).__name__) from error


def _library() -> Any:  # noqa: ANN401 - it has no types
    """The library, which only who drives a cluster needs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of its own
        import kafka  # noqa: PLC0415 - an extra, and slow to load
        import kafka.errors  # noqa: PLC0415 - as above
    return kafka
