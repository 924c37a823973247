"""A check's kernel for a page: the code as WebAssembly, and as data all that is needed to use it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, assert_never

from counterexamples.play.described import PageTypes
from modelcheck.contract.engine import Task
from modelcheck.explicit.codegen.expressions.expressions import ExpressionWriter
from modelcheck.explicit.codegen.expressions.parameters import Parameters
from modelcheck.explicit.codegen.search.context import CURSOR, Context, context
from modelcheck.explicit.codegen.search.runtime import (
    COUNT,
    FAILED,
    FIRSTS,
    FRONTIER,
    LATEST,
    LOCAL,
    NEW,
    PENDING,
    SLOTS,
    TABLE,
    TRAPPED,
    WAITING,
    WAYS,
)
from modelcheck.explicit.codegen.states.layout import PackedField, PackedLayout, Words, layout
from modelcheck.explicit.codegen.values.codes import code_at
from modelcheck.explicit.codegen.values.packing import (
    Array,
    Mask,
    Never,
    Number,
    Optional,
    Packing,
    Product,
    Slots,
    TaggedUnion,
    Truth,
    has_gaps,
)
from modelcheck.explicit.codegen.values.packing import Sequence as Entries
from modelcheck.explicit.native.compiling import environment, for_the_web
from modelcheck.explicit.native.writing import in_core, write
from modelcheck.explicit.wasm.asked import asked
from modelcheck.explicit.wasm.module import Module, module
from modelcheck.explicit.wasm.records import RecordShape, RecordShapes, RecordValue, RecordWriter
from modelcheck.explicit.wasm.wide import WIDE
from modelcheck.storage.cache import Cache
from spec.frozen import frozen
from spec.meaning.semantics import State
from spec.model.kinds import OF_RUNS

Json = Any
SHARD = {
    "table": TABLE,
    "slots": SLOTS,
    "count": COUNT,
    "local": LOCAL,
    "ways": WAYS,
    "latest": LATEST,
    "frontier": FRONTIER,
    "new": NEW,
    "pending": PENDING,
    "waiting": WAITING,
    "trapped": TRAPPED,
    "failed": FAILED,
}
SEARCH = ("expand", "insert", "trace_back", "rehash")


@frozen
class WebKernel:
    """A WebAssembly kernel, with the layouts of its memory and of states."""

    module: Module
    layout: PackedLayout
    used: Json

    def packed(self, state: State) -> Words:
        """The words of a state."""
        return self.layout.pack(state)


def web_kernel(task: Task, types: PageTypes) -> WebKernel:
    """The WebAssembly kernel of a task, which searches and records single steps.

    It knows all properties of the model but for those of fair runs.  Costs as much as well
    compiled native code.  Raises TooWide.
    """
    searched = tuple(p for p in task.model.properties if p.kind not in OF_RUNS)
    task = in_core(replace(task, properties=searched, symmetry=(), family=None, witnesses=()))
    laid, words, parameters = (
        layout(task.model, task.scope, task.counted),
        context(task),
        Parameters(task, folded=True),
    )
    expressions, shapes = ExpressionWriter(task.model, task.scope, parameters), RecordShapes()
    allowed = [a for a in task.model.actions if not a.is_fault or a.name in words.allowed]
    ordered = [a for a in allowed if not a.is_fault] + [a for a in allowed if a.is_fault]
    recorders = [RecordWriter(action, expressions, laid, words, shapes) for action in ordered]
    questions = asked(task.model.properties, expressions, laid)
    extra = [*(each.fn for each in recorders), *questions]
    public = {*SEARCH, *(fn.name for fn in extra)}
    written = write(task, laid, parameters, extra=extra, public=public)
    made = module(_compiled(written.text + "\n" + WIDE), public)
    used = {
        "end": made.end,
        "words": laid.words,
        "slot": laid.slot,
        "most": written.most,
        "context": _context(words),
        "firsts": FIRSTS,
        "ofStates": [p.name for p in words.of_states],
        "ofSteps": [p.name for p in words.of_steps],
        "deadlock": None if words.deadlock is None else words.deadlock.name,
        "shard": SHARD,
        "free": sum(not action.is_fault for action in ordered),
        "recorders": [each.name for each in recorders],
        "asked": {task.model.properties[int(fn.name.partition(".")[2])].name: fn.name for fn in questions},
        "actions": [action.name for action in ordered],
        "shapes": [_shape(shape, types) for shape in shapes.known],
        "variables": [_field(field) for field in laid.variables],
        "counters": [_field(field) | {"most": task.budget.counted[field.name]} for field in laid.counters],
    }
    return WebKernel(made, laid, used)


def _compiled(text: str) -> bytes:
    """The object file of LLVM IR, from the cache if possible."""
    cache = Cache()
    cache.insist()
    name = hashlib.sha256((text + repr(environment())).encode()).hexdigest() + "-web"
    made = cache.get(name)
    if made is None:
        made = for_the_web(text)
        cache.put(name, made)
    return made


def _context(words: Context) -> Json:
    """The layout of a thread's memory as JSON data."""
    return {
        "cursor": CURSOR,
        "errors": words.errors,
        "dead": words.dead,
        "broken": words.broken,
        "taken": words.taken,
        "size": words.size,
    }


def _field(field: PackedField) -> Json:
    """A field of a state as JSON data."""
    return {"name": field.name, "at": field.offset, "as": _packing(field.packing)}


def _shape(shape: RecordShape, types: PageTypes) -> Json:
    """The shape of a record as JSON data."""

    def values(given: Sequence[RecordValue]) -> Json:
        return [
            {"name": v.name, "type": types.number(v.type), "words": v.words, "as": _packing(v.packing)}
            for v in given
        ]

    return {
        "action": shape.action,
        "outcome": shape.outcome.value,
        "why": shape.why,
        "params": values(shape.params),
        "said": values(shape.said),
        "choices": values(shape.choices),
    }


def _packing(packing: Packing) -> Json:
    """A packing as JSON data; `w` is the width of a code in bits."""
    match packing:
        case Never():
            return {"is": "never", "w": 0}
        case Truth():
            return {"is": "truth", "w": 1}
        case Number(lo):
            return {"is": "number", "w": packing.width, "lo": lo}
        case Optional(of):
            return {"is": "option", "w": packing.width, "of": _packing(of)}
        case Product(parts):
            return {"is": "parts", "w": packing.width, "parts": [_packing(part) for part in parts]}
        case TaggedUnion(cases):
            cases_ = [_packing(case) for case in cases]
            return {"is": "tagged", "w": packing.width, "payload": packing.payload, "cases": cases_}
        case Array(of, count):
            return {"is": "array", "w": packing.width, "count": count, "of": _packing(of)}
        case Entries(of) | Slots(of):
            kind = "list" if isinstance(packing, Entries) else "bag" if packing.repeated else "set"
            return {"is": kind, "w": packing.width, "body": packing.body, "of": _packing(of)}
        case Mask(of):
            codes = [code_at(of, place) for place in range(packing.width)] if has_gaps(of) else None
            return {"is": "mask", "w": packing.width, "of": _packing(of), "codes": codes}
        case _:
            assert_never(packing)
