"""LLVM IR to machine code: quickly, well, or in between."""

from __future__ import annotations

from enum import Enum

import llvmlite.binding as llvm

WEB = "wasm32-unknown-unknown"
WEB_FEATURES = "+bulk-memory,+sign-ext,+mutable-globals"  # what every browser has had since 2021


class Tier(Enum):
    """How machine code is compiled: quickly, with cheap optimisations, or with slow ones."""

    QUICK = "quick"
    MIDDLE = "middle"
    FULL = "full"


EFFORTS = {Tier.QUICK: 0, Tier.MIDDLE: 1, Tier.FULL: 2}  # LLVM's levels of optimisation


def compiled(text: str, tier: Tier) -> bytes:
    """The object file compiled from LLVM IR.

    MIDDLE takes some seven times as long as QUICK, and what it makes takes three fifths of
    the time; FULL takes twenty times as long and more, for half of the time.  QUICK has no
    passes: they take longer than what they spare, and values that they put into registers
    over several blocks can keep LLVM from selecting instructions quickly.
    """
    machine = _target(EFFORTS[tier])
    module = llvm.parse_assembly(text)
    module.triple = llvm.get_default_triple()
    module.data_layout = str(machine.target_data)
    if tier is Tier.FULL:
        _optimise(module, machine)
    elif tier is Tier.MIDDLE:
        _simplify(module, machine)
    code: bytes = machine.emit_object(module)
    return code


def for_the_web(text: str) -> bytes:
    """The WebAssembly object file compiled from LLVM IR, with full optimisation."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(WEB)
    machine = target.create_target_machine(cpu="generic", features=WEB_FEATURES, opt=2)
    module = llvm.parse_assembly(text)
    module.triple = WEB
    module.data_layout = str(machine.target_data)
    _optimise(module, machine)
    code: bytes = machine.emit_object(module)
    return code


def loaded(code: bytes) -> llvm.ExecutionEngine:
    """The machine code of an object file, linked and callable."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target(0))
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def environment() -> tuple[object, ...]:
    """What compiled code depends on besides the IR: the compiler and the processor."""
    return llvm.llvm_version_info, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _optimise(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> None:
    """Run LLVM's full optimisations."""
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = False
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)


def _simplify(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> None:
    """Run the few passes that spare most: local variables in registers, fewer blocks and instructions."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))


def _target(effort: int) -> llvm.TargetMachine:
    """The LLVM target of this machine at an optimisation level."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=effort, jit=True)
