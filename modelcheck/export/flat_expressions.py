"""What expressions are in flat variables: every quantifier written out, every value a shape of terms.

What can go wrong is collected beside the value: an `Env` notes, for the way
that leads to an expression, when its value is an error of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import assert_never

import spec.ir as ir
import spec.types as t
from modelcheck.export.exported import Refused
from modelcheck.export.flat_terms import Sign, Term, Terms
from modelcheck.export.flat_values import Heap, Maybe, Parts, Row, Shape, Shapes, Tagged, Unsayable
from modelcheck.export.known import names_sort
from spec.source import Span
from spec.values import members, ordered

MOST_SUBSETS = 10
Item = tuple[Term, Shape]


class Stop(Exception):  # noqa: N818 - becomes a refusal
    """An expression that cannot be said."""

    def __init__(self, what: str, span: Span) -> None:
        self.refused = Refused(what, span)
        super().__init__(what)


@dataclass(slots=True)
class Ends:
    """When a step ends early: because it leaves the scope, or because the model makes an error."""

    cut: Term
    error: Term


@dataclass(frozen=True, slots=True)
class Step:
    """The step that a `step` property speaks of."""

    action: str
    args: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Env:
    """Where an expression stands: the state, the bound names, and when it is evaluated at all."""

    state: tuple[Shape, ...]
    slots: dict[int, Shape]
    path: Term
    ends: Ends
    old: tuple[Shape, ...] | None = None
    step: Step | None = field(default=None)

    def bound(self, slot: int, value: Shape, path: Term | None = None) -> Env:
        """The same with a name bound."""
        return replace(self, slots={**self.slots, slot: value}, path=path or self.path)


class Expressions:
    """The shapes of expressions."""

    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes
        self.terms: Terms = shapes.terms

    def of(self, expr: ir.Expr, env: Env) -> Shape:
        """The value of an expression. Raises Stop where it cannot be said."""
        try:
            return self._of(expr, env)
        except Unsayable as reason:
            raise Stop(str(reason), expr.span) from None

    def truth(self, expr: ir.Expr, env: Env) -> Term:
        """The value of a condition."""
        return _term(self.of(expr, env))

    def _of(self, expr: ir.Expr, env: Env) -> Shape:  # noqa: C901 - a dispatch over a union
        terms, shapes = self.terms, self.shapes
        match expr:
            case ir.Const(value=value):
                return shapes.constant(expr.type, value)
            case ir.Config(name=name):
                return shapes.constant(expr.type, shapes.scope.config[name])
            case ir.Var(index=index):
                return env.state[index]
            case ir.Local(slot=slot):
                return env.slots[slot]
            case ir.Apply():
                return self._apply(expr, env)
            case ir.And(parts=parts):
                return self._chain(parts, env, stops_at=False)
            case ir.Or(parts=parts):
                return self._chain(parts, env, stops_at=True)
            case ir.Implies(left=left, right=right):
                first = self.truth(left, env)
                return terms.implies(first, self._under(first, right, env))
            case ir.If(test=test, then=then, other=other):
                asked = self.truth(test, env)
                if asked.constant is not None:
                    return self.of(then if asked.constant else other, env)
                a = self.of(then, replace(env, path=terms.both(env.path, asked)))
                b = self.of(other, replace(env, path=terms.both(env.path, terms.no(asked))))
                return shapes.ite(asked, a, b)
            case ir.Let(slot=slot, value=value, body=body):
                return self.of(body, env.bound(slot, self.of(value, env)))
            case ir.Members(of=of):
                return Heap(dict.fromkeys(members(of, shapes.scope), terms.true), of)
            case ir.Bind():
                return self._bind(expr, env)
            case ir.MapOf(slot=slot, body=body, type=t.Map(key)):
                keys = [shapes.constant(key, each) for each in members(key, shapes.scope)]
                return Parts(tuple(self.of(body, env.bound(slot, each)) for each in keys))
            case ir.MapOf():
                raise TypeError(f"{expr.type} is no map")
            case ir.Make():
                return self._make(expr, [self.of(part, env) for part in expr.parts])
            case ir.Part():
                return self._part(expr, env)
            case ir.Is(of=of, case=case):
                return terms.eq(_tagged(self.of(of, env)).tag, terms.number(case))
            case ir.Fit(of=of):
                value_ = self.of(of, env)
                self._fit(expr.type, value_, env)
                return value_
            case ir.Old(of=of):
                return self.of(of, replace(env, state=env.old or env.state))
            case ir.Did(action=action, args=args):
                if env.step is None or env.step.action != action:
                    return terms.false
                given = [self.of(arg, env) for arg in args]
                return terms.all(shapes.equal(a, b) for a, b in zip(given, env.step.args, strict=False))
            case _:
                assert_never(expr)

    def _under(self, test: Term, expr: ir.Expr, env: Env) -> Term:
        if test.constant == 0:
            return self.terms.false
        return self.truth(expr, replace(env, path=self.terms.both(env.path, test)))

    def _chain(self, parts: Sequence[ir.Expr], env: Env, *, stops_at: bool) -> Term:
        found: list[Term] = []
        for part in parts:
            value = self.truth(part, env)
            found.append(value)
            if value.constant == int(stops_at):
                break
            goes_on = self.terms.no(value) if stops_at else value
            env = replace(env, path=self.terms.both(env.path, goes_on))
        return self.terms.any(found) if stops_at else self.terms.all(found)

    def error(self, env: Env, test: Term) -> None:
        """Note that it is an error of the model to get here when the test is true."""
        if test.constant != 0:
            env.ends.error = self.terms.any((env.ends.error, self.terms.both(env.path, test)))

    # --------------------------------------------------------------- domains

    def items(self, domain: ir.Expr, case: int | None, env: Env) -> list[Item]:
        """What a domain may have as members, in canonical order, each with when it has."""
        try:
            found = self._items(domain, env)
        except Unsayable as reason:
            raise Stop(str(reason), domain.span) from None
        if case is not None:
            found = [(self.terms.both(has, self._is_case(v, case)), v) for has, v in found]
        return [(has, value) for has, value in found if has.constant != 0]

    def _is_case(self, value: Shape, case: int) -> Term:
        return self.terms.eq(_tagged(value).tag, self.terms.number(case))

    def _items(self, domain: ir.Expr, env: Env) -> list[Item]:
        terms, shapes = self.terms, self.shapes
        if isinstance(domain, ir.Apply) and domain.op is ir.Op.RANGE:
            lo, hi = (_term(self.of(arg, env)) for arg in domain.args)
            numbers = [terms.number(n) for n in range(lo.lo, hi.hi + 1)]
            return [(terms.both(terms.le(lo, n), terms.le(n, hi)), n) for n in numbers]
        whole = self.of(domain, env)
        match whole:
            case Heap():
                return [
                    (self._has(whole, value), shapes.constant(whole.element, value))
                    for value in ordered(whole.of)
                ]
            case Row(length, slots):
                within = [terms.lt(terms.number(n), length) for n in range(len(slots))]
                return list(zip(within, slots, strict=True))
            case Maybe(_, None):
                return []
            case Maybe(has, value) if value is not None and isinstance(domain.type, t.Option):
                inner = domain.type.of
                if not isinstance(value, Term):
                    return [(has, value)]
                values = list(shapes.domain(inner)) if t.is_scalar(inner) else shapes.possible(value, inner)
                constants = [shapes.constant(inner, v) for v in values]
                return [(terms.both(has, shapes.equal(value, each)), each) for each in constants]
            case _ if isinstance(domain.type, t.Option):
                return [(terms.true, whole)]
            case _:
                raise Unsayable(f"the members of {domain.type}")

    def _has(self, heap: Heap, value: ir.Value) -> Term:
        found = heap.of.get(value)
        if found is None:
            return self.terms.false
        return self.terms.lt(self.terms.number(0), found) if heap.counts else found

    def _bind(self, expr: ir.Bind, env: Env) -> Shape:  # noqa: C901 - by quantifier
        terms = self.terms
        found: list[tuple[Term, Shape, Shape]] = []
        path = env.path
        early = {ir.Quantifier.FORALL: 1, ir.Quantifier.EXISTS: 0}.get(expr.quantifier)
        for has, member in self.items(expr.domain, expr.case, env):
            inner = env.bound(expr.slot, member, terms.both(path, has))
            if inner.path.constant == 0:
                continue
            test = has
            if expr.where is not None:
                test = terms.both(has, self.truth(expr.where, inner))
                inner = replace(inner, path=terms.both(path, test))
            if test.constant == 0:
                continue
            body = self.of(expr.body, inner)
            found.append((test, member, body))
            if early is not None:
                same = terms.eq(_term(body), terms.bool(is_true=bool(early)))
                path = terms.both(path, terms.implies(test, same))
        match expr.quantifier:
            case ir.Quantifier.FORALL:
                return terms.all(terms.implies(test, _term(body)) for test, _, body in found)
            case ir.Quantifier.EXISTS:
                return terms.any(terms.both(test, _term(body)) for test, _, body in found)
            case ir.Quantifier.SUM:
                total = terms.number(0)
                for test, _, body in found:
                    total = terms.add(total, terms.ite(test, _term(body), terms.number(0)))
                return total
            case ir.Quantifier.SET:
                return self._set([(test, body) for test, _, body in found], expr.body.type)
            case ir.Quantifier.MAX | ir.Quantifier.MIN:
                least = expr.quantifier is ir.Quantifier.MIN
                return self._best(
                    [(test, body, body) for test, _, body in found], expr.type, env, least=least
                )
            case ir.Quantifier.ARGMAX | ir.Quantifier.ARGMIN:
                least = expr.quantifier is ir.Quantifier.ARGMIN
                self._ties(found, expr.domain.type, env, least=least)
                return self._best(found, expr.type, env, least=least)
            case _:
                assert_never(expr.quantifier)

    def _better(self, a: Shape, b: Shape, *, least: bool) -> Term:
        return self.shapes.less(a, b) if least else self.shapes.less(b, a)

    def _best(self, found: list[tuple[Term, Shape, Shape]], of: t.Type, env: Env, *, least: bool) -> Shape:
        """The first member with the best score; an error where there is none."""
        terms, shapes = self.terms, self.shapes
        self.error(env, terms.no(terms.any(test for test, _, _ in found)))
        if not found:
            return self.shapes.nothing(of)
        some, best, score = found[0]
        for test, member, own in found[1:]:
            takes = terms.both(test, terms.any((terms.no(some), self._better(own, score, least=least))))
            best, score = shapes.ite(takes, member, best), shapes.ite(takes, own, score)
            some = terms.any((some, test))
        return best

    def _ties(self, found: list[tuple[Term, Shape, Shape]], domain: t.Type, env: Env, *, least: bool) -> None:
        if not (isinstance(domain, t.Set | t.Bag) and names_sort(domain.of)):
            return
        terms, shapes = self.terms, self.shapes
        for (test, _, a), (other, _, b) in combinations(found, 2):
            beaten = [terms.both(third, self._better(c, a, least=least)) for third, _, c in found]
            self.error(env, terms.all((test, other, shapes.equal(a, b), terms.no(terms.any(beaten)))))

    def _set(self, found: Sequence[Item], of: t.Type, *, counts: bool = False) -> Heap:
        """The set, or bag, of what is there."""
        terms, shapes = self.terms, self.shapes
        made: dict[ir.Value, Term] = {}
        none = terms.number(0) if counts else terms.false
        for test, value in found:
            for each in shapes.possible(value, of):
                has = terms.both(test, shapes.is_value(value, of, each))
                if has.constant == 0:
                    continue
                before = made.get(each, none)
                made[each] = terms.add(before, terms.count(has)) if counts else terms.any((before, has))
        return Heap(made, of, counts)

    # -------------------------------------------------------- parts and wholes

    def _make(self, expr: ir.Make, parts: list[Shape]) -> Shape:
        match expr.type:
            case t.Set(inner):
                return self._set([(self.terms.true, part) for part in parts], self._element(expr, inner))
            case t.Bag(inner):
                found = [(self.terms.true, part) for part in parts]
                return self._set(found, self._element(expr, inner), counts=True)
            case t.Seq():
                return Row(self.terms.number(len(parts)), tuple(parts))
            case _ if expr.case is not None:
                return Tagged(self.terms.number(expr.case), {expr.case: tuple(parts)})
            case _:
                return Parts(tuple(parts))

    def _element(self, expr: ir.Make, inner: t.Type) -> t.Type:
        if isinstance(inner, t.Unknown) and expr.parts:
            return expr.parts[0].type
        return inner

    def _part(self, expr: ir.Part, env: Env) -> Shape:
        whole = self.of(expr.of, env)
        if isinstance(whole, Parts):
            return whole.parts[expr.index]
        union = _tagged(whole)
        if expr.case is not None:
            self.error(env, self.terms.no(self._is_case(union, expr.case)))
            fields = union.cases.get(expr.case)
            return self.shapes.nothing(expr.type) if fields is None else fields[expr.index]
        cases = sorted(union.cases)
        found = union.cases[cases[-1]][expr.index]
        for case in reversed(cases[:-1]):
            found = self.shapes.ite(self._is_case(union, case), union.cases[case][expr.index], found)
        return found

    def _fit(self, of: t.Type, value: Shape, env: Env) -> None:  # noqa: C901 - by type
        """Note when a value does not fit where it goes."""
        terms, shapes = self.terms, self.shapes
        match of, value:
            case t.Option(inner), Maybe(has, held):
                if held is not None:
                    self._fit(inner, held, replace(env, path=terms.both(env.path, has)))
            case t.Option(inner), _:
                self._fit(inner, value, env)
            case _, Maybe(_, held) if held is not None:
                self._fit(of, held, env)
            case t.Range(lo, hi), Term():
                self.error(
                    env, terms.any((terms.lt(value, terms.number(lo)), terms.lt(terms.number(hi), value)))
                )
            case t.Nat(name), Term():
                self.error(env, terms.lt(value, terms.number(0)))
                self._cut(env, terms.lt(terms.number(shapes.scope.limit(name)), value))
            case t.Record(_, fields), Parts(parts):
                for f, part in zip(fields, parts, strict=True):
                    self._fit(f.type, part, env)
            case t.Tuple(items), Parts(parts):
                for item, part in zip(items, parts, strict=True):
                    self._fit(item, part, env)
            case t.Map(_, inner), Parts(parts):
                for part in parts:
                    self._fit(inner, part, env)
            case ((t.Union() | t.Case()), Tagged(_, cases)):
                for n, held_fields in cases.items():
                    own = of.cases[n] if isinstance(of, t.Union) else of
                    within = replace(env, path=terms.both(env.path, self._is_case(value, n)))
                    for f, part in zip(own.fields, held_fields, strict=True):
                        self._fit(f.type, part, within)
            case t.Seq(inner, limit), Row(length, slots):
                self._limit(limit, length, env)
                for n, slot in enumerate(slots):
                    there = terms.lt(terms.number(n), length)
                    self._fit(inner, slot, replace(env, path=terms.both(env.path, there)))
            case ((t.Set(inner, limit) | t.Bag(inner, limit)), Heap()):
                self._limit(limit, self._size(value), env)
                for member in value.of:
                    there = replace(env, path=terms.both(env.path, self._has(value, member)))
                    self._fit(inner, shapes.constant(inner, member), there)
            case _:
                pass

    def _limit(self, limit: t.Limit | None, size: Term, env: Env) -> None:
        if limit is None:
            return
        beyond = self.terms.lt(self.terms.number(self.shapes.limit(limit)), size)
        if isinstance(limit.of, int):
            self.error(env, beyond)
        else:
            self._cut(env, beyond)

    def _cut(self, env: Env, test: Term) -> None:
        if test.constant != 0:
            env.ends.cut = self.terms.any((env.ends.cut, self.terms.both(env.path, test)))

    # -------------------------------------------------------------- operations

    def _size(self, of: Shape) -> Term:
        terms = self.terms
        match of:
            case Row(length, _):
                return length
            case Maybe(has, _):
                return terms.count(has)
            case Heap(held, _, counts):
                total = terms.number(0)
                for each in held.values():
                    total = terms.add(total, each if counts else terms.count(each))
                return total
            case _:
                return terms.number(1)  # a bare value where an option is expected

    def _apply(self, expr: ir.Apply, env: Env) -> Shape:
        values = [self.of(arg, env) for arg in expr.args]
        if expr.op in _PLAIN:
            return _PLAIN[expr.op](self.shapes, *values)
        match expr.op, values:
            case ((ir.Op.DIV | ir.Op.MOD), [Term() as a, Term() as b]):
                if b.constant is None or b.lo < 1 or a.lo < 0:
                    raise Unsayable(
                        f"`{expr.op.value}` of anything but a number from 0 by a fixed one above 0"
                    )
                return self.terms.divide(a, b.lo, Sign.DIV if expr.op is ir.Op.DIV else Sign.MOD)
            case ir.Op.IN, [value, whole]:
                return self._is_in(value, whole, expr.args[0].type, expr.args[1].type)
            case ir.Op.SIZE, [whole]:
                return self._size(whole)
            case ir.Op.ELEMENTS, _:
                of = expr.type.of if isinstance(expr.type, t.Set) else expr.type
                return self._set(self.items(expr.args[0], None, env), of)
            case ir.Op.RANGE, _:
                return self._set(self.items(expr, None, env), t.INT)
            case ir.Op.COUNT, [value, Heap() as bag]:
                return self._count(value, bag, expr.args[0].type)
            case ir.Op.LOOKUP, [Parts(parts), Term() as key]:
                return self.shapes.pick(key, parts, self.first(expr.args[0].type, len(parts), key, env))
            case ((ir.Op.LEAST | ir.Op.GREATEST), [Heap()]):
                found = [(has, v, v) for has, v in self.items(expr.args[0], None, env)]
                return self._best(found, expr.type, env, least=expr.op is ir.Op.LEAST)
            case ir.Op.THE, [whole]:
                return self._the(whole, expr, env)
            case ir.Op.SUBSETS, [Heap() as whole]:
                return self._subsets(whole)
            case _, [Row() as row, *others]:
                return self._of_row(expr, row, others, env)
            case _:
                raise Unsayable(f"`{expr.op.value}` of {', '.join(str(arg.type) for arg in expr.args)}")

    def first(self, of: t.Type, count: int, key: Term, env: Env) -> int:
        """The first key of a map; a key outside is an error."""
        lo = of.key.lo if isinstance(of, t.Map) and isinstance(of.key, t.Range) else 0
        if not key.truth:
            outside = (
                self.terms.lt(key, self.terms.number(lo)),
                self.terms.lt(self.terms.number(lo + count - 1), key),
            )
            self.error(env, self.terms.any(outside))
        return lo

    def _is_in(self, value: Shape, whole: Shape, of: t.Type, where: t.Type) -> Term:
        terms, shapes = self.terms, self.shapes
        match whole:
            case Heap(held):
                found = [
                    terms.both(self._has(whole, v), shapes.equal(value, shapes.constant(whole.element, v)))
                    for v in held
                ]
                return terms.any(found)
            case Row(length, slots):
                return terms.any(
                    terms.both(terms.lt(terms.number(n), length), shapes.equal(value, slot))
                    for n, slot in enumerate(slots)
                )
            case Maybe(has, held_) if isinstance(where, t.Option):
                if held_ is None:
                    return terms.false
                same = shapes.equal(value, whole)
                return terms.both(has, same)
            case _:
                return shapes.equal(value, whole)

    def _count(self, value: Shape, bag: Heap, of: t.Type) -> Term:
        total = self.terms.number(0)
        for member, count in bag.of.items():
            same = self.shapes.equal(value, self.shapes.constant(bag.element, member))
            total = self.terms.add(total, self.terms.ite(same, count, self.terms.number(0)))
        return total

    def _the(self, whole: Shape, expr: ir.Apply, env: Env) -> Shape:
        match whole:
            case Maybe(has, value):
                self.error(env, self.terms.no(has))
                return self.shapes.nothing(expr.type) if value is None else value
            case Heap():
                self.error(env, self.terms.no(self.terms.eq(self._size(whole), self.terms.number(1))))
                found = self.items(expr.args[0], None, env)
                if not found:
                    return self.shapes.nothing(expr.type)
                picked = found[-1][1]
                for has, value in reversed(found[:-1]):
                    picked = self.shapes.ite(has, value, picked)
                return picked
            case _:
                return whole

    def _subsets(self, whole: Heap) -> Heap:
        if len(whole.of) > MOST_SUBSETS:
            raise Unsayable(f"the subsets of a set of {len(whole.of)}")
        made = {}
        for n in range(len(whole.of) + 1):
            for chosen in combinations(whole.of, n):
                made[frozenset(chosen)] = self.terms.all(whole.of[v] for v in chosen)
        return Heap(made, t.Set(whole.element))

    def _of_row(self, expr: ir.Apply, row: Row, others: list[Shape], env: Env) -> Shape:
        terms, shapes = self.terms, self.shapes
        match expr.op, others:
            case ir.Op.CONCAT, [Row() as other]:
                return self._concat(row, other)
            case ir.Op.TAKE, [Term() as n]:
                return self._take(row, n)
            case ir.Op.DROP, [Term() as n]:
                return self._drop(row, n)
            case ir.Op.INDEX, [Term() as n]:
                outside = terms.any((terms.lt(n, terms.number(0)), terms.le(row.length, n)))
                self.error(env, outside)
                return shapes.pick(n, row.slots) if row.slots else shapes.nothing(expr.type)
            case ir.Op.AT, [Term() as n]:
                has = terms.both(terms.le(terms.number(0), n), terms.lt(n, row.length))
                return Maybe(has, shapes.pick(n, row.slots) if row.slots else None)
            case ir.Op.LAST, []:
                self.error(env, terms.eq(row.length, terms.number(0)))
                return shapes.pick(row.length, row.slots, 1) if row.slots else shapes.nothing(expr.type)
            case ir.Op.COMMON, [Row() as other]:
                found = terms.number(min(len(row.slots), len(other.slots)))
                for n in reversed(range(found.lo)):
                    at = terms.number(n)
                    same = (terms.lt(at, row.length), terms.lt(at, other.length))
                    both = terms.all((*same, shapes.equal(row.slots[n], other.slots[n])))
                    found = terms.ite(both, found, at)
                return found
            case ir.Op.STARTS, [Row() as start]:
                pairs = enumerate(zip(row.slots, start.slots, strict=False))
                same_ = [
                    terms.implies(terms.lt(terms.number(n), start.length), shapes.equal(a, b))
                    for n, (a, b) in pairs
                ]
                return terms.all((terms.le(start.length, row.length), *same_))
            case _:
                raise Unsayable(f"`{expr.op.value}` of a sequence")

    def _concat(self, a: Row, b: Row) -> Row:
        terms, shapes = self.terms, self.shapes
        slots: list[Shape] = []
        for n in range(len(a.slots) + len(b.slots)):
            found = a.slots[n] if n < len(a.slots) else shapes.zero((a.slots or b.slots)[0])
            for m, slot in enumerate(b.slots):
                found = shapes.ite(terms.eq(a.length, terms.number(n - m)), slot, found)
            slots.append(found)
        return Row(terms.add(a.length, b.length), tuple(slots))

    def _take(self, row: Row, n: Term) -> Row:
        terms, shapes = self.terms, self.shapes
        n = terms.ite(terms.lt(n, terms.number(0)), terms.number(0), n)
        slots = row.slots[: n.hi]
        kept = [
            shapes.ite(terms.lt(terms.number(i), n), slot, shapes.zero(slot)) for i, slot in enumerate(slots)
        ]
        return Row(terms.ite(terms.lt(n, row.length), n, row.length), tuple(kept))

    def _drop(self, row: Row, n: Term) -> Row:
        terms, shapes = self.terms, self.shapes
        n = terms.ite(terms.lt(n, terms.number(0)), terms.number(0), n)
        slots = [
            shapes.pick(
                n,
                [row.slots[i + k] if i + k < len(row.slots) else shapes.zero(slot) for k in range(n.hi + 1)],
            )
            for i, slot in enumerate(row.slots)
        ]
        left = terms.ite(terms.lt(n, row.length), terms.sub(row.length, n), terms.number(0))
        return Row(left, tuple(slots))


# ------------------------------------------------- operations without errors


def _heaps(by: Callable[[Terms, Term, Term], Term]) -> Callable[[Shapes, Shape, Shape], Shape]:
    """An operation on two sets, member by member."""

    def operation(shapes: Shapes, a: Shape, b: Shape) -> Shape:
        if not (isinstance(a, Heap) and isinstance(b, Heap)):
            raise Unsayable("an operation on a set and something else")
        element = b.element if isinstance(a.element, t.Unknown | t.Int | t.Case) else a.element
        made = {v: by(shapes.terms, x, y) for v, (x, y) in shapes.pairs(a, b).items()}
        return Heap({v: has for v, has in made.items() if has.constant != 0}, element, a.counts)

    return operation


def _union(terms: Terms, a: Term, b: Term) -> Term:
    return terms.any((a, b)) if a.truth else terms.add(a, b)


def _minus(terms: Terms, a: Term, b: Term) -> Term:
    if a.truth:
        return terms.both(a, terms.no(b))
    return terms.ite(terms.lt(b, a), terms.sub(a, b), terms.number(0))


def _subset(shapes: Shapes, a: Shape, b: Shape) -> Shape:
    if not (isinstance(a, Heap) and isinstance(b, Heap)):
        raise Unsayable("a comparison of a set and something else")
    return shapes.terms.all(shapes.terms.implies(x, y) for x, y in shapes.pairs(a, b).values())


def _arithmetic(name: str) -> Callable[[Shapes, Shape, Shape], Shape]:
    def operation(shapes: Shapes, a: Shape, b: Shape) -> Shape:
        made: Term = getattr(shapes.terms, name)(_term(a), _term(b))
        return made

    return operation


_PLAIN: dict[ir.Op, Callable[..., Shape]] = {
    ir.Op.NOT: lambda shapes, a: shapes.terms.no(_term(a)),
    ir.Op.ADD: _arithmetic("add"),
    ir.Op.SUB: _arithmetic("sub"),
    ir.Op.MUL: _arithmetic("mul"),
    ir.Op.NEG: lambda shapes, a: shapes.terms.sub(shapes.terms.number(0), _term(a)),
    ir.Op.EQ: lambda shapes, a, b: shapes.equal(a, b),
    ir.Op.NE: lambda shapes, a, b: shapes.terms.no(shapes.equal(a, b)),
    ir.Op.LT: lambda shapes, a, b: shapes.less(a, b),
    ir.Op.LE: lambda shapes, a, b: shapes.terms.no(shapes.less(b, a)),
    ir.Op.MIN2: lambda shapes, a, b: shapes.ite(shapes.less(b, a), b, a),
    ir.Op.MAX2: lambda shapes, a, b: shapes.ite(shapes.less(a, b), b, a),
    ir.Op.UNION: _heaps(_union),
    ir.Op.MINUS: _heaps(_minus),
    ir.Op.INTERSECT: _heaps(lambda terms, a, b: terms.both(a, b)),
    ir.Op.SUBSET: _subset,
}


def _term(shape: Shape) -> Term:
    match shape:
        case Term():
            return shape
        case Maybe(_, value) if value is not None:
            return _term(value)  # the language knows that it is there
        case _:
            raise Unsayable("a number that is none")


def _tagged(shape: Shape) -> Tagged:
    match shape:
        case Tagged():
            return shape
        case Maybe(_, value) if value is not None:
            return _tagged(value)
        case _:
            raise Unsayable("a union that is none")
