"""Logs in which brokers and clients print their configuration: `KafkaConfig values:` and the like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from modelcheck.kafka.settings.readers.gathered import Gathered
from modelcheck.kafka.settings.readings import About, Fact, FileKind, Given, Reading, SettingLayer
from spec.frozen import frozen
from spec.source import Source, Span

_LAYERS = {
    "KafkaConfig": SettingLayer.BROKER_STATIC,
    "ProducerConfig": SettingLayer.PRODUCER,
    "ConsumerConfig": SettingLayer.CONSUMER,
}
_HEAD = re.compile(r"\b(?P<class>[A-Z]\w*Config) values:[ \t]*\r?$", re.MULTILINE)
_ENTRY = re.compile(
    r"^(?P<before>[^\n=]*?(?:\t|[ ]{1,8}))?(?P<key>[a-z][\w.-]*) = ?(?P<value>[^\r\n]*)", re.MULTILINE
)
_NEXT = re.compile(r"[^\n]*(?:\n|$)")
_VERSION = re.compile(r"Kafka version[ :=]+v?(\d+\.\d+(?:\.\d+)*)")


@frozen
class _Block:
    """The lines of one configuration that a process printed, which end at `end`."""

    name: str
    entries: tuple[re.Match[str], ...]
    end: int

    @property
    def values(self) -> dict[str, str | None]:
        """The values by their keys."""
        return {entry["key"]: _plain(entry["value"]) for entry in self.entries}


def is_log(text: str) -> bool:
    """Whether a log contains a printed configuration."""
    return " values:" in text and any(found["class"] for found in _HEAD.finditer(text))


def read_log(source: Source) -> Reading:
    """The settings of brokers, producers and consumers printed in a log.

    A release is a broker's where a broker prints its configuration too, else a client's, which
    shows nothing about the cluster.  That of a broker's last start counts, as its settings do.
    """
    gathered = Gathered(source, FileKind.LOG, passed=[Span(0, len(source.text))])
    starts: dict[str, int] = {}  # where each broker ends to print its configuration for the last time
    for block in _blocks(source.text):
        layer = _LAYERS.get(block.name)
        if layer is not None:
            gathered.given += _settings(source, block, layer)
        if layer is SettingLayer.BROKER_STATIC:
            starts[_entity(block, layer)] = block.end
    releases = {found.start(): found for found in _VERSION.finditer(source.text)}
    words = "the version that a broker prints"
    of_starts = {_of_start(releases, end) for end in starts.values()} if releases else set()
    for release in (releases[at] for at in sorted(of_starts)):
        gathered.facts.append(Fact(About.VERSION, release[1], source, Span(*release.span(1)), words))
    if releases and not starts:
        first = releases[min(releases)][1]
        gathered.notes.append(f"Kafka {first} is the client's release; that of the brokers is not known")
    return gathered.reading()


def _of_start(releases: Iterable[int], end: int) -> int:
    """The place of the release that a process prints behind its configuration, else the last one before."""
    return min((at for at in releases if at >= end), default=max(releases))


def _entity(block: _Block, layer: SettingLayer) -> str:
    """The id of the broker, or of the client, that printed a configuration."""
    values = block.values
    own = values.get("node.id") or values.get("broker.id") if layer is SettingLayer.BROKER_STATIC else None
    return own or values.get("client.id") or ""


def _blocks(text: str) -> Iterator[_Block]:
    """The printed configurations in a log."""
    for head in _HEAD.finditer(text):
        at = head.end() + 1
        found: list[re.Match[str]] = []
        while (entry := _ENTRY.match(text, at)) is not None:
            found.append(entry)
            at = entry.end() + 1 if not text.startswith("\r", entry.end()) else entry.end() + 2
        yield _Block(head["class"], tuple(found), at)


def _settings(source: Source, block: _Block, layer: SettingLayer) -> Iterator[Given]:
    """The settings of one printed configuration, without those that have no value.

    A producer that was given acks of its own prints the default of `enable.idempotence` with it
    and then switches it off.
    """
    values = block.values
    entity = _entity(block, layer)
    off = values.get("acks") not in (None, "-1", "all")
    for entry in block.entries:
        value = values[entry["key"]]
        if value is None or (off and entry["key"] == "enable.idempotence" and value == "true"):
            continue
        key, at = Span(*entry.span("key")), Span(*entry.span("value"))
        yield Given(entry["key"], value, layer, source, key, at, entity)


def _plain(text: str) -> str | None:
    """A printed value as .properties spell it; None for `null`, `[]` and empty."""
    value = text.strip()
    if value.startswith("[") and value.endswith("]"):
        value = ",".join(part.strip() for part in value[1:-1].split(","))
    return None if value in ("", "null") else value
