"""Expressions as code: each becomes, at the writer's position, a value in registers.

What is read from a state is read from its words, straight from its
place.  A quantifier is written out once for each candidate when that is
short, else it is a loop.  What can make an error of the model leaves for the
function's exit; everything else may be computed where its value is not used.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

import modelcheck.explicit.codegen.expressions.quantifiers as quantifiers
import spec.model.ir as ir
import spec.model.types as t
from modelcheck.explicit.codegen.arithmetic import FALSE, TRUE, V, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.expressions.costs import GENEROUS, Costs, LoopUnrolling
from modelcheck.explicit.codegen.expressions.operations import OperationWriter
from modelcheck.explicit.codegen.expressions.parameters import Parameters
from modelcheck.explicit.codegen.expressions.scene import Scene
from modelcheck.explicit.codegen.expressions.writer import SHORT
from modelcheck.explicit.codegen.states.in_use import greatest_of
from modelcheck.explicit.codegen.states.state import BitPlace, offset_of
from modelcheck.explicit.codegen.values.conversion import convert, same
from modelcheck.explicit.codegen.values.members import inserted, with_length
from modelcheck.explicit.codegen.values.packing import (
    Array,
    Never,
    Number,
    Optional,
    Packing,
    Product,
    Sequence,
    Slots,
    TaggedUnion,
    array,
    join,
    join_all,
    of_value,
    packing,
    parts_of,
    set_of,
)
from modelcheck.explicit.codegen.values.values import (
    Live,
    anything,
    assembled,
    cut_out,
    known,
    known_zero,
    option_of,
    packed_as,
    tag_of,
    tagged,
    truth,
)
from spec.model.op import Op
from spec.model.values import members
from spec.model.values_in_use import makes_value


class ExpressionWriter:
    """Emits code for the expressions of one model within one scope."""

    def __init__(
        self,
        model: ir.Model,
        scope: ir.Scope,
        parameters: Parameters,
        unrolling: LoopUnrolling = GENEROUS,
    ) -> None:
        self.model = model
        self.scope = scope
        self.parameters = parameters
        self.unions = {union.name: union for union in model.unions}
        self.costs = Costs(model, scope)
        self.unrolling = unrolling

    def packing(self, of: t.Type) -> Packing:
        """The packing of values of a type in a state. Raises TooWide for a type that has none."""
        return packing(of, self.scope, self.unions)

    def value(self, expr: ir.Expr, at: Scene) -> Live:
        """Emit code for an expression; its value is wrapped as an option where the type is one."""
        live = self._value(expr, at)
        is_bare = isinstance(expr.type, t.Option) and not isinstance(live.packing, Optional | Never)
        return option_of(at.fn, live) if is_bare else live

    def _value(self, expr: ir.Expr, at: Scene) -> Live:  # noqa: C901 - a dispatch over a union
        """Emit code for an expression, whose value may be bare where its type is an option."""
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
                return truth(self._junction(TRUE, parts, at, ends=FALSE))
            case ir.Or(parts=parts):
                return truth(self._junction(FALSE, parts, at, ends=TRUE))
            case ir.Implies(left=left, right=right):
                refused = at.fn.not_(self.test(left, at))
                return truth(self._junction(refused, (right,), at, ends=TRUE))
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
        """Emit code for a condition; the result has one bit."""
        return self.value(expr, at).v

    # ------------------------------------------------------------------- places

    def place(self, expr: ir.Expr, at: Scene) -> BitPlace | None:
        """The place in the state of a variable, or of a part of one; None for other expressions."""
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
        """Emit the index of a key in a map; code that finds none jumps to the scene's error block."""
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

    def _junction(self, so_far: V, parts: tuple[ir.Expr, ...], at: Scene, *, ends: V) -> V:
        """Emit `and` or `or` with short circuit: `ends` is the value that decides it, FALSE or TRUE."""
        fn = at.fn
        for part in parts:
            if so_far.const == ends.const:
                break
            if so_far.const is not None or self.costs.is_harmless(part, SHORT):
                join_both = fn.or_ if ends is TRUE else fn.and_
                so_far = join_both(so_far, self.test(part, at))
            else:
                cell = fn.cell(1, ends)
                with fn.when(fn.not_(so_far) if ends is TRUE else so_far):
                    fn.store(cell, self.test(part, at))
                so_far = fn.load(cell)
        return so_far

    def _choice(self, expr: ir.If, at: Scene) -> Live:
        """Emit code for `if`: both branches and a select where they are cheap, else a jump."""
        fn, test = at.fn, self.test(expr.test, at)
        if test.const is not None:
            return self.value(expr.then if test.const else expr.other, at)
        if self.costs.is_harmless(expr.then, SHORT) and self.costs.is_harmless(expr.other, SHORT):
            then, other = self.value(expr.then, at), self.value(expr.other, at)
            both = join(then.packing, other.packing)
            return Live(both, fn.select(test, convert(fn, then, both).v, convert(fn, other, both).v))
        if_true, if_false, after = (fn.new(hint) for hint in ("then", "else", "after"))
        fn.fork(test, if_true, if_false)
        with fn.local_values():
            fn.begin(if_true)
            first, end_of_first = self.value(expr.then, at), fn.block
        with fn.local_values():
            fn.begin(if_false)
            second = self.value(expr.other, at)
            both = join(first.packing, second.packing)
            cell = fn.cell(known_zero(both).v.bits)
            fn.store(cell, convert(fn, second, both).v)
            fn.goto(after)
        with fn.local_values():
            fn.block = end_of_first  # only now is known what has room for both
            fn.store(cell, convert(fn, first, both).v)
            fn.goto(after)
        fn.begin(after)
        return Live(both, fn.load(cell))

    def shape(self, expr: ir.Expr, at: Scene) -> Packing:
        """The packing of an expression's value, found by emitting its code to a scratch function."""
        scratch = Function("scratch", [], "void")
        slots = {slot: Live(live.packing, anything(live)) for slot, live in at.slots.items()}
        now = replace(at.now, fn=scratch)
        before = None if at.before is None else replace(at.before, fn=scratch)
        scene = Scene(scratch, now, scratch.new("error"), slots, before, at.action, at.args)
        return self.value(expr, scene).packing

    def _did(self, expr: ir.Did, at: Scene) -> V:
        """Emit the test whether the step is of the action `expr` names, with these arguments."""
        if expr.action != at.action:
            return FALSE
        fn, holds = at.fn, TRUE
        for arg, given in zip(expr.args, at.args, strict=False):
            holds = fn.and_(holds, same(fn, self.value(arg, at), given))
        return holds

    # --------------------------------------------------------------- operations

    def _apply(self, expr: ir.Apply, at: Scene) -> Live:
        """Emit code for an operator applied to its arguments."""
        if expr.op is Op.LOOKUP:
            whole = self.value(expr.args[0], at)
            if isinstance(whole.packing, Never):
                return whole
            array = packed_as(whole, Array)
            offset = offset_of(at.fn, array, self.index(array, expr.args[1], at))
            return cut_out(at.fn, whole.v, offset, array.of)
        args = [self.value(arg, at) for arg in expr.args]
        found = OperationWriter(at.fn, at.error).value(expr, args)
        if at.before is not None and makes_value(expr, self.scope.unbounded):
            assert isinstance(expr.type, t.Nat)
            most = at.fn.call(64, greatest_of(expr.type.name), at.before.words)
            at.fn.leave_if(at.fn.at_most(found.v, most), at.error)
        return found

    def _map_of(self, expr: ir.MapOf, at: Scene) -> Live:
        """Emit code for a map literal `{key: value for …}`, unrolled over all keys."""
        if not isinstance(expr.type, t.Map):
            raise TypeError(f"{expr.type} is no map")
        keys = members(expr.type.key, self.scope)
        parts = []
        for key in keys:
            at.slots[expr.slot] = known(of_value(expr.type.key, key, self.scope, self.unions), key)
            parts.append(self.value(expr.body, at))
        made = array(expr.type.key, join_all(part.packing for part in parts), self.scope)
        return _of_parts(at.fn, made, parts)

    def _make(self, expr: ir.Make, at: Scene) -> Live:
        """Emit code for a literal of a record, tuple, union, set, bag or sequence."""
        fn, parts = at.fn, [self.value(part, at) for part in expr.parts]
        match expr.type:
            case t.Union():
                return self._case(expr, parts, at)
            case t.Set() | t.Bag():
                of, most = join_all(part.packing for part in parts), len(parts)
                repeated = isinstance(expr.type, t.Bag)
                whole = known_zero(Slots(of, most, repeated=True) if repeated else set_of(of, most))
                for part in parts:
                    whole = inserted(fn, whole, convert(fn, part, of))
                return whole
            case t.Seq():
                of = join_all(part.packing for part in parts)
                entries = Sequence(of, len(parts))
                placed = [(convert(fn, part, of), i * of.width) for i, part in enumerate(parts)]
                return with_length(fn, entries, assembled(fn, entries.width, placed), i64(len(parts)))
            case _:
                return _of_parts(fn, Product(tuple(part.packing for part in parts)), parts)

    def _case(self, expr: ir.Make, parts: list[Live], at: Scene) -> Live:
        """Emit a case of a union, with room for numbers beyond those a state can store."""
        declared, ordinal = self.packing(expr.type), expr.case
        if not isinstance(declared, TaggedUnion) or ordinal is None:
            raise TypeError(f"{expr.type} has no cases")
        pairs = zip(declared.cases[ordinal].parts, parts, strict=True)
        own = Product(tuple(join(each, part.packing) for each, part in pairs))
        union = TaggedUnion((*declared.cases[:ordinal], own, *declared.cases[ordinal + 1 :]))
        return Live(union, tagged(at.fn, union, ordinal, _of_parts(at.fn, own, parts).v))

    def _part(self, expr: ir.Part, at: Scene) -> Live:
        """Emit reading a field; one of the wrong case of a union is an error of the model."""
        whole, fn = self.value(expr.of, at), at.fn
        match whole.packing:
            case Never():
                return whole
            case Product() as product:
                return _part_of(fn, whole, product, expr.index)
            case TaggedUnion(cases):
                tag = tag_of(fn, whole)
                if expr.case is not None:
                    fn.leave_if(fn.ne(tag, i64(expr.case)), at.error)
                    return _part_of(fn, whole, cases[expr.case], expr.index)
                choices = [_part_of(fn, whole, case, expr.index) for case in cases]
                both = join_all(choice.packing for choice in choices)
                found = convert(fn, choices[-1], both).v
                for ordinal in reversed(range(len(cases) - 1)):
                    mine = convert(fn, choices[ordinal], both).v
                    found = fn.select(fn.eq(tag, i64(ordinal)), mine, found)
                return Live(both, found)
            case _:
                raise TypeError(f"{whole.packing} has no parts")


def _of_parts(fn: Function, packing: Product | Array, parts: list[Live]) -> Live:
    """Emit the value of a record, tuple or map from the values of its parts."""
    placed = [(convert(fn, p, of), at) for p, (of, at) in zip(parts, parts_of(packing), strict=True)]
    return Live(packing, assembled(fn, packing.width, placed))


def _part_of(fn: Function, whole: Live, packing: Product, index: int) -> Live:
    """Emit reading part `index` of a record or tuple, or of a case of a union."""
    return cut_out(fn, whole.v, packing.offsets[index], packing.parts[index])
