"""Pieces of TLA+: a document and how tightly its outermost operator binds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from spec.formatting.documents import LINE, SOFT, Doc, Group, Nest, TextPiece, cat, flat, joined
from spec.frozen import frozen

BINDS = re.compile(r"(\w+|<<[\w, ]+>>) \\in ")
WIDTH = 100
SHORT = 72  # a conjunction that is longer becomes a list with bullets

ATOM, APPLIED, TIMES, NEGATIVE, MINUS, PLUS, RANGE, SETS, JOINED, RELATION, NOT, LOGIC, IMPLIES, OPEN = (
    *(20, 17, 13, 12, 11, 10, 9, 8, 6, 5, 4, 3, 1, 0),
)
_LEVELS = {
    **dict.fromkeys(("=", "#", "<", "<=", ">", ">=", r"\in", r"\notin", r"\subseteq"), RELATION),
    **dict.fromkeys((r"\cup", r"\cap", "\\"), SETS),
    **dict.fromkeys((r"\div", r"\o"), TIMES),
    **dict.fromkeys(("-", "%"), MINUS),
    "+": PLUS,
    "@@": JOINED,
    ":>": JOINED + 1,
}
_PREFIXES = {  # how tightly each binds, and how tightly what follows has to
    "~": (NOT, JOINED),
    "-": (NEGATIVE, TIMES),
    "DOMAIN ": (RANGE, APPLIED),
    "SUBSET ": (SETS, APPLIED),
    "UNION ": (SETS, APPLIED),
}
_ASSOCIATIVE = {"@@", "+", r"\o", r"\cup", r"\cap"}


@frozen
class TlaTerm:
    """A TLA+ expression; `level` is the precedence of its outermost operator `op`, `sides` its operands."""

    doc: Doc
    level: int = ATOM
    op: str = ""
    sides: tuple[TlaTerm, ...] = ()

    def __str__(self) -> str:
        return flat(self.doc)

    @property
    def is_atom(self) -> bool:
        """Whether the expression is a name or literal, cheap to repeat."""
        return isinstance(self.doc, TextPiece)


def atom(text: str) -> TlaTerm:
    """A name or a literal."""
    return TlaTerm(TextPiece(text))


def text(value: str) -> TlaTerm:
    """A string."""
    return atom(f'"{value}"')


def number(value: int) -> TlaTerm:
    """A number, negative ones included."""
    return TlaTerm(TextPiece(str(value)), ATOM if value >= 0 else NEGATIVE)


TRUE, FALSE = atom("TRUE"), atom("FALSE")


def within(term: TlaTerm, least: int) -> Doc:
    """The term's document, in parentheses unless it binds at least so tightly."""
    return term.doc if term.level >= least else parens(term.doc)


def parens(doc: Doc) -> Doc:
    """A document in parentheses."""
    return cat("(", Nest(1, doc), ")")


def infix(op: str, *parts: TlaTerm) -> TlaTerm:
    """The term `a op b`, or `a op b op c`; operands that bind no tighter are in parentheses."""
    if len(parts) == 1:
        return parts[0]
    level = _LEVELS[op]
    chained = {op} & _ASSOCIATIVE
    own = [part.doc if part.op in chained else within(part, level + 1) for part in parts]
    rest = [cat(LINE, f"{op} ", part) for part in own[1:]]
    return TlaTerm(Group(cat(own[0], Nest(2, cat(*rest)))), level, op, parts)


def interval(low: TlaTerm, high: TlaTerm) -> TlaTerm:
    """The term `low..high`."""
    return TlaTerm(cat(within(low, RANGE + 1), "..", within(high, RANGE + 1)), RANGE, "..", (low, high))


def prefix(op: str, of: TlaTerm) -> TlaTerm:
    """The term `op of`."""
    level, least = _PREFIXES[op]
    return TlaTerm(cat(op, within(of, least)), level, op, (of,))


def both(parts: Sequence[TlaTerm]) -> TlaTerm:
    """The conjunction of the parts: true without any."""
    return _logic("/\\", TRUE, parts)


def either(parts: Sequence[TlaTerm]) -> TlaTerm:
    """The disjunction of the parts: false without any."""
    return _logic("\\/", FALSE, parts)


def _logic(op: str, empty: TlaTerm, parts: Sequence[TlaTerm]) -> TlaTerm:
    """A conjunction or disjunction; `empty` for no parts."""
    if len(parts) < 2:
        return parts[0] if parts else empty
    own = [within(part, LOGIC + 1) for part in parts]
    rest = [cat(LINE, f"{op} ", Nest(3, part)) for part in own[1:]]
    return TlaTerm(Group(cat(own[0], *rest)), LOGIC, op, tuple(parts))


def below(body: TlaTerm) -> Doc:
    """The body on its own lines: a long conjunction as a bulleted list.

    NOTE(bullets): bullets must be below each other, so only what begins a
    line may be such a list; and since a group may put it on one line after
    all, where the first bullet would take in the others, the parts are in
    parentheses between operators where they have to be.
    """
    if body.level == LOGIC and len(str(body)) > SHORT:
        return cat(LINE, bullets(body.op, [within(part, LOGIC + 1) for part in body.sides]))
    return cat(LINE, body.doc)


def bullets(op: str, parts: Iterable[Doc]) -> Doc:
    r"""A bulleted list with `/\` or `\/`."""
    return joined((LINE,), [cat(f"{op} ", Nest(3, part)) for part in parts])


def implies(left: TlaTerm, right: TlaTerm) -> TlaTerm:
    """The term `left => right`."""
    doc = Group(cat(within(left, LOGIC + 1), Nest(2, cat(" =>", LINE, within(right, LOGIC)))))
    return TlaTerm(doc, IMPLIES, "=>")


def negated(of: TlaTerm) -> TlaTerm:
    """The term `~of`."""
    return prefix("~", of)


def equal(left: TlaTerm, right: TlaTerm) -> TlaTerm:
    """The term `left = right`."""
    return infix("=", left, right)


def differs(left: TlaTerm, right: TlaTerm) -> TlaTerm:
    """The term `left # right`."""
    return infix("#", left, right)


def call(name: str, *args: TlaTerm) -> TlaTerm:
    """The term `name(a, b)`, or the bare name without arguments."""
    if not args:
        return atom(name)
    inside = joined((",", LINE), [arg.doc for arg in args])
    return TlaTerm(cat(f"{name}(", Group(Nest(2, cat(SOFT, inside))), ")"), APPLIED)


def applied(function: TlaTerm, key: TlaTerm) -> TlaTerm:
    """The term `function[key]`."""
    return TlaTerm(cat(within(function, APPLIED), "[", Nest(2, unbound(key)), "]"), APPLIED)


def unbound(part: TlaTerm) -> Doc:
    r"""A part inside brackets or braces, parenthesized if SANY would read `x \in S` as a binding."""
    return parens(part.doc) if BINDS.match(str(part)) else part.doc


def field(of: TlaTerm, name: str) -> TlaTerm:
    """The term `of.name`."""
    return TlaTerm(cat(within(of, APPLIED), f".{name}"), APPLIED)


def listed(left: str, parts: Iterable[Doc], right: str) -> TlaTerm:
    """Parts between brackets, with commas."""
    inside = joined((",", LINE), parts)
    return TlaTerm(Group(cat(left, Nest(len(left), inside), right)))


def a_set(parts: Iterable[TlaTerm]) -> TlaTerm:
    """The term `{a, b}`."""
    return listed("{", map(unbound, parts), "}")


def a_tuple(parts: Iterable[TlaTerm]) -> TlaTerm:
    """The term `<<a, b>>`."""
    sides = tuple(parts)
    return replace(listed("<<", [part.doc for part in sides], ">>"), sides=sides)


def names(listed: Sequence[str]) -> Doc:
    """The term `<<a, b>>` of names, as many on a line as there is room for."""
    lines = [""]
    for name in listed:
        if len(lines[-1]) + len(name) > SHORT:
            lines.append("")
        lines[-1] += f"{name}, "
    texts = [TextPiece(line.rstrip()) for line in lines[:-1]] + [TextPiece(lines[-1].removesuffix(", "))]
    return cat("<<", Nest(2, joined((LINE,), texts)), ">>")


def a_record(parts: Iterable[tuple[str, TlaTerm]]) -> TlaTerm:
    """The term `[f |-> a, g |-> b]`."""
    return listed("[", [cat(f"{name} |-> ", Nest(2, part.doc)) for name, part in parts], "]")


def bound_in(bound: str, domain: TlaTerm) -> Doc:
    r"""The binding `x \in S`."""
    return cat(f"{bound} \\in ", within(domain, RELATION + 1))


def a_function(bound: str, domain: TlaTerm, body: TlaTerm) -> TlaTerm:
    r"""The term `[x \in S |-> e]`."""
    head = cat("[", bound_in(bound, domain), " |->")
    return TlaTerm(Group(cat(head, Nest(2, cat(LINE, body.doc)), "]")))


def quantified(sign: str, bound: str, domain: TlaTerm, body: TlaTerm) -> TlaTerm:
    r"""The term `\A x \in S : e`, with `\A`, `\E` or `CHOOSE`."""
    return TlaTerm(Group(cat(f"{sign} ", bound_in(bound, domain), " :", Nest(2, below(body)))), OPEN)


def those(bound: str, domain: TlaTerm, test: TlaTerm) -> TlaTerm:
    r"""The term `{x \in S : P}`."""
    head = cat("{", bound_in(bound, domain), " :")
    return TlaTerm(Group(cat(head, Nest(2, cat(LINE, test.doc)), "}")))


def each(bound: str, domain: TlaTerm, body: TlaTerm) -> TlaTerm:
    r"""The term `{e : x \in S}`."""
    tail = cat(LINE, ": ", bound_in(bound, domain), "}")
    return TlaTerm(Group(cat("{", Nest(1, within(body, RELATION + 1)), Nest(2, tail))))


def union_of(bound: str, domain: TlaTerm, body: TlaTerm) -> TlaTerm:
    r"""The term `UNION {e : x \in S}`."""
    return prefix("UNION ", each(bound, domain, body))


def split(test: TlaTerm, then: Doc, other: Doc) -> Doc:
    """The term `IF test THEN a ELSE b`."""
    return cat("IF ", Nest(3, test.doc), LINE, "THEN ", Nest(5, then), LINE, "ELSE ", Nest(5, other))


def choice(test: TlaTerm, then: TlaTerm, other: TlaTerm) -> TlaTerm:
    """The expression `IF test THEN a ELSE b`."""
    return TlaTerm(Group(split(test, then.doc, other.doc)), OPEN)


def function_of(name: str, body: TlaTerm) -> TlaTerm:
    """The term `LAMBDA name : body`."""
    return TlaTerm(cat(f"LAMBDA {name} : ", body.doc), OPEN)


def definition(name: str, params: Sequence[str], body: TlaTerm) -> Doc:
    """The definition `name(a, b) == body`."""
    head = name + (f"({', '.join(params)})" if params else "") + " =="
    return Group(cat(head, Nest(2, below(body))))


def let(definitions: Sequence[Doc], body: Doc) -> Doc:
    """The term `LET … IN body`, each definition on a line of its own."""
    return cat("LET ", Nest(4, joined((LINE,), definitions)), LINE, "IN  ", Nest(4, body))


def let_term(definitions: Sequence[Doc], body: TlaTerm) -> TlaTerm:
    """The expression `LET … IN body`."""
    return TlaTerm(Group(let(definitions, body.doc)), OPEN) if definitions else body
