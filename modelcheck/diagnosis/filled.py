"""Texts of a model with the values of its names in their places: `ids(l.log)` for B is `ids(B.log)`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from counterexamples.lines import one_line
from spec.frozen import frozen
from spec.model.ir import Expr, Local
from spec.model.walk import walk
from spec.source import Source, Span

LONG = 24  # characters


@frozen
class NameValues:
    """The values of names, by name in the declaration that binds them, by slot in functions.

    `home` is the declaration.
    """

    home: Span
    names: Mapping[str, str]
    slots: Mapping[int, str]


def given(home: Span, shown: Iterable[tuple[str, int, str]]) -> NameValues:
    """The values of names with their slots; values too long to insert are left out."""
    short = [each for each in shown if len(each[2]) <= LONG]
    return NameValues(home, {name: text for name, _, text in short}, {slot: text for _, slot, text in short})


def filled(source: Source, expr: Expr, given: NameValues) -> str:
    """An expression's text on one line, with values in place of names.

    In a declaration no name hides another, so there its text is enough to go by.
    """
    text = source.at(expr.span)
    if given.home.start <= expr.span.start and expr.span.end <= given.home.end:
        text = _in_place_of_names(text, given.names)
    else:
        text = _in_place_of_slots(text, expr, given.slots)
    return one_line(text)


def _in_place_of_names(text: str, names: Mapping[str, str]) -> str:
    """The text with names replaced, except field names: `r.log`, `Entry(epoch = 1)`."""
    if not names:
        return text
    either = "|".join(re.escape(name) for name in names)
    return re.sub(rf"(?<![\w.])({either})(?!\w|\s*=(?!=))", lambda found: names[found[1]], text)


def _in_place_of_slots(text: str, expr: Expr, slots: Mapping[int, str]) -> str:
    """The text with the occurrences of slots replaced."""
    for start, end, slot in sorted(dict.fromkeys(_places(expr, slots)), reverse=True):
        first, last = start - expr.span.start, end - expr.span.start
        if first >= 0 and last <= len(text):  # else it is in the text of another function
            text = text[:first] + slots[slot] + text[last:]
    return text


def _places(expr: Expr, slots: Mapping[int, str]) -> Iterator[tuple[int, int, int]]:
    """The occurrences of the slots: start, end, slot."""
    names = (part for part in walk(expr) if isinstance(part, Local))
    return ((name.span.start, name.span.end, name.slot) for name in names if name.slot in slots)
