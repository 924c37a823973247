"""Terraform: Amazon MSK's clusters and configurations, and the topics of several providers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from modelcheck.kafka.settings.keys.key import spelled
from modelcheck.kafka.settings.provenance import FILLED_IN, NEEDED
from modelcheck.kafka.settings.readers.commands import read_commands
from modelcheck.kafka.settings.readers.deployments.helm import read_values
from modelcheck.kafka.settings.readers.deployments.kubernetes import read_kubernetes
from modelcheck.kafka.settings.readers.deployments.msk import MskCluster, read_msk_defaults, read_msk_version
from modelcheck.kafka.settings.readers.deployments.topics import add_topic, read_topics, topic_shape
from modelcheck.kafka.settings.readers.formats.hcl import Block, HclError, read_hcl
from modelcheck.kafka.settings.readers.formats.tree import (
    MappingNode,
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
from modelcheck.kafka.settings.readings import About, FileKind, Reading, SettingLayer
from spec.diagnostics import Diagnostic, SpecError
from spec.source import Source, Span

_SERVER_PROPERTIES = ("configuration_server_properties", "server_properties", "properties")


def read_terraform(source: Source) -> Reading:
    """The settings, topics and facts in known Terraform resources; malformed HCL is R0707."""
    gathered = Gathered(source, FileKind.TERRAFORM)
    try:
        blocks = read_hcl(source)
    except HclError as error:
        span = Span(error.at, min(error.at + 1, len(source.text)))
        gathered.problems.append(Diagnostic("R0707", source, span, f"this is not HCL: {error.message}"))
        return gathered.reading()
    blocks = tuple(_with_defaults(gathered, blocks))
    for block in blocks:
        reader = _reader(block)
        if reader is not None:
            reader(gathered, block)
        read_commands(gathered, block.body)
        gathered.repeated(block.body)
    configured = [
        found
        for block in _resources(blocks, "aws_msk_configuration")
        if (found := entry(block.body, "server_properties"))
    ]
    if configured:
        read_msk_defaults(gathered, configured[0][0], _msk(_resources(blocks, "aws_msk_cluster")))
    reading = gathered.reading()
    if reading.says_nothing:
        message = "there is no resource of Kafka in this Terraform that a review reads"
        raise SpecError([Diagnostic("R0706", source, None, message, help=NEEDED)])
    return reading


def _with_defaults(gathered: Gathered, blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks with the defaults of variables, and the local values, in the place of their names."""
    said: dict[str, Node] = {}
    for block in blocks:
        if block.type == "locals":
            said |= {f"local.{key.text}": value for key, value in entries(block.body)}
        elif block.type == "variable" and block.labels and (given := get(block.body, "default")) is not None:
            said[f"var.{block.labels[0].text}"] = given

    def meant(node: ScalarNode) -> Node:
        name = node.text.removeprefix("${").removesuffix("}").strip()
        found = said.get(name) if node.computed else None
        if found is None or is_filled_in(found):
            return node
        if name.startswith("var."):
            gathered.notes.append(f"{name} is taken as its default")
        return found

    for block in blocks:
        body = rewritten(block.body, meant)
        yield replace(block, body=body) if isinstance(body, MappingNode) else block


def _reader(block: Block) -> Callable[[Gathered, Block], None] | None:
    """The reader of a block; None if its kind has nothing that decides."""
    if block.type in ("module", "locals"):
        return _module
    if block.type != "resource" or not block.labels:
        return None
    kind = block.labels[0].text
    return RESOURCES.get(kind, _topic if "kafka" in kind and kind.endswith("_topic") else None)


def _resources(blocks: Sequence[Block], kind: str) -> list[Block]:
    """The blocks of resources of a kind."""
    return [one for one in blocks if one.type == "resource" and one.labels and one.labels[0].text == kind]


def _msk(clusters: Sequence[Block]) -> MskCluster:
    """The zones and storage of MSK clusters; each subnet is in its own zone."""
    subnets = [get(one.body, "broker_node_group_info", "client_subnets") for one in clusters]
    counts = {len(items(one)) for one in subnets}
    tiered = [(text_of(get(one.body, "storage_mode")) or "") == "TIERED" for one in clusters]
    return MskCluster(counts.pop() if len(counts) == 1 else None, bool(tiered) and all(tiered))


def _msk_cluster(gathered: Gathered, block: Block) -> None:
    """Add the settings of an MSK cluster."""
    read_msk_version(gathered, get(block.body, "kafka_version"), "kafka_version of MSK")
    gathered.fact(About.BROKERS, get(block.body, "number_of_broker_nodes"), "number_of_broker_nodes")
    if entry(block.body, "configuration_info") is None:
        message = "the cluster names no configuration, and Amazon's defaults are not Kafka's"
        _refuse(gathered, block, message)
    else:
        gathered.notes.append("of MSK's configuration only the aws_msk_configuration in this file is read")


def _confluent_cloud(gathered: Gathered, block: Block) -> None:
    """Add the settings of a Confluent Cloud cluster."""
    _refuse(gathered, block, "Confluent Cloud decides how its topics are replicated")


def _refuse(gathered: Gathered, block: Block, message: str) -> None:
    """Add an error for a resource whose replication no file shows (R0733)."""
    at = block.labels[0].span
    advice = "give what kafka-topics and kafka-configs --describe print of it"
    gathered.problems.append(Diagnostic("R0733", gathered.source, at, message, help=advice))


def _msk_configuration(gathered: Gathered, block: Block) -> None:
    """Add the properties of an MSK configuration."""
    versions = get(block.body, "kafka_versions")
    for version in items(versions)[:1] or (versions,):
        read_msk_version(gathered, version, "kafka_versions of MSK")
    found = get(block.body, "server_properties")
    if isinstance(found, ScalarNode) and not found.computed:
        gathered.properties(found, SettingLayer.BROKER_STATIC)
    elif found is not None:
        gathered.wrong(found, "`server_properties` is worked out by Terraform", FILLED_IN)


def _topic(gathered: Gathered, block: Block) -> None:
    """Add the topic of a resource of any provider."""
    shape = topic_shape(block.body)
    if shape is not None:
        add_topic(gathered, shape)


def _manifest(gathered: Gathered, block: Block) -> None:
    """Add the settings of a Kubernetes resource that Terraform applies."""
    found = get(block.body, "manifest")
    if found is not None:
        read_kubernetes(gathered, [found])


def _chart(gathered: Gathered, block: Block) -> None:
    """Add the values of a chart of Kafka that are in the text itself."""
    for one in items(get(block.body, "values")):
        if not isinstance(one, ScalarNode):
            continue
        if one.verbatim:
            read_values(gathered, gathered.documents(one))
        else:
            gathered.notes.append(f"the values {one.text} are not opened; give their file as well")


def _module(gathered: Gathered, block: Block) -> None:
    """Add what a module, or local values, give to topics and to brokers of MSK."""
    for key, value in entries(block.body):
        if spelled(key.text).split(".")[-1] == "topics":
            read_topics(gathered, (block.body, block.body), value)
        elif key.text in _SERVER_PROPERTIES and isinstance(value, MappingNode):
            gathered.settings(value, SettingLayer.BROKER_STATIC)
    if entry(block.body, "number_of_broker_nodes") is not None:
        read_msk_version(gathered, get(block.body, "kafka_version"), "kafka_version of MSK")
        gathered.fact(About.BROKERS, get(block.body, "number_of_broker_nodes"), "number_of_broker_nodes")
        zones = len(items(get(block.body, "broker_node_client_subnets")))
        read_msk_defaults(gathered, block.labels[0] if block.labels else block.body, MskCluster(zones))


def _aiven_cluster(gathered: Gathered, block: Block) -> None:
    """Add the settings of an Aiven cluster."""
    user = get(block.body, "kafka_user_config")
    gathered.fact(About.VERSION, get(user, "kafka_version"), "kafka_version of Aiven")
    for key, value in entries(get(user, "kafka")):
        gathered.setting(key, value, SettingLayer.BROKER_STATIC, name=key.text.replace("_", "."))


RESOURCES: dict[str, Callable[[Gathered, Block], None]] = {
    "aws_msk_cluster": _msk_cluster,
    "aws_msk_configuration": _msk_configuration,
    "confluent_kafka_topic": _confluent_cloud,
    "aiven_kafka": _aiven_cluster,
    "kubernetes_manifest": _manifest,
    "kubectl_manifest": _manifest,
    "helm_release": _chart,
}
