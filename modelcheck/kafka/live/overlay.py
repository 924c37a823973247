"""A cluster as it would be with what files give: what they leave out stays as it runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Self

from modelcheck.kafka.settings.readings import About, Given, Reading, SettingLayer
from spec.frozen import frozen

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
    given = _GivenByFiles.of(files)
    return (*files, *(given.left_of(each) for each in cluster))


@frozen
class _GivenByFiles:
    """What files give: keys by their layer, settings by layer and entity, topics, and facts."""

    keys: Mapping[SettingLayer, Collection[str]]
    entities: Mapping[SettingLayer, Collection[str]]
    replicas: Mapping[str, int | None]
    abouts: Collection[About]

    @classmethod
    def of(cls, files: Sequence[Reading]) -> Self:
        """What these files give."""
        keys: dict[SettingLayer, set[str]] = defaultdict(set)
        entities: dict[SettingLayer, set[str]] = defaultdict(set)
        for one in (one for each in files for one in each.given):
            keys[one.layer].add(one.key)
            entities[one.layer].add(one.entity)
        replicas = {topic.name: topic.replication_factor for each in files for topic in each.topics}
        return cls(keys, entities, replicas, {fact.about for each in files for fact in each.facts})

    def left_of(self, running: Reading) -> Reading:
        """What a reading of the cluster has besides what the files give."""
        return replace(
            running,
            given=tuple(one for one in running.given if not self._decide(one)),
            topics=tuple(
                topic
                for topic in running.topics
                if self.replicas.get(topic.name) in {None, topic.replication_factor}
            ),
            facts=tuple(fact for fact in running.facts if fact.about not in self.abouts),
            own_topics=() if SettingLayer.BROKER_STATIC in self.keys else running.own_topics,
        )

    def _decide(self, one: Given) -> bool:
        """Whether the files decide a setting of the cluster."""
        keys, entities = self.keys.get(one.layer, ()), self.entities.get(one.layer, ())
        match one.layer:
            case SettingLayer.TOPIC:
                return one.entity in self.replicas or "" in entities or one.entity in entities
            case SettingLayer.BROKER_STATIC:
                is_kept = one.key in _OF_THE_PLATFORM and one.key not in keys
                return bool(keys) and not is_kept
            case SettingLayer.DEFAULT:
                return About.VERSION in self.abouts
            case _:
                return one.key in keys
