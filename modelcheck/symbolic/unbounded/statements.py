"""What statements do to a state of symbols; a loop changes what belongs to each member at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import assert_never

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.contract.inexpressible import Construct, Inexpressible
from modelcheck.symbolic.unbounded.expressions import Placed, SmtEnv, SmtExpressions
from modelcheck.symbolic.unbounded.shapes import Pointwise, SmtParts, SmtShape, Subsets, members, symbol
from modelcheck.symbolic.unbounded.sorts import Flat
from modelcheck.symbolic.unbounded.terms import (
    FALSE,
    TRUE,
    SmtTerm,
    conjunction,
    equality,
    implication,
    negation,
    quantified,
)
from spec.frozen import frozen
from spec.model.op import Op
from spec.model.walk import children, expressions, walk_statements


@frozen
class Asserted:
    """A condition of an `assert` in a step, with its name."""

    name: str
    says: SmtTerm


class Statements:
    """Executes statements symbolically; `assumed` collects conditions of choices, `asserted` of asserts."""

    def __init__(self, expressions: SmtExpressions, types: Sequence[ir.Variable]) -> None:
        self.expressions = expressions
        self._variables = types
        self.assumed: list[SmtTerm] = []
        self.asserted: list[Asserted] = []
        self._choices = 0

    def run(self, body: Sequence[ir.Stmt], env: SmtEnv, way: SmtTerm = TRUE) -> SmtEnv:
        """The context after the statements; `way` is the condition under which they run."""
        for statement in body:
            env = self._one(statement, env, way)
        return env

    def choose(self, name: str, domain: ir.Expr, case: int | None, env: SmtEnv) -> tuple[SmtTerm, SmtShape]:
        """The condition that a choice is possible, and the chosen value, as new symbols."""
        whole = self.expressions.of(domain, env)
        if isinstance(whole, Subsets):
            self._choices += 1
            chosen = self.expressions.shapes.unknown(whole.type.of, f"{symbol(name)} {self._choices}")
            return self.expressions.is_in(chosen, whole), chosen
        item = self.expressions.item(domain, case, env, self.expressions.shapes.one)
        return item.inside, item.value

    def _one(self, statement: ir.Stmt, env: SmtEnv, way: SmtTerm) -> SmtEnv:
        """The context after one statement."""
        match statement:
            case ir.Assign():
                return self._assign(statement, env)
            case ir.Bound(slot=slot):
                return env.bind(slot, self.expressions.of(statement.value, env))
            case ir.Branch():
                return self._branch(statement, env, way)
            case ir.Each():
                return self._each(statement, env)
            case ir.Choose():
                with Placed(statement.span):
                    inside, value = self.choose(statement.name, statement.domain, statement.case, env)
                env = env.bind(statement.slot, value)
                where = TRUE if statement.where is None else self.expressions.truth(statement.where, env)
                self.assumed.append(implication(way, conjunction([inside, where])))
                return env
            case ir.Assert():
                says = implication(way, self.expressions.truth(statement.test, env))
                self.asserted.append(Asserted(statement.name, says))
                return env
            case _:
                assert_never(statement)

    def _branch(self, statement: ir.Branch, env: SmtEnv, way: SmtTerm) -> SmtEnv:
        """The context after an `if`, merged from both branches."""
        test = self.expressions.truth(statement.test, env)
        then = self.run(statement.then, env, conjunction([way, test]))
        other = self.run(statement.other, env, conjunction([way, negation(test)]))
        state = tuple(
            a if a is b else self.expressions.shapes.merged(test, a, b)
            for a, b in zip(then.state, other.state, strict=True)
        )
        return replace(env, state=state)

    # ------------------------------------------------------------------ assignment

    def _assign(self, statement: ir.Assign, env: SmtEnv) -> SmtEnv:
        """The context after an assignment."""
        value = self.expressions.of(statement.value, env)
        with Placed(statement.span):
            return self._assigned(statement, value, env)

    def _assigned(self, statement: ir.Assign, value: SmtShape, env: SmtEnv) -> SmtEnv:
        """The context with a new value at the target of an assignment."""
        index = statement.var
        fitting = self.expressions.shapes.fitted(value, statement.value.type)
        changed = self._changed(env.state[index], statement.path, fitting, env)
        whole = self.expressions.shapes.fitted(changed, self._variables[index].type)
        return replace(env, state=(*env.state[:index], whole, *env.state[index + 1 :]))

    def _changed(
        self, whole: SmtShape, path: Sequence[ir.Key | ir.At], value: SmtShape, env: SmtEnv
    ) -> SmtShape:
        """The value with the part at a path replaced."""
        if not path:
            return value
        shapes = self.expressions.shapes
        match path[0], whole:
            case ir.Key(key), Pointwise(get, t.Map() as of):
                place = shapes.element(self.expressions.of(key, env), of.key)
                inner = shapes.fitted(self._changed(get(place), path[1:], value, env), of.value)
                return Pointwise(lambda k: shapes.merged(equality(k, place), inner, get(k)), of)
            case ir.At(index), SmtParts() | Flat():
                parts = [*shapes.parts(whole)]
                parts[index] = self._changed(parts[index], path[1:], value, env)
                return shapes.together(parts, whole.type, None)
            case _:
                raise Inexpressible("an assignment to this part")

    # ----------------------------------------------------------------------- loops

    def _each(self, statement: ir.Each, env: SmtEnv) -> SmtEnv:
        """The context after a `for` that changes only its member's own entries; others are refused."""
        changed = _own_entries(statement)
        domain = self.expressions.of(statement.domain, env)
        if (
            statement.case is not None
            or not isinstance(domain, Pointwise)
            or not isinstance(domain.type, t.Set)
        ):
            raise Inexpressible(Construct("a loop over what is no set", statement.span))
        name = self.expressions.shapes.bind(self.expressions.types.sort(domain.type.of))
        self._entry(statement, env, name)  # what cannot be expressed is refused here, in its place
        state = list(env.state)
        for index in changed:
            state[index] = self._looped(statement, env, domain, index)
        return replace(env, state=tuple(state))

    def _entry(self, statement: ir.Each, env: SmtEnv, member: SmtTerm) -> SmtEnv:
        """The context after the body of a `for` for one member."""
        assert isinstance(statement.domain.type, t.Set)
        each = self.expressions.shapes.seen(Flat(member, statement.domain.type.of))
        return self.run(statement.body, env.bind(statement.slot, each))

    def _looped(self, statement: ir.Each, env: SmtEnv, domain: Pointwise, index: int) -> Pointwise:
        """The map after a `for`: changed at the members of the domain."""
        before = env.state[index]
        assert isinstance(before, Pointwise)

        def get(key: SmtTerm) -> SmtShape:
            after = self._entry(statement, env, key).state[index]
            assert isinstance(after, Pointwise)
            return self.expressions.shapes.merged(domain.has(key), after.at(key), before.at(key))

        return Pointwise(get, before.type)


class PossibleChoices(Statements):
    """Executes the start to state that its choices are possible, with bound names for them.

    A subset cannot be such a name, so each is taken to be the `whole` set, or else the empty one;
    `chose_subset` if there was any.
    """

    def __init__(self, expressions: SmtExpressions, types: Sequence[ir.Variable], *, whole: bool) -> None:
        super().__init__(expressions, types)
        self.chose_subset = False
        self._whole = whole
        self._names: list[SmtTerm] = []

    def choose(
        self,
        name: str,  # noqa: ARG002 - names that are bound are made up
        domain: ir.Expr,
        case: int | None,
        env: SmtEnv,
    ) -> tuple[SmtTerm, SmtShape]:
        """The condition that a choice is possible, and the chosen value, as bound names."""
        whole = self.expressions.of(domain, env)
        if isinstance(whole, Subsets):
            self.chose_subset = True
            assert isinstance(whole.of.type, t.Set)
            return TRUE, whole.of if self._whole else members(lambda _: FALSE, whole.of.type)
        item = self.expressions.item(domain, case, env)
        self._names += item.names
        return item.inside, item.value

    @property
    def are_possible(self) -> SmtTerm:
        """The formula that all choices have values."""
        return quantified("exists", self._names, conjunction(self.assumed))


def _own_entries(loop: ir.Each) -> tuple[int, ...]:
    """The maps that a loop changes, if it reads and writes only its member's own entries of them."""
    changed = tuple(dict.fromkeys(_assigned(loop.body, loop.slot)))
    evaluated = (expr for each in walk_statements(loop.body) for expr in expressions(each))
    for read in (read for expr in evaluated for read in _reads(expr, loop.slot)):
        if read.index in changed:
            raise Inexpressible(Construct("a loop that reads what it changes for other members", read.span))
    return changed


def _assigned(body: Sequence[ir.Stmt], slot: int) -> Iterator[int]:
    """The variables that a loop's body assigns, in textual order."""
    for statement in body:
        match statement:
            case ir.Assign(var=index, path=(ir.Key(ir.Local(slot=key)), *_)) if key == slot:
                yield index
            case ir.Branch():
                yield from _assigned((*statement.then, *statement.other), slot)
            case ir.Bound():
                pass
            case _:
                raise Inexpressible(
                    Construct("a loop that changes more than its member's own entries", statement.span)
                )


def _reads(expr: ir.Expr, slot: int) -> Iterator[ir.Var]:
    """The variables that are read other than at the loop's own member."""
    match expr:
        case ir.Apply(op=Op.LOOKUP, args=(ir.Var(), ir.Local(slot=key))) if key == slot:
            return
        case ir.Var():
            yield expr
        case _:
            for part in children(expr):
                yield from _reads(part, slot)
