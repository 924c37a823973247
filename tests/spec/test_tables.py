"""The parser's tables that are kept are those of the grammar; `python -m spec.tables` writes them anew."""

from __future__ import annotations

import json
from pathlib import Path

import lark
import pytest
from lark.exceptions import UnexpectedInput

import spec.tables as tables

ROOT = Path(__file__).parents[2]
GRAMMAR = (ROOT / "spec/grammar.rsm.lark").read_text(encoding="utf-8")
KEPT = ROOT / "spec" / tables.FILE


def outcome(parser: lark.Lark, text: str) -> object:
    """The tree of a text, or where it is wrong and what could stand there."""
    try:
        return parser.parse(text, start="start")
    except UnexpectedInput as error:
        expected = getattr(error, "accepts", None) or getattr(error, "allowed", None)
        return type(error), error.pos_in_stream, expected and frozenset(expected)


def test_the_tables_are_of_this_grammar() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))

    assert kept["for"] == tables._made_for(GRAMMAR)


def test_the_kept_parser_reads_what_the_grammar_says(monkeypatch: pytest.MonkeyPatch) -> None:
    anew = tables.built(GRAMMAR)
    monkeypatch.setattr(tables, "built", lambda _: pytest.fail("the tables that are kept are not used"))
    kept = tables.parser()
    texts = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("spec/protocols/*.rsm"))]
    damaged = [
        text[: len(text) * n // 7] + ") " + text[len(text) * n // 7 :] for text in texts for n in range(7)
    ]

    assert texts
    for text in [*texts, *damaged]:
        assert outcome(kept, text) == outcome(anew, text)


@pytest.mark.parametrize("damage", ["", "{", '{"for": ["0.1", ""]}', '{"for": []}'])
def test_without_good_tables_the_parser_is_built(monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    monkeypatch.setattr(tables, "_read", lambda name: damage if name == tables.FILE else GRAMMAR)
    anew = tables.built(GRAMMAR)
    monkeypatch.setattr(tables, "built", lambda _: anew)

    assert tables.parser() is anew
