"""Koperator: KafkaCluster and KafkaTopic, with the fields of kafka.banzaicloud.io."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.kafka.settings.readers.deployments.environment import read_image
from modelcheck.kafka.settings.readers.deployments.topics import read_topic
from modelcheck.kafka.settings.readers.formats.tree import Node, ScalarNode, entry, get, items, text_of
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import About, SettingLayer

GROUP = "kafka.banzaicloud.io"


def read_koperator(gathered: Gathered, resources: Sequence[Node]) -> None:
    """Add the settings in Koperator's resources of a cluster and its topics."""
    for node in resources:
        if text_of(get(node, "kind")) == "KafkaCluster":
            _cluster(gathered, node)
        elif not read_topic(gathered, node):
            kind, name = text_of(get(node, "kind")), text_of(get(node, "metadata", "name"))
            gathered.notes.append(f"{kind} `{name}` sets nothing that decides, and was passed over")


def _cluster(gathered: Gathered, node: Node) -> None:
    """Add the settings of a cluster; those of single brokers are not read."""
    spec = get(node, "spec")
    image, config = get(spec, "clusterImage"), get(spec, "readOnlyConfig")
    if isinstance(image, ScalarNode):
        read_image(gathered, image)
    if isinstance(config, ScalarNode):
        gathered.properties(config, SettingLayer.BROKER_STATIC)
    brokers = entry(spec, "brokers")
    if brokers is not None and items(brokers[1]):
        gathered.fact(About.BROKERS, brokers[0], "the length of spec.brokers", str(len(items(brokers[1]))))
