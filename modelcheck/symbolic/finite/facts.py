"""Short facts about a state, which clauses are made of.

Each is an expression of the language over single members, such as `r1.ep == epoch`
or `size(r1.log) <= 1`, together with what it is over plain variables.  The facts of
a state distinguish it from every other; what the language has no short word for, such as
how many faults there were, is a fact about a plain variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.grounding.environment import of_state
from modelcheck.grounding.expressions import CORE, GroundExpressions
from modelcheck.grounding.machine import GroundMachine
from modelcheck.grounding.shapes import Shapes
from modelcheck.grounding.terms import GroundTerm, Sign, subterms
from spec.elaboration.typing import length
from spec.frozen import frozen
from spec.model.op import Op, Quantifier
from spec.model.values import members
from spec.source import Span

NOWHERE = Span(0, 0)
MOST_VALUES = 32  # of a type, for each to be a fact of its own
MOST_MEMBERS = 64  # that a set may have, for each to be a fact of its own
MOST_PAIRS = 400  # comparisons of two parts of a state
Leaf = tuple[t.Type, ir.Expr]


@frozen
class StateFact:
    """A predicate on states from which clauses are made; without `expr` it has no form in the language.

    Of two that would do, the one with the lower `rank` is kept: it depends less on single values.
    Equivalent expressions are `also`, and opposite ones `unlike`.
    """

    expr: ir.Expr | None
    term: GroundTerm
    rank: int
    also: tuple[ir.Expr, ...] = ()
    unlike: tuple[ir.Expr, ...] = ()


def facts(model: ir.Model, scope: ir.Scope, machine: GroundMachine) -> tuple[StateFact, ...]:
    """The predicates on states of a model within a scope, from which IC3 makes clauses; none twice."""
    return tuple(_Facts(model, scope, machine).all())


def plain(variables: Sequence[ir.Variable]) -> list[Leaf]:
    """The state variables as expressions, each with its type."""
    return [(each.type, ir.Var(n, type=each.type, span=NOWHERE)) for n, each in enumerate(variables)]


class _Facts:
    """Builds the facts of one model within a scope."""

    def __init__(self, model: ir.Model, scope: ir.Scope, machine: GroundMachine) -> None:
        self._model, self._scope, self._machine = model, scope, machine
        self._shapes = Shapes(machine.terms, scope)
        self._e = GroundExpressions(self._shapes)

    def all(self) -> Iterator[StateFact]:
        """The facts, each once, those about flat variables last."""
        said: list[StateFact] = [fact for each in self._exprs() if (fact := self._fact(*each)) is not None]
        said += self._variable_facts(said)
        terms = self._machine.terms
        kept: dict[GroundTerm, list[StateFact]] = {}  # by their terms, and in how many words
        opposites: dict[GroundTerm, list[StateFact]] = {}
        for fact in said:
            opposite = terms.no(fact.term)
            if fact.term.constant is not None:
                continue
            if opposite in kept:
                opposites[opposite].append(fact)
            else:
                kept.setdefault(fact.term, []).append(fact)
                opposites.setdefault(fact.term, [])
        for term, (fact, *also) in kept.items():
            yield replace(fact, also=_expressions_of(also), unlike=_expressions_of(opposites[term]))

    def _fact(self, rank: int, expr: ir.Expr) -> StateFact | None:
        """The fact of an expression; None if evaluating it may be an error."""
        env = of_state(self._machine.terms, self._machine.stored)
        term = self._e.truth(CORE.expr(expr, slots=1), env)  # the one slot of `_some_beyond`
        return StateFact(expr, term, rank) if env.ends.error.constant == 0 else None

    def _exprs(self) -> Iterator[tuple[int, ir.Expr]]:
        """The expressions of facts in the language, each with its rank."""
        values = [value for whole in plain(self._model.variables) for value in self._values(*whole)]
        leaves = [leaf for value in values for leaf in self._leaves(*value)]
        wholes = [(of, expr) for of, expr in values if not _is_single(of)]
        pairs = [*self._pairs(leaves, wholes)]
        for keep in (lambda n: True, lambda n: n < 2, lambda n: n < 1):  # noqa: ARG005 - all of them
            kept = [(rank, expr) for depth, rank, expr in pairs if keep(depth)]
            if len(kept) <= MOST_PAIRS:
                yield from kept
                break
        for of, expr in leaves:
            yield from self._scalar_facts(of, expr)
        for of, expr in wholes:
            yield from self._inside(of, expr)

    # ------------------------------------------------------------------ parts of a state

    def _values(self, of: t.Type, expr: ir.Expr) -> Iterator[Leaf]:
        """The expressions of a value's parts: record fields and map entries, recursively."""
        match of:
            case t.Record(_, fields):
                for n, field in enumerate(fields):
                    yield from self._values(field.type, ir.Part(expr, n, type=field.type, span=NOWHERE))
            case t.Map(key, inner) if t.is_scalar(key):
                for each in members(key, self._scope):
                    at = ir.Const(each, type=key, span=NOWHERE)
                    yield from self._values(inner, apply(Op.LOOKUP, inner, expr, at))
            case _:
                yield of, expr

    def _leaves(self, of: t.Type, expr: ir.Expr) -> Iterator[Leaf]:
        """The scalar expressions in a value: itself, or the length and entries of a sequence."""
        match of:
            case t.Seq(inner, limit) if limit is not None:
                counted = length(of)
                yield counted, apply(Op.SIZE, counted, expr)
                if t.is_scalar(inner):
                    for n in range(self._scope.most(limit)):
                        at = ir.Const(n, type=t.INT, span=NOWHERE)
                        yield t.Option(inner), apply(Op.AT, t.Option(inner), expr, at)
            case _ if _is_single(of):
                yield of, expr
            case _:
                return

    # ------------------------------------------------------------------ facts about them

    def _scalar_facts(self, of: t.Type, expr: ir.Expr) -> Iterator[tuple[int, ir.Expr]]:
        """The facts that compare one scalar expression with constants, each with its rank."""
        if isinstance(of, t.Bool):
            yield 1, expr
            return
        inner = of.of if isinstance(of, t.Option) else of
        if isinstance(of, t.Option):
            yield 1, equal(expr, ir.Const(None, type=of, span=NOWHERE))
        known = self._known(inner, expr)
        if t.is_number(of):
            for value in known[:-1]:
                yield 1, apply(Op.LE, t.BOOL, expr, ir.Const(value, type=inner, span=NOWHERE))
        for value in known:
            yield 2, equal(expr, ir.Const(value, type=inner, span=NOWHERE))

    def _known(self, inner: t.Type, expr: ir.Expr) -> list[ir.Value]:
        """The constants that a scalar expression may equal."""
        if isinstance(expr, ir.Apply) and expr.op is Op.SIZE:
            whole = expr.args[0].type
            assert isinstance(whole, t.Seq)
            assert whole.limit is not None
            return list(range(self._scope.most(whole.limit) + 1))
        return list(members(inner, self._scope))

    def _pairs(self, leaves: Sequence[Leaf], wholes: Sequence[Leaf]) -> Iterator[tuple[int, int, ir.Expr]]:
        """The facts that compare two parts of a state, each with its generality (0 the highest) and rank."""
        for (a_of, a), (b_of, b) in combinations(leaves, 2):
            if _base(a_of) != _base(b_of) or isinstance(a_of, t.Bool):
                continue
            depth = 2 if _offset(a) != _offset(b) and None not in (_offset(a), _offset(b)) else 0
            yield depth, 0, equal(a, b)
            if t.is_number(a_of) and t.is_number(b_of):
                yield 1, 0, apply(Op.LT, t.BOOL, a, b)
            elif t.is_number(_base(a_of)):
                for some, other in ((a, b), (b, a)):
                    if not isinstance(other.type, t.Option) and isinstance(some.type, t.Option):
                        yield max(depth, 1), 0, _some_beyond(some, other)
        for (a_of, a), (b_of, b) in combinations(wholes, 2):
            if isinstance(a_of, t.Set) and a_of == b_of:
                yield 0, 0, equal(a, b)
                yield 1, 0, apply(Op.SUBSET, t.BOOL, a, b)
                yield 1, 0, apply(Op.SUBSET, t.BOOL, b, a)
            elif isinstance(a_of, t.Seq) and a_of == b_of:
                yield 0, 0, equal(a, b)
                yield 1, 0, apply(Op.STARTS, t.BOOL, a, b)
                yield 1, 0, apply(Op.STARTS, t.BOOL, b, a)

    def _inside(  # noqa: C901 - by type
        self, of: t.Type, expr: ir.Expr
    ) -> Iterator[tuple[int, ir.Expr]]:
        """The facts about the members of a collection or the cases of a union, each with its rank."""
        match of:
            case t.Set(inner) | t.Bag(inner) if self._size(inner) <= MOST_MEMBERS:
                for value in self._shapes.domain(inner):
                    yield 1, apply(Op.IN, t.BOOL, ir.Const(value, type=inner, span=NOWHERE), expr)
                for n in range(1, min(3, self._size(inner))):
                    size = apply(Op.SIZE, t.INT, expr)
                    yield 1, apply(Op.LE, t.BOOL, size, ir.Const(n, type=t.INT, span=NOWHERE))
            case t.Seq(inner, limit) if limit is not None and not isinstance(inner, t.Option):
                if not t.is_scalar(inner) and self._size(inner) <= MOST_VALUES:
                    for n, value in product(range(self._scope.most(limit)), self._shapes.domain(inner)):
                        at = ir.Const(n, type=t.INT, span=NOWHERE)
                        entry = apply(Op.AT, t.Option(inner), expr, at)
                        yield 2, equal(entry, ir.Const(value, type=inner, span=NOWHERE))
            case t.Union(_, cases):
                for n in range(len(cases)):
                    yield 1, ir.Is(expr, n, type=t.BOOL, span=NOWHERE)
                if self._size(of) <= MOST_VALUES:
                    for value in self._shapes.domain(of):
                        yield 2, equal(expr, ir.Const(value, type=of, span=NOWHERE))
            case t.Tuple() | t.Option() if self._size(of) <= MOST_VALUES:
                for value in self._shapes.domain(of):
                    yield 2, equal(expr, ir.Const(value, type=of, span=NOWHERE))
            case _:
                return

    def _size(self, of: t.Type) -> int:
        """The number of values of a type; a huge number if they cannot be listed."""
        try:
            size = self._shapes.size(of)
            if size <= MOST_MEMBERS:
                list(self._shapes.domain(of))
        except Inexpressible:
            return 1 << 30
        return size

    # ----------------------------------------------------------------- plain variables

    def _variable_facts(self, said: Iterable[StateFact]) -> Iterator[StateFact]:
        """Facts about the flat variables whose values the given facts do not determine."""
        terms = self._machine.terms
        known = {flat for fact in said if fact.rank for flat in _determined_variables(fact)}
        for index, flat in enumerate(self._machine.flats):
            var = terms.var(index, flat.most)
            if var in known:
                continue
            if flat.most is None:
                yield StateFact(None, var, 3)
                continue
            for value in range(flat.most):
                yield StateFact(None, terms.le(var, terms.number(value)), 3)


def _expressions_of(of: Iterable[StateFact]) -> tuple[ir.Expr, ...]:
    """The expressions of those facts that have one."""
    return tuple(fact.expr for fact in of if fact.expr is not None)


def _is_single(of: t.Type) -> bool:
    """Whether the type is scalar, or an option of a scalar."""
    return t.is_scalar(of.of if isinstance(of, t.Option) else of)


def _determined_variables(fact: StateFact) -> Iterator[GroundTerm]:
    """The flat variables whose values all facts of this fact's kind together determine."""
    match fact.expr:
        case ir.Apply(op=Op.IN):
            yield from (flat for flat in _variables(fact.term) if flat.hi == 1)
        case ir.Apply(op=Op.EQ) if fact.rank == 2:
            yield from _variables(fact.term)
        case ir.Var() | ir.Part() | ir.Apply(op=Op.LOOKUP):
            yield from _variables(fact.term)
        case _:
            return


def _variables(term: GroundTerm) -> Iterator[GroundTerm]:
    """The flat variables in a term."""
    return (each for each in subterms([term]) if each.sign is Sign.VAR)


def apply(op: Op, of: t.Type, *args: ir.Expr) -> ir.Expr:
    """The expression of an operator with a result of type `of`."""
    return ir.Apply(op, args, type=of, span=NOWHERE)


def equal(a: ir.Expr, b: ir.Expr) -> ir.Expr:
    """The expression a = b."""
    return apply(Op.EQ, t.BOOL, a, b)


def _some_beyond(some: ir.Expr, other: ir.Expr) -> ir.Expr:
    """The expression that an option has a value, greater than `other`."""
    inner = some.type.of if isinstance(some.type, t.Option) else some.type
    body = apply(Op.LT, t.BOOL, other, ir.Local(0, type=inner, span=NOWHERE))
    return ir.Bind(Quantifier.EXISTS, 0, "e", some, None, body, type=t.BOOL, span=NOWHERE)


def _base(of: t.Type) -> t.Type:
    """The type under which values are comparable: without option or range."""
    inner = of.of if isinstance(of, t.Option) else of
    return t.INT if isinstance(inner, t.Range | t.Int) else inner


def _offset(expr: ir.Expr) -> ir.Value:
    """The constant index if the expression is an entry of a sequence, else None."""
    if isinstance(expr, ir.Apply) and expr.op is Op.AT and isinstance(expr.args[1], ir.Const):
        return expr.args[1].value
    return None
