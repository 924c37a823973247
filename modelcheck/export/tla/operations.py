"""The strict operations in TLA+, with the meaning that `spec/meaning/operators.py` gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import modelcheck.export.tla.terms as tla
import spec.model.ir as ir
import spec.model.types as t
from modelcheck.export.known import Reach
from modelcheck.export.tla.names import local
from modelcheck.export.tla.terms import TlaTerm
from modelcheck.export.tla.values import NONE, Values
from spec.model.derived import CoreRewriter
from spec.model.op import Op

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
_INFIX = {
    Op.EQ: "=",
    Op.SUBSET: r"\subseteq",
    Op.ADD: "+",
    Op.SUB: "-",
    Op.UNION: r"\cup",
    Op.MINUS: "\\",
    Op.INTERSECT: r"\cap",
}
_OPPOSITE = {"=": "#", "#": "=", r"\in": r"\notin", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_LIBRARY = {
    Op.MUL: "Times",
    Op.TAKE: "Take",
    Op.DROP: "Drop",
    Op.AT: "At",
    Op.LAST: "Last",
    Op.COMMON: "CommonPrefix",
    Op.STARTS: "StartsWith",
    Op.COUNT: "CountIn",
}
_OF_NUMBERS = {Op.DIV: "Quotient", Op.MOD: "Remainder", Op.MIN2: "Min", Op.MAX2: "Max"}
_OF_BAGS = {Op.UNION: "BagUnion", Op.MINUS: "BagMinus"}


class TlaOperations(Values):
    """Writes types, values and operators in TLA+."""

    def apply(self, expr: ir.Apply, args: list[TlaTerm], by: Reach) -> TlaTerm:  # noqa: C901 - a dispatch
        """An operator applied to arguments; `by` is the interval of a divisor."""
        op, of, types = expr.op, expr.args[0].type, [arg.type for arg in expr.args]
        match op:
            case Op.UNION | Op.MINUS if isinstance(of, t.Bag):
                return self.use(_OF_BAGS[op], *args)
            case _ if op in _INFIX:
                return tla.infix(_INFIX[op], *args)
            case _ if op in _LIBRARY:
                return self.use(_LIBRARY[op], *args)
            case Op.NOT:
                return opposite(args[0])
            case Op.NEG:
                return tla.prefix("-", args[0])
            case Op.DIV | Op.MOD if not by.within(Reach(1)):
                return self.use(_OF_NUMBERS[op], *args)
            case Op.DIV:
                return tla.infix(r"\div", *args)
            case Op.MOD:
                return replace(tla.infix("%", *args), level=tla.PLUS)  # it binds as loosely
            case Op.MIN2 | Op.MAX2 if all(map(t.is_number, types)):
                return self.use(_OF_NUMBERS[op], *args)
            case Op.LE if all(map(t.is_number, types)):
                return tla.infix("<=", *args)
            case Op.LT | Op.LE | Op.MIN2 | Op.MAX2:
                return self._compared(op, args, next((x for x in types if not t.is_number(x)), of))
            case Op.IN if isinstance(types[1], t.Option):
                return tla.equal(args[1], args[0])
            case Op.IN:
                return tla.infix(r"\in", args[0], self.members(args[1], types[1]))
            case Op.SIZE:
                return self.size(args[0], of)
            case Op.CONCAT:
                last = expr.args[1]
                if isinstance(last, ir.Make) and len(last.parts) == 1:
                    return tla.call("Append", args[0], args[1].sides[0])
                return tla.infix(r"\o", *args)
            case Op.INDEX:
                return tla.applied(args[0], plus_one(args[1]))
            case Op.LOOKUP:
                return tla.applied(*args)
            case Op.ELEMENTS:
                return self.members(args[0], of)
            case Op.THE:
                return self.use("The" if isinstance(of, t.Option) else "Only", args[0])
            case Op.LEAST | Op.GREATEST:
                return self.extreme(args[0], expr.type, frozenset(), most=op is Op.GREATEST)
            case Op.SUBSETS:
                return tla.prefix("SUBSET ", args[0])
            case Op.RANGE:
                return tla.interval(*args)
            case _:
                raise TypeError(f"{op} has no meaning")

    def _compared(self, op: Op, args: list[TlaTerm], of: t.Type) -> TlaTerm:
        """A comparison, by the canonical order where the language has no other."""
        a, b = args
        match op:
            case Op.LT:
                return self.less(of, a, b)
            case Op.LE:
                return opposite(self.less(of, b, a))
            case Op.MIN2:
                return tla.choice(self.less(of, b, a), b, a)
            case _:
                return tla.choice(self.less(of, a, b), b, a)

    # ------------------------------------------------------------------ collections

    def members(self, of: TlaTerm, type_: t.Type) -> TlaTerm:
        """The members of a collection as a set."""
        match type_:
            case t.Seq():
                return self.use("Entries", of)
            case t.Bag():
                return tla.prefix("DOMAIN ", of)
            case t.Option():
                return self.use("Present", of)
            case _:
                return of

    def entries(self, of: TlaTerm, type_: t.Type) -> TlaTerm:
        """The members of a collection as a sequence in canonical order."""
        match type_:
            case t.Seq():
                return of
            case t.Option():
                none = tla.equal(of, NONE)
                return tla.choice(none, tla.a_tuple([]), tla.a_tuple([of]))
            case t.Set(inner) | t.Bag(inner):
                return self.ascending(self.members(of, type_), inner)
            case _:
                raise TypeError(f"{type_} has no members")

    def positions(self, entries: TlaTerm) -> TlaTerm:
        """The positions of a sequence, from 1."""
        return tla.interval(ONE, tla.call("Len", entries))

    def size(self, of: TlaTerm, type_: t.Type) -> TlaTerm:
        """The number of elements of a collection."""
        match type_:
            case t.Seq():
                return tla.call("Len", of)
            case t.Bag():
                return self.use("BagSize", of)
            case t.Option():
                return tla.choice(tla.equal(of, NONE), tla.number(0), ONE)
            case _:
                return tla.call("Cardinality", of)

    def bag_of(self, parts: Sequence[TlaTerm]) -> TlaTerm:
        """The bag of these elements."""
        match parts:
            case []:
                return self.use("EmptyBag")
            case [only]:
                return tla.infix(":>", only, ONE)
            case _:
                return self.use("BagOf", tla.a_tuple(parts))

    def extreme(self, of: TlaTerm, type_: t.Type, taken: frozenset[str], *, most: bool) -> TlaTerm:
        """The greatest or least member of a set."""
        if t.is_number(type_):
            return self.use("Greatest" if most else "Least", of)
        taken |= self.taken
        if not of.is_atom:
            among = local("among", taken)
            found = self.extreme(tla.atom(among), type_, taken | {among}, most=most)
            return tla.let_term([tla.definition(among, (), of)], found)
        one, other = local("one", taken), local("other", taken)
        pair = (tla.atom(one), tla.atom(other))
        beaten = self.less(type_, *(pair if most else reversed(pair)))
        test = tla.quantified(r"\A", other, of, opposite(beaten))
        return tla.quantified("CHOOSE", one, of, test)

    def first(self, of: TlaTerm, type_: t.Type, taken: frozenset[str]) -> TlaTerm:
        """The first member in canonical order; TLC stops if that distinguishes a sort's members."""
        if t.names_sort(type_):
            return self.use("Only", of)
        return self.extreme(of, type_, taken, most=False)


def opposite(of: TlaTerm) -> TlaTerm:
    """The negation, as the opposite relation if there is one."""
    if of.op in _OPPOSITE:
        return tla.infix(_OPPOSITE[of.op], *of.sides)
    return of.sides[0] if of.op == "~" else tla.negated(of)


def plus_one(of: TlaTerm) -> TlaTerm:
    """An index from 0 as one from 1: `n - 1` becomes `n`."""
    text = str(of)
    if text.isdecimal():
        return tla.number(int(text) + 1)
    if of.op == "-" and len(of.sides) == 2 and str(of.sides[1]) == "1":
        return of.sides[0]
    return tla.infix("+", of, ONE)
