"""Why a claim is not proved: a small state where all claims are true, and a step to one where it is not.

The solver finds the state in a small scope; whether it is one, and the step, is for
the semantics of the model to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import spec.model.ir as ir
from counterexamples.trace import BadAssert, BadState, BadStep, Ending, Trace
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.symbolic.process import ProcessAnswer, Program, ask
from modelcheck.symbolic.unbounded.decode import ModelReader, values_of_terms
from modelcheck.symbolic.unbounded.instances import without_quantifiers
from modelcheck.symbolic.unbounded.obligations import FormulaWriter, Obligation, ProofTask
from modelcheck.symbolic.unbounded.sorts import Flat
from modelcheck.symbolic.unbounded.theory import Small
from spec.meaning.semantics import NO_START, CutOff, Machine, State, Taken
from spec.model.kinds import INVARIANTS
from spec.model.values import ModelError

# Of sorts and of nats, the smallest first, and of messages in a network that is a set: the one that the
# step is about, and others.
SIZES = ((1, 1, 2), (2, 1, 2), (2, 2, 2), (3, 2, 2), (2, 4, 2), (4, 2, 2))
UNDER_WAY = 99  # messages in a network: more than a small scope ever has


def broken_step(
    program: Program,
    asked: ProofTask,
    question: Obligation,
    claims: Sequence[ir.Property],
    seconds: float,
    sizes: Sequence[tuple[int, int, int]] = SIZES,
) -> Trace | None:
    """The smallest step found from a state where all claims hold that violates one; None if none is found."""
    if question.action is None:
        return None
    for small in _small_scopes(asked.model, sizes):
        try:
            found = _within(program, asked, question, claims, small, seconds)
        except (Inexpressible, ModelError):
            continue
        if found is not None:
            return found
    return None


def scope_without_start(asked: ProofTask) -> str:
    """A description of the smallest scope in which the model has no initial state; empty if none is found."""
    for small in _small_scopes(asked.model):
        scope = _scope(asked, small, {})
        machine = Machine(asked.model, scope)
        if machine.assumption_failures():
            continue
        try:
            machine.initial()
        except ModelError as error:
            if error.code == NO_START:
                sizes = (*small.sorts.items(), *small.nats.items())
                bounds = ", ".join(f"{name} = {n}" for name, n in sizes)
                return f"with {bounds}, {error.message}" if bounds else error.message
    return ""


def _small_scopes(model: ir.Model, sizes: Sequence[tuple[int, int, int]] = SIZES) -> Iterator[Small]:
    """Some scopes, the smallest first."""
    for members, most, messages in sizes:
        sorts = {sort.name: members for sort in model.sorts}
        yield Small(sorts, {nat.name: most for nat in model.nats}, messages)


def _within(
    program: Program,
    asked: ProofTask,
    question: Obligation,
    claims: Sequence[ir.Property],
    small: Small,
    seconds: float,
) -> Trace | None:
    """A step in a small scope that violates the claim; None if the solver finds none in time."""
    writer = FormulaWriter(asked, small, named=False)
    formula = without_quantifiers(writer.formula(question, claims), small)
    reader = ModelReader(writer.shapes, small)
    numbers = {n: value.term for n, value in writer.config.items() if isinstance(value, Flat)}
    terms = [term for shape in writer.before for term in reader.asked(shape)]
    terms = [*dict.fromkeys([*terms, *numbers.values()])]
    text = formula.text(after=[f"(get-value ({' '.join(map(str, terms))}))"], about=terms)
    said = ask(program, text, seconds=seconds)
    if said.answer is not ProcessAnswer.SAT:
        return None
    look = values_of_terms(writer.shapes, terms, said.text)
    state = tuple(reader.value(shape, look) for shape in writer.before)
    types = {entry.name: entry.type for entry in asked.model.configs}
    config = {name: look(term, types[name]) for name, term in numbers.items()}
    return _step(asked, question, claims, state, _scope(asked, small, config))


def _scope(asked: ProofTask, small: Small, config: dict[str, ir.Value]) -> ir.Scope:
    """The scope of a check with these sizes and configuration."""
    networks = {v.name: UNDER_WAY for v in asked.model.variables if v.network is not None}
    sorts = {name: tuple(f"{name[0].lower()}{at + 1}" for at in range(n)) for name, n in small.sorts.items()}
    return ir.Scope(sorts, dict(small.nats), networks, dict(asked.config) | config)


def _step(
    asked: ProofTask, question: Obligation, claims: Sequence[ir.Property], before: State, scope: ir.Scope
) -> Trace | None:
    """A step from the state that violates the claim, by the model's semantics."""
    machine = Machine(asked.model, scope)
    of_states = [claim for claim in claims if claim.kind in INVARIANTS]
    if machine.assumption_failures() or not all(machine.holds(claim, before) for claim in of_states):
        return None
    for taken in machine.steps(before, actions={question.action or ""}):
        if isinstance(taken, CutOff):
            continue
        for ending in _broken(machine, asked.model.property(question.claim), before, taken):
            states, steps = (before, taken.state), (taken.step,)
            return Trace(asked.model, scope, states, steps, ending, question.claim, is_run=False)
    return None


def _broken(machine: Machine, claim: ir.Property, before: State, taken: Taken) -> Iterator[Ending]:
    """The way in which a step violates the claim, if it does."""
    match claim.kind:
        case ir.PropertyKind.ASSERT:
            if claim.name in taken.broken:
                yield BadAssert()
        case ir.PropertyKind.STEP:
            if not machine.step_holds(claim, before, taken.step, taken.state):
                yield BadStep()
        case _:
            if not machine.holds(claim, taken.state):
                yield BadState()
