"""Expressions in TLA+."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import assert_never

import modelcheck.export.tla.terms as tla
import spec.ir as ir
import spec.types as t
from modelcheck.contract.inexpressible import Construct
from modelcheck.export.known import Knowledge, KnownRange
from modelcheck.export.tla.names import local
from modelcheck.export.tla.operations import TlaOperations
from modelcheck.export.tla.terms import TlaTerm
from modelcheck.export.tla.values import Values
from spec.elaboration.typing import element
from spec.frozen import frozen
from spec.op import Op, Quantifier
from spec.pretty import cat

LARGEST = 2**31 - 1  # TLC's numbers are Java's int
SHORT = 24  # characters of a part of the state that may be written again instead of named
Read = Callable[[int], TlaTerm]


@frozen
class TlaEnv:
    """Where an expression stands: what its names are called, and how variables are read.

    `here` is an expression that may be written `@`; `values` says what names
    stand for that were given to expressions.
    """

    read: Read
    names: Mapping[int, TlaTerm] = field(default_factory=dict)
    known: Mapping[int, KnownRange] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()
    old: Read | None = None
    here: ir.Expr | None = None
    values: Mapping[int, tuple[ir.Expr, TlaEnv]] = field(default_factory=dict)

    def bound(self, slot: int, name: TlaTerm, known: KnownRange) -> TlaEnv:
        """With one more name."""
        taken = self.taken | {str(name)} if name.is_atom else self.taken
        return replace(self, names={**self.names, slot: name}, known={**self.known, slot: known}, taken=taken)

    def standing_for(self, slot: int, value: ir.Expr, there: TlaEnv) -> TlaEnv:
        """The same, knowing what a name stands for."""
        return replace(self, values={**self.values, slot: (value, there.away())})

    def among(self, taken: frozenset[str]) -> TlaEnv:
        """The same where further names are taken."""
        return replace(self, taken=self.taken | taken)

    def away(self) -> TlaEnv:
        """The same where `@` means nothing."""
        return replace(self, here=None)


class TlaExpressions:
    """Writes expressions; collects what cannot be written."""

    def __init__(
        self, values: Values, knowledge: Knowledge, actions: Callable[[ir.Did, TlaEnv], TlaTerm]
    ) -> None:
        self.values = values
        self.knowledge = knowledge
        self.operations = TlaOperations(values)
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
            case ir.MapOf(slot=slot, name=name, body=body):
                return self._map_of(expr, slot, name, body, env)
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
        if isinstance(value, int) and abs(value) > LARGEST:
            self.refused.append(Construct(f"{value}, since TLC's numbers have 32 bits", expr.span))
        return self.values.literal(value, expr.type)

    def _let(self, expr: ir.Let, env: TlaEnv) -> TlaTerm:
        value = self.term(expr.value, env)
        known = self.knowledge.of(expr.value, env.known)
        if value.is_atom or (len(str(value)) <= SHORT and is_path(expr.value)):
            return self.term(expr.body, env.bound(expr.slot, value, known))
        name = local(expr.name, env.taken)
        body = self.term(expr.body, env.away().bound(expr.slot, tla.atom(name), known))
        return tla.let_term([tla.definition(name, (), value)], body)

    def _map_of(self, expr: ir.Expr, slot: int, wanted: str, body: ir.Expr, env: TlaEnv) -> TlaTerm:
        assert isinstance(expr.type, t.Map)
        key = expr.type.key
        name = local(wanted, env.taken)
        known = self.knowledge.member(ir.Members(key, type=t.Set(key), span=expr.span), None, env.known)
        inner = self.term(body, env.away().bound(slot, tla.atom(name), known))
        return tla.a_function(name, self.values.all_of(key), inner)

    def _make(self, expr: ir.Make, parts: list[TlaTerm]) -> TlaTerm:
        match expr.type:
            case t.Union(_, cases) if expr.case is not None:
                case = cases[expr.case]
                return self.values.case(case.name, case.fields, parts)
            case t.Case(_, name, fields):
                return self.values.case(name, fields, parts)
            case t.Record(_, fields):
                return self.values.record(fields, parts)
            case t.Set():
                return tla.a_set(parts)
            case t.Bag():
                return self.operations.bag_of(parts)
            case _:
                return tla.a_tuple(parts)

    def _part(self, expr: ir.Part, env: TlaEnv) -> TlaTerm:
        of = self.term(expr.of, env)
        match expr.of.type:
            case t.Record(_, fields) | t.Case(_, _, fields):
                return self.values.part(of, fields, expr.index)
            case t.Union(_, cases):
                return self._part_of_union(of, cases, expr)
            case _:
                return tla.applied(of, tla.number(expr.index + 1))

    def _part_of_union(self, of: TlaTerm, cases: tuple[t.Case, ...], expr: ir.Part) -> TlaTerm:
        """By name, which may differ from case to case where the position is the same."""
        if expr.case is not None:
            return self.values.part(of, cases[expr.case].fields, expr.index)
        result: TlaTerm | None = None
        for number, case in reversed(list(enumerate(cases))):
            own = self.values.part(of, case.fields, expr.index)
            is_case = self.values.is_case(of, expr.of.type, number)
            same = result is None or str(own) == str(result)
            result = own if same or result is None else tla.choice(is_case, own, result)
        assert result is not None, "a union has cases"
        return result

    def _apply(self, expr: ir.Apply, env: TlaEnv) -> TlaTerm:
        args = [self.term(arg, env) for arg in expr.args]
        reaches = [self.knowledge.reach(a, env.known) if t.is_number(a.type) else None for a in expr.args]
        return self.operations.apply(expr, args, reaches)

    # ------------------------------------------------------------------ domains

    def members(self, domain: ir.Expr, env: TlaEnv) -> TlaTerm:
        """The members of a domain as a set; of a sequence each entry once."""
        return self.operations.members(self.term(domain, env), domain.type)

    def walk(
        self, slot: int, name: str, domain: ir.Expr, case: int | None, env: TlaEnv
    ) -> tuple[TlaTerm, TlaTerm | None, TlaEnv]:
        """For a name bound to the members of a domain: the set, a test for the case, the scope."""
        known = self.knowledge.member(domain, case, env.known)
        inner = env.away().bound(slot, tla.atom(name), known)
        test = None
        if case is not None:
            of = element(domain.type)
            test = self.values.is_case(tla.atom(name), of if of is not None else t.UNKNOWN, case)
        return self.members(domain, env), test, inner

    def in_order(self, domain: ir.Expr, case: int | None, env: TlaEnv) -> TlaTerm:
        """The members of a domain as a sequence, in canonical order."""
        match domain:
            case ir.Members(of=of):
                listed = self.values.in_order(of)
            case ir.Apply(op=Op.RANGE, args=args):
                listed = tla.call(self.values.library.use("Numbers"), *(self.term(arg, env) for arg in args))
            case _:
                listed = self.operations.in_order(self.term(domain, env), domain.type)
        if case is None:
            return listed
        name = local("m", env.taken)
        test = self.values.is_case(tla.atom(name), element(domain.type) or t.UNKNOWN, case)
        lambda_ = TlaTerm(cat(f"LAMBDA {name} : ", test.doc), tla.OPEN)
        return tla.call("SelectSeq", listed, lambda_)

    # ------------------------------------------------------------------ quantifiers

    def _bind(self, expr: ir.Bind, env: TlaEnv) -> TlaTerm:
        if isinstance(expr.domain.type, t.Seq) and expr.quantifier in _BY_POSITION:
            return self._bind_entries(expr, env)
        name = local(expr.name, env.taken)
        domain, test, inner = self.walk(expr.slot, name, expr.domain, expr.case, env)
        tests = [] if test is None else [test]
        tests += [] if expr.where is None else [self.term(expr.where, inner)]
        body = self.term(expr.body, inner)
        return self._quantified(expr, name, (domain, tests), body, inner)

    def _quantified(
        self, expr: ir.Bind, name: str, members: tuple[TlaTerm, list[TlaTerm]], body: TlaTerm, inner: TlaEnv
    ) -> TlaTerm:
        domain, tests = members
        kept = tla.those(name, domain, tla.both(tests)) if tests else domain
        of_all = kept if str(body) == name else tla.each(name, kept, body)
        match expr.quantifier:
            case Quantifier.FORALL:
                claim = tla.implies(tla.both(tests), body) if tests else body
                return tla.quantified(r"\A", name, domain, claim)
            case Quantifier.EXISTS:
                parts = [*tests, *([] if _is_true(expr.body) and tests else [body])]
                return tla.quantified(r"\E", name, domain, tla.both(parts))
            case Quantifier.SET:
                return of_all
            case Quantifier.SUM:
                return self._over(name, kept, body, "SumOf")
            case Quantifier.MAX:
                return self.operations.extreme(of_all, expr.body.type, inner.taken, most=True)
            case Quantifier.MIN:
                return self.operations.extreme(of_all, expr.body.type, inner.taken, most=False)
            case Quantifier.ARGMAX | Quantifier.ARGMIN:
                best = self._best(expr, name, kept, body, inner)
                return self.operations.first(best, element(expr.domain.type) or t.UNKNOWN, inner.taken)
            case _:
                assert_never(expr.quantifier)

    def _over(self, name: str, domain: TlaTerm, body: TlaTerm, operator: str) -> TlaTerm:
        return tla.call(self.values.library.use(operator), tla.a_function(name, domain, body))

    def _best(self, expr: ir.Bind, name: str, domain: TlaTerm, body: TlaTerm, inner: TlaEnv) -> TlaTerm:
        """The set of the members whose body is best."""
        most = expr.quantifier is Quantifier.ARGMAX
        if t.is_number(expr.body.type):
            return self._over(name, domain, body, "Greatests" if most else "Leasts")
        of, other = (local(wanted, inner.taken) for wanted in ("score", "other"))
        less = self.values.less(expr.body.type)
        ours, theirs = (tla.applied(tla.atom(of), tla.atom(x)) for x in (name, other))
        every = tla.domain(tla.atom(of))
        better = less(ours, theirs) if most else less(theirs, ours)
        best = tla.those(name, every, tla.quantified(r"\A", other, every, tla.negated(better)))
        return tla.let_term([tla.definition(of, (), tla.a_function(name, domain, body))], best)

    def _bind_entries(self, expr: ir.Bind, env: TlaEnv) -> TlaTerm:
        """Over the positions of a sequence, since an entry counts as often as it is there."""
        entries = self.term(expr.domain, env)
        definitions = []
        if not entries.is_atom and entries.level < tla.APPLIED:
            whole = local("entries", env.taken)
            definitions.append(tla.definition(whole, (), entries))
            entries, env = tla.atom(whole), replace(env, taken=env.taken | {whole})
        at = local("i", env.taken)
        entry = tla.applied(entries, tla.atom(at))
        known = self.knowledge.member(expr.domain, expr.case, env.known)
        inner = replace(env.away().bound(expr.slot, entry, known), taken=env.taken | {at})
        of = element(expr.domain.type) or t.UNKNOWN
        tests = [] if expr.case is None else [self.values.is_case(entry, of, expr.case)]
        tests += [] if expr.where is None else [self.term(expr.where, inner)]
        body = self.term(expr.body, inner)
        every = self.operations.positions(entries)
        kept = tla.those(at, every, tla.both(tests)) if tests else every
        if expr.quantifier is Quantifier.SUM:
            return tla.let_term(definitions, self._over(at, kept, body, "SumOf"))
        best = self._best(expr, at, kept, body, inner)
        first = tla.call(self.values.library.use("Least"), best)
        return tla.let_term(definitions, tla.applied(entries, first))


_BY_POSITION = {Quantifier.SUM, Quantifier.ARGMAX, Quantifier.ARGMIN}


def _is_true(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.Const) and expr.value is True


def is_path(expr: ir.Expr) -> bool:
    """Whether an expression only reads a part of the state or of a bound value."""
    match expr:
        case ir.Var() | ir.Local() | ir.Const():
            return True
        case ir.Apply(op=Op.LOOKUP, args=args):
            return all(map(is_path, args))
        case ir.Part(of=of):
            return is_path(of)
        case _:
            return False


def is_split_by_tlc(expr: ir.Expr) -> bool:
    """Whether TLC would take a condition apart, and count a step for each way to make it true."""
    match expr:
        case ir.Or():
            return True
        case ir.Bind(quantifier=quantifier):
            return quantifier is Quantifier.EXISTS
        case ir.And(parts=parts):
            return any(map(is_split_by_tlc, parts))
        case ir.Implies(right=right):
            return is_split_by_tlc(right)
        case ir.If(then=then, other=other):
            return is_split_by_tlc(then) or is_split_by_tlc(other)
        case ir.Let(body=body):
            return is_split_by_tlc(body)
        case _:
            return False
