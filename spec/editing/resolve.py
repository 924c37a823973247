"""A tree → what each of its names means, by the rules of `spec.elaboration.names`.

What is a field, and of what, follows from types: the elaboration notes them
(`Problems.types`).  Where it could not, a name that only one thing has is taken for that.
It judges nothing, and a name that means nothing is left out.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

import spec.model.types as t
import spec.syntax.expressions as se
import spec.syntax.tree as s
from spec.diagnostics import SpecError
from spec.editing.symbols import Occurrence, Symbol, SymbolKind, SymbolTable
from spec.elaboration.builtins import named_action
from spec.model.roles import WORDS
from spec.source import Node, Source, Span
from spec.syntax.parser import parse_expression

Scope = Mapping[str, Symbol]
Table = dict[str, dict[str, Symbol]]


def resolved(
    source: Source, protocol: s.Protocol, types: Mapping[Span, t.Type], probes: Iterable[int] = ()
) -> SymbolTable:
    """The symbol table of a text, in linear time; `probes` are offsets where bound names are kept."""
    walk = _ResolvingWalk(source, types, frozenset(probes))
    walk.file(protocol)
    unique = {(each.span, each.symbol): each for each in walk.found}
    every = sorted(unique.values(), key=lambda each: each.span)
    return SymbolTable(tuple(every), walk.scopes, walk.fields, walk.members, walk.guards, walk.bound)


def _inside(of: t.Type) -> t.Type:
    """The element type of a collection; another type itself."""
    return of.of if isinstance(of, t.Option) else of


def _enums_without_names(node: object) -> Iterator[se.EnumType]:
    """The anonymous enum types in a syntax tree."""
    match node:
        case se.EnumType():
            yield node
        case tuple():
            for each in node:
                yield from _enums_without_names(each)
        case Node():
            names: tuple[str, ...] = getattr(node, "__match_args__", ())
            for name in names:
                yield from _enums_without_names(getattr(node, name))
        case _:
            return


class _ResolvingWalk:
    """Walks a syntax tree, and records every declaration and use of a name."""

    def __init__(self, source: Source, types: Mapping[Span, t.Type], probes: frozenset[int]) -> None:
        self._source, self._types, self._probes = source, types, probes
        self.found: list[Occurrence] = []
        self.scopes: dict[str, dict[str, Symbol]] = {}
        self.fields: Table = {}
        self.members: Table = {}
        self.guards: Table = {}
        self.bound: dict[int, Scope] = {}
        self._common: dict[str, Symbol] = {}  # of the model that is looked at
        self._params: dict[str, dict[str, Symbol]] = {}  # of functions

    # -------------------------------------------------------------- notes

    def _declare(self, kind: SymbolKind, name: se.Ident, whole: Span, of: str = "") -> Symbol:
        """Record a declaration, and return its symbol."""
        symbol = Symbol(kind, name.text, name.span, of, whole)
        self.found.append(Occurrence(name.span, symbol, declares=True))
        return symbol

    def _again(
        self, known: dict[str, Symbol], kind: SymbolKind, name: se.Ident, whole: Span, of: str = ""
    ) -> None:
        """Record a declaration, of a new symbol or of one declared before."""
        before = known.get(name.text)
        if before is not None and before.kind is kind:
            self.found.append(Occurrence(name.span, before, declares=True))
        else:
            known[name.text] = self._declare(kind, name, whole, of)

    def _use(self, span: Span, symbol: Symbol | None) -> None:
        """Record a use of a symbol."""
        if symbol is not None:
            self.found.append(Occurrence(span, symbol, declares=False))

    def _named(self, name: se.Ident) -> None:
        """Record a use of a global name."""
        self._use(name.span, self._common.get(name.text))

    # -------------------------------------------------------------- declarations

    def file(self, protocol: s.Protocol) -> None:
        """Walk the file: the protocol, then each variant after its base, then checks."""
        own = protocol.name.text
        models: dict[str, Symbol] = {}
        if protocol.name.span.start < protocol.name.span.end:
            models[own] = self._declare(SymbolKind.PROTOCOL, protocol.name, protocol.name.span)
        plain = [each for each in protocol.items if not isinstance(each, s.VariantDecl | s.CheckDecl)]
        self._model(own, {}, plain)
        for item in protocol.items:
            if isinstance(item, s.VariantDecl):
                self._use(item.base.span, models.get(item.base.text))
                models.setdefault(item.name.text, self._declare(SymbolKind.VARIANT, item.name, item.span))
                self._model(item.name.text, self.scopes.get(item.base.text, {}), item.items)
        for item in protocol.items:
            if isinstance(item, s.CheckDecl):
                self._common = self.scopes.get(item.of.text if item.of else own, {})
                if item.of is not None:
                    self._use(item.of.span, models.get(item.of.text))
                self._check(item)

    def _model(self, name: str, base: Scope, items: Iterable[s.VariantItem]) -> None:
        """Walk the items of a protocol or variant with the names of its base."""
        self._common = self.scopes[name] = dict(base)
        listed = list(items)
        for item in listed:
            self._declared(item.item if isinstance(item, s.Replace) else item)
            for enum in _enums_without_names(item):
                self._enum("{" + ", ".join(each.text for each in enum.members) + "}", enum.members)
        for item in listed:
            self._walked(item.item if isinstance(item, s.Replace) else item)

    def _declared(self, item: s.VariantItem) -> None:  # noqa: C901 - a dispatch
        """Record what an item declares."""
        common, whole = self._common, item.span
        match item:
            case s.SortDecl() | s.NatDecl():
                kind = SymbolKind.SORT if isinstance(item, s.SortDecl) else SymbolKind.NAT
                for each in item.names:
                    self._again(common, kind, each, whole)
            case s.EnumDecl(name, members):
                self._again(common, SymbolKind.ENUM, name, whole)
                self._enum(name.text, members)
            case s.TypeDecl(name):
                self._again(common, SymbolKind.TYPE, name, whole)
            case s.RecordDecl(name, fields):
                self._again(common, SymbolKind.RECORD, name, whole)
                self._fields(name.text, fields)
            case s.UnionDecl(name, cases):
                self._again(common, SymbolKind.UNION, name, whole)
                for case in cases:
                    self._again(common, SymbolKind.CASE, case.name, case.span, name.text)
                    self._fields(case.name.text, case.fields)
            case s.ConfigDecl(name):
                self._again(common, SymbolKind.CONFIG, name, whole)
            case s.StateDecl(_, variables):
                for var in variables:
                    self._again(common, SymbolKind.VARIABLE, var.name, var.span)
            case s.ProcessDecl(sort, variables):
                self._fields(sort.text, variables)
            case s.NetworkDecl(name):
                self._again(common, SymbolKind.NETWORK, name, whole)
            case s.FunDecl(name, params):
                self._again(common, SymbolKind.FUNCTION, name, whole)
                self._params[name.text] = {
                    each.name.text: self._declare(SymbolKind.LOCAL, each.name, each.span, name.text)
                    for each in params or ()
                }
            case s.ActionDecl(_, _, name):
                self._again(common, SymbolKind.ACTION, name, whole)
                self._named_statements(name.text, item.body)
            case s.PropertyDecl(_, name):
                self._again(common, SymbolKind.PROPERTY, name, whole)
            case s.AssumeDecl(name):
                self._again(common, SymbolKind.ASSUMPTION, name, whole)
            case s.AddGuard(action, guard):
                self._guard(action.text, guard, whole)
            case _:
                pass

    def _fields(self, owner: str, fields: Iterable[s.FieldDecl | s.VarDecl]) -> None:
        """Record the declarations of fields."""
        for each in fields:
            self._again(self.fields.setdefault(owner, {}), SymbolKind.FIELD, each.name, each.span, owner)

    def _enum(self, name: str, members: Iterable[se.Ident]) -> None:
        """Record an enum and its members."""
        for each in members:
            self._again(self.members.setdefault(name, {}), SymbolKind.MEMBER, each, each.span, name)

    def _guard(self, action: str, name: se.Ident, whole: Span) -> None:
        """Record the declaration of a guard."""
        self._again(self.guards.setdefault(action, {}), SymbolKind.GUARD, name, whole, action)

    def _named_statements(self, action: str, body: Iterable[s.Stmt]) -> None:
        """Record the names of guards and asserts in an action."""
        for statement in body:
            match statement:
                case s.Require(se.Ident() as name):
                    self._guard(action, name, statement.span)
                case s.AssertStmt(name):
                    self._again(self._common, SymbolKind.PROPERTY, name, statement.span)
                case s.IfStmt(_, then, other):
                    self._named_statements(action, (*then, *other))
                case s.ForStmt(_, inner):
                    self._named_statements(action, inner)
                case _:
                    pass

    # -------------------------------------------------------------- uses in declarations

    def _walked(self, item: s.VariantItem) -> None:  # noqa: C901 - a dispatch
        """Walk the expressions of an item."""
        match item:
            case s.TypeDecl(_, of):
                self._type(of)
            case s.RecordDecl(_, fields):
                self._typed(fields)
            case s.UnionDecl(_, cases):
                for case in cases:
                    self._typed(case.fields)
            case s.ConfigDecl(_, of, value, _, _, defaults):
                self._type(of)
                self._exprs({}, value, *(each.value for each in defaults))
            case s.StateDecl(_, variables):
                self._typed(variables)
            case s.ProcessDecl(sort, variables):
                self._named(sort)
                self._typed(variables)
            case s.NetworkDecl(_, keys, _, of):
                for each in (*keys, of):
                    self._type(each)
            case s.InitDecl(body):
                self._block(body, {})
            case s.FunDecl(name, params, result, body):
                self._typed(params or ())
                self._type(result)
                self._expr(body, dict(self._params.get(name.text, {})))
            case s.ActionDecl(_, _, _, params, says, body):
                scope: Scope = {}
                for binder in params:
                    scope = self._binder(binder, scope)
                self._says(says, self._block(body, scope))
            case s.PropertyDecl(_, _, says, expr, goal):
                self._exprs({}, *(each for each in (expr, goal) if each is not None))
                self._says(says, {})
            case s.AssumeDecl(_, test):
                self._expr(test, {})
            case s.DisplayDecl(parts):
                for part in parts:
                    if part.role.text not in WORDS:
                        self._shown(part.path)
            case s.Drop(name, guard):
                self._named(name)
                if guard is not None:
                    self._use(guard.span, self.guards.get(name.text, {}).get(guard.text))
            case s.AddGuard(action, _, test):
                self._named(action)
                self._expr(test, self._scope_of(action.text))
            case s.Restore(_, sort, name):
                self._named(sort)
                self._use(name.span, self.fields.get(sort.text, {}).get(name.text))
            case _:
                pass

    def _scope_of(self, action: str) -> Scope:
        """The names bound by the parameters and `let` of an action."""
        symbol = self._common.get(action)
        inside = symbol.whole if symbol else Span(0, 0)
        return {
            each.symbol.name: each.symbol
            for each in self.found
            if each.declares
            and each.symbol.kind is SymbolKind.LOCAL
            and inside.start < each.span.start < inside.end
        }

    def _typed(self, fields: Iterable[s.FieldDecl | s.VarDecl]) -> None:
        """Walk the types and initial values of fields."""
        for each in fields:
            self._type(each.type)
            if isinstance(each, s.VarDecl):
                self._expr(each.init, {})

    def _shown(self, path: tuple[se.Ident, ...]) -> None:
        """Record the names in a path of a `display` block."""
        first, *rest = path
        if first.text in self.fields and rest:
            self._named(first)
            owner: str | None = first.text
        elif first.text in self._common:
            self._named(first)
            owner = None
        else:
            self._use(first.span, self._only_field(first.text))
            owner = None
        for name in rest:
            symbol = self.fields[owner].get(name.text) if owner else self._only_field(name.text)
            self._use(name.span, symbol)
            owner = None

    def _check(self, item: s.CheckDecl) -> None:
        """Walk a check."""
        self._declare(SymbolKind.CHECK, item.name, item.span)
        for clause in item.clauses:
            if not isinstance(clause, s.SymmetryClause):
                for part in clause.names if isinstance(clause, s.OnlyClause) else clause.items:
                    self._clause_part(part)

    def _clause_part(
        self,
        part: se.Ident
        | s.ScopeItem
        | s.ConfigItem
        | s.FaultItem
        | s.RateItem
        | s.VerdictExpect
        | s.CountExpect,
    ) -> None:
        """Walk an item of a check's clause."""
        match part:
            case se.Ident() as name:
                self._named(name)
            case s.ScopeItem(name) | s.VerdictExpect(name):
                self._named(name)
            case s.ConfigItem(name, value):
                self._named(name)
                self._expr(value, {})
            case s.FaultItem(kind) | s.CountExpect(_, kind) | s.RateItem(kind):
                self._fault(kind)
            case _:
                assert_never(part)

    def _fault(self, kind: se.Ident | None) -> None:
        """Record the name of a fault: an action, or a network with a mode."""
        if kind is not None:
            name = kind.text.partition(".")[0]
            span = Span(kind.span.start, kind.span.start + len(name))
            self._use(span, self._common.get(name))

    def _type(self, node: se.Type) -> None:
        """Walk a type."""
        match node:
            case se.NamedType(name):
                self._use(node.span, self._common.get(name))
            case se.OptionType(of):
                self._type(of)
            case se.TupleType(items):
                for each in items:
                    self._type(each)
            case se.AppliedType(_, args, limit):
                for each in args:
                    self._type(each)
                if isinstance(limit, se.Ident):
                    self._named(limit)
            case se.RangeType() | se.EnumType():
                pass
            case _:
                assert_never(node)

    # -------------------------------------------------------------- statements

    def _block(self, body: Iterable[s.Stmt], scope: Scope) -> Scope:
        """Walk statements; returns the names bound at the end."""
        for statement in body:
            scope = self._statement(statement, scope)
        return scope

    def _statement(self, node: s.Stmt, scope: Scope) -> Scope:
        """Walk a statement; returns the names bound after it."""
        match node:
            case s.Require(_, test):
                self._expr(test, scope)
            case s.AssertStmt(_, says, test):
                self._says(says, {})
                self._expr(test, scope)
            case s.LetStmt(name, value):
                self._expr(value, scope)
                return self._bind(name, node.span, scope)
            case s.AssignStmt(place, value):
                self._exprs(scope, place, value)
            case s.Do(of) | s.MemberStmt(_, of):
                self._expr(of, scope)
            case s.IfStmt(test, then, other):
                self._expr(test, scope)
                self._block(then, scope)
                self._block(other, scope)
            case s.ForStmt(binder, inner):
                self._block(inner, self._binder(binder, scope))
            case s.ChooseStmt(binder, where):
                scope = self._binder(binder, scope)
                if where is not None:
                    self._expr(where, scope)
            case _:
                assert_never(node)
        return scope

    def _bind(self, name: se.Ident, whole: Span, scope: Scope) -> Scope:
        """Record a bound name; returns the scope with it."""
        return {**scope, name.text: self._declare(SymbolKind.LOCAL, name, whole)}

    def _binder(self, binder: se.Binder, scope: Scope) -> Scope:
        """Walk a binder; returns the scope with its name."""
        if binder.type is not None:
            self._type(binder.type)
        if binder.domain is not None:
            self._expr(binder.domain, scope)
        return self._bind(binder.name, binder.span, scope)

    # -------------------------------------------------------------- expressions

    def _exprs(self, scope: Scope, *nodes: se.Expr) -> None:
        """Walk expressions."""
        for each in nodes:
            self._expr(each, scope)

    def _expr(self, node: se.Expr, scope: Scope) -> None:  # noqa: C901 - a dispatch
        """Walk an expression."""
        match node:
            case se.Name(name):
                if node.span.start in self._probes:
                    self.bound[node.span.start] = scope
                self._use(node.span, self._meant(name, node.span, scope))
            case se.Call(name, args):
                self._call(name, args, scope)
            case se.Method(of, name, args):
                self._expr(of, scope)
                for arg in args:
                    self._expr(arg.value, scope)
            case se.Get(of, name):
                self._expr(of, scope)
                for symbol in self._field(of, name.text):
                    self._use(name.span, symbol)
            case se.IsCase(of, case):
                self._expr(of, scope)
                self._named(case)
            case se.Index(a, b) | se.Upto(a, b) | se.From(a, b) | se.Binary(_, a, b):
                self._exprs(scope, a, b)
            case se.Unary(_, of):
                self._expr(of, scope)
            case se.IfElse(test, then, other):
                self._exprs(scope, test, then, other)
            case se.LetIn(name, value, body):
                self._expr(value, scope)
                self._expr(body, self._bind(name, node.span, scope))
            case se.Quantified(_, binders, where, body):
                for binder in binders:
                    scope = self._binder(binder, scope)
                self._exprs(scope, *(each for each in (where, body) if each is not None))
            case se.SetLit(items) | se.SeqLit(items) | se.TupleLit(items):
                self._exprs(scope, *items)
            case se.Filter(binder, where):
                self._expr(where, self._binder(binder, scope))
            case se.Collect(body, binders, where):
                for binder in binders:
                    scope = self._binder(binder, scope)
                self._exprs(scope, *(each for each in (where, body) if each is not None))
            case se.MapComprehension(name, of, body):
                self._type(of)
                self._expr(body, self._bind(name, node.span, scope))
            case se.IntLit() | se.BoolLit() | se.NoneLit():
                pass
            case _:
                assert_never(node)

    def _meant(self, name: str, span: Span, scope: Scope) -> Symbol | None:
        """The symbol of a name in an expression, by the same precedence as `references.named`."""
        if name in scope:
            return scope[name]
        if name in self._common:
            return self._common[name]
        of = _inside(self._types.get(span, t.UNKNOWN))
        if isinstance(of, t.Enum):
            return self.members.get(of.name, {}).get(name)
        owners = [own[name] for own in self.members.values() if name in own]
        return owners[0] if len(owners) == 1 else None

    def _call(self, name: se.Ident, args: tuple[se.Arg, ...], scope: Scope) -> None:
        """Record the names in a call."""
        self._named(name)
        taken = self._params.get(name.text) or self.fields.get(name.text) or {}
        for arg in args:
            if arg.name is not None:
                at = Span(arg.span.start, arg.span.start + len(arg.name))
                self._use(at, taken.get(arg.name))
            named = named_action(arg.value) if name.text in {"did", "enabled"} else None
            if named is None:
                self._expr(arg.value, scope)
                continue
            self._fault(named[0])
            for inner in named[1]:
                self._expr(inner.value, scope)

    def _field(self, of: se.Expr, name: str) -> list[Symbol]:
        """The field that a name after a dot refers to; of a union, one of each case."""
        match _inside(self._types.get(of.span, t.UNKNOWN)):
            case t.Sort(owner) | t.Record(owner) | t.Case(_, owner):
                owners = [owner]
            case t.Union(_, cases):
                owners = [case.name for case in cases]
            case _:
                only = self._only_field(name)
                return [] if only is None else [only]
        return [self.fields[owner][name] for owner in owners if name in self.fields.get(owner, {})]

    def _only_field(self, name: str) -> Symbol | None:
        """The only field with a name, if there is just one."""
        owners = [own[name] for own in self.fields.values() if name in own]
        return owners[0] if len(owners) == 1 else None

    def _says(self, text: s.Text | None, scope: Scope) -> None:
        """Walk the expressions in a sentence."""
        if text is None:
            return
        for part in re.finditer(r"\{([^{}]*)\}", text.text):
            at = Span(text.span.start + 1 + part.start(1), text.span.start + 1 + part.end(1))
            with contextlib.suppress(SpecError):  # elaboration reports it
                self._expr(parse_expression(self._source, at), scope)
