"""Texts and JSON made wrong: a little, in a random place, as people and programs do."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

NUMBERS = ("0", "-1", "1", "64", "65", "4097", "1000000", str(2**31), str(2**63), str(10**30), "1e400", "007")
FOREIGN = (
    *"none {} [] old(1) the(none) set[bool] true // { } ( ) .. := = ; , %s ${x} * &a é - :".split(),
    *("(1, 2)", "bag[bool; 3]", "\0", "\ud83d", '"', "\\", "\r", "\t", "- ", ": "),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 10**30, 0.5, float("nan"), float("inf")),
    *("", "x", "#bigint", "\0", "\ud800", [], {}, [[]], [1, [2, [3]]], {"a": {"a": {}}}),
    *({"#bigint": "x"}, {"#bigint": "9" * 40}, {"#map": [[1]]}, {"#set": [1, 1]}, {"#tup": 3}, {"tag": "x"}),
)
TOKEN = re.compile(r'"[^"\n]*"|//[^\n]*|#[^\n]*|[A-Za-z_]\w*|\d+|:=|==|!=|<=|>=|\.\.|~>|->|\s+|.', re.DOTALL)
DEEP = (100, 3000)  # so many brackets within each other


def mutated(text: str, chance: Random) -> str:
    """The text with one to four mistakes."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        text = chance.choice((_tokens, _tokens, _tokens, _lines, _characters))(text, chance)
    return text


def mutated_json(text: str, chance: Random) -> str:
    """JSON with one to four wrong values in it, or a text that is no JSON any more."""
    if chance.random() < 0.3:
        return mutated(text, chance)
    data = json.loads(text)
    for _ in range(chance.choice((1, 1, 2, 4))):
        data = _data(data, chance)
    return json.dumps(data)


def _tokens(text: str, chance: Random) -> str:
    tokens = TOKEN.findall(text)
    places = [n for n, token in enumerate(tokens) if token.strip()]
    if not places:
        return chance.choice(FOREIGN)
    at, other = chance.choice(places), chance.choice(places)
    numbers = [n for n in places if tokens[n].isdecimal()]
    match chance.choice("lose double swap copy copy foreign number number deep".split()):
        case "lose":
            tokens[at] = ""
        case "double":
            tokens[at] += f" {tokens[at]}"
        case "swap":
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case "copy":
            tokens[at] = tokens[other]
        case "foreign":
            tokens[at] = chance.choice(FOREIGN)
        case "number" if numbers:
            tokens[chance.choice(numbers)] = chance.choice(NUMBERS)
        case _:
            many = chance.choice(DEEP)
            tokens[at] = chance.choice(("(", "[", "{", "not ", "-")) * many + tokens[at]
    return "".join(tokens)


def _lines(text: str, chance: Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.choice("lose double move cut".split()):
        case "lose":
            del lines[at]
        case "double":
            lines.insert(at, lines[at])
        case "move":
            lines[at], lines[other] = lines[other], lines[at]
        case _:
            del lines[at:]
    return "".join(lines)


def _characters(text: str, chance: Random) -> str:
    at = chance.randrange(len(text) + 1)
    some = chance.choice((*FOREIGN, chr(chance.randrange(1, 0x2FFF)), ""))
    return text[:at] + some + text[at + chance.choice((0, 1, 1, 5)) :]


def _data(data: Any, chance: Random) -> Any:  # noqa: ANN401 - JSON
    """The same with one value lost, doubled or replaced, at any depth."""
    if not isinstance(data, dict | list) or not data or chance.random() < 0.05:
        return chance.choice(VALUES)
    key = chance.choice(list(data) if isinstance(data, dict) else range(len(data)))
    copy: Any = dict(data) if isinstance(data, dict) else list(data)
    match chance.random():
        case kind if kind < 0.08:
            del copy[key]
        case kind if kind < 0.12 and isinstance(copy, list):
            copy.insert(key, copy[key])
        case kind if kind < 0.16 and isinstance(copy, dict):
            copy[chance.choice(("x", "", "#map", str(key) + "'"))] = copy.pop(key)
        case kind if kind < 0.2:
            other = chance.choice(list(data) if isinstance(data, dict) else range(len(data)))
            copy[key] = data[other]
        case _:
            copy[key] = _data(copy[key], chance)
    return copy
