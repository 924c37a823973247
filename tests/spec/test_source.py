from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from spec.source import Source, Span


def test_lines_and_columns_count_from_one() -> None:
    source = Source("a.rsm", "one\ntwo\n")

    assert source.position(0) == (1, 1)
    assert source.position(3) == (1, 4)
    assert source.position(4) == (2, 1)


def test_the_end_of_a_text_has_a_position() -> None:
    assert Source("a", "").position(0) == (1, 1)
    assert Source("a", "one").position(3) == (1, 4)
    assert Source("a", "one\n").position(4) == (2, 1)


def test_a_line_is_given_without_its_end() -> None:
    source = Source("a", "one\r\ntwo\nthree")

    assert [source.line(n) for n in (1, 2, 3)] == ["one", "two", "three"]


def test_an_empty_text_has_one_empty_line() -> None:
    assert Source("a", "").line(1) == ""
    assert Source("a", "one\n").line(2) == ""


def test_a_span_covers_its_text() -> None:
    assert Source("a", "leader := none").at(Span(0, 6)) == "leader"


def test_joined_spans_cover_both() -> None:
    assert Span(2, 4).to(Span(7, 9)) == Span(2, 9)
    assert Span(2, 9).to(Span(3, 4)) == Span(2, 9)


def test_sources_are_equal_by_name_and_text_and_survive_pickling() -> None:
    source = Source("a", "one\ntwo")

    assert pickle.loads(pickle.dumps(source)) == source  # noqa: S301 - made on the line itself
    assert Source("b", "one\ntwo") != source


@given(st.text(alphabet="a\r\n\t日"))
def test_every_offset_is_where_its_position_says(text: str) -> None:
    source = Source("a", text)
    lines = text.split("\n")

    for offset in range(len(text) + 1):
        line, column = source.position(offset)

        assert sum(len(one) + 1 for one in lines[: line - 1]) + column - 1 == offset
        assert source.line(line) == lines[line - 1].rstrip("\r")
