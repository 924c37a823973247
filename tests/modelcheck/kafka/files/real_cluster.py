"""A real cluster on loopback: a controller and three brokers, started, killed, filled and asked by tools."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from modelcheck.kafka.reproduce.cluster import free_port
from modelcheck.kafka.reproduce.installation import PATTERN, SERVER, STORAGE, Home

CONTROLLER = 10
BROKERS = (1, 2, 3)
TOPIC = "orders"
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
TOOLS = {
    "storage": STORAGE,
    "server": SERVER,
    "topics": ("org.apache.kafka.tools.TopicCommand", "kafka.admin.TopicCommand"),
    "producer": ("org.apache.kafka.tools.ConsoleProducer", "kafka.tools.ConsoleProducer"),
    "consumer": ("org.apache.kafka.tools.consumer.ConsoleConsumer", "kafka.tools.ConsoleConsumer"),
    "election": ("org.apache.kafka.tools.LeaderElectionCommand", "kafka.admin.LeaderElectionCommand"),
    "configs": ("kafka.admin.ConfigCommand", "org.apache.kafka.tools.ConfigCommand"),
    "offsets": ("org.apache.kafka.tools.GetOffsetShell", "kafka.tools.GetOffsetShell"),
}


@dataclass
class Cluster:
    """A controller and three brokers under a folder, and the steps that were taken with them."""

    kafka: Home
    root: Path
    features: tuple[str, ...] = ()
    settings: dict[str, object] = field(default_factory=dict)
    ports: dict[int, int] = field(
        default_factory=lambda: {n: free_port(["127.0.0.1"]) for n in (*BROKERS, CONTROLLER)}
    )
    running: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)
    produced: int = 0

    def _command(self, tool: str, *args: str, node: int | None = None) -> list[str]:
        logs = self.root / "tools" if node is None else self.logs(node)
        options = (f"-Dkafka.logs.dir={logs}",)
        return self.kafka.command(TOOLS[tool], *args, logging=self.root, options=options)

    def folder(self, node: int) -> Path:
        return self.root / ("controller" if node == CONTROLLER else f"broker{node}")

    def logs(self, node: int) -> Path:
        """Where a node writes server.log and the others."""
        return self.root / "logs" / self.folder(node).name

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
            **self.settings,
        }
        path = self.root / f"{node}.properties"
        path.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
        return path

    def format(self, *nodes: int) -> None:
        for node in nodes or (*BROKERS, CONTROLLER):
            given = ["format", "-t", CLUSTER_ID, "-c", str(self.configure(node))]
            given += [part for feature in self.features for part in ("--feature", feature)]
            subprocess.run(self._command("storage", *given), check=True, capture_output=True)

    def start(self, *nodes: int) -> None:
        for node in nodes:
            command = self._command("server", str(self.configure(node)), node=node)
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
            self._command(tool, *given),
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

    def change(self, setting: str, topic: str = TOPIC) -> None:
        given = ["--alter", "--entity-type", "topics", "--entity-name", topic, "--add-config", setting]
        until(lambda: "Completed" in self.tool("configs", *given))
        self.steps.append(f"set {setting} of {topic}")

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


def until(holds: Callable[[], bool], seconds: float = 120, *, every: float = 0.5) -> None:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("the cluster did not get there")
        time.sleep(every)


class ZooKeeperCluster(Cluster):
    """The same with ZooKeeper in place of the controller: up to Kafka 3.9, whose jars have one."""

    def configure(self, node: int) -> Path:
        path = self.root / f"{node}.properties"
        lines: dict[str, object] = {"dataDir": self.folder(node), "clientPort": self.ports[node]}
        if node != CONTROLLER:
            lines = {
                "broker.id": node,
                "zookeeper.connect": f"127.0.0.1:{self.ports[CONTROLLER]}",
                "zookeeper.session.timeout.ms": 6_000,
                "listeners": f"PLAINTEXT://127.0.0.1:{self.ports[node]}",
                "log.dirs": self.folder(node),
                "replica.high.watermark.checkpoint.interval.ms": 500,
                "log.cleaner.enable": "false",
            }
        path.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
        return path

    def format(self, *nodes: int) -> None:
        """Nothing needs a format."""

    def _command(self, tool: str, *args: str, node: int | None = None) -> list[str]:
        found = super()._command(tool, *args, node=node)
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        return [main if node == CONTROLLER and each in SERVER else each for each in found]


def set_up_log_files(folder: Path) -> None:
    """Write into a folder how Kafka's own configuration has its logs written: three files and the output."""
    loggers = {  # file, and the loggers of that file alone
        "server": (),
        "state-change": ("state.change.logger",),
        "controller": ("kafka.controller", "org.apache.kafka.controller"),
    }
    old = ["log4j.rootLogger=INFO, out, server", *_old_appender("out", "ConsoleAppender")]
    new = ["rootLogger.level=INFO", "rootLogger.appenderRef.out.ref=out"]
    new += ["rootLogger.appenderRef.server.ref=server", *_new_appender("out", "Console")]
    for name, own in loggers.items():
        path = f"${{kafka.logs.dir}}/{name}.log"
        old += [*_old_appender(name, "FileAppender"), f"log4j.appender.{name}.File={path}"]
        path = f"${{sys:kafka.logs.dir}}/{name}.log"
        new += [*_new_appender(name, "File"), f"appender.{name}.fileName={path}"]
        for number, logger in enumerate(own):
            old += [f"log4j.logger.{logger}=INFO, {name}, out", f"log4j.additivity.{logger}=false"]
            key = f"logger.{name}{number}"
            new += [f"{key}.name={logger}", f"{key}.level=INFO", f"{key}.additivity=false"]
            new += [f"{key}.appenderRef.{each}.ref={each}" for each in (name, "out")]
    (folder / "log4j.properties").write_text("".join(f"{each}\n" for each in old))
    (folder / "log4j2.properties").write_text("".join(f"{each}\n" for each in new))


def _old_appender(name: str, kind: str) -> list[str]:
    key = f"log4j.appender.{name}"
    layout = [f"{key}.layout=org.apache.log4j.PatternLayout", f"{key}.layout.ConversionPattern={PATTERN}"]
    return [f"{key}=org.apache.log4j.{kind}", *layout]


def _new_appender(name: str, kind: str) -> list[str]:
    key = f"appender.{name}"
    layout = [f"{key}.layout.type=PatternLayout", f"{key}.layout.pattern={PATTERN}"]
    return [f"{key}.type={kind}", f"{key}.name={name}", *layout]
