"""A record sent to one broker, as it goes over a connection, and what becomes of it."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import pytest

import modelcheck.kafka.reproduce.client as client
from modelcheck.kafka.reproduce.cluster import until

pytest.importorskip("kafka", reason="needs the extra modelcheck[kafka]")
HEAD = struct.Struct(">ihhi")  # size, key, version, number of the request


@pytest.fixture
def broker() -> Iterator[socket.socket]:
    """A broker that takes one connection, and answers nothing by itself."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        yield server


def sent_to(server: socket.socket, acks: int | str) -> tuple[client.Sent, socket.socket, bytes]:
    """What is sent, the other end of its connection, and the request that came there."""
    sent = client.send(f"127.0.0.1:{server.getsockname()[1]}", ["record 7"], acks)
    taken, _ = server.accept()
    request = taken.recv(1 << 16)
    return sent, taken, request


def answered(code: int) -> bytes:
    """The answer of a broker to that request, with a code of Kafka's list of errors."""
    partition = struct.pack(">ihqqq", 0, code, 0, -1, 0)
    body = struct.pack(">iih6si", 0, 1, 6, b"orders", 1) + partition + struct.pack(">i", 0)
    return struct.pack(">i", len(body)) + body


def test_a_record_goes_to_that_broker_without_a_question_who_leads(broker: socket.socket) -> None:
    sent, taken, request = sent_to(broker, "all")
    size, key, version, _ = HEAD.unpack_from(request)

    assert (size, key, version) == (len(request) - 4, 0, client.PRODUCE)
    assert b"record 7" in request
    assert not sent.is_answered
    sent.close()
    taken.close()


@pytest.mark.parametrize(("code", "refusal"), [(0, ""), (6, "NotLeaderForPartitionError")])
def test_the_answer_says_whether_it_was_acknowledged(code: int, refusal: str, broker: socket.socket) -> None:
    sent, taken, _ = sent_to(broker, 1)
    taken.sendall(answered(code))

    assert until(lambda: sent.is_answered, 20)
    assert sent.is_acknowledged == (code == 0)
    assert sent.refusal == refusal
    assert sent.offset == (None if code else 0)
    sent.close()
    taken.close()


def test_a_connection_that_ends_is_no_acknowledgement(broker: socket.socket) -> None:
    sent, taken, _ = sent_to(broker, 1)
    taken.close()

    assert until(lambda: sent.is_answered, 20)
    assert not sent.is_acknowledged
    assert sent.refusal == "the connection ended"
    sent.close()


def test_with_acks_0_nobody_waits_for_an_answer(broker: socket.socket) -> None:
    sent, taken, _ = sent_to(broker, 0)

    assert sent.is_acknowledged
    sent.close()
    taken.close()


def test_a_broker_that_is_not_there_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    with pytest.raises(client.Unanswered, match="refused"):
        client.send(f"127.0.0.1:{port}", ["record 1"], 1)
