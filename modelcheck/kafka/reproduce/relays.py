"""Links between the processes of a cluster that can be cut: every connection goes through a relay of ours.

NOTE(links): each process has an own table of names (`-Djdk.net.hosts.file`), so that each reaches
another one by a loopback address for this pair, where a relay listens.  A link that is cut carries nothing:
bytes stop where they are, and a new connection is taken and never answered, as over a network that has
lost its packets.  Stopped traffic continues when the link is mended, as TCP sends lost packets again.
This takes no rights, unlike network namespaces; a connection of a process
that was killed ends as it would on one machine, though, and not by silence.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

PIECE = 1 << 16
PATIENCE = 10.0  # seconds for a connection behind a relay


class Link:
    """A TCP relay for all connections that one process opens to another."""

    def __init__(self, address: tuple[str, int], target: tuple[str, int]) -> None:
        self.address = address
        self._target = target
        self._gate = threading.Condition()
        self._reasons: set[str] = set()
        self._pairs: list[tuple[socket.socket, socket.socket | None]] = []
        self._server = socket.create_server(address, backlog=64)
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self, reason: str) -> None:
        """Stop all traffic, for one more reason."""
        with self._gate:
            self._reasons.add(reason)

    def mend(self, reason: str) -> None:
        """Remove a reason; without any left, waiting and new traffic passes."""
        with self._gate:
            self._reasons.discard(reason)
            self._gate.notify_all()

    def drop(self) -> None:
        """Close all connections and discard what they hold."""
        with self._gate:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            _end(*pair)
        with self._gate:
            self._gate.notify_all()

    def close(self) -> None:
        """Close all connections and accept no more."""
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self.drop()
        with self._gate:
            self._reasons.clear()
            self._gate.notify_all()

    def _serve(self) -> None:
        """Accept connections, in a thread."""
        while True:
            try:
                near, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=(near,), daemon=True).start()

    def _join(self, near: socket.socket) -> None:
        """Connect an accepted connection to its target, once the link is not cut."""
        waiting: tuple[socket.socket, socket.socket | None] = (near, None)
        with self._gate:
            self._pairs.append(waiting)
            self._gate.wait_for(lambda: not self._reasons or waiting not in self._pairs)
            if waiting not in self._pairs:
                return
        try:
            far = socket.create_connection(self._target, timeout=PATIENCE)
        except OSError:
            _end(near)
            return
        far.settimeout(None)
        for each in (near, far):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pair = (near, far)
        with self._gate:
            if waiting not in self._pairs:
                _end(near, far)
                return
            self._pairs[self._pairs.index(waiting)] = pair
        for one, other in (pair, pair[::-1]):
            threading.Thread(target=self._pump, args=(pair, one, other), daemon=True).start()

    def _pump(
        self, pair: tuple[socket.socket, socket.socket], source: socket.socket, sink: socket.socket
    ) -> None:
        """Copy bytes in one direction until either side closes."""
        with suppress(OSError):
            while piece := source.recv(PIECE):
                with self._gate:
                    self._gate.wait_for(lambda: not self._reasons or pair not in self._pairs)
                    if pair not in self._pairs:
                        return
                    sink.sendall(piece)
        with self._gate:
            self._gate.wait_for(lambda: not self._reasons or pair not in self._pairs)
            if pair in self._pairs:
                self._pairs.remove(pair)
        _end(*pair)


def _end(*ends: socket.socket | None) -> None:
    """Close sockets."""
    for each in ends:
        if each is not None:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
