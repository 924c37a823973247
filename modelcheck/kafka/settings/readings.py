"""The contents of a file, before they are judged: settings, topics, facts, each with its place."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from spec.diagnostics import Diagnostic
from spec.frozen import frozen
from spec.source import Source, Span


class SettingLayer(StrEnum):
    """The place of a setting; for one key the first of these that is given decides."""

    PRODUCER = "producer"
    CONSUMER = "consumer"
    TOPIC = "topic"
    BROKER_DYNAMIC = "broker dynamic"
    CLUSTER_DYNAMIC = "cluster default"
    BROKER_STATIC = "broker static"
    DEFAULT = "default shown by the cluster"


PRECEDENCE = tuple(SettingLayer)


class FileKind(StrEnum):
    """What a file is, found by its content."""

    BROKER = "broker properties"
    PRODUCER = "producer properties"
    CONSUMER = "consumer properties"
    TOPIC = "topic properties"
    CONNECT = "connect properties"
    ZOOKEEPER = "ZooKeeper server properties"
    CONFIGS = "kafka-configs output"
    TOPICS = "kafka-topics output"
    FEATURES = "kafka-features output"
    QUORUM = "kafka-metadata-quorum output"
    LOG = "a log"
    KUBERNETES = "Kubernetes resources"
    COMPOSE = "Docker Compose"
    SPRING = "a Spring application"
    ANSIBLE = "Ansible"
    HELM = "Helm values"
    TERRAFORM = "Terraform"
    ENVIRONMENT = "environment variables"
    UNKNOWN = "no configuration of Kafka"


@frozen
class Given:
    """One setting as a file gives it.

    `entity` names whose it is: a topic, a broker's id, or nothing for all.
    """

    key: str
    value: str
    layer: SettingLayer
    source: Source
    key_span: Span
    value_span: Span
    entity: str = ""

    @property
    def place(self) -> str:
        """`file:line`, as a reader looks it up."""
        return f"{self.source.name}:{self.source.position(self.key_span.start)[0]}"

    @property
    def home(self) -> tuple[str, str]:
        """The file and whose part of it: settings with one home are read by one process."""
        return (self.source.name, self.entity)

    @property
    def span(self) -> Span:
        """The value's place; the key's when the value is empty."""
        return self.value_span if self.value_span.start < self.value_span.end else self.key_span

    def as_json(self) -> dict[str, object]:
        """The setting and its origin, in plain values."""
        line, column = self.source.position(self.key_span.start)
        return {
            "key": self.key,
            "value": self.value,
            "layer": str(self.layer),
            "entity": self.entity,
            "file": self.source.name,
            "line": line,
            "column": column,
        }


@frozen
class Partition:
    """One partition as kafka-topics shows it; None is a column that was not shown."""

    number: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None
    span: Span | None = field(default=None, compare=False)  # of its replicas

    def as_json(self) -> dict[str, object]:
        """The partition in plain values."""
        return {
            "partition": self.number,
            "leader": self.leader,
            "replicas": list(self.replicas),
            "isr": list(self.isr),
            "elr": None if self.elr is None else list(self.elr),
            "last_known_elr": None if self.last_known_elr is None else list(self.last_known_elr),
        }


@frozen
class Topic:
    """A topic that a file names, with its description there.

    `left_at` is where it leaves its replicas to the brokers, by a factor of -1 (KIP-464).
    """

    name: str
    source: Source
    span: Span
    replication_factor: int | None = None
    partition_count: int | None = None
    partitions: tuple[Partition, ...] = ()
    left_at: Span | None = None

    def as_json(self) -> dict[str, object]:
        """The topic in plain values."""
        return {
            "name": self.name,
            "replication_factor": self.replication_factor,
            "partition_count": self.partition_count,
            "partitions": [p.as_json() for p in self.partitions],
        }


class About(StrEnum):
    """What a fact that is not a setting is about."""

    VERSION = "Kafka version"
    BROKERS = "number of brokers"
    CONTROLLER = "controller"
    VOTERS = "number of controllers"
    COMBINED = "whether controllers are brokers"
    STORAGE = "storage"


@frozen
class Fact:
    """A fact in a file that is no Kafka setting: `words` describe where it is from."""

    about: About
    value: str
    source: Source
    span: Span
    words: str

    @property
    def place(self) -> str:
        """`file:line`, as a reader looks it up."""
        return f"{self.source.name}:{self.source.position(self.span.start)[0]}"


@frozen
class Reading:
    """The contents of one file.

    `notes` are plain remarks on what was passed over; `problems` make the file
    unusable, `warnings` do not.  `passed` are stretches that were read, or that are
    known to decide nothing, in addition to the given settings.
    """

    source: Source
    kind: FileKind
    given: tuple[Given, ...] = ()
    topics: tuple[Topic, ...] = ()
    facts: tuple[Fact, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[Diagnostic, ...] = field(default=())
    warnings: tuple[Diagnostic, ...] = field(default=())
    passed: tuple[Span, ...] = ()

    @property
    def says_nothing(self) -> bool:
        """Whether there is nothing in it to review, nor a reason why not."""
        return not (self.given or self.topics or self.facts or self.problems)

    def as_json(self) -> dict[str, object]:
        """The reading in plain values."""
        return {
            "file": self.source.name,
            "kind": str(self.kind),
            "given": [g.as_json() for g in self.given],
            "topics": [t.as_json() for t in self.topics],
            "facts": [{"about": str(f.about), "value": f.value, "place": f.place} for f in self.facts],
            "notes": list(self.notes),
        }
