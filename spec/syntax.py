"""The surface tree: a model file as written, frozen, each node with its span.

Nothing here is judged: names may be unknown, types wrong, a place to assign
may be no place.  Equality and hashes ignore spans, so two texts that differ
in layout alone give equal trees.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from spec.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A piece of syntax; where it stood does not change what it is."""

    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ident(Node):
    """A name where it is declared or referred to outside an expression."""

    text: str


# ------------------------------------------------------------------ types


@dataclass(frozen=True, slots=True)
class NamedType(Node):
    """`Replica`, `bool`, `int`."""

    name: str


@dataclass(frozen=True, slots=True)
class RangeType(Node):
    """`lo..hi`."""

    lo: int
    hi: int


@dataclass(frozen=True, slots=True)
class EnumType(Node):
    """`{a, b}` in the place of a type: an enum without a name."""

    members: tuple[Ident, ...]


@dataclass(frozen=True, slots=True)
class OptionType(Node):
    """`T?`."""

    of: Type


@dataclass(frozen=True, slots=True)
class TupleType(Node):
    """`(A, B)`."""

    items: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class AppliedType(Node):
    """`set[T]`, `map[K, V]`, `seq[T; limit]`, `bag[T; limit]`."""

    name: Ident
    args: tuple[Type, ...]
    limit: int | Ident | None


Type = NamedType | RangeType | EnumType | OptionType | TupleType | AppliedType


# ------------------------------------------------------------------ expressions


@dataclass(frozen=True, slots=True)
class IntLit(Node):
    """`12`."""

    value: int


@dataclass(frozen=True, slots=True)
class BoolLit(Node):
    """`true`, `false`."""

    value: bool


@dataclass(frozen=True, slots=True)
class NoneLit(Node):
    """`none`."""


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A name in an expression."""

    name: str


@dataclass(frozen=True, slots=True)
class Arg(Node):
    """An argument; `name` when it is given by name."""

    name: str | None
    value: Expr


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`f(a, b)`, `Entry(epoch = 1)`, `max(S)`, `old(e)`."""

    name: Ident
    args: tuple[Arg, ...]


@dataclass(frozen=True, slots=True)
class Method(Node):
    """`x.log.append(e)`: only a statement, but the grammar cannot know."""

    of: Expr
    name: Ident
    args: tuple[Arg, ...]


@dataclass(frozen=True, slots=True)
class Get(Node):
    """`r.log`."""

    of: Expr
    name: Ident


@dataclass(frozen=True, slots=True)
class Index(Node):
    """`log[i]`, `votes[r]`."""

    of: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Upto(Node):
    """`log[..n]`."""

    of: Expr
    end: Expr


@dataclass(frozen=True, slots=True)
class From(Node):
    """`log[n..]`."""

    of: Expr
    start: Expr


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`not a`, `-a`."""

    op: str
    of: Expr


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """`a op b` for every two-sided operator; `not in` is one of them."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class IsCase(Node):
    """`m is Vote`."""

    of: Expr
    case: Ident


@dataclass(frozen=True, slots=True)
class IfElse(Node):
    """`if c then a else b`."""

    test: Expr
    then: Expr
    other: Expr


@dataclass(frozen=True, slots=True)
class LetIn(Node):
    """`let x = e. body`."""

    name: Ident
    value: Expr
    body: Expr


@dataclass(frozen=True, slots=True)
class Binder(Node):
    """`x: T`, `x in S`, or `x: T in S`."""

    name: Ident
    type: Type | None
    domain: Expr | None


@dataclass(frozen=True, slots=True)
class Quantified(Node):
    """`forall x in S where P. body` and its kin: exists, sum, max, min, argmax, argmin."""

    quantifier: str
    binders: tuple[Binder, ...]
    where: Expr | None
    body: Expr


@dataclass(frozen=True, slots=True)
class SetLit(Node):
    """`{a, b}`."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class SeqLit(Node):
    """`[a, b]`."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class TupleLit(Node):
    """`(a, b)`."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Filter(Node):
    """`{x in S where P}`."""

    binder: Binder
    where: Expr


@dataclass(frozen=True, slots=True)
class Collect(Node):
    """`{e for x in S where P}`."""

    body: Expr
    binders: tuple[Binder, ...]
    where: Expr | None


@dataclass(frozen=True, slots=True)
class MapOf(Node):
    """`[k: K -> e]`."""

    name: Ident
    type: Type
    body: Expr


Expr = (
    IntLit | BoolLit | NoneLit | Name | Call | Method | Get | Index | Upto | From | Unary | Binary | IsCase
    | IfElse | LetIn | Quantified | SetLit | SeqLit | TupleLit | Filter | Collect | MapOf
)  # fmt: skip


# ------------------------------------------------------------------ statements


@dataclass(frozen=True, slots=True)
class Require(Node):
    """`require name: e`."""

    name: Ident | None
    test: Expr


@dataclass(frozen=True, slots=True)
class Let(Node):
    """`let x = e`."""

    name: Ident
    value: Expr


@dataclass(frozen=True, slots=True)
class Assign(Node):
    """`place := e`."""

    place: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Do(Node):
    """`place.verb(args)`."""

    call: Expr  # a Method when it is right


@dataclass(frozen=True, slots=True)
class IfStmt(Node):
    """`if c { … } else { … }`."""

    test: Expr
    then: tuple[Stmt, ...]
    other: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class ForStmt(Node):
    """`for x in S { … }`."""

    binder: Binder
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class ChooseStmt(Node):
    """`choose x in S where P`."""

    binder: Binder
    where: Expr | None


@dataclass(frozen=True, slots=True)
class AssertStmt(Node):
    """`assert name: e`."""

    name: Ident
    test: Expr


@dataclass(frozen=True, slots=True)
class MemberStmt(Node):
    """`wipe r`, `lose r`, `flush r.log`: what a crash and a disk do."""

    verb: str
    of: Expr


Stmt = Require | Let | Assign | Do | IfStmt | ForStmt | ChooseStmt | AssertStmt | MemberStmt


# ------------------------------------------------------------------ declarations


@dataclass(frozen=True, slots=True)
class Text(Node):
    """A quoted text; its span includes the quotes."""

    text: str


@dataclass(frozen=True, slots=True)
class SortDecl(Node):
    """`sort A, B`."""

    names: tuple[Ident, ...]


@dataclass(frozen=True, slots=True)
class NatDecl(Node):
    """`nat A, B`."""

    names: tuple[Ident, ...]


@dataclass(frozen=True, slots=True)
class EnumDecl(Node):
    """`enum A { x, y }`."""

    name: Ident
    members: tuple[Ident, ...]


@dataclass(frozen=True, slots=True)
class TypeDecl(Node):
    """`type A = T`."""

    name: Ident
    type: Type


@dataclass(frozen=True, slots=True)
class FieldDecl(Node):
    """`name: T` in a record, a case, or a function's parameters."""

    name: Ident
    type: Type


@dataclass(frozen=True, slots=True)
class RecordDecl(Node):
    """`record A { x: T }`."""

    name: Ident
    fields: tuple[FieldDecl, ...]


@dataclass(frozen=True, slots=True)
class CaseDecl(Node):
    """`Vote(term: Term)` in a union."""

    name: Ident
    fields: tuple[FieldDecl, ...]


@dataclass(frozen=True, slots=True)
class UnionDecl(Node):
    """`union A { X(x: T), Y }`."""

    name: Ident
    cases: tuple[CaseDecl, ...]


@dataclass(frozen=True, slots=True)
class ConfigDefault(Node):
    """`default "0.11" = false`."""

    version: Text
    value: Expr


@dataclass(frozen=True, slots=True)
class ConfigDecl(Node):
    """`config x: T = e { key "…" note "…" default "…" = e }`."""

    name: Ident
    type: Type
    value: Expr
    key: Text | None
    note: Text | None
    defaults: tuple[ConfigDefault, ...]


@dataclass(frozen=True, slots=True)
class VarDecl(Node):
    """A field of `state`, `ghost` or a process; `storage` is a word in a process, else None."""

    storage: str | None
    name: Ident
    type: Type
    init: Expr


@dataclass(frozen=True, slots=True)
class StateDecl(Node):
    """`state { … }` or `ghost { … }`."""

    ghost: bool
    fields: tuple[VarDecl, ...]


@dataclass(frozen=True, slots=True)
class ProcessDecl(Node):
    """`process Replica { … }`."""

    sort: Ident
    fields: tuple[VarDecl, ...]


@dataclass(frozen=True, slots=True)
class NetworkDecl(Node):
    """`network net[A, B]: bag of Msg with drop, duplicate`."""

    name: Ident
    keys: tuple[Type, ...]
    mode: Ident
    of: Type
    faults: tuple[Ident, ...]


@dataclass(frozen=True, slots=True)
class InitDecl(Node):
    """`init { … }`."""

    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class FunDecl(Node):
    """`fun f(x: T): R = e`; `params` is None when it is written without parentheses."""

    name: Ident
    params: tuple[FieldDecl, ...] | None
    result: Type
    body: Expr


@dataclass(frozen=True, slots=True)
class ActionDecl(Node):
    """`fair action a(x: T in S) says "…" { … }`."""

    fairness: str  # "none", "fair", "strong fair"
    kind: str  # "action", "fault", "repair"
    name: Ident
    params: tuple[Binder, ...]
    says: Text | None
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class PropertyDecl(Node):
    """`invariant p: e`, …; `goal` for leadsto; `expr` is None for `deadlock free`."""

    kind: str
    name: Ident
    says: Text | None
    expr: Expr | None
    goal: Expr | None


@dataclass(frozen=True, slots=True)
class AssumeDecl(Node):
    """`assume a: e`."""

    name: Ident
    test: Expr


@dataclass(frozen=True, slots=True)
class ShownDecl(Node):
    """`membership: quorum.isr` in a `display` block: a role, and the names that lead to what plays it."""

    role: Ident
    path: tuple[Ident, ...]


@dataclass(frozen=True, slots=True)
class DisplayDecl(Node):
    """`display { … }`."""

    parts: tuple[ShownDecl, ...]


@dataclass(frozen=True, slots=True)
class Replace(Node):
    """`replace <declaration>` in a variant."""

    item: Item


@dataclass(frozen=True, slots=True)
class Drop(Node):
    """`drop action.guard` or `drop name` in a variant; `guard` is None for the second."""

    name: Ident
    guard: Ident | None


@dataclass(frozen=True, slots=True)
class AddGuard(Node):
    """`require action.guard: e` in a variant."""

    action: Ident
    guard: Ident
    test: Expr


@dataclass(frozen=True, slots=True)
class Restore(Node):
    """`durable Replica.log` in a variant: a changed storage class."""

    storage: str
    sort: Ident
    name: Ident


@dataclass(frozen=True, slots=True)
class VariantDecl(Node):
    """`variant v of base { … }`."""

    name: Ident
    base: Ident
    items: tuple[VariantItem, ...]


@dataclass(frozen=True, slots=True)
class ScopeItem(Node):
    """`Replica = 3`, or `Replica = {A, B}` with the members' names."""

    name: Ident
    value: int | tuple[Ident, ...]


@dataclass(frozen=True, slots=True)
class ScopeClause(Node):
    """`scope …`."""

    items: tuple[ScopeItem, ...]


@dataclass(frozen=True, slots=True)
class ConfigItem(Node):
    """`min_isr = 2`."""

    name: Ident
    value: Expr


@dataclass(frozen=True, slots=True)
class ConfigClause(Node):
    """`config …` in a check."""

    items: tuple[ConfigItem, ...]


@dataclass(frozen=True, slots=True)
class FaultItem(Node):
    """`<= 2`, `crash <= 1`, `crash any`, `any`, `none`; `most` is None for any."""

    kind: Ident | None
    most: int | None


@dataclass(frozen=True, slots=True)
class FaultsClause(Node):
    """`faults …`."""

    items: tuple[FaultItem, ...]


@dataclass(frozen=True, slots=True)
class OnlyClause(Node):
    """`only p, q`."""

    names: tuple[Ident, ...]


@dataclass(frozen=True, slots=True)
class VerdictExpect(Node):
    """`p holds`, `p holds for any faults`, `p violated with 1 fault in 5 steps`."""

    name: Ident
    holds: bool
    any_faults: bool
    faults: int | None
    steps: int | None


@dataclass(frozen=True, slots=True)
class CountExpect(Node):
    """`states 353`, `states 353 within 1 fault`, `taken write 12` (`of` is the action)."""

    what: str
    of: Ident | None
    count: int
    faults: int | None


@dataclass(frozen=True, slots=True)
class ExpectClause(Node):
    """`expect …`."""

    items: tuple[VerdictExpect | CountExpect, ...]


Clause = ScopeClause | ConfigClause | FaultsClause | OnlyClause | ExpectClause


@dataclass(frozen=True, slots=True)
class CheckDecl(Node):
    """`check c of v says "…" { … }`."""

    name: Ident
    of: Ident | None
    says: Text | None
    clauses: tuple[Clause, ...]


Item = (
    SortDecl | NatDecl | EnumDecl | TypeDecl | RecordDecl | UnionDecl | ConfigDecl | StateDecl | ProcessDecl
    | NetworkDecl | InitDecl | FunDecl | ActionDecl | PropertyDecl | AssumeDecl | DisplayDecl | VariantDecl
    | CheckDecl
)  # fmt: skip

VariantItem = Item | Replace | Drop | AddGuard | Restore


@dataclass(frozen=True, slots=True)
class Protocol(Node):
    """A whole file."""

    name: Ident
    items: tuple[Item, ...]
