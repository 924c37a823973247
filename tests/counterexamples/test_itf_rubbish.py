"""Whatever stands in a trace, reading it ends in a trace or in a word about a place in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterexamples.certify import NotReplayable, certify
from counterexamples.itf.json_text import find
from counterexamples.itf.read import document, read
from counterexamples.itf.write import write
from spec.diagnostics import SpecError, render
from tests.counterexamples.runs import divergence, scope, toy, walk
from tests.cpu_time import cpu_seconds

MODEL = toy()
TEXT = write(walk("elect(a)", "ask(b)", "answer | m = Fetch(from = b, at = 0)"))
KEYS = st.sampled_from(["#bigint", "#tup", "#set", "#map", "#meta", "tag", "value", "action", "a", "Some"])
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def places(of: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:  # noqa: ANN401 - JSON
    yield path
    for key, inner in of.items() if isinstance(of, dict) else enumerate(of) if isinstance(of, list) else ():
        yield from places(inner, (*path, key))


PLACES = list(places(json.loads(TEXT)))


def told(text: str) -> str:
    """What is said about a text; nothing when it is a trace that replays."""
    try:
        certify(document(text).trace(MODEL, scope(MODEL)))
    except SpecError as error:
        return "\n".join(map(render, error.diagnostics))
    except NotReplayable as refusal:
        return str(refusal)
    return ""


@given(st.sampled_from(PLACES[1:]), JSON)
def test_any_value_in_any_place_is_read_or_told(path: tuple[str | int, ...], value: object) -> None:
    whole = json.loads(TEXT)
    part = whole
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value

    told(json.dumps(whole))


@given(st.sampled_from(PLACES[1:]))
def test_any_part_that_is_missing_is_read_or_told(path: tuple[str | int, ...]) -> None:
    whole = json.loads(TEXT)
    part = whole
    for key in path[:-1]:
        part = part[key]
    del part[path[-1]]

    told(json.dumps(whole))


@given(st.integers(0, len(TEXT) - 4))
def test_a_text_that_is_cut_is_told(end: int) -> None:
    assert "R0801" in told(TEXT[:end])


@given(JSON)
def test_foreign_json_is_told(value: object) -> None:
    assert told(json.dumps(value))


@given(st.text())
def test_any_text_is_told(text: str) -> None:
    assert told(text)


@pytest.mark.parametrize("depth", [100, 330, 900, 990, 100_000])
@pytest.mark.parametrize("key", ["states", "vars", "#meta", "loop"])
def test_deep_nesting_is_told(depth: int, key: str) -> None:
    deep = "[" * depth + "]" * depth

    assert told(TEXT.replace('"vars": [', f'"{key}": {deep}, "vars": [', 1))
    assert told(f'{{"vars": [], "states": [{deep}]}}')


def test_a_mistake_at_the_end_of_a_text_ten_times_as_large_takes_ten_times_as_long() -> None:
    def seconds(states: int, times: int) -> float:
        whole = json.loads(TEXT)
        whole["states"] += [whole["states"][-1]] * states
        whole["states"][-1] = {**whole["states"][-1], "epoch": "x"}
        text, place = json.dumps(whole), f"states[{len(whole['states']) - 1}].epoch"
        found: list[str] = []
        took = cpu_seconds(lambda: found.append(told(text)), times)

        assert all(place in each for each in found)
        return took

    assert seconds(5_000, times=1) < 40 * seconds(500, times=3)


def test_a_place_is_found_behind_escapes() -> None:
    text = r'{"a\"b": ["\\", {"\u0063": 1}]}'
    span = find(text, ('a"b', 1, "c"))

    assert text[span.start : span.end] == "1"


def test_plain_numbers_are_read_as_before() -> None:
    trace = divergence()
    whole = json.loads(write(trace))

    def plain(part: Any) -> Any:  # noqa: ANN401 - JSON
        match part:
            case {"#bigint": digits}:
                return int(digits)
            case dict():
                return {key: plain(inner) for key, inner in part.items()}
            case list():
                return [plain(inner) for inner in part]
            case _:
                return part

    assert "#bigint" not in json.dumps(plain(whole))
    assert read(json.dumps(plain(whole)), toy()) == trace
