"""Quantifiers as code: written out once for each candidate when that is short, else as a loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.explicit.codegen.arithmetic import FALSE, TRUE, InstructionBlock, V, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.expressions.operations import is_before
from modelcheck.explicit.codegen.expressions.scene import Scene
from modelcheck.explicit.codegen.expressions.writer import SHORT, Writer
from modelcheck.explicit.codegen.values.conversion import CollectionCell, convert
from modelcheck.explicit.codegen.values.packing import (
    Mask,
    Never,
    Number,
    Packing,
    TaggedUnion,
    join_all,
    of_value,
    set_of,
)
from modelcheck.explicit.codegen.values.values import Live, anything, known_zero, number, truth
from modelcheck.explicit.codegen.values.walks import (
    Walk,
    all_of,
    from_to,
    of_case,
    of_case_in_mask,
    subsets,
    walk_of,
)
from spec.model.op import Op, Quantifier
from spec.model.values import members

ARGS = {Quantifier.ARGMAX, Quantifier.ARGMIN}


def candidates(w: Writer, domain: ir.Expr, case: int | None, at: Scene, *, in_order: bool = True) -> Walk:
    """The walk over a domain of a quantifier, parameter or choice; `case` keeps one case of a union."""
    match domain:
        case ir.Members(of=of):
            walk = all_of(
                at.fn, join_all(of_value(of, each, w.scope, w.unions) for each in members(of, w.scope))
            )
        case ir.Apply(op=Op.RANGE, args=(lo, hi)):
            walk = from_to(at.fn, w.value(lo, at), w.value(hi, at))
        case ir.Apply(op=Op.SUBSETS, args=(of,)):
            walk = subsets(at.fn, w.value(of, at))
        case _:
            whole = w.value(domain, at)
            match whole.packing:
                case Mask(TaggedUnion() as union) if case is not None:
                    return of_case_in_mask(at.fn, whole, union, case, in_order=in_order)
                case _:
                    walk = walk_of(at.fn, whole, in_order=in_order)
    return walk if case is None else of_case(at.fn, walk, case)


def _each(
    w: Writer,
    expr: ir.Bind,
    at: Scene,
    visit: Callable[[Live], None],
    after: InstructionBlock | None = None,
) -> None:
    """Emit `visit` for each member of a quantifier's domain that passes its `where`."""
    walk = candidates(w, expr.domain, expr.case, at, in_order=expr.quantifier in ARGS)

    def one(index: V) -> None:
        there, member = walk.candidate(index)
        with at.fn.when(there):
            at.slots[expr.slot] = member
            passes = TRUE if expr.where is None else w.test(expr.where, at)
            with at.fn.when(passes):
                visit(member)

    cost = w.costs.of(expr.body) + (w.costs.of(expr.where) if expr.where else 0)
    with at.fn.local_values():  # not every way to `after` comes by all of it
        rounds(w, walk, cost, at, one)
    if after is not None:
        at.fn.goto(after)
        at.fn.begin(after)


def rounds(w: Writer, walk: Walk, cost: int, at: Scene, one: Callable[[V], None]) -> None:
    """Emit `one(index)` for each candidate of a walk: unrolled where the body is cheap, else as a loop."""
    written_out = walk.count * (cost + 4) <= w.unrolling.of_quantifier
    at.fn.rounds(walk.count, one, written_out=written_out, limit=walk.limit)


def bind(w: Writer, expr: ir.Bind, at: Scene) -> Live:
    """Emit code for a quantifier: forall, exists, sum, set, min, max, argmin or argmax."""
    if expr.quantifier in {Quantifier.FORALL, Quantifier.EXISTS}:
        return truth(_quantified(w, expr, at, exists=expr.quantifier is Quantifier.EXISTS))
    walk = candidates(w, expr.domain, expr.case, at, in_order=False)
    of = _shape(w, expr, walk, at)
    match expr.quantifier:
        case Quantifier.SUM:
            return _sum(w, expr, at, walk, of)
        case Quantifier.SET:
            return _set(w, expr, at, walk, of)
        case _ if isinstance(of, Never):
            at.fn.leave_if(TRUE, at.error)  # what is written after this has a block of its own
            return known_zero(walk.packing if expr.quantifier in ARGS else of)
        case Quantifier.MAX | Quantifier.MIN:
            return _extreme(w, expr, at, of)
        case _:
            return _arg_extreme(w, expr, at, walk, of)


def _quantified(w: Writer, expr: ir.Bind, at: Scene, *, exists: bool) -> V:
    """Emit forall or exists; it stops at the deciding member unless a later one may be an error."""
    fn = at.fn
    parts = [expr.body] if expr.where is None else [expr.where, expr.body]
    if all(w.costs.is_harmless(part, SHORT) for part in parts):
        return _quantified_flat(w, expr, at, exists=exists)
    found = fn.cell(1, FALSE if exists else TRUE)
    after = fn.new("found") if all(map(w.costs.is_total, parts)) else None

    def visit(_: Live) -> None:
        holds = w.test(expr.body, at)
        with fn.when(holds if exists else fn.not_(holds)):
            fn.store(found, TRUE if exists else FALSE)
            if after is not None:
                fn.goto(after)

    _each(w, expr, at, visit, after)
    return fn.load(found)


def _quantified_flat(w: Writer, expr: ir.Bind, at: Scene, *, exists: bool) -> V:
    """Emit forall or exists without branches: every candidate is tested."""
    fn, walk = at.fn, candidates(w, expr.domain, expr.case, at, in_order=False)
    flat = walk.count * (w.costs.of(expr.body) + 4) <= w.unrolling.of_quantifier
    found = FALSE
    cell = None if flat else fn.cell(1, FALSE)

    def one(index: V) -> None:
        nonlocal found
        there, member = walk.candidate(index)
        if there.const == 0:
            return
        at.slots[expr.slot] = member
        passes = there if expr.where is None else fn.and_(there, w.test(expr.where, at))
        body = w.test(expr.body, at)
        hit = fn.and_(passes, body if exists else fn.not_(body))
        if cell is None:
            found = fn.or_(found, hit)
        else:
            fn.store(cell, fn.or_(fn.load(cell), hit))

    rounds(w, walk, w.costs.of(expr.body), at, one)
    hit_any = found if cell is None else fn.load(cell)
    return hit_any if exists else fn.not_(hit_any)


def _sum(w: Writer, expr: ir.Bind, at: Scene, walk: Walk, of: Packing) -> Live:
    """Emit the sum of the body over the members."""
    if not isinstance(of, Number):  # there is no candidate, or to ask for its value is an error
        of = Number(0, 0)
    fn = at.fn
    cell = fn.cell(64, i64(0))

    def visit(_: Live) -> None:
        fn.store(cell, fn.add(fn.load(cell), w.value(expr.body, at).v))

    _each(w, expr, at, visit)
    return number(fn.load(cell), min(0, of.lo * walk.count), max(0, of.hi * walk.count))


def _set(w: Writer, expr: ir.Bind, at: Scene, walk: Walk, of: Packing) -> Live:
    """Emit the set of the body's values."""
    found = CollectionCell(at.fn, set_of(of, walk.count))
    _each(w, expr, at, lambda _: found.add(convert(at.fn, w.value(expr.body, at), of)))
    return found.value


def _shape(w: Writer, expr: ir.Bind, walk: Walk, at: Scene) -> Packing:
    """The packing that has room for the value of the body for every candidate."""
    if walk.count == 0 or isinstance(walk.packing, Never):
        return Never()
    member = Live(walk.packing, anything(known_zero(walk.packing)))
    return w.shape(expr.body, replace(at, slots={**at.slots, expr.slot: member}))


def _extreme(w: Writer, expr: ir.Bind, at: Scene, of: Packing) -> Live:
    """Emit the greatest or least value of the body; no member is an error of the model."""
    fn = at.fn
    best, any_ = fn.cell(known_zero(of).v.bits, known_zero(of).v), fn.cell(1, FALSE)

    def visit(_: Live) -> None:
        score = convert(fn, w.value(expr.body, at), of)
        better = _is_better(expr, fn, Live(of, fn.load(best)), score)
        with fn.when(fn.or_(fn.not_(fn.load(any_)), better)):
            fn.store(best, score.v)
        fn.store(any_, TRUE)

    _each(w, expr, at, visit)
    fn.leave_if(fn.not_(fn.load(any_)), at.error)
    return Live(of, fn.load(best))


def _arg_extreme(w: Writer, expr: ir.Bind, at: Scene, walk: Walk, of: Packing) -> Live:
    """Emit the first member with the greatest or least body; no member, or a tie on a sort, is an error."""
    fn, none = at.fn, known_zero(walk.packing).v
    best, which = fn.cell(known_zero(of).v.bits, known_zero(of).v), fn.cell(none.bits, none)
    any_, tied = fn.cell(1, FALSE), fn.cell(1, FALSE)

    def visit(member: Live) -> None:
        score = convert(fn, w.value(expr.body, at), of)
        known_best = Live(of, fn.load(best))
        first = fn.not_(fn.load(any_))
        better = _is_better(expr, fn, known_best, score)
        fn.store(tied, fn.or_(fn.load(tied), fn.and_(fn.not_(first), fn.eq(known_best.v, score.v))))
        with fn.when(fn.or_(first, better)):
            fn.store(best, score.v)
            fn.store(which, member.v)
            fn.store(tied, FALSE)
        fn.store(any_, TRUE)

    _each(w, expr, at, visit)
    wrong = fn.not_(fn.load(any_))
    if t.tells_apart(expr.domain.type):
        wrong = fn.or_(wrong, fn.load(tied))
    fn.leave_if(wrong, at.error)
    return Live(walk.packing, fn.load(which))


def _is_better(expr: ir.Bind, fn: Function, best: Live, score: Live) -> V:
    """Emit the test whether `score` is strictly better than `best` for a min or max quantifier."""
    if expr.quantifier in {Quantifier.MIN, Quantifier.ARGMIN}:
        return is_before(fn, score, best)
    return is_before(fn, best, score)
