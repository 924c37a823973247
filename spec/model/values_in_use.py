"""Which values of a nat are in use in a state, and which parts of a model make and drop them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from functools import lru_cache

import spec.model.ir as ir
import spec.model.types as t
from spec.frozen import This
from spec.model.op import Op
from spec.model.walk import expressions_of, walk, walk_statements

InUse = Callable[[Sequence[ir.Value]], list[int]]  # of a state: the values of a nat that are in use


def makes_value(expr: ir.Expr, nats: Container[str]) -> bool:
    """Whether an expression is `x + 1` of one of these nats."""
    is_sum = isinstance(expr, ir.Apply) and expr.op is Op.ADD
    return is_sum and isinstance(expr.type, t.Nat) and expr.type.name in nats


def may_leave_gaps(action: ir.Action, types: Sequence[t.Type], nat: str) -> bool:
    """Whether after a step of an action from a squeezed state a value of a nat may be in use no more.

    Then those above it have a gap below them.  So has a new value where another, below it, is not kept.
    """
    made = any(makes_value(part, (nat,)) for expr in expressions_of(action) for part in walk(expr))
    assigned = (each for each in walk_statements(action.body) if isinstance(each, ir.Assign))
    return made or any(_may_drop(each, types[each.var], nat) for each in assigned)


def _may_drop(statement: ir.Assign, of: t.Type, nat: str) -> bool:
    """Whether an assignment may drop a value of a nat: it does not where it only adds to what is there."""
    if not _is_in_place(statement.path, of, nat):
        return False
    value = statement.value.of if isinstance(statement.value, ir.Fit) else statement.value
    match value:
        case ir.Apply(op=Op.CONCAT | Op.UNION, args=(old, _)):
            return _place_of(old) != (statement.var, _path_of(statement.path))
        case _:
            return True


def _is_in_place(path: Sequence[ir.Key | ir.At], of: t.Type, nat: str) -> bool:
    """Whether what is at a path in a value of a type has values of a nat in it."""
    for step in path:
        match of:
            case t.Map(_, inner):
                of = inner
            case t.Record() | t.Tuple() if isinstance(step, ir.At):
                of = t.parts(of)[step.index]
            case _:
                return True
    return has(of, nat)


def _path_of(path: Sequence[ir.Key | ir.At]) -> tuple[object, ...]:
    """A path in a form that can be compared, where its keys are bound names."""
    found: list[object] = []
    for step in path:
        match step:
            case ir.At(index):
                found.append(("part", index))
            case ir.Key(ir.Local(slot=slot)):
                found.append(("local", slot))
            case _:
                found.append(step)
    return tuple(found)


def _place_of(expr: ir.Expr) -> tuple[int, tuple[object, ...]] | None:
    """The variable and the path in it that an expression reads; None where it reads no place."""
    match expr:
        case ir.Var(index=index):
            return index, ()
        case ir.Part(of=of, index=index) if (inner := _place_of(of)) is not None:
            return inner[0], (*inner[1], ("part", index))
        case ir.Apply(op=Op.LOOKUP, args=(of, ir.Local(slot=slot))) if (inner := _place_of(of)) is not None:
            return inner[0], (*inner[1], ("local", slot))
        case _:
            return None


def keeping(model: ir.Model, nat: str) -> tuple[str, ...]:
    """The variables in which any number of values of a nat may be in use at once."""
    return tuple(each.name for each in model.variables if _keeps_any_number(each.type, nat))


def _keeps_any_number(of: t.Type, nat: str) -> bool:
    return any(
        isinstance(part, t.Set | t.Bag) and part.limit is None and has(part.of, nat)
        for part in t.walk_type(of)
    )


def has(of: t.Type, nat: str) -> bool:
    """Whether a value of a type may have values of a nat in it."""
    return any(part == t.Nat(nat) for part in t.walk_type(of))


def values_in(of: t.Type, nat: str) -> Callable[[ir.Value], Iterable[int]] | None:
    """A function that lists the values of a nat in a value of a type; None where there are none."""
    return _values_in(This(of), nat)


@lru_cache(maxsize=512)
def _values_in(this: This[t.Type], nat: str) -> Callable[[ir.Value], Iterable[int]] | None:
    """The same, made once for a type."""
    of = this.value
    if not has(of, nat):
        return None
    match of:
        case t.Nat():
            return lambda value: (value,)
        case t.Option(inner):
            one = _listing(inner, nat)
            return lambda value: () if value is None else one(value)
        case t.Set(inner) | t.Seq(inner) | t.Map(_, inner):
            one = _listing(inner, nat)
            return lambda value: [number for each in value for number in one(each)]
        case t.Bag(inner):
            one = _listing(inner, nat)
            return lambda value: [number for each, _ in value for number in one(each)]
        case t.Record() | t.Tuple():
            return _of_parts([_listing(part, nat) for part in t.parts(of)])
        case t.Case():
            fields = _of_parts([_listing(part, nat) for part in t.parts(of)])
            return lambda value: fields(value[1:])
        case t.Union(_, cases):
            each_case = [_listing(case, nat) for case in cases]
            return lambda value: each_case[value[0]](value)
        case _:
            raise TypeError(f"{of} has no values in it")


def _listing(of: t.Type, nat: str) -> Callable[[ir.Value], Iterable[int]]:
    return values_in(of, nat) or (lambda _: ())


def _of_parts(parts: Sequence[Callable[[ir.Value], Iterable[int]]]) -> Callable[[ir.Value], Iterable[int]]:
    return lambda value: [number for part, of in zip(value, parts, strict=True) for number in of(part)]


def values_in_state(types: Sequence[t.Type], nat: str) -> InUse:
    """A function that lists the values of a nat in a state, given the types of its variables."""
    listings = [(place, one) for place, of in enumerate(types) if (one := values_in(of, nat)) is not None]
    return lambda state: [number for place, one in listings for number in one(state[place])]
