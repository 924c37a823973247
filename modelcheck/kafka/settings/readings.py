"""The contents of a file, before they are judged: settings, topics, facts, each with its place."""

from __future__ import annotations

import re
from dataclasses import field
from enum import StrEnum

from spec.diagnostics import Diagnostic
from spec.frozen import frozen
from spec.source import Source, Span

# Of shells, Compose and Terraform, of Helm and Ansible, of others, and a tag of YAML that is a call.
_TEMPLATES = re.compile(r"\A!|\$|\{\{|\{%|<%|##")


def is_template(text: str) -> bool:
    """Whether another tool fills a text in."""
    return _TEMPLATES.search(text) is not None


class SettingLayer(StrEnum):
    """The layer at which a setting is made; for each key the first layer that sets it decides."""

    PRODUCER = "producer"
    CONSUMER = "consumer"
    TOPIC = "topic"
    CREATOR = "client that creates topics"
    BROKER_DYNAMIC = "broker dynamic"
    CLUSTER_DYNAMIC = "cluster default"
    BROKER_STATIC = "broker static"
    DEFAULT = "default shown by the cluster"


PRECEDENCE = tuple(SettingLayer)


class FileKind(StrEnum):
    """The kind of a file, recognized by its content."""

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
    APPLICATION = "an application's configuration"
    ANSIBLE = "Ansible"
    HELM = "Helm values"
    TERRAFORM = "Terraform"
    ENVIRONMENT = "environment variables"
    SCRIPT = "a script"
    CLUSTER = "a cluster that runs"
    UNKNOWN = "no configuration of Kafka"


@frozen
class Given:
    """A setting in a file.

    `entity` names whose it is: a topic, a broker's id, or nothing for all.  `part` is where a file has
    several configurations, as of environments.  `command` is where the command is that makes it.
    """

    key: str
    value: str
    layer: SettingLayer
    source: Source
    key_span: Span
    value_span: Span
    entity: str = ""
    part: str = ""
    command: Span | None = None

    @property
    def place(self) -> str:
        """The place as `file:line`."""
        return self.source.at_line(self.key_span.start)

    @property
    def home(self) -> tuple[str, str]:
        """The file and section of the setting: one process reads all settings with the same home."""
        own = self.place if self.entity and is_template(self.entity) else self.part
        return (self.source.name, f"{self.entity} {own}" if own else self.entity)

    @property
    def span(self) -> Span:
        """The place of the value, or of the key if the value is empty."""
        return self.value_span if self.value_span.start < self.value_span.end else self.key_span

    def as_json(self) -> dict[str, object]:
        """The setting and its origin as JSON data."""
        name, line, column = self.source.place(self.key_span.start)
        return {
            "key": self.key,
            "value": self.value,
            "layer": str(self.layer),
            "entity": self.entity,
            "file": name,
            "line": line,
            "column": column,
        }


@frozen
class Partition:
    """A partition as kafka-topics shows it; None for a column not shown.

    `offline` and `observers` are replicas as Confluent's tool lists them.  `has_state` is whether the columns
    of the leader and of the in-sync replicas are there.
    """

    number: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None
    span: Span | None = field(default=None, compare=False)  # of its replicas
    offline: tuple[int, ...] | None = None
    has_state: bool = True
    observers: tuple[int, ...] = ()

    def as_json(self) -> dict[str, object]:
        """The partition as JSON data."""
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
    """A topic that a file describes.

    `left_at` is where it leaves its replicas to the brokers, by a factor of -1 (KIP-464); `part` is as in
    settings.
    """

    name: str
    source: Source
    span: Span
    replication_factor: int | None = None
    partition_count: int | None = None
    partitions: tuple[Partition, ...] = ()
    left_at: Span | None = None
    part: str = ""

    @property
    def place(self) -> str:
        """The place as `file:line`."""
        return self.source.at_line(self.span.start)

    def as_json(self) -> dict[str, object]:
        """The topic as JSON data."""
        return {
            "name": self.name,
            "replication_factor": self.replication_factor,
            "partition_count": self.partition_count,
            "partitions": [p.as_json() for p in self.partitions],
        }


class About(StrEnum):
    """The subject of a fact that is no setting."""

    VERSION = "Kafka version"
    BROKERS = "number of brokers"
    CONTROLLER = "controller"
    VOTERS = "number of controllers"
    COMBINED = "whether controllers are brokers"
    STORAGE = "storage"
    CLIENT = "client"
    NO_VERSION = "where a Kafka version could be and is none"


@frozen
class Fact:
    """A fact in a file that is no setting; `words` describe its source."""

    about: About
    value: str
    source: Source
    span: Span
    words: str

    @property
    def place(self) -> str:
        """The place as `file:line`."""
        return self.source.at_line(self.span.start)


@frozen
class Missing:
    """A note on keys that a file does not set, which holds unless another file sets them."""

    keys: tuple[str, ...]
    note: str


@frozen
class BrokersShown:
    """The brokers that hold replicas of some topic, and those that run for certain, by their ids.

    These lead a partition, or are in sync with its leader.
    """

    assigned: frozenset[int] = frozenset()
    running: frozenset[int] = frozenset()


@frozen
class Reading:
    """The settings, topics and facts in one file, with its errors.

    `notes` are plain remarks on what was passed over; `problems` make the file
    unusable, `warnings` do not.  `passed` are stretches that were read, or that are
    known to decide nothing, in addition to the given settings.  `missing` are notes on keys
    that no file sets, `own_topics` are keys of topics that Kafka and products make for themselves,
    `left_out` is what topics show of brokers that were left out.
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
    missing: tuple[Missing, ...] = ()
    own_topics: tuple[Given, ...] = ()
    left_out: BrokersShown = BrokersShown()

    @property
    def brokers(self) -> BrokersShown:
        """What its topics show of brokers, those that were left out too."""
        parts = [part for topic in self.topics for part in topic.partitions]
        run = [(part.leader, *part.isr) for part in parts if part.has_state and part.leader is not None]
        return BrokersShown(
            self.left_out.assigned.union(*(part.replicas for part in parts)),
            self.left_out.running.union(*run),
        )

    @property
    def says_nothing(self) -> bool:
        """Whether the file has nothing to review and no error."""
        return not (self.given or self.topics or self.facts or self.missing or self.problems)

    def as_json(self) -> dict[str, object]:
        """The contents as JSON data."""
        return {
            "file": self.source.name,
            "kind": str(self.kind),
            "given": [g.as_json() for g in self.given],
            "topics": [t.as_json() for t in self.topics],
            "facts": [{"about": str(f.about), "value": f.value, "place": f.place} for f in self.facts],
            "notes": list(self.notes),
        }
