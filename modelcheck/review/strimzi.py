"""Strimzi's resources: Kafka, KafkaNodePool and KafkaTopic, in YAML of one or many documents.

The fields are those of Strimzi's custom resources (kafka.strimzi.io).  The
text is only composed, never constructed: no value becomes a Python object.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from modelcheck.review.found import About, Fact, Given, Kind, Layer, Reading, Topic
from spec.diagnostics import Diagnostic, Note
from spec.source import Source, Span

_QUIET = frozenset({"KafkaUser", "KafkaRebalance", "Namespace", "Service", "ServiceAccount"})


@dataclass(slots=True)
class _Pass:
    """What one reading gathers on its way through the documents."""

    source: Source
    given: list[Given] = field(default_factory=list)
    topics: list[Topic] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
    pools: list[yaml.MappingNode] = field(default_factory=list)
    clusters: list[yaml.MappingNode] = field(default_factory=list)


def read_kubernetes(source: Source) -> Reading:
    """The settings, topics and facts in a YAML text.

    Malformed YAML is a problem at the place the YAML reader names (R0707).
    Resources of other kinds are passed over with a note.
    """
    gathered = _Pass(source)
    try:
        documents = list(yaml.compose_all(source.text, Loader=yaml.SafeLoader))
    except yaml.YAMLError as error:
        gathered.problems.append(_malformed(source, error))
        documents = []
    except RecursionError:
        gathered.problems.append(Diagnostic("R0707", source, None, "the YAML is nested too deeply"))
        documents = []
    for document in documents:
        _resource(gathered, document)
    _clusters(gathered)
    return Reading(
        source,
        Kind.KUBERNETES,
        tuple(gathered.given),
        tuple(gathered.topics),
        tuple(gathered.facts),
        tuple(gathered.notes),
        tuple(gathered.problems),
        tuple(gathered.warnings),
    )


def _resource(gathered: _Pass, node: yaml.Node) -> None:
    kind = _scalar(_get(node, "kind"))
    match kind:
        case "Kafka" if isinstance(node, yaml.MappingNode):
            gathered.clusters.append(node)
        case "KafkaNodePool" if isinstance(node, yaml.MappingNode):
            gathered.pools.append(node)
        case "KafkaTopic":
            _topic(gathered, node)
        case "List":
            items = _get(node, "items")
            for item in items.value if isinstance(items, yaml.SequenceNode) else ():
                _resource(gathered, item)
        case None if isinstance(node, yaml.MappingNode):
            line, _ = gathered.source.position(node.start_mark.index)
            gathered.notes.append(f"the document at line {line} has no `kind` and was passed over")
        case str() if kind not in _QUIET:
            gathered.notes.append(
                f"{kind} `{_name(node)}` says nothing about replication and was passed over"
            )
        case _:
            pass


def _clusters(gathered: _Pass) -> None:
    for cluster in gathered.clusters:
        _cluster(gathered, cluster)
    if not gathered.clusters:
        for pool in gathered.pools:
            _pool_facts(gathered, pool)


def _cluster(gathered: _Pass, node: yaml.MappingNode) -> None:
    kafka = _get(node, "spec", "kafka")
    name = _name(node)
    pools = [p for p in gathered.pools if _cluster_of(p) in ("", name)]
    _fact(gathered, About.VERSION, _get(kafka, "version"), "spec.kafka.version")
    metadata = _get(kafka, "metadataVersion")
    if metadata is not None:
        place = _span(metadata)
        gathered.given.append(
            Given(
                "metadata.version",
                _scalar(metadata) or "",
                Layer.CLUSTER_DYNAMIC,
                gathered.source,
                place,
                place,
            )
        )
    _controller(gathered, node)
    _settings(gathered, _get(kafka, "config"), Layer.BROKER_STATIC, "")
    if not pools:
        _fact(gathered, About.BROKERS, _get(kafka, "replicas"), "spec.kafka.replicas")
        _storage(gathered, _get(kafka, "storage"))
    for pool in pools:
        _pool_facts(gathered, pool)


def _pool_facts(gathered: _Pass, pool: yaml.MappingNode) -> None:
    """What a node pool adds: its brokers and their storage, unless it has controllers only."""
    roles = _get(pool, "spec", "roles")
    names = [_scalar(role) for role in roles.value] if isinstance(roles, yaml.SequenceNode) else ["broker"]
    if "broker" in names:
        words = f"spec.replicas of node pool `{_name(pool)}`"
        _fact(gathered, About.BROKERS, _get(pool, "spec", "replicas"), words)
        _storage(gathered, _get(pool, "spec", "storage"))


def _controller(gathered: _Pass, node: yaml.MappingNode) -> None:
    zookeeper = _entry(_get(node, "spec"), "zookeeper")
    kraft = _get(node, "metadata", "annotations", "strimzi.io/kraft")
    if kraft is not None and _scalar(kraft) == "enabled":
        _add(gathered, About.CONTROLLER, "kraft", _span(kraft), "annotation strimzi.io/kraft")
    elif zookeeper is not None:
        _add(gathered, About.CONTROLLER, "zookeeper", _span(zookeeper[0]), "spec.zookeeper")
    else:
        kind = _get(node, "kind")
        if kind is not None:
            _add(gathered, About.CONTROLLER, "kraft", _span(kind), "a Kafka resource without spec.zookeeper")


def _storage(gathered: _Pass, node: yaml.Node | None) -> None:
    """Whether the disks outlive a pod; JBOD counts as its least durable volume."""
    kind = _get(node, "type")
    if kind is None:
        return
    volumes = _get(node, "volumes")
    kinds = [(_scalar(kind) or "", kind)]
    if kinds[0][0] == "jbod" and isinstance(volumes, yaml.SequenceNode):
        found = [_get(volume, "type") for volume in volumes.value]
        kinds = [(_scalar(one) or "", one) for one in found if one is not None]
    for text, at in sorted(kinds, key=lambda pair: pair[0] != "ephemeral")[:1]:
        _add(gathered, About.STORAGE, text, _span(at), f"storage of type {_scalar(kind)}")


def _topic(gathered: _Pass, node: yaml.Node) -> None:
    named = _get(node, "spec", "topicName") or _get(node, "metadata", "name") or _get(node, "kind")
    if named is None:
        return
    name = _scalar(named) or ""
    topic = Topic(
        name,
        gathered.source,
        _span(named),
        _count(gathered, _get(node, "spec", "replicas"), "spec.replicas"),
        _count(gathered, _get(node, "spec", "partitions"), "spec.partitions"),
    )
    gathered.topics.append(topic)
    _settings(gathered, _get(node, "spec", "config"), Layer.TOPIC, name)


def _settings(gathered: _Pass, node: yaml.Node | None, layer: Layer, entity: str) -> None:
    if node is None or (isinstance(node, yaml.ScalarNode) and node.value in ("", "null", "~")):
        return
    if not isinstance(node, yaml.MappingNode):
        gathered.problems.append(_wrong(gathered, node, "`config` must be a mapping of keys to values"))
        return
    for key, value in node.value:
        text = _scalar(value)
        if text is None:
            message = f"`{_scalar(key)}` must have one plain value"
            gathered.problems.append(_wrong(gathered, value, message))
        else:
            gathered.given.append(
                Given(_scalar(key) or "", text, layer, gathered.source, _span(key), _span(value), entity)
            )


def _fact(gathered: _Pass, about: About, node: yaml.Node | None, words: str) -> None:
    if node is None:
        return
    text = _scalar(node)
    if about is About.BROKERS and _count(gathered, node, words) is None:
        return
    if text is None:
        gathered.problems.append(_wrong(gathered, node, f"{words} must have one plain value"))
    else:
        _add(gathered, about, text, _span(node), words)


def _add(gathered: _Pass, about: About, value: str, span: Span, words: str) -> None:
    gathered.facts.append(Fact(about, value, gathered.source, span, words))


def _count(gathered: _Pass, node: yaml.Node | None, words: str) -> int | None:
    text = None if node is None else _scalar(node)
    if node is None or (text and text.isascii() and text.isdigit() and len(text) < 6):
        return int(text) if text else None
    gathered.problems.append(_wrong(gathered, node, f"{words} must be a whole number"))
    return None


def _wrong(gathered: _Pass, node: yaml.Node, message: str) -> Diagnostic:
    return Diagnostic("R0728", gathered.source, _span(node), message)


# --- nodes


def _entries(node: yaml.Node | None) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        yield from node.value


def _entry(node: yaml.Node | None, name: str) -> tuple[yaml.Node, yaml.Node] | None:
    """The last entry of that name, as YAML readers take it."""
    found = [pair for pair in _entries(node) if _scalar(pair[0]) == name]
    return found[-1] if found else None


def _get(node: yaml.Node | None, *path: str) -> yaml.Node | None:
    for name in path:
        pair = _entry(node, name)
        node = pair[1] if pair else None
    return node


def _scalar(node: yaml.Node | None) -> str | None:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else None


def _name(node: yaml.Node) -> str:
    return _scalar(_get(node, "metadata", "name")) or ""


def _cluster_of(pool: yaml.Node) -> str:
    return _scalar(_get(pool, "metadata", "labels", "strimzi.io/cluster")) or ""


def _span(node: yaml.Node) -> Span:
    return Span(node.start_mark.index, node.end_mark.index)


def _malformed(source: Source, error: yaml.YAMLError) -> Diagnostic:
    """The reader's complaint, with its place as a caret and the place it began as a note."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        at = min(error.problem_mark.index, len(source.text))
        notes: tuple[Note, ...] = ()
        if error.context and error.context_mark is not None:
            begun = error.context_mark.index
            notes = (Note(source, Span(begun, begun + 1), error.context),)
        message = f"this is not YAML: {error.problem or 'malformed'}"
        return Diagnostic("R0707", source, Span(at, at + 1), message, notes=notes)
    place = getattr(error, "position", None)
    span = Span(place, place + 1) if isinstance(place, int) else None
    return Diagnostic("R0707", source, span, "this is not YAML: a character that YAML does not allow")
