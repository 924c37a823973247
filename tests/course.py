"""What is in an exercise, and what a submission is worth, worked out here."""

from __future__ import annotations

import spec.syntax.tree as s
from modelcheck.teaching.course.exercises import Exercise
from modelcheck.teaching.course.grading import Grade, empty, judged
from modelcheck.teaching.course.submission import submission
from spec.source import Node, Source


def solution(exercise: Exercise) -> dict[str, str]:
    """The expressions of the solution, by the names of their parts."""
    found = dict[str, str]()
    for item in exercise.solved.items:
        match item:
            case s.Replace(item=s.PropertyDecl(name=name, expr=Node(span=span))):
                found[name.text] = exercise.source.at(span)
            case s.Replace(item=s.FunDecl(name=name, body=body)):
                found[name.text] = exercise.source.at(body.span)
            case s.AddGuard(guard=guard, test=test):
                found[guard.text] = exercise.source.at(test.span)
            case _:
                pass
    return found


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
