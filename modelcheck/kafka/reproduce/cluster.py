"""A cluster in a folder of its own: a controller and brokers on loopback, and what can befall them."""

from __future__ import annotations

import ctypes
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from modelcheck.kafka.reproduce.installation import SERVER, STORAGE, Home, set_up_logging
from modelcheck.kafka.reproduce.relays import Link
from spec.diagnostics import Diagnostic, SpecError
from spec.reading import bytes_of
from spec.source import Source

LARGEST = 1 << 26  # bytes of what a process has said

CONTROLLER = 100
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
LAG = 8.0  # seconds that a follower may lag before it leaves the ISR
SESSION = 6.0  # seconds until the controller takes a silent broker for dead
LAST_LINES = 12  # lines of a process that did not start
FRAME = re.compile(r"\s+(at |\.\.\. \d+ )")  # a line of a JVM stack trace
STOPPING = 60.0
PR_SET_PDEATHSIG = 1
NAMED_SINCE = (3, 9)  # a controller registers its address; before only the configuration had it (KIP-853)
CUT, HELD = "cut", "held"  # why a link carries nothing


class NotStarted(Exception):  # noqa: N818 - reported to the user as a diagnostic
    """Raised if a process of the cluster ended unexpectedly; has its last lines of output."""

    def __init__(self, name: str, output: str) -> None:
        self.name = name
        self.lines = tuple(line for line in output.splitlines() if not FRAME.match(line))[-LAST_LINES:]
        super().__init__(f"{name} has ended unexpectedly")

    def diagnostic(self) -> SpecError:
        """The error for the user."""
        source = Source("--kafka-home", "")
        help_ = "\n        ".join(("its last lines:", *self.lines))
        return SpecError([Diagnostic("R0932", source, None, str(self), help=help_)])


class Cluster:
    """A cluster of controllers and brokers 1, 2, … with links to cut; a context that removes it at the end.

    `settings` are for all brokers, `controllers` for the controllers, and `features` for the tool that
    formats directories.  `quorum` has the ids of the controllers, of which some or all may be brokers too.
    """

    def __init__(
        self,
        home: Home,
        root: Path,
        brokers: int,
        *,
        settings: Mapping[str, str],
        controllers: Mapping[str, str],
        features: Sequence[str],
        quorum: Sequence[int] = (CONTROLLER,),
    ) -> None:
        self.home = home
        self.root = root
        self.brokers = tuple(range(1, brokers + 1))
        self.quorum = tuple(quorum)
        self.nodes = tuple(dict.fromkeys((*self.brokers, *self.quorum)))
        self._settings = settings
        self._controllers = controllers
        self._features = features
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._links: dict[tuple[int, int], list[Link]] = {}
        self._clients: dict[int, int] = {}  # ports
        self._peers: dict[int, int] = {}
        self._voters: dict[int, int] = {}
        self._system = ctypes.CDLL(None)

    def __enter__(self) -> Self:
        """Choose ports, open the links and write configurations; starts no process.

        Raises SpecError where somebody else takes a port meanwhile.
        """
        set_up_logging(self.root)
        try:
            self._open_links()
        except OSError as error:
            self.__exit__()
            raise _no_port(f"a port that was free a moment ago is in use: {error}") from None
        except BaseException:
            self.__exit__()
            raise
        for node in self.nodes:
            self._configure(node)
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running.values():
            process.kill()
        for process in self._running.values():
            process.wait()
        self._running.clear()
        for link in self.links():
            link.close()

    def _open_links(self) -> None:
        """Open the links between all nodes."""
        for node in self.brokers:
            self._clients[node] = free_port(["127.0.0.1"], self._clients.values())
        for to in self.brokers:
            self._open_links_to(to, self._peers, self.brokers)
        for to in self.quorum:
            self._open_links_to(to, self._voters, self.nodes)

    def _open_links_to(self, to: int, ports: dict[int, int], nodes: Sequence[int]) -> None:
        """Open the links from some nodes to a new port of one, which is kept in `ports`."""
        asking = [node for node in nodes if node != to]
        addresses = [_address(node, to) for node in asking]
        taken = (*self._clients.values(), *self._peers.values(), *self._voters.values())
        port = ports[to] = free_port(["127.0.0.1", *addresses], taken)
        for node, address in zip(asking, addresses, strict=True):
            self._links.setdefault((node, to), []).append(Link((address, port), ("127.0.0.1", port)))

    def links(self, *of: int) -> Iterator[Link]:
        """All links, or those of some nodes."""
        for pair, links in self._links.items():
            if not of or not set(of).isdisjoint(pair):
                yield from links

    # ------------------------------------------------------------------ where things are

    def folder(self, node: int) -> Path:
        """The log directory of a node, or the folder of its log directories."""
        return self.root / name(node).replace(" ", "")

    def directories(self, node: int) -> tuple[Path, ...]:
        """The log directories of a node; the first one has the metadata."""
        return (self.folder(node),)

    def output(self, node: int) -> Path:
        """The file with a node's output."""
        return self.root / f"{name(node).replace(' ', '')}.log"

    def client(self, node: int) -> str:
        """The address at which clients reach a broker."""
        return f"127.0.0.1:{self._clients[node]}"

    def is_up(self, node: int) -> bool:
        """Whether a node's process is running."""
        return node in self._running and self._running[node].poll() is None

    # ------------------------------------------------------------------ what befalls it

    def format(self) -> None:
        """Format the controllers' directories. Raises NotStarted with the tool's output.

        A broker's has its mark only (see `start`): the tool would write no more, and takes seconds.
        """
        for node in self.quorum:
            given = ["format", "-t", CLUSTER_ID, "-c", str(self._properties(node))]
            given += [part for feature in self._features for part in ("--feature", feature)]
            command = self.home.command(STORAGE, *given, logging=self.root)
            done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - ours
            if done.returncode:
                raise NotStarted("the tool that formats directories", done.stdout + done.stderr)

    def start(self, *nodes: int) -> None:
        """Start the processes of nodes, without waiting."""
        for node in nodes:
            for directory in self.directories(node):
                mark = directory / "meta.properties"
                if not mark.exists():
                    directory.mkdir(parents=True)
                    mark.write_text(f"version=1\ncluster.id={CLUSTER_ID}\nnode.id={node}\n")
            hosts = f"-Djdk.net.hosts.file={self.root / f'{node}.hosts'}"
            command = self.home.command(
                SERVER, str(self._properties(node)), logging=self.root, options=(hosts,)
            )
            with self.output(node).open("ab") as log:
                self._running[node] = subprocess.Popen(  # noqa: S603 - ours
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # Ctrl-C is for us
                    preexec_fn=self._end_with_us,  # noqa: PLW1509 - it calls the system only
                )

    def kill(self, node: int) -> None:
        """Kill a node with SIGKILL; its data in transit is lost."""
        self._running[node].kill()
        self._running.pop(node).wait()
        for link in self.links(node):
            link.drop()

    def stop(self, node: int) -> None:
        """Shut a node down cleanly, and wait for it."""
        self._running[node].send_signal(signal.SIGTERM)
        try:
            self._running[node].wait(timeout=STOPPING)
        except subprocess.TimeoutExpired:
            self._running[node].kill()
        self._running.pop(node).wait()

    def erase(self, node: int) -> None:
        """Delete the disk of a node."""
        shutil.rmtree(self.folder(node))

    def cut(self, one: int, other: int) -> None:
        """Cut the network between two nodes."""
        for link in self._between(one, other):
            link.cut(CUT)

    def mend(self, one: int, other: int) -> None:
        """Restore the network between two nodes."""
        for link in self._between(one, other):
            link.mend(CUT)

    def hold(self, asking: int, asked: int) -> None:
        """Delay the requests of one node to another."""
        for link in self._links.get((asking, asked), ()):
            link.cut(HELD)

    def release(self, asking: int, asked: int) -> None:
        """Let delayed requests pass."""
        for link in self._links.get((asking, asked), ()):
            link.mend(HELD)

    def check(self) -> None:
        """Raise NotStarted if a process has ended unexpectedly."""
        for node, process in self._running.items():
            if process.poll() is not None:
                raise NotStarted(name(node), bytes_of(self.output(node), LARGEST).decode(errors="replace"))

    def _end_with_us(self) -> None:
        """Make the process end when this program does, however it ends; Linux only."""
        if sys.platform == "linux":
            self._system.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    def _between(self, one: int, other: int) -> list[Link]:
        """The links between two nodes, in both directions."""
        return [link for pair in ((one, other), (other, one)) for link in self._links.get(pair, ())]

    # ------------------------------------------------------------------ configurations

    def _properties(self, node: int) -> Path:
        """The path of a node's configuration file."""
        return self.root / f"{node}.properties"

    def _configure(self, node: int) -> None:
        """Write a node's configuration file."""
        is_broker, votes = node in self.brokers, node in self.quorum
        voters = (f"{each}@{_host(each)}:{port}" for each, port in self._voters.items())
        lines = {
            "process.roles": ",".join(["broker"] * is_broker + ["controller"] * votes),
            "node.id": str(node),
            "controller.quorum.voters": ",".join(voters),
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,CLIENT:PLAINTEXT,PEER:PLAINTEXT",
            "log.dirs": ",".join(map(str, self.directories(node))),
            "metadata.log.dir": str(self.directories(node)[0]),
            "broker.session.timeout.ms": str(int(SESSION * 1000)),
            "broker.heartbeat.interval.ms": "500",
            "replica.lag.time.max.ms": str(int(LAG * 1000)),
            "replica.high.watermark.checkpoint.interval.ms": "500",
            "log.flush.offset.checkpoint.interval.ms": "500",
            "auto.leader.rebalance.enable": "false",
            "auto.create.topics.enable": "false",
            "log.cleaner.enable": "false",
            "group.initial.rebalance.delay.ms": "0",
        }
        listeners: list[str] = []
        advertised: list[str] = []
        if is_broker:
            peer = self._peers[node]
            listeners += [f"CLIENT://127.0.0.1:{self._clients[node]}", f"PEER://127.0.0.1:{peer}"]
            advertised += [f"CLIENT://{self.client(node)}", f"PEER://{_host(node)}:{peer}"]
            lines["inter.broker.listener.name"] = "PEER"
        if votes:
            listeners.append(f"CONTROLLER://127.0.0.1:{self._voters[node]}")
            if self.home.release >= NAMED_SINCE:  # else brokers go past their link to it once that is cut
                advertised.append(f"CONTROLLER://{_host(node)}:{self._voters[node]}")
        lines["listeners"] = ",".join(listeners)
        if advertised:
            lines["advertised.listeners"] = ",".join(advertised)
        lines |= self._controllers if votes else {}
        lines |= self._settings if is_broker else {}
        self._properties(node).write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
        hosts = ["127.0.0.1 localhost", f"127.0.0.1 {socket.gethostname()}"]
        hosts += [
            f"{_address(node, to) if (node, to) in self._links else '127.0.0.1'} {_host(to)}"
            for to in self.nodes
        ]
        (self.root / f"{node}.hosts").write_text("\n".join(hosts) + "\n")


def name(node: int) -> str:
    """A node's name for people: "broker 1", "controller", or of several "controller 101"."""
    if node < CONTROLLER:
        return f"broker {node}"
    return "controller" if node == CONTROLLER else f"controller {node}"


def free_port(addresses: Sequence[str], taken: Collection[int] = ()) -> int:
    """A TCP port that is free at all addresses and not in `taken`.

    Raises SpecError where there is none, or where this system has not got the addresses.
    """
    problem: object = "all of them are taken"
    for _ in range(100):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if port in taken:
            continue
        try:
            for address in addresses:
                with socket.socket() as probe:
                    probe.bind((address, port))
        except OSError as error:
            problem = error
            continue
        return port
    raise _no_port(f"no port is free at {', '.join(addresses)}: {problem}")


def _no_port(message: str) -> SpecError:
    """The error that no port could be opened."""
    help_ = "try again; all of 127.0.0.0/8 has to be this machine, as it is on Linux"
    return SpecError([Diagnostic("R0932", Source("loopback", ""), None, message, help=help_)])


def until(holds: Callable[[], bool], seconds: float, *, every: float = 0.1) -> bool:
    """Wait until `holds()` is true, at most `seconds`; return whether it became true.

    It looks once in `every` seconds.
    """
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(every)
    return True


def _address(asking: int, asked: int) -> str:
    """The local address for the link of one node to another."""
    return f"127.77.{asking}.{asked}"


def _host(node: int) -> str:
    """The address of a node."""
    return f"node{node}.cluster"
