"""A cluster as it would be with what files give: what they leave out stays as it runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from modelcheck.kafka.settings.readings import About, Given, Reading, SettingLayer

# What a configuration of brokers leaves to the platform that runs them.
_OF_THE_PLATFORM = frozenset(
    "node.id broker.id broker.rack process.roles zookeeper.connect controller.quorum.voters "
    "controller.quorum.bootstrap.servers log.dirs".split()
)


def laid_over(files: Sequence[Reading], cluster: Sequence[Reading]) -> tuple[Reading, ...]:
    """The readings of the cluster after the files are applied.

    A topic of the files loses the settings of its own that it has in the cluster, and brokers lose those of
    their files, since one that a file no longer gives is gone; settings made for running brokers, features
    and partitions stay, unless a file gives the same.
    """
    return (*files, *(_without(each, files) for each in cluster))


def _without(running: Reading, files: Sequence[Reading]) -> Reading:
    """What a reading of the cluster has besides what the files give."""
    given = [one for each in files for one in each.given]
    topics = {topic.name: topic for each in files for topic in each.topics}
    abouts = {fact.about for each in files for fact in each.facts}
    factors = {name: topic.replication_factor for name, topic in topics.items()}
    is_static = any(one.layer is SettingLayer.BROKER_STATIC for one in given)
    return replace(
        running,
        given=tuple(one for one in running.given if not _is_replaced(one, given, topics.keys(), abouts)),
        topics=tuple(
            topic for topic in running.topics if factors.get(topic.name) in {None, topic.replication_factor}
        ),
        facts=tuple(fact for fact in running.facts if fact.about not in abouts),
        own_topics=() if is_static else running.own_topics,
    )


def _is_replaced(one: Given, given: Sequence[Given], topics: Collection[str], abouts: set[About]) -> bool:
    """Whether the files decide a setting of the cluster."""
    same = [other for other in given if other.layer is one.layer]
    match one.layer:
        case SettingLayer.TOPIC:
            return one.entity in topics or any(other.entity in {"", one.entity} for other in same)
        case SettingLayer.BROKER_STATIC:
            is_kept = one.key in _OF_THE_PLATFORM and one.key not in {other.key for other in same}
            return bool(same) and not is_kept
        case SettingLayer.DEFAULT:
            return About.VERSION in abouts
        case _:
            return any(other.key == one.key for other in same)
