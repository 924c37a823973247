"""Writes the directories that the tests read: a real cluster on loopback, broken in known ways.

    python -m tests.broker_files.make_fixtures --kafka-home DIR [SCENARIO ...]

DIR holds a release of Kafka, or at least its `libs/`; a Java is on the path.  Each scenario
starts a controller and three brokers, does what its function says, and stops them.  What is
kept is cut to what a reader needs (no indexes), with `cluster.json` beside it: the version,
the steps, and for some orders of starting the brokers again what the real cluster then did.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent / "clusters"
CONTROLLER = 10
BROKERS = (1, 2, 3)
TOPIC = "orders"
OTHER = "quiet"
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
DROPPED = ("*.index", "*.timeindex", "*.txnindex", ".lock", "*.snapshot", "bootstrap.checkpoint", "*.tmp")
TOLD = re.compile(r"Truncating|UNCLEAN|unclean|starts at leader epoch|Recovering unflushed")
TOOLS = {
    "storage": ("kafka.tools.StorageTool",),
    "server": ("kafka.Kafka",),
    "topics": ("org.apache.kafka.tools.TopicCommand", "kafka.admin.TopicCommand"),
    "producer": ("org.apache.kafka.tools.ConsoleProducer", "kafka.tools.ConsoleProducer"),
    "consumer": ("org.apache.kafka.tools.consumer.ConsoleConsumer", "kafka.tools.ConsoleConsumer"),
    "election": ("org.apache.kafka.tools.LeaderElectionCommand", "kafka.admin.LeaderElectionCommand"),
    "offsets": ("org.apache.kafka.tools.GetOffsetShell", "kafka.tools.GetOffsetShell"),
}


@dataclass
class Kafka:
    """A release of Kafka: its classes."""

    libs: Path

    def __post_init__(self) -> None:
        self.classes = {
            name.removesuffix(".class").replace("/", ".")
            for jar in self.libs.glob("kafka*.jar")
            for name in zipfile.ZipFile(jar).namelist()
        }

    @property
    def version(self) -> str:
        found = re.search(r"kafka-clients-(.*)\.jar", next(self.libs.glob("kafka-clients-*.jar")).name)
        assert found is not None
        return found[1]

    def command(self, tool: str, *args: str) -> list[str]:
        """A tool with its arguments; the classes of tools moved between releases."""
        name = next(name for name in TOOLS[tool] if name in self.classes)
        java = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", f"{self.libs}/*"]
        return [*java, *_LOGGING, name, *args]


_LOGGING: list[str] = []


def set_up_logging(folder: Path) -> None:
    """All loggers on the output, as the releases before and after 4.0 want it said."""
    old, new = folder / "log4j.properties", folder / "log4j2.properties"
    pattern = "[%d] %p %m (%c)%n"
    old.write_text(
        "log4j.rootLogger=INFO, out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\n"
        "log4j.appender.out.layout=org.apache.log4j.PatternLayout\n"
        f"log4j.appender.out.layout.ConversionPattern={pattern}\n"
    )
    new.write_text(
        "appender.out.type=Console\nappender.out.name=out\nappender.out.layout.type=PatternLayout\n"
        f"appender.out.layout.pattern={pattern}\nrootLogger.level=INFO\nrootLogger.appenderRef.out.ref=out\n"
    )
    _LOGGING[:] = [f"-Dlog4j.configuration=file:{old}", f"-Dlog4j2.configurationFile={new}"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Cluster:
    """A controller and three brokers under a folder, and the steps that were taken with them."""

    kafka: Kafka
    root: Path
    features: tuple[str, ...] = ()
    ports: dict[int, int] = field(default_factory=lambda: {n: free_port() for n in (*BROKERS, CONTROLLER)})
    running: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)
    produced: int = 0

    def folder(self, node: int) -> Path:
        return self.root / ("controller" if node == CONTROLLER else f"broker{node}")

    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{self.ports[n]}" for n in self.running if n != CONTROLLER)

    def configure(self, node: int) -> Path:
        role = "controller" if node == CONTROLLER else "broker"
        name = "CONTROLLER" if node == CONTROLLER else "PLAINTEXT"
        lines = {
            "process.roles": role,
            "node.id": node,
            "controller.quorum.voters": f"{CONTROLLER}@127.0.0.1:{self.ports[CONTROLLER]}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"{name}://127.0.0.1:{self.ports[node]}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": self.folder(node),
            "replica.high.watermark.checkpoint.interval.ms": 500,
            "replica.lag.time.max.ms": 60_000,
            "metadata.max.idle.interval.ms": 5_000,
            "log.cleaner.enable": "false",
            "num.partitions": 1,
        }
        path = self.root / f"{node}.properties"
        path.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
        return path

    def format(self) -> None:
        for node in (*BROKERS, CONTROLLER):
            given = ["format", "-t", CLUSTER_ID, "-c", str(self.configure(node))]
            given += [part for feature in self.features for part in ("--feature", feature)]
            subprocess.run(self.kafka.command("storage", *given), check=True, capture_output=True)

    def start(self, *nodes: int) -> None:
        for node in nodes:
            command = self.kafka.command("server", str(self.configure(node)))
            with (self.root / f"{node}.log").open("ab") as log:
                self.running[node] = subprocess.Popen(command, stdout=log, stderr=log)
        self.steps.append(f"start {self._names(nodes)}")

    def signal(self, what: signal.Signals, *nodes: int) -> None:
        for node in nodes:
            self.running[node].send_signal(what)
        if what in {signal.SIGKILL, signal.SIGTERM}:
            for node in nodes:
                self.running.pop(node).wait(timeout=60)
        words = {"SIGSTOP": "pause", "SIGCONT": "continue", "SIGKILL": "kill -9", "SIGTERM": "stop"}
        self.steps.append(f"{words[what.name]} {self._names(nodes)}")

    def shut(self) -> None:
        for process in self.running.values():
            process.kill()
            process.wait()
        self.running.clear()

    def _names(self, nodes: Iterable[int]) -> str:
        return ", ".join("the controller" if n == CONTROLLER else f"broker {n}" for n in nodes)

    def tool(self, tool: str, *args: str, stdin: str = "", to: str | None = None) -> str:
        given = ["--bootstrap-server", to or self.bootstrap(), *args]
        done = subprocess.run(
            self.kafka.command(tool, *given),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return done.stdout + done.stderr

    def create(self, topic: str, *config: str) -> None:
        given = [part for each in config for part in ("--config", each)]
        until(
            lambda: (
                "Created"
                in self.tool("topics", "--create", "--topic", topic, "--replica-assignment", "1:2:3", *given)
            )
        )
        self.steps.append(f"create {topic} on 1, 2, 3 {' '.join(config)}".strip())

    def produce(self, count: int, acks: str, topic: str = TOPIC) -> None:
        first = self.produced
        self.produced += count
        values = "".join(f"value {n}\n" for n in range(first, first + count))
        self.tool("producer", "--topic", topic, "--producer-property", f"acks={acks}", stdin=values)
        self.steps.append(f"produce {count} to {topic} with acks={acks}")

    def describe(self) -> str:
        found = re.search(
            rf"Topic: {TOPIC}\tPartition: 0\t(.*)", self.tool("topics", "--describe", "--topic", TOPIC)
        )
        return found[1] if found else ""

    def leader(self) -> int | None:
        found = re.search(r"Leader: (\d+)", self.describe())
        return int(found[1]) if found else None

    def isr(self) -> set[int]:
        found = re.search(r"Isr: ([\d,]+)", self.describe())
        return set(map(int, found[1].split(","))) if found else set()

    def end(self) -> int | None:
        """The leader's high watermark, as consumers see it."""
        found = re.search(rf"^{TOPIC}:0:(\d+)$", self.tool("offsets", "--topic", TOPIC), re.MULTILINE)
        return int(found[1]) if found else None

    def values(self) -> list[str]:
        """All that a consumer gets, which is asked again while it gets less than there is."""
        until(lambda: self.end() is not None)
        end = self.end()
        given = ["--topic", TOPIC, "--partition", "0", "--offset", "earliest", "--timeout-ms", "20000"]
        given += ["--max-messages", str(end)] if end else []
        for _ in range(4 if end else 0):
            found = re.findall(r"^value \d+$", self.tool("consumer", *given), re.MULTILINE)
            if len(found) == end:
                return found
        assert not end, f"{end} records, and a consumer does not get them"
        return []


def until(holds: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("the cluster did not get there")
        time.sleep(0.5)


def begin(cluster: Cluster, *config: str) -> None:
    """A cluster that runs, with two topics, twenty records in one and five in the other."""
    cluster.format()
    cluster.start(CONTROLLER, *BROKERS)
    cluster.create(TOPIC, *config)
    cluster.create(OTHER, "min.insync.replicas=2")
    until(lambda: cluster.isr() == set(BROKERS))
    cluster.produce(5, "all", OTHER)
    cluster.produced = 0
    cluster.produce(10, "all")
    cluster.produce(10, "all")
    time.sleep(2)


# ---------------------------------------------------------------- scenarios


@dataclass(frozen=True)
class Again:
    """Brokers started again in an order, the first ones until one leads; by hand: an unclean election."""

    order: tuple[int, ...]
    by_hand: bool = False
    first: int = 1


def ends_differ(cluster: Cluster) -> Sequence[Again]:
    """All brokers are killed while one follower, still in the ISR, lags behind."""
    begin(cluster, "min.insync.replicas=2")
    cluster.signal(signal.SIGSTOP, 3)
    cluster.produce(10, "1")
    time.sleep(2)
    cluster.signal(signal.SIGKILL, CONTROLLER, *BROKERS)
    return [Again((3, 1, 2)), Again((1, 2, 3))]


def leader_ahead(cluster: Cluster) -> Sequence[Again]:
    """A leader dies with records that nobody fetched; another one goes on."""
    begin(cluster, "min.insync.replicas=1")
    cluster.signal(signal.SIGSTOP, 2, 3)
    cluster.produce(10, "1")
    cluster.signal(signal.SIGKILL, 1)
    cluster.signal(signal.SIGCONT, 2, 3)
    until(lambda: cluster.leader() in {2, 3})
    cluster.produce(5, "all")
    time.sleep(2)
    cluster.signal(signal.SIGTERM, 3)
    cluster.signal(signal.SIGTERM, 2)
    cluster.signal(signal.SIGTERM, CONTROLLER)
    return [Again((2, 1, 3))]


def last_lost(cluster: Cluster) -> Sequence[Again]:
    """The ISR shrinks to one broker, and that broker's directory is lost."""
    begin(cluster, "min.insync.replicas=1")
    cluster.signal(signal.SIGTERM, 3)
    cluster.produce(5, "all")
    time.sleep(2)
    cluster.signal(signal.SIGTERM, 2)
    cluster.produce(5, "all")
    time.sleep(2)
    cluster.signal(signal.SIGKILL, 1, CONTROLLER)
    shutil.rmtree(cluster.folder(1))
    cluster.steps.append("lose the directory of broker 1")
    return [Again((2, 3), by_hand=True), Again((3, 2), by_hand=True)]


def power_loss(cluster: Cluster) -> Sequence[Again]:
    """The last broker in the ISR loses what it had not flushed; the others still have most of it."""
    begin(cluster, "min.insync.replicas=1")
    cluster.signal(signal.SIGTERM, 3)
    cluster.produce(5, "all")
    time.sleep(2)
    cluster.signal(signal.SIGTERM, 2)
    time.sleep(2)
    cluster.signal(signal.SIGKILL, 1, CONTROLLER)
    folder = cluster.folder(1)
    kept = recovery_point(folder)
    (folder / f"{TOPIC}-0" / f"{0:020}.log").write_bytes(b"")
    assert kept == 0, "the log was flushed, so cutting it to nothing is no power loss"
    cluster.steps.append("cut broker 1's log to its recovery point, 0")
    return [Again((1, 2, 3)), Again((2, 1, 3), by_hand=True)]


def recovery_point(folder: Path) -> int:
    """The recovery point of the topic as the file has it; a partition that it leaves out has none, 0."""
    text = (folder / "recovery-point-offset-checkpoint").read_text()
    found = re.search(rf"^{TOPIC} 0 (\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else 0


def eligible(cluster: Cluster) -> Sequence[Again]:
    """With eligible leader replicas: everybody left the ISR, the last leader with the most records."""
    begin(cluster, "min.insync.replicas=2")
    cluster.signal(signal.SIGTERM, 3)
    cluster.produce(5, "all")
    time.sleep(2)
    cluster.signal(signal.SIGTERM, 2)
    cluster.produce(5, "1")
    time.sleep(2)
    cluster.signal(signal.SIGTERM, 1)
    cluster.signal(signal.SIGTERM, CONTROLLER)
    return [Again((2, 1, 3)), Again((1, 2, 3)), Again((3, 1, 2), by_hand=True)]


def eligible_killed(cluster: Cluster) -> Sequence[Again]:
    """The same, but all are killed: who was not shut down cleanly is not eligible any more."""
    begin(cluster, "min.insync.replicas=2")
    cluster.signal(signal.SIGTERM, 3)
    cluster.produce(5, "all")
    time.sleep(2)
    cluster.signal(signal.SIGKILL, 2)
    until(lambda: cluster.isr() == {1})
    cluster.produce(5, "1")
    time.sleep(2)
    cluster.signal(signal.SIGKILL, 1)
    time.sleep(15)
    cluster.signal(signal.SIGTERM, CONTROLLER)
    return [Again((2, 1, 3), first=2), Again((2, 1, 3), by_hand=True)]


ALL = (ends_differ, leader_ahead, last_lost, power_loss, eligible, eligible_killed)
SCENARIOS = {each.__name__: each for each in ALL}


# ---------------------------------------------------------------- what is kept


def keep(cluster: Cluster, to: Path) -> None:
    """Copy the directories without what no reader needs."""
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    for node in (*BROKERS, CONTROLLER):
        if cluster.folder(node).exists():
            shutil.copytree(
                cluster.folder(node), to / cluster.folder(node).name, ignore=shutil.ignore_patterns(*DROPPED)
            )


def again(cluster: Cluster, saved: Path, how: Again) -> dict[str, object]:
    """What the cluster does when its brokers start in this order."""
    for node in (*BROKERS, CONTROLLER):
        shutil.rmtree(cluster.folder(node), ignore_errors=True)
        (cluster.root / f"{node}.log").unlink(missing_ok=True)
        if (saved / cluster.folder(node).name).exists():
            shutil.copytree(saved / cluster.folder(node).name, cluster.folder(node))
    cluster.start(CONTROLLER, *how.order[: how.first])
    if how.by_hand:
        time.sleep(15)
        given = ["--election-type", "unclean", "--topic", TOPIC, "--partition", "0"]
        until(lambda: "Successfully" in cluster.tool("election", *given))
    until(lambda: cluster.leader() in how.order[: how.first])
    first = cluster.leader()
    cluster.start(*how.order[how.first :])
    until(lambda: cluster.isr() >= set(how.order))
    values = cluster.values()
    cluster.shut()
    told = {
        str(node): [
            line.partition("] ")[2]
            for line in log.read_text().splitlines()
            if TOLD.search(line) and TOPIC in line
        ]
        for node in (*BROKERS, CONTROLLER)
        if (log := cluster.root / f"{node}.log").exists()
    }
    told = {
        node: [line.replace(str(cluster.root), "DIR") for line in lines]
        for node, lines in told.items()
        if lines
    }
    return {"order": list(how.order), "unclean": how.by_hand, "leader": first, "values": values, "log": told}


def make(kafka: Kafka, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        set_up_logging(Path(folder))
        cluster = Cluster(kafka, Path(folder))
        try:
            orders = SCENARIOS[name](cluster)
            steps = list(cluster.steps)
            cluster.shut()
            whole = Path(folder) / "saved"
            keep(cluster, HERE / name)
            shutil.copytree(cluster.root, whole, ignore=shutil.ignore_patterns("*.log4j*", "saved", ".lock"))
            told = [again(cluster, whole, each) for each in orders]
        finally:
            cluster.shut()
            if os.environ.get("KEEP"):
                shutil.copytree(folder, os.environ["KEEP"], dirs_exist_ok=True)
    found = {"kafka": kafka.version, "about": SCENARIOS[name].__doc__, "steps": steps, "again": told}
    (HERE / name / "cluster.json").write_text(json.dumps(found, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kafka-home", type=Path, required=True)
    parser.add_argument("scenarios", nargs="*", choices=[*SCENARIOS, []], metavar="SCENARIO")
    args = parser.parse_args()
    kafka = Kafka(args.kafka_home / "libs")
    for name in args.scenarios or SCENARIOS:
        make(kafka, name)


if __name__ == "__main__":
    main()
