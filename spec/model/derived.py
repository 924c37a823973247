"""Operations that others can say, each as a rule that says it: from the IR to a smaller core.

An engine takes the core of a model, so it does not have to know these operations.  One that has a
better form of its own for an operation keeps that, and says why where it lists it.

NOTE(derived): what a rule makes has the operation's value, evaluates each argument once
and in order, and is an error of the model exactly when the operation is, in its place.
Of the same code, too; its words are those of the model itself, which is run again to tell
them.  The names that a rule binds have slots after all others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from spec.frozen import frozen
from spec.model.ir import (
    Action,
    Apply,
    Assume,
    Bind,
    Bound,
    Config,
    Const,
    Expr,
    Guard,
    If,
    Let,
    Local,
    Model,
    Property,
    Says,
    Stmt,
    Var,
)
from spec.model.op import Op, Quantifier
from spec.model.types import BOOL, INT, Set, Type, UnknownType
from spec.model.walk import with_expressions, with_parts

Slot = Callable[[], int]  # a slot that nothing else has


@frozen
class Rule:
    """How an operator is defined by others, which have no rule or a later one.

    `says` gets an application and its arguments.  It may use these more than once, or in
    another order, when it `repeats`: then they are names for what is evaluated before.
    """

    op: Op
    says: Callable[[Apply, Sequence[Expr], Slot], Expr]
    repeats: bool = False


def _not_equal(of: Apply, args: Sequence[Expr], _: Slot) -> Expr:
    """The core form of `!=`."""
    return _apply(of, Op.NOT, BOOL, _apply(of, Op.EQ, BOOL, *args))


def _negated(of: Apply, args: Sequence[Expr], _: Slot) -> Expr:
    """The core form of unary `-`."""
    return _apply(of, Op.SUB, of.type, Const(0, type=INT, span=of.span), *args)


def _lesser(of: Apply, args: Sequence[Expr], _: Slot) -> Expr:
    """The core form of `min` of two values."""
    a, b = args
    return If(_apply(of, Op.LE, BOOL, a, b), a, b, type=of.type, span=of.span)


def _greater(of: Apply, args: Sequence[Expr], _: Slot) -> Expr:
    """The core form of `max` of two values."""
    a, b = args
    return If(_apply(of, Op.LE, BOOL, a, b), b, a, type=of.type, span=of.span)


def _subset(of: Apply, args: Sequence[Expr], slot: Slot) -> Expr:
    """The core form of `subset`."""
    some, whole = args
    member = _member(of, some, slot)
    inside = _apply(of, Op.IN, BOOL, member, whole)
    return _bind(of, Quantifier.FORALL, member, some, None, inside)


def _intersection(of: Apply, args: Sequence[Expr], slot: Slot) -> Expr:
    """The core form of set intersection."""
    some, other = args
    member = _member(of, some, slot)
    return _bind(of, Quantifier.SET, member, some, _apply(of, Op.IN, BOOL, member, other), member)


def _elements(of: Apply, args: Sequence[Expr], slot: Slot) -> Expr:
    """The core form of `elements`."""
    (whole,) = args
    if isinstance(whole.type, Set):
        return whole
    member = _member(of, of, slot)
    return _bind(of, Quantifier.SET, member, whole, None, member)


def _least(of: Apply, args: Sequence[Expr], slot: Slot) -> Expr:
    """The core form of the least member of a set."""
    member = Local(slot(), type=of.type, span=of.span)
    return _bind(of, Quantifier.MIN, member, args[0], None, member)


def _greatest(of: Apply, args: Sequence[Expr], slot: Slot) -> Expr:
    """The core form of the greatest member of a set."""
    member = Local(slot(), type=of.type, span=of.span)
    return _bind(of, Quantifier.MAX, member, args[0], None, member)


RULES = (
    Rule(Op.NE, _not_equal),
    Rule(Op.NEG, _negated),
    Rule(Op.MIN2, _lesser, repeats=True),
    Rule(Op.MAX2, _greater, repeats=True),
    Rule(Op.SUBSET, _subset, repeats=True),
    Rule(Op.INTERSECT, _intersection, repeats=True),
    Rule(Op.ELEMENTS, _elements),
    Rule(Op.LEAST, _least),
    Rule(Op.GREATEST, _greatest),
)


# ----------------------------------------------------------------- what rules are made of


def _apply(of: Apply, op: Op, type_: Type, *args: Expr) -> Expr:
    """An operator expression at the place of another."""
    return Apply(op, args, type=type_, span=of.span)


def _member(of: Apply, whole: Expr, slot: Slot) -> Local:
    """A new local name for the members of a collection."""
    match whole.type:
        case Set(member):
            return Local(slot(), type=member, span=of.span)
        case UnknownType():
            return Local(slot(), type=whole.type, span=of.span)
        case _:
            raise TypeError(f"{whole.type} is no set")


def _bind(
    of: Apply, quantifier: Quantifier, member: Local, domain: Expr, where: Expr | None, body: Expr
) -> Expr:
    """A quantifier expression at the place of another."""
    return Bind(quantifier, member.slot, "member", domain, where, body, type=of.type, span=of.span)


# ------------------------------------------------------------------------ the core


@frozen
class CoreRewriter:
    """Rewrites expressions and models with core operators only, except those in `own`."""

    own: Collection[Op] = ()

    def model(self, model: Model) -> Model:
        """The model with core operators only. Costs a walk over it."""
        start = _Frame(self, model.init_slots)
        return replace(
            model,
            assumes=tuple(map(self._assume, model.assumes)),
            variables=tuple(replace(each, init=start.expr(each.init)) for each in model.variables),
            init=start.statements(model.init),
            init_slots=start.slots,
            actions=tuple(map(self._action, model.actions)),
            properties=tuple(map(self.property, model.properties)),
        )

    def property(self, prop: Property) -> Property:
        """The property with core operators only."""
        frame = _Frame(self, prop.slots)
        expr, goal = (None if each is None else frame.expr(each) for each in (prop.expr, prop.goal))
        says = frame.says(prop.says)
        return replace(prop, expr=expr, goal=goal, says=says, slots=frame.slots)

    def expr(self, expr: Expr, slots: int) -> Expr:
        """The expression with core operators only; slots from `slots` on are free."""
        return _Frame(self, slots).expr(expr)

    def _assume(self, assume: Assume) -> Assume:
        """The assumption with core operators only."""
        frame = _Frame(self, assume.slots)
        return replace(assume, test=frame.expr(assume.test), slots=frame.slots)

    def _action(self, action: Action) -> Action:
        """The action with core operators only."""
        frame = _Frame(self, action.slots)
        return replace(
            action,
            params=tuple(replace(each, domain=frame.expr(each.domain)) for each in action.params),
            head=tuple(map(frame.head, action.head)),
            body=frame.statements(action.body),
            says=frame.says(action.says),
            slots=frame.slots,
        )


class _Frame:
    """Rewrites an action, a property or the start, which have their own slots."""

    def __init__(self, core: CoreRewriter, slots: int) -> None:
        self._rules = {rule.op: rule for rule in RULES if rule.op not in core.own}
        self.slots = slots

    def _slot(self) -> int:
        """A fresh slot."""
        self.slots += 1
        return self.slots - 1

    def expr(self, expr: Expr) -> Expr:
        """The expression with core operators only."""
        made = with_parts(expr, self.expr)
        rule = self._rules.get(made.op) if isinstance(made, Apply) else None
        if rule is None or not isinstance(made, Apply):
            return made
        args = [self._name(arg) if rule.repeats else arg for arg in made.args]
        found = self.expr(rule.says(made, args, self._slot))
        for arg, value in reversed([*zip(args, made.args, strict=True)]):
            if isinstance(arg, Local) and arg is not value:
                found = Let(arg.slot, "it", value, found, type=made.type, span=made.span)
        return found

    def _name(self, arg: Expr) -> Expr:
        """The expression to use for an argument: itself if it is cheap and total, else a new name."""
        if isinstance(arg, Const | Config | Var | Local):
            return arg
        return Local(self._slot(), type=arg.type, span=arg.span)

    def statements(self, statements: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """The statements with core operators only."""
        return tuple(with_expressions(each, self.expr) for each in statements)

    def head(self, part: Guard | Bound) -> Guard | Bound:
        """The guard or `let` with core operators only."""
        if isinstance(part, Bound):
            return replace(part, value=self.expr(part.value))
        return replace(part, test=self.expr(part.test))

    def says(self, says: Says | None) -> Says | None:
        """The sentence with core operators only."""
        if says is None:
            return None
        return tuple(part if isinstance(part, str) else self.expr(part) for part in says)
