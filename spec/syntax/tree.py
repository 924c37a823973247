"""The surface tree: a model file as written, frozen, each node with its span.

Nothing here is judged: names may be unknown, types wrong, a place to assign
may be no place.  Equality and hashes ignore spans, so two texts that differ
in layout alone give equal trees.
"""

from __future__ import annotations

from spec.frozen import frozen
from spec.source import Node
from spec.syntax.expressions import Binder, Expr, Ident, Type

# ------------------------------------------------------------------ statements


@frozen
class Require(Node):
    """The syntax tree of `require name: e`."""

    name: Ident | None
    test: Expr


@frozen
class LetStmt(Node):
    """The syntax tree of `let x = e`."""

    name: Ident
    value: Expr


@frozen
class AssignStmt(Node):
    """The syntax tree of `place := e`."""

    place: Expr
    value: Expr


@frozen
class Do(Node):
    """The syntax tree of `place.verb(args)`."""

    call: Expr  # a Method when it is right


@frozen
class IfStmt(Node):
    """The syntax tree of `if c { … } else { … }`."""

    test: Expr
    then: tuple[Stmt, ...]
    other: tuple[Stmt, ...]


@frozen
class ForStmt(Node):
    """The syntax tree of `for x in S { … }`."""

    binder: Binder
    body: tuple[Stmt, ...]


@frozen
class ChooseStmt(Node):
    """The syntax tree of `choose x in S where P`."""

    binder: Binder
    where: Expr | None


@frozen
class AssertStmt(Node):
    """The syntax tree of `assert name says "…": e`."""

    name: Ident
    says: Text | None
    test: Expr


@frozen
class MemberStmt(Node):
    """The syntax tree of `wipe r`, `lose r`, `flush r.log`: what a crash and a disk do."""

    verb: str
    of: Expr


Stmt = Require | LetStmt | AssignStmt | Do | IfStmt | ForStmt | ChooseStmt | AssertStmt | MemberStmt


# ------------------------------------------------------------------ declarations


@frozen
class Text(Node):
    """A quoted text; its span includes the quotes."""

    text: str


@frozen
class SortDecl(Node):
    """The syntax tree of `sort A, B`."""

    names: tuple[Ident, ...]


@frozen
class NatDecl(Node):
    """The syntax tree of `nat A, B`."""

    names: tuple[Ident, ...]


@frozen
class EnumDecl(Node):
    """The syntax tree of `enum A { x, y }`."""

    name: Ident
    members: tuple[Ident, ...]


@frozen
class TypeDecl(Node):
    """The syntax tree of `type A = T`."""

    name: Ident
    type: Type


@frozen
class FieldDecl(Node):
    """The syntax tree of `name: T` in a record, a case, or a function's parameters."""

    name: Ident
    type: Type


@frozen
class RecordDecl(Node):
    """The syntax tree of `record A { x: T }`."""

    name: Ident
    fields: tuple[FieldDecl, ...]


@frozen
class CaseDecl(Node):
    """The syntax tree of `Vote(term: Term)` in a union."""

    name: Ident
    fields: tuple[FieldDecl, ...]


@frozen
class UnionDecl(Node):
    """The syntax tree of `union A { X(x: T), Y }`."""

    name: Ident
    cases: tuple[CaseDecl, ...]


@frozen
class ConfigDefault(Node):
    """The syntax tree of `default "0.11" = false`."""

    version: Text
    value: Expr


@frozen
class ConfigDecl(Node):
    """The syntax tree of `config x: T = e { key "…" note "…" default "…" = e }`."""

    name: Ident
    type: Type
    value: Expr
    key: Text | None
    note: Text | None
    defaults: tuple[ConfigDefault, ...]


@frozen
class VarDecl(Node):
    """A field of `state`, `ghost` or a process; `storage` is a word in a process, else None."""

    storage: str | None
    name: Ident
    type: Type
    init: Expr


@frozen
class StateDecl(Node):
    """The syntax tree of `state { … }` or `ghost { … }`."""

    ghost: bool
    fields: tuple[VarDecl, ...]


@frozen
class ProcessDecl(Node):
    """The syntax tree of `process Replica { … }`."""

    sort: Ident
    fields: tuple[VarDecl, ...]


@frozen
class NetworkDecl(Node):
    """The syntax tree of `network net[A, B]: bag of Msg with drop, duplicate`."""

    name: Ident
    keys: tuple[Type, ...]
    mode: Ident
    of: Type
    faults: tuple[Ident, ...]


@frozen
class InitDecl(Node):
    """The syntax tree of `init { … }`."""

    body: tuple[Stmt, ...]


@frozen
class FunDecl(Node):
    """The syntax tree of `fun f(x: T): R = e`; `params` is None when it is written without parentheses."""

    name: Ident
    params: tuple[FieldDecl, ...] | None
    result: Type
    body: Expr


@frozen
class ActionDecl(Node):
    """The syntax tree of `fair action a(x: T in S) says "…" { … }`."""

    fairness: str  # "none", "fair", "strong fair"
    kind: str  # "action", "fault", "repair"
    name: Ident
    params: tuple[Binder, ...]
    says: Text | None
    body: tuple[Stmt, ...]


@frozen
class PropertyDecl(Node):
    """Tree of `invariant p: e`, …; `goal` for leadsto; `expr` of `deadlock free` is None without `unless`."""

    kind: str
    name: Ident
    says: Text | None
    expr: Expr | None
    goal: Expr | None


@frozen
class AssumeDecl(Node):
    """The syntax tree of `assume a: e`."""

    name: Ident
    test: Expr


@frozen
class ShownDecl(Node):
    """The syntax tree of a line of a `display` block: a role, and the names that lead to what plays it."""

    role: Ident
    path: tuple[Ident, ...]


@frozen
class DisplayDecl(Node):
    """The syntax tree of `display { … }`."""

    parts: tuple[ShownDecl, ...]


@frozen
class Replace(Node):
    """The syntax tree of `replace <declaration>` in a variant."""

    item: Item


@frozen
class Drop(Node):
    """The syntax tree of `drop action.guard` or `drop name` in a variant; `guard` is None for the second."""

    name: Ident
    guard: Ident | None


@frozen
class AddGuard(Node):
    """The syntax tree of `require action.guard: e` in a variant."""

    action: Ident
    guard: Ident
    test: Expr


@frozen
class Restore(Node):
    """The syntax tree of `durable Replica.log` in a variant: a changed storage class."""

    storage: str
    sort: Ident
    name: Ident


@frozen
class VariantDecl(Node):
    """The syntax tree of `variant v of base { … }`."""

    name: Ident
    base: Ident
    items: tuple[VariantItem, ...]


@frozen
class ScopeItem(Node):
    """`Replica = 3`, `Replica = {A, B}` with the members' names, or `Epoch = any` with the value None.

    `is_exact` behind `exactly`.
    """

    name: Ident
    value: int | tuple[Ident, ...] | None
    is_exact: bool = False


@frozen
class ScopeClause(Node):
    """The syntax tree of `scope …`."""

    items: tuple[ScopeItem, ...]


@frozen
class ConfigItem(Node):
    """The syntax tree of `min_isr = 2`."""

    name: Ident
    value: Expr


@frozen
class ConfigClause(Node):
    """The syntax tree of `config …` in a check."""

    items: tuple[ConfigItem, ...]


@frozen
class FaultItem(Node):
    """The syntax tree of `<= 2`, `crash <= 1`, `crash any`, `any`, `none`; `most` is None for any."""

    kind: Ident | None
    most: int | None


@frozen
class FaultsClause(Node):
    """The syntax tree of `faults …`."""

    items: tuple[FaultItem, ...]


@frozen
class RateItem(Node):
    """The syntax tree of `crash = 2/y`, `net.drop = 15/1000y`; `every` is None where no number is written."""

    action: Ident
    times: int
    every: int | None
    unit: Ident


@frozen
class RatesClause(Node):
    """The syntax tree of `rates …`."""

    items: tuple[RateItem, ...]


@frozen
class OnlyClause(Node):
    """The syntax tree of `only p, q`."""

    names: tuple[Ident, ...]


@frozen
class SymmetryClause(Node):
    """The syntax tree of `symmetry`."""


@frozen
class VerdictExpect(Node):
    """The syntax tree of `p holds`, `p holds for any faults`, `p violated with 1 fault in 5 steps`."""

    name: Ident
    holds: bool
    any_faults: bool
    faults: int | None
    steps: int | None


@frozen
class CountExpect(Node):
    """The syntax tree of `states 353`, `states 353 within 1 fault`, `taken write 12` (`of` is the action)."""

    what: str
    of: Ident | None
    count: int
    faults: int | None


@frozen
class ExpectClause(Node):
    """The syntax tree of `expect …`."""

    items: tuple[VerdictExpect | CountExpect, ...]


Clause = ScopeClause | ConfigClause | FaultsClause | RatesClause | SymmetryClause | OnlyClause | ExpectClause


@frozen
class CheckDecl(Node):
    """The syntax tree of `check c of v says "…" { … }`."""

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


@frozen
class Protocol(Node):
    """A whole file."""

    name: Ident
    items: tuple[Item, ...]


@frozen
class GoesOn(Node):
    """A whole file that imports another one: a protocol by its name, or a path."""

    of: Ident | Text
    items: tuple[Item, ...]
