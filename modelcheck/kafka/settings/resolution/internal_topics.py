"""Kafka's own topics, as the brokers make and write them.

Replicas and settings are those of `AutoTopicCreationManager`, with what the coordinators add
(`TransactionStateManager.transactionTopicConfigs`, `groupMetadataTopicConfigs`,
`ShareCoordinatorService.shareGroupStateTopicConfigs`).  All write with acks=all, consumers' positions until
3.9 with `offsets.commit.required.acks`.  The coordinators of groups since 4.0 append first and answer when
the high watermark is there, which does not advance below min.insync.replicas, so that they promise the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from modelcheck.kafka.settings.keys.catalogue import known
from modelcheck.kafka.settings.keys.key import CatalogueKey
from modelcheck.kafka.settings.keys.versions import Version, of
from modelcheck.kafka.settings.provenance import ResolutionDiagnostics, Stated
from modelcheck.kafka.settings.readings import FileKind, Given, Reading, SettingLayer, Topic
from modelcheck.kafka.settings.resolution.clients import JAVA, Client
from modelcheck.kafka.settings.resolution.precedence import Effective, effective
from modelcheck.kafka.settings.resolution.roles import without_controllers
from spec.frozen import frozen
from spec.source import Source, Span

_FACTOR = "replication.factor"
_LINE = re.compile(r"(.+)=(.*)")
_OF_BROKERS = (SettingLayer.BROKER_DYNAMIC, SettingLayer.CLUSTER_DYNAMIC, SettingLayer.BROKER_STATIC)


@frozen
class Internal:
    """One of Kafka's internal topics: the broker keys that configure it, and its fixed settings."""

    name: str
    first: Version
    decided: tuple[tuple[str, str], ...]
    fixed: tuple[tuple[str, str], ...] = ()


INTERNAL = (
    Internal(
        "__consumer_offsets",
        of(0, 8, 2),
        ((_FACTOR, "offsets.topic.replication.factor"), ("acks", "offsets.commit.required.acks")),
        (("acks", "all"),),
    ),
    Internal(
        "__transaction_state",
        of(0, 11, 0),
        (
            (_FACTOR, "transaction.state.log.replication.factor"),
            ("min.insync.replicas", "transaction.state.log.min.isr"),
        ),
        (("unclean.leader.election.enable", "false"), ("acks", "all")),
    ),
    Internal(
        "__share_group_state",
        of(4, 0),
        (
            (_FACTOR, "share.coordinator.state.topic.replication.factor"),
            ("min.insync.replicas", "share.coordinator.state.topic.min.isr"),
        ),
        (("acks", "all"),),
    ),
)


def internal(name: str | None, release: Version) -> Internal | None:
    """The internal topic with this name in this release; None if there is none."""
    return next((each for each in INTERNAL if each.name == name and each.first <= release), None)


def internal_topics(readings: Sequence[Reading], release: Version) -> tuple[str, ...]:
    """The internal topics that the files configure or show, and others that are named like these."""
    brokers = any(one.layer in _OF_BROKERS for reading in readings for one in reading.given)
    shown = {topic.name for reading in readings for topic in reading.topics}
    own = [each.name for each in INTERNAL if each.first <= release and (brokers or each.name in shown)]
    known = {each.name for each in INTERNAL}
    return (*own, *sorted(name for name in shown - known if name.startswith("__")))


def as_made(topic: Internal, readings: Sequence[Reading], release: Version) -> tuple[Reading, ...]:
    """The files' contents as they apply to an internal topic, without producers' settings.

    A file that shows the topic's replicas shows its settings too, and is believed.
    """
    shown = any(
        each.name == topic.name and each.replication_factor is not None
        for reading in readings
        for each in reading.topics
    )
    return (*map(_without_producers, readings), _made(topic, readings, release, shown=shown))


def of_brokers(release: Version) -> Stated[Client]:
    """The client that writes internal topics: the broker of this release."""
    return Stated(Client(JAVA, release), "the brokers write it themselves")


def _without_producers(reading: Reading) -> Reading:
    """The contents of a file without producers' settings."""
    return replace(
        reading, given=tuple(one for one in reading.given if one.layer is not SettingLayer.PRODUCER)
    )


def _made(topic: Internal, readings: Sequence[Reading], release: Version, *, shown: bool) -> Reading:
    """The internal topic's settings that no file has, as the brokers set them."""
    deciding = [(key, known(by)) for key, by in topic.decided]
    by_brokers = {key: decided(by, readings, release) for key, by in deciding if by.exists_in(release)}
    values = dict(topic.fixed) | {key: found.value for key, found in by_brokers.items()}
    source = Source(
        f"Kafka {release} for {topic.name}", "".join(f"{key}={value}\n" for key, value in values.items())
    )
    given = {}
    for line in _LINE.finditer(source.text):
        key, value = line.groups()
        layer = SettingLayer.PRODUCER if key == "acks" else SettingLayer.TOPIC
        one = Given(key, value, layer, source, Span(*line.span(1)), Span(*line.span(2)), topic.name)
        origin = by_brokers[key].origin if key in by_brokers else None
        if origin is not None:
            one = replace(one, source=origin.source, key_span=origin.key_span, value_span=origin.value_span)
        given[key] = one
    factor = given.pop(_FACTOR)
    if shown:
        return Reading(source, FileKind.TOPIC, (given["acks"],))
    made = Topic(topic.name, factor.source, factor.span, int(factor.value))
    return Reading(source, FileKind.TOPIC, tuple(given.values()), (made,))


def decided(key: CatalogueKey, readings: Sequence[Reading], release: Version) -> Effective:
    """The effective value of a broker key, whatever single topics have."""
    every = tuple(one for reading in readings for one in reading.given)
    given = [
        one
        for one in without_controllers(every)
        if one.key in key.names and one.layer is not SettingLayer.TOPIC
    ]
    return effective(key, given, release, Client(JAVA, release), ResolutionDiagnostics())
