"""Terraform: Amazon MSK's clusters and configurations, and the topics of several providers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from modelcheck.kafka.settings.provenance import FILLED_IN, NEEDED
from modelcheck.kafka.settings.readers.commands import read_commands
from modelcheck.kafka.settings.readers.deployments.msk import MskCluster, read_msk_defaults, read_msk_version
from modelcheck.kafka.settings.readers.formats.hcl import Block, HclError, read_hcl
from modelcheck.kafka.settings.readers.formats.tree import (
    MappingNode,
    ScalarNode,
    entries,
    entry,
    get,
    items,
    text_of,
)
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import About, FileKind, Reading, SettingLayer
from spec.diagnostics import Diagnostic, SpecError
from spec.source import Source, Span

_CONFIGS = ("config", "configs", "configuration", "topic_config")


def read_terraform(source: Source) -> Reading:
    """The settings, topics and facts in known Terraform resources; malformed HCL is R0707."""
    gathered = Gathered(source, FileKind.TERRAFORM)
    try:
        blocks = read_hcl(source)
    except HclError as error:
        span = Span(error.at, min(error.at + 1, len(source.text)))
        gathered.problems.append(Diagnostic("R0707", source, span, f"this is not HCL: {error.message}"))
        return gathered.reading()
    for block in blocks:
        reader = RESOURCES.get(block.labels[0].text) if block.type == "resource" and block.labels else None
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
    for version in items(get(block.body, "kafka_versions"))[:1]:
        read_msk_version(gathered, version, "kafka_versions of MSK")
    found = get(block.body, "server_properties")
    if isinstance(found, ScalarNode) and not found.computed:
        gathered.properties(found, SettingLayer.BROKER_STATIC)
    elif found is not None:
        gathered.wrong(found, "`server_properties` is worked out by Terraform", FILLED_IN)


def _topic(name: str, factor: str, partitions: str) -> Callable[[Gathered, Block], None]:
    """A function that adds the topic of a resource with fields of these names."""

    def read(gathered: Gathered, block: Block) -> None:
        named = get(block.body, name)
        if not isinstance(named, ScalarNode):
            return
        number = entry(block.body, factor)
        replicas, words = number[1] if number else None, (factor, partitions)
        gathered.topic(named, replicas, get(block.body, partitions), words, leaves=True)
        if number is not None:
            gathered.passed.append(number[0].span)
        pair = entry(block.body, *_CONFIGS)
        found = pair[1] if pair else None
        for key, value in entries(found):
            gathered.setting(key, value, SettingLayer.TOPIC, named.text, key.text.replace("_", "."))
        if pair is not None and not isinstance(found, MappingNode):
            gathered.wrong(pair[1], f"`{pair[0].text}` is worked out by Terraform", FILLED_IN)

    return read


def _aiven_cluster(gathered: Gathered, block: Block) -> None:
    """Add the settings of an Aiven cluster."""
    user = get(block.body, "kafka_user_config")
    gathered.fact(About.VERSION, get(user, "kafka_version"), "kafka_version of Aiven")
    for key, value in entries(get(user, "kafka")):
        gathered.setting(key, value, SettingLayer.BROKER_STATIC, name=key.text.replace("_", "."))


RESOURCES: dict[str, Callable[[Gathered, Block], None]] = {
    "aws_msk_cluster": _msk_cluster,
    "aws_msk_configuration": _msk_configuration,
    "kafka_topic": _topic("name", "replication_factor", "partitions"),
    "confluent_kafka_topic": _confluent_cloud,
    "aiven_kafka": _aiven_cluster,
    "aiven_kafka_topic": _topic("topic_name", "replication", "partitions"),
    "digitalocean_database_kafka_topic": _topic("name", "replication_factor", "partition_count"),
    "yandex_mdb_kafka_topic": _topic("name", "replication_factor", "partitions"),
    "google_managed_kafka_topic": _topic("topic_id", "replication_factor", "partition_count"),
}
