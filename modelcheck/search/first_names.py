"""A run under other names of interchangeable members: who leads first has the first name.

NOTE(first-names): members that may be renamed (`spec/model/interchangeable.py`) are named by the part that
they play: first whoever leads first, then the others as steps name them first.  So a run that
differs from another one by names alone is the same run, and two that begin alike have the same
names there.  By NOTE(alike) the renamed run is a run, and what it shows is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import spec.model.types as t
from counterexamples.pictures.cast import sort_of_type
from counterexamples.pictures.roles import leads, roles
from counterexamples.trace import Erred, Trace
from spec.meaning.semantics import State, Step
from spec.model.interchangeable import symmetric_sorts
from spec.model.ir import Model, Value
from spec.model.renaming import Renaming, renamed
from spec.model.values import in_order


def with_first_names(trace: Trace) -> Trace:
    """The same run with interchangeable members renamed in the order in which they act.

    Costs a look at each step, and at each state where a name changes.
    """
    for sort, renaming in _renamings(trace):
        trace = RenamedRun(trace.model, sort, renaming).trace(trace)
    return trace


def other_names(trace: Trace) -> tuple[tuple[str, str], ...]:
    """The members that `with_first_names` renames, each with its new name."""
    return tuple(
        (names[old], names[new])
        for sort, renaming in _renamings(trace)
        for names in (trace.scope.sorts[sort],)
        for old, new in enumerate(renaming)
        if old != new
    )


def _renamings(trace: Trace) -> Iterator[tuple[str, Renaming]]:
    """The sorts whose members are renamed, with the new number of each member."""
    for sort in symmetric_sorts(trace.model):
        renaming = _renaming(trace, sort)
        if renaming != (*range(len(renaming)),):
            yield sort, renaming


def _renaming(trace: Trace, sort: str) -> Renaming:
    """The new number of each member."""
    count = len(trace.scope.sorts[sort])
    order = [*dict.fromkeys([*_first_leader(trace, sort), *_named(trace, sort), *range(count)])]
    return tuple(order.index(member) for member in range(count))


def _first_leader(trace: Trace, sort: str) -> Iterator[int]:
    """The first member to lead alone; none if no member ever does."""
    found = roles(trace.model)
    field, chosen = found.field(sort, "leads"), found.whole.get("leader")
    count = len(trace.scope.sorts[sort])
    for state in trace.states:
        who = set[int]()
        if field is not None:
            who = {each for each in range(count) if leads(field, field.of(state, each), each)}
        elif chosen is not None and sort_of_type(chosen.type) == sort:
            who = {each for each in range(count) if chosen.of(state) == each}
        if len(who) == 1:
            yield from who
            return


def _named(trace: Trace, sort: str) -> Iterator[int]:
    """The members in the order in which steps name them."""
    for step in trace.steps:
        for of, value in _given(trace.model, step):
            yield from _in_value(of, value, sort)


def _given(model: Model, step: Step) -> Iterator[tuple[t.Type, Value]]:
    """The values of a step's parameters and choices, with their types."""
    params = model.action(step.action).params
    yield from ((param.type, value) for param, value in zip(params, step.args, strict=False))
    yield from ((choice.type, choice.value) for choice in step.choices)


def _in_value(of: t.Type, value: Value, sort: str) -> Iterator[int]:
    """The members of a sort that occur in a value, in reading order."""
    if of == t.Sort(sort):
        yield value
        return
    for part, each in _parts(of, value):
        yield from _in_value(part, each, sort)


def _parts(of: t.Type, value: Value) -> Iterator[tuple[t.Type, Value]]:
    """The components of a value with their types."""
    match of:
        case t.Option(inner) | t.Set(inner) | t.Seq(inner, _) | t.Bag(inner, _):
            yield from ((inner, each) for each in in_order(of)(value))
        case t.Map(_, inner):
            yield from ((inner, each) for each in value)
        case t.Record(_, fields):
            yield from zip((field.type for field in fields), value, strict=True)
        case t.Tuple(items):
            yield from zip(items, value, strict=True)
        case t.Case(_, _, fields):
            yield from zip((field.type for field in fields), value[1:], strict=True)
        case t.Union(_, cases):
            yield cases[value[0]], value
        case _:
            pass


class RenamedRun:
    """Renames the members of one sort in a run."""

    def __init__(self, model: Model, sort: str, renaming: Renaming) -> None:
        self._model = model
        self._sort = sort
        self._renaming = renaming

    def trace(self, trace: Trace) -> Trace:
        """The run with the members renamed."""
        end = trace.ending
        if isinstance(end, Erred) and end.step is not None:
            end = replace(end, step=self._step(end.step))
        states, steps = map(self._state, trace.states), map(self._step, trace.steps)
        return replace(trace, states=tuple(states), steps=tuple(steps), ending=end)

    def _state(self, state: State) -> State:
        """The state with the members renamed."""
        pairs = zip(self._model.variables, state, strict=True)
        return tuple(self._value(variable.type, value) for variable, value in pairs)

    def _step(self, step: Step) -> Step:
        """The step with the members renamed."""
        pairs = zip(self._model.action(step.action).params, step.args, strict=False)
        args = tuple(self._value(param.type, value) for param, value in pairs)
        choices = tuple(replace(each, value=self._value(each.type, each.value)) for each in step.choices)
        return replace(step, args=args, choices=choices)

    def _value(self, of: t.Type, value: Value) -> Value:
        """The value with the members renamed."""
        return renamed(of, self._sort, value, self._renaming)
