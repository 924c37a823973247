"""A picture as a PlantUML sequence diagram.

Everything that a model or a trace brings along has all signs that mean something
to PlantUML, its preprocessor or its markup replaced by their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from counterexamples.lines import clean
from counterexamples.pictures.picture import ArrowKind, Picture, PictureRow
from counterexamples.pictures.words import (
    NO_RETURN,
    UNNEEDED,
    folded,
    heading,
    ids,
    is_turn,
    lane_notes,
    repeats_from,
)
from spec.model.ir import Kind

ARROWS = {
    ArrowKind.MESSAGE: "->>",
    ArrowKind.COPY: "-->",
    ArrowKind.DECISION: "-[bold]>",
    ArrowKind.RECORD: "->",
    ArrowKind.ANSWER: "-->>",
    ArrowKind.CALL: "<->",
    ArrowKind.FAULT: "->x",
}
SHAPES = {Kind.ACTION: ("note", ""), Kind.FAULT: ("hnote", " #FFD8D3"), Kind.REPAIR: ("rnote", " #D5ECDB")}
NEWLINE = r"\n"  # as PlantUML has it
WRONG = " #FFB3AB"
REACHED = " #AFE3BD"
BESIDE = 46  # characters of a line in a note next to one lane
ACROSS = 24  # characters for each lane in a note across all
HARMLESS = ".-_=:{}[]"
OURS = "·→−×…✓✗✕★☆⚡✚↻▼"
_IS_SIGN = re.compile(r"[^\w (),]|[_\U00010000-\U0010ffff]")
_HAS_NO_NUMBER = re.compile(r"[\ufffe\uffff\U00100000-\U0010ffff]")  # that PlantUML could write


def plantuml(picture: Picture) -> str:
    """The picture as a PlantUML sequence diagram."""
    return "".join(f"{line}\n" for line in _lines(picture))


def escaped(text: str) -> str:
    """The text escaped for one line of PlantUML."""
    text = _HAS_NO_NUMBER.sub("\N{REPLACEMENT CHARACTER}", clean(text).strip()) or "\N{NO-BREAK SPACE}"
    if not any(sign.isascii() and sign.isalnum() for sign in text):  # it takes no title without some letter
        return "".join(f"<U+{ord(sign):04X}>" for sign in text)
    return _IS_SIGN.sub(_number, text)


def _number(sign: re.Match[str]) -> str:
    """A character as its escape by number."""
    before, after = sign.string[: sign.start()][-1:], sign.string[sign.end() :][:1]
    if sign[0] in OURS or (sign[0] in HARMLESS and before and sign[0] not in (before, after)):
        return sign[0]
    return f"<U+{ord(sign[0]):04X}>"


def _lines(picture: Picture) -> Iterator[str]:
    """The lines of the diagram."""
    names = ids(picture)
    across = _across(picture)
    yield "@startuml"
    yield "skinparam ParticipantPadding 50"
    yield f"title {escaped(picture.title)}"
    for lane, name in names.items():
        kind = "actor" if lane == picture.client else "participant"
        yield f'{kind} "{escaped(lane)}" as {name}'
    if about := picture.about:
        yield across("note", "", *about)
    repeats = repeats_from(picture)
    for index, row in enumerate(picture.rows):
        if index == repeats:
            yield "loop for ever"
        yield from _row(picture, row, index, names)
        if is_turn(picture, row):
            yield across("note", "", NO_RETURN)
    if repeats == len(picture.rows):
        yield across("note", "", "↻ and here it may stay for ever")
    elif repeats is not None:
        yield "end"
    if picture.verdict:
        first, *others = picture.verdict
        sign, colour = ("✗", WRONG) if picture.is_bad else ("✓", REACHED)
        yield across("rnote", colour, f"{sign} {first}", *others)
    below = [picture.bounds] if all(row.is_needed for row in picture.rows) else [UNNEEDED, picture.bounds]
    yield f"footer {NEWLINE.join(map(escaped, folded(below, 100)))}"
    yield "@enduml"


def _row(picture: Picture, row: PictureRow, index: int, names: dict[str, str]) -> Iterator[str]:
    """The lines of a step: its name, arrows, and the states of the lanes it touched."""
    shape, colour = SHAPES[row.kind]
    if row.is_last and picture.is_bad:
        colour = WRONG
    yield _across(picture)(shape, colour, heading(row))
    for arrow in row.arrows:
        if arrow.start in names and arrow.end in names:
            yield f"{names[arrow.start]} {ARROWS[arrow.mark]} {names[arrow.end]} : {escaped(arrow.text)}"
    for group, lines in lane_notes(picture, index):
        noted = (f"each of {', '.join(group)}", *lines) if len(group) > 1 else lines
        is_wrong = row.is_last and any(lane in picture.broken for lane in group)
        lanes = [names[lane] for lane in group]
        yield _note("note", WRONG if is_wrong else "", lanes, noted, BESIDE * len(group))


def _across(picture: Picture) -> Callable[..., str]:
    """A function that makes a note across all lanes, of a shape and a colour."""
    lanes = [*ids(picture).values()]
    width = min(100, max(BESIDE, ACROSS * len(lanes)))
    return lambda shape, colour, *lines: _note(shape, colour, lanes, lines, width)


def _note(shape: str, colour: str, lanes: list[str], lines: tuple[str, ...], width: int) -> str:
    """A note over lanes."""
    over = ", ".join(dict.fromkeys((lanes[0], lanes[-1])))
    return f"{shape} over {over}{colour} : {NEWLINE.join(map(escaped, folded(lines, width)))}"
