"""Expressions as code: each becomes, where the writer stands, a value in registers.

What is read from a state is read from its words, straight from the place where
it stands.  A quantifier is written out once for each candidate when that is
short, else it is a loop.  What can make an error of the model leaves for the
function's exit; everything else may be computed where its value is not used.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

import modelcheck.explicit.codegen.quantifiers as quantifiers
import spec.ir as ir
import spec.types as t
from modelcheck.explicit.codegen.arithmetic import FALSE, TRUE, V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.conversion import convert, same
from modelcheck.explicit.codegen.costs import Costs
from modelcheck.explicit.codegen.members import inserted
from modelcheck.explicit.codegen.operations import OperationWriter
from modelcheck.explicit.codegen.packing import (
    Array,
    Never,
    Number,
    Optional,
    Packing,
    Product,
    Sequence,
    Slots,
    Tagged,
    array,
    join,
    join_all,
    of_value,
    packing,
    set_of,
)
from modelcheck.explicit.codegen.parameters import Parameters
from modelcheck.explicit.codegen.scene import Scene
from modelcheck.explicit.codegen.state import BitPlace
from modelcheck.explicit.codegen.values import (
    Live,
    anything,
    assembled,
    container,
    cut_out,
    known,
    known_zero,
    option_of,
    tag_of,
    truth,
)
from modelcheck.explicit.codegen.writer import SHORT
from spec.op import Op
from spec.values import members


class Expressions:
    """Writes the expressions of one model within one scope."""

    def __init__(self, model: ir.Model, scope: ir.Scope, parameters: Parameters) -> None:
        self.model = model
        self.scope = scope
        self.parameters = parameters
        self.unions = {union.name: union for union in model.unions}
        self.costs = Costs(model, scope)

    def packing(self, of: t.Type) -> Packing:
        """The packing of a type that can be stored."""
        return packing(of, self.scope, self.unions)

    def value(self, expr: ir.Expr, at: Scene) -> Live:
        """The value of an expression; a value where an option is expected is one that has it."""
        live = self._value(expr, at)
        is_bare = isinstance(expr.type, t.Option) and not isinstance(live.packing, Optional | Never)
        return option_of(at.fn, live) if is_bare else live

    def _value(self, expr: ir.Expr, at: Scene) -> Live:  # noqa: C901 - a dispatch over a union
        match expr:
            case ir.Const(type=of, value=given):
                return known(of_value(of, given, self.scope, self.unions), given)
            case ir.Config():
                return self.parameters.config(at.fn, expr)
            case ir.Var() | ir.Part() | ir.Apply(op=Op.LOOKUP) if (place := self.place(expr, at)) is not None:
                return at.now.get(place)
            case ir.Local(slot=slot):
                return at.slots[slot]
            case ir.Apply():
                return self._apply(expr, at)
            case ir.And(parts=parts):
                return truth(self._all(parts, at))
            case ir.Or(parts=parts):
                return truth(self._any(parts, at))
            case ir.Implies(left=left, right=right):
                refused = at.fn.not_(self.test(left, at))
                return truth(self._or(refused, right, at))
            case ir.If():
                return self._choice(expr, at)
            case ir.Let(slot=slot):
                at.slots[slot] = self.value(expr.value, at)
                return self.value(expr.body, at)
            case ir.Members(of=of):
                everything = members(of, self.scope)
                return known(of_value(t.Set(of), everything, self.scope, self.unions), everything)
            case ir.Bind():
                return quantifiers.bind(self, expr, at)
            case ir.MapOf():
                return self._map_of(expr, at)
            case ir.Make():
                return self._make(expr, at)
            case ir.Part():
                return self._part(expr, at)
            case ir.Is(of=of, case=case):
                return truth(at.fn.eq(tag_of(at.fn, self.value(of, at)), i64(case)))
            case ir.Old(of=of):
                if at.before is None:
                    raise TypeError("there is nothing before")
                return self.value(of, replace(at, now=at.before))
            case ir.Did():
                return truth(self._did(expr, at))
            case ir.Fit():
                raise TypeError("a value is stored by a statement alone")
            case ir.Var():
                raise TypeError("a variable has a place")
            case _:
                assert_never(expr)

    def test(self, expr: ir.Expr, at: Scene) -> V:
        """The value of a condition."""
        return self.value(expr, at).v

    # ------------------------------------------------------------------- places

    def place(self, expr: ir.Expr, at: Scene) -> BitPlace | None:
        """Where in the state the value stands, if it is a part of a variable."""
        match expr:
            case ir.Var(index=index):
                return at.now.variable(index)
            case ir.Part(of=of, index=index) if isinstance(of.type, t.Record | t.Tuple):
                whole = self.place(of, at)
                return None if whole is None else at.now.part(whole, index)
            case ir.Apply(op=Op.LOOKUP, args=(of, key)):
                whole = self.place(of, at)
                return None if whole is None else at.now.item(whole, self.index(whole.packing, key, at))
            case _:
                return None

    def index(self, of: Packing, key: ir.Expr, at: Scene) -> V:
        """Which item of a map belongs to a key; an error of the model if none does."""
        if not isinstance(of, Array):
            raise TypeError(f"{of} is no map")
        live, fn = self.value(key, at), at.fn
        found = fn.sub(fn.resize(live.v, 64), i64(of.lo))
        inside = TRUE
        if isinstance(live.packing, Number):
            if live.packing.lo < of.lo:
                inside = fn.at_most(i64(of.lo), live.v)
            if live.packing.hi >= of.lo + of.count:
                inside = fn.and_(inside, fn.less(found, i64(of.count)))
        fn.leave_if(fn.not_(inside), at.error)
        return found

    # -------------------------------------------------------------------- logic

    def _all(self, parts: tuple[ir.Expr, ...], at: Scene) -> V:
        holds = TRUE
        for part in parts:
            holds = self._and(holds, part, at)
        return holds

    def _any(self, parts: tuple[ir.Expr, ...], at: Scene) -> V:
        holds = FALSE
        for part in parts:
            holds = self._or(holds, part, at)
        return holds

    def _and(self, left: V, right: ir.Expr, at: Scene) -> V:
        if left.const == 0:
            return FALSE
        if left.const == 1 or self.costs.is_harmless(right, SHORT):
            return at.fn.and_(left, self.test(right, at))
        cell = at.fn.cell(1, FALSE)
        with at.fn.when(left):
            at.fn.store(cell, self.test(right, at))
        return at.fn.load(cell)

    def _or(self, left: V, right: ir.Expr, at: Scene) -> V:
        if left.const == 1:
            return TRUE
        if left.const == 0 or self.costs.is_harmless(right, SHORT):
            return at.fn.or_(left, self.test(right, at))
        cell = at.fn.cell(1, TRUE)
        with at.fn.when(at.fn.not_(left)):
            at.fn.store(cell, self.test(right, at))
        return at.fn.load(cell)

    def _choice(self, expr: ir.If, at: Scene) -> Live:
        fn, test = at.fn, self.test(expr.test, at)
        if test.const is not None:
            return self.value(expr.then if test.const else expr.other, at)
        if self.costs.is_harmless(expr.then, SHORT) and self.costs.is_harmless(expr.other, SHORT):
            then, other = self.value(expr.then, at), self.value(expr.other, at)
            both = join(then.packing, other.packing)
            return Live(both, fn.select(test, convert(fn, then, both).v, convert(fn, other, both).v))
        both = join(self.shape(expr.then, at), self.shape(expr.other, at))
        cell = fn.cell(known_zero(both).v.bits)
        yes, no, after = fn.new("then"), fn.new("else"), fn.new("after")
        fn.fork(test, yes, no)
        for block, branch in ((yes, expr.then), (no, expr.other)):
            with fn.remembering():
                fn.begin(block)
                fn.store(cell, convert(fn, self.value(branch, at), both).v)
            fn.goto(after)
        fn.begin(after)
        return Live(both, fn.load(cell))

    def shape(self, expr: ir.Expr, at: Scene) -> Packing:
        """The packing that an expression's value will have, found by writing it to a scratch function."""
        scratch = Function("scratch", [], "void")
        slots = {slot: Live(live.packing, anything(live)) for slot, live in at.slots.items()}
        before = None if at.before is None else replace(at.before, fn=scratch)
        scene = replace(
            at,
            fn=scratch,
            now=replace(at.now, fn=scratch),
            before=before,
            error=scratch.new("error"),
            slots=slots,
        )
        return self.value(expr, scene).packing

    def _did(self, expr: ir.Did, at: Scene) -> V:
        if expr.action != at.action:
            return FALSE
        fn, holds = at.fn, TRUE
        for arg, given in zip(expr.args, at.args, strict=False):
            holds = fn.and_(holds, same(fn, self.value(arg, at), given))
        return holds

    # --------------------------------------------------------------- operations

    def _apply(self, expr: ir.Apply, at: Scene) -> Live:
        if expr.op is Op.LOOKUP:
            whole = self.value(expr.args[0], at)
            if isinstance(whole.packing, Never):
                return whole
            if not isinstance(whole.packing, Array):
                raise TypeError(f"{whole.packing} is no map")
            index = self.index(whole.packing, expr.args[1], at)
            last = i64(whole.packing.count - 1)
            offset = at.fn.mul(at.fn.sub(last, index), i64(whole.packing.of.width))
            return cut_out(at.fn, whole.v, offset, whole.packing.of)
        args = [self.value(arg, at) for arg in expr.args]
        return OperationWriter(at.fn, at.error).value(expr, args)

    def _map_of(self, expr: ir.MapOf, at: Scene) -> Live:
        if not isinstance(expr.type, t.Map):
            raise TypeError(f"{expr.type} is no map")
        keys = members(expr.type.key, self.scope)
        parts = []
        for key in keys:
            at.slots[expr.slot] = known(of_value(expr.type.key, key, self.scope, self.unions), key)
            parts.append(self.value(expr.body, at))
        made = array(expr.type.key, join_all(part.packing for part in parts), self.scope)
        placed = [(convert(at.fn, part, made.of), made.offset(i)) for i, part in enumerate(parts)]
        return Live(made, assembled(at.fn, made.width, placed))

    def _make(self, expr: ir.Make, at: Scene) -> Live:
        fn, parts = at.fn, [self.value(part, at) for part in expr.parts]
        match expr.type:
            case t.Union():
                return self._case(expr, parts, at)
            case t.Set() | t.Bag():
                of = join_all(part.packing for part in parts)
                repeated = isinstance(expr.type, t.Bag)
                made = Slots(of, len(parts), repeated=True) if repeated else set_of(of, len(parts))
                whole = known_zero(made)
                for part in parts:
                    whole = inserted(fn, whole, convert(fn, part, of))
                return whole
            case t.Seq():
                of = join_all(part.packing for part in parts)
                entries = Sequence(of, len(parts))
                placed = [(convert(fn, part, of), i * of.width) for i, part in enumerate(parts)]
                whole_code = fn.or_(
                    assembled(fn, entries.width, placed),
                    const(container(entries.width), len(parts) << entries.body),
                )
                return Live(entries, whole_code)
            case _:
                product = Product(tuple(part.packing for part in parts))
                return Live(
                    product, assembled(fn, product.width, list(zip(parts, product.offsets, strict=True)))
                )

    def _case(self, expr: ir.Make, parts: list[Live], at: Scene) -> Live:
        """A case of a union; its numbers may be beyond what the union can store, so they have room."""
        declared, ordinal = self.packing(expr.type), expr.case
        if not isinstance(declared, Tagged) or ordinal is None:
            raise TypeError(f"{expr.type} has no cases")
        own = Product(
            tuple(join(d, part.packing) for d, part in zip(declared.cases[ordinal].parts, parts, strict=True))
        )
        union = Tagged((*declared.cases[:ordinal], own, *declared.cases[ordinal + 1 :]))
        placed = [(convert(at.fn, p, q), o) for p, q, o in zip(parts, own.parts, own.offsets, strict=True)]
        whole = assembled(at.fn, union.width, placed)
        return Live(union, at.fn.or_(whole, const(whole.bits, ordinal << union.payload)))

    def _part(self, expr: ir.Part, at: Scene) -> Live:
        whole, fn = self.value(expr.of, at), at.fn
        match whole.packing:
            case Never():
                return whole
            case Product(parts) as product:
                return cut_out(fn, whole.v, product.offsets[expr.index], parts[expr.index])
            case Tagged(cases):
                tag = tag_of(fn, whole)
                if expr.case is not None:
                    fn.leave_if(fn.ne(tag, i64(expr.case)), at.error)
                    own = cases[expr.case]
                    return cut_out(fn, whole.v, own.offsets[expr.index], own.parts[expr.index])
                choices = [cut_out(fn, whole.v, c.offsets[expr.index], c.parts[expr.index]) for c in cases]
                both = join_all(choice.packing for choice in choices)
                found = convert(fn, choices[-1], both).v
                for ordinal in reversed(range(len(cases) - 1)):
                    mine = convert(fn, choices[ordinal], both).v
                    found = fn.select(fn.eq(tag, i64(ordinal)), mine, found)
                return Live(both, found)
            case _:
                raise TypeError(f"{whole.packing} has no parts")
