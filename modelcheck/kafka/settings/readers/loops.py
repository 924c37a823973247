"""Loops of a shell: which topics and brokers a command in one is of."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product

from modelcheck.kafka.settings.readings import is_template

_WORD = r"(?:\"[\w.-]+\"|'[\w.-]+'|[\w.-]+)"
_LOOP = re.compile(
    rf"\bfor[ \t]+(?P<variable>\w+)[ \t]+in[ \t]+(?P<words>{_WORD}(?:[ \t]+{_WORD}){{0,199}})"
    r"[ \t]*(?:;|\r?\n)\s*do\b"
)
_VARIABLE = re.compile(r"\$\$?(?:\{(\w+)\}|(\w+))")  # `$$` is Compose's for `$`
_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.MULTILINE)
_TURN = re.compile(r"\b(?:do|done)\b")
_NOT_EACH = re.compile(
    r"\b(?:if|case|while|until|continue|break)\b|&&|\|\|"
)  # a command that some turns leave out
_MOST = 1_000  # turns
_LONGEST = 20_000  # characters of a loop before a command: to look at more for each command takes too long


def in_each_turn(text: str, name: str, at: int) -> tuple[str, ...]:
    """The names that a name at a place of a script is of, one for each turn of the loops around it.

    The name itself, where it is filled in by more than loops over words in the text, or not in each turn.
    """
    variables = sorted({one[1] or one[2] for one in _VARIABLE.finditer(name)})
    words = [_words(text, variable, at) for variable in variables]
    turns = 1
    for each in words:
        turns *= len(each)
    if not variables or not 0 < turns <= _MOST:
        return (name,)
    found = [_filled_in(name, dict(zip(variables, turn, strict=True))) for turn in product(*words)]
    return (name,) if any(map(is_template, found)) else tuple(dict.fromkeys(found))


def _filled_in(name: str, values: dict[str, str]) -> str:
    """A name with the values of its variables."""
    return _VARIABLE.sub(lambda one: values[one[1] or one[2]], name)


def _words(text: str, variable: str, at: int) -> tuple[str, ...]:
    """The words that the loop around a place gives to a variable; none if it is no such loop."""
    loops = _loops(text).get(variable, ())
    before = bisect_right(loops, at, key=lambda one: one.end())
    if before == 0 or at - loops[before - 1].end() > _LONGEST:
        return ()
    loop = loops[before - 1]
    body = _COMMENT.sub("", text[loop.end() : at])
    depth = 1
    for turn in _TURN.finditer(body):
        depth += 1 if turn[0] == "do" else -1
        if depth == 0:
            return ()
    if _NOT_EACH.search(body) or re.search(rf"\b{variable}=", body):
        return ()
    return tuple(word.strip("\"'") for word in loop["words"].split())


@lru_cache(maxsize=2)
def _loops(text: str) -> Mapping[str, Sequence[re.Match[str]]]:
    """The loops over words in a text, by their variables, in order."""
    found: dict[str, list[re.Match[str]]] = {}
    for one in _LOOP.finditer(text):
        found.setdefault(one["variable"], []).append(one)
    return found
