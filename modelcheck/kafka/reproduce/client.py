"""A producer, a consumer and an operator of a real cluster."""

from __future__ import annotations

import logging
import socket
import struct
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

TOPIC = "orders"
PARTITION = 0
PREFERRED, UNCLEAN = 0, 1  # kinds of elections
PRODUCE = 7  # version of the request, which releases from 2.1 to 4.4 know
SIZE = struct.Struct(">i")  # of what follows
CONNECTING = 20.0  # seconds
COMMITTING = 600_000  # milliseconds for a write that later steps may let through


class Unanswered(Exception):  # noqa: N818 - often no failure: a cluster in trouble does not answer
    """Raised if a cluster refuses a request or does not answer; has the reason in Kafka's terms."""


class Sent:
    """Records sent in one batch over their own connection, and the answer."""

    def __init__(self, connection: socket.socket, *, is_answered: bool) -> None:
        """A batch just sent; `is_answered` is True if no answer is requested, so it counts as answered."""
        self.offset: int | None = None  # of the first record, where the broker has named it
        self._connection = connection
        self._refusal: str | None = "" if is_answered else None
        if not is_answered:
            threading.Thread(target=self._wait, daemon=True).start()

    @property
    def is_answered(self) -> bool:
        """Whether an answer has arrived, positive or negative."""
        return self._refusal is not None

    @property
    def is_acknowledged(self) -> bool:
        """Whether the record was acknowledged."""
        return self._refusal == ""

    @property
    def refusal(self) -> str:
        """The name of Kafka's error if the record was refused; else empty."""
        return self._refusal or ""

    def close(self) -> None:
        """Stop waiting for the answer."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def _wait(self) -> None:
        """Wait for the answer, in a thread."""
        with suppress(OSError), self._connection.makefile("rb") as file:
            size = file.read(SIZE.size)
            answer = file.read(*SIZE.unpack(size)) if len(size) == SIZE.size else b""
            refusal, offset = _read_answer(answer) if answer else ("the connection ended", None)
            self.offset = offset
            self._refusal = refusal  # the last one: it says that there is an answer


def begin() -> None:
    """Import the client library, which is slow, and silence its expected connection errors.

    Raises ModuleNotFoundError where it is not installed.
    """
    _library()
    logging.getLogger("kafka").setLevel(logging.CRITICAL)


def send(broker: str, texts: Sequence[str], acks: int | str, *, topic: str = TOPIC) -> Sent:
    """Send one batch of records to one broker once, without waiting for the answer. Raises Unanswered.

    It goes to this broker whoever leads: a producer of the library would ask any broker who that is, and
    a leader that is deposed without knowing it would get no record.
    """
    host, _, port = broker.rpartition(":")
    try:
        connection = socket.create_connection((host, int(port)), timeout=CONNECTING)
        connection.settimeout(None)
        connection.sendall(_produce_request(texts, acks, topic))
    except OSError as error:
        raise Unanswered(str(error)) from error
    return Sent(connection, is_answered=acks == 0)


def _produce_request(texts: Sequence[str], acks: int | str, topic: str) -> bytes:
    """The bytes of a Produce request."""
    _library()
    from kafka.protocol.producer import ProduceRequest  # noqa: PLC0415 - as in `_library`
    from kafka.record.memory_records import MemoryRecordsBuilder  # noqa: PLC0415 - as above

    records = MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=1 << 14)
    for text in texts:
        records.append(int(time.time() * 1000), None, text.encode(), [])
    records.close()
    of_topic = ProduceRequest.TopicProduceData
    partition = of_topic.PartitionProduceData(index=PARTITION, records=records.buffer())
    request = ProduceRequest(
        version=PRODUCE,
        transactional_id=None,
        acks=-1 if acks == "all" else acks,
        timeout_ms=COMMITTING,
        topic_data=[of_topic(name=topic, partition_data=[partition])],
    )
    request.with_header(client_id="modelcheck")
    return bytes(request.encode(header=True, framed=True))


def _read_answer(answer: bytes) -> tuple[str, int | None]:
    """A Produce response: the name of its error, empty if there is none, and the first record's offset."""
    from kafka.protocol.producer import ProduceResponse  # noqa: PLC0415 - as in `_library`

    found = ProduceResponse.decode(answer, version=PRODUCE, header=True)
    partition = found.responses[0].partition_responses[0]
    if partition.error_code:
        return _library().errors.for_code(partition.error_code).__name__, None
    return "", partition.base_offset


def read(broker: str, *, topic: str = TOPIC) -> list[str]:
    """All records up to the high watermark, as a consumer gets them. Raises Unanswered."""
    library = _library()
    with _answered():
        consumer = library.KafkaConsumer(
            bootstrap_servers=[broker], group_id=None, enable_auto_commit=False, auto_offset_reset="earliest"
        )
        try:
            place = library.TopicPartition(topic, PARTITION)
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


def create(
    brokers: Sequence[str], replicas: Sequence[int] | int, settings: Mapping[str, str], *, topic: str = TOPIC
) -> None:
    """Create the topic with one partition, whose first replica leads. Raises Unanswered.

    Of a number of replicas alone, the controller chooses them.
    """
    given: dict[str, object] = (
        {"num_partitions": 1, "replication_factor": replicas}
        if isinstance(replicas, int)
        else {"assignments": {PARTITION: list(replicas)}}
    )
    _asked(brokers, lambda admin: admin.create_topics({topic: {**given, "configs": dict(settings)}}))


def reassign(brokers: Sequence[str], replicas: Sequence[int], *, topic: str = TOPIC) -> None:
    """Have these brokers be the replicas, the first of them the preferred leader. Raises Unanswered."""
    place = _library().TopicPartition(topic, PARTITION)
    _asked(brokers, lambda admin: admin.alter_partition_reassignments({place: list(replicas)}))


def move(brokers: Sequence[str], replicas: Sequence[int]) -> None:
    """Make the first replica the preferred leader, and have it elected. Raises Unanswered."""
    reassign(brokers, replicas)
    elect(brokers)


def elect(brokers: Sequence[str], *, kind: int = PREFERRED, topic: str = TOPIC) -> None:
    """Have the controller elect a leader, as `kafka-leader-election.sh` does. Raises Unanswered."""
    _asked(brokers, lambda admin: admin.elect_leaders(kind, {topic: [PARTITION]}))


def change(brokers: Sequence[str], setting: str, value: str, *, topic: str = TOPIC) -> None:
    """Change a setting of the topic. Raises Unanswered."""
    resource = _library().admin.ConfigResource("TOPIC", topic, configs={setting: value})
    _asked(brokers, lambda admin: admin.alter_configs([resource], incremental=True))


def _asked(brokers: Sequence[str], what: Callable[[Any], object]) -> None:
    """Send an admin request through any of the brokers, and wait for its result."""
    with _answered():
        admin = _library().KafkaAdminClient(bootstrap_servers=list(brokers))
        try:
            what(admin)
        finally:
            admin.close()


@contextmanager
def _answered() -> Iterator[None]:
    """A context that turns the library's errors into Unanswered."""
    try:
        yield
    except _library().errors.KafkaError as error:
        raise Unanswered(str(error) or type(error).__name__) from error


def _library() -> Any:  # noqa: ANN401 - it has no types
    """The client library, imported only to drive a cluster."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of its own
        import kafka  # noqa: PLC0415 - an extra, and slow to load
        import kafka.errors  # noqa: PLC0415 - as above
    return kafka
