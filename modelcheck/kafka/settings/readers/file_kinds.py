"""The kinds of properties files, by their keys, and the layer of the settings in each."""

from __future__ import annotations

from collections.abc import Iterable

from modelcheck.kafka.settings.keys.catalogue import find, meant
from modelcheck.kafka.settings.keys.irrelevant import (
    BROKER_ONLY,
    CONNECT,
    CONSUMER_ONLY,
    IRRELEVANT,
    LOGGING_PREFIXES,
    PRODUCER_ONLY,
    TOPIC_ONLY,
    ZOOKEEPER,
)
from modelcheck.kafka.settings.keys.key import Reader
from modelcheck.kafka.settings.readers.formats.properties import Entry
from modelcheck.kafka.settings.readings import FileKind, SettingLayer
from spec.diagnostics import Diagnostic
from spec.source import Source, Span

LAYER_OF = {
    Reader.PRODUCER: SettingLayer.PRODUCER,
    Reader.TOPIC: SettingLayer.TOPIC,
    Reader.BROKER: SettingLayer.BROKER_STATIC,
    Reader.CONSUMER: SettingLayer.CONSUMER,
}
READER_OF = {
    FileKind.BROKER: Reader.BROKER,
    FileKind.PRODUCER: Reader.PRODUCER,
    FileKind.CONSUMER: Reader.CONSUMER,
    FileKind.TOPIC: Reader.TOPIC,
}
_ONLY = {
    FileKind.BROKER: BROKER_ONLY,
    FileKind.PRODUCER: PRODUCER_ONLY,
    FileKind.CONSUMER: CONSUMER_ONLY,
    FileKind.TOPIC: TOPIC_ONLY,
    FileKind.CONNECT: CONNECT,
    FileKind.ZOOKEEPER: ZOOKEEPER,
}
_ASKED = 200  # keys of a file that are looked at for slips, before it is taken for something else


def is_between_brokers_and_topics(reader: Reader, owners: Iterable[Reader]) -> bool:
    """Whether a broker has a topic's setting, or a topic a broker's: there it does not count."""
    return {reader, *owners} <= {Reader.BROKER, Reader.TOPIC}


def misplaced(
    source: Source, at: Span, key: str, owner: Reader, why: str, *, is_taken: bool = True
) -> Diagnostic:
    """The warning (R0723) that a setting is in a file whose reader does not use it."""
    label = f"taken as the {owner}'s" if is_taken else "no effect here"
    advice = f"move it to the {owner}'s configuration, and check what the {owner}s really use"
    return Diagnostic("R0723", source, at, f"`{key}` is a {owner} setting; {why}", label, advice)


def kind_of(source: Source, entries: tuple[Entry, ...]) -> FileKind | None:
    """The kind of properties file that most keys belong to; shared keys count last.

    None where no key is one of Kafka's, nor a slip for one.
    """
    names = {entry.key for entry in entries}
    if any(name.startswith(LOGGING_PREFIXES[:4]) for name in names):
        return None
    votes = {kind: len(names & only) for kind, only in _ONLY.items()}
    for name in names:
        key = find(name)
        readers = key.readers_of(name) if key else ()
        if len(readers) == 1:
            votes[next(kind for kind, reader in READER_OF.items() if reader is readers[0])] += 1
    best = max(votes, key=lambda kind: votes[kind])
    if votes[best]:
        return best
    shared = {Reader.TOPIC, Reader.BROKER} if any(find(name) for name in names) else set()
    if shared:
        return FileKind.TOPIC if "topic" in source.name.lower() else FileKind.BROKER
    if names & IRRELEVANT:
        return FileKind.PRODUCER if "bootstrap.servers" in names else FileKind.BROKER
    slips = (find(meant(name)) for name in sorted(names)[:_ASKED])
    key = next((key for key in slips if key), None)
    return (
        None
        if key is None
        else next(kind for kind, reader in READER_OF.items() if reader in key.readers[-1:])
    )
