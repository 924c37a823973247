"""The surface tree of types and expressions, for `syntax.py`, which describes trees."""

from __future__ import annotations

from spec.frozen import frozen
from spec.source import Node


@frozen
class Ident(Node):
    """A name where it is declared or referred to outside an expression."""

    text: str


# ------------------------------------------------------------------ types


@frozen
class NamedType(Node):
    """The syntax tree of `Replica`, `bool`, `int`."""

    name: str


@frozen
class RangeType(Node):
    """The syntax tree of `lo..hi`."""

    lo: int
    hi: int


@frozen
class EnumType(Node):
    """The syntax tree of `{a, b}` in the place of a type: an enum without a name."""

    members: tuple[Ident, ...]


@frozen
class OptionType(Node):
    """The syntax tree of `T?`."""

    of: Type


@frozen
class TupleType(Node):
    """The syntax tree of `(A, B)`."""

    items: tuple[Type, ...]


@frozen
class AppliedType(Node):
    """The syntax tree of `set[T]`, `map[K, V]`, `seq[T; limit]`, `bag[T; limit]`."""

    name: Ident
    args: tuple[Type, ...]
    limit: int | Ident | None


Type = NamedType | RangeType | EnumType | OptionType | TupleType | AppliedType


# ------------------------------------------------------------------ expressions


@frozen
class IntLit(Node):
    """The syntax tree of `12`."""

    value: int


@frozen
class BoolLit(Node):
    """The syntax tree of `true`, `false`."""

    value: bool


@frozen
class NoneLit(Node):
    """The syntax tree of `none`."""


@frozen
class Name(Node):
    """A name in an expression."""

    name: str


@frozen
class Arg(Node):
    """An argument; `name` when it is given by name."""

    name: str | None
    value: Expr


@frozen
class Call(Node):
    """The syntax tree of `f(a, b)`, `Entry(epoch = 1)`, `max(S)`, `old(e)`."""

    name: Ident
    args: tuple[Arg, ...]


@frozen
class Method(Node):
    """The syntax tree of `x.log.append(e)`: only a statement, but the grammar cannot know."""

    of: Expr
    name: Ident
    args: tuple[Arg, ...]


@frozen
class Get(Node):
    """The syntax tree of `r.log`."""

    of: Expr
    name: Ident


@frozen
class Index(Node):
    """The syntax tree of `log[i]`, `votes[r]`."""

    of: Expr
    index: Expr


@frozen
class Upto(Node):
    """The syntax tree of `log[..n]`."""

    of: Expr
    end: Expr


@frozen
class From(Node):
    """The syntax tree of `log[n..]`."""

    of: Expr
    start: Expr


@frozen
class Unary(Node):
    """The syntax tree of `not a`, `-a`."""

    op: str
    of: Expr


@frozen
class Binary(Node):
    """The syntax tree of `a op b` for every two-sided operator; `not in` is one of them."""

    op: str
    left: Expr
    right: Expr


@frozen
class IsCase(Node):
    """The syntax tree of `m is Vote`."""

    of: Expr
    case: Ident


@frozen
class IfElse(Node):
    """The syntax tree of `if c then a else b`."""

    test: Expr
    then: Expr
    other: Expr


@frozen
class LetIn(Node):
    """The syntax tree of `let x = e. body`."""

    name: Ident
    value: Expr
    body: Expr


@frozen
class Binder(Node):
    """The syntax tree of `x: T`, `x in S`, or `x: T in S`."""

    name: Ident
    type: Type | None
    domain: Expr | None


@frozen
class Quantified(Node):
    """Tree of `forall x in S where P. body` and the like: exists, sum, max, min, argmax, argmin."""

    quantifier: str
    binders: tuple[Binder, ...]
    where: Expr | None
    body: Expr


@frozen
class SetLit(Node):
    """The syntax tree of `{a, b}`."""

    items: tuple[Expr, ...]


@frozen
class SeqLit(Node):
    """The syntax tree of `[a, b]`."""

    items: tuple[Expr, ...]


@frozen
class TupleLit(Node):
    """The syntax tree of `(a, b)`."""

    items: tuple[Expr, ...]


@frozen
class Filter(Node):
    """The syntax tree of `{x in S where P}`."""

    binder: Binder
    where: Expr


@frozen
class Collect(Node):
    """The syntax tree of `{e for x in S where P}`."""

    body: Expr
    binders: tuple[Binder, ...]
    where: Expr | None


@frozen
class MapComprehension(Node):
    """The syntax tree of `[k: K -> e]`."""

    name: Ident
    type: Type
    body: Expr


Expr = (
    IntLit | BoolLit | NoneLit | Name | Call | Method | Get | Index | Upto | From | Unary | Binary | IsCase
    | IfElse | LetIn | Quantified | SetLit | SeqLit | TupleLit | Filter | Collect | MapComprehension
)  # fmt: skip
