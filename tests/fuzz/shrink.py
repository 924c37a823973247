"""A model made as small as a difference allows: declarations and statements dropped, types narrowed.

It works on the text, by the places of what the parser finds in it, so that whatever
is left is a model that somebody can run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from time import monotonic
from typing import get_args

import spec.syntax.expressions as se
import spec.syntax.tree as s
from spec.diagnostics import SpecError
from spec.formatting.format import format_text
from spec.source import Node, Source
from spec.syntax.parser import parse

Edit = tuple[int, int, str]  # from where, to where, what stands there instead
EXPRESSIONS = get_args(se.Expr)
TYPES = get_args(se.Type)
SIMPLE = ("true", "false", "0", "1", "none", "{}", "[]")
SIMPLE_TYPES = ("bool", "0..1")


def smallest(text: str, still: Callable[[str], bool], seconds: float = 60) -> str:
    """The text after every edit that leaves it so, formatted; whatever is reached when the time is over."""
    until = monotonic() + seconds
    tried: set[str] = set()
    shrunk = True
    while shrunk:
        shrunk = False
        for smaller in _candidates(text):
            if monotonic() > until:
                break
            if smaller not in tried and len(smaller) < len(text):
                tried.add(smaller)
                if still(smaller):
                    text, shrunk = smaller, True
                    break
    laid_out = _formatted(text)
    return laid_out if laid_out != text and still(laid_out) else text


def _formatted(text: str) -> str:
    try:
        lines = format_text(text).splitlines()
    except SpecError:
        return text
    return "\n".join(line for line in lines if line.strip()) + "\n"


def _candidates(text: str) -> Iterator[str]:
    """Smaller texts, those that are much smaller first; some are no models."""
    try:
        protocol = parse(Source("", text))
    except SpecError:
        return
    assert isinstance(protocol, s.Protocol), "a random model goes on from none"
    yield from _without_many(text, protocol)
    yield from _without_sizes(text, protocol)
    edits = {edit for edit in (*_edits(protocol, text), *_words(text)) if text[edit[0] : edit[1]] != edit[2]}
    for start, end, instead in sorted(edits, key=lambda e: len(e[2]) - (e[1] - e[0])):
        yield text[:start] + instead + text[end:]


def _without_many(text: str, protocol: s.Protocol) -> Iterator[str]:
    """Without several declarations at once."""
    spans = [item.span for item in protocol.items]
    size = len(spans) // 2
    while size > 1:
        for first in range(0, len(spans), size):
            smaller = text
            for span in reversed(spans[first : first + size]):
                smaller = smaller[: span.start] + smaller[span.end :]
            yield smaller
        size //= 2


def _without_sizes(text: str, protocol: s.Protocol) -> Iterator[str]:
    """Without a sort, nat or network and its size in the checks, which can only go together."""
    clauses = [
        clause
        for item in protocol.items
        if isinstance(item, s.CheckDecl)
        for clause in item.clauses
        if isinstance(clause, s.ScopeClause)
    ]
    for item in protocol.items:
        names = item.names if isinstance(item, s.SortDecl | s.NatDecl) else ()
        names = (item.name,) if isinstance(item, s.NetworkDecl) else names
        smaller, gone = text, {name.text for name in names}
        for clause in reversed(clauses if names else []):
            left = [_text(each, text) for each in clause.items if each.name.text not in gone]
            written = f"scope {', '.join(left)}" if left else ""
            smaller = smaller[: clause.span.start] + written + smaller[clause.span.end :]
        yield smaller[: item.span.start] + smaller[item.span.end :]


def _words(text: str) -> Iterator[Edit]:
    """Words that only add something."""
    for found in re.finditer(r"strong fair |fair |ghost (?=\w+ *:)|durable |(?<=: )-?\d+\.\.(?=\d)", text):
        instead = {"durable ": "volatile "}.get(found[0], "")
        yield found.start(), found.end(), instead


def _edits(node: Node, text: str) -> Iterator[Edit]:
    """Every edit of a node and of what is in it."""
    start, end = node.span.start, node.span.end
    for instead in _instead(node, text):
        yield start, end, instead
    if isinstance(node, se.IntLit | se.RangeType | se.AppliedType | s.ScopeItem | s.FaultItem):
        for found in re.finditer(r"\d+", text[start:end]):
            for less in {int(found[0]) // 2, int(found[0]) - 1} - {int(found[0]), -1}:
                yield start + found.start(), start + found.end(), str(less)
    for child in _children(node):
        yield from _without(child, text)
        yield from _edits(child, text)


def _instead(node: Node, text: str) -> Iterator[str]:
    """What may stand instead of a node: parts of it, and what is simpler than any part."""
    match node:
        case s.IfStmt(then=then, other=other):
            yield from (_all(branch, text) for branch in (then, other))
        case s.ForStmt(body=body):
            yield _all(body, text)
        case _:
            for kinds, simple in ((EXPRESSIONS, SIMPLE), (TYPES, SIMPLE_TYPES)):
                if isinstance(node, kinds):
                    parts = [_text(child, text) for child in _children(node) if isinstance(child, kinds)]
                    yield from (f"({part})" if kinds is EXPRESSIONS else part for part in parts)
                    yield from simple


def _without(node: Node, text: str) -> Iterator[Edit]:
    """The text without a node, and the comma or word that goes with it."""
    start, end = node.span.start, node.span.end
    yield start, end, ""
    if after := re.match(r"\s*,", text[end:]):
        yield start, end + after.end(), ""
    if before := re.search(r"(,|\bwhere\b|\bwith\b|\bof\b|\bor\b|\band\b)\s*\(*$", text[:start]):
        yield before.start(), end, ""
    if named := re.search(r"\w+:\s*$", text[:start]):
        yield named.start(), end, ""


def _text(node: Node, text: str) -> str:
    return text[node.span.start : node.span.end]


def _all(statements: tuple[s.Stmt, ...], text: str) -> str:
    return text[statements[0].span.start : statements[-1].span.end] if statements else ""


def _children(node: Node) -> Iterator[Node]:
    for field in fields(node):
        value = getattr(node, field.name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Node):
                yield each
