"""Which sorts have members that may be renamed: a run stays a run under other names.

A sort has no order and its members no names, and a quantifier looks at all of
them (NOTE(errors) in `spec/meaning/evaluate.py`), so mostly nothing in a model can distinguish
two members apart.  What can is the order in which a `for` visits them, and a
configuration that names one; and what is inside the keys of a map is not
renamed here.  Such sorts are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import spec.model.ir as ir
import spec.model.types as t
from spec.frozen import This, frozen
from spec.model.op import Op
from spec.model.totality import Totality, fits_but_for_scope, is_partial, keeps_to_type, names_scope
from spec.model.walk import children, expressions, walk, walk_statements
from spec.source import Span


@frozen
class Distinction:
    """A place of a model that may treat members of a sort ("them") differently, and why."""

    sort: str
    why: str
    span: Span


def symmetric_sorts(model: ir.Model) -> tuple[str, ...]:
    """The sorts whose members are interchangeable: renaming them turns runs into runs."""
    return _symmetric(This(model))


@lru_cache(maxsize=8)
def _symmetric(this: This[ir.Model]) -> tuple[str, ...]:
    """The sorts whose members are interchangeable, computed once for a model."""
    model = this.value
    kept = {each.sort for each in distinctions(model)}
    return tuple(sort.name for sort in model.sorts if sort.name not in kept)


def distinctions(model: ir.Model) -> Iterator[Distinction]:
    """The places where members of sorts may be distinguished, in the order of the text of each kind."""
    for body in (model.init, *(action.body for action in model.actions)):
        yield from _by_order(model, body)
    for entry in model.configs:
        for name in t.sorts_in(entry.type):
            yield Distinction(name, f"the config `{entry.name}` names one of them", entry.span)
    for variable in model.variables:
        for name in _in_keys(variable.type):
            why = f"a key of `{variable.name}` has one of them among its parts"
            yield Distinction(name, why, variable.span)


# ------------------------------------------------------------------ the order of a `for`


def _by_order(model: ir.Model, statements: Sequence[ir.Stmt]) -> Iterator[Distinction]:
    """The sorts whose members a `for` may treat differently, because the order of its rounds matters."""
    for loop in walk_statements(statements):
        if isinstance(loop, ir.Each) and not isinstance(loop.domain.type, t.Option):
            why = _why_order_matters(model, loop.slot, loop.body)
            for name in t.sorts_in(loop.domain.type) if why else ():
                yield Distinction(name, why, loop.span)


def _why_order_matters(model: ir.Model, slot: int, body: Sequence[ir.Stmt]) -> str:
    """Why rounds may not commute; empty where they do.

    They do where each writes only what no other reads or writes, and all end alike.
    """
    rounds = [each for each in body if isinstance(each, ir.Assign) and _is_own(each, slot)]
    if len(rounds) < len(body):
        return f"a `for` over them {_what_is_more(model, body)}"
    written = {each.var for each in rounds}
    read = {name for each in rounds for expr in expressions(each) for name in _read(expr, slot)}
    if both := sorted(written & read):
        return f"a `for` over them reads the `{_last(model, both[0])}` that its other rounds change"
    return "" if _end_alike(rounds, slot) else "how a `for` over them fails may depend on its order"


def _what_is_more(model: ir.Model, body: Sequence[ir.Stmt]) -> str:
    """What a `for` does that is not an assignment to a field of its member."""
    changed = [each.var for each in body if isinstance(each, ir.Assign)]
    cached = [var for var in changed if model.variables[var].storage is ir.Storage.CACHED]
    if any(isinstance(each, ir.Branch) for each in body):
        return "has an `if`"
    if cached:
        return f"changes the cached field `{_last(model, cached[0])}`"
    if len(changed) == len(body):
        return "changes what is not its member's own"
    return "does more than assign to fields of its member"


def _last(model: ir.Model, var: int) -> str:
    """The name of a variable as it is written behind a member."""
    return model.variables[var].name.rpartition(".")[2]


def _is_own(statement: ir.Assign, slot: int) -> bool:
    """Whether an assignment writes only the entry of a map for the member in a slot."""
    match statement.path:
        case (ir.Key(ir.Local(slot=key)), *_):
            return key == slot
        case _:
            return False


def _read(expr: ir.Expr, slot: int) -> Iterator[int]:
    """The variables of which an expression reads more than the entry of the member in a slot."""
    match expr:
        case ir.Apply(op=Op.LOOKUP, args=(ir.Var(), ir.Local(slot=key))) if key == slot:
            pass
        case ir.Var(index=index):
            yield index
        case _:
            for part in children(expr):
                yield from _read(part, slot)


# ------------------------------------------------------------------ how rounds end

# A way for a round to end early: whether by an error of the model (else it is cut), and whether
# it depends on the member.
_End = tuple[bool, bool]


def _end_alike(rounds: Sequence[ir.Assign], slot: int) -> bool:
    """Whether the way the first failing round ends the step is the same in every order.

    An end that does not depend on the member comes in the first round, if it comes at all; so
    nothing that does may come before it and end otherwise.
    """
    ends = [end for each in rounds for end in _ends(each, slot)]
    ways = {error for error, depends in ends if depends}
    if len(ways) != 1:
        return not ways
    before = next(place for place, (_, depends) in enumerate(ends) if depends)
    return all(error in ways for error, _ in ends[before:])


def _ends(statement: ir.Assign, slot: int) -> Iterator[_End]:
    """The ways in which an assignment may end its step early, in order of evaluation."""
    value, keys = statement.value, [step.key for step in statement.path if isinstance(step, ir.Key)]
    stored = value.of if isinstance(value, ir.Fit) else value
    totality = Totality()
    for expr in [*keys, stored]:
        for depends in _failures(expr, slot, totality):
            yield True, depends
    yield from ((True, _depends(key, slot)) for key in keys if not keeps_to_type(key))
    if isinstance(value, ir.Fit):
        if not fits_but_for_scope(stored, value.type):
            yield True, _depends(stored, slot)
        if names_scope(value.type):
            yield False, _depends(stored, slot)


def _failures(expr: ir.Expr, slot: int, totality: Totality) -> Iterator[bool]:
    """For each part of an expression that may fail, whether that depends on the member in a slot."""
    if totality.of(expr):
        return
    if not _depends(expr, slot):
        yield False
        return
    match expr:
        case ir.Apply(op=op, args=parts):
            for part in parts:
                yield from _failures(part, slot, totality)
            if is_partial(op, parts):
                yield True
        case ir.Make(parts=parts):
            for part in parts:
                yield from _failures(part, slot, totality)
        case _:  # what is not always evaluated depends on what is asked before
            yield True


def _depends(expr: ir.Expr, slot: int) -> bool:
    """Whether the value of an expression depends on the value in a slot."""
    return any(isinstance(part, ir.Local) and part.slot == slot for part in walk(expr))


# ------------------------------------------------------------------ sorts in types


def _in_keys(of: t.Type) -> Iterator[str]:
    """The sorts that occur inside composite keys of maps."""
    for part in t.walk_type(of):
        if isinstance(part, t.Map) and not isinstance(part.key, t.Sort):
            yield from t.sorts_in(part.key)
