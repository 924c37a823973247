"""Confluent for Kubernetes: Kafka and KafkaTopic, with the fields of platform.confluent.io."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.kafka.settings.keys.catalogue import find
from modelcheck.kafka.settings.keys.key import Standing
from modelcheck.kafka.settings.readers.deployments.connectors import read_client_resource
from modelcheck.kafka.settings.readers.deployments.environment import read_image, variables_of
from modelcheck.kafka.settings.readers.formats.tree import Node, ScalarNode, entry, get, text_of
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import About, Missing, SettingLayer

GROUP = "platform.confluent.io"


def read_confluent(gathered: Gathered, resources: Sequence[Node]) -> None:
    """Add the settings in Confluent's resources of brokers, controllers and topics."""
    for node in resources:
        match text_of(get(node, "kind")):
            case "Kafka":
                _cluster(gathered, node)
            case "KafkaTopic":
                _topic(gathered, node)
            case "Zookeeper" | "KRaftController" as kind:
                word = "kraft" if kind == "KRaftController" else "zookeeper"
                gathered.fact(About.CONTROLLER, get(node, "kind"), f"a {kind} resource", word)
                if word == "kraft":
                    _controller(gathered, node)
                    gathered.passed.append(node.span)
            case _:
                read_client_resource(gathered, node)


def _cluster(gathered: Gathered, node: Node) -> None:
    """Add the settings of a Kafka resource."""
    spec, name = get(node, "spec"), text_of(get(node, "metadata", "name")) or ""
    image = get(spec, "image", "application")
    if isinstance(image, ScalarNode):
        read_image(gathered, image)
    for one in variables_of(get(spec, "configOverrides", "server")):
        at = (one.name.span, one.value.span)
        gathered.add(one.name.text.strip(), one.value.text.strip(), SettingLayer.BROKER_STATIC, at, name)
    said = {one.key for one in gathered.given if one.entity == name}
    if left := {"default.replication.factor", "min.insync.replicas"} - said:
        note = (
            f"`{name}` does not set {' and '.join(sorted(left))}: the operator sets it by the number of "
            "brokers, and Kafka's defaults are taken; what kafka-configs prints of a broker has them"
        )
        gathered.missing.append(Missing(tuple(sorted(left)), note))
    gathered.fact(About.BROKERS, get(spec, "replicas"), f"spec.replicas of `{name}`")
    for field, kind in (("kRaftController", "kraft"), ("zookeeper", "zookeeper")):
        found = entry(get(spec, "dependencies"), field)
        if found is not None and kind == "kraft":
            at = (found[0].span, found[0].span)
            gathered.add("process.roles", "broker", SettingLayer.BROKER_STATIC, at, name)
        if found is not None:
            gathered.fact(About.CONTROLLER, found[0], f"spec.dependencies.{field}", kind)


def _controller(gathered: Gathered, node: Node) -> None:
    """Add the settings of controllers that are no brokers; some apply to the whole cluster."""
    kind, name = get(node, "kind"), text_of(get(node, "metadata", "name")) or ""
    at = (kind or node).span
    gathered.add("process.roles", "controller", SettingLayer.BROKER_STATIC, (at, at), name)
    for one in variables_of(get(node, "spec", "configOverrides", "server")):
        key, places = find(one.name.text.strip()), (one.name.span, one.value.span)
        if key is not None and key.standing is Standing.MODELLED:
            gathered.add(key.name, one.value.text.strip(), SettingLayer.BROKER_STATIC, places, name)


def _topic(gathered: Gathered, node: Node) -> None:
    """Add the topic of a KafkaTopic resource."""
    named = get(node, "spec", "name") or get(node, "metadata", "name")
    if isinstance(named, ScalarNode):
        words = ("spec.replicas", "spec.partitionCount")
        gathered.topic(named, get(node, "spec", "replicas"), get(node, "spec", "partitionCount"), words)
        gathered.settings(get(node, "spec", "configs"), SettingLayer.TOPIC, named.text, "configs")
