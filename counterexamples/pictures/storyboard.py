"""The key frames of a trace side by side, as on a slide: who leads, who is in sync, what is stored where.

A frame is a state and what led to it since the frame before.  Which steps end a
frame is decided by what they do: faults, repairs, elections, acknowledgements,
cuts, what the property keeps record of, and always the start and the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import ceil

from counterexamples.lines import count
from counterexamples.pictures.drawing import (
    LABEL,
    LINE,
    SMALL,
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
    upright,
    verdict,
    width_of,
    words,
)
from counterexamples.pictures.picture import Picture, PictureRow
from counterexamples.pictures.words import badge, circle, is_turn
from spec.frozen import frozen
from spec.model.ir import Kind

MOST_FRAMES = 12
MOST_TOLD = 4  # steps of a frame
MOST_LINES = 5  # of messages under way
EDGE, GAP = 18, 16
LEAST, MOST = 210, 324  # width of a frame: three and two of them are as wide as a picture
BAND = 16  # of the mark of membership
NOTE = ("small", "strong")
SIGNS = {Kind.FAULT: ("⚡ ", "flash"), Kind.REPAIR: ("✚ ", "mended"), Kind.ACTION: ("", "")}


@frozen
class StoryFrame:
    """A frame: the state after the last of `rows`, and the steps since the frame before."""

    rows: tuple[PictureRow, ...]

    @property
    def last(self) -> PictureRow:
        """The row whose state the frame shows."""
        return self.rows[-1]


def frames(picture: Picture, most: int = MOST_FRAMES) -> tuple[StoryFrame, ...]:
    """The key frames of a picture; if they are too many, the least important are dropped.

    Where there may be more, those with more steps than `MOST_TOLD` become several.
    """
    rows = picture.rows
    weights = {index: _weight(picture, index) for index in range(len(rows))}
    kept = sorted(sorted(weights, key=lambda index: (-weights[index], -index))[:most])
    kept = [index for index in kept if weights[index]]
    starts = [0, *(index + 1 for index in kept[:-1])]
    for start, end in zip(starts, tuple(kept), strict=True):
        more = [*_between(picture, start, end)]
        if len(kept) + len(more) <= most:
            kept += more
    kept.sort()
    starts = [0, *(index + 1 for index in kept[:-1])]
    return tuple(StoryFrame(rows[start : end + 1]) for start, end in zip(starts, kept, strict=True))


def _between(picture: Picture, start: int, end: int) -> Iterator[int]:
    """Where the steps of a frame are divided so that none has too many: at those that do most."""
    left = end + 1 - start
    for parts in range(ceil(left / MOST_TOLD), 1, -1):
        least = max(1, left - MOST_TOLD * (parts - 1))
        size = max(range(least, MOST_TOLD + 1), key=lambda size: _rank(picture.rows[start + size - 1], size))
        yield start + size - 1
        start, left = start + size, left - size


def told(frame: StoryFrame) -> tuple[PictureRow | int, ...]:
    """The steps that a frame tells, which are its last and those that do most, and how many it does not."""
    rows = frame.rows
    best = sorted(rows[:-1], key=lambda row: _rank(row, row.number))[-(MOST_TOLD - 1) :]
    kept = {row.number for row in (*best, rows[-1])}
    found: list[PictureRow | int] = []
    for is_told, group in groupby(rows, key=lambda row: row.number in kept):
        together = [*group]
        found += together if is_told else [sum(row.skipped or 1 for row in together)]
    return tuple(found)


def _rank(row: PictureRow, place: int) -> tuple[bool, bool, bool, bool, int]:
    """What a step counts among others: needed, a fault, what the property is about, a change for all."""
    return row.is_needed, row.kind is Kind.FAULT, row.is_recorded, bool(row.control or row.arrows), place


def _weight(picture: Picture, index: int) -> int:
    """The importance of a row as a frame; 0 for none."""
    row = picture.rows[index]
    if index in {0, len(picture.rows) - 1}:
        return 9
    if row.kind is Kind.FAULT:
        return 7
    before = picture.rows[index - 1]
    if _stores(picture.rows) and not _stores([row]):
        return 0  # what happens before anything is stored can be shown in the next frame
    if any(row.replicas[name].leads > replica.leads for name, replica in before.replicas.items()):
        return 6
    if row.control:
        return 6
    if any(box.cut for replica in row.replicas.values() for box in replica.log or ()):
        return 5
    if row.is_recorded or set(row.acknowledged) - set(before.acknowledged):
        return 4
    if any(
        (row.replicas[n].high_watermark or 0) > (s.high_watermark or 0) for n, s in before.replicas.items()
    ):
        return 3
    return 2 if row.kind is Kind.REPAIR else 0


def _stores(rows: Iterable[PictureRow]) -> bool:
    """Whether some replica has log entries in one of the rows."""
    return any(replica.log for row in rows for replica in row.replicas.values())


def storyboard(picture: Picture, across: int | None = None) -> str:
    """The key frames as SVG, `across` per line. Equal pictures give equal bytes."""
    return _Board(picture, across).text()


class _Board:
    """Draws one storyboard."""

    def __init__(self, picture: Picture, across: int | None) -> None:
        self._picture = picture
        self._frames = frames(picture)
        wanted = [
            log_width(replica) + 2 * BAND + 24
            for frame in self._frames
            for replica in frame.last.replicas.values()
        ]
        least = min(max([LEAST, *wanted]), MOST)
        number, room = len(self._frames), TARGET - 2 * EDGE + GAP
        if across is None:  # as many as there is room for, in lines of about one length
            lines_of = ceil(number / max(1, int(room // (least + GAP))))
            across = ceil(number / lines_of)
        self._across = across = min(across, number)
        self._wide = max(least, min(MOST, int(room / across) - GAP))
        self._width = max(2 * EDGE + across * self._wide + (across - 1) * GAP, TARGET)
        sort_of = {name: replica.sort for name, replica in picture.rows[-1].replicas.items()}
        seen = {sort_of[name] for name in picture.replicas if self._has_something(name)}
        self._tall = {name: self._height(name) for name in picture.replicas if sort_of[name] in seen}
        self._parts: list[str] = []

    def text(self) -> str:
        """The whole SVG file."""
        picture, room = self._picture, self._width - 2 * EDGE
        self._parts, y = heading(picture, EDGE, 30.0, room)
        y += 6
        for first in range(0, len(self._frames), self._across):
            y = self._line(first, y) + GAP
        if told := circle(picture):
            self._parts.append(words(EDGE, y + 10, told, "strong"))
            y += 24
        judged, height = verdict(picture, EDGE, y, room, 14, 5)
        y += height + 10 if judged else 0
        signs, y = small(self._legend(), EDGE, y + 10, room)
        bounds, y = small(picture.bounds, EDGE, y + 4, room)
        self._parts += [*judged, *signs, *bounds]
        return document(self._width, y + 4, f"{picture.title}: storyboard", picture.caption, self._parts)

    def _line(self, first: int, y: float) -> float:
        """Draw the frames of one line; return the y where it ends."""
        shown = self._frames[first : first + self._across]
        head = max(self._head(frame) for frame in shown)
        body = sum(self._tall.values())
        if not self._tall:
            body = 8 + LINE * max(len(self._changed(frame.last)) for frame in shown)
        foot = max(self._foot(frame) for frame in shown)
        for place, frame in enumerate(shown):
            x = EDGE + place * (self._wide + GAP)
            height = head + body + foot
            kind = {Kind.FAULT: "fault", Kind.REPAIR: "repair"}.get(frame.last.kind, "head")
            is_bad = frame.last.is_last and self._picture.is_bad
            self._parts.append(f'<g class="panel" data-step="{frame.last.number}">')
            self._parts.append(rect(x, y, self._wide, head, kind, 5))
            self._parts.append(rect(x, y, self._wide, height, "broken" if is_bad else "frame", 5))
            self._parts.extend(self._sentence_lines(frame, x + 10, y))
            self._parts.extend(self._replicas(frame.last, x + 10, y + head))
            if not self._tall:
                for number, line in enumerate(self._changed(frame.last)):
                    self._parts.append(words(x + 10, y + head + 16 + LINE * number, line, "mono"))
            self._parts.extend(self._client(frame.last, x + 10, y + head + body))
            self._parts.append("</g>")
            if place + 1 < len(shown):
                self._parts.append(
                    words(x + self._wide + GAP / 2, y + head / 2 + 5, "▸", "dim", anchor="middle")
                )
        return y + head + body + foot

    # ------------------------------------------------------------------- the steps

    def _sentences(self, frame: StoryFrame) -> Iterator[tuple[str, list[str]]]:
        """The steps that a frame tells: the class of each, and its sentence, wrapped."""
        for row in told(frame):
            if isinstance(row, int):
                yield "dim", lines(f"… {count(row, 'step')} more …", self._wide - 20, "dim")
                continue
            sign, kind = SIGNS[row.kind]
            number = f"{row.number}. " if row.number and not row.skipped else ""
            yield kind, lines(f"{sign}{number}{row.sentence}", self._wide - 20, kind)

    def _head(self, frame: StoryFrame) -> float:
        """The height of a frame's sentences."""
        total = sum(len(texts) for _, texts in self._sentences(frame))
        return 14 + LINE * (total + 2 * self._is_turn(frame))

    def _is_turn(self, frame: StoryFrame) -> bool:
        """Whether the violation becomes unavoidable within a frame other than the last."""
        return not frame.last.is_last and any(is_turn(self._picture, row) for row in frame.rows)

    def _sentence_lines(self, frame: StoryFrame, x: float, y: float) -> Iterator[str]:
        """The SVG of a frame's sentences."""
        at = y + 20
        for kind, texts in self._sentences(frame):
            for line in texts:
                yield words(x, at, line, *([kind] if kind else []))
                at += LINE
        if self._is_turn(frame):
            yield words(x, at, "▼ point of no return:", "strong")
            yield words(x, at + LINE, "nothing avoids it now", "strong")

    # ---------------------------------------------------------------- the replicas

    def _has_something(self, name: str) -> bool:
        """Whether a replica has anything to show in some frame."""
        return name in self._picture.broken or any(
            replica.log is not None or replica.member is not None or badge(replica) or self._beside(row, name)
            for row in (frame.last for frame in self._frames)
            for replica in (row.replicas[name],)
        )

    def _height(self, name: str) -> float:
        """The height of a replica, the same in every frame."""
        has_log = any(row.replicas[name].log is not None for row in self._picture.rows)
        more = max(self._lines_more(frame.last, name) for frame in self._frames)
        below = max(len(self._badge(frame.last, name)[1]) for frame in self._frames)
        return 26 + SMALL * below + (TALL + 2 * LABEL if has_log else 6) + SMALL * more

    def _badge(self, row: PictureRow, name: str) -> tuple[str, list[str]]:
        """A replica's role: what fits next to its name, and the lines below."""
        kind = "flash" if not row.replicas[name].up else "dim"
        room = self._wide - 20 - BAND
        first, rest = "", badge(row.replicas[name]).split(" · ")
        while rest:
            longer = f"{first} · {rest[0]}" if first else rest[0]
            if width_of(name, "strong") + 10 + width_of(longer, "small", kind) > room:
                break
            first = longer
            rest.pop(0)
        return first, lines(" · ".join(rest), room, "small", kind) if rest else []

    def _beside(self, row: PictureRow, name: str) -> list[str]:
        """The notes about a replica, wrapped."""
        found: list[str] = []
        replica = row.replicas[name]
        told = (*replica.ties, *replica.claimed, *replica.oddities, *row.events.get(name, ()))
        for part in dict.fromkeys(told):
            longer = f"{found[-1]} · {part}" if found else ""
            if longer and width_of(longer, *NOTE) <= self._wide - BAND - 20:
                found[-1] = longer
            else:
                found += lines(part, self._wide - BAND - 20, *NOTE)
        return found

    def _lines_more(self, row: PictureRow, name: str) -> int:
        """The number of note lines that do not fit next to the replica or its log."""
        texts, replica = self._beside(row, name), row.replicas[name]
        if not texts:
            return 0
        if replica.log is None:
            first, below = self._badge(row, name)
            taken = width_of(name, "strong") + 10 + width_of(first, "small", "flash")
            taken = self._wide if below else taken
        else:
            is_labelled = any(box.cut or box.missing for box in replica.log)
            taken = log_width(replica) if is_labelled else 0.0
        fits = BAND + taken + width_of(texts[0], *NOTE) + 24 <= self._wide
        return len(texts) - fits

    def _replicas(self, row: PictureRow, x: float, y: float) -> Iterator[str]:
        """The SVG of the replicas, with a mark on members."""
        room = self._wide - 20 - BAND
        for name, tall in self._tall.items():
            replica = row.replicas[name]
            yield stroke(x - 10, y, x - 10 + self._wide, y, "rule")
            if replica.member:
                yield from self._side(x, y, tall)
            left, at = x + BAND, y + 18
            yield words(left, at, name, "strong")
            first, below = self._badge(row, name)
            kind = "flash" if not replica.up else "dim"
            if first:
                yield words(left + width_of(name, "strong") + 10, at, first, "small", kind)
            for line in below:
                at += SMALL
                yield words(left, at, line, "small", kind)
            if replica.log is not None:
                yield from draw_log(left - 4, at + 8 + LABEL - 6, replica, room)
            for above, line in enumerate(reversed(self._beside(row, name))):
                at = y + tall - 9 - SMALL * above
                yield words(x + self._wide - 18, at, line, *NOTE, anchor="end")
            if row.is_last and name in self._picture.broken:
                yield rect(left - 8, y + 3, self._wide - BAND - 6, tall - 6, "broken", 5)
            y += tall

    def _side(self, x: float, y: float, tall: float) -> Iterator[str]:
        """The SVG of the mark of a member, with the word for it where it fits."""
        yield rect(x - 9, y + 1, BAND, tall - 2, "member", 0)
        word = self._picture.membership.removeprefix("the ")
        if width_of(word, *NOTE) <= tall - 4:  # the legend has it too
            yield upright(x + 3, y + tall / 2, word, *NOTE, anchor="middle")

    def _changed(self, row: PictureRow) -> list[str]:
        """The changes of a step in words, for a model without replicas."""
        notes = [note for each in row.notes.values() for note in each]
        return [line for note in notes for line in lines(note, self._wide - 20, "mono")]

    # ------------------------------------------------------------------ the client

    def _answers(self, row: PictureRow) -> list[tuple[str, str]]:
        """The acknowledged records, each with a mark if it is lost at the end."""
        lost = set(self._picture.lost) if row.is_last else set()
        kept = [record for record in row.acknowledged if record not in lost]
        found = [(self._listed(f"✓ {self._picture.told}: ", kept, "mended"), "mended")] if kept else []
        if lost:
            found.append((self._listed("✗ missing: ", self._picture.lost, "flash"), "flash"))
        return found or [(f"nothing {self._picture.told} yet", "dim")]

    def _listed(self, start: str, names: Sequence[str], kind: str) -> str:
        """Records in a line, without the word for them where it would not fit in."""
        text = f"{start}{self._picture.record}{', '.join(names)}"
        return text if width_of(text, kind) <= self._wide - 20 else f"{start}{', '.join(names)}"

    def _foot(self, frame: StoryFrame) -> float:
        """The height of the lines about the claim, the client, and the messages under way."""
        answers, messages = self._told(frame.last), self._messages(frame.last)
        height = 12 + LINE * len(answers) if answers else 4
        for texts in (self._about(frame.last), messages):
            height += 12 + SMALL * len(texts) if texts else 0
        return height

    def _told(self, row: PictureRow) -> list[tuple[str, str]]:
        """What was acknowledged in lines, each with its class; nothing where nothing ever is."""
        if not any(each.acknowledged for each in self._picture.rows):
            return []
        return [
            (line, kind) for text, kind in self._answers(row) for line in lines(text, self._wide - 20, kind)
        ]

    def _about(self, row: PictureRow) -> list[str]:
        """What the claim reads of the state and nothing else shows, in lines."""
        return [line for text in row.about for line in lines(text, self._wide - 20, *NOTE)]

    def _messages(self, row: PictureRow) -> list[str]:
        """The messages under way that later steps need in lines, the next first; some if they are many."""
        each = [lines(f"✉ {text}", self._wide - 20, "small") for text in row.under_way]
        few = len(each)
        while few > 1 and sum(map(len, each[:few])) > MOST_LINES - (few < len(each)):
            few -= 1
        more = [f"✉ and {count(len(each) - few, 'message')} more"] if few < len(each) else []
        return [*(line for texts in each[:few] for line in texts), *more]

    def _client(self, row: PictureRow, x: float, y: float) -> Iterator[str]:
        """The SVG of what the claim reads, what was acknowledged, and the messages under way."""
        answers, about, messages = self._told(row), self._about(row), self._messages(row)
        if about:
            yield stroke(x - 10, y, x - 10 + self._wide, y, "rule")
            for number, text in enumerate(about):
                yield words(x, y + 17 + SMALL * number, text, *NOTE)
            y += 12 + SMALL * len(about)
        if answers:
            yield stroke(x - 10, y, x - 10 + self._wide, y, "rule")
            for number, (text, kind) in enumerate(answers):
                yield words(x, y + 19 + LINE * number, text, kind)
            y += 12 + LINE * len(answers)
        if messages:
            yield stroke(x - 10, y, x - 10 + self._wide, y, "rule")
            for number, text in enumerate(messages):
                yield words(x, y + 17 + SMALL * number, text, "small")

    def _legend(self) -> str:
        """The legend as text."""
        entries = legend(self._picture)
        if any(replica.member for row in self._picture.rows for replica in row.replicas.values()):
            entries.append(f"blue side: in {self._picture.membership}")
        if any(frame.last.under_way for frame in self._frames):
            entries.append("✉ a message under way that a later step needs")
        return " · ".join(entries)
