"""Asks a cluster that runs about its brokers, topics, settings and features: NOTE(read-only)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from modelcheck.kafka.live.connection import Address, CannotAsk, Connection, Refused, inferred_release
from modelcheck.kafka.live.description import (
    BrokerDescription,
    ClusterDescription,
    QuorumDescription,
    ShownRelease,
    ShownSetting,
    TopicDescription,
)
from modelcheck.kafka.live.security import Security
from modelcheck.kafka.settings.keys.catalogue import MODELLED, OUTSIDE
from modelcheck.kafka.settings.keys.key import Reader
from modelcheck.kafka.settings.keys.levels import named
from modelcheck.kafka.settings.readers.describe import moved
from modelcheck.kafka.settings.readers.products import another
from modelcheck.kafka.settings.readings import Partition, SettingLayer
from spec.diagnostics import Diagnostic, SpecError
from spec.source import Source

TOPIC, BROKER = 2, 4  # ConfigResource.Type
_LAYERS = {  # ConfigEntry.ConfigSource
    1: SettingLayer.TOPIC,
    2: SettingLayer.BROKER_DYNAMIC,
    3: SettingLayer.CLUSTER_DYNAMIC,
    4: SettingLayer.BROKER_STATIC,
    5: SettingLayer.DEFAULT,
}
_CATALOGUE = (*MODELLED, *OUTSIDE)
_ASKED = {  # the settings that a resource is asked for: none of these is secret
    TOPIC: [name for key in _CATALOGUE for name in key.names if Reader.TOPIC in key.readers_of(name)],
    BROKER: [name for key in _CATALOGUE for name in key.names if Reader.BROKER in key.readers_of(name)],
}
_AT_ONCE = 500  # topics in a request
_PARTITIONS = 2000  # of an answer
_MOST_SILENT = 3  # brokers that do not answer, before no other is tried
_UNAUTHORIZED = {29, 31}
_ON_CLUSTER = "(it needs Describe on the cluster)"
_REDPANDA = "redpanda."  # what its ids of clusters begin with: redpanda pull request 4457
_QUORUM_TOPIC = "__cluster_metadata"
_LEVEL = "metadata.version"


def describe(servers: Sequence[Address], security: Security, seconds: float) -> ClusterDescription:
    """The cluster that the first of the servers that answers is of.

    Costs a connection to each broker, and for every 500 topics two requests; `seconds` limit the wait for
    each answer.  Raises SpecError (R0760) if none of the servers answers, with the reason of each.
    """
    problems: list[Diagnostic] = []
    for server in servers:
        try:
            with Connection(server, security, seconds) as connection:
                return _Asking(connection, security, seconds).cluster()
        except CannotAsk as error:
            problems += error.diagnostics
        except Refused as refusal:
            raise CannotAsk(server, f"answers with an error: {refusal}") from None
    raise SpecError(problems)


class _Asking:
    """The questions over one connection, and over one more to each other broker."""

    def __init__(self, connection: Connection, security: Security, seconds: float) -> None:
        self._connection = connection
        self._security = security
        self._seconds = seconds
        self._notes: list[str] = []
        self._silent = 0

    def cluster(self) -> ClusterDescription:
        """Everything about the cluster."""
        first = self._connection
        topics = tuple(self._topics())
        brokers, all_brokers = self._brokers()
        asked = tuple(map(self._asked, brokers))
        return ClusterDescription(
            first.address,
            asked,
            tuple(self._with_settings(topics)),
            first.finalized,
            _release(first),
            is_kraft=first.has("DescribeQuorum") or first.finalized.get(_LEVEL, 0) > 0,
            quorum=self._quorum(),
            all_brokers=all_brokers,
            moves=self._moves(),
            notes=tuple(self._notes),
        )

    # ------------------------------------------------------------------ brokers

    def _brokers(self) -> tuple[list[BrokerDescription], bool]:
        """The brokers, and whether those that are down are among them."""
        first = self._connection
        if first.has("DescribeCluster"):
            found = first.ask("DescribeCluster", include_fenced_brokers=True)
            if not found.error_code:
                self._refuse_another(found.cluster_id)
                with_fenced = first.version("DescribeCluster") >= 2
                return [
                    _broker(each.broker_id, each, is_fenced=with_fenced and each.is_fenced)
                    for each in found.brokers
                ], with_fenced
        found = first.ask("Metadata", topics=[], allow_auto_topic_creation=False)
        self._refuse_another(found.cluster_id)
        return [_broker(each.node_id, each) for each in found.brokers], False

    def _refuse_another(self, cluster: str | None) -> None:
        """Raise SpecError (R0735) for another product than Kafka, by the id of its cluster."""
        if cluster is not None and cluster.startswith(_REDPANDA):
            source = Source(str(self._connection.address), "")
            raise SpecError([another(source, None, "this cluster is of", "Redpanda")])

    def _asked(self, broker: BrokerDescription) -> BrokerDescription:
        """A broker with its settings, if it can be asked for them."""
        if broker.is_fenced:
            return replace(broker, why="it is down")
        if broker.address == self._connection.address:
            return self._of(self._connection, broker)
        if self._silent >= _MOST_SILENT:
            return self._by_the_first(broker, "others did not answer")
        try:
            connection = Connection(broker.address, self._security, self._seconds)
        except CannotAsk as error:
            self._silent += 1
            return self._by_the_first(broker, error.why)
        except Refused as refusal:
            return replace(broker, why=str(refusal))
        with connection:
            try:
                return self._of(connection, broker)
            except CannotAsk as error:
                return replace(broker, why=f"{broker.address} {error.why}")

    def _by_the_first(self, broker: BrokerDescription, why: str) -> BrokerDescription:
        """A broker whose own address is out of reach: the one that is connected may be it."""
        try:
            found = self._of(self._connection, broker)
        except Refused:
            return replace(broker, why=f"{broker.address} {why}")
        return found if found.settings is not None else replace(broker, why=f"{broker.address} {why}")

    def _of(self, connection: Connection, broker: BrokerDescription) -> BrokerDescription:
        """A broker with the settings that a connection shows, and with its release."""
        shown = replace(broker, release=_release(connection))
        (found,) = self._configs(connection, BROKER, [str(broker.id)]).values()
        if isinstance(found, Refused):
            return replace(shown, why=_why(found))
        return replace(shown, settings=tuple(_settings(found)))

    # ------------------------------------------------------------------ topics

    def _topics(self) -> Iterator[TopicDescription]:
        """The topics that the user may see, with their partitions."""
        if self._connection.has("DescribeTopicPartitions"):
            yield from self._by_describe_topic_partitions()
            return
        version = self._connection.version("Metadata")
        found = self._connection.ask(
            "Metadata", topics=None if version else [], allow_auto_topic_creation=False
        )
        for topic in found.topics:
            parts = tuple(
                _partition(each, each.offline_replicas if version >= 5 else None) for each in topic.partitions
            )
            if not topic.error_code:
                yield TopicDescription(topic.name, _sorted(parts))

    def _by_describe_topic_partitions(self) -> Iterator[TopicDescription]:
        """The topics with their eligible leader replicas (KIP-966)."""
        parts: dict[str, list[Partition]] = {}
        cursor: object = None
        while True:
            found = self._connection.ask(
                "DescribeTopicPartitions", topics=[], response_partition_limit=_PARTITIONS, cursor=cursor
            )
            for topic in found.topics:
                if not topic.error_code:
                    known = parts.setdefault(topic.name, [])
                    known += [_partition(each, each.offline_replicas, each) for each in topic.partitions]
            if found.next_cursor is None:
                break
            cursor = self._connection.new(
                "DescribeTopicPartitions",
                "Cursor",
                topic_name=found.next_cursor.topic_name,
                partition_index=found.next_cursor.partition_index,
            )
        for name, known in parts.items():
            yield TopicDescription(name, _sorted(known))

    def _with_settings(self, topics: Sequence[TopicDescription]) -> Iterator[TopicDescription]:
        """The topics with their settings, where these may be seen."""
        for start in range(0, len(topics), _AT_ONCE):
            some = topics[start : start + _AT_ONCE]
            configs = self._configs(self._connection, TOPIC, [topic.name for topic in some])
            for topic in some:
                found = configs[topic.name]
                if isinstance(found, Refused):
                    yield topic
                else:
                    every = tuple(_settings(found))
                    own = tuple(one for one in every if one.layer is SettingLayer.TOPIC)
                    yield replace(
                        topic, settings=own, inherited=tuple(one for one in every if one not in own)
                    )

    # ------------------------------------------------------------------ settings, and the controllers

    def _configs(
        self, connection: Connection, kind: int, names: Sequence[str]
    ) -> Mapping[str, Sequence[Any] | Refused]:
        """The settings of each resource of a kind, or why there are none."""
        resources = [
            connection.new(
                "DescribeConfigs",
                "DescribeConfigsResource",
                resource_type=kind,
                resource_name=name,
                configuration_keys=_ASKED[kind],
            )
            for name in names
        ]
        found = connection.ask("DescribeConfigs", resources=resources, include_synonyms=True)
        return {
            each.resource_name: Refused(each.error_code) if each.error_code else each.configs
            for each in found.results
        }

    def _moves(self) -> dict[str, str]:
        """A note for each topic with a partition that is being reassigned."""
        first = self._connection
        if not first.has("ListPartitionReassignments"):
            return {}
        found = first.ask("ListPartitionReassignments", topics=None, timeout_ms=int(self._seconds * 1000))
        if found.error_code:
            why = f" {_ON_CLUSTER}" if found.error_code in _UNAUTHORIZED else ""
            self._notes.append(f"whether replicas are being moved is not known{why}")
            return {}
        notes = {}
        for topic in found.topics:
            part = topic.partitions[0]
            ids = {"adding replicas": part.adding_replicas, "removing replicas": part.removing_replicas}
            shown = {what: ",".join(map(str, nodes)) for what, nodes in ids.items() if nodes}
            notes[topic.name] = moved(topic.name, str(part.partition_index), shown)
        return notes

    def _quorum(self) -> QuorumDescription | None:
        """The controllers; None with ZooKeeper, or where the user may not see them."""
        first = self._connection
        if not first.has("DescribeQuorum"):
            return None
        topic = first.new(
            "DescribeQuorum",
            "TopicData",
            topic_name=_QUORUM_TOPIC,
            partitions=[first.new("DescribeQuorum", "TopicData.PartitionData", partition_index=0)],
        )
        found = first.ask("DescribeQuorum", topics=[topic])
        parts = [part for each in found.topics or () for part in each.partitions]
        codes = [found.error_code, *(part.error_code for part in parts)]
        wrong = next((code for code in codes if code), 0)
        if wrong or not parts:
            why = f" {_ON_CLUSTER}" if wrong in _UNAUTHORIZED else ""
            self._notes.append(f"the controllers that vote are not known{why}")
            return None
        return QuorumDescription(tuple(each.replica_id for each in parts[0].current_voters))


def _release(connection: Connection) -> ShownRelease:
    """The release of a broker: by the newest metadata version that it supports, else by its APIs."""
    level = connection.supported.get(_LEVEL)
    if level:
        return ShownRelease(named(level).partition("-")[0], "the newest metadata.version that is supported")
    return ShownRelease(inferred_release(connection.apis), "the versions of the APIs that the broker has")


def _broker(id_: int, found: Any, *, is_fenced: bool = False) -> BrokerDescription:  # noqa: ANN401
    """A broker as the cluster lists it."""
    return BrokerDescription(id_, Address(found.host, found.port), found.rack, is_fenced=is_fenced)


def _partition(
    found: Any,  # noqa: ANN401 - the library has no types
    offline: Sequence[int] | None,
    eligible: Any = None,  # noqa: ANN401 - as above
) -> Partition:
    """A partition as the cluster answers it; `eligible` has the eligible leader replicas, if any."""
    elr = None if eligible is None else eligible.eligible_leader_replicas
    last = None if eligible is None else eligible.last_known_elr
    return Partition(
        found.partition_index,
        None if found.leader_id < 0 else found.leader_id,
        tuple(found.replica_nodes),
        tuple(found.isr_nodes),
        None if elr is None else tuple(elr),
        None if last is None else tuple(last),
        offline=None if offline is None else tuple(offline),
    )


def _sorted(parts: Iterable[Partition]) -> tuple[Partition, ...]:
    """The partitions by their numbers."""
    return tuple(sorted(parts, key=lambda part: part.number))


def _settings(configs: Sequence[Any]) -> Iterator[ShownSetting]:
    """The settings at each layer that sets them; one that is secret, or has no value, is left out."""
    for config in configs:
        if config.is_sensitive:
            continue
        for one in config.synonyms:
            layer = _LAYERS.get(one.source)
            if layer is not None and one.value is not None:
                yield ShownSetting(one.name, one.value, layer)


def _why(refusal: Refused) -> str:
    """Why a broker does not show its settings."""
    if refusal.code in _UNAUTHORIZED:
        return "this user may not see its settings, which needs DescribeConfigs on the cluster"
    return f"it refuses to show its settings: {refusal}"
