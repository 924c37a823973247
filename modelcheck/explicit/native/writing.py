"""The machine code of a task: all of its functions in LLVM IR, compiled."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from modelcheck.contract.engine import Task, Witness
from modelcheck.explicit.codegen.assembly import Function
from modelcheck.explicit.codegen.expressions.costs import GENEROUS, LoopUnrolling
from modelcheck.explicit.codegen.expressions.expressions import ExpressionWriter
from modelcheck.explicit.codegen.expressions.operations import CORE
from modelcheck.explicit.codegen.expressions.parameters import Parameters
from modelcheck.explicit.codegen.search.claims import awaits, claims, ends, goals
from modelcheck.explicit.codegen.search.context import Context, context, fair, of_fair_runs, recoverable
from modelcheck.explicit.codegen.search.expansion import Expansion
from modelcheck.explicit.codegen.search.graphs import MOST_FAIR, graphs
from modelcheck.explicit.codegen.search.liveness import Liveness
from modelcheck.explicit.codegen.search.loops import ActionFunctions, loops
from modelcheck.explicit.codegen.search.recovery_blocks import RecoveryBlocks
from modelcheck.explicit.codegen.search.sampling import Sampling, SamplingSteps
from modelcheck.explicit.codegen.search.sorted_states import SortedStates
from modelcheck.explicit.codegen.search.steps import Steps
from modelcheck.explicit.codegen.states.canonical import canonical, emitting
from modelcheck.explicit.codegen.states.in_use import greatest
from modelcheck.explicit.codegen.states.layout import PackedLayout
from modelcheck.explicit.codegen.values.packing import TooWide
from modelcheck.explicit.native.compiling import Tier, compiled
from modelcheck.explicit.native.functions import PUBLIC
from modelcheck.search.persistent import persistence
from spec.frozen import This, frozen
from spec.model.ir import Model, Property

MOST_STEPS = 1 << 24  # from one state; more is refused


@frozen
class KernelText:
    """The LLVM IR of a kernel, and the most successors a state can have."""

    text: str
    most: int


def full(task: Task, layout: PackedLayout, *, blocks: bool = False, shared: bool = False) -> bytes:
    """The fully optimised code of a task, or of its family."""
    parameters = Parameters(task, folded=not shared)
    return code(write(task, layout, parameters, blocks=blocks), Tier.FULL)


def of_graphs() -> bytes:
    """The fully optimised code of the functions on graphs."""
    return code(KernelText(text_of(graphs(), PUBLIC), 0), Tier.FULL)


def of_sorted_states(words: int) -> bytes:
    """The fully optimised code of the functions on sorted arrays of states."""
    return code(KernelText(text_of(SortedStates(words).functions(), PUBLIC), 0), Tier.FULL)


def code(written: KernelText, tier: Tier) -> bytes:
    """The cached form of a kernel: the most successors of a state, and an object file."""
    return written.most.to_bytes(8) + compiled(written.text, tier)


def write(
    task: Task,
    layout: PackedLayout,
    parameters: Parameters,
    *,
    blocks: bool = False,
    unrolling: LoopUnrolling = GENEROUS,
    extra: Iterable[Function] = (),
    public: Collection[str] = PUBLIC,
) -> KernelText:
    """The LLVM IR of a kernel, with `extra` functions. Raises TooWide."""
    persistent, task = persistence(task), in_core(task)  # of the model as it was written
    words = context(task, persistent)
    expressions = ExpressionWriter(task.model, task.scope, parameters, unrolling)
    steps, probes, most = _steps(Steps, task, expressions, layout, words, named=blocks)
    named = ActionFunctions(
        [step.name for step in steps if not step.action.is_fault],
        [step.name for step in steps if step.action.is_fault],
        [step.name for step in probes],
    )
    goal, ways = recoverable(task), RecoveryBlocks(layout, words)
    endless = [] if blocks else of_fair_runs(task)
    functions: list[Function] = [
        *(step.fn for step in [*steps, *probes]),
        *claims(words, expressions, layout),
        *ends(words, expressions, layout),
        *(goals(goal, expressions, layout) if goal else ()),
        *loops(layout, words, parameters, named, most, emitting(task.scope, task.symmetry)),
        *(awaits(endless, expressions, layout) if endless else ()),
        *(_liveness(layout, words, steps).functions() if endless else ()),
        *(ways.functions() if blocks else ()),
        *(ways.of_recovery(named.free, most) if blocks and goal else ()),
        *canonical(task.model, task.scope, layout, task.symmetry),
        *greatest(task.model, task.scope, layout),
        *parameters.functions(),
        *extra,
    ]
    return KernelText(text_of(functions, public, parameters.declared()), most)


def write_runs(task: Task, layout: PackedLayout) -> KernelText:
    """The LLVM IR of a kernel that makes random runs. Raises TooWide."""
    task = in_core(task)
    parameters = Parameters(task, folded=True)
    words, expressions = context(task), ExpressionWriter(task.model, task.scope, parameters)
    steps, probes, most = _steps(SamplingSteps, task, expressions, layout, words)
    functions: list[Function] = [
        *(step.fn for step in [*steps, *probes]),
        *claims(words, expressions, layout),
        *ends(words, expressions, layout),
        *Expansion(layout, words, parameters, emitting(task.scope, ())).takers(),
        *Sampling(layout, words, steps, probes).functions(),
    ]
    return KernelText(text_of(functions, PUBLIC), most)


def _steps(
    of: type[Steps],
    task: Task,
    expressions: ExpressionWriter,
    layout: PackedLayout,
    words: Context,
    *,
    named: bool = False,
) -> tuple[list[Steps], list[Steps], int]:
    """The functions of actions, those of probes, and the most successors of a state. Raises TooWide."""
    steps = [
        of(action, expressions, layout, words, named=named)
        for action in task.model.actions
        if not action.is_fault or action.name in words.allowed
    ]
    probes = [
        of(action, expressions, layout, words, probe=True)
        for action in task.model.actions
        if action.is_fault and words.deadlock is not None
    ]
    most = sum(step.most for step in steps)
    if most > MOST_STEPS:
        raise TooWide(f"up to {most} steps from one state")
    return steps, probes, most


def in_core(task: Task) -> Task:
    """The task with its model and properties rewritten with core operators only."""

    def lowered(properties: Iterable[Property]) -> tuple[Property, ...]:
        return tuple(map(CORE.property, properties))

    def conditions(found: Iterable[Witness]) -> tuple[Witness, ...]:
        return tuple(replace(each, condition=CORE.property(each.condition)) for each in found)

    family = task.family and replace(
        task.family,
        properties=lowered(task.family.properties),
        witnesses=conditions(task.family.witnesses),
    )
    return replace(
        task,
        model=_core(This(task.model)),
        properties=lowered(task.properties),
        family=family,
        witnesses=conditions(task.witnesses),
    )


@lru_cache(maxsize=8)
def _core(this: This[Model]) -> Model:
    """A model with core operators only; the checks of a file have few models."""
    return CORE.model(this.value)


def _liveness(layout: PackedLayout, context: Context, steps: Sequence[Steps]) -> Liveness:
    """The writer of the liveness functions. Raises TooWide for more fair actions than bits."""
    promised = fair(context.actions)
    if len(promised) > MOST_FAIR:
        raise TooWide(f"{len(promised)} fair actions, more than {MOST_FAIR}")
    codes = {action.name: number for number, action in enumerate(promised, 1)}
    free = [(step.name, codes.get(step.action.name, 0)) for step in steps if not step.action.is_fault]
    return Liveness(layout, context, free, [step.name for step in steps if step.action.is_fault])


def text_of(functions: Iterable[Function], public: Collection[str], declared: Iterable[str] = ()) -> str:
    """The LLVM IR of functions in one module; those not `public` may be inlined and dropped."""
    texts = [
        str(fn) if fn.name in public else str(fn).replace("define ", "define internal ", 1)
        for fn in functions
    ]
    return "\n".join([*declared, *texts, *_declared(texts)])


def _declared(texts: list[str]) -> list[str]:
    """The declarations of the LLVM intrinsics that the texts use."""
    used = sorted({name for text in texts for name in re.findall(r"@(llvm\.[a-z0-9.]+)", text)})
    return [_declaration(name) for name in used]


def _declaration(name: str) -> str:
    """The declaration of an intrinsic."""
    kind = name.rpartition(".")[2]
    if name.startswith("llvm.prefetch"):
        return f"declare void @{name}(ptr, i32, i32, i32)"
    if name.startswith("llvm.memcpy"):
        return f"declare void @{name}(ptr, ptr, i64, i1)"
    if name.startswith("llvm.ctpop"):
        return f"declare {kind} @{name}({kind})"
    return f"declare {kind} @{name}({kind}, i1)"
