"""A .properties text as settings: the kind of the file, and the layer of each setting."""

from __future__ import annotations

from modelcheck.kafka.settings.keys.catalogue import find
from modelcheck.kafka.settings.keys.irrelevant import LOGGING_PREFIXES, PRODUCER_TOO
from modelcheck.kafka.settings.readers.deployments.spring import (
    BINDER,
    binder,
    client_setting,
    is_spring_properties,
)
from modelcheck.kafka.settings.readers.file_kinds import LAYER_OF, READER_OF, kind_of, misplaced
from modelcheck.kafka.settings.readers.formats.properties import Entry, read_properties
from modelcheck.kafka.settings.readings import About, Fact, FileKind, Given, Reading, SettingLayer
from spec.diagnostics import Diagnostic, SpecError
from spec.source import Source, Span


def read_settings(source: Source, *, bom: bool = False) -> Reading:
    """The settings of a .properties text. Raises SpecError if it is none of Kafka's (R0706).

    `bom` is whether the file began with a byte order mark.
    """
    found = read_properties(source)
    if is_spring_properties([entry.key for entry in found.entries]):
        return _spring(source, found.entries)
    kind = kind_of(source, found.entries)
    if kind is None:
        raise SpecError([_unknown(source, found.entries)])
    warnings = [_byte_order_mark(source, found.entries[0])] if bom and found.entries else []
    if kind is FileKind.ZOOKEEPER:
        note = "this configures ZooKeeper itself, not Kafka; passed over"
        return Reading(source, kind, notes=(note,))
    if kind is FileKind.CONNECT:
        return _connect(source, found.entries)
    given = tuple(_given(source, kind, entry, warnings) for entry in found.entries)
    return Reading(source, kind, given, problems=found.problems, warnings=tuple(warnings))


def _given(source: Source, kind: FileKind, entry: Entry, warnings: list[Diagnostic]) -> Given:
    """The setting at the layer of its file; a warning if the file's reader ignores it."""
    reader = READER_OF[kind]
    key = find(entry.key)
    readers = key.readers_of(entry.key) if key else ()
    too = kind is FileKind.PRODUCER and entry.key in PRODUCER_TOO
    if readers and reader not in readers and kind is not FileKind.CONSUMER and not too:
        reader = readers[-1]
        why = f"in {kind} Kafka does not read it"
        warnings.append(misplaced(source, entry.key_span, entry.key, reader, why))
    return Given(entry.key, entry.value, LAYER_OF[reader], source, entry.key_span, entry.value_span)


def _connect(source: Source, entries: tuple[Entry, ...]) -> Reading:
    """The producer settings of a Connect worker's configuration."""
    prefixes = ("producer.override.", "producer.")
    given, passed = [], []
    for entry in entries:
        prefix = next((p for p in prefixes if entry.key.startswith(p)), "")
        if prefix:
            passed.append(entry.key_span)
            span = Span(entry.key_span.start + len(prefix), entry.key_span.end)
            name = entry.key.removeprefix(prefix)
            given.append(Given(name, entry.value, SettingLayer.PRODUCER, source, span, entry.value_span))
    note = "this configures Kafka Connect; of it only its producers' settings are used"
    facts = tuple(_worker(source, entry) for entry in entries[:1])
    return Reading(source, FileKind.CONNECT, tuple(given), facts=facts, notes=(note,), passed=tuple(passed))


def _worker(source: Source, first: Entry) -> Fact:
    """The fact that the producer is that of a worker of Connect, which has defaults of its own."""
    return Fact(About.CLIENT, "kafka-connect", source, first.key_span, "a worker's configuration")


def _spring(source: Source, entries: tuple[Entry, ...]) -> Reading:
    """The client settings of a Spring application's configuration."""
    given = [
        Given(client[1], entry.value.strip(), client[0], source, entry.key_span, entry.value_span)
        for entry in entries
        if (client := client_setting(entry.key)) is not None
    ]
    facts = [binder(source, entry.key_span, entry.key) for entry in entries if entry.key.startswith(BINDER)]
    return Reading(source, FileKind.SPRING, tuple(given), facts=tuple(facts))


def _byte_order_mark(source: Source, first: Entry) -> Diagnostic:
    """The warning that a byte order mark changes the first key."""
    return Diagnostic(
        "R0725",
        source,
        first.key_span,
        f"the file begins with a byte order mark, so Kafka does not see `{first.key}`",
        help="save the file as UTF-8 without a byte order mark; the review reads the key as it was meant",
    )


def _unknown(source: Source, entries: tuple[Entry, ...]) -> Diagnostic:
    """The error that a text has no known key of Kafka."""
    names = [entry.key for entry in entries]
    if any(name.startswith(LOGGING_PREFIXES[:4]) for name in names):
        message = "this configures logging, not Kafka"
    elif source.text.lstrip().startswith(("{", "[", "<")):
        message = "this is JSON or XML, which no configuration of Kafka is"
    else:
        message = "nothing in this file is a setting of Kafka"
    advice = (
        "give server, topic or producer properties, what kafka-configs or kafka-topics --describe print, "
        "or one of the other forms that `modelcheck kafka review --help` lists"
    )
    return Diagnostic("R0706", source, None, message, help=advice)
