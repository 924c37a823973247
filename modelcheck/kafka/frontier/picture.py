"""A frontier as a heat map in SVG: a row for each configuration, a cell for each kind of fault."""

from __future__ import annotations

from collections.abc import Iterator

from counterexamples.lines import count
from counterexamples.pictures.drawing import document, rect, small, stroke, width_of, words
from modelcheck.kafka.frontier.findings import Frontier, Line
from modelcheck.kafka.frontier.table import BEST
from modelcheck.kafka.questions.answers import Answer
from modelcheck.kafka.report.wording import cell, legend

MOST_ROWS = 400  # more are no picture any more
EDGE, TALL, GAP = 18, 22, 16
NARROWEST = 640.0
# From broken without a fault to surviving all faults that were tried; red and blue, which nearly
# everybody can distinguish, and the number is in each cell.
HEAT = ("#b2182b", "#ef8a62", "#fddbc7", "#d1e5f0", "#67a9cf", "#2166ac")
_ON_DARK = {0, 5}
STYLE = "\n".join(
    [
        *(f".mc .heat{n}{{fill:{colour}}}" for n, colour in enumerate(HEAT)),
        *(
            f".mc .on{n}{{fill:{'#ffffff' if n in _ON_DARK else '#1b1f24'};font-weight:700}}"
            for n, _ in enumerate(HEAT)
        ),
        ".mc .unsure{fill:none;stroke:#818b98;stroke-width:1.2;stroke-dasharray:3 3}",
    ]
)


def heat_map(found: Frontier) -> str:
    """The SVG heat map of a frontier; it does not depend on the time the search took."""
    return _Map(found).text()


class _Map:
    """Draws one heat map."""

    def __init__(self, found: Frontier) -> None:
        self._found = found
        self._shown = found.lines[:MOST_ROWS]
        columns = zip(
            ("", *found.grid.heads), *((str(e.number), *e.row.values) for e in self._shown), strict=True
        )
        self._facts = [max(width_of(text, 12) for text in column) + 12 for column in columns]
        self._sizes = [max(46.0, width_of(kind, 11) + 8) for kind in found.kinds]
        self._left = EDGE + sum(self._facts)
        block = sum(self._sizes) + GAP
        self._width = max(NARROWEST, self._left + block * len(found.grid.guarantees) + 40 + EDGE)

    def text(self) -> str:
        """The whole SVG file."""
        found, grid = self._found, self._found.grid
        title = f"{grid.title}: how many faults are survived, up to {grid.faults}"
        parts = [words(EDGE, 30, title, "title")]
        parts += self._heads(56)
        y = 84.0
        for line in self._shown:
            parts += self._row(line, y)
            y += TALL
        used = {cell(answer)[0] for line in self._shown for _, _, answer in found.cells(line)}
        notes = [each.replace("`", "") for each in legend(used)]
        if "-" in used:
            notes.append("- there are no such faults")
        notes.append(f"last column: {BEST} where none {grid.peers} survives more, else one that does")
        if len(found.lines) > len(self._shown):
            notes.append(f"{count(len(found.lines) - len(self._shown), 'configuration')} more are not drawn")
        small_print, y = small("; ".join(notes), EDGE, y + 20, self._width - 2 * EDGE)
        about = f"{count(len(self._shown), 'configuration')}, {', '.join(grid.kinds)} and any mixture"
        return document(self._width, y + 8, title, about, [*parts, *small_print], style=STYLE)

    def _heads(self, y: float) -> Iterator[str]:
        """The column headings at height `y`."""
        x = float(EDGE)
        for head, size in zip(("", *self._found.grid.heads), self._facts, strict=True):
            yield words(x, y + 18, head, "small", "dim")
            x += size
        for guarantee in self._found.grid.guarantees:
            yield words(x, y, guarantee.name, "strong")
            for kind, size in zip(self._found.kinds, self._sizes, strict=True):
                yield words(x + size / 2, y + 18, kind, "small", "dim", anchor="middle")
                x += size
            x += GAP

    def _row(self, line: Line, y: float) -> Iterator[str]:
        """The row of a configuration at height `y`."""
        x = float(EDGE)
        better = self._found.better.get(line.number)
        for value, size in zip((str(line.number), *line.row.values), self._facts, strict=True):
            yield words(x, y + 15, value, *(("dim",) if better is not None else ()))
            x += size
        for guarantee in self._found.grid.guarantees:
            for kind, size in zip(self._found.kinds, self._sizes, strict=True):
                yield from self._cell(line.answer(guarantee, kind), x, y, size)
                x += size
            x += GAP
        yield words(x, y + 15, BEST if better is None else str(better.number), "small")
        yield stroke(EDGE, y + TALL, self._width - EDGE, y + TALL, "rule")

    def _cell(self, answer: Answer | None, x: float, y: float, size: float) -> Iterator[str]:
        """One cell at a position."""
        text, middle = cell(answer)[0], x + size / 2
        level = _level(answer, self._found.grid.faults)
        if answer is None:
            yield words(middle, y + 15, text, "dim", anchor="middle")
            return
        kind, ink = ("unsure", "dim") if level is None else (f"heat{level}", f"on{level}")
        yield rect(x + 1, y + 1, size - 2, TALL - 2, kind)
        yield words(middle, y + 15, text, ink, anchor="middle")


def _level(answer: Answer | None, faults: int) -> int | None:
    """The number of faults survived, which gives a cell its colour; None if it is not known."""
    if answer is None:
        return None
    if answer.complete and answer.lost_with is None:
        return len(HEAT) - 1
    if not answer.is_exact or answer.survived is None:
        return None
    if answer.survived < 1:
        return answer.survived + 1
    return 2 + min(2, 3 * (answer.survived - 1) // max(1, faults - 1))
