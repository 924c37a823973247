"""What is written for LLVM is well formed, for every protocol and each way of asking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import llvmlite.binding as llvm
import pytest

import spec.library as library
from modelcheck.api import task_of
from modelcheck.contract.engine import Task
from modelcheck.explicit.codegen.expressions.costs import GENEROUS, SPARING
from modelcheck.explicit.codegen.expressions.parameters import Parameters
from modelcheck.explicit.codegen.search.context import recoverable
from modelcheck.explicit.codegen.search.runtime import MARKS
from modelcheck.explicit.codegen.states.layout import PackedLayout, layout
from modelcheck.explicit.native.writing import write, write_runs
from modelcheck.search.persistent import not_reduced
from spec.load import loads
from spec.model.ir import Check, Model


def laid_out(task: Task, *, blocks: bool = False) -> PackedLayout:
    """The layout of the states of a task, as the engine has it."""
    marks = MARKS if recoverable(task) and not blocks else 1 + task.partial_order
    return layout(task.model, task.scope, task.counted, marks=marks)


def texts(task: Task) -> Iterator[str]:
    """The kernels of a task: quick code and good code, of states on disk, of fewer steps, of random runs."""
    packed = laid_out(task)
    yield write(task, packed, Parameters(task, folded=False), unrolling=SPARING).text
    yield write(task, packed, Parameters(task, folded=True), unrolling=GENEROUS).text
    yield write(task, laid_out(task, blocks=True), Parameters(task, folded=True), blocks=True).text
    fewer = replace(task, partial_order=True, family=None)
    if not not_reduced(fewer):
        yield write(fewer, laid_out(fewer), Parameters(fewer, folded=True)).text
    if not task.scope.unbounded:
        plain = replace(task, symmetry=(), family=None)
        yield write_runs(plain, layout(plain.model, plain.scope, plain.counted)).text


def smallest(model: Model) -> Check:
    """The check of a model with the smallest scope."""
    return min(
        model.checks, key=lambda each: sum(map(each.scope.size, [*each.scope.sorts, *each.scope.nats]))
    )


@pytest.mark.grid
@pytest.mark.parametrize("protocol", library.names())
def test_every_kernel_of_a_protocol_is_well_formed(protocol: str) -> None:
    asked = [(model, smallest(model)) for model in loads(library.text(protocol), protocol) if model.checks]
    for model, check in asked:
        for text in texts(task_of(model, check, symmetry=True)):
            llvm.parse_assembly(text).verify()


def test_a_value_that_is_not_known_on_every_way_is_refused() -> None:
    text = """define i64 @f(i1 %a) {
    entry:
      br i1 %a, label %b, label %c
    b:
      %v = add i64 1, 2
      br label %c
    c:
      ret i64 %v
    }"""
    with pytest.raises(RuntimeError, match="dominate"):
        llvm.parse_assembly(text).verify()
