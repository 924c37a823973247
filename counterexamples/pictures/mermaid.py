"""A picture as a Mermaid sequence diagram, which GitHub draws in Markdown.

Everything that a model or a trace brings along is behind a colon, with all
signs that mean something to Mermaid as entities: so it is text and never syntax.
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

MOST = 50_000  # characters of a diagram: Mermaid draws no more with its usual settings
ARROWS = {
    ArrowKind.MESSAGE: "-)",
    ArrowKind.COPY: "-->>",
    ArrowKind.DECISION: "->>",
    ArrowKind.RECORD: "->>",
    ArrowKind.ANSWER: "--)",
    ArrowKind.CALL: "->",
    ArrowKind.FAULT: "-x",
}
# Translucent, so that the words on them are legible in light and in dark mode.
COLOURS = {Kind.FAULT: "rgba(207, 34, 46, 0.16)", Kind.REPAIR: "rgba(26, 127, 55, 0.16)"}
WRONG = "rgba(207, 34, 46, 0.32)"
REACHED = "rgba(26, 127, 55, 0.32)"
BESIDE = 46  # characters of a line in a note next to one lane
ACROSS = 24  # characters for each lane in a note across all
# Signs that Mermaid's grammar, its directives, its entities or its formulas give a meaning; a colon
# only where no blank follows it, or `wrap` is before it.
_MEANS_SOMETHING = re.compile(r"[#;%<>&\"\\`$@^~ßﬂ°¶]|:(?! )|(?<=wrap):", re.IGNORECASE)


def mermaid(picture: Picture) -> str:
    """The picture as a Mermaid sequence diagram. Mermaid refuses more than `MOST` characters."""
    return "".join(f"{line}\n" for line in _lines(picture))


def escaped(text: str) -> str:
    """The text escaped for one line of Mermaid."""
    return _MEANS_SOMETHING.sub(lambda sign: f"#{ord(sign[0])};", clean(text).strip()) or "#160;"


def _lines(picture: Picture) -> Iterator[str]:
    """The lines of the diagram."""
    names = ids(picture)
    across = _across(picture)
    yield "sequenceDiagram"
    yield f"    accTitle: {escaped(picture.title)}"
    yield f"    accDescr: {escaped(picture.caption or picture.title)}"
    yield f"    title {escaped(picture.title)}"
    for lane, name in names.items():
        kind = "actor" if lane == picture.client else "participant"
        yield f"    {kind} {name} as {escaped(lane)}"
    yield f"    %% {escaped(picture.bounds)}"
    if about := picture.about:
        yield across(*about)
    repeats = repeats_from(picture)
    for index, row in enumerate(picture.rows):
        if index == repeats:
            yield "    loop for ever"
        yield from _row(picture, row, index, names)
        if is_turn(picture, row):
            yield across(NO_RETURN)
    if repeats == len(picture.rows):
        yield across("↻ and here it may stay for ever")
    elif repeats is not None:
        yield "    end"
    if not all(row.is_needed for row in picture.rows):
        yield across(UNNEEDED)


def _row(picture: Picture, row: PictureRow, index: int, names: dict[str, str]) -> Iterator[str]:
    """The lines of a step: its name, arrows, and the states of the lanes it touched."""
    across = _across(picture)
    inside = [across(heading(row))]
    inside += [
        f"    {names[arrow.start]}{ARROWS[arrow.mark]}{names[arrow.end]}: {escaped(arrow.text)}"
        for arrow in row.arrows
        if arrow.start in names and arrow.end in names
    ]
    for group, lines in lane_notes(picture, index):
        noted = (f"each of {', '.join(group)}", *lines) if len(group) > 1 else lines
        inside.append(_note([names[lane] for lane in group], noted, BESIDE * len(group)))
    colour = COLOURS.get(row.kind)
    if row.is_last and picture.verdict:
        first, *others = picture.verdict
        inside.append(across(f"{'✗' if picture.is_bad else '✓'} {first}", *others))
        colour = WRONG if picture.is_bad else REACHED
    if colour is None:
        yield from inside
    else:
        yield f"    rect {colour}"
        yield from (f"    {line}" for line in inside)
        yield "    end"


def _across(picture: Picture) -> Callable[..., str]:
    """A function that makes a note across all lanes."""
    lanes = [*ids(picture).values()]
    width = min(100, max(BESIDE, ACROSS * len(lanes)))
    return lambda *lines: _note(lanes, lines, width)


def _note(lanes: list[str], lines: tuple[str, ...], width: int) -> str:
    """A note over lanes."""
    over = ",".join(dict.fromkeys((lanes[0], lanes[-1])))
    return f"    Note over {over}: {'<br/>'.join(map(escaped, folded(lines, width)))}"
