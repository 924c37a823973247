"""Expressions in TLA+."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import assert_never

import modelcheck.export.tla.terms as tla
import spec.model.ir as ir
import spec.model.types as t
from modelcheck.contract.inexpressible import Construct
from modelcheck.export.known import ANY, Knowledge, KnownRange
from modelcheck.export.tla.names import local
from modelcheck.export.tla.operations import TlaOperations
from modelcheck.export.tla.terms import TlaTerm
from spec.formatting.documents import Doc
from spec.frozen import frozen
from spec.model.op import Op, Quantifier
from spec.model.types import element
from spec.model.walk import children

LARGEST = 2**31 - 1  # TLC's numbers are Java's int
SHORT = 24  # characters of a part of the state that may be written again instead of named
Read = Callable[[int], TlaTerm]
Binder = ir.Bind | ir.Each | ir.Choose | ir.Param


@frozen
class TlaEnv:
    """The context of an expression: TLA+ names of bound names, and how variables are read.

    `here` is an expression that may be written `@`; `values` are the expressions to
    which names were given.
    """

    read: Read
    names: Mapping[int, TlaTerm] = field(default_factory=dict)
    known: Mapping[int, KnownRange] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()
    old: Read | None = None
    here: ir.Expr | None = None
    values: Mapping[int, tuple[ir.Expr, TlaEnv]] = field(default_factory=dict)

    def bound(self, slot: int, name: TlaTerm, known: KnownRange) -> TlaEnv:
        """The context with one more bound name."""
        taken = self.taken | {str(name)} if name.is_atom else self.taken
        return replace(self, names={**self.names, slot: name}, known={**self.known, slot: known}, taken=taken)

    def standing_for(self, slot: int, value: ir.Expr, there: TlaEnv) -> TlaEnv:
        """The context with the value of a name known."""
        return replace(self, values={**self.values, slot: (value, there.away())})

    def among(self, *taken: str) -> TlaEnv:
        """The context with further names taken."""
        return replace(self, taken=self.taken.union(taken))

    def away(self) -> TlaEnv:
        """The context without a meaning of `@`."""
        return replace(self, here=None)


@frozen
class TlaBinding:
    """A bound variable over a domain with tests, and the context with it."""

    name: str
    domain: TlaTerm
    tests: list[TlaTerm]
    env: TlaEnv

    @property
    def kept(self) -> TlaTerm:
        """The set of the members that pass the tests."""
        return tla.those(self.name, self.domain, tla.both(self.tests)) if self.tests else self.domain


class TlaExpressions:
    """Writes expressions in TLA+; collects constructs that have no form there."""

    def __init__(
        self, values: TlaOperations, knowledge: Knowledge, actions: Callable[[ir.Did, TlaEnv], TlaTerm]
    ) -> None:
        self.values = values
        self.knowledge = knowledge
        self.refused: list[Construct] = []
        self._did = actions

    def term(self, expr: ir.Expr, env: TlaEnv) -> TlaTerm:  # noqa: C901 - a dispatch over a union
        """The expression in TLA+."""
        if env.here is not None and expr == env.here:
            return tla.atom("@")
        match expr:
            case ir.Const(value=value):
                return self._literal(value, expr)
            case ir.Config(name=name):
                return tla.atom(self.values.words.configs[name])
            case ir.Var(index=index):
                return env.read(index)
            case ir.Local(slot=slot):
                return env.names[slot]
            case ir.Apply():
                return self._apply(expr, env)
            case ir.And(parts=parts):
                return tla.both([self.term(part, env) for part in parts if not _is_true(part)])
            case ir.Or(parts=parts):
                return tla.either([self.term(part, env) for part in parts])
            case ir.Implies(left=left, right=right):
                return tla.implies(self.term(left, env), self.term(right, env))
            case ir.If(test=test, then=then, other=other):
                return tla.choice(self.term(test, env), self.term(then, env), self.term(other, env))
            case ir.Let():
                return self._let(expr, env)
            case ir.Members(of=of):
                return self.values.all_of(of)
            case ir.Bind():
                return self._bind(expr, env)
            case ir.MapOf(body=body):
                keys = self.keys(expr, env)
                return tla.a_function(keys.name, keys.domain, self.term(body, keys.env))
            case ir.Make(parts=parts):
                return self._make(expr, [self.term(part, env) for part in parts])
            case ir.Part():
                return self._part(expr, env)
            case ir.Is(of=of, case=case):
                return self.values.is_case(self.term(of, env), of.type, case)
            case ir.Fit(of=of):
                return self.term(of, env)
            case ir.Old(of=of):
                assert env.old is not None, "only a step has a state before it"
                return self.term(of, replace(env, read=env.old))
            case ir.Did():
                return self._did(expr, env)
            case _:
                assert_never(expr)

    def _literal(self, value: ir.Value, expr: ir.Expr) -> TlaTerm:
        """A constant in TLA+."""
        if isinstance(value, int) and abs(value) > LARGEST:
            self.refused.append(Construct(f"{value}, since TLC's numbers have 32 bits", expr.span))
        return self.values.literal(value, expr.type)

    def _let(self, expr: ir.Let, env: TlaEnv) -> TlaTerm:
        """A `let` in TLA+."""
        definitions, inner = self.named(expr, env, short=SHORT)
        return tla.let_term(definitions, self.term(expr.body, inner))

    def named(
        self, let: ir.Let | ir.Bound, env: TlaEnv, fresh: Callable[[str], str] | None = None, short: int = 0
    ) -> tuple[list[Doc], TlaEnv]:
        """The LET definition for a `let`, unless its value is inlined, and the context with it.

        `short` is how long a part of the state may be for that; `fresh` makes another name than a free one.
        """
        value, inner = self.term(let.value, env), env
        known = self.knowledge.of(let.value, env.known)
        definitions = []
        if not (value.is_atom or (len(str(value)) <= short and is_path(let.value))):
            name = fresh(let.name) if fresh else local(let.name, env.taken)
            definitions.append(tla.definition(name, (), value))
            value, inner = tla.atom(name), env.away()
        return definitions, inner.bound(let.slot, value, known).standing_for(let.slot, let.value, env)

    def _make(self, expr: ir.Make, parts: list[TlaTerm]) -> TlaTerm:
        """A constructed value in TLA+."""
        match expr.type:
            case t.Union(_, cases) if expr.case is not None:
                return self.values.compound(cases[expr.case], parts)
            case t.Set():
                return tla.a_set(parts)
            case t.Bag():
                return self.values.bag_of(parts)
            case _:
                return self.values.compound(expr.type, parts)

    def _part(self, expr: ir.Part, env: TlaEnv) -> TlaTerm:
        """A field in TLA+, by name, which may differ between cases."""
        of, union = self.term(expr.of, env), expr.of.type
        if not isinstance(union, t.Union):
            return self.values.part(of, union, expr.index)
        if expr.case is not None:
            return self.values.part(of, union.cases[expr.case], expr.index)
        *others, result = [self.values.part(of, case, expr.index) for case in union.cases]
        for number, own in reversed([*enumerate(others)]):
            if str(own) != str(result):
                result = tla.choice(self.values.is_case(of, union, number), own, result)
        return result

    def _apply(self, expr: ir.Apply, env: TlaEnv) -> TlaTerm:
        """An operator in TLA+."""
        args = [self.term(arg, env) for arg in expr.args]
        divides = expr.op in {Op.DIV, Op.MOD}
        by = self.knowledge.reach(expr.args[-1], env.known) if divides else ANY
        return self.values.apply(expr, args, by)

    # ------------------------------------------------------------------ domains

    def bind(self, binder: Binder, env: TlaEnv, name: str = "") -> TlaBinding:
        """The binding of a binder over its domain."""
        name = name or local(binder.name, env.taken)
        domain = self.values.members(self.term(binder.domain, env), binder.domain.type)
        return self._binding(binder, env, name, tla.atom(name), domain)

    def _binding(
        self, binder: Binder, env: TlaEnv, name: str, member: TlaTerm, domain: TlaTerm
    ) -> TlaBinding:
        """The binding of `name` over a domain, where the member is read as `member`."""
        known = self.knowledge.member(binder.domain, binder.case, env.known)
        inner = env.away().bound(binder.slot, member, known).among(name)
        tests = self.is_case(member, binder)
        if isinstance(binder, ir.Bind | ir.Choose) and binder.where is not None:
            tests.append(self.term(binder.where, inner))
        return TlaBinding(name, domain, tests, inner)

    def is_case(self, member: TlaTerm, binder: Binder) -> list[TlaTerm]:
        """The tests that a member is of the binder's case."""
        of = element(binder.domain.type) or t.UNKNOWN
        return [] if binder.case is None else [self.values.is_case(member, of, binder.case)]

    def keys(self, expr: ir.MapOf, env: TlaEnv) -> TlaBinding:
        """The binding of a map's keys."""
        assert isinstance(expr.type, t.Map)
        key = expr.type.key
        keys = ir.Members(key, type=t.Set(key), span=expr.span)
        return self.bind(ir.Each(expr.slot, expr.name, keys, (), span=expr.span), env)

    def in_order(self, binder: ir.Each, env: TlaEnv) -> TlaTerm:
        """The members of a domain as a sequence in canonical order."""
        match binder.domain:
            case ir.Members(of=of):
                listed = self.values.in_order(of)
            case ir.Apply(op=Op.RANGE, args=(low, high)):
                listed = self.values.use("Numbers", self.term(low, env), self.term(high, env))
            case domain:
                listed = self.values.entries(self.term(domain, env), domain.type)
        name = local("m", env.taken)
        for test in self.is_case(tla.atom(name), binder):
            listed = tla.call("SelectSeq", listed, tla.function_of(name, test))
        return listed

    # ------------------------------------------------------------------ quantifiers

    def _bind(self, expr: ir.Bind, env: TlaEnv) -> TlaTerm:
        """A quantifier in TLA+."""
        if isinstance(expr.domain.type, t.Seq) and expr.quantifier in _BY_POSITION:
            return self._bind_entries(expr, env)
        found = self.bind(expr, env)
        name, domain, tests = found.name, found.domain, found.tests
        body = self.term(expr.body, found.env)
        of_all = found.kept if str(body) == name else tla.each(name, found.kept, body)
        match expr.quantifier:
            case Quantifier.FORALL:
                return tla.quantified(
                    r"\A", name, domain, tla.implies(tla.both(tests), body) if tests else body
                )
            case Quantifier.EXISTS:
                parts = tests if tests and _is_true(expr.body) else [*tests, body]
                return tla.quantified(r"\E", name, domain, tla.both(parts))
            case Quantifier.SET:
                return of_all
            case Quantifier.SUM:
                return self._over("SumOf", found, body)
            case Quantifier.MAX | Quantifier.MIN:
                most = expr.quantifier is Quantifier.MAX
                return self.values.extreme(of_all, expr.body.type, found.env.taken, most=most)
            case Quantifier.ARGMAX | Quantifier.ARGMIN:
                of = element(expr.domain.type) or t.UNKNOWN
                return self.values.first(self._best(expr, found, body), of, found.env.taken)
            case _:
                assert_never(expr.quantifier)

    def _bind_entries(self, expr: ir.Bind, env: TlaEnv) -> TlaTerm:
        """A quantifier over the positions of a sequence, as equal entries count separately."""
        entries = self.term(expr.domain, env)
        definitions = []
        if not entries.is_atom and entries.level < tla.APPLIED:
            whole = local("entries", env.taken)
            definitions.append(tla.definition(whole, (), entries))
            entries, env = tla.atom(whole), env.among(whole)
        at = local("i", env.taken)
        entry = tla.applied(entries, tla.atom(at))
        found = self._binding(expr, env, at, entry, self.values.positions(entries))
        body = self.term(expr.body, found.env)
        if expr.quantifier is Quantifier.SUM:
            return tla.let_term(definitions, self._over("SumOf", found, body))
        first = self.values.use("Least", self._best(expr, found, body))
        return tla.let_term(definitions, tla.applied(entries, first))

    def _over(self, operator: str, members: TlaBinding, body: TlaTerm) -> TlaTerm:
        """A library operator applied to members and a LAMBDA."""
        function = tla.a_function(members.name, members.kept, body)
        return self.values.use(operator, function)

    def _best(self, expr: ir.Bind, members: TlaBinding, body: TlaTerm) -> TlaTerm:
        """The set of the members with the best body."""
        most = expr.quantifier is Quantifier.ARGMAX
        if t.is_number(expr.body.type):
            return self._over("Greatests" if most else "Leasts", members, body)
        name, taken = members.name, members.env.taken
        score, other = (local(wanted, taken) for wanted in ("score", "other"))
        pair = [tla.applied(tla.atom(score), tla.atom(x)) for x in (name, other)]
        better = self.values.less(expr.body.type, *(pair if most else reversed(pair)))
        every = tla.prefix("DOMAIN ", tla.atom(score))
        best = tla.those(name, every, tla.quantified(r"\A", other, every, tla.negated(better)))
        return tla.let_term([tla.definition(score, (), tla.a_function(name, members.kept, body))], best)


_BY_POSITION = {Quantifier.SUM, Quantifier.ARGMAX, Quantifier.ARGMIN}


def _is_true(expr: ir.Expr) -> bool:
    """Whether an expression is the constant true."""
    return isinstance(expr, ir.Const) and expr.value is True


def is_path(expr: ir.Expr) -> bool:
    """Whether an expression only reads a part of the state or of a bound value."""
    match expr:
        case ir.Var() | ir.Local() | ir.Const():
            return True
        case ir.Apply(op=Op.LOOKUP) | ir.Part():
            return all(map(is_path, children(expr)))
        case _:
            return False


def is_split_by_tlc(expr: ir.Expr) -> bool:
    """Whether TLC would split a condition and count a step for each way to make it true."""
    match expr:
        case ir.Or():
            return True
        case ir.Bind(quantifier=quantifier):
            return quantifier is Quantifier.EXISTS
        case ir.And(parts=parts):
            return any(map(is_split_by_tlc, parts))
        case ir.Implies() | ir.If() | ir.Let():
            return any(map(is_split_by_tlc, children(expr)[1:]))  # the first is only looked at
        case _:
            return False
