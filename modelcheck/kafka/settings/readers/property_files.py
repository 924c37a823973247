"""A .properties text as settings: the kind of the file, and the layer of each setting."""

from __future__ import annotations

from modelcheck.kafka.settings.keys.catalogue import find, is_irrelevant
from modelcheck.kafka.settings.keys.irrelevant import LOGGING_PREFIXES, PRODUCER_TOO
from modelcheck.kafka.settings.readers.clients import client_setting
from modelcheck.kafka.settings.readers.deployments.spring import read_spring, spring_documents
from modelcheck.kafka.settings.readers.file_kinds import (
    LAYER_OF,
    READER_OF,
    is_between_brokers_and_topics,
    kind_of,
    misplaced,
)
from modelcheck.kafka.settings.readers.formats.properties import Entry, read_properties
from modelcheck.kafka.settings.readers.formats.tree import ScalarNode
from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import About, Fact, FileKind, Given, Reading
from spec.diagnostics import Diagnostic, SpecError
from spec.source import Source

_LOOKED_AT = 20_000  # characters that show whether a text is code
_OPEN = frozenset(";{([")  # how lines of a program end
_CLOSED = "})];,"  # and what some of its lines consist of
_OF_CLIENTS = (None, FileKind.PRODUCER, FileKind.CONSUMER)


def read_settings(source: Source, *, bom: bool = False) -> Reading:
    """The settings of a .properties text. Raises SpecError if it is none of Kafka's (R0706).

    `bom` is whether the file began with a byte order mark.
    """
    if (documents := spring_documents(source)) is not None:
        gathered = Gathered(source, FileKind.SPRING)
        read_spring(gathered, documents)
        return gathered.reading()
    if is_code(source):
        raise SpecError([_unknown(source, ())])
    found = read_properties(source)
    kind = kind_of(source, found.entries)
    if kind in _OF_CLIENTS and any(map(_is_of_a_client, found.entries)):
        return _application(source, kind, found.entries)
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


def is_code(source: Source) -> bool:
    """Whether a text is a program or a language with braces, by the ends of its lines."""
    lines = [line.strip() for line in source.text[:_LOOKED_AT].splitlines()]
    said = [line for line in lines if line and line[0] not in "#!/"]
    ended = [
        line[-1] in _OPEN or not line.strip(_CLOSED) or (line[-1] == "," and "=" not in line) for line in said
    ]
    return sum(ended) * 3 >= len(said) > 0


def _given(source: Source, kind: FileKind, entry: Entry, warnings: list[Diagnostic]) -> Given:
    """The setting at the layer of its file; a warning if the file's reader ignores it.

    Of topics and brokers each has its own: what the other has does not count (R0723, in the resolution).
    """
    reader = READER_OF[kind]
    key = find(entry.key)
    readers = key.readers_of(entry.key) if key else ()
    too = kind is FileKind.PRODUCER and entry.key in PRODUCER_TOO
    of_cluster = is_between_brokers_and_topics(reader, readers)
    if readers and reader not in readers and kind is not FileKind.CONSUMER and not too and not of_cluster:
        reader = readers[-1]
        why = f"in {kind} Kafka does not read it"
        warnings.append(misplaced(source, entry.key_span, entry.key, reader, why))
    return Given(entry.key, entry.value, LAYER_OF[reader], source, entry.key_span, entry.value_span)


def _connect(source: Source, entries: tuple[Entry, ...]) -> Reading:
    """The settings of clients in the configuration of a Connect worker or a connector."""
    gathered = Gathered(source, FileKind.CONNECT)
    _clients(gathered, entries)
    gathered.facts += (_worker(source, entry) for entry in entries[:1])
    gathered.notes.append("this configures Kafka Connect; of it only its clients' settings are used")
    return gathered.reading()


def _worker(source: Source, first: Entry) -> Fact:
    """The fact that the producer is that of a worker of Connect, which has defaults of its own."""
    return Fact(About.CLIENT, "kafka-connect", source, first.key_span, "a worker's configuration")


def _application(source: Source, kind: FileKind | None, entries: tuple[Entry, ...]) -> Reading:
    """The settings of clients in an application's configuration, each after a prefix or without one."""
    gathered = Gathered(source, FileKind.APPLICATION)
    _clients(gathered, entries)
    if kind is not None:
        known = (one for one in entries if find(one.key) is not None or is_irrelevant(one.key))
        gathered.given += (_given(source, kind, one, gathered.warnings) for one in known)
    return gathered.reading()


def _is_of_a_client(entry: Entry) -> bool:
    """Whether an entry sets a client's key behind a prefix."""
    return find(entry.key) is None and client_setting(entry.key.strip('"')) is not None


def _clients(gathered: Gathered, entries: tuple[Entry, ...]) -> None:
    """Add what entries set of clients, without keys that are Kafka's own already."""
    for entry in filter(_is_of_a_client, entries):
        key = ScalarNode(entry.key, entry.key_span)
        gathered.client(key, ScalarNode(entry.value.strip(), entry.value_span), entry.key.strip('"'))


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
    elif is_code(source):
        message = "this is a program, or a form with braces that is not read"
    else:
        message = "nothing in this file is a setting of Kafka"
    advice = (
        "give server, topic or producer properties, what kafka-configs or kafka-topics --describe print, "
        "or one of the other forms that `modelcheck kafka review --help` lists"
    )
    return Diagnostic("R0706", source, None, message, help=advice)
