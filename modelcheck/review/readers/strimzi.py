"""Strimzi's resources: Kafka, KafkaNodePool and KafkaTopic, with the fields of kafka.strimzi.io."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.review.found import About, Fact, Layer
from modelcheck.review.readers.gathered import Gathered
from modelcheck.review.readers.tree import Node, Scalar, entry, get, items, text_of

GROUP = "kafka.strimzi.io"


def read_strimzi(gathered: Gathered, resources: Sequence[Node]) -> None:
    """Add what the resources of one text say; a cluster takes its brokers from the node pools beside it."""
    by_kind: dict[str, list[Node]] = {"Kafka": [], "KafkaNodePool": [], "KafkaTopic": []}
    for node in resources:
        kind = text_of(get(node, "kind")) or ""
        if kind in by_kind:
            by_kind[kind].append(node)
        else:
            gathered.passed.append(node.span)  # users, rebalances, Connect: none of them decides
    for topic in by_kind["KafkaTopic"]:
        _topic(gathered, topic)
    for cluster in by_kind["Kafka"]:
        _cluster(gathered, cluster, by_kind["KafkaNodePool"])
    if not by_kind["Kafka"]:
        for pool in by_kind["KafkaNodePool"]:
            _pool_facts(gathered, pool)


def _cluster(gathered: Gathered, node: Node, among: Sequence[Node]) -> None:
    kafka = get(node, "spec", "kafka")
    name = text_of(get(node, "metadata", "name")) or ""
    pools = [p for p in among if _cluster_of(p) in ("", name)]
    gathered.fact(About.VERSION, get(kafka, "version"), "spec.kafka.version")
    metadata = entry(kafka, "metadataVersion")
    if metadata is not None:
        gathered.setting(*metadata, Layer.CLUSTER_DYNAMIC, name="metadata.version")
    _controller(gathered, node)
    gathered.settings(get(kafka, "config"), Layer.BROKER_STATIC)
    if not pools:
        gathered.fact(About.BROKERS, get(kafka, "replicas"), "spec.kafka.replicas")
        _storage(gathered, get(kafka, "storage"))
    for pool in pools:
        _pool_facts(gathered, pool)


def _pool_facts(gathered: Gathered, pool: Node) -> None:
    """What a node pool adds: its brokers and their storage, unless it has controllers only."""
    roles = get(pool, "spec", "roles")
    if roles is None or "broker" in map(text_of, items(roles)):
        words = f"spec.replicas of node pool `{text_of(get(pool, 'metadata', 'name')) or ''}`"
        gathered.fact(About.BROKERS, get(pool, "spec", "replicas"), words)
        _storage(gathered, get(pool, "spec", "storage"))


def _controller(gathered: Gathered, node: Node) -> None:
    zookeeper = entry(get(node, "spec"), "zookeeper")
    kraft = get(node, "metadata", "annotations", "strimzi.io/kraft")
    if text_of(kraft) == "enabled":
        gathered.fact(About.CONTROLLER, kraft, "annotation strimzi.io/kraft", "kraft")
    elif zookeeper is not None:
        gathered.fact(About.CONTROLLER, zookeeper[0], "spec.zookeeper", "zookeeper")
    else:
        kind = get(node, "kind")
        gathered.fact(About.CONTROLLER, kind, "a Kafka resource without spec.zookeeper", "kraft")


def _storage(gathered: Gathered, node: Node | None) -> None:
    """Whether the disks outlive a pod; JBOD counts as its least durable volume."""
    kind = get(node, "type")
    if not isinstance(kind, Scalar):
        return
    found = [kind]
    if kind.text == "jbod":
        volumes = [get(volume, "type") for volume in items(get(node, "volumes"))]
        found = [one for one in volumes if isinstance(one, Scalar)] or found
    least = min(found, key=lambda one: one.text != "ephemeral")
    words = f"storage of type {kind.text}"
    gathered.facts.append(Fact(About.STORAGE, least.text, gathered.source, least.span, words))


def _topic(gathered: Gathered, node: Node) -> None:
    named = get(node, "spec", "topicName") or get(node, "metadata", "name") or get(node, "kind")
    if isinstance(named, Scalar):
        gathered.topic(named, get(node, "spec", "replicas"), get(node, "spec", "partitions"))
        gathered.settings(get(node, "spec", "config"), Layer.TOPIC, named.text)


def _cluster_of(pool: Node) -> str:
    return text_of(get(pool, "metadata", "labels", "strimzi.io/cluster")) or ""
