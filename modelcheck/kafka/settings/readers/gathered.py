"""What a reader gathers on its way through a text, and the ways in which all readers add to it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from modelcheck.kafka.settings.keys.catalogue import FACTOR
from modelcheck.kafka.settings.provenance import FILLED_IN
from modelcheck.kafka.settings.readers.clients import acks_named, client_setting
from modelcheck.kafka.settings.readers.formats.properties import read_properties
from modelcheck.kafka.settings.readers.formats.tree import (
    NOTHING,
    MappingNode,
    Node,
    ScalarNode,
    entries,
    repeated,
    text_of,
)
from modelcheck.kafka.settings.readings import (
    About,
    Fact,
    FileKind,
    Given,
    Missing,
    Reading,
    SettingLayer,
    Topic,
    is_template,
)
from spec.diagnostics import Diagnostic, Note
from spec.source import Source, Span

_LEFT = "-1"  # of a topic that takes what is the brokers' default
_OPTIONS = {About.VERSION: "--kafka VERSION", About.BROKERS: "--brokers N"}  # what says it instead
PAIR = re.compile(r"(?:^|,)[ \t]*([\w.-]+)=([^=]*?)(?=,[ \t]*[\w.-]+=|$)")
_BLANK = re.compile(r"[^\r\n]")


@dataclass(slots=True)
class Gathered:
    """Collects the settings, topics and facts of one file; `reading` returns them.

    `passed` are stretches that were read, or that are known to have nothing about
    replication: they are not searched again.  `part` is of what is added from now on,
    `variables` what other files set, by which this one is filled in.
    """

    source: Source
    kind: FileKind
    given: list[Given] = field(default_factory=list)
    topics: list[Topic] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
    passed: list[Span] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    part: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)

    def reading(self) -> Reading:
        """Everything collected."""
        return Reading(
            self.source,
            self.kind,
            tuple(self.given),
            tuple(self.topics),
            tuple(self.facts),
            tuple(dict.fromkeys(self.notes)),
            tuple(self.problems),
            tuple(self.warnings),
            tuple(self.passed),
            tuple(self.missing),
        )

    def add(
        self,
        key: str,
        value: str,
        layer: SettingLayer,
        at: tuple[Span, Span],
        entity: str = "",
        command: Span | None = None,
    ) -> None:
        """Add a setting, with the places of its key, its value and the command that makes it."""
        self.given.append(Given(key, value, layer, self.source, *at, entity, self.part, command))

    def settings(
        self, node: Node | None, layer: SettingLayer, entity: str = "", what: str = "config"
    ) -> None:
        """Add the settings of a mapping from keys to scalars."""
        if node is None or (isinstance(node, ScalarNode) and node.text in NOTHING):
            return
        if not isinstance(node, MappingNode):
            self.wrong(node, f"`{what}` must be a mapping of keys to values")
        for key, value in entries(node):
            self.setting(key, value, layer, entity)

    def setting(
        self, key: ScalarNode, value: Node, layer: SettingLayer, entity: str = "", name: str = ""
    ) -> None:
        """Add one setting of a mapping; `name` is Kafka's if it is another."""
        if isinstance(value, ScalarNode):
            self.add(name or key.text, value.text, layer, (key.span, value.span), entity)
        else:
            self.wrong(value, f"`{key.text}` must have one plain value")

    def client(self, key: ScalarNode, value: ScalarNode, path: str) -> bool:
        """Add what a dotted path sets of the client at its beginning; return whether it sets anything."""
        found = client_setting(path)
        if found is None or value.text in NOTHING:
            return False
        if self.is_left(key, value, found[0]):
            return True
        whose = path[: -len(found[1])] if path.endswith(found[1]) else path.rpartition(".")[0]
        owner = whose.strip(".")
        self.add(found[1], acks_named(found[1], value.text), found[0], (key.span, value.span), owner)
        self.passed.append(key.span)
        return True

    def is_left(self, key: ScalarNode, value: ScalarNode, layer: SettingLayer) -> bool:
        """Whether a client that creates topics leaves their replicas to the brokers, by -1 (KIP-464)."""
        if layer is not SettingLayer.CREATOR or value.text.strip("\"' ") != _LEFT:
            return False
        note = f"`{key.text}` is {_LEFT}, which takes the brokers' default, and no file gives that"
        self.missing.append(Missing((FACTOR,), note))
        self.passed.append(key.span)
        return True

    def properties(self, node: ScalarNode, layer: SettingLayer, entity: str = "") -> None:
        """Add the settings of a .properties text embedded in another text."""
        if not node.verbatim:
            for entry in read_properties(Source(self.source.name, node.text)).entries:
                at = self._within(node, entry.key)
                self.add(entry.key, entry.value.strip(), layer, (at, at), entity)
            return
        found = read_properties(self._embedded(node))
        self.problems += found.problems
        for entry in found.entries:
            self.add(entry.key, entry.value.strip(), layer, (entry.key_span, entry.value_span), entity)

    def documents(self, node: ScalarNode) -> tuple[Node, ...]:
        """The documents of a YAML text embedded in another text; none if it has no lines of its own."""
        from modelcheck.kafka.settings.readers.formats.yaml import documents  # noqa: PLC0415 - takes its time

        return documents(self._embedded(node))[0] if node.verbatim else ()

    def _embedded(self, node: ScalarNode) -> Source:
        """A text embedded in another one, at its place there."""
        start, end = node.span.start, node.span.end
        blank = _BLANK.sub(" ", self.source.text[:start])
        body = self.source.text[start:end]
        head, newline, rest = body.partition("\n")  # the sign that opens the block is on its first line
        return Source(self.source.name, blank + " " * len(head) + newline + rest)

    def pairs(self, node: ScalarNode, layer: SettingLayer, entity: str = "") -> None:
        """Add the settings in a line of `a=b,c=d`, where a value may have commas too: `a=b,c,d=e`."""
        for found in PAIR.finditer(node.text):
            at = self._within(node, found[1])
            self.add(found[1], found[2].strip(), layer, (at, at), entity)

    def _within(self, node: ScalarNode, key: str) -> Span:
        """The place of a key inside a quoted value, as well as it is known."""
        at = self.source.text.find(key, node.span.start, node.span.end) if key else -1
        return node.span if at < 0 else Span(at, at + len(key))

    def fact(self, about: About, node: Node | None, words: str, value: str | None = None) -> None:
        """Add a fact from a scalar; `value` if it differs from the scalar's text."""
        if node is None:
            return
        if value is None and is_filled_in(node):
            option = _OPTIONS.get(about)
            self.notes.append(
                f"{words} is filled in by another tool" + (f": give {option}" if option else "")
            )
            self.passed.append(node.span)
            return
        if about is About.BROKERS and value is None and self.count(node, words) is None:
            return
        if value is None and not isinstance(node, ScalarNode):
            self.wrong(node, f"{words} must have one plain value")
            return
        text = value if value is not None else node.text if isinstance(node, ScalarNode) else ""
        self.facts.append(Fact(about, text, self.source, node.span, words))

    def count(self, node: Node | None, words: str) -> int | None:
        """The whole number in a scalar; None, with an error, if it is none."""
        if node is None:
            return None
        text = node.text if isinstance(node, ScalarNode) else ""
        if text.isascii() and text.isdigit() and len(text) < 6:
            return int(text)
        advice = FILLED_IN if is_filled_in(node) else ""
        self.wrong(node, f"{words} must be a whole number", advice)
        return None

    def topic(
        self,
        name: ScalarNode,
        factor: Node | None,
        partitions: Node | None = None,
        words: tuple[str, str] = ("spec.replicas", "spec.partitions"),
        *,
        leaves: bool = False,
    ) -> None:
        """Add a topic with its replicas and partitions, if given; `words` are the fields' names.

        `leaves` is whether its form may leave either to the brokers, by -1 (KIP-464).
        """
        left = factor.span if leaves and factor is not None and text_of(factor) == _LEFT else None
        replicas = None if left else self.count(factor, words[0])
        parts = None if leaves and text_of(partitions) == _LEFT else self.count(partitions, words[1])
        made = Topic(name.text, self.source, name.span, replicas, parts, left_at=left, part=self.part)
        self.topics.append(made)

    def repeated(self, below: Node) -> None:
        """Add a warning (R0714) for each key that a mapping gives two values.

        Not of settings, of which it is known later whether they count.
        """
        settings = {one.key_span for one in self.given}
        for earlier, later in repeated(below):
            if earlier[0].span not in settings and later[0].span not in settings:
                message = f"`{later[0].text}` is given twice, and the last one counts"
                note = Note(self.source, earlier[0].span, "it is given here too")
                at = later[0].span
                self.warnings.append(Diagnostic("R0714", self.source, at, message, notes=(note,)))

    def wrong(self, node: Node, message: str, advice: str = "") -> None:
        """Add an error about a field."""
        self.problems.append(Diagnostic("R0728", self.source, node.span, message, help=advice))

    def line(self, node: Node) -> int:
        """The line number of a node."""
        return self.source.position(node.span.start)[0]


def is_filled_in(node: Node) -> bool:
    """Whether a value is a template or expression that another tool evaluates."""
    return isinstance(node, ScalarNode) and (node.computed or is_template(node.text))
