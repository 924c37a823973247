"""The part of what files say that bears on a topic, or some, so that each of many topics costs the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import replace

from modelcheck.kafka.settings.keys.products import OWN_TOPICS
from modelcheck.kafka.settings.readings import Given, Reading, SettingLayer, Topic

_OF_PRODUCTS = frozenset(topic.name for topic in OWN_TOPICS)


class ReadingsOfTopics:
    """Files whose readings can be had without what they say of other topics.

    Costs time linear in the files once, then for each topic only what files say of it, or of all.
    Topics that Kafka and products make for themselves stay in all, since each review looks at them.
    """

    def __init__(self, readings: Sequence[Reading]) -> None:
        self._whole = tuple(readings)
        self._parts = tuple(map(_Parts, self._whole))

    def of(self, name: str | None) -> tuple[Reading, ...]:
        """The readings with one topic; all that was read for None, and for one that no file names."""
        if name is None or name not in self:
            return self._whole
        return tuple(each.of(name) for each in self._parts)

    def __contains__(self, name: object) -> bool:
        """Whether a file names a topic."""
        return any(name in each.topics for each in self._parts)

    def among(self, names: Container[str]) -> tuple[Reading, ...]:
        """The readings with these topics, of which each has the same readings as in the whole.

        Costs time linear in the files.
        """
        return tuple(each.among(names) for each in self._parts)


class _Parts:
    """One reading, by topics; settings keep their order."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._common: list[tuple[int, Given]] = []
        self._own: dict[str, list[tuple[int, Given]]] = defaultdict(list)
        self.topics: dict[str, list[Topic]] = defaultdict(list)
        for place, one in enumerate(reading.given):
            (self._own[one.entity] if _is_of_topic(one) else self._common).append((place, one))
        for topic in reading.topics:
            self.topics[topic.name].append(topic)
        self._kept = [topic for topic in reading.topics if _is_in_all(topic.name)]
        self._brokers = reading.brokers

    def of(self, name: str) -> Reading:
        """The reading with one topic."""
        others = [topic for topic in self._kept if topic.name != name]
        given = sorted([*self._common, *self._own.get(name, ())], key=lambda pair: pair[0])
        return replace(
            self._reading,
            given=tuple(one for _, one in given),
            topics=(*self.topics.get(name, ()), *others),
            left_out=self._brokers,
        )

    def among(self, names: Container[str]) -> Reading:
        """The reading with these topics, in their order, without the stretches that reviews never look at."""
        given = (one for one in self._reading.given if not _is_of_topic(one) or one.entity in names)
        topics = (each for each in self._reading.topics if each.name in names or _is_in_all(each.name))
        part = replace(self._reading, given=tuple(given), topics=tuple(topics), passed=())
        return replace(part, left_out=self._brokers)


def _is_of_topic(one: Given) -> bool:
    """Whether a setting is of one topic."""
    return one.layer is SettingLayer.TOPIC and bool(one.entity)


def _is_in_all(name: str) -> bool:
    """Whether a topic is one that Kafka or a product makes for itself."""
    return name.startswith("__") or name in _OF_PRODUCTS
