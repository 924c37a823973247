"""Nats of which only the order matters, so that a check may leave them without a bound.

NOTE(ordinals): a state of a run can be kept with the values of such a nat squeezed: the
least in use above 0 becomes 1, the next 2, and so on; 0 stays 0.  Call two states alike where
one comes from the other by renumbering values in an order-preserving way that keeps 0.

If expressions compare values, choose the lesser or greater, store them and put them into
collections, and nothing else, then from states that are alike the same steps lead to states that
are alike, by induction over the expressions: `obstacles` finds all others.  A literal
0 stays itself; any other literal would not, and is only allowed in `init`, which no state precedes.

`x + 1` is the one way to make a value.  Where x is at least each value in use before
the step, x + 1 is greater than all of them in both of two states that are alike; the values that
one step makes are all of the form m + k, with the greatest m in use and the same k in both, so
they too are ordered in the same way.  Where x is less, the gap between x and the next value would decide,
and squeezing loses it.  So the definition makes that an error of the model (R0609), which is
looked for in each step that a search takes (`spec/meaning/evaluate.py`).

Hence a search of squeezed states finds what a search of all would find: the same verdicts with the same
fewest faults and steps.  A run among squeezed states becomes one of the model by
taking the same steps from the initial state, each time the one to a state that is alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import spec.model.ir as ir
import spec.model.types as t
from spec.frozen import frozen
from spec.model.op import Op, Quantifier
from spec.model.values_in_use import has, values_in
from spec.model.walk import children, expressions, expressions_before, walk, walk_statements
from spec.source import Span

_OF_TWO_ALIKE = {  # both arguments have the same type, as far as the text says it
    *(Op.EQ, Op.NE, Op.LT, Op.LE, Op.MIN2, Op.MAX2, Op.SUBSET, Op.UNION, Op.MINUS, Op.INTERSECT),
    *(Op.CONCAT, Op.COMMON, Op.STARTS),
}
_OF_A_MEMBER = {Op.IN, Op.COUNT}  # of a value and a collection
_ARITHMETIC = {Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.MOD, Op.NEG, Op.RANGE}
_BY_PLACE = {Op.TAKE, Op.DROP, Op.INDEX, Op.AT, Op.LOOKUP}  # the second argument is a place
_ONE_OF = {Op.INDEX, Op.LAST, Op.THE, Op.LEAST, Op.GREATEST}  # a collection's members
_ORDER = "only `==`, `<`, `min`, `max` and `+ 1` of the greatest keep the order of values"


@frozen
class Obstacle:
    """A part of a model by which more than the order of a nat's values matters, and what to write instead."""

    span: Span
    why: str
    help: str

    def refusal(self, nat: str, bounded: str) -> tuple[str, str]:
        """The message that a nat cannot be `any`, and the help; `bounded` is how to give it a number."""
        return f"`{nat}` cannot be `any`: {self.why}", f"{self.help}; or give a number, such as `{bounded}`"


def obstacles(model: ir.Model, nat: str) -> Iterator[Obstacle]:
    """Why a nat needs a bound; nothing where only the order of its values matters (NOTE(ordinals))."""
    yield from _of_declarations(model, nat)
    start = _Obstacles(model, nat, at_start=True)
    for variable in model.variables:
        yield from start.of((variable.init,), ())
    yield from start.of((), model.init)
    for action in model.actions:
        bound = [part for part in action.head if isinstance(part, ir.Bound)]
        yield from _Obstacles(model, nat).of(
            expressions_before(action), action.body, (*action.params, *bound)
        )
    claims = [expr for prop in model.properties for expr in (prop.expr, prop.goal) if expr is not None]
    for expr in (*claims, *(assume.test for assume in model.assumes)):
        yield from _Obstacles(model, nat, makes_none=True).of((expr,), ())


def _of_declarations(model: ir.Model, nat: str) -> Iterator[Obstacle]:
    for variable in model.variables:
        for part in t.walk_type(variable.type):
            if isinstance(part, t.Map) and has(part.key, nat):
                yield Obstacle(
                    variable.span,
                    f"`{variable.name}` has an entry for each {nat} up to a bound",
                    f"a set of pairs of {nat} and value has only those in use",
                )
            if isinstance(part, t.Set | t.Bag | t.Seq) and part.limit == t.Limit(nat):
                yield Obstacle(
                    variable.span,
                    f"{nat} bounds the size of `{variable.name}`",
                    "bound the size by a nat of its own",
                )
    for entry in model.configs:
        if has(entry.type, nat):
            yield Obstacle(
                entry.span,
                f"the switch `{entry.name}` is one {nat} among all",
                "give it a type of its own, such as `0..9`",
            )


Binder = ir.Param | ir.Bound | ir.Let | ir.Bind | ir.Each | ir.Choose | ir.MapOf


class _Obstacles:
    """Finds the uses of one nat, in what shares a frame, that do not keep the order of its values."""

    def __init__(
        self, model: ir.Model, nat: str, *, at_start: bool = False, makes_none: bool = False
    ) -> None:
        self.model, self.name, self.nat = model, nat, t.Nat(nat)
        self.at_start = at_start  # a literal is any value there
        self.makes_none = makes_none  # `x + 1` is no new value there
        self.binders: dict[int, list[Binder]] = defaultdict(list)

    def of(
        self, exprs: Iterable[ir.Expr], body: Sequence[ir.Stmt], binders: Iterable[Binder] = ()
    ) -> Iterator[Obstacle]:
        """The uses in expressions and statements of one frame, which begins with some bound names."""
        found = list(exprs)
        known, keys = [*binders], list[ir.Expr]()
        for statement in walk_statements(body):
            found += expressions(statement)
            if isinstance(statement, ir.Assign):
                keys += [step.key for step in statement.path if isinstance(step, ir.Key)]
            if isinstance(statement, ir.Bound | ir.Each | ir.Choose):
                known.append(statement)
        for expr in found:
            known += [each for each in walk(expr) if isinstance(each, ir.Let | ir.Bind | ir.MapOf)]
        for binder in known:
            self.binders[binder.slot].append(binder)
        for expr in found:
            yield from self._in(expr, counts=not self.makes_none)
        for key in keys:
            if key.type == self.nat:
                yield self._place(key.span)

    def _in(self, expr: ir.Expr, *, counts: bool) -> Iterator[Obstacle]:
        """Those in an expression, the outermost only; `counts` where `x + 1` may make a value."""
        if (found := self._here(expr, counts=counts)) is not None:
            yield found
            return
        for part in children(expr):
            yield from self._in(part, counts=counts and not isinstance(expr, ir.Bind))

    # ------------------------------------------------------------------ one expression

    def _here(self, expr: ir.Expr, *, counts: bool) -> Obstacle | None:  # noqa: C901 - a dispatch over a union
        """The obstacle that an expression itself is, apart from its parts."""
        match expr:
            case ir.Members(of=of):
                return self._listed(expr, "looks at") if has(of, self.name) else None
            case ir.MapOf() if isinstance(expr.type, t.Map) and has(expr.type.key, self.name):
                return self._listed(expr, "has an entry for")
            case _ if self.at_start:  # no state comes before it, so that any value may be made there
                return None
            case ir.Const(value=value):
                return None if self._is_zero(value, expr.type) else self._literal(expr)
            case ir.MapOf(body=body):
                assert isinstance(expr.type, t.Map)
                return self._put(body, expr.type.value)
            case ir.Apply():
                return self._operation(expr, counts=counts)
            case ir.Var(index=index):
                return self._typed(expr, self.model.variables[index].type)
            case ir.Local():
                return self._local(expr)
            case ir.Part(of=of, index=index, case=case):
                return self._typed(expr, *_fields_at(of.type, index, case))
            case ir.If(then=then, other=other):
                return self._put(then, expr.type) or self._put(other, expr.type)
            case ir.Let(body=of) | ir.Old(of=of) | ir.Fit(of=of):
                return self._put(of, expr.type)
            case ir.Make(parts=parts):
                pairs = zip(parts, _made_of(expr, len(parts)), strict=True)
                return next((each for one, of in pairs if (each := self._put(one, of))), None)
            case ir.Bind():
                return self._bound(expr)
            case ir.Did(action=name, args=args):
                domains = [param.domain.type for param in self.model.action(name).params]
                pairs = zip(args, map(_element, domains), strict=False)
                return next((each for one, of in pairs if (each := self._put(one, of))), None)
            case _:
                return None

    def _operation(self, expr: ir.Apply, *, counts: bool) -> Obstacle | None:
        op, args, span = expr.op, expr.args, expr.span
        own = [arg.type == self.nat for arg in args]
        if op in _ARITHMETIC:
            return self._arithmetic(expr, own, counts=counts)
        if op in _BY_PLACE and own[1]:
            return self._place(span)
        if op in _OF_TWO_ALIKE:
            found = (self._alike(*args), *(self._put(arg, expr.type) for arg in args))
            return next((each for each in found if each is not None), None)
        if op in _OF_A_MEMBER:
            one, many = args
            if isinstance(many, ir.Make | ir.Const):
                return self._put_members(many, one.type)
            return self._put(one, _element(many.type))
        if op is Op.LOOKUP:
            assert isinstance(args[0].type, t.Map)
            return self._typed(expr, args[0].type.value)
        if op in _ONE_OF:
            return self._typed(expr, _element(args[0].type))
        if expr.type == self.nat:
            return Obstacle(
                span, f"a size is used as a value of {self.name}", "bound the size by a nat of its own"
            )
        return None

    def _arithmetic(self, expr: ir.Apply, own: Sequence[bool], *, counts: bool) -> Obstacle | None:
        if not any(own) and expr.type != self.nat:
            return None
        ones = [each for each, is_own in zip(expr.args, own, strict=True) if not is_own]
        if expr.op is not Op.ADD or len(ones) != 1 or not _is_one(ones[0]):
            return Obstacle(expr.span, f"this is arithmetic with {self.name}", _ORDER)
        if expr.type != self.nat:
            return Obstacle(expr.span, f"a value of {self.name} is used as a plain number", _ORDER)
        if not counts:
            return Obstacle(
                expr.span,
                f"whether one {self.name} is the next of another depends on more than their order",
                "compare them with `<` or `==`",
            )
        return None

    def _bound(self, expr: ir.Bind) -> Obstacle | None:
        match expr.quantifier:
            case Quantifier.SUM if has(expr.body.type, self.name) or expr.type == self.nat:
                return Obstacle(expr.span, f"values of {self.name} are added up", _ORDER)
            case Quantifier.SET:
                return self._put(expr.body, _element(expr.type))
            case Quantifier.MAX | Quantifier.MIN:
                return self._put(expr.body, expr.type)
            case Quantifier.ARGMAX | Quantifier.ARGMIN:
                return self._typed(expr, _element(expr.domain.type))
            case _:
                return None

    def _local(self, expr: ir.Local) -> Obstacle | None:
        """A bound name is used as what it was bound to."""
        for binder in self.binders[expr.slot]:
            match binder:
                case ir.Let(value=value) | ir.Bound(value=value):
                    found = self._put(value, expr.type)
                case ir.MapOf():
                    assert isinstance(binder.type, t.Map)
                    found = self._typed(expr, binder.type.key)
                case _:
                    found = self._typed(expr, *_narrowed(_element(binder.domain.type), binder.case))
            if found is not None:
                return found
        return None

    # ------------------------------------------------------------------ types

    def _put(self, expr: ir.Expr, of: t.Type) -> Obstacle | None:
        """The obstacle where a value of the nat is put into another kind of number, or that into the nat."""
        match expr := self._written(expr):
            case ir.Const(value=value):
                return None if self._is_zero(value, of) else self._literal(expr)
            case ir.If(then=then, other=other):
                return self._put(then, of) or self._put(other, of)
            case ir.Let(body=body):
                return self._put(body, of)
            case ir.MapOf(body=body) if isinstance(of, t.Map):
                return self._put(body, of.value)
            case ir.Make(parts=parts) if not isinstance(of, t.UnknownType):
                places = _made_of(expr, len(parts), of)
                pairs = zip(parts, places, strict=True)
                return next((each for one, place in pairs if (each := self._put(one, place))), None)
            case _:
                return self._typed(expr, of)

    def _alike(self, one: ir.Expr, two: ir.Expr) -> Obstacle | None:
        """The obstacle where two values are taken for the same kind and are not."""
        match (one := self._written(one)), (two := self._written(two)):
            case ir.Const(), _:
                return self._put(one, two.type)
            case _, ir.Const():
                return self._put(two, one.type)
            case ir.Make(parts=some), ir.Make(parts=others) if len(some) == len(others):
                pairs = zip(some, others, strict=True)
                return next((each for a, b in pairs if (each := self._alike(a, b))), None)
            case ir.MapOf(body=a), ir.MapOf(body=b):
                return self._alike(a, b)
            case ((ir.Make() | ir.MapOf() | ir.If() | ir.Let()), _):
                return self._put(one, two.type)
            case _:
                return self._put(two, one.type)

    def _written(self, expr: ir.Expr) -> ir.Expr:
        """The constant that a name is bound to, perhaps by another name; else the expression."""
        binders = self.binders[expr.slot] if isinstance(expr, ir.Local) else []
        match binders:
            case [(ir.Let(value=value) | ir.Bound(value=value))]:
                found = self._written(value)
                return found if isinstance(found, ir.Const) else expr
            case _:
                return expr

    def _put_members(self, many: ir.Make | ir.Const, of: t.Type) -> Obstacle | None:
        """The obstacle where what is written out as a collection has another kind of number in it."""
        if isinstance(many, ir.Make):
            return next((each for one in many.parts if (each := self._put(one, of))), None)
        given = many.value if isinstance(many.value, tuple | frozenset) else ()
        return None if all(self._is_zero(each, of) for each in given) else self._literal(many)

    def _typed(self, expr: ir.Expr, *others: t.Type) -> Obstacle | None:
        """The obstacle that an expression has another kind of number than one of these types has there."""
        return self._mixed(expr) if any(self._differ(expr.type, other) for other in others) else None

    def _mixed(self, expr: ir.Expr) -> Obstacle:
        return Obstacle(expr.span, f"{self.name} and another kind of number are mixed", _ORDER)

    def _differ(self, one: t.Type, two: t.Type) -> bool:
        """Whether somewhere one type has the nat and the other has another number."""
        if t.is_number(one) and t.is_number(two):
            return (one == self.nat) != (two == self.nat)
        match one, two:
            case (
                (t.Option(a), t.Option(b))
                | (t.Set(a), t.Set(b))
                | (t.Bag(a), t.Bag(b))
                | (t.Seq(a), t.Seq(b))
            ):
                return self._differ(a, b)
            case t.Option(a), _ if not isinstance(two, t.UnknownType):
                return self._differ(a, two)
            case _, t.Option(b) if not isinstance(one, t.UnknownType):
                return self._differ(one, b)
            case t.Map(_, a), t.Map(_, b):
                return self._differ(a, b)
            case t.Tuple(a), t.Tuple(b):
                return any(map(self._differ, a, b))
            case _:
                return False

    def _is_zero(self, value: ir.Value, of: t.Type) -> bool:
        """Whether a written value has no number but 0 where a type has the nat."""
        numbers = None if self.at_start else values_in(of, self.name)
        return numbers is None or not any(numbers(value))

    # ------------------------------------------------------------------ words

    def _literal(self, expr: ir.Expr) -> Obstacle:
        return Obstacle(
            expr.span,
            f"which {self.name} a written number means depends on how many there were",
            f"0 is the least {self.name} and may be written; others come from `init` and from `+ 1`",
        )

    def _place(self, span: Span) -> Obstacle:
        return Obstacle(span, f"values of {self.name} are used as places", "use a nat of its own for places")

    def _listed(self, expr: ir.Expr, does: str) -> Obstacle:
        return Obstacle(
            expr.span, f"this {does} each {self.name} up to a bound", "look at those that the state has"
        )


def _is_one(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.Const) and expr.value == 1


def _element(of: t.Type) -> t.Type:
    """What a collection or option has in it."""
    return t.element(of) or t.UNKNOWN


def _narrowed(of: t.Type, case: int | None) -> tuple[t.Type, ...]:
    """What a name is bound to: a member, or the case of a union."""
    return (of.cases[case],) if isinstance(of, t.Union) and case is not None else (of,)


def _fields_at(of: t.Type, index: int, case: int | None) -> tuple[t.Type, ...]:
    """The types that a part of a record, tuple or union may have."""
    match of:
        case t.Record(_, fields) | t.Case(_, _, fields):
            return (fields[index].type,)
        case t.Tuple(items):
            return (items[index],)
        case t.Union(_, cases):
            chosen = cases if case is None else (cases[case],)
            return tuple(each.fields[index].type for each in chosen)
        case _:
            return ()


def _made_of(expr: ir.Make, count: int, of: t.Type | None = None) -> tuple[t.Type, ...]:
    """The types that the parts of something made have, in what it is put into where that is given."""
    match expr.type if of is None else of:
        case t.Union(_, cases):
            assert expr.case is not None
            return tuple(field.type for field in cases[expr.case].fields)
        case t.Record(_, fields) | t.Case(_, _, fields):
            return tuple(field.type for field in fields)
        case t.Tuple(items):
            return items
        case t.Option(inner):
            return _made_of(expr, count, inner)
        case t.Set(inner) | t.Bag(inner) | t.Seq(inner):
            return (inner,) * count
        case _:
            return (t.UNKNOWN,) * count
