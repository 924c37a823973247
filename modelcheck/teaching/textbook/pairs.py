"""Where two protocols differ: the run of the one and that of the other, as diagrams side by side."""

from __future__ import annotations

from collections.abc import Iterator

from counterexamples.lines import Line, Role, wrapped
from counterexamples.pictures.compact import compact
from counterexamples.pictures.depict import picture
from counterexamples.side_by_side import facing
from modelcheck.teaching.textbook.compared import Apart, Compared, Side
from modelcheck.teaching.textbook.comparison import Column

BETWEEN = 3  # columns between two diagrams
LEAST = 38  # columns of a diagram; where there are fewer, the second is below the first


def pairs(found: Compared, width: int) -> Iterator[Line]:
    """The lines on every two columns: their differences, and the runs that show one."""
    for first, second, apart in found.pairs:
        yield ()
        yield from wrapped((), f"{first.name} and {second.name}", width, Role.STRONG)
        yield from wrapped((), differences(found, first, second), width)
        if apart is not None:
            yield from _diagrams(apart, width)


def differences(found: Compared, first: Column, second: Column) -> str:
    """The number of different answers, in words."""
    both, differ = found.both(first, second), found.differ(first, second)
    if not both:
        return "no answer is known of both"
    if not differ:
        return f"no difference found: the same {len(both)} answers to all questions that apply to both"
    return f"differ in {len(differ)} of {len(both)} answers"


def _diagrams(apart: Apart, width: int) -> Iterator[Line]:
    """The runs of both sides next to each other."""
    yield from wrapped((), f"{apart.question.text} {sides_in_words(apart)}", width)
    yield ()
    half = (width - BETWEEN) // 2
    each = half if half >= LEAST else width
    diagrams = [[*_diagram(side, each)] for side in (apart.fails, apart.holds)]
    if half >= LEAST:
        yield from facing(diagrams[0], diagrams[1], half, BETWEEN)
    else:
        yield from (*diagrams[0], (), *diagrams[1])


def sides_in_words(apart: Apart) -> str:
    """The answers of both sides in words."""
    return f"{apart.fails.column.name}: {apart.fails.words}. {apart.holds.column.name}: {apart.holds.words}."


def _diagram(side: Side, width: int) -> Iterator[Line]:
    """The run of a side."""
    yield from wrapped((), f"{side.column.title}: {side.words}", width, Role.STRONG)
    yield from compact(picture(side.run), width=width)
