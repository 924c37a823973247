"""Values of Helm charts: settings of Kafka in whatever spelling, wherever the chart has put them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from modelcheck.kafka.settings.keys.catalogue import find
from modelcheck.kafka.settings.keys.key import Reader, Standing, spelled
from modelcheck.kafka.settings.readers.commands import read_commands
from modelcheck.kafka.settings.readers.deployments.connectors import read_clients
from modelcheck.kafka.settings.readers.deployments.environment import read_image, read_variables, variables_of
from modelcheck.kafka.settings.readers.deployments.images import is_of_a_broker, release_of_tag
from modelcheck.kafka.settings.readers.deployments.inventory import read_inventory
from modelcheck.kafka.settings.readers.deployments.manifests import read_text_of_properties
from modelcheck.kafka.settings.readers.deployments.msk import read_cloud_formation
from modelcheck.kafka.settings.readers.deployments.topics import read_topic, read_topics
from modelcheck.kafka.settings.readers.formats.tree import (
    MappingNode,
    Node,
    ScalarNode,
    entries,
    entry,
    get,
    items,
    text_of,
    walk,
)
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import About, Fact, SettingLayer
from spec.source import Span

_NOT_BROKERS = frozenset(
    "zookeeper cp-zookeeper metrics exporter ui schema-registry cp-schema-registry connect cp-kafka-connect "
    "consumer".split()
)
_PROVISIONING = "provisioning"
_LONG = 2  # dots in a key that no other tool has by chance
_RELEASE = re.compile(r"(?:\d+\.\d+-)?(\d+\.\d+(?:\.\d+)*)")  # perhaps with Scala's before it
_COUNTS = ("replicaCount", "brokers", "replicas")


def read_values(gathered: Gathered, documents: Sequence[Node]) -> None:
    """Add the settings of brokers and topics in Helm values."""
    for document in documents:
        _below(gathered, document, document)
        _brokers(gathered, document)
        _tag(gathered, document)
        read_inventory(gathered, document)
        read_cloud_formation(gathered, document)
        read_release(gathered, document)
        read_commands(gathered, document)


def read_release(gathered: Gathered, document: Node) -> None:
    """Add the release from `kafka_version` if brokers were read; clients have their own."""
    of_brokers = any(one.layer is SettingLayer.BROKER_STATIC for one in gathered.given)
    if not (of_brokers or any(fact.about is About.BROKERS for fact in gathered.facts)):
        return
    for node in walk(document):
        for key, value in entries(node):
            said = _RELEASE.fullmatch(text_of(value) or "") if spelled(key.text) == "kafka.version" else None
            if said is not None:
                gathered.fact(About.VERSION, value, key.text, said[1])


def _below(gathered: Gathered, document: Node, node: Node, path: tuple[str, ...] = ()) -> None:
    """Add the settings of a value and its children; of components that are no brokers, those of clients."""
    read_variables(gathered, variables_of(node))
    _image(gathered, node)
    if read_topic(gathered, node):
        return
    for key, value in entries(node):
        within = (*path, key.text)
        if isinstance(value, ScalarNode):
            _plain(gathered, key, value, within)
        elif _is_of_topics(key.text) and _topics(gathered, (document, node), value, path):
            continue
        elif key.text in _NOT_BROKERS:
            read_clients(gathered, value, f"{'.'.join(within)}.")
        else:
            _below(gathered, document, value, within)
    for one in items(node):
        if not isinstance(one, ScalarNode):
            _below(gathered, document, one, path)


def _topics(gathered: Gathered, within: tuple[Node, Node], node: Node, path: tuple[str, ...]) -> bool:
    """Add the topics of a part of the values; return whether there are any."""
    gathered.part = ".".join(path)
    try:
        return read_topics(gathered, within, node, _otherwise(path))
    finally:
        gathered.part = ""


def _otherwise(path: Sequence[str]) -> int | None:
    """The replicas of topics without a number in the values of a chart: Bitnami's provisioning makes one."""
    return 1 if path[-1:] == (_PROVISIONING,) else None


def _is_of_no_broker(key: str) -> bool:
    """Whether what is below a key is of topics by its name."""
    return key == _PROVISIONING or _is_of_topics(key)


def _is_of_topics(key: str) -> bool:
    """Whether a key is of topics by its name."""
    return bool({"topic", "topics"} & set(spelled(key).split(".")))


def _plain(gathered: Gathered, key: ScalarNode, value: ScalarNode, path: tuple[str, ...]) -> None:
    """Add a setting from a key and a scalar value; of topics that are not known no broker has it."""
    name = spelled(key.text)
    known = find(name)
    if gathered.client(key, value, ".".join(path)):
        return
    if known is not None and Reader.BROKER in known.readers_of(name):
        is_kafkas = known.standing is Standing.MODELLED or name.count(".") >= _LONG  # and no word of others
        is_plain = key.text == name or (is_kafkas and value.text not in ("", "null"))
        if is_plain and not (known.standing is Standing.MODELLED and any(map(_is_of_no_broker, path[:-1]))):
            gathered.setting(key, value, SettingLayer.BROKER_STATIC, name=name)
    elif "\n" in value.text or value.verbatim or _is_a_line(value.text):
        read_text_of_properties(gathered, value, key.text, "")


def _is_a_line(text: str) -> bool:
    """Whether a text is one line of properties with a key of Kafka."""
    key, sign, _ = text.partition("=")
    return bool(sign) and find(key.strip()) is not None


def _image(gathered: Gathered, node: Node) -> None:
    """Add the release of an `image`, given as `name:tag` or as `repository` and `tag`."""
    image = get(node, "image")
    if isinstance(image, ScalarNode):
        tag = text_of(get(node, "imageTag"))
        read_image(gathered, ScalarNode(f"{image.text}:{tag}", image.span) if tag else image)
    name, tag_at = text_of(get(image, "repository")), get(image, "tag")
    if name is not None and isinstance(tag_at, ScalarNode) and is_of_a_broker(name):
        read_image(gathered, ScalarNode(f"{name}:{tag_at.text}", tag_at.span))


def _tag(gathered: Gathered, document: Node) -> None:
    """Add the release in the tag of an image whose repository the chart's own values name."""
    if any(fact.about is About.VERSION for fact in gathered.facts):
        return
    for node in (document, get(document, "kafka")):
        image = get(node, "image")
        flat = next((value for key, value in entries(node) if key.text == "image.tag"), None)
        tag = flat if flat is not None else get(image, "tag") if get(image, "repository") is None else None
        release = release_of_tag(text_of(tag) or "")
        if tag is not None and release is not None:
            gathered.fact(About.VERSION, tag, "image.tag", release)
            return


def _brokers(gathered: Gathered, document: Node) -> None:
    """Add the number of brokers: of `broker`, else of combined controllers, else of the chart."""
    inner = [value for key, value in entries(document) if key.text in ("kafka", "cp-kafka")]
    roots: list[Node] = [one for one in inner if isinstance(one, MappingNode)]
    for root in roots or [document]:
        _storage(gathered, root, sure=bool(inner or gathered.given))
        found = [(name, _count_at(get(root, name))) for name in ("broker", "controller")]
        sure = [(name, at) for name, at in found if at is not None and _is_positive(gathered, at[1])]
        at = sure[0][1] if sure else _count_at(root)
        if at is not None and (number := gathered.count(at[1], at[0].text)) is not None:
            words = f"{at[0].text}" + (f" of {sure[0][0]}" if sure else "")
            span = Span(at[0].span.start, at[1].span.end)
            gathered.facts.append(Fact(About.BROKERS, str(number), gathered.source, span, words))


def _storage(gathered: Gathered, root: Node, *, sure: bool) -> None:
    """Add that pods have no persistent disk, if the chart of brokers says so."""
    separate = text_of(get(root, "controller", "controllerOnly")) == "true"
    parts = [root, get(root, "broker"), None if separate else get(root, "controller")]
    for part in parts:
        switch = get(part, "persistence", "enabled") if sure or _count_at(part) is not None else None
        if isinstance(switch, ScalarNode) and switch.text == "false":
            words = "persistence.enabled=false"
            gathered.facts.append(Fact(About.STORAGE, "ephemeral", gathered.source, switch.span, words))


def _count_at(node: Node | None) -> tuple[ScalarNode, Node] | None:
    """The replica count in a component's values; None if it has none."""
    found = entry(node, *_COUNTS)
    return found if found is not None and isinstance(found[1], ScalarNode) else None


def _is_positive(gathered: Gathered, node: Node) -> bool:
    """Whether a value is a positive number."""
    return (gathered.count(node, "replicaCount") or 0) > 0
