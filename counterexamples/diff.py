"""What one step changed, as data, in the words of the model: `r2.log += [1]`, `isr − r3`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from spec.frozen import frozen
from spec.meaning.semantics import State
from spec.model.ir import Model, Scope, Value, Variable
from spec.model.types import Bag, Case, Field, Map, Option, Record, Seq, Set, Type, Union
from spec.model.values import members, ordered, show


@frozen
class Became:
    """A change by which a value was replaced."""


@frozen
class Spliced:
    """A change by which a sequence lost entries at its ends and got new ones at the end.

    It lost `dropped` entries at its front, was `cut` to some of the rest
    (None: not cut), and then got `added`.
    """

    dropped: int
    cut: int | None
    added: tuple[Value, ...]


@frozen
class Exchanged:
    """A change by which a set or bag got and lost members, each listed as often as it occurs."""

    added: tuple[Value, ...]
    removed: tuple[Value, ...]


How = Became | Spliced | Exchanged


@frozen
class StatePlace:
    """A named part of a state: `leader`, or `r2.log` for a field of a process."""

    path: str
    type: Type
    value: Value
    variable: Variable
    member: str | None = None


@frozen
class Change:
    """One changed part of a state: the old value, the new one, and how they differ."""

    path: str
    type: Type
    before: Value
    after: Value
    how: How
    place: StatePlace


def places(model: Model, scope: Scope, state: State) -> Iterator[StatePlace]:
    """The named parts of a state: variables, ghosts, then process fields by member."""
    pairs = list(zip(model.variables, state, strict=True))
    for ghost in (False, True):
        for variable, value in pairs:
            if variable.owner is None and variable.ghost is ghost:
                yield StatePlace(variable.name, variable.type, value, variable)
    for sort in model.sorts:
        fields = [(variable, value) for variable, value in pairs if variable.owner == sort.name]
        for ordinal, name in enumerate(scope.sorts[sort.name] if fields else ()):
            for variable, value in fields:
                if not isinstance(variable.type, Map):
                    raise TypeError(f"{variable.name} has an owner and is no map")
                short = variable.name.removeprefix(f"{sort.name}.")
                yield StatePlace(f"{name}.{short}", variable.type.value, value[ordinal], variable, name)


def changes(model: Model, scope: Scope, before: State, after: State) -> tuple[Change, ...]:
    """The parts in which two states differ, in the order of `places`, as deep as parts have names.

    That is entries of maps, fields of records and of cases, single entries of sequences.
    Costs one look at every place of both states.
    """
    pairs = [
        (old, new)
        for old, new in zip(places(model, scope, before), places(model, scope, after), strict=True)
        if old.value != new.value
    ]
    return tuple(
        Change(path, of, a, b, _how(of, a, b, queue=old.variable.network == "fifo"), old)
        for old, new in pairs
        for path, of, a, b in _differences(old.path, old.type, old.value, new.value, scope)
    )


def _differences(
    path: str, of: Type, a: Value, b: Value, scope: Scope
) -> Iterator[tuple[str, Type, Value, Value]]:
    """The smallest named parts in which two different values of a type differ."""
    match of:
        case Map(key, value):
            for k, x, y in zip(members(key, scope), a, b, strict=True):
                if x != y:
                    name = show(key, k, scope)
                    yield from _differences(f"{path}[{name}]", value, x, y, scope)
        case Record(_, fields):
            yield from _fields(path, fields, a, b, scope)
        case Case(_, _, fields):
            yield from _fields(path, fields, a[1:], b[1:], scope)
        case Union(_, cases) if a[0] == b[0]:
            yield from _fields(path, cases[a[0]].fields, a[1:], b[1:], scope)
        case Seq(inner) if (at := _only_difference(a, b)) is not None:
            yield from _differences(f"{path}[{at}]", inner, a[at], b[at], scope)
        case Option(inner) if a is not None and b is not None:
            yield from _differences(path, inner, a, b, scope)
        case _:
            yield path, of, a, b


def _fields(
    path: str, fields: tuple[Field, ...], a: tuple[Value, ...], b: tuple[Value, ...], scope: Scope
) -> Iterator[tuple[str, Type, Value, Value]]:
    """The differences in the fields of a record."""
    for field, x, y in zip(fields, a, b, strict=True):
        if x != y:
            yield from _differences(f"{path}.{field.name}", field.type, x, y, scope)


def _only_difference(a: tuple[Value, ...], b: tuple[Value, ...]) -> int | None:
    """The index at which two sequences of one length differ, if it is one and not the last."""
    if len(a) != len(b):
        return None
    at = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
    return at[0] if len(at) == 1 and at[0] < len(a) - 1 else None


def _how(of: Type, before: Value, after: Value, *, queue: bool) -> How:
    """How a value changed."""
    match of:
        case Seq():
            return _splice(before, after, queue=queue)
        case Set():
            return Exchanged(ordered(after - before), ordered(before - after))
        case Bag():
            had, has = Counter(dict(before)), Counter(dict(after))
            return Exchanged(ordered((has - had).elements()), ordered((had - has).elements()))
        case _:
            return Became()


def _splice(before: tuple[Value, ...], after: tuple[Value, ...], *, queue: bool) -> How:
    """How a sequence changed to another; a queue preferably loses entries at its front."""
    common = _common(before, after)
    shift = _shift(before, after)
    if common == len(before):
        return Spliced(0, None, after[common:])
    if shift < len(before) and (queue or common == 0):
        return Spliced(shift, None, after[len(before) - shift :])
    if queue and not after:
        return Spliced(len(before), None, ())
    if common == 0 and after:
        return Became()
    return Spliced(0, common, after[common:])


def _common(a: tuple[Value, ...], b: tuple[Value, ...]) -> int:
    """The length of the longest common prefix."""
    least = min(len(a), len(b))
    return next((i for i in range(least) if a[i] != b[i]), least)


def _shift(before: tuple[Value, ...], after: tuple[Value, ...]) -> int:
    """The fewest entries to drop at the front so that the rest is a prefix of `after`."""
    return next((d for d in range(len(before)) if after[: len(before) - d] == before[d:]), len(before))
