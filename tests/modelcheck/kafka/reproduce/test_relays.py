"""Links that can be cut, over real sockets."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from modelcheck.kafka.reproduce.cluster import free_port, until
from modelcheck.kafka.reproduce.relays import Link

ADDRESS = "127.77.1.2"


class Echo:
    """A server that sends back what it gets, and remembers it."""

    def __init__(self) -> None:
        self.heard = b""
        self.taken: list[socket.socket] = []
        self.server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def address(self) -> tuple[str, int]:
        host, port = self.server.getsockname()
        return str(host), int(port)

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.server.accept()
                self.taken.append(connection)
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with suppress(OSError):
            while piece := connection.recv(100):
                self.heard += piece
                connection.sendall(piece)


@pytest.fixture
def echo() -> Iterator[Echo]:
    found = Echo()
    yield found
    found.server.close()
    for each in found.taken:
        each.close()


@pytest.fixture
def link(echo: Echo) -> Iterator[Link]:
    found = Link((ADDRESS, free_port([ADDRESS])), echo.address)
    yield found
    found.close()


def connected(link: Link) -> socket.socket:
    found = socket.create_connection(link.address, timeout=5)
    found.settimeout(0.3)
    return found


def test_a_whole_link_carries_both_ways(link: Link) -> None:
    with connected(link) as near:
        near.sendall(b"one")

        assert near.recv(10) == b"one"


def test_a_cut_link_carries_nothing_until_it_is_mended(link: Link, echo: Echo) -> None:
    with connected(link) as near:
        near.sendall(b"one")
        near.recv(10)
        link.cut("test")
        near.sendall(b"two")
        with pytest.raises(TimeoutError):
            near.recv(10)
        assert echo.heard == b"one"
        link.mend("test")

        assert near.recv(10) == b"two"


def test_a_new_connection_over_a_cut_link_is_not_answered(link: Link, echo: Echo) -> None:
    link.cut("test")
    with connected(link) as near:
        near.sendall(b"one")
        with pytest.raises(TimeoutError):
            near.recv(10)
        assert echo.taken == []
        link.mend("test")

        assert near.recv(10) == b"one"


def test_two_reasons_are_both_to_go(link: Link) -> None:
    link.cut("one")
    link.cut("other")
    with connected(link) as near:
        near.sendall(b"one")
        link.mend("one")
        with pytest.raises(TimeoutError):
            near.recv(10)
        link.mend("other")

        assert near.recv(10) == b"one"


def test_what_waits_is_lost_with_its_connection(link: Link, echo: Echo) -> None:
    with connected(link) as near:
        near.sendall(b"one")
        near.recv(10)
        link.cut("test")
        near.sendall(b"two")
        with pytest.raises(TimeoutError):
            near.recv(10)
        link.drop()
        link.mend("test")

        assert until(lambda: _is_ended(near), 5)
        assert echo.heard == b"one"


def _is_ended(near: socket.socket) -> bool:
    try:
        return near.recv(10) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def test_where_nobody_answers_a_connection_ends() -> None:
    link = Link((ADDRESS, free_port([ADDRESS])), ("127.0.0.1", free_port(["127.0.0.1"])))
    with connected(link) as near:
        assert until(lambda: _is_ended(near), 5)
    link.close()


def test_a_port_is_free_at_all_addresses() -> None:
    port = free_port(["127.0.0.1", ADDRESS])
    with socket.create_server((ADDRESS, port)), socket.create_server(("127.0.0.1", port)):
        pass

    assert port > 0
