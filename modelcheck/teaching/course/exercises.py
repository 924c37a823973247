"""The exercises of the course, each one model file: the student's, the solution and the mutants.

NOTE(exercise): above the line `MARK` is the text that a student begins with.  Below it are the variant
`solved`, whose changes are the parts that are asked for; further variants of it, which are mutants
or harder questions; and checks of these.  The `says` text of a check is the hint where it is not
met.  So a whole exercise is a file for `modelcheck check`, and unchanged, all its checks are as
expected: the solution has all points.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import assert_never

import spec.syntax.expressions as se
import spec.syntax.tree as s
from spec.diagnostics import mistyped, suggest
from spec.frozen import frozen
from spec.library import SUFFIX, title
from spec.reading import resource
from spec.source import Node, Source, Span
from spec.syntax.parser import parse

MARK = f"// {'-' * 64} for the grader\n"
SOLVED = "solved"
PACKAGE, FOLDER = "modelcheck.teaching.course", "exercises"


@frozen
class DeclaredPart:
    """A part that is a whole declaration: what it is declared with, such as `invariant`, and its name."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} `{self.name}`"


@frozen
class GuardPart:
    """A part that is a guard of an action."""

    action: str
    name: str

    def __str__(self) -> str:
        return f"guard `{self.name}` of `{self.action}`"


ExercisePart = DeclaredPart | GuardPart


@frozen
class Exercise:
    """An exercise: its name, what it is about, its whole text as it is written, and what is asked for."""

    name: str
    title: str
    source: Source
    tree: s.Protocol
    parts: tuple[ExercisePart, ...]
    points: int

    @property
    def begin(self) -> str:
        """What a student begins with."""
        return self.source.text.partition(MARK)[0].rstrip() + "\n"

    @property
    def is_about_properties(self) -> bool:
        """Whether only properties are asked for, so that the other variants are mutants of the model."""
        return not any(isinstance(part, GuardPart) or part.kind == "fun" for part in self.parts)

    @property
    def solved(self) -> s.VariantDecl:
        """The variant in whose place a student's parts are put."""
        return solved(self.tree)


@cache
def names() -> tuple[str, ...]:
    """The names of all exercises, in the order of the course."""
    folder = resources.files(PACKAGE) / FOLDER
    found = [file.name.removesuffix(SUFFIX) for file in folder.iterdir()]
    return tuple(sorted(found, key=lambda name: (title(_text(name)), name)))


@cache
def exercise(name: str) -> Exercise:
    """The exercise of that name. Raises SpecError where there is none."""
    if name not in names():
        help_ = suggest(name, names()) or f"there are {', '.join(names())}"
        raise mistyped("--exercise", name, f"the course has no exercise `{name}`", help_, "R0902")
    source = Source(name, _text(name))
    tree = parsed(source)
    asked = tuple(dict.fromkeys(_part(item) for item in solved(tree).items))
    points = sum(isinstance(item, s.CheckDecl) and item.of is not None for item in tree.items)
    return Exercise(name, title(source.text), source, tree, asked, points)


def written(exercise: Exercise, parts: Mapping[str, str]) -> str:
    """What a student begins with, with these expressions for the parts of these names.

    Raises SpecError for a name that is none of a part.
    """
    source = Source(exercise.name, exercise.begin)
    asked = {part.name: part for part in exercise.parts}
    for name in parts:
        if name not in asked:
            help_ = suggest(name, asked) or f"it asks for {', '.join(map(str, exercise.parts))}"
            raise mistyped("parts", name, f"the exercise does not ask for `{name}`", help_, "R0902")
    places = {name: place(asked[name], source) for name in parts}
    text = source.text
    for name, span in sorted(places.items(), key=lambda each: -each[1].start):
        text = text[: span.start] + parts[name] + text[span.end :]
    return text


def place(part: ExercisePart, source: Source) -> Span:
    """The place of a part's expression in the text that a student begins with."""
    for item in parsed(source).items:
        match item:
            case s.PropertyDecl(kind=kind, name=name, expr=Node(span=span)):
                if part == DeclaredPart(kind, name.text):
                    return span
            case s.FunDecl(body=body) if part == DeclaredPart("fun", item.name.text):
                return body.span
            case s.ActionDecl():
                for each in (each for each in item.body if isinstance(each, s.Require)):
                    if each.name is not None and part == GuardPart(item.name.text, each.name.text):
                        return each.test.span
            case _:
                pass
    raise AssertionError(f"{part} is in {source.name}")


def parsed(source: Source) -> s.Protocol:
    """The tree of a text that imports no other. Raises SpecError for one that does not parse."""
    tree = parse(source)
    assert isinstance(tree, s.Protocol), "an exercise extends no other file"
    return tree


def solved(tree: s.Protocol) -> s.VariantDecl:
    """The variant of a whole exercise that is the solution."""
    return next(item for item in tree.items if isinstance(item, s.VariantDecl) and item.name.text == SOLVED)


def kind_of(item: s.PropertyDecl | s.FunDecl) -> str:
    """The word that it is declared with."""
    match item:
        case s.PropertyDecl():
            return item.kind
        case s.FunDecl():
            return "fun"
        case _:
            assert_never(item)


def _part(change: s.VariantItem) -> ExercisePart:
    match change:
        case s.Replace(item=s.PropertyDecl() | s.FunDecl() as item):
            return DeclaredPart(kind_of(item), item.name.text)
        case s.AddGuard(action=action, guard=guard):
            return GuardPart(action.text, guard.text)
        case s.Drop(name=action, guard=se.Ident() as guard):
            return GuardPart(action.text, guard.text)
        case _:
            raise AssertionError("a solution replaces properties, functions and guards")


def _text(name: str) -> str:
    return resource(PACKAGE, FOLDER, f"{name}{SUFFIX}")
