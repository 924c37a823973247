"""The client that produces: what it takes for acks where it is not given.

Kafka's own client follows its release, which may differ from the cluster's.  The defaults of other libraries,
and of products that set their own, are data (`products.toml`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from modelcheck.kafka.settings.keys.products import PRODUCTS, WritingProduct, numbers, product
from modelcheck.kafka.settings.keys.versions import BadVersionError, Version, is_newer_than_known, version
from modelcheck.kafka.settings.provenance import ResolutionDiagnostics, Stated
from modelcheck.kafka.settings.readings import About, Reading, SettingLayer
from modelcheck.kafka.settings.resolution.cluster import facts_about
from spec.diagnostics import Diagnostic, suggest
from spec.frozen import frozen
from spec.source import Source, Span

JAVA = "kafka-clients"
_OWN_NUMBERS = ("librdkafka",)  # whose other names have versions of their own
_NAMED = re.compile(r"([A-Za-z][\w-]*?)[ :=@/-]?v?(\d+(?:\.\d+)*)?")
# Names that only librdkafka reads.
_OF_LIBRDKAFKA = frozenset({"queue.buffering.max.kbytes", "statistics.interval.ms", "broker.address.family"})


@frozen
class Client:
    """A client library, with the release of Kafka's own; `defaults` are another product's, by key."""

    library: str
    release: Version | None = None
    defaults: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_another(self) -> bool:
        """Whether it is not Kafka's own client with Kafka's defaults."""
        return bool(self.defaults)

    def __str__(self) -> str:
        return f"Kafka {self.release}" if self.library == JAVA else self.library


def stated_client(
    readings: Sequence[Reading],
    asked: str | None,
    cluster: Version,
    findings: ResolutionDiagnostics,
) -> Stated[Client]:
    """The client: as asked for, else as a file shows, else of the cluster's release."""
    if asked is not None:
        return Stated(_named(asked, cluster, findings) or Client(JAVA, cluster), "as asked for")
    for fact in facts_about(readings, About.CLIENT):
        found = product(fact.value)
        if found is not None:
            made = _made(found, None, cluster)
            return Stated(made, f"{fact.words} at {fact.place}, which {found.title} reads")
    for one in (one for reading in readings for one in reading.given if one.layer is SettingLayer.PRODUCER):
        if one.key in _OF_LIBRDKAFKA:
            return Stated(
                _library("librdkafka", None, cluster),
                f"{one.key} at {one.place}, which only librdkafka reads",
            )
    reason = f"no file names the producer's client; Kafka's own of release {cluster} is assumed"
    return Stated(Client(JAVA, cluster), reason, assumed=True)


def _named(text: str, cluster: Version, findings: ResolutionDiagnostics) -> Client | None:
    """The client with a name; None, with an error, if there is none."""
    source, span = Source("--client", text), Span(0, len(text))
    try:
        return _parsed(text.strip(), cluster)
    except BadVersionError as error:
        findings.errors.append(Diagnostic("R0710", source, span, error.message, help=error.advice))
        return None


def _parsed(text: str, cluster: Version) -> Client:
    """The client in `3.6.1`, `kafka-clients 3.6.1`, `librdkafka 1.9` or `sarama`. Raises BadVersionError."""
    found = _NAMED.fullmatch(text)
    name, number = (found[1].lower(), found[2]) if found else (JAVA, text)
    if product(name) is not None:
        return _library(name, number, cluster)
    if name not in {JAVA, "kafka", "java"}:
        names = [each.name for each in PRODUCTS]
        near = suggest(name, {*names, JAVA})
        raise BadVersionError(
            f"no client `{text}` is known here",
            near or f"write a release such as 2.8, or {', '.join(names)}",
        )
    if number is None:
        raise BadVersionError(f"which release of `{text}`?", f"write it too: `{JAVA} 3.6`")
    release = version(number)
    if is_newer_than_known(release):
        raise BadVersionError(f"the client of Kafka {release} is newer than all that is known here", "")
    return Client(JAVA, release)


def _library(name: str, number: str | None, cluster: Version) -> Client:
    """The client of a library and version."""
    found = product(name)
    assert found is not None
    if name != found.name and found.name in _OWN_NUMBERS:
        number = None
    return _made(found, number, cluster)


def _made(found: WritingProduct, number: str | None, cluster: Version) -> Client:
    """The client that a product of a release is, by default of the cluster's if these are Kafka's own."""
    release = numbers(number) if number is not None else cluster.numbers if found.of_kafka else None
    own = {key: found.default(key, release) for key in found.defaults}
    known = {key: value for key, value in own.items() if value is not None}
    return Client(f"{found.name} {number}" if number else found.name, None, known)
