"""A picture in few lines, for a terminal: a step on a line, a column for each replica.

A replica is written as `✕★e1[1¹ 2¹|3¹]`: down, still the leader, in epoch 1, a member,
with three records of epoch 1 of which two are below its high watermark.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from counterexamples.lines import BETWEEN, Line, Piece, Role, clean, line, packed, size, wrapped
from counterexamples.pictures.picture import Box, Picture, PictureRow, ReplicaState
from counterexamples.pictures.words import NO_RETURN, UNNEEDED, events_in, has_changed, is_turn, repeats_from
from spec.model.ir import Kind

WIDTH = 100
TEXT_WIDTH = 30  # columns that the words of a step need next to the replicas, or else these go below
CELL = 26  # columns that a log has at most
SIGNS = {Kind.ACTION: Piece("  "), Kind.FAULT: Piece("⚡", Role.FAULT), Kind.REPAIR: Piece("✚ ", Role.REPAIR)}
ROLES = {Kind.ACTION: Role.PLAIN, Kind.FAULT: Role.FAULT, Kind.REPAIR: Role.REPAIR}
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def compact(picture: Picture, *, width: int = WIDTH, ascii_only: bool = False) -> Iterator[Line]:
    """The picture as lines of text; if columns do not fit, changed replicas are below each step."""
    return _Compact(picture, width, ascii_only=ascii_only).lines()


class _Compact:
    """Writes one picture as text."""

    def __init__(self, picture: Picture, width: int, *, ascii_only: bool) -> None:
        self._picture = picture
        self._width = width
        self._ascii_only = ascii_only
        self._digits = max(2, *(len(str(row.number)) + 2 * (not row.is_needed) for row in picture.rows))
        self._columns = {lane: self._column(lane) for lane in picture.replicas}
        self._text_width = width - self._digits - 4 - sum(2 + column for column in self._columns.values())
        self._has_logs = any(s.log is not None for row in picture.rows for s in row.replicas.values())

    def _column(self, lane: str) -> int:
        """The width of a lane's column."""
        cells = [size(self._cell(row.replicas[lane])) for row in self._picture.rows]
        return max(2 + len(self._safe(lane)), *cells)

    def lines(self) -> Iterator[Line]:
        """All lines."""
        picture = self._picture
        is_beside = self._text_width >= TEXT_WIDTH and self._has_logs
        yield from wrapped((), picture.title, self._width, Role.BAD if picture.is_bad else Role.GOOD)
        if picture.claim:
            yield from wrapped((), f"{picture.claim}.", self._width)
        if picture.needs:
            yield from wrapped((), picture.needs, self._width)
        yield ()
        if is_beside:
            heads = [
                Piece(f"    {self._safe(lane)}".ljust(column + 2), Role.PLACE)
                for lane, column in self._columns.items()
            ]
            yield (Piece(" " * (self._digits + 4 + self._text_width)), *heads)
        repeats = repeats_from(picture)
        for index, row in enumerate(picture.rows):
            if index == repeats:
                yield self._loops("from here on, for ever")
            yield from self._beside(index, row) if is_beside else self._below(index, row)
            if is_turn(picture, row):
                yield from wrapped((Piece(" " * (self._digits + 1)),), NO_RETURN, self._width, Role.UNSURE)
        if repeats == len(picture.rows):
            yield self._loops("and here it may stay for ever")
        if picture.verdict:
            yield ()
            yield from self._verdict()
        yield from self._legend()

    # ------------------------------------------------------------------- steps

    def _label(self, row: PictureRow) -> Line:
        """The label of a row."""
        number = "…" if row.skipped else str(row.number) if row.is_needed else f"({row.number})"
        return line(Piece(self._safe(f"{number:>{self._digits}} "), Role.DIM), SIGNS[row.kind], " ")

    def _loops(self, text: str) -> Line:
        """The line about the cycle of a run."""
        return line(Piece(f"{'':>{self._digits}} ↻  {text}", Role.UNSURE))

    def _beside(self, index: int, row: PictureRow) -> Iterator[Line]:
        """A step with all replicas in their columns."""
        first, *others = wrap(self._safe(row.sentence or row.action), self._text_width) or [""]
        sentence = Piece(first.ljust(self._text_width), ROLES[row.kind])
        cells: Line = ()
        for lane, column in self._columns.items():
            cell = self._cell(row.replicas[lane])
            if not self._is_news(index, lane):
                cell = tuple(Piece(piece.text, Role.DIM) for piece in cell)
            cells += (Piece("  "), *cell, Piece(" " * (column - size(cell))))
        yield (*self._label(row), sentence, *cells)
        for other in others:
            yield line(" " * (self._digits + 4), Piece(other, ROLES[row.kind]))

    def _below(self, index: int, row: PictureRow) -> Iterator[Line]:
        """A step with the changed replicas below it."""
        yield from wrapped(self._label(row), row.sentence or row.action, self._width, ROLES[row.kind])
        margin = " " * (self._digits + 4)
        items: list[Line] = []
        for lane in self._picture.lanes:
            cell = self._cell(row.replicas[lane]) if self._is_news(index, lane) else ()
            cell = cell if "".join(piece.text for piece in cell).strip() else ()
            name = line(Piece(f"{self._safe(lane)} ", Role.PLACE), *cell)
            if notes := () if self._has_logs else self._notes(index, lane):
                label = (Piece(margin), *name, Piece(" " if cell else ""))
                yield from wrapped(label, self._safe(", ".join(notes)), self._width)
            elif cell:
                items.append(name)
        if items:
            yield from packed(line(margin), items, self._width, Piece("   "))

    def _is_news(self, index: int, lane: str) -> bool:
        """Whether a replica's state differs from the row before."""
        rows = self._picture.rows
        if lane not in rows[index].replicas:
            return False
        if index == 0 or rows[index].is_last:
            return True
        return has_changed(rows[index].replicas[lane], rows[index - 1].replicas[lane])

    def _notes(self, index: int, lane: str) -> tuple[str, ...]:
        """What no column tells: what is not as it was at the start, if there is news, and what happened."""
        row = self._picture.rows[index]
        oddities = row.replicas[lane].oddities if self._is_news(index, lane) else ()
        return (*oddities, *events_in(self._picture, row, lane))

    # ---------------------------------------------------------------- replicas

    def _cell(self, replica: ReplicaState) -> Line:
        """The state of a replica in its column."""
        down = Piece(" ") if replica.up else Piece("✕", Role.FAULT)
        leader = Piece(_leader(replica), Role.STRONG)
        name, _, number = replica.epoch.partition(" ")
        number = number.removeprefix(number.rstrip("0123456789")) if "·" not in number else number
        log, gone = self._log(replica)
        left, right = "()" if replica.member is False else "[]"
        found = line(down, leader, f"{name[:1]}{number}")
        if replica.log is not None or replica.member is not None:
            found += line(left, log, right)
        return tuple(Piece(self._safe(piece.text), piece.role) for piece in (*found, *gone))

    def _log(self, replica: ReplicaState) -> tuple[str, Line]:
        """The records of a replica with the high watermark as a bar; and the records it lost."""
        boxes = replica.log or ()
        mark = replica.high_watermark
        text = ""
        stored = [box for box in boxes if not (box.cut or box.missing)]
        for index, box in enumerate(stored):
            between = "|" if index == mark else " " if index else ""
            text += between + ("✗" if box.bad else "") + self._entry(box)
        if mark is not None and mark >= len(stored):
            text += "|"
        text = text if len(text) <= CELL else "…" + text[1 - CELL :]
        cut = [Piece(f" −{self._entry(box)}", Role.FAULT) for box in boxes if box.cut]
        lost = [Piece(f" ✗{self._entry(box)}", Role.BAD) for box in boxes if box.missing]
        return text, (*cut, *lost)

    def _entry(self, box: Box) -> str:
        """A log entry as text."""
        text = self._safe(box.text)
        tick = "✓" if box.acknowledged and not box.cut else ""
        epoch = self._safe(box.under.lstrip("abcdefghijklmnopqrstuvwxyz"))
        is_raised = epoch.isdecimal() and not self._ascii_only
        return text + (epoch.translate(RAISED) if is_raised else f"^{epoch}" if epoch else "") + tick

    def _safe(self, text: str) -> str:
        """The text in ASCII if that is asked for."""
        return clean(text, ascii_only=self._ascii_only)

    # ----------------------------------------------------------------- the end

    def _verdict(self) -> Iterator[Line]:
        """The lines about the violation."""
        sign = Piece("✗ ", Role.BAD) if self._picture.is_bad else Piece("✓ ", Role.GOOD)
        for number, words in enumerate(self._picture.verdict):
            yield from wrapped((sign if number == 0 else Piece("  "),), words, self._width)

    def _legend(self) -> Iterator[Line]:
        """The explanations of the signs that occur."""
        stands = [replica for row in self._picture.rows for replica in row.replicas.values()]
        boxes = [box for replica in stands for box in replica.log or ()]
        signs = {
            "★ leader": any(_leader(s) == "★" for s in stands),
            "☆ takes itself for it": any(_leader(s) == "☆" for s in stands),
            "✕ down": any(not s.up for s in stands),
            f"[ ] in {self._picture.membership}, ( ) not": any(s.member is False for s in stands),
            "| how much is committed": any(s.high_watermark is not None for s in stands),
            f"{self._entry(Box('1', 'e2'))} record 1 of epoch 2": any(box.under for box in boxes),
            f"✓ {self._picture.told}": any(box.acknowledged for box in boxes),
            "− removed": any(box.cut for box in boxes),
            "✗ lost": any(box.missing for box in boxes),
            UNNEEDED: not all(row.is_needed for row in self._picture.rows),
            **dict.fromkeys(self._picture.entries, True),
        }
        items = [line(Piece(self._safe(text), Role.DIM)) for text, is_there in signs.items() if is_there]
        if items:
            yield ()
            yield from packed((), items, self._width, BETWEEN)


def _leader(replica: ReplicaState) -> str:
    """The sign of a leader."""
    if replica.chosen or (replica.chosen is None and replica.leads):
        return "★"
    return "☆" if replica.leads else " "
