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
    TARGET,
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
from counterexamples.pictures.words import NO_RETURN, UNNEEDED, badge, circle, is_turn
from spec.model.ir import Kind

SENTENCES = 236  # the column of sentences
LEAST, USUAL, MOST = 96.0, 116.0, 290.0  # lanes
EDGE = 18
ARROW = 24  # height of an arrow with one line of words
UNSAID = 12  # of one without
WORDS_LINE = 13  # from one line of them to the next
ACROSS = 220  # that they may take, where the lanes are nearer to each other
POINT = 9  # length of an arrow's head
OVER = 4.5  # half its height, which words stay above
IN = 12  # from where a lane begins to its lifeline
SIDE = 12  # from a lifeline to the things next to it
Shape = Callable[[float, float], Iterable[str]]  # drawn at the height of its row
KINDS = {Kind.FAULT: ("fault", "⚡ fault", "flash"), Kind.REPAIR: ("repair", "✚ repair", "mended")}


def svg(picture: Picture) -> str:
    """The picture as an SVG sequence diagram."""
    return _Diagram(picture).text()


class _Diagram:
    """Draws one diagram; `_lane` has the position of each lifeline, `_room` the width next to it."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        wanted = {name: self._wanted(name) for name in picture.lanes}
        least = {name: max(LEAST, width_of(name, "strong") + 22) for name in picture.lanes}
        room = TARGET - 2 * EDGE
        self._is_beside = sum(wanted.values()) + SENTENCES <= room
        self._left = EDGE + SENTENCES if self._is_beside else EDGE
        widths = _shared(least, wanted, room - self._left + EDGE)
        self._lane: dict[str, float] = {}
        self._room: dict[str, float] = {}
        x = float(self._left)
        for name, width in widths.items():
            self._room[name] = width - IN - SIDE - 4
            self._lane[name] = x + IN
            x += width
        self._width = max(x + EDGE, TARGET)
        self._parts: list[str] = []

    def _wanted(self, name: str) -> float:
        """The width that a lane would have if there were room."""
        rows = self._picture.rows
        beside = [each for row in rows for each in (*row.control, *row.notes.get(name, ()))]
        beside += [each for row in rows for each in row.events.get(name, ())]
        if name == self._picture.client and self._picture.lost:
            beside.append(f"{self._picture.told},")
        badges = {badge(row.replicas[name]) for row in rows if name in row.replicas}
        whole = [part for each in badges for part in each.split(" · ")]  # which `lines` keeps so
        texts = (*whole, *(word for each in beside for word in each.split()))
        longest = max((width_of(text, "strong") for text in texts), default=0)
        logs = [log_width(row.replicas[name]) for row in self._picture.rows if name in row.replicas]
        wanted = IN + SIDE + 4 + max((longest, *logs))
        return min(max(USUAL, wanted, width_of(name, "strong") + 22), MOST)

    def text(self) -> str:
        """The whole SVG file."""
        picture = self._picture
        y = self._heading()
        for row in picture.rows:
            y = self._row(row, y)
            if is_turn(picture, row):
                y = self._no_return(y)
        if told := circle(picture):
            self._parts.append(words(EDGE, y + 16, told, "strong"))
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
            width = max(width_of(name, "strong") + 18, 44)
            self._parts.append(rect(x - IN, y, width, 26, "head", 5))
            self._parts.append(words(x - IN + width / 2, y + 18, name, "strong", anchor="middle"))
        return y + 34

    # --------------------------------------------------------------------- rows

    def _row(self, row: PictureRow, y: float) -> float:
        """Draw a step at y; return the y where it ends."""
        room = (self._left if self._is_beside else self._width - EDGE) - EDGE - 40
        texts = lines(row.sentence, room)
        name = [] if not row.action or row.action == row.sentence else lines(row.action, room, "mono")
        told = 12 + LINE * len(texts) + WORDS_LINE * len(name) + (LINE if row.kind in KINDS else 0)
        above = 0 if self._is_beside else told
        drawn = [arrow for arrow in row.arrows if self._is_drawn(arrow)]
        labels = [
            (arrow, [] if _is_same_call(before, arrow) else self._label(arrow))
            for before, arrow in zip((None, *drawn), drawn, strict=False)
        ]
        arrows = sum(_tall(label) for _, label in labels)
        beside = {lane: self._beside(lane, row) for lane in self._lane}
        below = max((height for height, _ in beside.values()), default=0.0)
        height = max(told + 6, above + arrows + below + 14)
        self._parts.append(f'<g class="row" data-step="{row.number}">')
        if row.kind in KINDS:
            self._parts.append(
                rect(EDGE - 8, y + 1, self._width - 2 * EDGE + 16, height - 2, KINDS[row.kind][0])
            )
        self._lives(row, y + above, height - above)
        self._sentence(row, y, texts, name)
        at = y + above + 18
        for arrow, label in labels:
            self._parts.extend(self._arrow(arrow, label, at + _tall(label) - ARROW))
            at += _tall(label)
        start = y + above + arrows + 8
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
        for said in (*(replica.claimed if replica else ()), *row.events.get(lane, ())):
            beside.say(said, "small", "strong")
        for decided in row.control if lane == self._picture.common else ():
            beside.say(decided, "small", "strong")
        if replica is not None and replica.log is not None:
            beside.log(replica)
        is_broken, is_empty = row.is_last and lane in self._picture.broken, not beside.shapes
        if is_broken and not is_empty:
            beside.frame()
        for note in row.notes.get(lane, ()):
            beside.say(note, "mono", "dim")
        if is_broken and is_empty and beside.shapes:
            beside.frame()
        if row.is_last and lane == self._picture.client and self._picture.lost:
            record = f"{self._picture.record}{', '.join(self._picture.lost)}"
            beside.say(f"✗ {record}: {self._picture.told}, and missing", "small", "flash")
        return beside.height, beside.shapes

    # ------------------------------------------------------------------- arrows

    def _is_drawn(self, arrow: Arrow) -> bool:
        """Whether both ends of an arrow have a lane."""
        return arrow.start in self._lane and arrow.end in self._lane

    def _label(self, arrow: Arrow) -> list[str]:
        """The words of an arrow in lines."""
        start, end = self._lane[arrow.start], self._lane[arrow.end]
        wide = width_of(arrow.text, "small")
        if start == end:
            room = max(self._room[arrow.start] - 20, min(ACROSS, self._after(start)))
        else:
            room = min(max(abs(end - start) - 12, ACROSS, wide / 2), self._width - EDGE - self._left - 6)
        return lines(arrow.text, room, "small")

    def _after(self, x: float) -> float:
        """The room right of the loop of an arrow within a lane."""
        return self._width - EDGE - x - 34

    def _arrow(self, arrow: Arrow, label: list[str], y: float) -> Iterator[str]:
        """The SVG of an arrow at y, with its words above it, or next to it if it stays within a lane."""
        start, end = self._lane[arrow.start], self._lane[arrow.end]
        kind = {ArrowKind.COPY: "arrow copy", ArrowKind.DECISION: "arrow decision"}.get(arrow.mark, "arrow")
        wide = max((width_of(line, "small") for line in label), default=0)
        tall = WORDS_LINE * len(label)
        if start == end:
            yield f'<path d="M{start:g} {y - 9:g}h26v10h-16" class="{kind}"/>'
            yield _point(start + 4, y + 1, -1)
            top = y - 1 - tall + WORDS_LINE
            yield rect(start + 29, top - 11, wide + 6, tall + 1, "halo", 2)
            for number, line in enumerate(label):
                yield words(start + 32, top + WORDS_LINE * number, line, "small")
            return
        sign = 1 if end > start else -1
        half = wide / 2 + 3
        middle = min(max((start + end) / 2, self._left + half), self._width - EDGE - half)
        if label:  # below the arrow, whose head it may be next to
            yield rect(middle - half, y - tall - OVER, 2 * half, tall, "halo", 2)
        for number, line in enumerate(label, 1):
            yield words(middle, y - OVER - 3 + WORDS_LINE * number - tall, line, "small", anchor="middle")
        if arrow.mark is ArrowKind.CALL:
            yield stroke(start, y, end, y, kind)
            yield from (f'<circle cx="{x:g}" cy="{y:g}" r="4" class="point"/>' for x in (start, end))
        else:
            yield stroke(start + 4 * sign, y, end - (4 + POINT - 2) * sign, y, kind)
            yield _point(end - 4 * sign, y, sign)

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
        if ArrowKind.CALL in marks:
            texts.append("line with dots: a step of both")
        if ArrowKind.DECISION in marks:
            texts.append(f"thick arrow: a decision in the lane {self._picture.common}")
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


def _tall(label: list[str]) -> float:
    """The height of an arrow with its words."""
    return ARROW + WORDS_LINE * (len(label) - 1) if label else UNSAID


def _is_same_call(before: Arrow | None, arrow: Arrow) -> bool:
    """Whether an arrow is another of the calls that the one before it is one of, which has the words."""
    if before is None or not before.mark is arrow.mark is ArrowKind.CALL:
        return False
    return (before.start, before.text) == (arrow.start, arrow.text)


def _shared(least: dict[str, float], wanted: dict[str, float], room: float) -> dict[str, float]:
    """The widths of lanes: all the room, or as little as they need where there is not enough."""
    missing = sum(wanted.values()) - room
    if missing <= 0:
        return {name: width - missing / len(wanted) for name, width in wanted.items()}
    spare = {name: max(0, wanted[name] - least[name]) for name in wanted}
    part = min(1, missing / sum(spare.values())) if any(spare.values()) else 0
    return {name: wanted[name] - part * spare[name] for name in wanted}


class _Beside:
    """The things next to a lifeline in one row, from top to bottom."""

    def __init__(self, room: float) -> None:
        self._room = room
        self.height = 0.0
        self.shapes: list[Shape] = []

    def say(self, text: str, *classes: str) -> None:
        """Add words, wrapped."""
        for line in lines(text, self._room, *classes) if text else ():
            self.shapes.append(partial(_said, line, self.height, classes))
            self.height += 13 if "mono" in classes else 14

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
