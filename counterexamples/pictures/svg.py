"""A trace as a sequence diagram in SVG: time goes down, one lane for each replica and for those around them.

The same trace gives the same bytes.  A row's place depends on the rows above
it alone, so a small change of a trace is a small change of the picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from counterexamples.pictures.drawing import (
    LABEL,
    LINE,
    TALL,
    document,
    draw_log,
    heading,
    legend,
    lines,
    log_width,
    rect,
    small,
    stroke,
    verdict,
    width_of,
    words,
)
from counterexamples.pictures.picture import (
    Arrow,
    ArrowKind,
    Picture,
    PictureRow,
    ReplicaState,
)
from counterexamples.pictures.words import NO_RETURN, UNNEEDED, badge, is_turn
from spec.model.ir import Kind

SENTENCES = 290  # the column of sentences
NARROW, WIDE, WIDEST = 116, 156, 290  # lanes: of client and controller; of replicas
EDGE = 18
ARROW = 24  # height of an arrow
POINT = 9  # length of an arrow's head
SIDE = 14  # from a lifeline to the things next to it
Shape = Callable[[float, float], Iterable[str]]  # drawn at the height of its row
KINDS = {Kind.FAULT: ("fault", "⚡ fault", "flash"), Kind.REPAIR: ("repair", "✚ repair", "mended")}


def svg(picture: Picture) -> str:
    """The picture as an SVG sequence diagram."""
    return _Diagram(picture).text()


class _Diagram:
    """Draws one diagram; `_lane` has the position of each lifeline, `_room` the width next to it."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._lane: dict[str, float] = {}
        self._room: dict[str, float] = {}
        x = EDGE + SENTENCES + 26.0
        for name in picture.lanes:
            width = self._wanted(name)
            self._room[name] = width - SIDE - 8
            self._lane[name] = x
            x += width
        self._width = max(x + EDGE, 640.0)
        self._parts: list[str] = []

    def _wanted(self, name: str) -> float:
        """The width that a lane needs."""
        if name not in self._picture.replicas:
            beside = [each for row in self._picture.rows for each in (*row.control, *row.notes.get(name, ()))]
            longest = max((len(word) for each in beside for word in each.split()), default=0)
            wanted = NARROW if name == self._picture.client else SIDE + 14 + 7.2 * longest
            return min(max(NARROW, wanted), WIDE)
        logs = [log_width(row.replicas[name]) for row in self._picture.rows if name in row.replicas]
        return min(max(WIDE, SIDE + 14 + max(logs, default=0)), WIDEST)

    def text(self) -> str:
        """The whole SVG file."""
        picture = self._picture
        y = self._heading()
        for row in picture.rows:
            y = self._row(row, y)
            if is_turn(picture, row):
                y = self._no_return(y)
        if picture.loop is not None:
            self._parts.append(
                words(EDGE, y + 16, f"↻ from after step {picture.loop} on, for ever", "strong")
            )
            y += 26
        y = self._verdict(y)
        y = self._legend(y)
        y = self._small(picture.bounds, y)
        return document(self._width, y + 8, picture.title, picture.caption, self._parts)

    # ------------------------------------------------------------------ heading

    def _heading(self) -> float:
        """Draw the heading; return the y where it ends."""
        self._parts, y = heading(self._picture, EDGE, 30.0, self._width - 2 * EDGE)
        y += 8
        for name, x in self._lane.items():
            width = max(width_of(name) + 18, 44)
            self._parts.append(rect(x - 22, y, width, 26, "head", 5))
            self._parts.append(words(x - 22 + width / 2, y + 18, name, "strong", anchor="middle"))
        return y + 34

    # --------------------------------------------------------------------- rows

    def _row(self, row: PictureRow, y: float) -> float:
        """Draw a step at y; return the y where it ends."""
        texts = lines(row.sentence, SENTENCES - 34)
        name = (
            []
            if not row.action or row.action == row.sentence
            else _at_most(lines(row.action, SENTENCES - 34, 11.5))
        )
        left = 12 + LINE * len(texts) + 13 * len(name) + (LINE if row.kind in KINDS else 0)
        beside = {lane: self._beside(lane, row) for lane in self._lane}
        below = max((height for height, _ in beside.values()), default=0.0)
        height = max(left + 6, ARROW * len(row.arrows) + below + 14)
        self._parts.append(f'<g class="row" data-step="{row.number}">')
        if row.kind in KINDS:
            self._parts.append(
                rect(EDGE - 8, y + 1, self._width - 2 * EDGE + 16, height - 2, KINDS[row.kind][0])
            )
        self._lives(row, y, height)
        self._sentence(row, y, texts, name)
        at = y + 18
        for arrow in row.arrows:
            self._parts.extend(self._arrow(arrow, at))
            at += ARROW
        start = y + ARROW * len(row.arrows) + 8
        for lane, (_, draw) in beside.items():
            self._parts.extend(part for shape in draw for part in shape(self._lane[lane] + SIDE, start))
        self._parts.append(stroke(EDGE - 8, y + height, self._width - EDGE + 8, y + height, "rule"))
        self._parts.append("</g>")
        return y + height

    def _no_return(self, y: float) -> float:
        """Draw the line after which the violation is unavoidable; return the y where it ends."""
        for x in self._lane.values():
            self._parts.append(stroke(x, y, x, y + 26, "life"))
        self._parts.append(rect(EDGE - 8, y + 3, self._width - 2 * EDGE + 16, 20, "turn", 3))
        self._parts.append(words(self._width / 2, y + 17, NO_RETURN, "small", "strong", anchor="middle"))
        return y + 26

    def _sentence(self, row: PictureRow, y: float, texts: list[str], name: list[str]) -> None:
        """Draw a step's sentence and name."""
        at = y + 18
        number = str(row.number) if row.is_needed else f"({row.number})"
        self._parts.append(
            words(EDGE + 14, at, number, "strong" if row.is_needed else "dim", anchor="middle")
        )
        if row.kind in KINDS:
            _, word, kind = KINDS[row.kind]
            self._parts.append(words(EDGE + 30, at, word, kind))
            at += LINE
        for line in texts:
            self._parts.append(words(EDGE + 30, at, line))
            at += LINE
        for line in name:
            self._parts.append(words(EDGE + 30, at - 2, line, "mono", "dim"))
            at += 13

    def _lives(self, row: PictureRow, y: float, height: float) -> None:
        """Draw the lifelines: broken for replicas that are down, with a band for members."""
        for name, x in self._lane.items():
            replica = row.replicas.get(name)
            if replica is not None and replica.member:
                self._parts.append(rect(x - 7, y, 14, height, "member", 0))
            kind = "life" if replica is None or replica.up else "down"
            self._parts.append(stroke(x, y, x, y + height, kind))

    def _beside(self, lane: str, row: PictureRow) -> tuple[float, list[Shape]]:
        """The shapes next to a lifeline, and their height."""
        beside = _Beside(self._room[lane])
        replica = row.replicas.get(lane) if lane in row.shown else None
        if replica is not None:
            beside.say(badge(replica), "small", "strong")
            for oddity in replica.oddities:
                beside.say(oddity, "small", "flash")
        for event in row.events.get(lane, ()):
            beside.say(event, "small", "strong")
        for decided in row.control if lane == self._picture.common else ():
            beside.say(decided, "small", "strong")
        if replica is not None and replica.log is not None:
            beside.log(replica)
        if row.is_last and lane in self._picture.broken:
            beside.frame()
        for note in row.notes.get(lane, ()):
            beside.say(note, "mono", "dim")
        if row.is_last and lane == self._picture.client and self._picture.lost:
            record = f"{self._picture.record}{', '.join(self._picture.lost)}"
            beside.say(f"✗ {record}: {self._picture.told}, and missing", "small", "flash")
        return beside.height, beside.shapes

    # ------------------------------------------------------------------- arrows

    def _arrow(self, arrow: Arrow, y: float) -> Iterator[str]:
        """The SVG of an arrow."""
        start, end = (self._lane.get(name) for name in (arrow.start, arrow.end))
        if start is None or end is None:
            return
        kind = {ArrowKind.COPY: "arrow copy", ArrowKind.DECISION: "arrow decision"}.get(arrow.mark, "arrow")
        if start == end:
            yield f'<path d="M{start:g} {y - 6:g}h26v10h-16" class="{kind}"/>'
            yield _point(start + 4, y + 4, -1)
            yield words(start + 32, y + 2, arrow.text, "small")
            return
        sign = 1 if end > start else -1
        yield stroke(start + 4 * sign, y, end - (4 + POINT - 2) * sign, y, kind)
        yield _point(end - 4 * sign, y, sign)
        text = _within(arrow.text, abs(end - start) - 12)
        wide = width_of(text, 11) + 6
        yield rect((start + end - wide) / 2, y - 15, wide, 14, "halo", 2)
        yield words((start + end) / 2, y - 4, text, "small", anchor="middle")

    # ------------------------------------------------------------------- the end

    def _verdict(self, y: float) -> float:
        """Draw the box with the violation; return the y where it ends."""
        parts, height = verdict(self._picture, EDGE - 8, y + 8, self._width - 2 * EDGE + 16, 18, 3)
        self._parts += parts
        return y + height + 16 if parts else y + 8

    def _legend(self, y: float) -> float:
        """Draw the legend of the signs that occur; return the y where it ends."""
        texts = legend(self._picture)
        marks = {arrow.mark for row in self._picture.rows for arrow in row.arrows}
        stands = [replica for row in self._picture.rows for replica in row.replicas.values()]
        if any(s.member for s in stands):
            texts.append(f"band around a lifeline: in {self._picture.membership}")
        if any(not s.up for s in stands):
            texts.append("dotted lifeline: down")
        if ArrowKind.COPY in marks:
            texts.append("dashed arrow: a copy between logs")
        if not all(row.is_needed for row in self._picture.rows):
            texts.append(UNNEEDED)
        texts.append("nothing next to a lifeline: as before")
        return self._small(" · ".join(texts), y)

    def _small(self, text: str, y: float) -> float:
        """Draw a text in small print; return the y where it ends."""
        parts, end = small(text, EDGE - 8, y + 14, self._width - 2 * EDGE)
        self._parts += parts
        return end - 10


def _point(x: float, y: float, sign: int) -> str:
    """The SVG of an arrow head (no marker: a page may contain a picture twice)."""
    back = -POINT * sign
    return f'<path d="M{x:g} {y:g}l{back:g} -4.5v9z" class="point"/>'


def _within(text: str, room: float) -> str:
    """The label of an arrow, without a message's fields if there is no room."""
    if width_of(text, 11) <= room:
        return text
    name = text.partition("(")[0]
    return f"{name}(…)" if name != text and not name.endswith(" ") else text[: max(4, int(room / 6))] + "…"


def _at_most(texts: list[str], most: int = 2) -> list[str]:
    """The first lines of a text, with an ellipsis if there are more."""
    return texts if len(texts) <= most else [*texts[: most - 1], texts[most - 1][:-1] + "…"]


class _Beside:
    """The things next to a lifeline in one row, from top to bottom."""

    def __init__(self, room: float) -> None:
        self._room = room
        self.height = 0.0
        self.shapes: list[Shape] = []

    def say(self, text: str, *classes: str) -> None:
        """Add words, wrapped."""
        is_mono = "mono" in classes
        for line in lines(text, self._room, 11.5 if is_mono else 12.5) if text else ():
            self.shapes.append(partial(_said, line, self.height, classes))
            self.height += 13 if is_mono else 14

    def log(self, replica: ReplicaState) -> None:
        """Add a log."""
        self.shapes.append(partial(_logged, replica, self.height + LABEL, self._room))
        self.height += TALL + 2 * LABEL

    def frame(self) -> None:
        """Add a frame around everything so far."""
        self.shapes.append(partial(_framed, self.height + 3, self._room))
        self.height += 8


def _said(text: str, down: float, classes: tuple[str, ...], x: float, y: float) -> Iterator[str]:
    """The SVG of words at an offset."""
    yield words(x, y + down + 11, text, *classes)


def _logged(replica: ReplicaState, down: float, room: float, x: float, y: float) -> Iterator[str]:
    """The SVG of a log at an offset."""
    return draw_log(x, y + down, replica, room)


def _framed(height: float, room: float, x: float, y: float) -> Iterator[str]:
    """The SVG of a frame."""
    yield rect(x - 6, y - 4, room + 8, height + 4, "broken", 5)
