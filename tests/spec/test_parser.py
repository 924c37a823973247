"""What a text means as a tree, and where each piece of it stood."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import spec.syntax.expressions as se
from spec.diagnostics import SpecError
from spec.source import Node, Source, Span
from spec.syntax.parser import parse, parse_expression

PROTOCOLS = sorted((Path(__file__).parents[2] / "spec" / "protocols").glob("*.rsm"))
EVERYTHING = Path(__file__).parent / "everything.rsm"
EXPRESSIONS = (
    se.IntLit, se.BoolLit, se.NoneLit, se.Name, se.Call, se.Method, se.Get, se.Index, se.Upto, se.From,
    se.Unary, se.Binary, se.IsCase, se.IfElse, se.LetIn, se.Quantified, se.SetLit, se.SeqLit, se.TupleLit,
    se.Filter, se.Collect, se.MapComprehension,
)  # fmt: skip


def expression(text: str) -> se.Expr:
    return parse_expression(Source("", text), Span(0, len(text)))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a or b and c", "a or (b and c)"),
        ("a and b or c", "(a and b) or c"),
        ("not a and b", "(not a) and b"),
        ("not a == b", "not (a == b)"),
        ("a implies b implies c", "a implies (b implies c)"),
        ("a or b implies c or d", "(a or b) implies (c or d)"),
        ("a - b - c", "(a - b) - c"),
        ("a + b * c", "a + (b * c)"),
        ("-a * b", "(-a) * b"),
        ("a + 1 in 0..n - 1", "(a + 1) in (0..(n - 1))"),
        ("x not in a - b", "x not in (a - b)"),
        ("m.of is Vote and b", "((m.of) is Vote) and b"),
        ("a and forall x in S. b or c", "a and (forall x in S. (b or c))"),
        ("forall x in S. exists y in T. a and b", "forall x in S. (exists y in T. (a and b))"),
        ("if a then b else c and d", "if a then b else (c and d)"),
        ("let x = a + b. x * c", "let x = (a + b). (x * c)"),
        ("-r.log[i]", "-(r.log[i])"),
    ],
)
def test_what_binds_tighter(written: str, meant: str) -> None:
    assert expression(written) == expression(meant)


@pytest.mark.parametrize("text", ["a == b == c", "a < b < c", "forall x in S. a, b", "0..n..m", "a not b"])
def test_what_could_mean_two_things_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match="R0101"):
        expression(text)


@pytest.mark.parametrize("path", [EVERYTHING, *PROTOCOLS], ids=lambda path: path.stem)
def test_a_span_covers_its_own_expression(path: Path) -> None:
    source = Source(path.name, path.read_text(encoding="utf-8"))

    assert [node for node in expressions(parse(source)) if expression(source.at(node.span)) != node] == []


@pytest.mark.parametrize("path", [EVERYTHING, *PROTOCOLS], ids=lambda path: path.stem)
def test_a_span_lies_within_the_span_round_it(path: Path) -> None:
    tree = parse(Source(path.name, path.read_text(encoding="utf-8")))

    assert [(outer, inner) for outer, inner in pairs(tree) if not encloses(outer.span, inner.span)] == []


def encloses(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start <= inner.end <= outer.end


def pairs(node: Node) -> Iterator[tuple[Node, Node]]:
    for inner in parts(node):
        yield node, inner
        yield from pairs(inner)


def expressions(node: Node) -> Iterator[Node]:
    return (inner for _, inner in pairs(node) if isinstance(inner, EXPRESSIONS))


def parts(node: Node) -> Iterator[Node]:
    assert is_dataclass(node)
    for field in fields(node):
        value = getattr(node, field.name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Node):
                yield part
