"""Observers: replicas of Confluent Server that are kept out of the in-sync set, which no model here has."""

from __future__ import annotations

import json
from collections.abc import Iterable

from modelcheck.kafka.settings.readings import Given, SettingLayer, Topic
from spec.diagnostics import Diagnostic

_OF_TOPIC = "confluent.placement.constraints"
_OF_NEW_TOPICS = "confluent.log.placement.constraints"
_BY_DEFAULT = (SettingLayer.BROKER_DYNAMIC, SettingLayer.CLUSTER_DYNAMIC, SettingLayer.BROKER_STATIC)
_ADVICE = (
    "a review takes each replica for one that may join the ISR; to ask about the others alone, take the"
    " observers out, of the number of replicas too"
)


def find_observers(topic: Topic | None, given: Iterable[Given]) -> Diagnostic | None:
    """The error (R0742) of a topic with observers, as its partitions or its placement show them.

    The placement in a broker's settings is that of topics made without one.
    """
    shown = () if topic is None else topic.partitions
    seen = next((each for each in shown if each.observers), None)
    if topic is not None and seen is not None:
        ids = ", ".join(map(str, seen.observers))
        message = f"partition {seen.number} of {topic.name} has observers: {ids}"
        return Diagnostic("R0742", topic.source, seen.span, message, help=_ADVICE)
    placed = {one.layer: one for one in given if one.key in (_OF_TOPIC, _OF_NEW_TOPICS)}
    counts = placed.get(SettingLayer.TOPIC)
    if counts is None and not shown:
        counts = next((placed[layer] for layer in _BY_DEFAULT if layer in placed), None)
    if counts is None or not _has_observers(counts.value):
        return None
    return Diagnostic("R0742", counts.source, counts.span, "this places observers", help=_ADVICE)


def _has_observers(placement: str) -> bool:
    """Whether a placement, in JSON, has observers; one that cannot be read has, if it says so."""
    try:
        found = json.loads(placement)
    except ValueError:
        return "observers" in placement
    return isinstance(found, dict) and bool(found.get("observers"))
