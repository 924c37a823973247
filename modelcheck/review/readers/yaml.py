"""A text in YAML or JSON as a tree.

It is only composed, never constructed: no value becomes a Python object.
"""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from modelcheck.review.readers.tree import MappingNode, Node, ScalarNode, SequenceNode, entries, items
from spec.diagnostics import Diagnostic, Note
from spec.source import Source, Span


def documents(source: Source) -> tuple[tuple[Node, ...], tuple[Diagnostic, ...]]:
    """The documents of a YAML or JSON text, or what is malformed (R0707) at the place the reader names."""
    try:
        composed = list(yaml.compose_all(source.text, Loader=yaml.SafeLoader))
        return tuple(_converted(node, {}, set()) for node in composed), ()
    except yaml.YAMLError as error:
        return (), (_malformed(source, error),)
    except RecursionError:
        return (), (Diagnostic("R0707", source, None, "the YAML is nested too deeply"),)


def _converted(node: yaml.Node, known: dict[int, Node], above: set[int]) -> Node:
    """The node as a value of its own; an alias is the same object as what it stands for."""
    if id(node) in known:
        return known[id(node)]
    if id(node) in above:
        mark = node.start_mark
        raise yaml.MarkedYAMLError(None, None, "this contains itself", mark)
    above.add(id(node))
    made: Node
    match node:
        case yaml.MappingNode():
            made = MappingNode(tuple(_entries(node, known, above)), _span(node))
        case yaml.SequenceNode():
            made = SequenceNode(tuple(_converted(one, known, above) for one in node.value), _span(node))
        case _:
            made = ScalarNode(str(node.value), _span(node), verbatim=getattr(node, "style", None) == "|")
    above.discard(id(node))
    known[id(node)] = made
    return made


def _entries(
    node: yaml.MappingNode, known: dict[int, Node], above: set[int]
) -> Iterator[tuple[ScalarNode, Node]]:
    """The mapping's own entries, after those of `<<` that it does not give itself."""
    own: list[tuple[ScalarNode, Node]] = []
    merged: list[tuple[ScalarNode, Node]] = []
    for key, value in node.value:
        named, found = _converted(key, known, above), _converted(value, known, above)
        if isinstance(named, ScalarNode) and named.text == "<<" and not isinstance(found, ScalarNode):
            for one in reversed(items(found) or (found,)):
                merged += entries(one)
        elif isinstance(named, ScalarNode):
            own.append((named, found))
    names = {key.text for key, _ in own}
    yield from (pair for pair in merged if pair[0].text not in names)
    yield from own


def _span(node: yaml.Node) -> Span:
    return Span(node.start_mark.index, node.end_mark.index)


def _malformed(source: Source, error: yaml.YAMLError) -> Diagnostic:
    """The reader's complaint, with its place as a caret and the place it began as a note."""
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
