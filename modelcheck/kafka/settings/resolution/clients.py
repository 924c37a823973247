"""The client that produces: what it takes for acks where it is not given.

Kafka's own client follows its release, which may differ from the cluster's.  The defaults of others are
those of librdkafka (CONFIGURATION.md; all since its 1.0), Sarama (`NewConfig`), franz-go
(`kgo.RequiredAcks`), kafka-go (`Writer.RequiredAcks` of a literal), KafkaJS (`acks` of `send`), and
kafka-python (`KafkaProducer`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from modelcheck.kafka.settings.keys.versions import BadVersionError, Version, is_newer_than_known, version
from modelcheck.kafka.settings.provenance import ResolutionDiagnostics, Stated
from modelcheck.kafka.settings.readings import Reading, SettingLayer
from spec.diagnostics import Diagnostic, suggest
from spec.frozen import frozen
from spec.source import Source, Span

JAVA = "kafka-clients"
_LIBRARIES = {  # by name, with acks by default
    "librdkafka": "all",
    "sarama": "1",
    "franz-go": "all",
    "kafka-go": "0",
    "kafkajs": "all",
    "kafka-python": "1",
}
_BEFORE_1 = {"librdkafka": "1"}
_ON_LIBRDKAFKA = (
    "confluent-kafka",
    "confluent-kafka-python",
    "confluent-kafka-go",
    "rdkafka",
    "rust-rdkafka",
)
_NAMED = re.compile(r"([A-Za-z][\w-]*?)[ :=@/-]?v?(\d+(?:\.\d+)*)?")
# Names that only librdkafka reads.
_OF_LIBRDKAFKA = frozenset({"queue.buffering.max.kbytes", "statistics.interval.ms", "broker.address.family"})


@frozen
class Client:
    """A client library, with the release of Kafka's own; `acks` is another library's default."""

    library: str
    release: Version | None = None
    acks: str | None = None

    def __str__(self) -> str:
        return f"Kafka {self.release}" if self.library == JAVA else self.library


def stated_client(
    readings: Sequence[Reading],
    asked: str | None,
    cluster: Version,
    findings: ResolutionDiagnostics,
) -> Stated[Client]:
    """The client: as asked for, else as a producer's file shows, else of the cluster's release."""
    if asked is not None:
        return Stated(_named(asked, findings) or Client(JAVA, cluster), "as asked for")
    for one in (one for reading in readings for one in reading.given if one.layer is SettingLayer.PRODUCER):
        if one.key in _OF_LIBRDKAFKA:
            return Stated(
                _library("librdkafka", None), f"{one.key} at {one.place}, which only librdkafka reads"
            )
    reason = f"no file names the producer's client; Kafka's own of release {cluster} is assumed"
    return Stated(Client(JAVA, cluster), reason, assumed=True)


def _named(text: str, findings: ResolutionDiagnostics) -> Client | None:
    """The client with a name; None, with an error, if there is none."""
    source, span = Source("--client", text), Span(0, len(text))
    try:
        return _parsed(text.strip())
    except BadVersionError as error:
        findings.errors.append(Diagnostic("R0710", source, span, error.message, help=error.advice))
        return None


def _parsed(text: str) -> Client:
    """The client in `3.6.1`, `kafka-clients 3.6.1`, `librdkafka 1.9` or `sarama`. Raises BadVersionError."""
    found = _NAMED.fullmatch(text)
    name, number = (found[1].lower(), found[2]) if found else (JAVA, text)
    if name in _ON_LIBRDKAFKA:
        name, number = "librdkafka", None  # whose own numbers these are
    if name in _LIBRARIES:
        return _library(name, number)
    if name not in {JAVA, "kafka", "java"}:
        near = suggest(name, {*_LIBRARIES, JAVA})
        known = ", ".join(_LIBRARIES)
        raise BadVersionError(
            f"no client `{text}` is known here", near or f"write a release such as 2.8, or {known}"
        )
    if number is None:
        raise BadVersionError(f"which release of `{text}`?", f"write it too: `{JAVA} 3.6`")
    release = version(number)
    if is_newer_than_known(release):
        raise BadVersionError(f"the client of Kafka {release} is newer than all that is known here", "")
    return Client(JAVA, release)


def _library(name: str, number: str | None) -> Client:
    """The client of a library and version."""
    is_old = number is not None and int(number.split(".")[0]) < 1
    acks = _BEFORE_1.get(name, _LIBRARIES[name]) if is_old else _LIBRARIES[name]
    return Client(f"{name} {number}" if number else name, None, acks)
