"""A cluster's description → readings, in which the places are brokers and topics in place of lines.

NOTE(unseen): what the user may not see is an error where it decides the answer, and a note where the
answer is not better without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from counterexamples.lines import count
from modelcheck.kafka.live.description import (
    BrokerDescription,
    ClusterDescription,
    ShownSetting,
    TopicDescription,
)
from modelcheck.kafka.settings.keys.levels import named
from modelcheck.kafka.settings.keys.products import OWN_TOPICS
from modelcheck.kafka.settings.keys.versions import version
from modelcheck.kafka.settings.readings import (
    About,
    BrokersShown,
    Fact,
    FileKind,
    Given,
    Partition,
    Reading,
    SettingLayer,
    Topic,
)
from spec.diagnostics import Diagnostic, SpecError, suggest
from spec.source import Source, Span

_SHOWN = 5  # names in a message; more are counted
_LEVEL = "metadata.version"
_GRANT = (
    "Describe and DescribeConfigs: kafka-acls.sh --add --allow-principal User:NAME --operation Describe "
    "--operation DescribeConfigs --topic"
)
_OWN_KEYS = {key for topic in OWN_TOPICS for key in (*topic.keys, topic.min_isr) if key}
_OF_ONE = (SettingLayer.TOPIC, SettingLayer.BROKER_DYNAMIC, SettingLayer.BROKER_STATIC)
_OF_ALL = (SettingLayer.CLUSTER_DYNAMIC, SettingLayer.DEFAULT)


def readings(cluster: ClusterDescription, topic: str | None) -> tuple[Reading, ...]:
    """The readings of a cluster: one of its features and topics, and one of each broker that was asked.

    Raises SpecError (R0761) if the topic, or settings of it, or of any topic for None, may not be seen;
    those of topics that Kafka makes for itself may be missing.  See NOTE(unseen).
    """
    names = [each.name for each in cluster.topics]
    if topic is not None and topic not in names and not topic.startswith("__"):
        raise _no_topic(cluster, topic, names)
    if hidden := [each for each in cluster.topics if each.settings is None and _decides(each.name, topic)]:
        raise _hidden(cluster, hidden)
    shown = [*(each.settings for each in cluster.brokers), *(each.settings for each in cluster.topics)]
    if all(settings is None for settings in shown):
        raise _nothing(cluster)
    asked = [broker for broker in cluster.brokers if broker.settings is not None]
    return (_of_cluster(cluster, asked, topic), *map(_of_broker, _with_shared_once(asked)))


def _decides(name: str, asked: str | None) -> bool:
    """Whether the settings of a topic decide the review."""
    return name == asked or (asked is None and not name.startswith("__"))


def _no_topic(cluster: ClusterDescription, topic: str, names: Sequence[str]) -> SpecError:
    """The error that a topic is not there, or may not be seen."""
    message = f"the cluster shows this user no topic `{topic}`"
    advice = suggest(topic, names) or "it is not there, or the user needs Describe on it"
    return SpecError([Diagnostic("R0761", _source(cluster), None, message, help=advice)])


def _nothing(cluster: ClusterDescription) -> SpecError:
    """The error that no settings may be seen at all."""
    why = next((each.why for each in cluster.brokers), "it lists no brokers")
    message = f"the cluster shows this user no settings: {why}"
    advice = f"grant {_GRANT} '*' --cluster"
    return SpecError([Diagnostic("R0761", _source(cluster), None, message, help=advice)])


def _hidden(cluster: ClusterDescription, hidden: Sequence[TopicDescription]) -> SpecError:
    """The error that settings of topics may not be seen."""
    shown = ", ".join(each.name for each in hidden[:_SHOWN])
    more = f" and {len(hidden) - _SHOWN} more" if len(hidden) > _SHOWN else ""
    message = (
        f"this user may not see the settings of {count(len(hidden), 'topic')} ({shown}{more}), and "
        "min.insync.replicas or unclean.leader.election.enable of a topic decide what it loses"
    )
    advice = f"grant {_GRANT} '*'; or review one that it may see with --topic"
    return SpecError([Diagnostic("R0761", _source(cluster), None, message, help=advice)])


def _source(cluster: ClusterDescription, text: str = "") -> Source:
    """What the cluster answers about itself, as a source."""
    return Source(f"the cluster at {cluster.address}", text, is_file=False)


# ------------------------------------------------------------------ the cluster


def _of_cluster(
    cluster: ClusterDescription, asked: Sequence[BrokerDescription], topic: str | None
) -> Reading:
    """The reading of what is not one broker's: features, counts, the controller, the topics."""
    features = [(name, _level(name, level)) for name, level in cluster.features.items()]
    counts = _counts(cluster)
    source, spans = _text([*features, *((str(about), value) for about, value, _ in counts)], _source(cluster))
    given = [
        Given(name, value, SettingLayer.CLUSTER_DYNAMIC, source, *at)
        for (name, value), at in zip(features, spans, strict=False)
        if value != "0" or name != _LEVEL
    ]
    facts = [
        Fact(about, value, source, at[1], words)
        for (about, value, words), at in zip(counts, spans[len(features) :], strict=True)
    ]
    topics = [_topic(cluster, each) for each in cluster.topics]
    shown = () if asked else [each for each in cluster.topics if each.settings is not None][:1]
    by_topics = [one for each in shown for one in _inherited(cluster, each)]
    running = frozenset(broker.id for broker in cluster.brokers if not broker.is_fenced)
    return Reading(
        source,
        FileKind.CLUSTER,
        (*given, *(one for _, own in topics for one in own), *by_topics),
        tuple(topic for topic, _ in topics),
        tuple(facts),
        tuple(_notes(cluster, asked, topic)),
        own_topics=tuple(_own_topics(asked)),
        left_out=BrokersShown(running=running),
    )


def _level(name: str, level: int) -> str:
    """The level of a feature, as kafka-features prints it."""
    return named(level) if name == _LEVEL and level else str(level)


def _counts(cluster: ClusterDescription) -> list[tuple[About, str, str]]:
    """The facts about the cluster: subject, value, and how they show."""
    shown = [broker.release for broker in cluster.brokers if broker.release is not None]
    oldest = min(shown or [cluster.release], key=lambda one: version(one.name))
    found = [(About.VERSION, oldest.name, oldest.words)]
    if cluster.all_brokers:
        found.append((About.BROKERS, str(len(cluster.brokers)), "the brokers that are registered"))
    else:
        ids = {broker.id for broker in cluster.brokers}
        held = {node for topic in cluster.topics for part in topic.partitions for node in part.replicas}
        found.append((About.BROKERS, str(len(ids | held)), "the brokers that run, or hold replicas"))
    kind = "kraft" if cluster.is_kraft else "zookeeper"
    words = "the requests and features that the brokers know"
    found.append((About.CONTROLLER, kind, words))
    if cluster.quorum is not None:
        voters = cluster.quorum.voters
        found.append((About.VOTERS, str(len(voters)), "the voters of the quorum"))
        both = "yes" if _are_brokers(cluster) else "no"
        found.append((About.COMBINED, both, "whether the voters are brokers"))
    return found


def _are_brokers(cluster: ClusterDescription) -> bool:
    """Whether every controller that votes is a broker as well."""
    ids = {broker.id for broker in cluster.brokers}
    return cluster.quorum is not None and ids.issuperset(cluster.quorum.voters)


def _notes(
    cluster: ClusterDescription, asked: Sequence[BrokerDescription], topic: str | None
) -> Iterator[str]:
    """What is not known, and what that means; what moves, of the topic or of all."""
    yield from cluster.notes
    moves = [note for name, note in cluster.moves.items() if topic in {None, name}]
    yield from moves[:_SHOWN]
    if len(moves) > _SHOWN:
        yield f"partitions of {count(len(moves) - _SHOWN, 'other topic')} are being moved too"
    unknown = [broker for broker in cluster.brokers if broker.settings is None]
    if not asked and unknown:
        yield (
            f"no broker showed its own settings ({unknown[0].why}): they are as topics inherit them from the "
            "broker that answered, and what topics do not inherit is taken as the default"
        )
    elif unknown:
        for broker in unknown[:_SHOWN]:
            yield f"broker {broker.id} was not asked for its settings, which are not known: {broker.why}"
        if len(unknown) > _SHOWN:
            yield f"nor were {count(len(unknown) - _SHOWN, 'other broker')}"
    running = sorted({broker.release.name for broker in cluster.brokers if broker.release}, key=version)
    if len(running) > 1:
        yield f"brokers run {' and '.join(running)}: the review is of the oldest"
    if cluster.is_kraft and not _are_brokers(cluster):
        yield (
            "brokers do not show the settings of controllers: if theirs differ in "
            "unclean.leader.election.enable, theirs count"
        )
    if hidden := [topic.name for topic in cluster.topics if topic.settings is None]:
        yield f"this user may not see the settings of {', '.join(hidden[:_SHOWN])}"


# ------------------------------------------------------------------ brokers


def _with_shared_once(asked: Sequence[BrokerDescription]) -> Iterator[BrokerDescription]:
    """The brokers; what is set for all of them, or by default, is with the first that shows it.

    A review of each of many topics looks at every setting of every broker.
    """
    seen: set[ShownSetting] = set()
    for broker in asked:
        own = tuple(one for one in broker.settings or () if one.layer not in _OF_ALL or one not in seen)
        seen.update(one for one in own if one.layer in _OF_ALL)
        yield replace(broker, settings=own)


def _of_broker(broker: BrokerDescription) -> Reading:
    """The reading of a broker: its id and rack, and its settings at each layer."""
    own = SettingLayer.BROKER_STATIC
    rack = [] if broker.rack is None else [ShownSetting("broker.rack", broker.rack, own)]
    first = [ShownSetting("node.id", str(broker.id), own), *rack]
    others = [one for one in broker.settings or () if one.key not in {"node.id", "broker.id", "broker.rack"}]
    given = _given([*first, *others], _source_of_broker(broker), str(broker.id))
    return Reading(given[0].source, FileKind.CLUSTER, tuple(given))


def _own_topics(asked: Sequence[BrokerDescription]) -> Iterator[Given]:
    """The replicas that brokers give topics of Kafka's own, which count until these are made."""
    for broker in asked:
        own = {one.key: one for one in reversed(broker.settings or ()) if one.key in _OWN_KEYS}
        yield from _given(list(own.values()), _source_of_broker(broker), str(broker.id))


def _source_of_broker(broker: BrokerDescription) -> Source:
    """What a broker answers about itself, as a source without a text."""
    return Source(f"broker {broker.id} ({broker.address})", "", is_file=False)


# ------------------------------------------------------------------ topics


def _topic(cluster: ClusterDescription, topic: TopicDescription) -> tuple[Topic, list[Given]]:
    """A topic with the state of its partitions, and its own settings."""
    factor = min((len(part.replicas) for part in topic.partitions), default=None)
    head = f"Topic: {topic.name}  PartitionCount: {len(topic.partitions)}  ReplicationFactor: {factor}\n"
    lines = [_line(part) for part in topic.partitions]
    source = _source_of_topic(cluster, topic, head + "".join(lines))
    at = len(head)
    parts = []
    for part, line in zip(topic.partitions, lines, strict=True):
        parts.append(replace(part, span=Span(at, at + len(line) - 1)))
        at += len(line)
    span = Span(len("Topic: "), len("Topic: ") + len(topic.name))
    made = Topic(topic.name, source, span, factor, len(topic.partitions), tuple(parts))
    return made, _given(topic.settings or (), replace(source, text=""), topic.name)


def _line(part: Partition) -> str:
    """A partition as kafka-topics prints it."""
    columns = [
        f"Partition: {part.number}",
        f"Leader: {'none' if part.leader is None else part.leader}",
        f"Replicas: {_ids(part.replicas)}",
        f"Isr: {_ids(part.isr)}",
    ]
    if part.elr is not None:
        columns.append(f"Elr: {_ids(part.elr)}")
    if part.last_known_elr is not None:
        columns.append(f"LastKnownElr: {_ids(part.last_known_elr)}")
    return "  ".join(columns) + "\n"


def _ids(nodes: Iterable[int]) -> str:
    """The ids of brokers in a column."""
    return ",".join(map(str, nodes))


def _inherited(cluster: ClusterDescription, topic: TopicDescription) -> list[Given]:
    """The brokers' settings as a topic shows them, where no broker shows its own."""
    return _given(topic.inherited, _source_of_topic(cluster, topic), "")


def _source_of_topic(cluster: ClusterDescription, topic: TopicDescription, text: str = "") -> Source:
    """What the cluster answers about a topic, as a source."""
    return Source(f"topic {topic.name} ({cluster.address})", text, is_file=False)


# ------------------------------------------------------------------ settings as text


def _given(settings: Sequence[ShownSetting], source: Source, entity: str) -> list[Given]:
    """Settings as if they were the lines of a file; `entity` is whose they are."""
    made, spans = _text([(one.key, one.value) for one in settings], source)
    return [
        Given(one.key, one.value, one.layer, made, *at, _entity(one.layer, entity))
        for one, at in zip(settings, spans, strict=True)
    ]


def _entity(layer: SettingLayer, entity: str) -> str:
    """Whose a setting is: that of a topic or a broker, or of all."""
    return entity if layer in _OF_ONE else ""


def _text(pairs: Iterable[tuple[str, str]], source: Source) -> tuple[Source, list[tuple[Span, Span]]]:
    """A source with a line for each key and value, and their places in it."""
    lines: list[str] = []
    spans: list[tuple[Span, Span]] = []
    at = len(source.text)
    for key, value in pairs:
        shown = value.replace("\n", " ")
        lines.append(f"{key}={shown}\n")
        start = at + len(key) + 1
        spans.append((Span(at, at + len(key)), Span(start, start + len(shown))))
        at = start + len(shown) + 1
    return replace(source, text=source.text + "".join(lines)), spans
