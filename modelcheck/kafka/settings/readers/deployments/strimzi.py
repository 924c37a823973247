"""Strimzi's resources: Kafka, KafkaNodePool and KafkaTopic, with the fields of kafka.strimzi.io."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.kafka.settings.readers.deployments.connectors import read_client_resource
from modelcheck.kafka.settings.readers.formats.tree import (
    Node,
    ScalarNode,
    entry,
    get,
    items,
    text_of,
)
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import About, Fact, SettingLayer
from spec.diagnostics import Diagnostic

GROUP = "kafka.strimzi.io"
_QUIET = frozenset({"KafkaUser", "KafkaRebalance", "StrimziPodSet"})  # with nothing that decides


def read_strimzi(gathered: Gathered, resources: Sequence[Node]) -> None:
    """Add the settings in Strimzi's resources: of a cluster, its node pools and topics, and of clients.

    Of several clusters the first is read, with the resources labelled as its own or not labelled (R0736).
    """
    by_kind: dict[str, list[Node]] = {"Kafka": [], "KafkaNodePool": [], "KafkaTopic": []}
    for node in resources:
        kind = text_of(get(node, "kind")) or ""
        if kind in by_kind:
            by_kind[kind].append(node)
        elif kind not in _QUIET:
            read_client_resource(gathered, node)
    if len(by_kind["Kafka"]) > 1:
        by_kind = _of_one_cluster(gathered, by_kind)
    for topic in by_kind["KafkaTopic"]:
        _topic(gathered, topic)
    for cluster in by_kind["Kafka"]:
        _cluster(gathered, cluster, by_kind["KafkaNodePool"])
    if not by_kind["Kafka"]:
        _pools(gathered, by_kind["KafkaNodePool"])


def _of_one_cluster(gathered: Gathered, by_kind: dict[str, list[Node]]) -> dict[str, list[Node]]:
    """The resources of the first cluster by kind, with a warning if there are others."""
    first, other = by_kind["Kafka"][:2]
    name = text_of(get(first, "metadata", "name")) or ""
    at = get(other, "metadata", "name") or get(other, "kind") or other
    message = f"this is another cluster than `{name}`, and a review is of one; it is left out"
    advice = "give each cluster in a file of its own"
    gathered.warnings.append(Diagnostic("R0736", gathered.source, at.span, message, help=advice))
    kept = {
        kind: [one for one in found if one is first or (kind != "Kafka" and _cluster_of(one) in ("", name))]
        for kind, found in by_kind.items()
    }
    for kind, found in by_kind.items():
        gathered.passed += [one.span for one in found if one not in kept[kind]]
    return kept


def _cluster(gathered: Gathered, node: Node, among: Sequence[Node]) -> None:
    """Add the settings of a Kafka resource."""
    kafka = get(node, "spec", "kafka")
    name = text_of(get(node, "metadata", "name")) or ""
    pools = [p for p in among if _cluster_of(p) in ("", name)]
    gathered.fact(About.VERSION, get(kafka, "version"), "spec.kafka.version")
    metadata = entry(kafka, "metadataVersion")
    if metadata is not None:
        gathered.setting(*metadata, SettingLayer.CLUSTER_DYNAMIC, name="metadata.version")
    _controller(gathered, node)
    gathered.settings(get(kafka, "config"), SettingLayer.BROKER_STATIC)
    if not pools:
        gathered.fact(About.BROKERS, get(kafka, "replicas"), "spec.kafka.replicas")
        _storage(gathered, get(kafka, "storage"))
    _pools(gathered, pools)


def _pools(gathered: Gathered, pools: Sequence[Node]) -> None:
    """Add the brokers and controllers of a cluster's node pools."""
    counts = [gathered.count(get(pool, "spec", "replicas"), _counts([pool])) for pool in pools]
    for pool, many in zip(pools, counts, strict=True):
        _pool_facts(gathered, pool, many)
    voting = [pool for pool in pools if "controller" in _roles(pool)]
    known = [many for pool, many in zip(pools, counts, strict=True) if many is not None and pool in voting]
    if voting and len(known) == len(voting):
        words, first = _counts(voting), get(voting[0], "spec", "replicas")
        both = "yes" if all("broker" in _roles(pool) for pool in voting) else "no"
        gathered.fact(About.VOTERS, first, words, str(sum(known)))
        gathered.fact(About.COMBINED, first, f"roles in {words}", both)


def _roles(pool: Node) -> tuple[str, ...]:
    """The roles of a node pool's nodes."""
    roles = get(pool, "spec", "roles")
    return () if roles is None else tuple(text_of(role) or "" for role in items(roles))


def _counts(pools: Sequence[Node]) -> str:
    """The fields that count the nodes of these pools, in words."""
    names = " and ".join(f"`{text_of(get(pool, 'metadata', 'name')) or ''}`" for pool in pools)
    return f"spec.replicas of node pool{'s' if len(pools) > 1 else ''} {names}"


def _pool_facts(gathered: Gathered, pool: Node, many: int | None) -> None:
    """Add the brokers of a node pool and their storage, unless they are controllers only."""
    if get(pool, "spec", "roles") is None or "broker" in _roles(pool):
        if many is not None:
            gathered.fact(About.BROKERS, get(pool, "spec", "replicas"), _counts([pool]), str(many))
        _storage(gathered, get(pool, "spec", "storage"))


def _controller(gathered: Gathered, node: Node) -> None:
    """Add whether the cluster uses KRaft or ZooKeeper."""
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
    """Add whether disks outlive pods; with JBOD, by the least durable volume."""
    kind = get(node, "type")
    if not isinstance(kind, ScalarNode):
        return
    found = [kind]
    if kind.text == "jbod":
        volumes = [get(volume, "type") for volume in items(get(node, "volumes"))]
        found = [one for one in volumes if isinstance(one, ScalarNode)] or found
    least = min(found, key=lambda one: one.text != "ephemeral")
    words = f"storage of type {kind.text}"
    gathered.facts.append(Fact(About.STORAGE, least.text, gathered.source, least.span, words))


def _topic(gathered: Gathered, node: Node) -> None:
    """Add the topic of a KafkaTopic resource."""
    named = get(node, "spec", "topicName") or get(node, "metadata", "name") or get(node, "kind")
    if isinstance(named, ScalarNode):
        gathered.topic(named, get(node, "spec", "replicas"), get(node, "spec", "partitions"))
        gathered.settings(get(node, "spec", "config"), SettingLayer.TOPIC, named.text)


def _cluster_of(pool: Node) -> str:
    """The name of the cluster that a node pool belongs to."""
    return text_of(get(pool, "metadata", "labels", "strimzi.io/cluster")) or ""
