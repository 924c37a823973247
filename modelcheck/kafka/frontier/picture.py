"""A frontier as a heat map in SVG: a row for each configuration, a cell for each kind of fault."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterexamples.lines import count
from counterexamples.pictures.drawing import (
    SMALL,
    TARGET,
    document,
    lines,
    rect,
    small,
    stroke,
    upright,
    width_of,
    words,
)
from modelcheck.kafka.frontier.findings import Frontier, Line
from modelcheck.kafka.frontier.table import BEST, legend_of, shown
from modelcheck.kafka.questions.answers import Answer
from modelcheck.kafka.questions.question import Guarantee
from modelcheck.kafka.report.wording import legend

MOST_ROWS = 400  # more are no picture any more
EDGE, TALL, GAP = 18, 22, 16
CELL = 30  # wide
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
    """Draws one heat map: in each band all configurations, with as many guarantees as there is room for."""

    def __init__(self, found: Frontier) -> None:
        self._found = found
        self._shown = found.lines[:MOST_ROWS]
        columns = zip(
            ("", *found.grid.heads), *((str(e.number), *e.row.values) for e in self._shown), strict=True
        )
        self._facts = [_width_of_column(column) for column in columns]
        self._block = CELL * len(found.kinds) + GAP
        kinds = max((width_of(kind, "small") for kind in found.kinds), default=0)
        heads = max(len(self._head(number)) for number in range(len(self._facts)))
        self._tall = 24 + max(kinds, SMALL * heads)  # of the heads
        self._peer = max(width_of(BEST, "small"), width_of(str(len(found.lines)), "small")) + 4
        self._width = max(TARGET, 2 * EDGE + sum(self._facts), 2 * EDGE + self._facts[0] + self._block)

    def _head(self, number: int) -> list[str]:
        """The heading of a column of facts, in lines."""
        return lines(("", *self._found.grid.heads)[number], self._facts[number] - 10, "small")

    def text(self) -> str:
        """The whole SVG file."""
        found, grid = self._found, self._found.grid
        title = f"{grid.title}: how many faults are survived, up to {grid.faults}"
        parts, y = [], 30.0
        for part in lines(title, self._width - 2 * EDGE, "title"):
            parts.append(words(EDGE, y, part, "title"))
            y += 22
        for facts, guarantees in self._bands():
            parts += self._heads(facts, guarantees, y)
            y += self._tall
            for line in self._shown:
                parts += self._row(facts, guarantees, line, y)
                y += TALL
            y += GAP
        used = {shown(line, of, kind)[0] for line in self._shown for of, kind, _ in found.cells(line)}
        notes = [each.replace("`", "") for each in (*legend(used), *legend_of(used))]
        notes.append(f"last column: {BEST} where none {grid.peers} survives more, else one that does")
        if len(found.lines) > len(self._shown):
            notes.append(f"{count(len(found.lines) - len(self._shown), 'configuration')} more are not drawn")
        small_print, y = small("; ".join(notes), EDGE, y + 4, self._width - 2 * EDGE)
        about = f"{count(len(self._shown), 'configuration')}, {', '.join(grid.kinds)} and any mixture"
        return document(self._width, y + 8, title, about, [*parts, *small_print], style=STYLE)

    def _bands(self) -> Iterator[tuple[list[float], list[Guarantee]]]:
        """The bands: the columns of facts in each, and its guarantees.

        Each has all facts, if one guarantee fits next to them; else these have a band of their own.
        """
        facts, left = self._facts, [*self._found.grid.guarantees]
        room = self._width - 2 * EDGE - self._peer
        if sum(facts) + self._block > room:
            yield facts, []
            facts = facts[:1]
        count_of = max(1, int((room - sum(facts)) // self._block))
        while left:
            yield facts, left[:count_of]
            left = left[count_of:]

    def _heads(self, facts: list[float], guarantees: list[Guarantee], y: float) -> Iterator[str]:
        """The column headings below height `y`."""
        x, bottom = float(EDGE), y + self._tall - 6
        for number, size in enumerate(facts):
            head = self._head(number)
            for line, text in enumerate(head):
                yield words(x, bottom - SMALL * (len(head) - 1 - line), text, "small", "dim")
            x += size
        for guarantee in guarantees:
            yield words(x, y + 12, guarantee.name, "strong")
            for number, kind in enumerate(self._found.kinds):
                at = x + CELL * number + CELL / 2 + 4
                yield upright(at, bottom, kind, "small", "dim")
            x += self._block

    def _row(self, facts: list[float], guarantees: list[Guarantee], line: Line, y: float) -> Iterator[str]:
        """The row of a configuration at height `y`."""
        x = float(EDGE)
        better = self._found.better.get(line.number)
        for value, size in zip((str(line.number), *line.row.values), facts, strict=False):
            yield words(x, y + 15, value, *(("dim",) if better is not None else ()))
            x += size
        for guarantee in guarantees:
            for number, kind in enumerate(self._found.kinds):
                yield from self._cell(line, guarantee, kind, x + CELL * number, y)
            x += self._block
        if guarantees:
            yield words(x, y + 15, BEST if better is None else str(better.number), "small")
        yield stroke(EDGE, y + TALL, self._width - EDGE, y + TALL, "rule")

    def _cell(self, line: Line, guarantee: Guarantee, kind: str, x: float, y: float) -> Iterator[str]:
        """One cell at a position."""
        answer = line.answer(guarantee, kind)
        text, middle = shown(line, guarantee, kind)[0], x + CELL / 2
        level = _level(answer, self._found.grid.faults)
        if answer is None:
            yield words(middle, y + 15, text, "dim", anchor="middle")
            return
        heat, ink = ("unsure", "dim") if level is None else (f"heat{level}", f"on{level}")
        yield rect(x + 1, y + 1, CELL - 2, TALL - 2, heat)
        yield words(middle, y + 15, text, ink, anchor="middle")


def _width_of_column(texts: Sequence[str]) -> float:
    """The width of a column of facts: of its values, and of the longest word of its heading."""
    head, *values = texts
    longest = max((width_of(word, "small") for word in head.replace(".", ". ").split()), default=0)
    return max(longest, *(width_of(value) for value in values)) + 12


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
