"""What is asked of every new state, as code: which properties are broken there, or reached."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.explicit.codegen.arithmetic import V, const, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.expressions.expressions import ExpressionWriter
from modelcheck.explicit.codegen.expressions.scene import Scene
from modelcheck.explicit.codegen.search.context import Context
from modelcheck.explicit.codegen.search.graphs import BEGINS, UNSERVED
from modelcheck.explicit.codegen.states.layout import PackedLayout
from modelcheck.explicit.codegen.states.state import StateBits
from modelcheck.explicit.codegen.values.packing import TooWide
from spec.model.ir import Expr, Property, PropertyKind

MAY_END = "may_end"
MOST = 63  # properties that are asked of states; the last bit is for an error
STATE = ("ptr noalias readonly", "state")
FAILS = f"ret {const(64, 1 << 63)}"


def claims(context: Context, expressions: ExpressionWriter, layout: PackedLayout) -> list[Function]:
    """Write `found`: which properties a state breaks (a `reachable`: satisfies), a bit for each.

    Bit 63 is for an error of the model.
    """
    properties = (*context.of_states, *context.of_runs)
    if len(context.noted) > MOST:
        raise TooWide(f"{len(context.of_states)} properties of states, more than {MOST}")
    asked = [_one(number, prop, expressions, layout) for number, prop in enumerate(context.of_states)]
    asked += [_error(number, prop, expressions, layout) for number, prop in enumerate(context.of_runs)]
    fn = Function("found", [STATE], "i64")
    every = fn.cell(64, i64(0))
    for prop, each in zip(properties, asked, strict=True):
        with fn.when(expressions.parameters.asks(fn, prop)):
            fn.store(every, fn.or_(fn.load(every), fn.call(64, each.name, "%state")))
    fn.end(f"ret {fn.load(every)}")
    return [*asked, fn, *_witnessed(context, expressions, layout)]


def _witnessed(context: Context, expressions: ExpressionWriter, layout: PackedLayout) -> list[Function]:
    """Write `witnessed`: which of the conditions without a witness a state satisfies, a bit for each.

    Its bits are those of `found` that follow the properties of states.  An error is that of the
    property, which reports it.  It is called until each condition has a witness, so it is kept out of
    the way of what is called for each state.
    """
    if not context.witnesses:
        return []
    asked = []
    for number, condition in enumerate(context.witnesses, len(context.of_states)):
        asked.append(_one(number, condition, expressions, layout, error="ret i64 0", name="witness"))
    fn = Function("witnessed", [STATE, ("i64", "open")], "i64", "nounwind noinline cold")
    every = fn.cell(64, i64(0))
    for number, each in enumerate(asked, len(context.of_states)):
        with fn.when(fn.is_set(fn.and_(V(64, "%open"), i64(1 << number)))):
            fn.store(every, fn.or_(fn.load(every), fn.call(64, each.name, "%state")))
    fn.end(f"ret {fn.load(every)}")
    return [*asked, fn]


def goals(
    properties: Sequence[Property], expressions: ExpressionWriter, layout: PackedLayout
) -> list[Function]:
    """Write `goal`: whether a state satisfies the goal of the `recoverable` number `which`.

    None of the states makes an error: the search would have ended with it.
    """
    fn = Function("goal", [STATE, ("i64", "which")], "i64")
    scene = Scene(fn, _copy_of_state(fn, layout), fn.new("error"))
    for number, prop in enumerate(properties):
        if prop.expr is None:
            raise TypeError(f"{prop.name} has no goal")
        with fn.when(fn.eq(V(64, "%which"), i64(number))):
            holds = expressions.test(prop.expr, scene)
            fn.end(f"ret {fn.resize(holds, 64)}")
    fn.end("ret i64 0")
    fn.exit(scene.error, "ret i64 0")
    return [fn]


def asks(name: str, expr: Expr, expressions: ExpressionWriter, layout: PackedLayout) -> Function:
    """Write the LLVM function `name`: whether an expression is true in a state; 2 for an error."""
    fn = Function(name, [STATE], "i64")
    error = fn.new("error")
    scene = Scene(fn, _copy_of_state(fn, layout), error)
    holds = expressions.test(expr, scene)
    fn.end(f"ret {fn.resize(holds, 64)}")
    fn.exit(scene.error, "ret i64 2")
    return fn


def ends(context: Context, expressions: ExpressionWriter, layout: PackedLayout) -> list[Function]:
    """Write `may_end`: whether a state without steps is a permitted end instead of a deadlock.

    Empty if the model declares no such ends.
    """
    if context.deadlock is None or context.deadlock.expr is None:
        return []
    return [asks(MAY_END, context.deadlock.expr, expressions, layout)]


def awaits(
    properties: Sequence[Property], expressions: ExpressionWriter, layout: PackedLayout
) -> list[Function]:
    """Write `awaited`: classifies a state for the liveness property number `which`.

    0 is the goal; else UNSERVED, with BEGINS where a run begins to wait.  Of an `eventually always`
    a run may go round through all states, so none is the goal.  None of the states makes an error:
    the search would have ended with it.
    """
    fn = Function("awaited", [STATE, ("i64", "which")], "i64")
    scene = Scene(fn, _copy_of_state(fn, layout), fn.new("error"))
    for number, prop in enumerate(properties):
        goal = prop.goal if prop.kind is PropertyKind.LEADSTO else prop.expr
        if goal is None or prop.expr is None:
            raise TypeError(f"{prop.name} has no goal")
        with fn.when(fn.eq(V(64, "%which"), i64(number))):
            with fn.when(expressions.test(goal, scene)):
                is_passed = prop.kind is PropertyKind.EVENTUALLY_ALWAYS
                fn.end(f"ret i64 {UNSERVED if is_passed else 0}")
            begins = const(1, 1)
            if prop.kind is PropertyKind.LEADSTO:
                begins = expressions.test(prop.expr, scene)
            fn.end(f"ret {fn.select(begins, i64(UNSERVED | BEGINS), i64(UNSERVED))}")
    fn.end("ret i64 0")
    fn.exit(scene.error, "ret i64 0")
    return [fn]


def _copy_of_state(fn: Function, layout: PackedLayout) -> StateBits:
    """Emit a copy of the state, without the marks of the table."""
    own = StateBits(fn, layout, fn.array(layout.words))
    StateBits(fn, layout, "%state").copy_to(own)
    return own


def _one(
    number: int,
    prop: Property,
    expressions: ExpressionWriter,
    layout: PackedLayout,
    *,
    name: str = "found",
    error: str = FAILS,
) -> Function:
    """Write a function that returns bit `number` if a state breaks the property.

    For a `reachable` it is returned if the state satisfies it.
    """
    fn = Function(f"{name}.{number}", [STATE], "i64")
    scene = Scene(fn, _copy_of_state(fn, layout), fn.new("error"))
    if prop.expr is None:
        raise TypeError(f"{prop.name} is not asked of states")
    holds = expressions.test(prop.expr, scene)
    hit = holds if prop.kind is PropertyKind.REACHABLE else fn.not_(holds)
    fn.end(f"ret {fn.shl(fn.resize(hit, 64), i64(number))}")
    fn.exit(scene.error, error)
    return fn


def _error(number: int, prop: Property, expressions: ExpressionWriter, layout: PackedLayout) -> Function:
    """Write a function that sets bit 63 if evaluating a property of runs in a state is an error."""
    fn = Function(f"errs.{number}", [STATE], "i64")
    scene = Scene(fn, _copy_of_state(fn, layout), fn.new("error"))
    for expr in (prop.expr, prop.goal):
        if expr is not None:
            expressions.test(expr, scene)
    fn.end("ret i64 0")
    fn.exit(scene.error, FAILS)
    return fn
