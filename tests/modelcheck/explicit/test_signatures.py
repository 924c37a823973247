"""What Python believes of the functions of machine code is how they are written."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from modelcheck.api import task_of
from modelcheck.explicit.codegen.expressions.parameters import Parameters
from modelcheck.explicit.codegen.search.graphs import graphs
from modelcheck.explicit.codegen.search.runtime import MARKS
from modelcheck.explicit.codegen.search.sorted_states import SortedStates
from modelcheck.explicit.codegen.states.layout import layout
from modelcheck.explicit.native.functions import (
    OF_BLOCKS,
    OF_GRAPHS,
    OF_LEAVING,
    OF_LIVENESS,
    OF_RECOVERY,
    OF_SAMPLES,
    OF_SORTED,
    OF_WAYS,
    PUBLIC,
    SIGNATURES,
)
from modelcheck.explicit.native.writing import text_of, write, write_runs
from spec.load import loads

TYPES: dict[str, set[Any]] = {
    "void": {None},
    "ptr": {ctypes.c_void_p},
    "i1": {ctypes.c_bool, ctypes.c_uint8},  # of a byte the lowest bit is looked at
    "i8": {ctypes.c_uint8},
    "i16": {ctypes.c_uint16},
    "i64": {ctypes.c_int64, ctypes.c_uint64},
}
MODEL = """
protocol lamp
nat Count
state { on: bool = false, uses: Count = 0 }
fair action push { require not on  on := true }
fault dark { require on  on := false  uses := uses + 1 }
recoverable back: on
always eventually lit: on
check one { scope Count = 3 faults any }
"""


def written() -> Iterator[str]:
    """The text of all functions that Python calls."""
    (model,) = loads(MODEL)
    task = task_of(model, model.checks[0])
    for blocks in (False, True):
        marks = 1 if blocks else MARKS
        packed = layout(task.model, task.scope, task.counted, marks=marks)
        yield write(task, packed, Parameters(task, folded=True), blocks=blocks).text
    fewer = replace(task, properties=(), partial_order=True)
    packed = layout(task.model, task.scope, task.counted, marks=2)
    yield write(fewer, packed, Parameters(fewer, folded=True)).text
    yield text_of(graphs(), PUBLIC)
    yield text_of(SortedStates(2).functions(), PUBLIC)
    yield write_runs(task, layout(task.model, task.scope, task.counted)).text


def test_the_signatures_of_machine_code_are_those_of_the_functions_that_are_written() -> None:
    believed = SIGNATURES | OF_RECOVERY | OF_LIVENESS | OF_BLOCKS | OF_WAYS | OF_GRAPHS
    believed |= OF_SAMPLES | OF_SORTED | OF_LEAVING
    seen = set()
    for text in written():
        for result, name, given in re.findall(
            r"^define (?!internal)(?:zeroext )?(\w+) @(\w+)\((.*)\)", text, re.MULTILINE
        ):
            if name not in believed:
                continue
            seen.add(name)
            types = [result, *(part.split()[0] for part in given.split(", ") if part)]
            result_type, argument_types = believed[name]
            actual = [result_type, *argument_types]

            assert len(types) == len(actual), name
            assert all(one in TYPES[other] for one, other in zip(actual, types, strict=True)), name

    assert seen == set(believed)
