"""Topics that Kafka and products make for themselves: whether they are there, and take writes.

A review is of one topic; what stops these stops those who read and write it: consumers' positions,
transactions, Connect's topics, schemas, changelogs.
"""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.kafka.settings.keys.catalogue import known
from modelcheck.kafka.settings.keys.products import OWN_TOPICS, OwnTopic
from modelcheck.kafka.settings.keys.releases import release_of
from modelcheck.kafka.settings.keys.versions import Version
from modelcheck.kafka.settings.provenance import ResolutionDiagnostics, Stated
from modelcheck.kafka.settings.readings import About, FileKind, Given, Reading, SettingLayer, Topic
from modelcheck.kafka.settings.resolution.cluster import facts_about, topics_in_all
from modelcheck.kafka.settings.resolution.internal_topics import decided
from modelcheck.kafka.settings.resolution.precedence import Effective
from spec.diagnostics import Diagnostic, Note
from spec.frozen import frozen
from spec.source import Source, Span

_MIN_ISR = "min.insync.replicas"
# Images of other vendors begin with a server.properties of their own, which has one replica for these topics.
_WITHOUT_OWN = "confluentinc/cp-"


@frozen
class Replicas:
    """The number of replicas of such a topic, the place that decides it, and how it is written there.

    `is_default` is whether nothing sets it.
    """

    number: int
    source: Source
    span: Span | None
    words: str
    is_default: bool = False


def find_own_topics(
    readings: Sequence[Reading],
    release: Stated[Version],
    brokers: Stated[int],
    findings: ResolutionDiagnostics,
) -> None:
    """Warn about topics of Kafka and of products that cannot be made (R0745), or take no writes (R0746).

    Also about those whose one broker is as good as all of them (R0747).
    """
    of_brokers = decided(known(_MIN_ISR), readings, release.value)
    shown = {topic.name: topic for topic in topics_in_all(readings)}
    for topic in OWN_TOPICS:
        found = _replicas(topic, shown.get(topic.name), readings, brokers)
        if found is None or found.number < 1:
            continue
        if release.value >= topic.first and _cannot_be_made(topic, found, brokers, findings):
            continue
        least = _least(topic, readings, release.value, of_brokers)
        if not _takes_no_writes(topic, found, least, release, findings):
            _one_broker(topic, found, brokers, findings)


def _replicas(
    topic: OwnTopic, shown: Topic | None, readings: Sequence[Reading], brokers: Stated[int]
) -> Replicas | None:
    """The replicas as the topic itself shows them, else as a key sets them, else by default.

    None where no file is about the topic, or what is by default is not known.
    """
    if shown is not None and shown.replication_factor is not None:
        words = f"topic {shown.name} has {shown.replication_factor} replicas"
        return Replicas(shown.replication_factor, shown.source, shown.span, words)
    given = [one for reading in readings for one in reading.own_topics if one.key in topic.keys]
    if given:
        weakest = min(given, key=lambda one: int(one.value))
        words = f"`{weakest.source.at(weakest.key_span)}={weakest.value}`"
        return Replicas(int(weakest.value), weakest.source, weakest.span, words)
    at = _place_of_default(topic, readings)
    if at is None or (topic.default > brokers.value and brokers.assumed):
        return None
    return Replicas(
        topic.default, at[0], at[1], f"`{topic.keys[0]}` is {topic.default} by default", is_default=True
    )


def _place_of_default(topic: OwnTopic, readings: Sequence[Reading]) -> tuple[Source, Span] | None:
    """The place of what makes the topic with its default: the number of brokers, or a worker's file."""
    if topic.keys[0].endswith(".storage.replication.factor"):
        workers = facts_about(readings, About.CLIENT)
        return next(((one.source, one.span) for one in workers if one.value == "kafka-connect"), None)
    if not topic.name.startswith("__"):
        return None
    static = {
        reading.source: first for reading in readings if (first := _first_of_a_broker(reading)) is not None
    }
    if not static or not all(_has_kafkas_defaults(each) for each in readings if each.source in static):
        return None
    for fact in facts_about(readings, About.BROKERS):
        return fact.source, fact.span
    return next((each.source, each.key_span) for each in static.values())


def _first_of_a_broker(reading: Reading) -> Given | None:
    """The first setting of a broker in a file; None if it has none."""
    return next((one for one in reading.given if one.layer is SettingLayer.BROKER_STATIC), None)


def _has_kafkas_defaults(reading: Reading) -> bool:
    """Whether brokers of a file take Kafka's defaults for what it leaves out."""
    return reading.kind in {FileKind.BROKER, FileKind.KUBERNETES} or _WITHOUT_OWN in reading.source.text


def _least(
    topic: OwnTopic, readings: Sequence[Reading], release: Version, of_brokers: Effective
) -> Effective:
    """The topic's minimum of in-sync replicas: its own, else the brokers'."""
    if topic.min_isr:
        return decided(known(topic.min_isr), readings, release)
    return of_brokers


def _cannot_be_made(
    topic: OwnTopic, found: Replicas, brokers: Stated[int], findings: ResolutionDiagnostics
) -> bool:
    """Warn about a topic with more replicas than there are brokers."""
    if found.number <= brokers.value or brokers.assumed or topic.at_most_brokers:
        return False
    needed = f"{found.number} brokers, and there {'is' if brokers.value == 1 else 'are'} {brokers.value}"
    message = f"{found.words}, which needs {needed} ({brokers.reason}): {topic.stops}"
    advice = f"write {topic.keys[0]}={brokers.value}, or add brokers"
    _warn("R0745", found, message, advice, (), findings)
    return True


def _takes_no_writes(
    topic: OwnTopic,
    found: Replicas,
    least: Effective,
    release: Stated[Version],
    findings: ResolutionDiagnostics,
) -> bool:
    """Warn about a topic with fewer replicas than must be in sync, or as many."""
    wanted = least.value if isinstance(least.value, int) else 1
    bounds = release_of("strict_min_isr", value=True)
    if wanted < max(2, found.number):
        return False
    is_old = release.value < bounds
    if found.number < wanted and (is_old or release.assumed):
        when = "" if is_old and not release.assumed else f"before Kafka {bounds} "
        message = (
            f"{found.words}, and {least.key}={wanted}: {when}{topic.name} takes no writes, and {topic.stops}"
        )
    elif found.number > 1 and not found.is_default:
        message = f"{found.words}, and {least.key}={wanted}: {topic.stops} while one of its brokers is down"
    else:
        return False
    origin = least.origin
    notes = () if origin is None else (Note(origin.source, origin.span, "it is given here"),)
    advice = f"write {topic.keys[0]}={wanted + 1}; a topic that is there keeps its replicas until reassigned"
    _warn("R0746", found, message, advice, notes, findings)
    return True


def _one_broker(
    topic: OwnTopic, found: Replicas, brokers: Stated[int], findings: ResolutionDiagnostics
) -> None:
    """Warn about a topic with one replica where there are more brokers."""
    if found.number == 1 and brokers.value > 1:
        message = f"{found.words}: while that broker is down {topic.stops}, and its disk is the only copy"
        advice = f"write {topic.keys[0]}=3; a topic that is there keeps its replicas until reassigned"
        _warn("R0747", found, message, advice, (), findings)


def _warn(
    code: str,
    found: Replicas,
    message: str,
    advice: str,
    notes: tuple[Note, ...],
    findings: ResolutionDiagnostics,
) -> None:
    """Add a warning at the place that decides the replicas."""
    findings.warnings.append(Diagnostic(code, found.source, found.span, message, help=advice, notes=notes))
