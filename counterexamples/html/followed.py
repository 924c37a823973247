"""What a step went through in the text of its action: true guards, what was done, what was passed over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from spec.frozen import frozen
from spec.meaning.evaluate import Frame, FrameLayout, compiled, walked
from spec.meaning.execute import ENDED, Choice, body, fresh
from spec.meaning.semantics import State, Step
from spec.model.ir import Assert, Assign, Bound, Branch, Choose, Each, Guard, Model, Scope, Stmt
from spec.model.values import Cut, ModelError
from spec.model.walk import blocks, walk_statements
from spec.source import Span


@frozen
class Followed:
    """A step's path through the model's text: guards with their values, and statements.

    A statement inside a loop is `done` when it was done for some member.
    """

    guards: tuple[tuple[Guard, bool], ...]
    done: frozenset[Span]
    passed: frozenset[Span]  # in a branch that was not taken, or in a loop over no members


def follow(model: Model, scope: Scope, before: State, step: Step) -> Followed:
    """The path of a step from a state; partial if the model refuses the step.

    Costs as much as taking the step once. Raises KeyError when the model has no such action.
    """
    return _StepWalk(model, scope, before, step).walk()


@dataclass
class _Stopped(Exception):  # noqa: N818 - the step ends here
    """Raised where a step ends early: by an error, a cut, or without a choice."""


@dataclass
class _StepWalk:
    """Executes a step and records the statements it reaches."""

    model: Model
    scope: Scope
    before: State
    step: Step
    guards: list[tuple[Guard, bool]] = field(default_factory=list)
    done: set[Span] = field(default_factory=set)
    passed: set[Span] = field(default_factory=set)

    def walk(self) -> Followed:
        """The path, in textual order."""
        action = self.model.action(self.step.action)
        count = len(self.before)
        self._layout = FrameLayout(self.scope, count)
        self._types = [variable.type for variable in self.model.variables]
        self._choices: Iterator[Choice] = iter(self.step.choices)
        frame = fresh(self.before, action.slots)
        for param, value in zip(action.params, self.step.args, strict=False):
            frame[count + param.slot] = value
        try:
            for part in action.head:
                value = compiled(part.value if isinstance(part, Bound) else part.test, self._layout)(frame)
                if isinstance(part, Bound):
                    frame[count + part.slot] = value
                    self.done.add(part.span)
                else:
                    self.guards.append((part, bool(value)))
            self._run(action.body, frame)
        except (_Stopped, ModelError, Cut):
            pass
        return Followed(tuple(self.guards), frozenset(self.done), frozenset(self.passed - self.done))

    def _run(self, statements: Iterable[Stmt], frame: Frame) -> None:
        """Execute statements in order; each changes the frame."""
        for statement in statements:
            self._one(statement, frame)

    def _one(self, statement: Stmt, frame: Frame) -> None:
        """Execute one statement; a choice is the one that the step made."""
        match statement:
            case Branch(test=test, then=then, other=other):
                taken, left = (then, other) if compiled(test, self._layout)(frame) else (other, then)
                self.passed.update(_leaves(left))
                self._run(taken, frame)
            case Each(slot=slot, body=inner):
                self.passed.update(_leaves(inner))
                for value in list(walked(statement.domain, statement.case, self._layout)(frame)):
                    frame[self._layout.locals + slot] = value
                    self._run(inner, frame)
            case Choose(slot=slot):
                choice = next(self._choices, None)
                if choice is None:
                    raise _Stopped
                frame[self._layout.locals + slot] = choice.value
                self.done.add(statement.span)
            case Assign() | Bound() | Assert():
                body((statement,), self._layout, self._types)(frame)
                if frame[ENDED] is not None:
                    raise _Stopped
                self.done.add(statement.span)


def _leaves(statements: Iterable[Stmt]) -> Iterator[Span]:
    """The spans of the innermost statements."""
    return (each.span for each in walk_statements(statements) if not blocks(each))
