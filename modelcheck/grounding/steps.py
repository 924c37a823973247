"""The steps of a model in flat variables: for each choice of parameters what it needs and changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.contract.inexpressible import Construct, Inexpressible
from modelcheck.grounding.environment import Ends, GroundEnv, GroundStep
from modelcheck.grounding.expressions import GroundExpressions
from modelcheck.grounding.layout import FlatLayout
from modelcheck.grounding.shapes import Parts, Shape, value_of
from modelcheck.grounding.terms import GroundTerm
from spec.frozen import frozen
from spec.model.types import element
from spec.model.values import show
from spec.source import Span

MOST_RULES = 20_000
Arg = tuple[t.Type, ir.Value]  # what was chosen, or of unknown type the number of its place


@frozen
class GroundRule:
    """A guarded command: its guard, error condition, properties to hold, and assignments."""

    name: str
    action: str
    guard: GroundTerm
    error: GroundTerm
    claims: tuple[tuple[str, GroundTerm], ...]
    changes: tuple[tuple[GroundTerm, GroundTerm], ...]
    args: tuple[Arg, ...] = ()


@dataclass(slots=True)
class StepBranch:
    """The symbolic execution of a step along one path: state, names, guard, early ends, failed asserts."""

    state: list[Shape]
    slots: dict[int, Shape]
    guard: GroundTerm
    ends: Ends
    broken: dict[str, GroundTerm] = field(default_factory=dict)
    chosen: tuple[str, ...] = ()
    args: tuple[Arg, ...] = ()

    def copy(self) -> StepBranch:
        """An independent copy, to continue along another path."""
        ends = Ends(self.ends.cut, self.ends.error)
        return StepBranch(
            [*self.state], {**self.slots}, self.guard, ends, {**self.broken}, self.chosen, self.args
        )


class RuleMaker:
    """Executes actions and the initialization of a model symbolically."""

    def __init__(self, expressions: GroundExpressions, model: ir.Model) -> None:
        self._e = expressions
        self._terms = expressions.terms
        self._shapes = expressions.shapes
        self._types = [variable.type for variable in model.variables]

    def frames(self, action: ir.Action, state: Sequence[Shape]) -> Iterator[tuple[GroundStep, StepBranch]]:
        """Every branch of an action: its arguments, and the branch at the end of its body."""
        terms = self._terms
        start = StepBranch([*state], {}, terms.true, Ends(terms.false, terms.false))
        for frame in self._bound(action.params, start):
            args = tuple(frame.slots[param.slot] for param in action.params if param.slot in frame.slots)
            if len(args) < len(action.params):
                yield GroundStep(action.name, args), frame
                continue
            for part in action.head:
                if isinstance(part, ir.Bound):
                    frame.slots[part.slot] = self._e.of(part.value, self._env(frame))
                else:
                    frame.guard = terms.both(frame.guard, self._e.truth(part.test, self._env(frame)))
            if frame.guard.constant == 0 and frame.ends.error.constant == 0:
                continue
            for end in self.run(action.body, frame):
                yield GroundStep(action.name, args), end

    def _bound(self, params: Sequence[ir.Param], frame: StepBranch) -> Iterator[StepBranch]:
        """Yield a branch for each choice of the parameters; a false one carries an error of a domain."""
        if not params:
            yield frame
            return
        found = self._choices(params[0], None, frame)
        for inner in found:
            yield from self._bound(params[1:], inner)
        if not found and frame.ends.error.constant != 0:  # else they have the error, if any
            frame.guard = self._terms.false
            yield frame

    def _choices(
        self, bound: ir.Param | ir.Choose, where: ir.Expr | None, frame: StepBranch
    ) -> list[StepBranch]:
        """A branch for each possible member of a domain, by its value if it is enumerable."""
        terms = self._terms
        items = self._e.items(bound.domain, bound.case, self._env(frame), any_order=True)
        found = []
        for n, (has, value) in enumerate(self._shapes.by_value(items) or items):
            branch = frame.copy()
            branch.slots[bound.slot] = value
            branch.guard = terms.both(frame.guard, has)
            if where is not None and branch.guard.constant != 0:
                passes = self._e.truth(where, self._env(branch))
                frame.ends.error = terms.any((frame.ends.error, branch.ends.error))
                branch.guard = terms.both(branch.guard, passes)
            self._note(branch, bound.domain.type, value, n)
            if branch.guard.constant != 0:
                found.append(branch)
        return found

    def _note(self, frame: StepBranch, domain: t.Type, value: Shape, number: int) -> None:
        """Record the chosen value in the branch, for its name and its arguments; else its number."""
        of, word = element(domain) or t.UNKNOWN, "_"
        arg: Arg = (t.UNKNOWN, number)
        if self._shapes.is_fixed(value):
            try:
                known = value_of(value)
                word, arg = show(of, known, self._shapes.scope), (of, known)
            except (ValueError, TypeError, IndexError):
                pass
        frame.chosen, frame.args = (*frame.chosen, word), (*frame.args, arg)

    def _env(self, frame: StepBranch) -> GroundEnv:
        """The context of expressions at the current point of a branch."""
        terms = self._terms
        goes_on = terms.no(terms.any((frame.ends.cut, frame.ends.error)))
        return GroundEnv(tuple(frame.state), frame.slots, terms.both(frame.guard, goes_on), frame.ends)

    # -------------------------------------------------------------- statements

    def run(self, statements: Sequence[ir.Stmt], frame: StepBranch) -> list[StepBranch]:
        """The branches that executing the statements leads to; one with a false guard is kept as it is."""
        frames = [frame]
        for statement in statements:
            taken = (self._one(statement, each) if each.guard.constant != 0 else [each] for each in frames)
            frames = [after for some in taken for after in some]
            if len(frames) > MOST_RULES:
                raise Inexpressible(Construct(f"a step with more than {MOST_RULES} ends", statement.span))
        return frames

    def _one(self, statement: ir.Stmt, frame: StepBranch) -> list[StepBranch]:
        """The branches that executing one statement leads to."""
        env = self._env(frame)
        match statement:
            case ir.Assign():
                value = self._e.of(statement.value, env)
                before = frame.state[statement.var]
                of = self._types[statement.var]
                frame.state[statement.var] = self._changed(
                    before, of, statement.path, value, self._env(frame)
                )
            case ir.Bound(slot=slot):
                frame.slots[slot] = self._e.of(statement.value, env)
            case ir.Branch(test=test):
                asked = self._e.truth(test, env)
                return self._fork(asked, frame, statement.then, statement.other)
            case ir.Each():
                return self._each(statement, frame)
            case ir.Choose():
                return self._choose(statement, frame)
            case ir.Assert(name=name):
                false = self._terms.no(self._e.truth(statement.test, env))
                known = frame.broken.get(name, self._terms.false)
                path = self._env(frame).path
                frame.broken[name] = self._terms.any((known, self._terms.both(path, false)))
            case _:
                assert_never(statement)
        return [frame]

    def _changed(
        self, whole: Shape, of: t.Type, path: Sequence[ir.Key | ir.At], value: Shape, env: GroundEnv
    ) -> Shape:
        """The value with the part at a path replaced."""
        if not path:
            return value
        if not isinstance(whole, Parts):
            raise Inexpressible(Construct("an assignment into part of an option or a union", _place(path)))
        match path[0]:
            case ir.At(index=index):
                made = self._changed(whole.parts[index], t.parts(of)[index], path[1:], value, env)
                return Parts((*whole.parts[:index], made, *whole.parts[index + 1 :]))
            case ir.Key(key=key_expr):
                key = self._e.of(key_expr, env)
                if not isinstance(key, GroundTerm):
                    raise Inexpressible(Construct("a key that is no plain value", key_expr.span))
                first = self._e.first(of, len(whole.parts), key, env)
                (inner,) = t.parts(of)
                parts = []
                for n, part in enumerate(whole.parts, first):
                    same = self._terms.is_number(key, n)
                    if same.constant == 0:
                        parts.append(part)
                        continue
                    made = self._changed(part, inner, path[1:], value, env)
                    parts.append(self._shapes.ite(same, made, part))
                return Parts(tuple(parts))

    def _fork(
        self, test: GroundTerm, frame: StepBranch, then: Sequence[ir.Stmt], other: Sequence[ir.Stmt]
    ) -> list[StepBranch]:
        """Execute `then` where `test` is true, else `other`; merged to one branch if neither branches."""
        terms = self._terms
        if test.constant is not None:
            return self.run(then if test.constant else other, frame)
        guard = frame.guard
        yes, no = frame.copy(), frame
        yes.guard, no.guard = terms.both(guard, test), terms.both(guard, terms.no(test))
        a, b = self.run(then, yes), self.run(other, no)
        if len(a) != 1 or len(b) != 1 or a[0].guard is not yes.guard or b[0].guard is not no.guard:
            return [*a, *b]
        return [self._merged(test, a[0], b[0], guard)]

    def _merged(self, test: GroundTerm, a: StepBranch, b: StepBranch, guard: GroundTerm) -> StepBranch:
        """One branch from the two of an `if`, its state merged by if-then-else."""
        terms, shapes = self._terms, self._shapes
        state = [shapes.ite(test, x, y) for x, y in zip(a.state, b.state, strict=True)]
        ends = Ends(terms.any((a.ends.cut, b.ends.cut)), terms.any((a.ends.error, b.ends.error)))
        broken = {
            name: terms.any((a.broken.get(name, terms.false), b.broken.get(name, terms.false)))
            for name in dict.fromkeys((*a.broken, *b.broken))
        }
        return StepBranch(state, b.slots, guard, ends, broken, b.chosen, b.args)

    def _each(self, statement: ir.Each, frame: StepBranch) -> list[StepBranch]:
        """Execute a `for`, unrolled over the possible members of its domain."""
        frames = [frame]
        for has, value in self._e.items(statement.domain, statement.case, self._env(frame)):
            after: list[StepBranch] = []
            for each in frames:
                each.slots[statement.slot] = value
                after += self._fork(has, each, statement.body, ())
            frames = after
        return frames

    def _choose(self, statement: ir.Choose, frame: StepBranch) -> list[StepBranch]:
        """A branch for each choice of a `choose`; and a false one that carries errors."""
        before = frame.ends.error
        found = self._choices(statement, statement.where, frame)
        if frame.ends.error is not before or not found:  # then no branch has the error
            found.append(frame.copy())
            found[-1].guard = self._terms.false
        return found


def _place(path: Sequence[ir.Key | ir.At]) -> Span:
    """The source span of the first key in a path; an empty one if it has none."""
    for step in path:
        if isinstance(step, ir.Key):
            return step.key.span
    return Span(0, 0)


def rule_of(
    layout: FlatLayout,
    expressions: GroundExpressions,
    step: GroundStep,
    frame: StepBranch,
    before: Sequence[Shape],
    stored: Sequence[Shape],
    claims: Callable[[GroundEnv], tuple[tuple[str, GroundTerm], ...]],
) -> GroundRule:
    """The rule of a branch at its end: guard, error, properties and assignments."""
    terms = expressions.terms
    goes = terms.all((frame.guard, terms.no(frame.ends.cut), terms.no(frame.ends.error)))
    changes = [
        (flat, value)
        for to, shape in zip(stored, frame.state, strict=True)
        for flat, value in layout.stores(to, shape)
        if flat is not value
    ]
    env = GroundEnv(tuple(frame.state), {}, goes, frame.ends, tuple(before), step)
    asserts = [(name, terms.no(broken)) for name, broken in frame.broken.items()]
    asserted = [(name, holds) for name, holds in (*asserts, *claims(env)) if holds.constant != 1]
    name = step.action + (f"({', '.join(frame.chosen)})" if frame.chosen else "")
    return GroundRule(name, step.action, goes, frame.ends.error, tuple(asserted), tuple(changes), frame.args)
