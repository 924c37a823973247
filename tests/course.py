"""Files that students might hand in: an exercise with parts of it written otherwise."""

from __future__ import annotations

from collections.abc import Mapping

import spec.syntax as s
from modelcheck.asking.course.exercises import Declared, Exercise, Guarded, Part, kind_of, parsed
from modelcheck.asking.course.grading import Grade, empty, judged
from modelcheck.asking.course.submission import submission
from spec.source import Source, Span


def begin_of(exercise: Exercise) -> Source:
    return Source(exercise.name, exercise.begin)


def finished(exercise: Exercise, parts: Mapping[str, str]) -> str:
    """What a student begins with, with other expressions for the parts of these names."""
    source = begin_of(exercise)
    text = source.text
    asked = sorted(exercise.parts, key=lambda part: -place(part, source).start)
    assert {part.name for part in asked} >= set(parts)
    for part in asked:
        if part.name in parts:
            span = place(part, source)
            text = text[: span.start] + parts[part.name] + text[span.end :]
    return text


def solution(exercise: Exercise) -> dict[str, str]:
    """The expressions of the solution, by the names of their parts."""
    found = dict[str, str]()
    for item in exercise.solved.items:
        match item:
            case s.Replace(item=s.PropertyDecl(name=name, expr=s.Node(span=span))):
                found[name.text] = exercise.source.at(span)
            case s.Replace(item=s.FunDecl(name=name, body=body)):
                found[name.text] = exercise.source.at(body.span)
            case s.AddGuard(guard=guard, test=test):
                found[guard.text] = exercise.source.at(test.span)
            case _:
                pass
    return found


def place(part: Part, source: Source) -> Span:
    """Where the expression of a part stands."""
    for item in parsed(source).items:
        match part, item:
            case Declared(), s.PropertyDecl(expr=s.Node(span=span)) if _is(part, item):
                return span
            case Declared(), s.FunDecl(body=body) if _is(part, item):
                return body.span
            case Guarded(action, name), s.ActionDecl(body=statements) if item.name.text == action:
                return next(
                    each.test.span
                    for each in statements
                    if isinstance(each, s.Require) and each.name and each.name.text == name
                )
            case _:
                pass
    raise AssertionError(f"{part} is not in {source.name}")


def _is(part: Declared, item: s.PropertyDecl | s.FunDecl) -> bool:
    return (part.kind, part.name) == (kind_of(item), item.name.text)


def graded_here(exercise: Exercise, text: str) -> Grade:
    """The grade, worked out in this process."""
    handed = submission(exercise, Source("mine.rsm", text))
    items = {item.asked: item for item in judged(exercise, handed, 60.0, None)}
    grade = empty(exercise)
    return Grade(
        grade.exercise,
        grade.title,
        tuple(items.get(item.asked, item) for item in grade.items),
        handed.changed,
    )
