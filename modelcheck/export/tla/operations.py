"""The strict operations in TLA+, with the meaning that `spec/operators.py` gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import modelcheck.export.tla.terms as tla
import spec.ir as ir
import spec.types as t
from modelcheck.export.known import Reach
from modelcheck.export.tla.names import local
from modelcheck.export.tla.terms import TlaTerm
from modelcheck.export.tla.values import NONE, Values
from spec.derived import CoreRewriter
from spec.op import Op
from spec.pretty import cat

CORE = CoreRewriter(  # people read the module, and find there what they wrote; `NOT (a = b)` becomes `a # b`
    own={
        Op.NEG,
        Op.MIN2,
        Op.MAX2,
        Op.SUBSET,
        Op.INTERSECT,
        Op.ELEMENTS,
        Op.LEAST,
        Op.GREATEST,
    }
)
ONE = tla.number(1)
_RELATIONS = {
    Op.EQ: "=",
    Op.SUBSET: r"\subseteq",
}
_NOT = {"=": "#", "#": "=", r"\in": r"\notin", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_LIBRARY = {
    Op.TAKE: "Take",
    Op.DROP: "Drop",
    Op.AT: "At",
    Op.LAST: "Last",
    Op.COMMON: "CommonPrefix",
    Op.STARTS: "StartsWith",
    Op.COUNT: "CountIn",
}


class TlaOperations:
    """Writes operations on terms."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def _use(self, name: str, *args: TlaTerm) -> TlaTerm:
        return tla.call(self._values.library.use(name), *args)

    def apply(self, expr: ir.Apply, args: list[TlaTerm], reaches: Sequence[Reach | None]) -> TlaTerm:  # noqa: C901 - a dispatch
        """An operation on its arguments; `reaches` says how far those go that are numbers."""
        of = [arg.type for arg in expr.args]
        op = expr.op
        if op in _RELATIONS:
            return tla.infix(_RELATIONS[op], tla.RELATION, *args)
        if op in _LIBRARY:
            return self._use(_LIBRARY[op], *args)
        match op:
            case Op.NOT:
                return opposite(args[0])
            case Op.ADD | Op.SUB | Op.MUL | Op.NEG | Op.DIV | Op.MOD:
                return self._arithmetic(op, args, reaches)
            case Op.LT | Op.LE | Op.MIN2 | Op.MAX2:
                return self._compared(op, args, of)
            case Op.IN:
                return self._is_in(args, of[1])
            case Op.UNION | Op.MINUS | Op.INTERSECT:
                return self._of_sets(op, args, of[0])
            case Op.SIZE:
                return self.size(args[0], of[0])
            case Op.CONCAT:
                return self.joined(args[0], args[1], expr.args[1])
            case Op.INDEX:
                return tla.applied(args[0], plus_one(args[1]))
            case Op.LOOKUP:
                return lookup(*args)
            case Op.ELEMENTS:
                return self.members(args[0], of[0])
            case Op.THE:
                return self._use("The" if isinstance(of[0], t.Option) else "Only", args[0])
            case Op.LEAST | Op.GREATEST:
                inner = expr.type
                return self.extreme(args[0], inner, frozenset(), most=op is Op.GREATEST)
            case Op.SUBSETS:
                return TlaTerm(cat("SUBSET ", tla.within(args[0], tla.APPLIED)), tla.SETS)
            case Op.RANGE:
                return tla.infix_tight("..", tla.RANGE, *args)
            case _:
                raise TypeError(f"{op} has no meaning")

    def _arithmetic(self, op: Op, args: list[TlaTerm], reaches: Sequence[Reach | None]) -> TlaTerm:
        match op:
            case Op.ADD:
                return tla.chain("+", tla.PLUS, args)
            case Op.SUB:
                return tla.infix("-", tla.MINUS, *args)
            case Op.MUL:
                return self._use("Times", *args)
            case Op.NEG:
                return TlaTerm(cat("-", tla.within(args[0], tla.TIMES)), tla.NEGATIVE)
            case _:
                by = reaches[1]
                if by is None or by.least is None or by.least <= 0:
                    return self._use("Quotient" if op is Op.DIV else "Remainder", *args)
                if op is Op.DIV:
                    return tla.infix(r"\div", tla.TIMES, *args)
                return replace(tla.infix("%", tla.MINUS, *args), level=tla.PLUS)  # it binds as loosely

    def _compared(self, op: Op, args: list[TlaTerm], of: Sequence[t.Type]) -> TlaTerm:
        a, b = args
        numbers = all(map(t.is_number, of))
        less = self._values.less(next((x for x in of if not t.is_number(x)), of[0]))
        match op:
            case Op.LT:
                return less(a, b)
            case Op.LE:
                return tla.infix("<=", tla.RELATION, a, b) if numbers else opposite(less(b, a))
            case Op.MIN2:
                return self._use("Min", a, b) if numbers else tla.choice(less(b, a), b, a)
            case _:
                return self._use("Max", a, b) if numbers else tla.choice(less(a, b), b, a)

    def _is_in(self, args: list[TlaTerm], of: t.Type) -> TlaTerm:
        value, whole = args
        if isinstance(of, t.Option):
            return tla.equal(whole, value)
        return tla.infix(r"\in", tla.RELATION, value, self.members(whole, of))

    def _of_sets(self, op: Op, args: list[TlaTerm], of: t.Type) -> TlaTerm:
        match op, of:
            case Op.UNION, t.Bag():
                return self._use("BagUnion", *args)
            case Op.MINUS, t.Bag():
                return self._use("BagMinus", *args)
            case Op.UNION, _:
                return tla.chain(r"\cup", tla.SETS, args)
            case Op.MINUS, _:
                return tla.infix("\\", tla.SETS, *args)
            case _:
                return tla.chain(r"\cap", tla.SETS, args)

    # ------------------------------------------------------------------ collections

    def members(self, of: TlaTerm, type_: t.Type) -> TlaTerm:
        """The members of a collection as a set."""
        match type_:
            case t.Seq():
                return self._use("Entries", of)
            case t.Bag():
                return tla.domain(of)
            case t.Option():
                return self._use("Present", of)
            case _:
                return of

    def in_order(self, of: TlaTerm, type_: t.Type) -> TlaTerm:
        """The members of a collection as a sequence, in canonical order."""
        match type_:
            case t.Seq():
                return of
            case t.Option():
                none = tla.equal(of, NONE)
                return tla.choice(none, tla.a_tuple([]), tla.a_tuple([of]))
            case t.Set(inner) | t.Bag(inner):
                return self._values.ascending(self.members(of, type_), inner)
            case _:
                raise TypeError(f"{type_} has no members")

    def positions(self, entries: TlaTerm) -> TlaTerm:
        """The positions of a sequence, from 1."""
        return tla.infix_tight("..", tla.RANGE, ONE, tla.call("Len", entries))

    def size(self, of: TlaTerm, type_: t.Type) -> TlaTerm:
        """How many elements a collection has."""
        match type_:
            case t.Seq():
                return tla.call("Len", of)
            case t.Bag():
                return self._use("BagSize", of)
            case t.Option():
                return tla.choice(tla.equal(of, NONE), tla.number(0), ONE)
            case _:
                return tla.call("Cardinality", of)

    def bag_of(self, parts: Sequence[TlaTerm]) -> TlaTerm:
        """The bag of some elements."""
        match parts:
            case []:
                return self._use("EmptyBag")
            case [only]:
                return tla.infix(":>", tla.JOINED + 1, only, ONE)
            case _:
                return self._use("BagOf", tla.a_tuple(parts))

    def joined(self, a: TlaTerm, b: TlaTerm, last: ir.Expr) -> TlaTerm:
        """One sequence after the other; a single entry is appended."""
        if isinstance(last, ir.Make) and len(last.parts) == 1:
            return tla.call("Append", a, b.sides[0])
        return tla.chain(r"\o", tla.TIMES, [a, b])

    def extreme(self, of: TlaTerm, type_: t.Type, taken: frozenset[str], *, most: bool) -> TlaTerm:
        """The greatest or the least of a set."""
        if t.is_number(type_):
            return self._use("Greatest" if most else "Least", of)
        taken |= self._values.taken
        if not of.is_atom:
            among = local("among", taken)
            found = self.extreme(tla.atom(among), type_, taken | {among}, most=most)
            return tla.let_term([tla.definition(among, (), of)], found)
        one, other = local("one", taken), local("other", taken)
        less = self._values.less(type_)
        a, b = tla.atom(one), tla.atom(other)
        beaten = less(a, b) if most else less(b, a)
        test = tla.quantified(r"\A", other, of, opposite(beaten))
        return tla.quantified("CHOOSE", one, of, test)

    def first(self, of: TlaTerm, type_: t.Type, taken: frozenset[str]) -> TlaTerm:
        """The first member in canonical order; an error where that distinguishes a sort's members."""
        if t.names_sort(type_):
            return self._use("Only", of)
        return self.extreme(of, type_, taken, most=False)


def opposite(of: TlaTerm) -> TlaTerm:
    """`~of`, as the opposite relation where there is one."""
    if of.op in _NOT:
        left, right = of.sides
        return tla.infix(_NOT[of.op], tla.RELATION, left, right)
    if of.op == "~":
        return of.sides[0]
    return tla.negated(of)


def plus_one(of: TlaTerm) -> TlaTerm:
    """An offset from 0 as one from 1: `n - 1` becomes `n`."""
    text = str(of)
    if text.isdecimal():
        return tla.number(int(text) + 1)
    if of.op == "-" and str(of.sides[-1]) == "1":
        return of.sides[0]
    return tla.chain("+", tla.PLUS, [of, ONE])


def lookup(of: TlaTerm, key: TlaTerm) -> TlaTerm:
    """The value of a map for a key."""
    return tla.applied(of, key)
