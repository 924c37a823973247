"""JSON as a text: read strictly, with the place of each part."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NoReturn

from counterexamples.itf.decode import Path
from counterexamples.itf.encode import Json
from spec.diagnostics import Diagnostic, SpecError
from spec.source import Source, Span

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_MARK = re.compile(rf"{_STRING}|[{{}}\[\],]")
_NO_NUMBER = re.compile(rf"{_STRING}|(-?Infinity|NaN)")
_DECODER = json.JSONDecoder()


def parse(source: Source) -> Json:
    """The value of a JSON text. Raises SpecError for malformed JSON or a repeated key."""
    text = source.text

    def once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        found = dict(pairs)
        if len(found) < len(pairs):
            _refuse(
                source,
                _repeated_key(text),
                "an object has one value for each name; this name is there already",
            )
        return found

    def no_number(name: str) -> NoReturn:
        _refuse(source, _no_number(text), f"{name} is no number in JSON")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=no_number)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        message = "the text ends in the middle of a value" if cut else f"this is not JSON: {error.msg}"
        _refuse(source, Span(error.pos, error.pos + 1), message)
    except (RecursionError, ValueError):
        _refuse(source, None, "this is no trace: its JSON is nested too deep or has a number too long")


def find(text: str, path: Path) -> Span:
    """The span of the value at a path in a well-formed JSON text."""
    at = _skip(text, 0)
    for key in path:
        at = _skip(text, at + 1)
        for index in _numbers():
            if isinstance(key, str):
                found, at = _DECODER.raw_decode(text, at)
                at = _skip(text, _skip(text, at) + 1)
                here = found == key
            else:
                here = index == key
            if here:
                break
            _, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
    return Span(at, _DECODER.raw_decode(text, at)[1])


def spell(path: Path) -> str:
    """A path as text: `states[3].isr`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _refuse(source: Source, span: Span | None, message: str) -> NoReturn:
    """Raise SpecError."""
    raise SpecError([Diagnostic("R0801", source, span, message)]) from None


def _repeated_key(text: str) -> Span | None:
    """The span of the first repeated key in an object."""
    open_: list[set[str] | None] = []  # the names so far of each object; None of a list
    is_name = False
    for mark in _MARK.finditer(text):
        match mark[0][0]:
            case "{":
                open_.append(set())
                is_name = True
            case "[":
                open_.append(None)
                is_name = False
            case "}" | "]":
                open_.pop()
                is_name = False
            case ",":
                is_name = open_[-1] is not None
            case _ if is_name and (names := open_[-1]) is not None:
                name = json.loads(mark[0])
                if name in names:
                    return Span(*mark.span())
                names.add(name)
                is_name = False
    return None


def _no_number(text: str) -> Span | None:
    """The span of the first NaN or infinity outside strings."""
    return next((Span(*mark.span()) for mark in _NO_NUMBER.finditer(text) if mark[1]), None)


def _numbers() -> Iterator[int]:
    """The numbers from 0 on."""
    index = 0
    while True:
        yield index
        index += 1


def _skip(text: str, at: int) -> int:
    """The index after white space."""
    found = _SPACE.match(text, at)
    return found.end() if found else at
