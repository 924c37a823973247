"""Places as editors count them, in any encoding, inside characters and outside the text."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from spec.editing.positions import Lines, Unit, word_at
from spec.source import Span

TEXT = "ab\n\U0001f600x\r\né\ry\u2028z"


@pytest.mark.parametrize(("unit", "column"), [(Unit.UTF8, 4), (Unit.UTF16, 2), (Unit.UTF32, 1)], ids=str)
def test_a_column_counts_units(unit: Unit, column: int) -> None:
    lines = Lines(TEXT, unit)

    assert lines.position(TEXT.index("x")) == (1, column)
    assert lines.offset(1, column) == TEXT.index("x")


def test_the_midst_of_a_surrogate_pair_is_its_character() -> None:
    assert Lines(TEXT, Unit.UTF16).offset(1, 1) == 3
    assert Lines(TEXT, Unit.UTF8).offset(1, 3) == 3


def test_lines_end_as_editors_end_them() -> None:
    lines = Lines(TEXT, Unit.UTF16)

    assert lines.position(TEXT.index("é")) == (2, 0)
    assert lines.position(TEXT.index("z")) == (3, 2)  # U+2028 ends no line


@pytest.mark.parametrize(("line", "column", "offset"), [(99, 0, 12), (0, 99, 2), (-1, 5, 0), (1, -3, 3)])
def test_what_is_outside_is_the_nearest_place(line: int, column: int, offset: int) -> None:
    assert Lines(TEXT, Unit.UTF16).offset(line, column) == offset


@given(st.text(), st.sampled_from(Unit), st.data())
def test_a_place_is_found_again(text: str, unit: Unit, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    lines = Lines(text, unit)
    found = lines.offset(*lines.position(offset))

    inside_a_line_end = text[offset - 1 : offset + 1] == "\r\n"
    assert found == (offset - 1 if inside_a_line_end else offset)


@given(st.text(), st.sampled_from(Unit), st.tuples(st.integers(), st.integers()), st.text())
def test_any_change_can_be_made(text: str, unit: Unit, place: tuple[int, int], new: str) -> None:
    assert new in Lines(text, unit).changed(place, place, new)


def test_a_word_is_found_from_inside_and_from_its_end() -> None:
    assert [word_at("a bc.d", at) for at in (2, 3, 4, 5)] == [Span(2, 4), Span(2, 4), Span(2, 4), Span(5, 6)]
    assert word_at("  ", 1) == Span(1, 1)
