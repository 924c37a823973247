"""The parser's tables that are kept are those of the grammar, and parse as lark does with them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import lark
import pytest
from lark.exceptions import UnexpectedCharacters, UnexpectedInput

import spec.syntax.tables as tables
from spec.source import Span
from spec.syntax.automaton import Automaton, Unexpected

ROOT = Path(__file__).parents[2]
GRAMMAR = (ROOT / "spec/syntax/grammar.rsm.lark").read_text(encoding="utf-8")
KEPT = ROOT / "spec/syntax" / tables.FILE
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("spec/protocols/*.rsm"))]
DAMAGED = [text[: len(text) * n // 7] + ") " + text[len(text) * n // 7 :] for text in TEXTS for n in (2, 5)]


def test_the_tables_are_of_this_grammar() -> None:
    assert KEPT.read_text(encoding="utf-8") == tables.text(GRAMMAR)


def test_the_kept_tables_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "built", lambda _: pytest.fail("the tables that are kept are not used"))

    assert tables.tables().rows


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"of": ""}', '{"of": [], "rows": 1}'])
def test_without_good_tables_they_are_made(monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    monkeypatch.setattr(tables, "_read", lambda name: damage if name == tables.FILE else GRAMMAR)
    anew = object()
    monkeypatch.setattr(tables, "made", lambda _: anew)

    assert tables.tables() is anew


def test_damaged_tables_of_this_grammar_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    del kept["token"]
    monkeypatch.setattr(tables, "_read", lambda name: json.dumps(kept) if name == tables.FILE else GRAMMAR)

    assert tables.tables() == tables.made(GRAMMAR)


# ------------------------------------------------------------------ as lark parses

by_grammar = cache(tables.built)  # lark takes two seconds to make it


class Shape:
    """What was made of a rule, as lark's tree has it."""

    def __init__(self, rule: str, children: list[Any], span: Span) -> None:
        self.told = rule, (span.start, span.end), [told(child) for child in children]


def told(child: object) -> object:
    """A part of either tree as plain values."""
    if isinstance(child, Shape):
        return child.told
    if isinstance(child, lark.Tree):
        span = child.meta.start_pos, child.meta.end_pos
        return str(child.data), span, [told(each) for each in child.children]
    return None if child is None else str(child)


def ours() -> Automaton:
    return Automaton(
        tables.tables(), lambda rule: lambda children, span: Shape(rule, children, span), leaves={}
    )


def outcome(text: str) -> object:
    """Our tree of a text; or where it is wrong, what stands there and what could."""
    try:
        return told(ours().parse(text, "start", 1_000_000))
    except Unexpected as error:
        return error.at.start if error.found else "the end", error.expected


def by_lark(text: str) -> object:
    try:
        return told(by_grammar(GRAMMAR).parse(text, start="start"))
    except (
        UnexpectedCharacters
    ) as error:  # and no word: it says what could be read, not what could stand there
        return error.pos_in_stream, None
    except UnexpectedInput as error:
        expected = getattr(error, "accepts", None) or ()
        at = (
            "the end"
            if getattr(getattr(error, "token", None), "type", "") == tables.END
            else error.pos_in_stream
        )
        return at, frozenset(expected)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_texts_are_what_lark_makes_of_them(text: str) -> None:
    assert outcome(text) == by_lark(text)


def test_damaged_texts_are_wrong_where_lark_finds_them_wrong() -> None:
    assert DAMAGED
    for text in DAMAGED:
        known, found = by_lark(text), outcome(text)
        if isinstance(known, tuple) and isinstance(found, tuple) and known[1] is None:
            found = found[0], None
        assert found == known


def test_a_word_is_what_may_stand_there() -> None:
    text = "protocol scope state { state: bool = states } invariant key: state is scopes"

    assert outcome(text) == by_lark(text)


def test_a_word_that_only_begins_like_a_word_of_the_language_is_none() -> None:
    with pytest.raises(Unexpected) as wrong:
        ours().parse("protocols p", "start", 1_000)

    assert (wrong.value.found, wrong.value.expected) == ("protocols", frozenset({"PROTOCOL", "IMPORT"}))
