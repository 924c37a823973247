"""The parts of a protocol that its safety may need, and the model without each of them.

NOTE(parts): a part is a place in the file, with all the places where an engine meets it:
a function is in every action that uses it, and a variant has what its base has.

- A *guard* of an action is dropped.
- A *quorum* is a comparison that asks a set to be large: `size(S) >= k`, `2 * size(S) > n`.
  One member less is enough then: the set is counted with one more than it has.  So is
  one for a number that the model is given, a config or the size of a sort: `size(S) == k`.
- A *durable* field is volatile: every `wipe` and `lose` sets it to its first value.
- A *reset* is an assignment of a fixed value, one that reads neither the state nor a bound
  name, in an action or a repair; it is left out.  A `wipe` there is one, all of it.

What only ghosts depend on is part of the claim and not of the protocol, and stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import assert_never

import spec.model.ir as ir
import spec.model.types as t
from counterexamples.lines import one_line
from spec.frozen import frozen
from spec.load import load_volatile
from spec.model.op import Op
from spec.model.walk import free_slots, variables_in, walk_statements, with_parts
from spec.source import Source, Span


class PartKind(Enum):
    """The kind of a part; its value describes the mutation in words."""

    GUARD = "dropped"
    QUORUM = "one less"
    DURABLE = "volatile"
    RESET = "left out"


@frozen
class ProtocolPart:
    """A part of a protocol that can be mutated, by kind and place; `name` is for people."""

    kind: PartKind
    span: Span
    name: str


Choice = Callable[[ProtocolPart, ir.Expr, ir.Expr], ir.Expr]
"""What to put in a place of a part, given the expression there and the one without the part."""


def forgetful(models: Sequence[ir.Model]) -> tuple[ir.Model, ...]:
    """The models with an extra assignment for every durable field where a crash would lose it."""
    if not any(v.storage is ir.Storage.DURABLE and v.owner for model in models for v in model.variables):
        return tuple(models)
    return load_volatile(models[0].source)


def parts_of(model: ir.Model, forgets: ir.Model) -> frozenset[ProtocolPart]:
    """All parts of a model that can be mutated, given its `forgetful` version."""
    found: set[ProtocolPart] = set()

    def note(part: ProtocolPart, now: ir.Expr, _without: ir.Expr) -> ir.Expr:
        found.add(part)
        return now

    weakened(model, forgets, note)
    return frozenset(found)


def sites(model: ir.Model, forgets: ir.Model) -> dict[ProtocolPart, frozenset[str]]:
    """The parts of a model, each with the actions that contain it."""
    found: dict[ProtocolPart, set[str]] = {}
    for action in forgets.actions:
        only = replace(forgets, actions=(action,))
        for part in parts_of(replace(model, actions=(model.action(action.name),)), only):
            found.setdefault(part, set()).add(action.name)
    return {part: frozenset(names) for part, names in found.items()}


def weakened(model: ir.Model, forgets: ir.Model, choice: Choice) -> ir.Model:
    """The model with the mutations chosen by `choice`, given its `forgetful` version."""
    actions = tuple(_PartsOfAction(model, action, choice).chosen() for action in forgets.actions)
    return replace(model, actions=actions)


class _PartsOfAction:
    """Finds and mutates the parts of one action."""

    def __init__(self, model: ir.Model, forgets: ir.Action, choice: Choice) -> None:
        self._model, self._action, self._choice = model, forgets, choice
        self._stores = set(_stores(model.action(forgets.name).body))

    def chosen(self) -> ir.Action:
        """The action with the chosen mutations."""
        params = tuple(replace(param, domain=self._expr(param.domain)) for param in self._action.params)
        head = tuple(map(self._head, self._action.head))
        return replace(self._action, params=params, head=head, body=self._block(self._action.body))

    @property
    def _source(self) -> Source:
        """The source of the action."""
        return self._model.source

    def _head(self, part: ir.Guard | ir.Bound) -> ir.Guard | ir.Bound:
        """A guard or `let` with the chosen mutations."""
        match part:
            case ir.Bound(value=value):
                return replace(part, value=self._expr(value))
            case ir.Guard(name, test):
                named = f"{self._action.name}.{name}" if name else None
                which = named or f"{self._action.name}: {self._text(part.span)}"
                always = ir.Const(True, type=t.BOOL, span=test.span)  # noqa: FBT003 - it has no name for it
                guard = ProtocolPart(PartKind.GUARD, part.span, which)
                return replace(part, test=self._choice(guard, self._expr(test), always))
            case _:
                assert_never(part)

    def _text(self, span: Span) -> str:
        """The text of a span on one line."""
        return one_line(self._source.at(span))

    # -------------------------------------------------------------- statements

    def _block(self, statements: Sequence[ir.Stmt]) -> tuple[ir.Stmt, ...]:
        """Statements with the chosen mutations."""
        return tuple(new for old in statements for new in self._statement(old))

    def _statement(self, statement: ir.Stmt) -> Iterator[ir.Stmt]:
        """A statement with the chosen mutations; none if it is left out."""
        match statement:
            case ir.Assign():
                yield from self._assign(statement)
            case ir.Bound(value=value):
                yield replace(statement, value=self._expr(value))
            case ir.Branch(test, then, other):
                asks = test if self._is_for_ghosts((*then, *other)) else self._expr(test)
                yield replace(statement, test=asks, then=self._block(then), other=self._block(other))
            case ir.Each(domain=domain, body=body):
                yield replace(statement, domain=self._expr(domain), body=self._block(body))
            case ir.Choose(domain=domain, where=where):
                kept = None if where is None else self._expr(where)
                yield replace(statement, domain=self._expr(domain), where=kept)
            case ir.Assert():
                yield statement
            case _:
                assert_never(statement)

    def _is_for_ghosts(self, statements: Sequence[ir.Stmt]) -> bool:
        """Whether statements assign only ghost variables."""
        assigned = [each for each in statements if isinstance(each, ir.Assign)]
        ghosts = all(self._model.variables[each.var].ghost for each in assigned)
        return bool(assigned) and ghosts and len(assigned) == len(statements)

    def _assign(self, store: ir.Assign) -> Iterator[ir.Assign]:
        """An assignment with the chosen mutation; none if it would keep the old value."""
        variable, value = self._model.variables[store.var], store.value
        there = _there(variable, store)
        inner = value.of if isinstance(value, ir.Fit) else value
        if (store.span, store.var) not in self._stores:
            part = ProtocolPart(PartKind.DURABLE, variable.span, variable.name)
            chosen = self._choice(part, there, inner)
        elif variable.ghost:
            chosen = inner
        elif not self._action.is_fault and _is_fixed(inner):
            name = f"{self._action.name}: {self._text(store.span)}"
            chosen = self._choice(ProtocolPart(PartKind.RESET, store.span, name), inner, there)
        else:
            chosen = self._expr(inner)
        if chosen is not there:
            yield replace(store, value=replace(value, of=chosen) if isinstance(value, ir.Fit) else chosen)

    # -------------------------------------------------------------- expressions

    def _expr(self, expr: ir.Expr) -> ir.Expr:
        """The expression with the chosen mutation of every quorum in it."""
        found = with_parts(expr, self._expr)
        weak = smaller_quorum(found)
        if weak is None:
            return found
        return self._choice(ProtocolPart(PartKind.QUORUM, expr.span, self._text(expr.span)), found, weak)


def smaller_quorum(test: ir.Expr) -> ir.Expr | None:
    """The test with a threshold lower by one member; None if it is no quorum test."""
    match test:
        case ir.Apply(op=Op.LT | Op.LE, args=(less, more)):
            counted = with_larger_size(more)
            return None if counted is more else replace(test, args=(less, counted))
        case ir.Apply(op=Op.EQ, args=(left, right)):
            for size, number in ((left, right), (right, left)):
                counted = with_larger_size(size)
                if counted is not size and _is_fixed(number) and not isinstance(number, ir.Const):
                    nearly = replace(test, args=(counted, number))
                    return ir.Or((test, nearly), type=t.BOOL, span=test.span)
        case _:
            pass
    return None


def with_larger_size(expr: ir.Expr) -> ir.Expr:
    """A threshold with 1 added to the first set size in it: `2 * size(S)` becomes `2 * (size(S) + 1)`.

    The expression itself where no set size is in it; sets that never change do not count.
    """
    match expr:
        case ir.Apply(op=Op.SIZE, args=(of,)) if isinstance(of.type, t.Set) and not _is_fixed(of):
            one = ir.Const(1, type=t.INT, span=expr.span)
            return ir.Apply(Op.ADD, (expr, one), type=t.INT, span=expr.span)
        case ir.Apply(op=Op.ADD | Op.SUB, args=(left, right)):
            more = with_larger_size(left)
            if more is left and expr.op is Op.ADD:
                more = with_larger_size(right)
                return expr if more is right else replace(expr, args=(left, more))
            return expr if more is left else replace(expr, args=(more, right))
        case ir.Apply(op=Op.MUL | Op.MIN2 | Op.MAX2):
            return with_parts(expr, with_larger_size)
        case ir.Let(body=body):
            more = with_larger_size(body)
            return expr if more is body else replace(expr, body=more)
        case _:
            return expr


def _stores(statements: Sequence[ir.Stmt]) -> Iterator[tuple[Span, int]]:
    """The spans and variables of assignments."""
    every = walk_statements(statements)
    return ((each.span, each.var) for each in every if isinstance(each, ir.Assign))


def _there(variable: ir.Variable, store: ir.Assign) -> ir.Expr:
    """The value before an assignment at its target."""
    found: ir.Expr = ir.Var(store.var, type=variable.type, span=store.span)
    for step in store.path:
        match step, found.type:
            case ir.Key(key), t.Map(_, value):
                found = ir.Apply(Op.LOOKUP, (found, key), type=value, span=store.span)
            case ir.At(index), t.Record(_, fields):
                found = ir.Part(found, index, type=fields[index].type, span=store.span)
            case ir.At(index), t.Tuple(items):
                found = ir.Part(found, index, type=items[index], span=store.span)
            case _:
                raise AssertionError(step)  # a path is of these only
    return found


def _is_fixed(expr: ir.Expr) -> bool:
    """Whether a value depends neither on the state nor on outer names."""
    return not variables_in(expr) and not free_slots(expr)
