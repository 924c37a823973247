"""What the questions of a family differ in, as numbers: known when the code is written, or read when it runs.

One kernel then serves all of them: its parameters are the model's configuration,
which faults there may be and which properties are asked about.  A kernel of one
question has them all as constants, so that what they rule out is never written.
"""

from __future__ import annotations

from collections.abc import Iterator

import spec.model.ir as ir
from modelcheck.contract.engine import Task
from modelcheck.explicit.codegen.arithmetic import V, i64
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.values.codes import encode
from modelcheck.explicit.codegen.values.packing import Number, Packing, Truth, of_value, packing
from modelcheck.explicit.codegen.values.values import Live, known, value

PLACE = "@parameters"


class Parameters:
    """The numbers in which the tasks that share a kernel differ: configuration, faults, properties asked.

    With `folded` the kernel is for this task alone, and they are constants of its code.
    """

    def __init__(self, task: Task, *, folded: bool) -> None:
        self._task = task
        self._unions = {union.name: union for union in task.model.unions}
        self._types = {entry.name: entry.type for entry in task.model.configs}
        self._own = _values(task)
        self._places = {} if folded else {name: place for place, name in enumerate(_varying(task))}

    @property
    def values(self) -> list[int]:
        """The numbers to pass to the kernel's `configure` for this task."""
        return [self._own.get(name, 0) for name in self._places]

    def config(self, fn: Function, expr: ir.Config) -> Live:
        """Emit the value of a config: a constant, or, where tasks of the family differ, read from memory."""
        given, unions, scope = self._task.scope.config[expr.name], self._unions, self._task.scope
        place = self._places.get(("config", expr.name))
        if place is None:
            return known(of_value(expr.type, given, scope, unions), given)
        return value(fn, packing(self._types[expr.name], scope, unions), fn.read(PLACE, place))

    def most(self, fn: Function, action: ir.Action) -> V:
        """Emit how many faults of a kind may happen: 0 for none, 1 if they are not counted."""
        return self._number(fn, ("fault", action.name))

    def counts(self, fn: Function, action: ir.Action) -> V:
        """Emit what a fault adds to the count of its kind: 1, or 0 where this task does not count them."""
        return self._number(fn, ("counted", action.name))

    def asks(self, fn: Function, prop: ir.Property) -> V:
        """Emit the test whether this task checks a property."""
        return fn.is_set(self._number(fn, ("property", prop.name)))

    def _number(self, fn: Function, name: tuple[str, str]) -> V:
        """A number of this task: read at run time where several tasks share the code, else a constant."""
        place = self._places.get(name)
        return i64(self._own.get(name, 0)) if place is None else fn.read(PLACE, place)

    def functions(self) -> list[Function]:
        """The LLVM function `configure`, which stores the numbers of a task; none if there are none."""
        if not self._places:
            return []
        fn = Function("configure", [("ptr", "values")], "void")
        for place in range(len(self._places)):
            fn.write(PLACE, fn.read("%values", place), place)
        fn.end("ret void")
        return [fn]

    def declared(self) -> list[str]:
        """The LLVM declaration of the array with the numbers; empty if there are none."""
        count = len(self._places)
        return [f"{PLACE} = internal global [{count} x i64] zeroinitializer"] if count else []


def _varying(task: Task) -> Iterator[tuple[str, str]]:
    """The names of the numbers in which tasks of the family may differ, each with its kind."""
    family, unions = task.family, {union.name: union for union in task.model.unions}
    if family is None:
        return
    for entry in task.model.configs:
        if entry.name in family.configs and _is_plain(packing(entry.type, task.scope, unions)):
            yield "config", entry.name
    yield from (("fault", action.name) for action in task.model.actions if action.name in family.faults)
    yield from (("counted", action.name) for action in task.model.actions if action.name in family.counted)
    yield from (("property", prop.name) for prop in family.properties)


def _is_plain(packed: Packing) -> bool:
    """Whether a packing is that of a number or bool, so that one word can hold it."""
    return isinstance(packed, Number | Truth)


def _values(task: Task) -> dict[tuple[str, str], int]:
    """All numbers of a task, by kind and name."""
    unions = {union.name: union for union in task.model.unions}
    found = {("fault", name): task.budget.counted.get(name, 1) for name in task.faults}
    found |= {("counted", name): 1 for name in task.budget.counted}
    found |= {("property", prop.name): 1 for prop in task.properties}
    for entry in task.model.configs:
        packed = packing(entry.type, task.scope, unions)
        if _is_plain(packed):
            found["config", entry.name] = encode(packed, task.scope.config[entry.name])
    return found
