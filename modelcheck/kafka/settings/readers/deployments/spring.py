"""Spring's application.yml: what its clients of Kafka are configured with, under `spring.kafka`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from modelcheck.kafka.settings.keys.catalogue import find, is_irrelevant
from modelcheck.kafka.settings.keys.key import Reader, spelled
from modelcheck.kafka.settings.readers.formats.tree import MappingNode, Node, ScalarNode, entries
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import About, Fact, SettingLayer
from spec.source import Source, Span

_CLIENTS = {
    "producer": (SettingLayer.PRODUCER, Reader.PRODUCER),
    "consumer": (SettingLayer.CONSUMER, Reader.CONSUMER),
}
_PROFILE = ("spring.config.activate.on-profile", "spring.profiles")
_BINDER = ("spring.cloud.stream.kafka.binder.", "spring.cloud.stream.kafka.bindings.")
BINDER = "spring.cloud.stream.kafka."


def is_spring(node: Node) -> bool:
    """Whether a document configures Spring."""
    return any(key.text == "spring" or key.text.startswith("spring.") for key, _ in entries(node))


def read_spring(gathered: Gathered, documents: Sequence[Node]) -> None:
    """Add the settings of producers and consumers; each profile's document is separate."""
    for document in documents:
        found = tuple(paths(document))
        profile = next((value.text for path, _, value in found if path in _PROFILE), "")
        for path, key, value in found:
            client = client_setting(path)
            if path.startswith(BINDER):
                gathered.facts.append(binder(gathered.source, key.span, path))
            if client is not None:
                gathered.setting(key, value, client[0], profile, client[1])


def binder(source: Source, at: Span, path: str) -> Fact:
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


def client_setting(path: str) -> tuple[SettingLayer, str] | None:
    """The layer and Kafka key that a Spring path sets; None if none."""
    if path.startswith("spring.kafka."):
        return _of_kafka(path.removeprefix("spring.kafka."))
    if path.startswith(_BINDER):
        return _of_binder(path)
    return None


def _of_kafka(path: str) -> tuple[SettingLayer, str] | None:
    """The layer and Kafka key of a path below `spring.kafka`; None if none."""
    first, _, rest = path.partition(".")
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
    if spelled(last) == "replication.factor":  # of the topics that the binder creates
        return SettingLayer.BROKER_STATIC, "default.replication.factor"
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
