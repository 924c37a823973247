"""What expressions are in first-order logic: quantifiers stay, sets become predicates of their members."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import assert_never

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.symbolic.unbounded.shapes import (
    Nowhere,
    Pointwise,
    SmtParts,
    SmtShape,
    SmtShapes,
    Subsets,
    is_index,
    members,
    one_if,
)
from modelcheck.symbolic.unbounded.sorts import Flat, flat
from modelcheck.symbolic.unbounded.terms import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    SmtTerm,
    add,
    apply,
    at_most,
    choice,
    conjunction,
    disjunction,
    equality,
    implication,
    less,
    negation,
    number,
    quantified,
    subtract,
    value_of,
)
from modelcheck.symbolic.unbounded.theory import Theory
from spec.frozen import frozen
from spec.model.derived import CoreRewriter
from spec.model.op import Op, Quantifier
from spec.source import Span

CORE = CoreRewriter(  # shorter for sets that are predicates
    own={Op.SUBSET, Op.INTERSECT, Op.LEAST, Op.GREATEST}
)
Namer = Callable[[str], SmtTerm]  # a new name of a sort


@frozen
class Placed:
    """A context manager that gives the span of an expression to an Inexpressible raised inside.

    A class and no generator, which would take three times as long: every expression is placed.
    """

    span: Span

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, reason: BaseException | None, trace: object) -> None:
        if isinstance(reason, Inexpressible):
            raise reason.at(self.span) from None


@frozen
class SmtEnv:
    """The context of an expression: the state, the names bound, and the step if there is one."""

    state: tuple[SmtShape, ...]
    locals: Mapping[int, SmtShape]
    old: tuple[SmtShape, ...] = ()
    step: tuple[str, tuple[SmtShape, ...]] | None = None

    def bind(self, slot: int, value: SmtShape) -> SmtEnv:
        """A copy of the context with one more name bound."""
        return SmtEnv(self.state, {**self.locals, slot: value}, self.old, self.step)


@frozen
class AnyMember:
    """An arbitrary member of a domain: the names to quantify over, the condition, and the value."""

    names: tuple[SmtTerm, ...]
    inside: SmtTerm
    value: SmtShape


class SmtExpressions:
    """Translates expressions to shapes of first-order terms."""

    def __init__(self, shapes: SmtShapes, theory: Theory, config: Mapping[str, SmtShape]) -> None:
        self.shapes = shapes
        self.types = shapes.types
        self.theory = theory
        self._config = config

    def of(self, expr: ir.Expr, env: SmtEnv) -> SmtShape:
        """The shape of an expression. Raises Inexpressible if it has none."""
        with Placed(expr.span):
            found = self._of(expr, env)
            is_bare = isinstance(expr.type, t.Option) and not isinstance(found.type, t.Option)
            return self.shapes.fitted(found, expr.type) if is_bare else found

    def truth(self, expr: ir.Expr, env: SmtEnv) -> SmtTerm:
        """The formula of a condition. Raises Inexpressible if it has none."""
        with Placed(expr.span):
            return self._term(expr, env)

    def _term(self, expr: ir.Expr, env: SmtEnv) -> SmtTerm:
        """The term of an expression whose value is one term."""
        found = self.of(expr, env)
        if not isinstance(found, Flat):
            raise Inexpressible(f"{expr.type} as one value")
        return found.term

    def _of(self, expr: ir.Expr, env: SmtEnv) -> SmtShape:  # noqa: C901 - a dispatch over a union
        """The shape of an expression, by its kind."""
        match expr:
            case ir.Const(value=value):
                return self.shapes.constant(expr.type, value)
            case ir.Config(name=name):
                return self._config[name]
            case ir.Var(index=index):
                return env.state[index]
            case ir.Local(slot=slot):
                return env.locals[slot]
            case ir.Apply():
                return self._apply(expr, env)
            case ir.And(parts=parts):
                return flat(conjunction([self.truth(part, env) for part in parts]))
            case ir.Or(parts=parts):
                return flat(disjunction([self.truth(part, env) for part in parts]))
            case ir.Implies(left=left, right=right):
                return flat(implication(self.truth(left, env), self.truth(right, env)))
            case ir.If():
                then, other = (
                    self.shapes.fitted(self.of(part, env), expr.type) for part in (expr.then, expr.other)
                )
                return self.shapes.merged(self.truth(expr.test, env), then, other)
            case ir.Let(slot=slot):
                return self.of(expr.body, env.bind(slot, self.of(expr.value, env)))
            case ir.Members(of=of):
                return self._members(of)
            case ir.Bind():
                return self._bind(expr, env)
            case ir.MapOf():
                return self._map_of(expr, env)
            case ir.Make():
                return self._make(expr, env)
            case ir.Part():
                return self._part(expr, env)
            case ir.Is(of=of, case=case):
                return flat(self.types.case_test(self._union(of, env), case))
            case ir.Fit(of=of):
                return self.shapes.fitted(self.of(of, env), expr.type)
            case ir.Old(of=of):
                return self.of(of, replace(env, state=env.old))
            case ir.Did():
                return flat(self._did(expr, env))
            case _:
                assert_never(expr)

    def _members(self, of: t.Type) -> Pointwise:
        """The set of all values of a type."""
        return members(lambda x: self.shapes.within_flat(x, of), t.Set(of))

    # ---------------------------------------------------------------- quantifiers

    def item(self, domain: ir.Expr, case: int | None, env: SmtEnv, name: Namer | None = None) -> AnyMember:
        """An arbitrary member of a domain, of one case of a union if given; `name` makes the names."""
        found = self._item(domain, env, name or self.shapes.bind)
        if case is None:
            return found
        if not isinstance(found.value, Flat):
            raise Inexpressible(f"cases of {domain.type}")
        return replace(found, inside=conjunction([found.inside, self.types.case_test(found.value, case)]))

    def _item(self, domain: ir.Expr, env: SmtEnv, name_of: Namer) -> AnyMember:
        """An arbitrary member of a domain."""
        whole = self.of(domain, env)
        match whole:
            case Pointwise(at, t.Seq(), length):
                index = name_of(INT)
                return AnyMember((index,), is_index(index, length), at(index))
            case Pointwise(type=t.Set(inner) | t.Bag(inner)):
                name = name_of(BOOL if isinstance(inner, t.UnknownType) else self.types.sort(inner))
                return AnyMember((name,), whole.has(name), self._member(name, inner))
            case Flat(type=t.Option(inner)) if not isinstance(inner, t.UnknownType):
                return AnyMember((), self.types.is_some(whole), self.shapes.seen(self.types.the(whole)))
            case _:
                raise Inexpressible(f"each of {domain.type}")

    def _member(self, term: SmtTerm, of: t.Type) -> SmtShape:
        """The shape of a term that is a member of a set or bag."""
        return self.shapes.seen(Flat(term, self.types.whole(of)))

    def _where(self, expr: ir.Bind, env: SmtEnv, name: Namer | None = None) -> tuple[AnyMember, SmtEnv]:
        """An arbitrary member of a quantifier's domain that passes its `where`, and the context with it."""
        found = self.item(expr.domain, expr.case, env, name)
        inner = env.bind(expr.slot, found.value)
        if expr.where is None:
            return found, inner
        inside = conjunction([found.inside, self.truth(expr.where, inner)])
        return replace(found, inside=inside), inner

    def _bind(self, expr: ir.Bind, env: SmtEnv) -> SmtShape:
        """The shape of a quantifier."""
        match expr.quantifier:
            case Quantifier.FORALL:
                item, inner = self._where(expr, env)
                says = implication(item.inside, self.truth(expr.body, inner))
                return flat(quantified("forall", item.names, says))
            case Quantifier.EXISTS:
                item, inner = self._where(expr, env)
                says = conjunction([item.inside, self.truth(expr.body, inner)])
                return flat(quantified("exists", item.names, says))
            case Quantifier.SET:
                return self._set(expr, env)
            case Quantifier.SUM:
                raise Inexpressible("a sum")
            case _:
                return self._extreme(expr, env)

    def _set(self, expr: ir.Bind, env: SmtEnv) -> Pointwise:
        """The set of a comprehension, by the predicate of its members."""
        assert isinstance(expr.type, t.Set)
        inner_type = expr.type.of
        own = isinstance(expr.body, ir.Local) and expr.body.slot == expr.slot

        def has(value: SmtTerm) -> SmtTerm:
            if own and isinstance(domain := self.of(expr.domain, env), Pointwise | Flat):
                return self._keeps(expr, domain, value, env)
            item, inner = self._where(expr, env)
            same = equality(self.shapes.element(self.of(expr.body, inner), inner_type), value)
            return quantified("exists", item.names, conjunction([item.inside, same]))

        has(self.shapes.any_of(inner_type))  # what cannot be expressed is refused here, in its place
        return members(has, expr.type)

    def _keeps(self, expr: ir.Bind, domain: SmtShape, term: SmtTerm, env: SmtEnv) -> SmtTerm:
        """The formula that a value is in a comprehension `{x in … if …}` whose body is x itself."""
        assert isinstance(expr.type, t.Set)
        value = self._member(term, expr.type.of)
        parts = [self.is_in(value, domain)]
        if expr.case is not None and isinstance(value, Flat):
            parts.append(self.types.case_test(value, expr.case))
        if expr.where is not None:
            parts.append(self.truth(expr.where, env.bind(expr.slot, value)))
        return conjunction(parts)

    def _extreme(self, expr: ir.Bind, env: SmtEnv) -> SmtShape:
        """The extreme body, or the member with it; an arbitrary value if there is no member."""
        least = expr.quantifier in {Quantifier.MIN, Quantifier.ARGMIN}
        itself = expr.quantifier in {Quantifier.ARGMAX, Quantifier.ARGMIN}

        def finite() -> SmtTerm:
            return self._is_finite(self.of(expr.domain, env))

        if self._is_of_numbers(expr, env):
            inside, ends = partial(self._is_considered, expr, env), self._ends(expr.domain, env)
            return self.theory.chosen(
                t.INT, lambda it: self._first(it, inside, t.INT, least=least, instances=ends), finite
            )

        def says(it: Flat) -> SmtTerm:
            item, inner = self._where(expr, env)
            own = self.shapes.equal(item.value, it) if itself else TRUE
            body = self.of(expr.body, inner)
            other, others = self._where(expr, env)
            rival = self.of(expr.body, others)
            best = body if itself else it
            pair = (best, rival) if least else (rival, best)
            first = quantified(
                "forall", other.names, implication(other.inside, self.shapes.below(*pair, or_equal=True))
            )
            if not itself:
                own = self.shapes.equal(body, it)
            some = quantified("exists", other.names, other.inside)
            found = quantified("exists", item.names, conjunction([item.inside, own, first]))
            return implication(some, found)

        return self.theory.chosen(self.types.whole(expr.type), says, finite)

    def _is_finite(self, whole: SmtShape) -> SmtTerm:
        """The formula that a collection is finite, as in every state: see NOTE(endless)."""
        match whole:
            case Pointwise(type=t.Set(t.Int())):
                limit, at = self.shapes.bind(INT), self.shapes.bind(INT)
                inside = conjunction([at_most(subtract(number(0), limit), at), at_most(at, limit)])
                bounded = quantified("forall", [at], implication(whole.has(at), inside))
                return quantified("exists", [limit], bounded)
            case Pointwise(type=t.Set(inner) | t.Bag(inner)) if not isinstance(inner, t.UnknownType):
                if any(isinstance(part, t.Int) for part in t.walk_type(inner)):
                    raise Inexpressible(f"the first of {whole.type} from a set inside another value")
                at = self.shapes.any_of(inner)
                return quantified(
                    "forall", [at], implication(whole.has(at), self.shapes.within_flat(at, inner))
                )
            case _:
                return TRUE

    def _is_of_numbers(self, expr: ir.Bind, env: SmtEnv) -> bool:
        """Whether the quantifier is the minimum or maximum of the numbers in its domain."""
        item = self.item(expr.domain, expr.case, env)
        own = isinstance(expr.body, ir.Local) and expr.body.slot == expr.slot
        return own and isinstance(item.value, Flat) and item.names == (item.value.term,) and _is_number(item)

    def _is_considered(self, expr: ir.Bind, env: SmtEnv, value: SmtTerm) -> SmtTerm:
        """The formula that a value is in a quantifier's domain and passes its `where`."""
        return self._where(expr, env, lambda _: value)[0].inside

    def _ends(self, domain: ir.Expr, env: SmtEnv) -> tuple[SmtTerm, ...]:
        """The terms of both ends of a domain that is a range; none for another."""
        if isinstance(domain, ir.Apply) and domain.op is Op.RANGE:
            return tuple(self._term(arg, env) for arg in domain.args)
        return ()

    def _map_of(self, expr: ir.MapOf, env: SmtEnv) -> Pointwise:
        assert isinstance(expr.type, t.Map)
        key, inner = expr.type.key, expr.type.value

        def get(at: SmtTerm) -> SmtShape:
            return self.shapes.fitted(self.of(expr.body, env.bind(expr.slot, self._member(at, key))), inner)

        get(self.shapes.any_of(key))  # what cannot be expressed is refused here, in its place
        return Pointwise(get, expr.type)

    # ------------------------------------------------------------ parts and wholes

    def _make(self, expr: ir.Make, env: SmtEnv) -> SmtShape:
        """The shape of a literal of a record, tuple, union, set, bag or sequence."""
        parts = [self.of(part, env) for part in expr.parts]
        whole = self.types.whole(expr.type)
        match whole:
            case t.Seq() | t.Set() | t.Bag():
                return self.shapes.written(parts, whole)
            case t.Union() | t.Record() | t.Tuple():
                return self.shapes.together(parts, whole, expr.case)
            case _:
                raise Inexpressible(f"a value of {whole}")

    def _part(self, expr: ir.Part, env: SmtEnv) -> SmtShape:
        whole = self.of(expr.of, env)
        match whole:
            case SmtParts(parts):
                return parts[expr.index]
            case Flat():
                return self.shapes.seen(self.types.part(whole, expr.index, self._case(expr)))
            case Nowhere():
                return whole
            case _:
                raise Inexpressible(f"a part of {expr.of.type}")

    def _case(self, expr: ir.Part) -> int | None:
        """The index of the case that a field is of, which the type may give; None for a record."""
        of = expr.of.type
        if expr.case is None and isinstance(of, t.Case):
            union = self.types.whole(of)
            assert isinstance(union, t.Union)
            return [case.name for case in union.cases].index(of.name)
        return expr.case

    def _union(self, expr: ir.Expr, env: SmtEnv) -> Flat:
        """The shape of a union's value, as one term."""
        found = self.of(expr, env)
        if not isinstance(found, Flat):
            raise Inexpressible(f"cases of {expr.type}")
        return found

    def _did(self, expr: ir.Did, env: SmtEnv) -> SmtTerm:
        """The formula that the step is of this action with these arguments."""
        if env.step is None or env.step[0] != expr.action:
            return FALSE
        pairs = zip(expr.args, env.step[1], strict=False)
        return conjunction([self.shapes.equal(self.of(arg, env), given) for arg, given in pairs])

    # ----------------------------------------------------------------- operations

    def _apply(self, expr: ir.Apply, env: SmtEnv) -> SmtShape:
        if expr.op in ARITHMETIC:
            return flat(ARITHMETIC[expr.op](*(self._term(arg, env) for arg in expr.args)))
        args = [self.of(arg, env) for arg in expr.args]
        match args:
            case [only]:
                return self._unary(expr, only)
            case [left, right]:
                return self._binary(expr, left, right)
            case _:
                raise Inexpressible(expr.op.value)

    def _unary(self, expr: ir.Apply, of: SmtShape) -> SmtShape:
        match expr.op, of:
            case Op.SIZE, _:
                return flat(self._size(expr.args[0], of))
            case Op.LAST, Pointwise(at, t.Seq(), length):
                return at(subtract(length, number(1)))
            case Op.THE, Flat(type=t.Option()):
                return self.shapes.seen(self.types.the(of))
            case Op.THE, Pointwise(type=t.Set(inner)):
                return self.shapes.seen(self.theory.chosen(inner, lambda it: self._only(it, of.has, inner)))
            case Op.LEAST | Op.GREATEST, Pointwise(type=t.Set(inner)):
                least = expr.op is Op.LEAST
                return self.theory.chosen(
                    inner, lambda it: self._first(it, of.has, inner, least=least), lambda: self._is_finite(of)
                )
            case Op.SUBSETS, Pointwise(type=t.Set() as whole):
                return Subsets(of, t.Set(whole))
            case _:
                raise Inexpressible(f"`{expr.op.value}` of {expr.args[0].type}")

    def _only(self, it: Flat, has: Callable[[SmtTerm], SmtTerm], inner: t.Type) -> SmtTerm:
        """The formula that `it` is in a set, if that has any member."""
        some = self.shapes.bind(self.types.sort(inner))
        return implication(quantified("exists", [some], has(some)), has(it.term))

    def _first(
        self,
        it: Flat,
        has: Callable[[SmtTerm], SmtTerm],
        inner: t.Type,
        *,
        least: bool,
        instances: Sequence[SmtTerm] = (),
    ) -> SmtTerm:
        """The formula that `it` is the least (or greatest) member of a set, if that has any."""
        other = self.shapes.bind(self.types.sort(inner))
        pair = (it, Flat(other, inner)) if least else (Flat(other, inner), it)
        before = self.shapes.below(*pair, or_equal=True)
        first = [quantified("forall", [other], implication(has(other), before))]
        if it.term.sort == INT:  # which follows, but solvers do not try the next number on their own
            first.append(negation(has(add(it.term, number(-1 if least else 1)))))
        some = self.shapes.bind(self.types.sort(inner))
        is_first = implication(quantified("exists", [some], has(some)), conjunction([has(it.term), *first]))
        return conjunction([*(implication(has(each), has(it.term)) for each in instances), is_first])

    def _size(self, expr: ir.Expr, of: SmtShape) -> SmtTerm:
        match expr, of:
            case ir.Members(of=t.Sort(name)), _:
                return self.theory.all_of(name)
            case _, Pointwise(type=t.Seq(), length=length):
                return length
            case _, Flat(type=t.Option(inner)):
                return number(0) if isinstance(inner, t.UnknownType) else one_if(self.types.is_some(of))
            case ir.Make(parts=parts), Pointwise(type=t.Set()) if len(parts) < 2:  # more may be the same
                return number(len(parts))
            case _, Pointwise(type=t.Set()):
                return self.theory.size(of)
            case _:
                raise Inexpressible(f"the size of {expr.type}")

    def _binary(self, expr: ir.Apply, left: SmtShape, right: SmtShape) -> SmtShape:
        match expr.op:
            case Op.EQ:
                return flat(self.shapes.equal(left, right))
            case Op.LT | Op.LE:
                return flat(self.shapes.below(left, right, or_equal=expr.op is Op.LE))
            case Op.IN:
                return flat(self.is_in(left, right))
            case Op.SUBSET | Op.UNION | Op.MINUS | Op.INTERSECT:
                return self._of_sets(
                    expr, self.shapes.fitted(left, right.type), self.shapes.fitted(right, left.type)
                )
            case _:
                return self._of_places(expr, left, right)

    def is_in(self, value: SmtShape, whole: SmtShape) -> SmtTerm:
        """The formula that a value is in a collection."""
        match whole:
            case Pointwise(type=t.Set(t.UnknownType()) | t.Bag(t.UnknownType())):
                return FALSE
            case Pointwise(type=t.Set(inner) | t.Bag(inner)):
                test, member = self.shapes.narrowed(value, inner)
                return conjunction([test, whole.has(self.shapes.element(member, inner))])
            case Pointwise(at, t.Seq(), length):
                index = self.shapes.bind(INT)
                same = self.shapes.equal(value, at(index))
                return quantified("exists", [index], conjunction([is_index(index, length), same]))
            case Flat(type=t.Option(t.UnknownType())):
                return FALSE
            case Flat(type=t.Option()):
                same = self.shapes.equal(value, self.shapes.seen(self.types.the(whole)))
                return conjunction([self.types.is_some(whole), same])
            case Subsets(of):
                if not isinstance(value, Pointwise):
                    raise Inexpressible("a member of subsets that is no set")
                return self._inside(value, of)
            case _:
                raise Inexpressible("`in` of this")

    def _inside(self, left: Pointwise, right: Pointwise) -> SmtTerm:
        """The formula that a set is a subset of another."""
        assert isinstance(left.type, t.Set)
        inner = left.type.of
        if isinstance(inner, t.UnknownType):
            return TRUE
        return self.shapes.each_place(
            left, lambda x: implication(left.says(x), self.is_in(self._member(x, inner), right))
        )

    def _of_sets(self, expr: ir.Apply, left: SmtShape, right: SmtShape) -> SmtShape:
        """The shape of an operator on two sets or bags."""
        match expr.op, left, right:
            case Op.SUBSET, Pointwise(type=t.Set()), Pointwise():
                return flat(self._inside(left, right))
            case op, Pointwise(type=t.Set() | t.Bag() as of), Pointwise() if (op, type(of)) in JOINED:
                joined = JOINED[op, type(of)]
                return members(lambda x: joined(left.says(x), right.says(x)), of)
            case _:
                raise Inexpressible(f"`{expr.op.value}` of {expr.args[0].type}")

    def _of_places(self, expr: ir.Apply, left: SmtShape, right: SmtShape) -> SmtShape:
        """The shape of an operator with an index, a key or a number of entries."""
        match expr.op, left, right:
            case Op.RANGE, Flat(lo), Flat(hi):
                return members(lambda x: conjunction([at_most(lo, x), at_most(x, hi)]), t.Set(t.INT))
            case Op.COUNT, _, Pointwise(type=t.Bag(inner)):
                return flat(right.says(self.shapes.element(left, inner)))
            case Op.LOOKUP, Pointwise(at, t.Map(key)), _:
                return at(self.shapes.element(right, key))
            case Op.INDEX, Pointwise(at), Flat(index):
                return at(index)
            case Op.AT, Pointwise(at, t.Seq(inner), length), Flat(index):
                option = t.Option(inner)
                there = self.shapes.fitted(at(index), option)
                return self.shapes.merged(is_index(index, length), there, self.types.none(option))
            case Op.TAKE, Pointwise(length=length), Flat(many):
                return replace(left, length=_least(_not_below_zero(many), length))
            case Op.DROP, Pointwise(at, of, length), Flat(many):
                skip = _not_below_zero(many)
                return Pointwise(lambda i: at(add(i, skip)), of, _not_below_zero(subtract(length, skip)))
            case Op.CONCAT, Pointwise(at, of, first), Pointwise(other, _, second):
                return Pointwise(
                    lambda i: self.shapes.merged(less(i, first), at(i), other(subtract(i, first))),
                    of,
                    add(first, second),
                )
            case Op.STARTS, Pointwise(at, _, length), Pointwise(other, _, start):
                same = self.shapes.each_index(start, lambda i: self.shapes.equal(at(i), other(i)))
                return flat(conjunction([at_most(start, length), same]))
            case Op.COMMON, Pointwise(at, _, length), Pointwise(other, _, second):
                return self.theory.common(at, other, _least(length, second))
            case _:
                raise Inexpressible(f"`{expr.op.value}` of {expr.args[0].type}")


# ------------------------------------------------------------------------ numbers


def _is_number(item: AnyMember) -> bool:
    return [name.sort for name in item.names] == [INT]


def _not_below_zero(value: SmtTerm) -> SmtTerm:
    known = value_of(value)
    return number(max(known, 0)) if known is not None else choice(less(value, number(0)), number(0), value)


def _least(a: SmtTerm, b: SmtTerm) -> SmtTerm:
    return choice(at_most(a, b), a, b)


def _divided(word: str) -> Callable[[SmtTerm, SmtTerm], SmtTerm]:
    """Division or remainder by a positive constant, where SMT-LIB rounds as the language does."""

    def divided(a: SmtTerm, b: SmtTerm) -> SmtTerm:
        known = value_of(b)
        if known is None or known <= 0:
            raise Inexpressible("division by what may be below one")
        return apply(word, (a, b), INT)

    return divided


ARITHMETIC: Mapping[Op, Callable[..., SmtTerm]] = {
    Op.NOT: negation,
    Op.ADD: add,
    Op.SUB: subtract,
    Op.MUL: lambda a, b: apply("*", (a, b), INT),
    Op.DIV: _divided("div"),
    Op.MOD: _divided("mod"),
}

JOINED: Mapping[tuple[Op, type[t.Type]], Callable[[SmtTerm, SmtTerm], SmtTerm]] = {
    (Op.UNION, t.Set): lambda a, b: disjunction([a, b]),
    (Op.INTERSECT, t.Set): lambda a, b: conjunction([a, b]),
    (Op.MINUS, t.Set): lambda a, b: conjunction([a, negation(b)]),
    (Op.UNION, t.Bag): add,
    (Op.MINUS, t.Bag): lambda a, b: _not_below_zero(subtract(a, b)),
}
