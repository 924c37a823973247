"""The formulas mean what the semantics says: every step and truth of a small scope is one of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from random import Random

import pytest

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.symbolic.process import ProcessAnswer, ask, programs
from modelcheck.symbolic.unbounded.decode import ModelReader
from modelcheck.symbolic.unbounded.expressions import SmtEnv
from modelcheck.symbolic.unbounded.instances import without_quantifiers
from modelcheck.symbolic.unbounded.obligations import Formula, FormulaWriter, Obligation, ProofTask
from modelcheck.symbolic.unbounded.shapes import Pointwise, SmtParts, SmtShape
from modelcheck.symbolic.unbounded.sorts import Flat
from modelcheck.symbolic.unbounded.terms import FALSE, TRUE, SmtTerm, conjunction, equality, number
from modelcheck.symbolic.unbounded.theory import Small
from spec.load import loads
from spec.meaning.semantics import CutOff, Machine, State, Taken
from spec.model.kinds import INVARIANTS
from spec.model.values import ModelError
from tests.model_texts import model_text

STEPS = 6  # of each model that are put to the solver


def pinned(reader: ModelReader, shape: SmtShape, value: ir.Value) -> Iterator[SmtTerm]:
    """That a shape has a value."""
    match shape:
        case Flat(term, of):
            yield equality(term, reader.shapes.element(reader.shapes.constant(of, value), of))
        case Pointwise(at, t.Seq(), length):
            yield equality(length, number(len(value)))
            for index, each in enumerate(value):
                yield from pinned(reader, at(number(index)), each)
        case Pointwise(type=t.Set(inner)):
            for each, term in reader.domain(inner):
                yield equality(shape.says(term), TRUE if each in value else FALSE)
        case Pointwise(type=t.Bag(inner)):
            for each, term in reader.domain(inner):
                yield equality(shape.says(term), number(dict(value).get(each, 0)))
        case Pointwise(at, t.Map(key, _)):
            for (_, term), each in zip(reader.domain(key), value, strict=True):
                yield from pinned(reader, at(term), each)
        case SmtParts(parts):
            for part, each in zip(parts, value, strict=True):
                yield from pinned(reader, part, each)
        case _:
            raise Inexpressible("this shape")


def whole(reader: ModelReader, shapes: tuple[SmtShape, ...], state: State) -> SmtTerm:
    return conjunction([each for s, v in zip(shapes, state, strict=True) for each in pinned(reader, s, v)])


def asked(model: ir.Model, check: ir.Check) -> tuple[ProofTask, Small]:
    small = Small({name: len(found) for name, found in check.scope.sorts.items()}, check.scope.nats)
    return ProofTask(model, tuple(check.scope.config.items()), model.actions), small


def walked(machine: Machine, random: Random) -> Iterator[tuple[State, Taken]]:
    """Steps of a random run, as far as the model makes no error."""
    try:
        starts = machine.initial()
        if not starts:
            return
        state = random.choice(starts)
        for _ in range(20):
            taken = [step for step in machine.steps(state) if not isinstance(step, CutOff)]
            if not taken:
                return
            step = random.choice(taken)
            yield state, step
            state = step.state
    except ModelError:
        return


def numbers(writer: FormulaWriter, check: ir.Check) -> list[SmtTerm]:
    """That the numbers among the settings are as the check sets them."""
    return [
        equality(shape.term, number(check.scope.config[name]))
        for name, shape in writer.config.items()
        if isinstance(shape, Flat) and isinstance(shape.type, t.Range)
    ]


Rewrite = Callable[[Formula, Small], Formula]


def as_it_is(formula: Formula, _: Small) -> Formula:
    return formula


def is_possible(
    model: ir.Model, check: ir.Check, before: State, taken: Taken, rewrite: Rewrite = as_it_is
) -> bool | None:
    """Whether a step that the semantics takes is one of the formula's; None where it cannot be said."""
    all_, small = asked(model, check)
    writer = FormulaWriter(all_, small, named=False)
    claim = next(iter(model.properties))
    try:
        formula = writer.formula(Obligation(claim.name, taken.step.action), [claim])
        reader = ModelReader(writer.shapes, small)
        pins = [whole(reader, writer.before, before), whole(reader, writer.after, taken.state)]
    except Inexpressible:
        return None
    told = [("the states", pin) for pin in (*pins, *numbers(writer, check))]
    text = rewrite(replace(formula, assumed=(*formula.assumed, *told), goal=FALSE), small).text()
    said = ask(programs()[0], text, seconds=10)
    return (
        None
        if not said.answer.is_known and said.answer is not ProcessAnswer.FAILED
        else said.answer is ProcessAnswer.SAT
    )


def is_true(
    model: ir.Model, check: ir.Check, claim: ir.Property, state: State, rewrite: Rewrite = as_it_is
) -> bool | None:
    """Whether the formula of a claim can be as true as the semantics says; None where it cannot be said."""
    truth = Machine(model, check.scope).holds(claim, state)
    all_, small = asked(model, check)
    writer = FormulaWriter(all_, small, named=False)
    try:
        formula = writer.formula(Obligation(claim.name, model.actions[0].name), [])
        core = all_.core.property(claim.name).expr
        says = writer.expressions.truth(core, SmtEnv(writer.before, {})) if core else TRUE
        pin = whole(ModelReader(writer.shapes, small), writer.before, state)
    except Inexpressible:
        return None
    here = [("here", equality(says, TRUE if truth else FALSE)), ("the state", pin)]
    axioms = [each for each in formula.assumed if each[0] in {"sizes and chosen values", "the scope"}]
    told = [*axioms, *(("a setting", each) for each in numbers(writer, check)), *here]
    axioms_now = [("sizes and chosen values", each) for each in writer.theory.axioms(())]
    text = rewrite(replace(formula, assumed=(*told, *axioms_now), goal=FALSE), small).text()
    said = ask(programs()[0], text, seconds=10)
    return (
        None
        if not said.answer.is_known and said.answer is not ProcessAnswer.FAILED
        else said.answer is ProcessAnswer.SAT
    )


def without_claims(model: ir.Model) -> ir.Model:
    """A model with one claim that says nothing, so that its steps alone are asked about."""
    span = model.actions[0].span
    says = ir.Const(True, type=t.BOOL, span=span)  # noqa: FBT003 - a value of the language
    claim = ir.Property("nothing", ir.PropertyKind.INVARIANT, says, None, 0, None, span=span)
    return replace(model, properties=(claim,))


def drawn(seed: int) -> tuple[ir.Model, Random]:
    """A random model, and the dice that wrote it."""
    random = Random(seed)  # noqa: S311 - no secret
    (model,) = loads(model_text(random.randrange))
    return model, random


def steps_agree(model: ir.Model, random: Random, rewrite: Rewrite = as_it_is) -> list[bool]:
    check, plain = model.checks[0], without_claims(model)
    machine = Machine(plain, check.scope)
    if machine.assumption_failures():
        return []
    found = (
        is_possible(plain, check, before, taken, rewrite)
        for before, taken in islice(walked(machine, random), STEPS)
    )
    return [each for each in found if each is not None]


def claims_agree(model: ir.Model, random: Random, rewrite: Rewrite = as_it_is) -> list[bool]:
    check = model.checks[0]
    machine = Machine(model, check.scope)
    states = [before for before, _ in islice(walked(machine, random), 0, 12, 4)]
    agree = []
    for claim in model.properties:
        if claim.kind in INVARIANTS and claim.expr is not None:
            for state in states:
                try:
                    found = is_true(model, check, claim, state, rewrite)
                except ModelError:
                    continue
                agree += [] if found is None else [found]
    return agree


@pytest.mark.parametrize("first", [0, 25])
def test_every_step_of_a_random_model_is_a_step_of_its_formula(first: int) -> None:
    agree = [each for seed in range(first, first + 25) for each in steps_agree(*drawn(seed))]

    assert agree
    assert all(agree)


@pytest.mark.parametrize("first", [0, 25])
def test_the_claims_of_a_random_model_are_as_true_as_their_formulas(first: int) -> None:
    agree = [each for seed in range(first, first + 25) for each in claims_agree(*drawn(seed))]

    assert agree
    assert all(agree)


SETS_IN_VALUES = """protocol sets

sort S
nat N
record View { of: set[S], n: N }
union M { Ask(who: set[S]) Tell(view: View, next: N) }
network net: set of M
state {
  view: View = View({}, 0)
  latest: View? = none
  seen: set[set[S]] = {{}}
  kept: set[View] = {}
}

action ask(v in subsets(S)) { net.send(Ask(v)) }
action tell(m: Ask in net) { net.send(Tell(View(m.who, view.n), view.n)) }
action hear(m: Tell in net) { net.receive(m)  view.of := m.view.of  kept.add(m.view) }
action grow(s: S) { view.of.add(s)  view.n := view.n + 1 }
action keep { latest := view  seen.add(view.of)  kept.add(view) }
action back(v in latest) { view := v  latest := none }
action drop(s in view.of) { view.of.remove(s)  kept := {v in kept where s not in v.of} }

invariant same: forall a in kept, b in kept. a.of == b.of and a.n == b.n implies a == b
invariant small: forall v in seen. v subset view.of
invariant asked: forall m: Ask in net. m.who in seen or m.who == {}
invariant told: forall m: Tell in net. exists v in kept. v == m.view
invariant recent: latest == none or latest == view
invariant most: View(view.of, 0) in kept implies exists a in seen. a == view.of

check c { scope S = 2, N = 1, net = 2 }
"""


@pytest.mark.parametrize("seed", [1, 3])
def test_sets_inside_messages_options_and_sets_mean_what_they_say(seed: int) -> None:
    (model,) = loads(SETS_IN_VALUES)
    steps, claims = (
        agree(model, Random(seed), without_quantifiers)  # noqa: S311 - no secret
        for agree in (steps_agree, claims_agree)
    )

    assert len(steps) == STEPS
    assert len(claims) == 6 * 3
    assert all(steps)
    assert all(claims)
