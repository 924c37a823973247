"""What a dotted path sets of a client, whichever framework the path belongs to.

A producer's key may follow any prefix: `producer.override.acks` of a connector, `producer.acks` of a
Connect worker, `mp.messaging.outgoing.orders.acks` of SmallRye, `kafka.producers.default.acks` of Micronaut,
`exporters.kafka.producer.required_acks` of OpenTelemetry.  A client that creates topics has the number of
their replicas: `topic.creation.default.replication.factor` of a connector, `replication.factor` of Kafka
Streams and of MirrorMaker 2.
"""

from __future__ import annotations

import re

from modelcheck.kafka.settings.keys.catalogue import FACTOR, find, is_modelled
from modelcheck.kafka.settings.keys.key import CatalogueKey, Reader, spelled
from modelcheck.kafka.settings.readings import SettingLayer

_CREATION = re.compile(r"(?:.*\.)?topic\.creation\.[\w-]+\.replication\.factor")
_CREATED = re.compile(
    r"(?:(?:.*\.)?source\.connector\.)?replication\.factor|(?:.*\.)?streams?\.(?:.*\.)?replication\.factor|[\w-]+->[\w-]+\.replication\.factor"
)
_PRODUCER = re.compile(r"(?:.*\.)?producers?\.(?P<key>.*)")
_WITHIN = ("override.", "properties.", "config.", "configuration.", "configs.", "additional.properties.")
_OWN_TAIL = re.compile(r"(?:.*\.)?(?P<key>(?:request\.)?required\.acks|acks|enable\.idempotence)")
_CONSUMER = re.compile(r"(?:^|\.)(?:consumers?|incoming)(?:\.|$)")
_WORDS = {  # what libraries call acks in place of Kafka's 0, 1 and all
    "none": "0",
    "noresponse": "0",
    "requirenone": "0",
    "noack": "0",
    "leader": "1",
    "one": "1",
    "waitforlocal": "1",
    "requireone": "1",
    "leaderack": "1",
    "all": "all",
    "waitforall": "all",
    "requireall": "all",
    "allisracks": "all",
}


def client_setting(path: str) -> tuple[SettingLayer, str] | None:
    """The layer and Kafka key that a dotted path in any spelling sets; None if none that decides."""
    dotted = ".".join(part if find(part) else spelled(part) for part in path.split("."))
    if any(_CREATION.fullmatch(one) or _CREATED.fullmatch(one) for one in (dotted, path)):
        return SettingLayer.CREATOR, FACTOR
    if _CONSUMER.search(dotted):
        return None
    name = _producers_key(dotted)
    return None if name is None else (SettingLayer.PRODUCER, name)


def acks_named(key: str, value: str) -> str:
    """The value of a client's key as Kafka writes it: `WaitForLocal` of Sarama's acks is 1."""
    if key != "acks":
        return value
    bare = value.strip().strip("\"'")
    return _WORDS.get(bare.rpartition(".")[2].lower(), bare)


def _producers_key(dotted: str) -> str | None:
    """The producer's key at the end of a path; None if there is none."""
    if found := _PRODUCER.fullmatch(dotted):
        name = found["key"]
        for within in _WITHIN:
            name = name.removeprefix(within)
        key = find(name)
        if key is not None and _is_producers(key):
            return name
    tail = _OWN_TAIL.fullmatch(dotted)
    if tail is None:
        return None
    return tail["key"] if is_modelled(tail["key"]) else "acks"


def _is_producers(key: CatalogueKey) -> bool:
    """Whether producers read a key that decides."""
    return is_modelled(key.name) and Reader.PRODUCER in key.readers
