"""What Kafka's own tools print: kafka-configs, kafka-topics and kafka-features, `--describe`.

The forms are those of the tools' sources, ConfigCommand, TopicCommand,
ListTopicCommand (0.8.0) and FeatureCommand, from 0.8.0 to 4.x.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from modelcheck.kafka.settings.readers.gathered import PAIR
from modelcheck.kafka.settings.readings import (
    About,
    Fact,
    FileKind,
    Given,
    Partition,
    Reading,
    SettingLayer,
    Topic,
)
from spec.diagnostics import Diagnostic
from spec.frozen import frozen
from spec.source import Source, Span

_LINE = re.compile(r"[^\r\n]+")
_TOPIC_FIELD = re.compile(
    r"(?:(?<=\s)|^)(Topic|TopicId|PartitionCount|ReplicationFactor|Configs|Partition|Leader|Replicas|Isr|Elr"
    r"|LastKnownElr|Adding Replicas|Removing Replicas|Offline|(?:Live)?Observers|MarkedForDeletion):[ \t]*",
    re.IGNORECASE,
)
_CONFIGS_HEAD = re.compile(
    r"(?P<default>Default configs? for (?P<many>\w+) in the cluster are:)"
    r"|(?:Dynamic |All |Quota |SCRAM credential )?[Cc]onfigs for"
    r" (?P<type>[\w-]+?)s?[ :](?P<quote>'?)(?P<name>[^'\s]*)(?P=quote)(?:,.*?)? are:?[ \t]*(?P<inline>.*)"
)
_CONFIG_ENTRY = re.compile(
    r"[ \t]*(?P<key>[\w.-]+)=(?P<value>.*?) sensitive=(?:true|false) synonyms=\{(?P<synonyms>.*)\}[ \t]*"
)
_SYNONYM = re.compile(r"(?:^|, )([A-Z][A-Z_]+):([\w.-]+)=(.*?)(?=, [A-Z][A-Z_]+:|$)")
_FEATURE = re.compile(r"[ \t]*Feature:\s*([\w.]+)\s.*?FinalizedVersionLevel:\s*([\w.-]+)")
_NEWEST_METADATA = re.compile(r"Feature:\s*metadata\.version\s.*?SupportedMaxVersion:\s*([\d.]+)(?:-IV\d+)?")
_MARKS = ("onfigs for ", "onfig for ", " synonyms={", "Feature:", "Topic:", "topic:")  # each form has one
_LAYERS = {
    "DYNAMIC_TOPIC_CONFIG": SettingLayer.TOPIC,
    "DYNAMIC_BROKER_CONFIG": SettingLayer.BROKER_DYNAMIC,
    "DYNAMIC_DEFAULT_BROKER_CONFIG": SettingLayer.CLUSTER_DYNAMIC,
    "STATIC_BROKER_CONFIG": SettingLayer.BROKER_STATIC,
    "DEFAULT_CONFIG": SettingLayer.DEFAULT,
}
_OF_ENTITY = {"topic": SettingLayer.TOPIC, "broker": SettingLayer.BROKER_DYNAMIC}


def kind_of_output(text: str) -> FileKind | None:
    """The tool whose output a text is; None if it is no known one's."""
    if not any(mark in text for mark in _MARKS):
        return None  # soon said of ten megabytes of something else
    for line in _LINE.finditer(text):
        if _CONFIGS_HEAD.match(line[0].lstrip()) or _CONFIG_ENTRY.fullmatch(line[0]):
            return FileKind.CONFIGS
        if _FEATURE.match(line[0]):
            return FileKind.FEATURES
        names = {found[1].lower() for found in _TOPIC_FIELD.finditer(line[0])}
        if "topic" in names and names & {"partitioncount", "partition"}:
            return FileKind.TOPICS
    return None


def read_features(source: Source) -> Reading:
    """The settings from the output of kafka-features: the finalized features.

    The newest metadata version that is supported is that of the release that runs.
    """
    given = tuple(
        Given(m[1], m[2], SettingLayer.CLUSTER_DYNAMIC, source, Span(*m.span(1)), Span(*m.span(2)))
        for m in re.compile(_FEATURE.pattern, re.MULTILINE).finditer(source.text)
        if m[2] != "0" or m[1] != "metadata.version"
    )
    newest = _NEWEST_METADATA.search(source.text)
    words = "the newest metadata.version that is supported"
    facts = (
        (Fact(About.VERSION, newest[1], source, Span(*newest.span(1)), words),) if newest is not None else ()
    )
    return Reading(source, FileKind.FEATURES, given, facts=facts)


# --- kafka-configs


@frozen
class _Entity:
    """The owner of the settings below a heading."""

    layer: SettingLayer | None
    name: str


def read_configs(source: Source) -> Reading:
    """The settings in the output of kafka-configs, each at its layer.

    Settings of users, clients and groups are passed over with a note.
    """
    entity = _Entity(None, "")
    given: list[Given] = []
    topics: dict[str, Topic] = {}
    notes: list[str] = []
    passed: list[Span] = []
    for line in _LINE.finditer(source.text):
        indent = len(line[0]) - len(line[0].lstrip())
        if head := _CONFIGS_HEAD.match(line[0], indent):
            passed.append(Span(*line.span()))
            entity = _entity(head, notes)
            if entity.layer is SettingLayer.TOPIC:
                span = Span(line.start() + head.start("name"), line.start() + head.end("name"))
                topics.setdefault(entity.name, Topic(entity.name, source, span))
            if head["inline"]:
                start = line.start() + head.start("inline")
                given += _pairs(source, Span(start, line.end()), entity)
        elif entry := _CONFIG_ENTRY.fullmatch(line[0]):
            passed.append(Span(*line.span()))
            given += _synonyms(source, line.start(), entry, entity)
    shown = tuple(topics.values())
    return Reading(source, FileKind.CONFIGS, tuple(given), shown, notes=tuple(notes), passed=tuple(passed))


def _entity(head: re.Match[str], notes: list[str]) -> _Entity:
    """The owner in a heading of the output."""
    if head["default"]:
        return _Entity(SettingLayer.CLUSTER_DYNAMIC if head["many"] == "brokers" else None, "")
    kind = head["type"].lower()
    if kind not in _OF_ENTITY:
        notes.append(f"settings of {kind} {head['name']} are not about replication".replace("  ", " "))
    name = head["name"]
    if kind == "broker" and name in ("", "<default>"):
        return _Entity(SettingLayer.CLUSTER_DYNAMIC, "")
    return _Entity(_OF_ENTITY.get(kind), name)


def _synonyms(source: Source, start: int, entry: re.Match[str], entity: _Entity) -> Iterator[Given]:
    """The setting in a line at each layer it shows, else at that of its heading."""
    where = start + entry.start("synonyms")
    found = list(_SYNONYM.finditer(entry["synonyms"]))
    for synonym in found:
        layer = _LAYERS.get(synonym[1])
        if layer is not None and synonym[3] != "null":
            key = Span(where + synonym.start(2), where + synonym.end(2))
            value = Span(where + synonym.start(3), where + synonym.end(3))
            is_own = layer in (SettingLayer.TOPIC, SettingLayer.BROKER_DYNAMIC)
            is_of_broker = layer is SettingLayer.BROKER_STATIC and entity.layer is SettingLayer.BROKER_DYNAMIC
            own = entity.name if is_own or is_of_broker else ""
            yield Given(synonym[2], synonym[3], layer, source, key, value, own)
    if not found and entity.layer is not None and entry["value"] != "null":
        key = Span(start + entry.start("key"), start + entry.end("key"))
        value = Span(start + entry.start("value"), start + entry.end("value"))
        yield Given(entry["key"], entry["value"], entity.layer, source, key, value, entity.name)


def _pairs(source: Source, where: Span, entity: _Entity) -> Iterator[Given]:
    """The settings in `a=b,c=d`, where a value may contain commas: `cleanup.policy=compact,delete`."""
    if entity.layer is None:
        return
    for pair in PAIR.finditer(source.at(where).rstrip()):
        key = Span(where.start + pair.start(1), where.start + pair.end(1))
        value = Span(where.start + pair.start(2), where.start + pair.end(2))
        yield Given(pair[1], pair[2].strip(), entity.layer, source, key, value, entity.name)


# --- kafka-topics


@frozen
class _Field:
    """A column's value in a line, with its place."""

    text: str
    span: Span


def read_topics(source: Source) -> Reading:
    """The topics in the output of kafka-topics: replicas, assignments, in-sync sets, settings.

    A number that is none is a problem (R0727).  In its `Configs` kafka-topics
    also lists what a topic inherits from its broker's own settings.
    """
    given: list[Given] = []
    topics: dict[str, Topic] = {}
    earlier: list[Topic] = []
    moves: dict[str, str] = {}  # a note for each topic
    problems: list[Diagnostic] = []
    passed: list[Span] = []
    for line in _LINE.finditer(source.text):
        fields = _fields(line[0], line.start())
        name = fields.get("topic")
        if name is None or not name.text:
            continue
        topic = topics.get(name.text, Topic(name.text, source, name.span))
        if "partitioncount" in fields:
            if topic.replication_factor is not None:  # described before, at another time or place
                earlier.append(topic)
                topic = Topic(name.text, source, name.span)
            topic = replace(
                topic,
                replication_factor=_number(source, fields.get("replicationfactor"), problems),
                partition_count=_number(source, fields["partitioncount"], problems),
            )
        elif "partition" in fields:
            topic = replace(topic, partitions=(*topic.partitions, _partition(source, fields, problems)))
            moves[name.text] = moves.get(name.text) or _move(name.text, fields)
        if "configs" in fields:
            given += _pairs(source, fields["configs"].span, _Entity(SettingLayer.TOPIC, name.text))
        topics[name.text] = topic
        passed.append(Span(*line.span()))
    whole = (*earlier, *(_with_factor(topic) for topic in topics.values()))
    notes = tuple(filter(None, (*moves.values(), *map(_of_fewer, topics.values()))))
    return Reading(
        source,
        FileKind.TOPICS,
        tuple(given),
        whole,
        notes=notes,
        problems=tuple(problems),
        passed=tuple(passed),
    )


def _move(topic: str, fields: Mapping[str, _Field]) -> str:
    """A note that a partition is being reassigned, if its columns show that; else empty."""
    columns = (("adding", "adding replicas"), ("removing", "removing replicas"))
    ids = {what: fields[name].text for what, name in columns if name in fields and fields[name].text}
    return moved(topic, fields["partition"].text, ids) if ids else ""


def moved(topic: str, partition: str, ids: Mapping[str, str]) -> str:
    """The note that a partition is being reassigned; `ids` are replicas by what becomes of them."""
    shown = ", ".join(f"{what} {text}" for what, text in ids.items())
    return (
        f"partition {partition} of {topic} is being moved ({shown}), and the review is of one "
        "that stays: until it is over, an unclean election may choose a replica that has nothing yet; "
        "kafka_reassignment.rsm has what is survived meanwhile"
    )


def _with_factor(topic: Topic) -> Topic:
    """The topic with the fewest replicas of its partitions, as far as these are shown.

    The number in the heading is of the first partition alone, and 0.8.0 prints none.
    """
    if not topic.partitions:
        return topic
    said = topic.replication_factor
    shown = [len(part.replicas) for part in topic.partitions if part.replicas]
    if said is None:
        return replace(topic, replication_factor=min(shown, default=0), partition_count=len(topic.partitions))
    return replace(topic, replication_factor=min([said, *shown]))


def _of_fewer(topic: Topic) -> str:
    """A note that partitions of a topic have fewer replicas than its heading says; empty if none has."""
    said = topic.replication_factor
    fewer = [part for part in topic.partitions if said is not None and 0 < len(part.replicas) < said]
    if not fewer:
        return ""
    least = min(fewer, key=lambda part: len(part.replicas))
    return (
        f"partition {least.number} of {topic.name} has {len(least.replicas)} replicas, and {said} in the"
        " heading are those of the first; the fewest are reviewed"
    )


def _fields(line: str, start: int) -> dict[str, _Field]:
    """The columns of a line, by name."""
    found = list(_TOPIC_FIELD.finditer(line))
    ends = [*(following.start() for following in found[1:]), len(line)][: len(found)]
    fields = {}
    for field, end in zip(found, ends, strict=True):
        text = line[field.end() : end].rstrip()
        span = Span(start + field.end(), start + field.end() + len(text))
        fields[field[1].lower()] = _Field(text, span)
    return fields


def _partition(source: Source, fields: dict[str, _Field], problems: list[Diagnostic]) -> Partition:
    """The partition in a line."""
    leader = fields.get("leader")
    absent = leader is None or leader.text.lower() in ("none", "-1", "")
    number = _number(source, fields["partition"], problems)
    return Partition(
        -1 if number is None else number,
        None if absent else _number(source, leader, problems),
        _ids(source, fields.get("replicas"), problems) or (),
        _ids(source, fields.get("isr"), problems) or (),
        _ids(source, fields.get("elr"), problems),
        _ids(source, fields.get("lastknownelr"), problems),
        fields["replicas"].span if "replicas" in fields else None,
        _ids(source, fields.get("offline"), problems),
        has_state={"leader", "replicas", "isr"} <= fields.keys(),
        observers=_ids(source, fields.get("observers", fields.get("liveobservers")), problems) or (),
    )


def _ids(source: Source, field: _Field | None, problems: list[Diagnostic]) -> tuple[int, ...] | None:
    """The broker ids in a column; None if it is missing or `N/A`."""
    if field is None or field.text == "N/A":
        return None
    parts = [part.strip() for part in field.text.split(",") if part.strip()]
    bad = [part for part in parts if not (part.isascii() and part.isdigit() and len(part) < 11)]
    if bad:
        problems.append(_no_number(source, field, bad[0]))
    return tuple(int(part) for part in parts if part not in bad)


def _number(source: Source, field: _Field | None, problems: list[Diagnostic]) -> int | None:
    """The number in a column; None if it is missing."""
    if field is None:
        return None
    if field.text.isascii() and field.text.isdigit() and len(field.text) < 11:
        return int(field.text)
    problems.append(_no_number(source, field, field.text))
    return None


def _no_number(source: Source, field: _Field, text: str) -> Diagnostic:
    """The error that a column's value is no number."""
    return Diagnostic(
        "R0727",
        source,
        field.span,
        f"`{text}` is not a number that kafka-topics prints here",
        help="give the tool's output as it came; a line may have been cut or wrapped",
    )
