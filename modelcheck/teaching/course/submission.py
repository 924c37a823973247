"""What a student hands in, put into the exercise: only the parts that are asked for are taken.

NOTE(submission): whatever else a submission declares is not judged by and judges nothing: neither
actions, first values and scopes, nor checks.  It is parsed and elaborated, and no state of its own
model is ever looked at; a text that imports another one is refused before that is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import spec.syntax.expressions as se
import spec.syntax.tree as s
from modelcheck.teaching.course.exercises import (
    MARK,
    SOLVED,
    DeclaredPart,
    Exercise,
    ExercisePart,
    GuardPart,
    kind_of,
    parsed,
    solved,
)
from spec.diagnostics import Diagnostic, SpecError
from spec.frozen import frozen
from spec.imports import goes_on
from spec.load import loads
from spec.model.ir import Model
from spec.source import Source, Span
from spec.syntax.parser import too_deep

UNFIT = "R0940"
AGAIN = "`modelcheck library grade --exercise {} --begin FILE` writes the file to begin with"


@frozen
class Submission:
    """The exercise with the student's parts, as models, and the student's other changes."""

    models: tuple[Model, ...]
    changed: tuple[str, ...]


def submission(exercise: Exercise, source: Source) -> Submission:
    """The submission in a student's text. Raises SpecError."""
    if goes_on(source.text):
        help_ = "write the model out, as the file of the exercise does"
        raise _unfit(source, None, "a submission must not import another file", help_)
    try:
        tree = parsed(source)
        loads(source.text, source.name)  # first the mistakes of the text alone, with their places
        text = _put(exercise, source, tree)
        whole = Source(f"{source.name} in the exercise", text)
        if not _keeps_shape(exercise, parsed(whole)):
            raise _unfit(
                source, None, "its parts are more than the exercise asks for", _how_to_begin_again(exercise)
            )
    except RecursionError:
        raise too_deep(source) from None
    try:
        models = loads(text, source.name)
    except SpecError as error:
        first = error.diagnostics[0]
        asked = ", ".join(map(str, exercise.parts))
        what = f"{asked}: in the model of the exercise, {first.message}"
        help_ = f"use what the file of the exercise declares; {_how_to_begin_again(exercise)}"
        raise _unfit(source, None, what, help_) from None
    return Submission(models, tuple(_changed(exercise, tree)))


def _put(exercise: Exercise, source: Source, tree: s.Protocol) -> str:
    """The exercise's text with the student's parts in place of the solution."""
    parts = [_written(exercise, part, source, tree) for part in exercise.parts]
    parts += [source.at(item.span) for item in _helpers(exercise, tree)]
    span, base = exercise.solved.span, exercise.solved.base.text
    mine = f"variant {SOLVED} of {base} {{\n" + "\n".join(parts) + "\n}"
    whole = exercise.source.text
    return whole[: span.start] + mine + whole[span.end :]


def _written(exercise: Exercise, part: ExercisePart, source: Source, tree: s.Protocol) -> str:
    """A student's part as a change of the exercise's model."""
    match part:
        case DeclaredPart():
            found = _declared(tree, part)
            if found is not None:
                return f"replace {source.at(found.span)}"
        case GuardPart(action, name):
            guard = _guard(tree, part)
            if guard is not None:
                test = re.sub(r"^require\s+\w+\s*:", "", source.at(guard.span))
                return f"drop {action}.{name}\nrequire {action}.{name}: {test}"
    raise _unfit(
        source,
        None,
        f"the {part} is not there, and is what the exercise asks for",
        _how_to_begin_again(exercise),
    )


def _declared(tree: s.Protocol, part: DeclaredPart) -> s.PropertyDecl | s.FunDecl | None:
    """The declaration of a part in the student's text."""
    items = (item for item in tree.items if isinstance(item, s.PropertyDecl | s.FunDecl))
    return next((i for i in items if (kind_of(i), i.name.text) == (part.kind, part.name)), None)


def _guard(tree: s.Protocol, part: GuardPart) -> s.Require | None:
    """The guard of a part in the student's text."""
    actions = (i for i in tree.items if isinstance(i, s.ActionDecl) and i.name.text == part.action)
    statements = (each for action in actions for each in action.body)
    return next((each for each in statements if isinstance(each, s.Require) and _is_named(each, part)), None)


def _is_named(statement: s.Stmt, part: GuardPart) -> bool:
    """Whether a statement is the guard of a part."""
    name = statement.name if isinstance(statement, s.Require) else None
    return name is not None and name.text == part.name


def _helpers(exercise: Exercise, tree: s.Protocol) -> Iterator[s.FunDecl]:
    """The functions that the student added."""
    own = {item.name.text for item in exercise.tree.items if isinstance(item, s.FunDecl)}
    yield from (i for i in tree.items if isinstance(i, s.FunDecl) and i.name.text not in own)


def _keeps_shape(exercise: Exercise, whole: s.Protocol) -> bool:
    """Whether only the solution's parts differ, and are of the allowed kinds."""
    ours, theirs = exercise.tree, whole
    rest = [item for item in ours.items if item != solved(ours)] == [
        item for item in theirs.items if item != solved(theirs)
    ]
    allowed = (s.Replace, s.Drop, s.AddGuard, s.FunDecl)
    return rest and all(isinstance(item, allowed) for item in solved(theirs).items)


def _changed(exercise: Exercise, tree: s.Protocol) -> Iterator[str]:
    """The names of declarations that the student changed outside the parts."""
    begin = parsed(Source(exercise.name, exercise.source.text.partition(MARK)[0]))
    kept = (s.CheckDecl, s.PropertyDecl, s.DisplayDecl)  # students may ask their own questions
    theirs = [_blank(exercise, item) for item in tree.items if not isinstance(item, kept)]
    for item in map(lambda each: _blank(exercise, each), begin.items):  # noqa: C417 - as above
        if not isinstance(item, kept) and item not in theirs:
            yield _called(item)


def _blank(exercise: Exercise, item: s.Item) -> s.Item:
    """The declaration without requested guards, or a requested function without its body."""
    match item:
        case s.ActionDecl():
            asked = [
                part
                for part in exercise.parts
                if isinstance(part, GuardPart) and part.action == item.name.text
            ]
            body = tuple(each for each in item.body if not any(_is_named(each, part) for part in asked))
            return replace(item, body=body)
        case s.FunDecl() if DeclaredPart("fun", item.name.text) in exercise.parts:
            return replace(item, body=se.BoolLit(True, span=item.span))  # noqa: FBT003 - a field
        case _:
            return item


def _called(item: s.Item) -> str:
    """The name of a declaration."""
    match item:
        case s.StateDecl():
            return "ghost" if item.ghost else "state"
        case s.ProcessDecl(sort=sort):
            return f"process {sort.text}"
        case s.SortDecl(names=names) | s.NatDecl(names=names):
            return ", ".join(name.text for name in names)
        case s.InitDecl():
            return "init"
        case s.DisplayDecl():
            return "display"
        case _:
            return item.name.text


def _how_to_begin_again(exercise: Exercise) -> str:
    """Advice on how to get the original text."""
    return AGAIN.format(exercise.name)


def _unfit(source: Source, span: Span | None, what: str, help_: str) -> SpecError:
    """The error about a submission."""
    return SpecError([Diagnostic(UNFIT, source, span, what, help=help_)])
