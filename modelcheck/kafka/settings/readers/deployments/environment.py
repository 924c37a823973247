"""The form of environment variables: `KAFKA_MIN_INSYNC_REPLICAS=2`, as container images of Kafka take it.

The names are those of the images of Apache, Confluent and wurstmeister (`KAFKA_`) and of
Bitnami (`KAFKA_CFG_`): a setting in capitals with `_` for each dot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from modelcheck.kafka.settings.keys.catalogue import find, is_irrelevant
from modelcheck.kafka.settings.keys.key import Reader
from modelcheck.kafka.settings.readers.deployments.images import (
    is_of_a_broker,
    is_of_something_else,
    release_of,
)
from modelcheck.kafka.settings.readers.formats.tree import Node, ScalarNode, entries, get, items
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import About, FileKind, Reading, SettingLayer, Topic
from spec.frozen import frozen
from spec.source import Source, Span

_LINE = re.compile(
    r"^[ \t]*(?:export[ \t]+|set[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*"
    r"(?P<quote>[\"']?)(?P<value>.*?)(?P=quote)[ \t]*\r?$",
    re.MULTILINE,
)
_BROKER = re.compile(r"KAFKA_(?:CFG_)?([A-Z0-9_]+)")
_CLIENT = re.compile(r"[A-Z0-9_]*?(PRODUCER|CONSUMER)_(?:OVERRIDE_|PROPERTIES_|CONFIG_)?([A-Z0-9_]+)")
_OF_A_BROKER = frozenset(
    "listeners advertised.listeners broker.id node.id zookeeper.connect process.roles "
    "advertised.host.name advertised.port controller.quorum.voters".split()
)
_CREATED = re.compile(r"([\w.-]+):(\d+):(\d+)(?::\w+)?")
_CLIENTS = {
    "PRODUCER": (SettingLayer.PRODUCER, Reader.PRODUCER),
    "CONSUMER": (SettingLayer.CONSUMER, Reader.CONSUMER),
}


@frozen
class EnvironmentVariable:
    """An environment variable with its value and their places in the source."""

    name: ScalarNode
    value: ScalarNode


def broker_key(name: str) -> str | None:
    """The broker or topic key that a variable sets; None if none."""
    found = _BROKER.fullmatch(name)
    if found is None:
        return None
    key = found[1].lower().replace("_", ".")
    known = find(key)
    if known is None:
        return key if is_irrelevant(key) else None
    return key if Reader.BROKER in known.readers_of(key) else None


def client_key(name: str) -> tuple[SettingLayer, str] | None:
    """The layer and key of a producer or consumer that a variable sets; None if none."""
    found = _CLIENT.fullmatch(name)
    if found is None:
        return None
    layer, reader = _CLIENTS[found[1]]
    key = found[2].lower().replace("_", ".")
    key = "acks" if key == "required.acks" else key
    known = find(key)
    return (layer, key) if known is not None and reader in known.readers_of(key) else None


def runs_a_broker(image: str, variables: Iterable[EnvironmentVariable]) -> bool:
    """Whether a container with this image and these variables runs a broker."""
    keys = {broker_key(one.name.text) for one in variables}
    return is_of_a_broker(image) or (bool(keys & _OF_A_BROKER) and not is_of_something_else(image))


def is_a_controller(variables: Iterable[EnvironmentVariable]) -> bool:
    """Whether a container is a controller that is no broker."""
    roles = [one.value.text for one in variables if broker_key(one.name.text) == "process.roles"]
    return bool(roles) and "broker" not in roles[-1]


def read_variables(gathered: Gathered, variables: Iterable[EnvironmentVariable], entity: str = "") -> None:
    """Add the settings of variables, attributed to their container."""
    for one in variables:
        key, client = broker_key(one.name.text), client_key(one.name.text)
        at = (one.name.span, one.value.span)
        if client is not None:
            gathered.add(client[1], one.value.text, client[0], at, entity)
        elif one.name.text == "KAFKA_CREATE_TOPICS":
            _created(gathered, one)
        elif key is not None:
            gathered.add(key, one.value.text, SettingLayer.BROKER_STATIC, at, entity)


def read_image(gathered: Gathered, image: ScalarNode) -> None:
    """Add the Kafka release of an image, or that its name shows none."""
    release = release_of(image.text)
    if release is not None:
        gathered.fact(About.VERSION, image, f"image {image.text}", release)
    elif is_of_a_broker(image.text):
        gathered.fact(About.NO_VERSION, image, f"image {image.text}")


def variables_of(node: Node | None) -> tuple[EnvironmentVariable, ...]:
    """The variables of an `environment`: a mapping, or a list of `NAME=value` or of name and value."""
    found = [EnvironmentVariable(key, value) for key, value in entries(node) if isinstance(value, ScalarNode)]
    for one in items(node):
        name, value = get(one, "name"), get(one, "value")
        if isinstance(name, ScalarNode) and isinstance(value, ScalarNode):
            found.append(EnvironmentVariable(name, value))
        if isinstance(one, ScalarNode) and "=" in one.text:
            found.append(_pair(one))
    return tuple(found)


def _pair(node: ScalarNode) -> EnvironmentVariable:
    """The variable in a `NAME=value` scalar."""
    name, value = node.text.split("=", 1)
    quoted = node.span.end - node.span.start > len(node.text)
    start = node.span.start + (1 if quoted else 0)
    middle = start + len(name)
    end = max(middle + 1, node.span.end - (1 if quoted else 0))
    return EnvironmentVariable(
        ScalarNode(name, Span(start, middle)), ScalarNode(value, Span(middle + 1, end))
    )


def _created(gathered: Gathered, one: EnvironmentVariable) -> None:
    """Add the topics of a `topic:partitions:replicas` list, which wurstmeister's image creates."""
    for found in _CREATED.finditer(one.value.text):
        topic = Topic(found[1], gathered.source, one.value.span, int(found[3]), int(found[2]))
        gathered.topics.append(topic)


# --- a file of variables


def is_environment(source: Source) -> bool:
    """Whether a text is a file of variables, of which one is a Kafka setting."""
    if not any(sign in source.text for sign in ("KAFKA_", "PRODUCER_", "CONSUMER_")):
        return False  # soon said of ten megabytes of something else
    names = [found["name"] for found in _LINE.finditer(source.text)]
    mine = [name for name in names if broker_key(name) or client_key(name) or name.startswith("KAFKA_")]
    said = sum(1 for line in source.text.splitlines() if line.strip() and line.strip()[0] not in "#!")
    return bool(mine) and len(names) * 10 >= said * 9 and all("." not in name for name in names)


def read_environment(source: Source) -> Reading:
    """The settings in a file of variables."""
    gathered = Gathered(source, FileKind.ENVIRONMENT)
    variables = file_variables(source)
    read_variables(gathered, variables)
    return gathered.reading()


def file_variables(source: Source) -> Sequence[EnvironmentVariable]:
    """The variables in a file of `NAME=value` lines."""
    return tuple(
        EnvironmentVariable(
            ScalarNode(found["name"], Span(*found.span("name"))),
            ScalarNode(found["value"], Span(*found.span("value"))),
        )
        for found in _LINE.finditer(source.text)
    )
