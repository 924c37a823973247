"""A grade as people and programs see it, and the list of the exercises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from modelcheck.teaching.course.exercises import Exercise
from modelcheck.teaching.course.grading import Grade, GradeItem

SIGNS: Mapping[bool | None, Piece] = {
    True: Piece("✓ ", Role.GOOD),
    False: Piece("✗ ", Role.BAD),
    None: Piece("– ", Role.DIM),
}


def grade_lines(grade: Grade, width: int) -> Iterator[Line]:
    """The lines of a grade: points, with hints for missed ones."""
    points = f"{grade.points} of {count(grade.of, 'point')}"
    yield from wrapped(line(Piece(f"{grade.exercise}  ", Role.STRONG)), f"{points} · {grade.title}", width)
    for item in grade.items:
        yield from _item(item, width)
    if grade.changed:
        names = ", ".join(f"`{name}`" for name in grade.changed)
        words = f"not graded: the file has its own {names}; the exercise's was used"
        yield from wrapped(line("  "), words, width, Role.UNSURE)
    if grade.ended:
        yield from wrapped(line("  "), f"not finished: {grade.ended}", width, Role.UNSURE)


def as_json(grade: Grade) -> dict[str, object]:
    """A grade as JSON data."""
    return {
        "exercise": grade.exercise,
        "title": grade.title,
        "points": grade.points,
        "of": grade.of,
        "exit": int(grade.exit),
        "items": [
            {
                "asked": item.asked,
                "met": item.met,
                "hint": item.hint,
                "note": item.note,
                "scope": item.scope,
                "story": item.story,
            }
            for item in grade.items
        ],
        "changed": list(grade.changed),
        "ended": grade.ended,
    }


def exercise_lines(exercises: Sequence[Exercise], width: int) -> Iterator[Line]:
    """The lines on every exercise: subject, task and points."""
    longest = max(len(each.name) for each in exercises)
    for each in exercises:
        label = line(Piece(f"{each.name:<{longest}}  ", Role.STRONG))
        asked = ", ".join(map(str, each.parts))
        yield from wrapped(label, f"{each.title}: {asked}; {count(each.points, 'point')}", width)


def _item(item: GradeItem, width: int) -> Iterator[Line]:
    """The lines of one point."""
    words = item.asked + (f": {item.hint}" if item.hint else "")
    if item.met is None and not item.note:
        words += ": not looked at"
    yield from wrapped(line("  ", SIGNS[item.met]), words, width)
    if item.note:
        yield from wrapped(line("    "), item.note, width, Role.UNSURE)
    for each in item.story.splitlines():
        yield line(f"    {each}")
