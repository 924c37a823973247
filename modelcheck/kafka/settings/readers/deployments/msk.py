"""Amazon MSK: its defaults for settings that a configuration leaves out, which differ from Kafka's.

The values are those of Amazon's page *Default Amazon MSK configuration*; its page on custom
configurations states that they also hold for settings that one of these leaves out.
"""

from __future__ import annotations

from dataclasses import replace

from modelcheck.kafka.settings.keys.catalogue import find
from modelcheck.kafka.settings.readers.formats.tree import (
    Node,
    ScalarNode,
    entries,
    entry,
    get,
    items,
    rewritten,
    text_of,
)
from modelcheck.kafka.settings.readers.gathered import Gathered, is_filled_in
from modelcheck.kafka.settings.readings import About, Missing, SettingLayer
from spec.frozen import frozen

_NOT_VERSION = (".x", ".kraft", ".tiered")
_BY_ZONES = ("default.replication.factor", "min.insync.replicas")
_OF_ZONES = {2: ("2", "1"), 3: ("3", "2")}  # what these two are


@frozen
class MskCluster:
    """What MSK's defaults depend on: the number of zones, and tiered storage."""

    zones: int | None = None
    tiered: bool = False


def read_msk_version(gathered: Gathered, node: Node | None, words: str) -> None:
    """Add the release in MSK's version, such as `3.7.x` or `2.8.2.tiered`, and the controller.

    Before 4.0 it is ZooKeeper, unless `kraft` follows the release.
    """
    text = text_of(node)
    if text is None or node is None or is_filled_in(node):
        gathered.fact(About.VERSION, node, words)
        return
    for end in reversed(_NOT_VERSION):
        text = text.removesuffix(end)
    gathered.fact(About.VERSION, node, words, text)
    gathered.fact(About.CONTROLLER, node, words, "kraft" if "kraft" in (text_of(node) or "") else "zookeeper")


def read_msk_defaults(gathered: Gathered, at: Node, cluster: MskCluster) -> None:
    """Add MSK's defaults for missing settings; a note where they are unknown."""
    brokers = [one for one in gathered.given if one.layer is SettingLayer.BROKER_STATIC]
    said = {key.name for one in brokers if (key := find(one.key)) is not None}
    values = {"unclean.leader.election.enable": "false" if cluster.tiered else "true"}
    if (known := _OF_ZONES.get(cluster.zones or 0)) is not None:
        values |= dict(zip(_BY_ZONES, known, strict=True))
    for name, value in values.items():
        if name not in said:
            gathered.add(name, value, SettingLayer.DEFAULT, (at.span, at.span))
            note = f"{name} is not given, and Amazon's default is {value}, whatever Kafka's is"
            gathered.missing.append(Missing((name,), note))
    missing = set(_BY_ZONES) - said - values.keys()
    if missing:
        note = (
            f"{' and '.join(sorted(missing))} not given: Amazon's defaults are 3 and 2 in three zones, and "
            "2 and 1 in two, and no client_subnets here show the number of zones; Kafka's are taken"
        )
        gathered.missing.append(Missing(tuple(sorted(missing)), note))


def read_cloud_formation(gathered: Gathered, template: Node) -> None:
    """Add the settings of MSK in a CloudFormation template, except embedded properties files."""
    resources, parameters = get(template, "Resources"), get(template, "Parameters")
    by_type: dict[str | None, list[Node]] = {}
    if resources is None:
        return
    resources = rewritten(resources, lambda node: _referred(node, parameters))
    for _, one in entries(resources):
        by_type.setdefault(text_of(get(one, "Type")), []).append(one)
    counts = set()
    for one in by_type.get("AWS::MSK::Cluster", ()):
        read_msk_version(gathered, get(one, "Properties", "KafkaVersion"), "KafkaVersion of MSK")
        nodes = get(one, "Properties", "NumberOfBrokerNodes")
        gathered.fact(About.BROKERS, nodes, "NumberOfBrokerNodes")
        counts.add(len(items(get(one, "Properties", "BrokerNodeGroupInfo", "ClientSubnets"))))
    for one in by_type.get("AWS::MSK::Configuration", ()):
        said = entry(get(one, "Properties"), "ServerProperties")
        if said is not None:
            read_msk_defaults(gathered, said[0], MskCluster(counts.pop() if len(counts) == 1 else None))


def _referred(node: ScalarNode, parameters: Node | None) -> ScalarNode:
    """A value, or the default of the parameter that it refers to."""
    name = node.text.removeprefix("!Ref ")
    default = get(parameters, name, "Default") if node.computed and name != node.text else None
    return replace(node, text=default.text, computed=False) if isinstance(default, ScalarNode) else node
