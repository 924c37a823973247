"""A text in YAML or JSON as a tree.

It is only composed, never constructed: no value becomes a Python object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import yaml

from modelcheck.kafka.settings.readers.formats.tree import (
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    entries,
    items,
)
from spec.diagnostics import Diagnostic, Note
from spec.source import Source, Span

_PLAIN = ("!", "!Sub")  # tags of texts that are what they say
ROOM = 100_000  # values that a text may expand to, aliases counted each time, and one for each character


def documents(source: Source) -> tuple[tuple[Node, ...], tuple[Diagnostic, ...]]:
    """The documents of a YAML or JSON text, or the errors (R0707) with their places."""
    most = ROOM + len(source.text)
    try:
        composed = list(yaml.compose_all(source.text, Loader=yaml.SafeLoader))
        return tuple(_Tree(most).converted(node) for node in composed), ()
    except _TooManyError as error:
        message = f"its aliases expand to more than {most:,} values"
        return (), (Diagnostic("R0708", source, error.span, message),)
    except yaml.YAMLError as error:
        return (), (_malformed(source, error),)
    except RecursionError:
        return (), (Diagnostic("R0707", source, None, "the YAML is nested too deeply"),)


class _TooManyError(Exception):
    """Raised for a document whose aliases expand to too many nodes."""

    def __init__(self, span: Span) -> None:
        self.span = span
        super().__init__(span)


class _Tree:
    """Converts a YAML document; at most `most` nodes with aliases expanded."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[int, Node] = {}
        self._sizes: dict[int, int] = {}  # of the values that nodes expand to, by the node's identity
        self._above: set[int] = set()

    def converted(self, node: yaml.Node) -> Node:
        """The converted node; aliases share one. Raises YAMLError, _TooManyError."""
        if id(node) in self._known:
            return self._known[id(node)]
        if id(node) in self._above:
            mark = node.start_mark
            raise yaml.MarkedYAMLError(None, None, "this contains itself", mark)
        self._above.add(id(node))
        made: Node
        match node:
            case yaml.MappingNode():
                pairs = [(self.converted(key), self.converted(value)) for key, value in node.value]
                self._count(node, [one for pair in node.value for one in pair])
                made = _reference(pairs) or MappingNode(tuple(_entries(pairs)), _span(node))
            case yaml.SequenceNode():
                inside = tuple(self.converted(one) for one in node.value)
                self._count(node, node.value)
                made = SequenceNode(inside, _span(node))
            case _:
                self._count(node, ())
                called = str(node.tag) if str(node.tag).startswith("!") and node.tag not in _PLAIN else ""
                text = f"{called} {node.value}" if called else str(node.value)
                verbatim = getattr(node, "style", None) == "|"
                made = ScalarNode(text, _span(node), verbatim=verbatim, computed=bool(called))
        self._above.discard(id(node))
        self._known[id(node)] = made
        return made

    def _count(self, node: yaml.Node, inside: Iterable[yaml.Node]) -> None:
        """Add the expanded size of a node. Raises _TooManyError."""
        self._sizes[id(node)] = size = 1 + sum(self._sizes[id(one)] for one in inside)
        if size > self._most:
            raise _TooManyError(_span(node))


def _reference(pairs: Sequence[tuple[Node, Node]]) -> ScalarNode | None:
    """CloudFormation's `{"Ref": name}`, which is `!Ref name` in JSON; None for any other mapping."""
    match pairs:
        case [(ScalarNode(text="Ref"), ScalarNode() as named)]:
            return ScalarNode(f"!Ref {named.text}", named.span, computed=True)
        case _:
            return None


def _entries(pairs: Sequence[tuple[Node, Node]]) -> Iterator[tuple[ScalarNode, Node]]:
    """A mapping's entries, after those merged by `<<` that it does not override."""
    own: list[tuple[ScalarNode, Node]] = []
    merged: list[tuple[ScalarNode, Node]] = []
    for named, found in pairs:
        if isinstance(named, ScalarNode) and named.text == "<<" and not isinstance(found, ScalarNode):
            for one in reversed(items(found) or (found,)):
                merged += entries(one)
        elif isinstance(named, ScalarNode):
            own.append((named, found))
    names = {key.text for key, _ in own}
    yield from (pair for pair in merged if pair[0].text not in names)
    yield from own


def _span(node: yaml.Node) -> Span:
    """The place of a node."""
    return Span(node.start_mark.index, node.end_mark.index)


def _malformed(source: Source, error: yaml.YAMLError) -> Diagnostic:
    """The error of the YAML parser as a diagnostic."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        at = min(error.problem_mark.index, len(source.text))
        notes: tuple[Note, ...] = ()
        if error.context and error.context_mark is not None:
            begun = error.context_mark.index
            notes = (Note(source, Span(begun, begun + 1), error.context),)
        message = f"this is not YAML: {error.problem or 'malformed'}"
        return Diagnostic("R0707", source, Span(at, at + 1), message, notes=notes)
    place = getattr(error, "position", None)
    span = Span(place, place + 1) if isinstance(place, int) else None
    return Diagnostic("R0707", source, span, "this is not YAML: a character that YAML does not allow")
