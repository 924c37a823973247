"""A model within a scope as machine code: written, compiled once, kept on disk, called by address."""

from __future__ import annotations

import ctypes
import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files
from time import perf_counter
from typing import Any

import llvmlite.binding as llvm

from modelcheck.engine import Task
from modelcheck.explicit.assembly import Function
from modelcheck.explicit.cache import Cache
from modelcheck.explicit.canonical import canonical
from modelcheck.explicit.claims import claims, goals
from modelcheck.explicit.context import CURSOR, Context, context, is_fault
from modelcheck.explicit.expressions import Expressions
from modelcheck.explicit.layout import Layout, Words, layout
from modelcheck.explicit.loops import Named, loops
from modelcheck.explicit.packing import TooWide
from modelcheck.explicit.runtime import FAULT, SHARD_BITS
from modelcheck.explicit.steps import Steps
from modelcheck.explicit.ways import Ways
from spec.ir import Property, PropertyKind

MOST_STEPS = 1 << 24  # from one state; more is refused
_P, _N, _FLAG = ctypes.c_void_p, ctypes.c_int64, ctypes.c_bool
SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "expand": (_N, [_P, _P, _N, _N, _N, _FLAG]),
    "expand_round": (None, [_P, _P, _P, _N, _P]),
    "insert": (None, [_P, _P, _N]),
    "insert_round": (None, [_P]),
    "rehash": (None, [_P, _N, _P, _N]),
    "leads_elsewhere": (ctypes.c_uint8, [_P, _P, _N, _P, _N, _P]),
    "represent": (None, [_P, _P]),
    "hash": (ctypes.c_uint64, [_P]),
}
OF_RECOVERY: dict[str, tuple[Any, list[Any]]] = {
    "mark_goal": (ctypes.c_uint8, [_P, _N, _N]),
    "spread_fine": (_N, [_P, _P, _N, _P, _N, _P]),
    "spread_beyond": (_N, [_P, _P, _N, _P, _N, _P]),
    "count_marks": (_N, [_P, _N]),
    "first_trapped": (_N, [_P, _N, _P, _N]),
}
OF_BLOCKS: dict[str, tuple[Any, list[Any]]] = {
    "gather": (_N, [_P, _N, _P, _N]),
    "merge": (_N, [_P, _N, _P, _N, _P, _N, ctypes.c_uint8]),
    "strike": (_N, [_P, _N, _P, _N, _P, _N]),
    "drain": (_N, [_P, _N, _P]),
    "take": (_N, [_P, _N, _P, ctypes.c_uint8, _FLAG, _P]),
    "tell_shards": (None, [_P, _N, _N, _P]),
    "ask": (None, [_P, _N, _P]),
    "lead_to": (_N, [_P, _N, _P, _FLAG]),
}
OF_WAYS: dict[str, tuple[Any, list[Any]]] = {
    "mark_goals": (_N, [_P, _N, _P, _N]),
    "look_ahead": (_N, [_P, _P, _N, _P, _N, _N, _N, _FLAG]),
    "deal": (None, [_P, _N, _N, _P, _P, _P]),
    "want": (_N, [_P, _N, _P, _N, _P, _N]),
    "strike_marked": (_N, [_P, _N, _P, _N, _P, _N, _P]),
    "answer": (_N, [_P, _N, _P, _N, _P, _N, _P]),
    "put_marks": (None, [_P, _P, _N, ctypes.c_uint8]),
}


@dataclass(frozen=True, slots=True)
class Written:
    """The text of a kernel, and how many successors a state can have at most."""

    text: str
    most: int


class Kernel:
    """The compiled functions of a task; `call` has them by name.

    With `blocks` it is for a search that keeps its states elsewhere: `blocks.py` and `ways.py`.

    `seconds` tells how long it took to get ready, `cached` whether it was on disk.
    """

    def __init__(self, task: Task, cache: Cache | None = None, *, blocks: bool = False) -> None:
        started = perf_counter()
        recoverable = _recoverable(task)
        own_marks = recoverable and not blocks  # else marks are kept elsewhere, like all of a state
        self.layout = layout(task.model, task.scope, task.budget, marks=3 if own_marks else 1)
        self.context = context(task.model, task.budget, task.properties)
        cache = cache or Cache()
        self.key = key = _key(task) + "-blocks" * blocks
        kept = cache.get(key)
        self.cached = kept is not None
        if kept is None:
            written = write(task, self.layout, self.context, blocks=blocks)
            self._machine, code = compiled(written.text)
            self.most = written.most
            cache.put(key, self.most.to_bytes(8) + code)
        else:
            self.most = int.from_bytes(kept[:8])
            self._machine = loaded(kept[8:])
        signatures = SIGNATURES | (OF_RECOVERY if own_marks else {}) | (OF_BLOCKS if blocks else {})
        signatures |= OF_WAYS if blocks and recoverable else {}
        self.call = {
            name: ctypes.CFUNCTYPE(result, *args)(self._machine.get_function_address(name))
            for name, (result, args) in signatures.items()
        }
        self.seconds = perf_counter() - started

    def shard_of(self, words: Words) -> int:
        """The shard that a state belongs to."""
        return int(self.call["hash"](_array(words))) >> 64 - SHARD_BITS

    def represent(self, words: Words) -> Words:
        """The representative of a state's orbit."""
        found = _array((0,) * len(words))
        self.call["represent"](_array(words), found)
        return tuple(found)

    def successors(self, words: Words) -> list[tuple[Words, bool]]:
        """Where the steps from a state lead, in the order of the search; and which of them are faults."""
        entry = len(words) + 1
        own = _array(tuple(self.context.new()))
        buffer = _array((0,) * (entry * (self.most + 1)))
        own[CURSOR] = ctypes.addressof(buffer)
        end, with_faults = ctypes.addressof(buffer) + ctypes.sizeof(buffer), True
        self.call["expand"](own, _array(words), 0, 1, end, with_faults)
        count = (own[CURSOR] - ctypes.addressof(buffer)) // (8 * entry)
        found = [tuple(buffer[entry * i : entry * (i + 1)]) for i in range(count)]
        return [(each[:-1], each[-1] >> FAULT == 1) for each in found]


def _array(words: tuple[int, ...]) -> Any:  # noqa: ANN401 - an array type for each length
    return (ctypes.c_uint64 * len(words))(*words)


def _recoverable(task: Task) -> list[Property]:
    """The properties that ask for a way back."""
    return [prop for prop in task.properties if prop.kind is PropertyKind.RECOVERABLE]


def _key(task: Task) -> str:
    """What the code depends on, and nothing else."""
    budget = (task.budget.total == 0, sorted((task.budget.kinds or {}).items()), task.budget.kinds is None)
    scope = task.scope
    sizes = (
        [len(v) for v in scope.sorts.values()],
        *(sorted(m.items()) for m in (scope.nats, scope.networks, scope.config)),
    )
    model = (task.model.sorts, task.model.nats, task.model.unions, task.model.variables, task.model.actions)
    asked = (task.properties, task.symmetry)
    parts = (model, asked, budget, sizes, _sources(), llvm.llvm_version_info, llvm.get_host_cpu_name())
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _sources() -> str:
    """The text of the modules that write code: another text, another code."""
    modules = sorted(files("modelcheck.explicit").iterdir(), key=lambda module: module.name)
    texts = (module.read_bytes() for module in modules if module.name.endswith(".py"))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def write(task: Task, layout: Layout, context: Context, *, blocks: bool = False) -> Written:
    """The kernel in LLVM's language. Raises TooWide."""
    expressions = Expressions(task.model, task.scope)
    steps = [
        Steps(action, expressions, layout, context)
        for action in task.model.actions
        if not is_fault(action) or action.name in context.allowed
    ]
    probes = [
        Steps(action, expressions, layout, context, probe=True)
        for action in task.model.actions
        if is_fault(action) and context.deadlock
    ]
    most = sum(step.most for step in steps)
    if most > MOST_STEPS:
        raise TooWide(f"up to {most} steps from one state")
    named = Named(
        [step.name for step in steps if not is_fault(step.action)],
        [step.name for step in steps if is_fault(step.action)],
        [step.name for step in probes],
    )
    recoverable, ways = _recoverable(task), Ways(layout, context)
    functions: list[Function] = [
        *(step.fn for step in [*steps, *probes]),
        *claims(context.of_states, expressions, layout),
        *(goals(recoverable, expressions, layout) if recoverable else ()),
        *loops(layout, context, named, most, symmetric=bool(task.symmetry)),
        *(ways.functions() if blocks else ()),
        *(ways.of_recovery(named.free, most) if blocks and recoverable else ()),
        *canonical(task.model, task.scope, layout, task.symmetry),
    ]
    public = {*SIGNATURES, *OF_RECOVERY, *OF_BLOCKS, *OF_WAYS}
    texts = [_private(str(fn), fn.name, public) for fn in functions]
    return Written("\n".join([*texts, *_declared(texts)]), most)


def _private(text: str, name: str, public: set[str]) -> str:
    """Functions that nobody outside calls may be inlined and forgotten."""
    return text if name in public else text.replace("define ", "define internal ", 1)


def _declared(texts: list[str]) -> list[str]:
    """The declarations of the intrinsics that are used."""
    used = sorted({name for text in texts for name in re.findall(r"@(llvm\.[a-z0-9.]+)", text)})
    return [_declaration(name) for name in used]


def _declaration(name: str) -> str:
    kind = name.rpartition(".")[2]
    if name.startswith("llvm.prefetch"):
        return f"declare void @{name}(ptr, i32, i32, i32)"
    if name.startswith("llvm.memcpy"):
        return f"declare void @{name}(ptr, ptr, i64, i1)"
    if name.startswith("llvm.ctpop"):
        return f"declare {kind} @{name}({kind})"
    return f"declare {kind} @{name}({kind}, i1)"


# ----------------------------------------------------------------------- compiling


def _target() -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=2, jit=True)


def compiled(text: str, level: int = 2) -> tuple[llvm.ExecutionEngine, bytes]:
    """The machine code of a kernel, ready to be called, and as an object file."""
    machine = _target()
    module = llvm.parse_assembly(text)
    module.triple = llvm.get_default_triple()
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = False
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    code = machine.emit_object(module)
    return loaded(code), code


def loaded(code: bytes) -> llvm.ExecutionEngine:
    """The machine code in an object file, ready to be called."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine
