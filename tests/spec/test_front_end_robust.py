"""Whatever text comes in, the answer is a model or a SpecError that can be shown: nothing else, and soon."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spec.codes import codes
from spec.diagnostics import SpecError, as_json
from spec.load import load, loads
from tests.cpu_time import cpu_seconds

EVERYTHING = (Path(__file__).parent / "everything.rsm").read_text(encoding="utf-8")
TOKENS = re.findall(r'//[^\n]*|"[^"\n]*"|\w+|:=|==|!=|<=|>=|\.\.|~>|->|\s+|.', EVERYTHING, re.DOTALL)
PLACES = [i for i, token in enumerate(TOKENS) if token.strip() and not token.startswith("//")]
NAMES = [i for i in PLACES if re.fullmatch(r"[A-Za-z_]\w*", TOKENS[i])]
FOREIGN = (
    "none",
    "{}",
    "[]",
    "-1",
    "old(1)",
    "(1, 2)",
    "{a, b}",
    "the(none)",
    "set[bool]",
    "é",
    "\0",
    "99999",
)
BASE = "protocol m\nsort R\nstate { x: 0..9 = 0 }\n"


def told(text: str) -> list[str]:
    """The codes of what is wrong with a text; fails on any other exception, and on what cannot be shown."""
    try:
        loads(text, "m.rsm")
    except SpecError as error:
        found = error
    else:
        return []
    assert str(found)
    for diagnostic in found.diagnostics:
        assert diagnostic.message
        assert diagnostic.entry.title
        json.dumps(as_json(diagnostic))
    return [diagnostic.code for diagnostic in found.diagnostics]


@cache
def one_reading() -> float:
    """The seconds of CPU that the model with everything in it takes, by which others are measured."""
    return cpu_seconds(lambda: loads(EVERYTHING))


def readings(work: Callable[[], object]) -> float:
    """What some work costs, in readings of the model with everything in it."""
    return cpu_seconds(work, times=1) / one_reading()


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """The model with everything in it, with a few tokens lost, doubled, swapped or replaced."""
    tokens = list(TOKENS)
    for _ in range(draw(st.integers(1, 3))):
        at, other = draw(st.sampled_from(PLACES)), draw(st.sampled_from(PLACES))
        match draw(st.sampled_from(("lose", "double", "swap", "foreign", "name", "name", "name", "name"))):
            case "lose":
                tokens[at] = ""
            case "double":
                tokens[at] = f"{tokens[at]} {tokens[at]}"
            case "swap":
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case "foreign":
                tokens[at] = draw(st.sampled_from(FOREIGN))
            case _:
                tokens[draw(st.sampled_from(NAMES))] = TOKENS[draw(st.sampled_from(NAMES))]
    return "".join(tokens)


def test_the_model_with_everything_in_it_is_right() -> None:
    assert told(EVERYTHING) == []


@settings(max_examples=400)
@given(damaged())
def test_a_damaged_model_is_a_model_or_a_diagnostic(text: str) -> None:
    told(text)


@settings(max_examples=150)
@given(st.text(max_size=200))
def test_any_text_behind_a_model_is_read_or_refused(text: str) -> None:
    told(BASE + text)


DEEP = 2_000
AS_DEEP: dict[str, Callable[[int], str]] = {  # so many levels of each
    "parentheses": lambda n: "invariant a: " + "(" * n + "true" + ")" * n,
    "not": lambda n: "invariant a: " + "not " * n + "true",
    "implies": lambda n: "invariant a: " + " implies ".join(["x == 0"] * n),
    "plus": lambda n: "invariant a: " + " + ".join(["x"] * n) + " == 0",
    "quantifiers": lambda n: "invariant a: " + "".join(f"forall r{i}: R. " for i in range(n)) + "true",
    "let": lambda n: "invariant a: " + "".join(f"let y{i} = x. " for i in range(n)) + "true",
    "if": lambda n: "invariant a: " + "if x == 0 then x == 1 else " * n + "true",
    "blocks": lambda n: "action a {" + "if x == 0 {" * n + "x := 1" + "}" * n + "}",
    "else if": lambda n: "action a {" + "if x == 0 { x := 1 } else " * n + "{ x := 1 } }",
    "types": lambda n: "state { y: " + "set[" * n + "bool" + "]" * n + " = {} }",
    "calls": lambda n: "fun f0: int = x\n" + "".join(f"fun f{i}: int = f{i - 1}\n" for i in range(1, n)),
}
NESTED = {
    **{what: text(DEEP) for what, text in AS_DEEP.items()},
    "fields": "invariant a: x" + ".y" * DEEP,
    "doubling calls": "fun f0: int = x\n"
    + "".join(f"fun f{i}: int = f{i - 1} + f{i - 1}\n" for i in range(1, 60)),
    "says": 'action a says "{' + "(" * DEEP + "x" + ")" * DEEP + '}" { x := 1 }',
}


@pytest.mark.parametrize("what", NESTED)
def test_what_is_nested_too_deep_is_refused_once_and_soon(what: str) -> None:
    codes_told: list[str] = []
    cost = readings(lambda: codes_told.extend(told(BASE + NESTED[what])))

    assert codes_told == ["R0104"]
    assert cost < 1000  # some 140 for doubling calls, else less than ten


@pytest.mark.parametrize("what", AS_DEEP)
def test_the_code_says_how_deep_is_too_deep(what: str) -> None:
    """The first number is of expressions, the next of blocks and types, the last of parentheses."""
    numbers = list(map(int, re.findall(r"some (\d+)", codes()["R0104"].text)))
    levels = dict.fromkeys(AS_DEEP, numbers[0])
    levels |= dict.fromkeys(("blocks", "else if", "types"), numbers[1]) | {"parentheses": numbers[2]}

    assert len(numbers) == 3
    assert told(BASE + AS_DEEP[what](levels[what] - 2)) == []
    assert "R0104" in told(BASE + AS_DEEP[what](levels[what] * 2))


def test_a_long_list_of_tests_is_not_nested() -> None:
    assert told(BASE + "invariant a: " + " and ".join(["x == 0"] * DEEP)) == []


@pytest.mark.parametrize("what", ["not ", "(", "if x == 0 then x == 1 else ", "forall r in R. "])
def test_what_is_nested_too_deep_is_shown_without_reading_on(what: str) -> None:
    def read() -> None:
        with pytest.raises(SpecError) as found:
            loads(BASE + "invariant a: " + what * 20_000)
        (told_of,) = found.value.diagnostics

        assert (told_of.code, told_of.span is not None) == ("R0104", True)

    assert readings(read) < 150  # some 13 at most


def test_a_hundred_conditions_in_a_row_are_not_deep() -> None:
    assert told(BASE + "invariant a: " + " and ".join(["x == 0"] * 100)) == []


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (BASE.replace("\n", "\r\n") + "invariant a: y == 0\r\n", ["R0208"]),
        (BASE + "\tinvariant\ta:\ty == 0", ["R0208"]),
        (BASE + "invariant é: x == 0", ["R0101"]),
        (BASE + "invariant a: x == " + "9" * 6_000, ["R0101"]),
        (BASE + "invariant a: \0 x == 0", ["R0101"]),
        (BASE + 'action a says "🙂 {y}" { x := 1 }', ["R0208"]),
        (BASE + 'action a says "{x" { x := 1 }', ["R0101"]),
        (BASE + 'action a says "{x}}" { x := 1 }', ["R0101"]),
        (BASE + "invariant a: x == 0 // " + "z" * 1_000_000, []),
        ("", ["R0102"]),
        ("// nothing but a comment", ["R0101"]),
    ],
    ids=["CRLF", "tabs", "é", "digits", "NUL", "emoji", "brace", "braces", "long line", "empty", "comment"],
)
def test_odd_texts_are_read_or_refused(text: str, codes: list[str]) -> None:
    assert told(text) == codes


def test_thirty_thousand_lines_are_read_in_seconds() -> None:
    lines = "\n".join(f"action a{i} {{ require x == {i % 9}\n x := 1 }}" for i in range(15_000))

    assert told(BASE + lines) == []


def test_five_hundred_mistakes_are_all_told() -> None:
    assert told(BASE + "\n".join(f"invariant a{i}: y{i} == 0" for i in range(500))) == ["R0208"] * 500


@pytest.mark.parametrize(
    "data",
    [b"\x00\x01\x02", b"protocol \xff\xfe", b"protocol m\n" + b"\x00", b"// " + b"z" * 9_000_000],
    ids=["binary", "not UTF-8", "NUL", "9 MB"],
)
def test_a_file_that_is_no_text_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.rsm"
    path.write_bytes(data)

    with pytest.raises(SpecError) as found:
        load(path)
    assert [d.code for d in found.value.diagnostics] == ["R0103"]


@pytest.mark.parametrize("what", ["/dev/zero", "/dev/random", "pipe"])
def test_what_has_no_end_or_no_beginning_is_refused_at_once(what: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(SpecError) as found:
        load(pipe if what == "pipe" else what)
    assert [d.code for d in found.value.diagnostics] == ["R0103"]


def test_what_the_shell_opens_is_read(tmp_path: Path) -> None:
    reads, writes = os.pipe()
    os.write(writes, BASE.encode())
    os.close(writes)

    assert [model.name for model in load(f"/dev/fd/{reads}")] == ["m"]
    os.close(reads)


def test_a_byte_order_mark_is_no_part_of_a_model(tmp_path: Path) -> None:
    path = tmp_path / "m.rsm"
    path.write_bytes(b"\xef\xbb\xbf" + BASE.encode())

    assert [model.name for model in load(path)] == ["m"]


def test_a_file_that_is_not_there_has_a_suggestion(tmp_path: Path) -> None:
    (tmp_path / "quorum.rsm").write_text(BASE)

    with pytest.raises(SpecError, match=r"R0103.*\n.*did you mean `quorum.rsm`"):
        load(tmp_path / "qourum.rsm")


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="R0103"):
        load(tmp_path)


@pytest.mark.parametrize("what", [" ", "a", "a.", "\t"])
def test_a_mistake_far_behind_in_its_line_is_explained_soon(what: str) -> None:
    def read() -> None:
        assert told(BASE + "invariant a: x == " + what * 50_000 + " @ 1") != []
        assert told(BASE + "action a { x := 1 " + what * 50_000 + "if " + " " * 50_000 + " else 2 }") != []

    assert readings(read) < 600  # some 50 at most
