"""Topics in trees, whatever a tool calls their replicas, partitions and settings.

kafka-gitops has `replication`, Jikkou `replicas`, Terraform `replication_factor`, topicctl and Koperator
`replicationFactor`, Julie Ops a `replication.factor` among the settings.  Each is a mapping with a name,
which may also be its key, and with partitions, replicas or settings of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from modelcheck.kafka.settings.keys.catalogue import find
from modelcheck.kafka.settings.keys.key import Reader, spelled
from modelcheck.kafka.settings.provenance import FILLED_IN
from modelcheck.kafka.settings.readers.formats.tree import (
    NOTHING,
    MappingNode,
    Node,
    ScalarNode,
    entries,
    entry,
    get,
    items,
    text_of,
    walk,
)
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import SettingLayer
from spec.frozen import frozen

_FACTOR = frozenset({"replication.factor", "replica.factor", "replicas", "replication", "replicationfactor"})
_PARTITIONS = frozenset(
    "partitions partition.count partitions.count num.partitions number.of.partitions partitioncount".split()
)
_NAMES = frozenset({"name", "topic", "topic.name", "topic.id"})
_SETTINGS = frozenset(
    "config configs configuration topic.config topic.configs settings options properties config.map".split()
)
_DEFAULTS = frozenset("defaults default topic.defaults default.topic topic.default".split())

Entry = tuple[ScalarNode, Node]


@frozen
class TopicShape:
    """The parts of a mapping that describe a topic; None for a part that it does not have."""

    name: ScalarNode
    factor: Entry | None
    partitions: Entry | None
    settings: Entry | None
    body: MappingNode

    @property
    def is_whole(self) -> bool:
        """Whether it has both numbers, which nothing but a topic has."""
        return self.factor is not None and self.partitions is not None

    @property
    def says_something(self) -> bool:
        """Whether it has a number or settings."""
        return not (self.factor is None and self.partitions is None and self.settings is None)


def topic_shape(node: Node, named: ScalarNode | None = None) -> TopicShape | None:
    """The parts of a topic in a mapping, with `named` for its name if it has none; None without a name."""
    if not isinstance(node, MappingNode):
        return None
    inner = get(node, "spec", "forProvider") or get(node, "spec")
    body = inner if isinstance(inner, MappingNode) else node
    found = _one_of(body, _NAMES) or _one_of(node, _NAMES)
    own = found[1] if found else get(node, "metadata", "name") or get(node, "meta", "name") or named
    if not isinstance(own, ScalarNode) or not own.text:
        return None
    settings = _one_of(body, _SETTINGS, plain=False)
    factor, partitions = _one_of(body, _FACTOR), _one_of(body, _PARTITIONS)
    if settings is not None:
        factor = factor or _one_of(settings[1], {"replication.factor"})
        partitions = partitions or _one_of(settings[1], {"num.partitions"})
    return TopicShape(own, factor, partitions, settings, body)


def read_topic(gathered: Gathered, node: Node) -> bool:
    """Add the topic in a mapping with a name, partitions and replicas; return whether it is one."""
    shape = topic_shape(node)
    if shape is None or not shape.is_whole:
        return False
    add_topic(gathered, shape)
    return True


def read_topics(
    gathered: Gathered, within: tuple[Node, Node], node: Node, otherwise: int | None = None
) -> bool:
    """Add the topics of a list, or of a mapping from names; return whether there are any.

    Where one of them has numbers or settings, the others are topics too.  A number of replicas for all is
    in a mapping of defaults: among them, or in their parent or document, which are `within`.  `otherwise`
    is what the tool takes.
    """
    shapes = list(_shapes(node))
    if not any(shape.says_something for shape in shapes):
        return False
    inherited = _inherited(*within, node)
    gathered.passed += [] if inherited is None else [inherited[0].span]
    for shape in shapes:
        add_topic(gathered, shape, inherited)
        made = gathered.topics[-1]
        if otherwise is not None and made.replication_factor is None and made.left_at is None:
            gathered.topics[-1] = replace(made, replication_factor=otherwise)
            gathered.notes.append(
                f"topic {made.name} has no number of replicas here; what provisions it takes {otherwise}"
            )
    return True


def topic_settings(gathered: Gathered, node: Node | None, name: str, what: str = "config") -> None:
    """Add a topic's settings: a mapping in any spelling, a list of pairs, or lines of properties."""
    if node is None or (isinstance(node, ScalarNode) and node.text in NOTHING):
        return
    if isinstance(node, ScalarNode) and node.computed:
        gathered.wrong(node, f"`{what}` is worked out by another tool", FILLED_IN)
    elif isinstance(node, ScalarNode) and node.verbatim:
        gathered.properties(node, SettingLayer.TOPIC, name)
    elif isinstance(node, ScalarNode) and "=" in node.text:
        gathered.pairs(node, SettingLayer.TOPIC, name)
    elif items(node) or isinstance(node, MappingNode):
        for line in items(node):
            if isinstance(line, ScalarNode):
                gathered.pairs(line, SettingLayer.TOPIC, name)
        for key, value in _pairs(node):
            if spelled(key.text) not in ("replication.factor", "num.partitions"):
                gathered.setting(key, value, SettingLayer.TOPIC, name, kafka_name(key.text))
    else:
        gathered.settings(node, SettingLayer.TOPIC, name, what)


def kafka_name(text: str) -> str:
    """A key as Kafka writes it, if it is one in another spelling: `min_insync_replicas`."""
    if find(text) is not None:
        return text
    dotted = spelled(text)
    return dotted if find(dotted) is not None else text


def add_topic(gathered: Gathered, shape: TopicShape, inherited: Entry | None = None) -> None:
    """Add a topic, with the number of replicas that it inherits if it has none."""
    factor = shape.factor if shape.factor and text_of(shape.factor[1]) not in NOTHING else inherited
    words = (
        factor[0].text if factor else "replicas",
        shape.partitions[0].text if shape.partitions else "partitions",
    )
    number = factor[1] if factor else None
    gathered.topic(shape.name, number, _number(shape.partitions), words, leaves=True)
    if factor is not None:
        gathered.passed.append(factor[0].span)
    if shape.settings is not None:
        topic_settings(gathered, shape.settings[1], shape.name.text, shape.settings[0].text)
    for key, value in entries(shape.body):
        known = find(name := kafka_name(key.text))
        if known is not None and Reader.TOPIC in known.readers_of(name):
            gathered.setting(key, value, SettingLayer.TOPIC, shape.name.text, name)


def _number(found: Entry | None) -> Node | None:
    """The value of an entry, unless it is empty."""
    return None if found is None or text_of(found[1]) in NOTHING else found[1]


def _shapes(node: Node) -> Iterator[TopicShape]:
    """The shapes of topics in a list, or in a mapping from names."""
    found = [topic_shape(one) for one in items(node)]
    found += [topic_shape(value, key) for key, value in entries(node) if spelled(key.text) not in _DEFAULTS]
    yield from (shape for shape in found if shape is not None)


def _inherited(document: Node, parent: Node, node: Node) -> Entry | None:
    """The number of replicas of topics that have none, from the defaults that are nearest to them."""
    for above in (node, parent):
        if (found := _defaults(above)) is not None:
            return found
    beside = _one_of(parent, _FACTOR - {"replicas"})
    return beside or next((found for one in walk(document) if (found := _defaults(one)) is not None), None)


def _defaults(node: Node) -> Entry | None:
    """The number of replicas in a mapping of defaults below a node."""
    for key, value in entries(node):
        if spelled(key.text) in _DEFAULTS and (found := _one_of(value, _FACTOR)) is not None:
            return found
    return None


def _one_of(node: Node, names: frozenset[str] | set[str], *, plain: bool = True) -> Entry | None:
    """The last entry of a mapping with one of these names in any spelling, plain or not."""
    found = [
        pair
        for pair in entries(node)
        if spelled(pair[0].text) in names and (isinstance(pair[1], ScalarNode) or not plain)
    ]
    return found[-1] if found else None


def _pairs(node: Node) -> Iterator[Entry]:
    """The entries of a mapping, or of a list of pairs with a name and a value each."""
    yield from entries(node)
    for one in items(node):
        named, value = entry(one, "name", "key"), entry(one, "value")
        if named is not None and value is not None and isinstance(named[1], ScalarNode):
            yield named[1], value[1]
        elif isinstance(one, MappingNode):
            yield from entries(one)
