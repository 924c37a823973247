"""Commands within other texts: `kafka-topics --create`, and what a broker is started with."""

from __future__ import annotations

import re
from itertools import pairwise

from modelcheck.kafka.settings.readers.formats.tree import (
    Node,
    ScalarNode,
    get,
    items,
    text_of,
    walk,
)
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import SettingLayer, Topic
from spec.source import Span

_CREATE = re.compile(r"kafka-topics(?:\.sh)?\b(?P<rest>(?:\\\r?\n|[^\n;&|])*)")
_TOPIC = re.compile(r"--topic[= ]+[\"']?([^\s\"'\\]+)")
_FACTOR = re.compile(r"--replication-factor[= ]+[\"']?(\d{1,5})\b")
_PARTITIONS = re.compile(r"--partitions[= ]+[\"']?(\d{1,5})\b")
_ASSIGNMENT = re.compile(r"--replica-assignment[= ]+[\"']?(\d+(?::\d+)*)")  # of the first partition
_CONFIG = re.compile(r"--config[= ]+[\"']?([\w.-]+)=([^\s\"'\\]+)")
_COMMANDS = ("entrypoint", "command", "args")
_TOOL = re.compile(
    r"\bkafka-(?:topics|configs|acls|features|console-\w+|broker-api-versions|consumer-groups|get-offsets"
    r"|(?:producer|consumer)-perf-test|verifiable-\w+|reassign-partitions|leader-election|mirror-maker)\b"
    r"|\bzookeeper-(?:server-start|shell)\b|\bconnect-(?:distributed|standalone)\b"
)
_START = re.compile(r"kafka-server-start|start-kafka|docker/(?:run|launch)\b|kafka/(?:run|entrypoint)\.sh")
_OVERRIDE = re.compile(r"--override[= ]+[\"']?([\w.-]+)=([^\s\"'\\]+)")


def read_commands(gathered: Gathered, below: Node, entity: str = "") -> None:
    """Add the settings in command lines found in a tree, each at its place in the source."""
    for node in walk(below):
        if isinstance(node, ScalarNode):
            _topics(gathered, node)
            _overrides(gathered, node, entity)
        for option, argument in pairwise(items(node)):
            if text_of(option) == "--override" and isinstance(argument, ScalarNode):
                _argument(gathered, argument, entity)


def starts_a_broker(below: Node) -> bool:
    """Whether some command in a tree starts a broker."""
    return any(isinstance(node, ScalarNode) and "kafka-server-start" in node.text for node in walk(below))


def runs_a_tool(container: Node) -> bool:
    """Whether a container runs another Kafka command and starts no broker."""
    told = [one for name in _COMMANDS if (one := get(container, name)) is not None]
    texts = [node.text for one in told for node in walk(one) if isinstance(node, ScalarNode)]
    return any(map(_TOOL.search, texts)) and not any(map(_START.search, texts))


def _topics(gathered: Gathered, node: ScalarNode) -> None:
    """Add the topics that `kafka-topics --create` commands in a text create."""
    text = gathered.source.text
    for command in _CREATE.finditer(text, node.span.start, node.span.end):
        named = _TOPIC.search(text, *command.span("rest"))
        factor = _FACTOR.search(text, *command.span("rest"))
        if named is None or "--create" not in command["rest"]:
            continue
        parts = _PARTITIONS.search(text, *command.span("rest"))
        placed = _ASSIGNMENT.search(text, *command.span("rest"))
        replicas = placed[1].count(":") + 1 if placed else int(factor[1]) if factor else None
        gathered.topics.append(
            Topic(
                named[1],
                gathered.source,
                Span(*named.span(1)),
                replicas,
                int(parts[1]) if parts else None,
            )
        )
        if factor:
            gathered.passed.append(Span(*factor.span()))
        for found in _CONFIG.finditer(text, *command.span("rest")):
            at = (Span(*found.span(1)), Span(*found.span(2)))
            gathered.add(found[1], found[2], SettingLayer.TOPIC, at, named[1])


def _overrides(gathered: Gathered, node: ScalarNode, entity: str) -> None:
    """Add the settings of `--override key=value` in a command."""
    text = gathered.source.text
    for found in _OVERRIDE.finditer(text, node.span.start, node.span.end):
        at = (Span(*found.span(1)), Span(*found.span(2)))
        gathered.add(found[1], found[2], SettingLayer.BROKER_STATIC, at, entity)


def _argument(gathered: Gathered, node: ScalarNode, entity: str) -> None:
    """Add the setting of a `key=value` that is an argument of its own, behind its option."""
    key, sign, value = node.text.partition("=")
    if sign and "\n" not in value:
        start = gathered.source.text.find(key, node.span.start, node.span.end)
        at = (Span(start, start + len(key)), Span(start + len(key) + 1, start + len(node.text)))
        gathered.add(key, value, SettingLayer.BROKER_STATIC, at, entity)
