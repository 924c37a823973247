"""A text of nested values, YAML, JSON or HCL, as a tree in which each value knows its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from spec.frozen import frozen
from spec.source import Span

NOTHING = ("", "null", "~")  # the texts of a value that is not there


@frozen
class ScalarNode:
    """A scalar of a YAML, JSON or HCL tree, without quotes, with its place.

    `verbatim` is whether its text is in the source line by line, as in a block
    scalar or a heredoc; `computed` whether it is an expression, which only another tool can evaluate.
    """

    text: str
    span: Span
    verbatim: bool = False
    computed: bool = False


@frozen
class SequenceNode:
    """A sequence of a tree."""

    items: tuple[Node, ...]
    span: Span


@frozen
class MappingNode:
    """A mapping of a tree, in order, with repeated keys."""

    entries: tuple[tuple[ScalarNode, Node], ...]
    span: Span


Node = ScalarNode | SequenceNode | MappingNode


def entry(node: Node | None, *names: str) -> tuple[ScalarNode, Node] | None:
    """The last entry of a mapping with the first of these names that exists, as YAML readers take it."""
    if not isinstance(node, MappingNode):
        return None
    for name in names:
        found = [pair for pair in node.entries if pair[0].text == name]
        if found:
            return found[-1]
    return None


def get(node: Node | None, *path: str) -> Node | None:
    """The value at a path of keys; None if there is none."""
    for name in path:
        pair = entry(node, name)
        node = pair[1] if pair else None
    return node


def text_of(node: Node | None) -> str | None:
    """The text of a scalar; None for other nodes."""
    return node.text if isinstance(node, ScalarNode) else None


def items(node: Node | None) -> tuple[Node, ...]:
    """The values of a sequence; none for other nodes."""
    return node.items if isinstance(node, SequenceNode) else ()


def entries(node: Node | None) -> tuple[tuple[ScalarNode, Node], ...]:
    """The entries of a mapping; none for other nodes."""
    return node.entries if isinstance(node, MappingNode) else ()


def rewritten(node: Node, change: Callable[[ScalarNode], Node]) -> Node:
    """The tree with its scalar values replaced; keys and shared nodes stay as they are."""
    return _remade(node, change, key=lambda key: key, span=lambda span: span)


def _remade(
    node: Node,
    change: Callable[[ScalarNode], Node],
    *,
    key: Callable[[ScalarNode], ScalarNode],
    span: Callable[[Span], Span],
) -> Node:
    """The tree with its scalar values, its keys and its places replaced; shared nodes stay shared."""
    made: dict[int, Node] = {}

    def again(one: Node) -> Node:
        if id(one) not in made:
            made[id(one)] = below(one)
        return made[id(one)]

    def below(one: Node) -> Node:
        match one:
            case ScalarNode():
                return change(one)
            case SequenceNode():
                return SequenceNode(tuple(map(again, one.items)), span(one.span))
            case MappingNode():
                return MappingNode(
                    tuple((key(name), again(value)) for name, value in one.entries), span(one.span)
                )

    return again(node)


def walk(node: Node) -> Iterator[Node]:
    """The node and all its descendants; a shared node occurs once."""
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        below = [value for _, value in entries(one)] + list(items(one))
        waiting += reversed(below)


def repeated(below: Node) -> Iterator[tuple[tuple[ScalarNode, Node], tuple[ScalarNode, Node]]]:
    """The entries that repeat a key with another value, each after the entry it repeats.

    Blocks of HCL, of which there may be several, are left out with all mappings.
    """
    for node in walk(below):
        seen: dict[str, tuple[ScalarNode, Node]] = {}
        for pair in entries(node):
            earlier = seen.get(pair[0].text)
            seen[pair[0].text] = pair
            if earlier is not None and text_of(pair[1]) != text_of(earlier[1]):
                yield earlier, pair


def shifted(node: Node, by: int) -> Node:
    """The tree with its places moved on, as in a text that has others before it; shared nodes stay shared."""

    def plain(one: ScalarNode) -> ScalarNode:
        return replace(one, span=_moved(one.span, by))

    return _remade(node, plain, key=plain, span=lambda span: _moved(span, by)) if by else node


def _moved(span: Span, by: int) -> Span:
    """A span moved on."""
    return Span(span.start + by, span.end + by)
