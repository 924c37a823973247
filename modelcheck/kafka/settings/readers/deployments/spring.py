"""Spring's application.yml: what its clients of Kafka are configured with, under `spring.kafka`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from modelcheck.kafka.settings.keys.catalogue import FACTOR, find, is_irrelevant
from modelcheck.kafka.settings.keys.key import Reader, spelled
from modelcheck.kafka.settings.readers.clients import client_setting
from modelcheck.kafka.settings.readers.formats.properties import read_properties
from modelcheck.kafka.settings.readers.formats.tree import (
    MappingNode,
    Node,
    ScalarNode,
    entries,
    get,
    items,
    text_of,
)
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import About, Fact, SettingLayer
from spec.source import Source, Span

_CLIENTS = {
    "producer": (SettingLayer.PRODUCER, Reader.PRODUCER),
    "consumer": (SettingLayer.CONSUMER, Reader.CONSUMER),
}
_PROFILE = ("spring.config.activate.on-profile", "spring.profiles")
_ACTIVE = "spring.profiles.active"
_SEPARATOR = re.compile(r"^[#!]---[ \t]*$", re.MULTILINE)
_BINDER = ("spring.cloud.stream.kafka.binder.", "spring.cloud.stream.kafka.bindings.")
_OF_BINDERS = "spring.cloud.stream.kafka."


def is_spring(node: Node) -> bool:
    """Whether a document configures Spring."""
    return any(key.text == "spring" or key.text.startswith("spring.") for key, _ in entries(node))


def read_spring(gathered: Gathered, documents: Sequence[Node]) -> None:
    """Add the settings of producers and consumers.

    Documents of profiles that are active lie over those without a profile, in the order in which
    `spring.profiles.active` names them; documents of other profiles are passed over.  Where no
    file names the active ones, each profile is a client of its own.
    """
    found = [(_profile(document), document) for document in documents]
    active = _active(document for profile, document in found if not profile)
    if not active:
        for profile, document in found:
            _settings(gathered, document, profile)
        return
    order = ["", *active]
    layers = [document for name in order for profile, document in found if profile == name]
    last: dict[object, tuple[Node, str]] = {}
    for document in layers:
        for path, _, _ in paths(document):
            meant = _meant(path)
            if spring_setting(path) and (meant not in last or _rank(path) >= _rank(last[meant][1])):
                last[meant] = (document, path)
    for document in layers:
        kept = {path for where, path in last.values() if where is document}
        _settings(gathered, document, "", kept)
    for profile, document in found:
        if profile not in ("", *active):
            gathered.passed.append(document.span)
            gathered.notes.append(f"profile {profile} is not active, and was passed over")


def _settings(gathered: Gathered, document: Node, profile: str, kept: Collection[str] | None = None) -> None:
    """Add the settings of a document, or only those at the paths that are kept."""
    ranks: dict[object, int] = {}
    for path, _, _ in paths(document):
        ranks[_meant(path)] = max(_rank(path), ranks.get(_meant(path), 0))
    for path, key, value in paths(document):
        client = spring_setting(path)
        if path.startswith(_OF_BINDERS):
            gathered.facts.append(_binder(gathered.source, key.span, path))
        if client is None:
            continue
        if (kept is not None and path not in kept) or _rank(path) < ranks[_meant(path)]:
            gathered.passed.append(key.span)
            continue
        if gathered.is_left(key, value, client[0]):
            continue
        gathered.setting(key, value, client[0], f"{profile} {_owner(path)}".strip(), client[1])


def _meant(path: str) -> object:
    """What tells the settings of paths in several spellings apart: the owner and the key."""
    return _owner(path), spring_setting(path)


def _rank(path: str) -> int:
    """The place of a path among those that set the same key of a client: the highest one counts.

    By KafkaProperties of Spring Boot: what is common to all clients, then the properties that Spring names,
    then all others of the client.
    """
    if path.startswith("spring.kafka.properties."):
        return 0
    return (
        2
        if path.startswith(("spring.kafka.producer.properties.", "spring.kafka.consumer.properties."))
        else 1
    )


def _owner(path: str) -> str:
    """The client that a path is of; empty for the one that Spring makes from `spring.kafka`."""
    if path.startswith("spring.kafka."):
        return ""
    return path.partition(".producer.")[0] if ".producer." in path else path.rpartition(".")[0]


def _profile(document: Node) -> str:
    """The profile that a document is for; empty if it is for all."""
    return next((value.text for path, _, value in paths(document) if path in _PROFILE), "")


def _active(documents: Iterable[Node]) -> list[str]:
    """The profiles that documents for all profiles activate, in order."""
    found: list[str] = []
    for document in documents:
        values = [value.text for path, _, value in paths(document) if path == _ACTIVE]
        listed = [text_of(one) or "" for one in items(get(document, "spring", "profiles", "active"))]
        named = [name.strip() for text in (*values, *listed) for name in text.split(",") if name.strip()]
        found = named or found
    return found


def spring_documents(source: Source) -> tuple[Node, ...] | None:
    """The documents of Spring's .properties, which `#---` separates; None if it is no such file."""
    if "spring." not in source.text:
        return None
    read = read_properties(source).entries
    if not is_spring_properties([entry.key for entry in read]):
        return None
    ends = [found.start() for found in _SEPARATOR.finditer(source.text)] + [len(source.text)]
    made, start = [], 0
    for end in ends:
        inside = [entry for entry in read if start <= entry.key_span.start < end]
        keys = [ScalarNode(one.key, one.key_span) for one in inside]
        values = [ScalarNode(one.value.strip(), one.value_span) for one in inside]
        pairs = tuple(zip(keys, values, strict=True))
        made.append(MappingNode(pairs, Span(start, end)))
        start = end
    return tuple(made)


def for_profile(document: Node, profile: str) -> Node:
    """A document as one that is for a profile, as the name of its file says."""
    if not isinstance(document, MappingNode):
        return document
    at = Span(document.span.start, document.span.start)
    said = (ScalarNode(_PROFILE[0], at), ScalarNode(profile, at))
    return MappingNode((*document.entries, said), document.span)


def with_active(profile: str, at: int) -> Node:
    """A document that activates a profile."""
    span = Span(at, at)
    return MappingNode(((ScalarNode(_ACTIVE, span), ScalarNode(profile, span)),), span)


def _binder(source: Source, at: Span, path: str) -> Fact:
    """The fact that the producer is that of Spring Cloud Stream's binder, which has defaults of its own."""
    return Fact(About.CLIENT, "spring-cloud-stream", source, at, path)


def paths(node: Node, above: str = "") -> Iterator[tuple[str, ScalarNode, ScalarNode]]:
    """The scalar values of a tree, each with its dotted path and its key."""
    for key, value in entries(node):
        path = f"{above}{key.text}"
        if isinstance(value, MappingNode):
            yield from paths(value, f"{path}.")
        elif isinstance(value, ScalarNode):
            yield path, key, value


def spring_setting(path: str) -> tuple[SettingLayer, str] | None:
    """The layer and Kafka key that a Spring path sets; None if none."""
    if path.startswith("spring.kafka."):
        return _of_kafka(path.removeprefix("spring.kafka."))
    if path.startswith(_BINDER):
        return _of_binder(path)
    return client_setting(path)  # of the application's own, or of Kafka Streams


def _of_kafka(path: str) -> tuple[SettingLayer, str] | None:
    """The layer and Kafka key of a path below `spring.kafka`; None if none."""
    first, _, rest = path.partition(".")
    if first == "streams":
        return client_setting(f"streams.{rest.removeprefix('properties.')}")
    if spelled(path) == "bootstrap.servers":  # no influence, and the sign of a client with defaults
        return SettingLayer.PRODUCER, "bootstrap.servers"
    if first == "properties":
        return _client(rest)
    if first not in _CLIENTS or not rest:
        return None
    layer, reader = _CLIENTS[first]
    name = rest.removeprefix("properties.") if rest.startswith("properties.") else spelled(rest)
    if name == "transaction.id.prefix":
        return layer, "transactional.id"
    key = find(name)
    return (layer, name) if is_irrelevant(name) or (key and reader in key.readers_of(name)) else None


def _of_binder(path: str) -> tuple[SettingLayer, str] | None:
    """The layer and Kafka key of a path of Spring Cloud Stream's binder; None if none."""
    last = path.rsplit(".binder.", maxsplit=1)[-1].rsplit(".producer.", maxsplit=1)[-1]
    if spelled(last) == "required.acks":
        return SettingLayer.PRODUCER, "acks"
    if spelled(last).removeprefix("topic.") == "replication.factor":  # of topics that the binder creates
        return SettingLayer.CREATOR, FACTOR
    for prefix in ("configuration.", "producer-properties.", "producerProperties."):
        if last.startswith(prefix):
            return _client(last.removeprefix(prefix))
    return None


def _client(name: str) -> tuple[SettingLayer, str] | None:
    """The layer and key of a setting for any client: the producer's if it reads the key."""
    key = find(name)
    readers = key.readers_of(name) if key is not None else ()
    for layer, reader in _CLIENTS.values():
        if reader in readers:
            return layer, name
    return None


def is_spring_properties(names: Sequence[str]) -> bool:
    """Whether the keys of a .properties file are Spring's."""
    return any(name.startswith(("spring.kafka.", *_BINDER)) for name in names)
