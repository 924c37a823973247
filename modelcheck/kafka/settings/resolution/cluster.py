"""Which Kafka, which topic and how many brokers the settings are about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from modelcheck.kafka.settings.keys.catalogue import NAME_LIFETIMES, find, known
from modelcheck.kafka.settings.keys.versions import (
    LINES,
    NEWEST,
    OLDEST,
    BadVersionError,
    Version,
    is_newer_than_known,
    of,
    protocol,
    version,
)
from modelcheck.kafka.settings.provenance import ResolutionDiagnostics, Stated
from modelcheck.kafka.settings.readings import About, Fact, Given, Reading, SettingLayer, Topic, is_template
from modelcheck.kafka.settings.resolution.placement import known_brokers
from spec.diagnostics import Diagnostic, Note, suggest
from spec.source import Source, Span

_COUNTED = 3  # places in a reason; more are counted
_SHOWN = 12  # names in a message; more are counted
# Where no file shows the release, older ones are not considered: 2.8 got its last fixes in 2022.
_OLDEST_ASSUMED = of(3, 0)
KRAFT_READY = of(3, 3)  # for production (KIP-833)


# --- the version


def stated_version(
    readings: Sequence[Reading],
    asked: str | None,
    findings: ResolutionDiagnostics,
    possible: Version | None = None,
) -> Stated[Version]:
    """The release to review for: as asked for, else as the files show, else `possible` or the newest.

    A release newer than every known one is reviewed as the newest known (R0711).
    """
    found = _asked_version(asked, findings) or _shown_version(readings, findings)
    if found is None:
        newest = _possible_version(readings)
        if possible is None or possible == newest.value:
            return newest
        return Stated(possible, _unnamed(readings), assumed=True)
    if is_newer_than_known(found.value):
        reason = f"{found.reason}; nothing after {NEWEST} is known here, so it is taken as {NEWEST}"
        return Stated(NEWEST, reason, assumed=True)
    return replace(found, value=possible) if found.assumed and possible is not None else found


def possible_releases(readings: Sequence[Reading], asked: str | None) -> tuple[Version, ...]:
    """The releases that the files leave possible, oldest first; one where they name it.

    Where a protocol version is all that is given, those that speak it; else those since 3.0 that have every
    setting which is given.
    """
    stated = stated_version(readings, asked, ResolutionDiagnostics())
    newest = _possible_version(readings).value
    if not stated.assumed or asked is not None or is_newer_than_known(_shown_or(readings, stated.value)):
        return (stated.value,)
    shown = _shown_version(readings, ResolutionDiagnostics())
    oldest = stated.value if shown is not None else min(newest, max(_OLDEST_ASSUMED, _first(readings)))
    between = tuple(of(*line) for line in LINES if oldest.line <= line <= newest.line)
    return between or (stated.value,)


def _shown_or(readings: Sequence[Reading], other: Version) -> Version:
    """The release that the files show, else another."""
    shown = _shown_version(readings, ResolutionDiagnostics())
    return other if shown is None else shown.value


def _first(readings: Sequence[Reading]) -> Version:
    """The first release with every setting that is given."""
    keys = [(one.key, find(one.key)) for reading in readings for one in reading.given]
    firsts = [NAME_LIFETIMES.get(name, (key.first, None))[0] for name, key in keys if key is not None]
    controllers = {fact.value for fact in facts_about(readings, About.CONTROLLER)}
    is_kraft = _has_roles(readings) or controllers == {"kraft"}
    return max([KRAFT_READY if is_kraft else OLDEST, *firsts])


def _asked_version(asked: str | None, findings: ResolutionDiagnostics) -> Stated[Version] | None:
    """The release asked for; None if there is none or it is invalid."""
    if asked is None:
        return None
    source = Source("--kafka", asked)
    found = _parsed(asked, source, Span(0, len(asked)), findings)
    return Stated(found or NEWEST, "as asked for")


def _parsed(text: str, source: Source, span: Span, findings: ResolutionDiagnostics) -> Version | None:
    """The release in a text; None, with an error, if it is invalid."""
    try:
        found = version(text)
    except BadVersionError as error:
        findings.errors.append(Diagnostic("R0710", source, span, error.message, help=error.advice))
        return None
    if is_newer_than_known(found):
        message = f"Kafka {found} is newer than {NEWEST}, the newest known here"
        advice = f"the review takes it as {NEWEST}; what changed since then is not in the answer"
        findings.warnings.append(Diagnostic("R0711", source, span, message, help=advice))
    return found


def _shown_version(readings: Sequence[Reading], findings: ResolutionDiagnostics) -> Stated[Version] | None:
    """The release that the files show; None if none does."""
    said = [
        (fact, found)
        for fact in facts_about(readings, About.VERSION)
        if (found := _parsed(fact.value, fact.source, fact.span, findings)) is not None
    ]
    if said:
        fact, found = said[0]
        other = next((other for other, release in said if release.line != found.line), None)
        if other is not None:
            contradiction(fact, f"Kafka {found}", other, findings)
        return Stated(found, f"{fact.words} at {fact.place}")
    for name in ("metadata.version", "inter.broker.protocol.version"):
        last = {g.home: g for reading in readings for g in reading.given if g.key == name}
        for given in last.values():
            try:
                release = protocol(given.value).release
            except BadVersionError:
                continue  # reported when the setting itself is read
            reason = f"{name}={given.value.strip()} at {given.place} needs at least that release"
            return Stated(release, reason, assumed=True)
    return None


def _possible_version(readings: Sequence[Reading]) -> Stated[Version]:
    """The newest release that has all given settings and the controller shown."""
    newest, reason = NEWEST, f"{_unnamed(readings)}; the newest known is assumed"
    controllers = facts_about(readings, About.CONTROLLER)
    last_one = known("zookeeper.connect").last
    if last_one is not None and controllers and all(fact.value == "zookeeper" for fact in controllers):
        fact, newest = controllers[0], last_one
        reason = (
            f"{_unnamed(readings)}; {last_one} is assumed, the newest with ZooKeeper "
            f"({fact.words} at {fact.place})"
        )
    for given in (g for reading in readings for g in reading.given):
        key = find(given.key)
        last = NAME_LIFETIMES.get(given.key, (OLDEST, key.last if key else None))[1]
        if last is not None and last < newest and not _has_roles(readings):
            newest = last
            reason = f"{_unnamed(readings)}; {last} is assumed, the newest with `{given.key}` ({given.place})"
    return Stated(newest, reason, assumed=True)


def _unnamed(readings: Sequence[Reading]) -> str:
    """That no file names the release, or the place that could and does not."""
    for fact in facts_about(readings, About.NO_VERSION):
        return f"{fact.words} at {fact.place} names no release of Kafka"
    return "no file names the release of Kafka"


def _has_roles(readings: Sequence[Reading]) -> bool:
    """Whether some file sets `process.roles`, as KRaft requires."""
    return any(g.key == "process.roles" for reading in readings for g in reading.given)


def contradiction(fact: Fact, reviewed: str, other: Fact, findings: ResolutionDiagnostics) -> None:
    """Add a warning that two places contradict each other; the first is used."""
    message = f"the files do not agree on the {fact.about}; it is reviewed as {reviewed}"
    note = Note(other.source, other.span, f"here it is {other.value} ({other.words})")
    findings.warnings.append(Diagnostic("R0736", fact.source, fact.span, message, notes=(note,)))


# --- the topic


def topics_in(readings: Iterable[Reading]) -> tuple[Topic, ...]:
    """The topics in the files, each once with its descriptions merged; without Kafka's own."""
    every = topics_in_all(readings)
    return tuple(topic for topic in every if not topic.name.startswith("__")) or every


def _merged(one: Topic, other: Topic) -> Topic:
    """Two descriptions merged; in one place the last replicas count, else the fewest."""
    if _is_of_one_place(one, other):
        takes_other = _says_replicas(other)
    elif one.replication_factor is None or other.replication_factor is None:
        takes_other = not _says_replicas(one)
    else:
        takes_other = other.replication_factor < one.replication_factor
    whole, rest = (other, one) if takes_other else (one, other)
    return replace(whole, partitions=whole.partitions or rest.partitions)


def _is_of_one_place(one: Topic, other: Topic) -> bool:
    """Whether two descriptions are in one part of one file, so that they are of one topic."""
    return one.source == other.source and one.part == other.part and not is_template(one.name)


def _says_replicas(topic: Topic) -> bool:
    """Whether a description has the number of replicas, or leaves it to the brokers."""
    return topic.replication_factor is not None or topic.left_at is not None


def chosen_topic(
    readings: Sequence[Reading], asked: str | None, findings: ResolutionDiagnostics
) -> Topic | None:
    """The topic to review: the one asked for, or the only one; None if no file names one.

    Several topics without a choice are a mistake (R0721), as is one that no file names (R0722).
    """
    topics = topics_in(readings)
    names = [topic.name for topic in topics]
    if asked is not None:
        found = next((t for t in topics_in_all(readings) if t.name == asked), None)
        if found is None:
            source = Source("--topic", asked)
            advice = suggest(asked, names) or (f"there are: {_list(names)}" if names else "")
            message = f"no file names a topic `{asked}`"
            findings.errors.append(Diagnostic("R0722", source, Span(0, len(asked)), message, help=advice))
        return _agreed(found, readings, findings)
    if len(topics) > 1:
        at = topics[1]
        message = f"there are {len(topics)} topics, and a review is of one"
        advice = f"choose one with --topic, or --all-topics: {_list(names)}"
        findings.errors.append(Diagnostic("R0721", at.source, at.span, message, help=advice))
    return _agreed(topics[0] if topics else None, readings, findings)


def _agreed(
    topic: Topic | None, readings: Iterable[Reading], findings: ResolutionDiagnostics
) -> Topic | None:
    """The topic, with a warning if places differ in its replicas."""
    if topic is None:
        return None
    same = [one for reading in readings for one in reading.topics if one.name == topic.name]
    if is_template(topic.name):
        return topic  # of each turn of a loop, or each value of a variable
    other = next((one for one in same if _says_replicas(one) and _replicas(one) != _replicas(topic)), None)
    if other is None:
        return topic
    if _is_of_one_place(topic, other):
        code = "R0714"
        message = (
            f"topic {topic.name} is described twice, and the last number of its replicas counts: "
            f"{_replicas(topic)}"
        )
    else:
        code = "R0736"
        message = (
            f"the files do not agree on the replicas of topic {topic.name}; "
            f"it is reviewed with {_replicas(topic)}"
        )
    note = Note(other.source, other.span, f"here it is {_replicas(other)}")
    findings.warnings.append(Diagnostic(code, topic.source, topic.span, message, notes=(note,)))
    return topic


def _replicas(topic: Topic) -> str:
    """The replicas of a topic in words."""
    return "the brokers' default" if topic.left_at is not None else str(topic.replication_factor)


def topics_in_all(readings: Iterable[Reading]) -> tuple[Topic, ...]:
    """The topics in the files, including Kafka's own."""
    merged: dict[str, Topic] = {}
    for topic in (t for reading in readings for t in reading.topics):
        other = merged.get(topic.name)
        merged[topic.name] = topic if other is None else _merged(other, topic)
    return tuple(merged.values())


def _list(names: Sequence[str]) -> str:
    """Names as a list in a sentence."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


# --- the brokers


def stated_brokers(
    readings: Sequence[Reading], asked: int | None, factor: int, findings: ResolutionDiagnostics
) -> Stated[int]:
    """The number of brokers: as asked, as the files show, else 3 or the number of replicas."""
    if asked is not None:
        if asked < 1:
            source = Source("--brokers", str(asked))
            span = Span(0, len(source.text))
            findings.errors.append(Diagnostic("R0726", source, span, "a cluster has at least one broker"))
        return Stated(max(asked, 1), "as asked for")
    stated = _brokers_of_facts(readings, findings)
    if stated is not None:
        return stated
    shown = _brokers_of_ids(readings) or _brokers_of_topics(readings) or _brokers_of_voters(readings)
    if shown is None:
        return Stated(max(3, factor), "no file has the number; assumed", assumed=True)
    if shown.value < factor:
        return Stated(factor, f"the topic needs as many; {shown.reason}", assumed=True)
    return shown


def facts_about(readings: Iterable[Reading], about: About) -> tuple[Fact, ...]:
    """The facts on one subject, in the order of the files."""
    return tuple(f for reading in readings for f in reading.facts if f.about is about)


def _brokers_of_facts(readings: Sequence[Reading], findings: ResolutionDiagnostics) -> Stated[int] | None:
    """The number of brokers in the first file that counts them; None if none does."""
    counted = [facts for reading in readings if (facts := facts_about([reading], About.BROKERS))]
    totals = [(sum(int(fact.value) for fact in facts), facts) for facts in counted]
    known = [(total, facts) for total, facts in totals if total]
    if not known:
        return None
    total, facts = known[0]
    for other, theirs in known[1:]:
        if other != total:
            contradiction(facts[0], str(total), theirs[0], findings)
            break
    shown = facts if len(facts) <= _COUNTED else facts[:_COUNTED]
    more = f" and {len(facts) - _COUNTED} more" if len(facts) > _COUNTED else ""
    return Stated(total, " and ".join(f"{fact.words} at {fact.place}" for fact in shown) + more)


def _brokers_of_ids(readings: Sequence[Reading]) -> Stated[int] | None:
    """The number of brokers whose own files are given, by their ids; None if fewer than two."""
    known = known_brokers(readings)
    return Stated(len(known), "files of brokers with as many ids") if len(known) > 1 else None


def _brokers_of_topics(readings: Sequence[Reading]) -> Stated[int] | None:
    """The number of brokers in topics' assignments; None if there are none."""
    ids = {node for reading in readings for node in reading.brokers.assigned}
    if not ids:
        return None
    return Stated(len(ids), "the brokers that kafka-topics shows with replicas; there may be more")


def _brokers_of_voters(readings: Sequence[Reading]) -> Stated[int] | None:
    """The number of voters, if each is also a broker; else None."""
    given = {g.key: g for reading in readings for g in reading.given if g.layer is SettingLayer.BROKER_STATIC}
    voters, roles = given.get("controller.quorum.voters"), given.get("process.roles")
    combined = roles is not None and {"broker", "controller"} <= set(_parts(roles))
    if voters is None or not combined or len(_parts(voters)) < 2:
        return None
    reason = f"the voters at {voters.place}, each a broker as well"
    return Stated(len(_parts(voters)), reason, assumed=True)


def _parts(given: Given) -> list[str]:
    """The comma-separated parts of a value."""
    return [part.strip() for part in given.value.split(",") if part.strip()]
