from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.diagnostics import WIDTH, Diagnostic, Note, SpecError, as_json, render, suggest
from spec.source import Source, Span


def mistake(text: str, start: int, end: int, *, label: str = "") -> Diagnostic:
    return Diagnostic("R0101", Source("a.rsm", text), Span(start, end), "not this", label)


def excerpt(text: str, start: int, end: int, *, label: str = "") -> str:
    """The source line and the carets, without the line number's column."""
    _, line, carets = render(mistake(text, start, end, label=label)).split("\n")

    assert line[:8] == "    1 | "
    assert carets[:8] == "      | "
    return f"{line[8:]}\n{carets[8:]}"


def test_a_diagnostic_reads_place_message_line_caret_help() -> None:
    source = Source("isr.rsm", "state {\n  acks' = acks + 1\n}\n")
    note = Note(source, Span(0, 5), "declared here")
    place = Span(18, 22)
    found = Diagnostic("R0101", source, place, "not a number", "set[Replica]", "write `| {n}`", (note,))

    assert render(found) == (
        "isr.rsm:2:11: error[R0101]: not a number\n"
        "    2 |   acks' = acks + 1\n"
        "      |           ^^^^ set[Replica]\n"
        "isr.rsm:1:1: note: declared here\n"
        "    1 | state {\n"
        "      | ^^^^^\n"
        "  help: write `| {n}`"
    )


def test_a_mistake_of_the_whole_input_has_no_excerpt() -> None:
    found = Diagnostic("R0101", Source("a.rsm", ""), None, "the file is empty")

    assert render(found) == "a.rsm: error[R0101]: the file is empty"


def test_a_tab_takes_one_column() -> None:
    assert excerpt("\tx := \ty", 7, 8) == " x :=  y\n       ^"


def test_a_windows_line_end_is_not_shown_and_not_counted() -> None:
    assert excerpt("leader\r\nnone", 0, 6) == "leader\n^^^^^^"
    assert excerpt("leader\r\nnone", 7, 8) == "leader\n      ^"


@pytest.mark.parametrize("text", ["", "leader", "leader\n"])
def test_the_end_of_a_text_has_one_caret(text: str) -> None:
    lines = render(mistake(text, len(text), len(text))).split("\n")

    assert lines[2].count("^") == 1
    assert lines[2].index("^") == len(lines[1])


def test_carets_stop_at_the_end_of_the_first_line() -> None:
    assert excerpt("check {\n}\n", 6, 9, label="open") == "check {\n      ^ open"


def test_wide_characters_have_two_carets_and_push_by_two() -> None:
    assert excerpt("日本 x", 0, 2) == "日本 x\n^^^^"
    assert excerpt("日本 x", 3, 4) == "日本 x\n     ^"


def test_a_combining_character_takes_no_column() -> None:
    assert excerpt("e\N{COMBINING ACUTE ACCENT} x", 3, 4) == "e\N{COMBINING ACUTE ACCENT} x\n  ^"


def test_control_characters_cannot_reach_the_terminal() -> None:
    shown = excerpt("a\x1b[31m\x00\N{RIGHT-TO-LEFT OVERRIDE}b", 8, 9)

    assert shown == "a�[31m��b\n        ^"


def test_a_long_line_is_cut_on_the_side_where_something_is_left_out() -> None:
    text = "".join(chr(ord("a") + n % 26) for n in range(WIDTH * 3))

    assert excerpt(text, 0, 2) == f"{text[:WIDTH]}…\n^^"
    assert excerpt(text, len(text) - 1, len(text)) == f"…{text[-WIDTH:]}\n" + " " * WIDTH + "^"
    middle, carets = excerpt(text, WIDTH, WIDTH + 3).split("\n")
    assert middle == f"…{text[WIDTH // 2 : WIDTH // 2 + WIDTH]}…"
    assert middle[carets.index("^") : carets.rindex("^") + 1] == text[WIDTH : WIDTH + 3]


def test_a_line_of_just_the_width_is_whole() -> None:
    assert excerpt("x" * WIDTH, 3, 4) == "x" * WIDTH + "\n   ^"


def test_carets_do_not_run_past_a_cut_line() -> None:
    line, carets = excerpt("x" * WIDTH * 3, 0, WIDTH * 3).split("\n")

    assert line == "x" * WIDTH + "…"
    assert carets == "^" * WIDTH


@given(st.text(alphabet="ab \t\r\n日\x1b\u0301", max_size=400), st.integers(0, 400), st.integers(0, 400))
def test_any_span_gives_three_lines_and_a_caret(text: str, start: int, length: int) -> None:
    start = min(start, len(text))
    lines = render(mistake(text, start, min(len(text), start + length))).split("\n")

    assert len(lines) == 3
    assert lines[2].strip(" |").strip("^") == ""
    assert "^" in lines[2]


def test_an_error_holds_its_diagnostics_in_the_order_of_the_text() -> None:
    late, early = mistake("one two", 4, 7), mistake("one two", 0, 3)
    whole = Diagnostic("R0101", late.source, None, "whole")

    error = SpecError([late, early, whole])

    assert error.diagnostics == (whole, early, late)
    assert str(error) == "\n".join(render(found) for found in (whole, early, late))


def test_a_near_name_is_suggested() -> None:
    assert suggest("leadr", ["leader", "epoch"]) == "did you mean `leader`?"
    assert suggest("ISR", ["isr", "epoch"]) == "did you mean `isr`?"


def test_a_far_name_and_the_name_itself_are_not_suggested() -> None:
    assert suggest("zookeeper", ["leader", "epoch"]) == ""
    assert suggest("leader", ["leader"]) == ""


def test_json_holds_the_place_and_the_notes() -> None:
    source = Source("a.rsm", "one\n  two")
    note = Note(source, Span(0, 3), "first here")
    found = Diagnostic("R0101", source, Span(6, 9), "again", "a name", "drop one", (note,))

    assert json.loads(json.dumps(as_json(found))) == {
        "code": "R0101",
        "message": "again",
        "file": "a.rsm",
        "line": 2,
        "column": 3,
        "length": 3,
        "label": "a name",
        "help": "drop one",
        "notes": [{"message": "first here", "file": "a.rsm", "line": 1, "column": 1, "length": 3}],
    }


def test_json_of_a_whole_input_has_no_line() -> None:
    found = as_json(Diagnostic("R0101", Source("a.rsm", ""), None, "the file is empty"))

    assert "line" not in found
    assert found["file"] == "a.rsm"
