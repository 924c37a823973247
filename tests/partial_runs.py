"""Whether part of a run still ends as the whole one did, by the semantics alone: the judge of shrinking.

It follows NOTE(rerun) to the letter and shares no code with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from random import Random

import spec.ir as ir
from counterexamples.certify import NotReplayable, certify
from counterexamples.trace import (
    BadAssert,
    BadState,
    BadStep,
    Deadlocked,
    Ending,
    Erred,
    Example,
    Lasso,
    Stops,
    Trace,
    Trapped,
)
from spec.ir import PropertyKind, Scope
from spec.load import loads
from spec.semantics import Machine, State, Step, Taken
from spec.source import Span
from spec.types import BOOL
from spec.values import ModelError
from tests.model_texts import model_text

Run = tuple[tuple[State, ...], tuple[Step, ...]]
ABREAST = 100  # runs at once, as the note says
NOWHERE = Span(0, 0)
ENDINGS: Mapping[PropertyKind, Ending] = {
    PropertyKind.INVARIANT: BadState(),
    PropertyKind.REACHABLE: Example(),
    PropertyKind.STEP: BadStep(),
    PropertyKind.RECOVERABLE: Trapped(),
    PropertyKind.DEADLOCK_FREE: Deadlocked(),
}
WHOLE = {PropertyKind.RECOVERABLE, PropertyKind.DEADLOCK_FREE}  # shown by the end of a run, if at all


def still_shown(
    trace: Trace, wanted: Iterable[Step], scope: Scope | None = None, starts: Iterable[State] | None = None
) -> bool:
    """Whether those steps, as far as they are possible, end as the trace does: from its start unless told."""
    scope = scope or trace.scope
    machine = Machine(trace.model, scope)
    runs: dict[State, Run] = {s: ((s,), ()) for s in ([trace.states[0]] if starts is None else starts)}
    if any(is_seen(machine, trace, None, None, state) for state in runs):
        return True
    for step in wanted:
        further: dict[State, Run] = {}
        for state, (states, steps) in list(runs.items())[:ABREAST]:
            for taken in ways(machine, state, step):
                if is_seen(machine, trace, state, taken, taken.state):
                    return True
                further.setdefault(taken.state, ((*states, taken.state), (*steps, taken.step)))
        runs = dict(list(further.items())[:ABREAST]) or runs
    return any(is_whole(trace, scope, run) for run in runs.values())


def ways(machine: Machine, state: State, step: Step) -> list[Taken]:
    """How a step can be taken: with its choices, or else with any."""
    found: list[Taken] = []
    try:
        found.extend(
            each
            for each in machine.steps(state)
            if isinstance(each, Taken) and (each.step.action, each.step.args) == (step.action, step.args)
        )
    except ModelError as error:
        if error.step is None or error.step.action != step.action:
            return _of_action(machine, state, step)
    same = [each for each in found if each.step.choices == step.choices]
    return same or found


def _of_action(machine: Machine, state: State, step: Step) -> list[Taken]:
    """The same where another action makes an error."""
    found = machine.steps(state, None, [step.action])
    all_ = [each for each in found if isinstance(each, Taken) and each.step.args == step.args]
    return [each for each in all_ if each.step == step] or all_


def is_seen(machine: Machine, trace: Trace, before: State | None, taken: Taken | None, state: State) -> bool:
    """Whether a run that comes to a state by a step ends there as the trace does."""
    ending = trace.ending
    try:
        if isinstance(ending, BadAssert):
            return taken is not None and trace.property in taken.broken
        if isinstance(ending, Deadlocked):
            return not list(machine.steps(state))
        if isinstance(ending, Erred) and trace.property is None:
            actions = [a.name for a in trace.model.actions if ending.step in {None, *_all(ending, a.name)}]
            list(machine.steps(state, None, actions))
            return False
        if isinstance(ending, Lasso | Trapped):
            return False
        prop = trace.model.property(trace.property or "")
        if prop.kind is not PropertyKind.STEP:
            holds = machine.holds(prop, state)
        elif before is None or taken is None:
            return False
        else:
            holds = machine.step_holds(prop, before, taken.step, state)
    except ModelError as error:
        return isinstance(ending, Erred) and (ending.code, ending.span) == (error.code, error.span)
    match ending:
        case BadState() | BadStep():
            return not holds
        case Example():
            return holds
        case _:
            return False


def _all(ending: Erred, action: str) -> set[Step | None]:
    return {ending.step} if ending.step is not None and ending.step.action == action else set()


def is_whole(trace: Trace, scope: Scope, run: Run) -> bool:
    """Whether a whole run goes round for ever, or is trapped, as the trace is."""
    states, steps = run
    match trace.ending:
        case Trapped():
            endings: list[Lasso | Trapped] = [Trapped()]
        case Lasso():
            endings = [Lasso(at) for at, state in enumerate(states) if state == states[-1]]
        case _:
            return False
    for ending in endings:
        try:
            certify(replace(trace, scope=scope, states=states, steps=steps, ending=ending))
        except (NotReplayable, ModelError):
            continue
        return True
    return False


# ------------------------------------------------------------------ runs to try


def random_traces(seed: int, length: int = 40) -> Iterator[Trace]:
    """Random runs of a random model, each with an ending that takes some of its steps."""
    chance = Random(seed)  # noqa: S311 - no secret
    (model,) = loads(model_text(chance.randrange))
    scope = model.checks[0].scope
    machine = Machine(model, scope)
    states, steps, broken, error = walk(machine, chance, length)
    if not states:
        return
    whole = Trace(model, scope, states, steps, Stops(), None, None)
    if error is not None:
        yield replace(whole, ending=Erred(error.code, error.message, error.span, error.step))
    for number, names in enumerate(broken, 1):
        for name in names:
            yield replace(up_to(whole, number), ending=BadAssert(), property=name)
    yield from _of_values(whole, chance)


def walk(
    machine: Machine, chance: Random, length: int
) -> tuple[tuple[State, ...], tuple[Step, ...], tuple[tuple[str, ...], ...], ModelError | None]:
    """A random run, the asserts that each step breaks, and the error at its end if it comes to one."""
    try:
        states, steps, broken = [chance.choice(machine.initial())], list[Step](), list[tuple[str, ...]]()
    except ModelError:
        return (), (), (), None
    error = None
    while len(steps) < length:
        try:
            found = [each for each in machine.steps(states[-1]) if isinstance(each, Taken)]
        except ModelError as met:
            error = met
            break
        if not found:
            break
        taken = chance.choice(found)
        states.append(taken.state)
        steps.append(taken.step)
        broken.append(taken.broken)
    return tuple(states), tuple(steps), tuple(broken), error


def _of_values(run: Trace, chance: Random) -> Iterator[Trace]:
    """The run up to some state, which a property made up of one or two values there is about."""
    variables = list(enumerate(run.model.variables))
    for kind, ending in ENDINGS.items():
        some = chance.sample(variables, min(len(variables), 2))
        last = len(run.steps) if kind in WHOLE else chance.randint(1, max(1, len(run.steps)))
        short = up_to(run, min(last, len(run.steps)))
        prop = ir.Property("made_up", kind, _claim(kind, short, some), None, 0, None, span=NOWHERE)
        model = replace(run.model, properties=(prop,))
        yield from certified(replace(short, model=model, ending=ending, property=prop.name))


def _claim(kind: PropertyKind, run: Trace, some: list[tuple[int, ir.Variable]]) -> ir.Expr | None:
    """What the last step or state makes false, or true for an example."""
    ends = tuple(_compared(ir.Op.NE, index, variable, run.states[-1]) for index, variable in some)
    match kind:
        case PropertyKind.DEADLOCK_FREE:
            return None
        case PropertyKind.RECOVERABLE:
            starts = (_compared(ir.Op.EQ, index, variable, run.states[0]) for index, variable in some)
            return ir.And(tuple(starts), type=BOOL, span=NOWHERE)
        case PropertyKind.REACHABLE:
            same = (_compared(ir.Op.EQ, index, variable, run.states[-1]) for index, variable in some)
            return ir.And(tuple(same), type=BOOL, span=NOWHERE)
        case PropertyKind.STEP:
            before = (_compared(ir.Op.NE, index, v, run.states[-2:][0]) for index, v in some[:1])
            olds = (ir.Old(each, type=BOOL, span=NOWHERE) for each in before)
            return ir.Or((*olds, *ends), type=BOOL, span=NOWHERE)
        case _:
            return ir.Or(ends, type=BOOL, span=NOWHERE)


def _compared(op: ir.Op, index: int, variable: ir.Variable, state: State) -> ir.Expr:
    left = ir.Var(index, type=variable.type, span=NOWHERE)
    right = ir.Const(state[index], type=variable.type, span=NOWHERE)
    return ir.Apply(op, (left, right), type=BOOL, span=NOWHERE)


def up_to(run: Trace, count: int) -> Trace:
    """The first so many steps."""
    return replace(run, states=run.states[: count + 1], steps=run.steps[:count])


def certified(trace: Trace) -> Iterator[Trace]:
    """The trace, if it is one."""
    try:
        yield certify(trace).trace
    except (NotReplayable, ModelError):
        return


def random_lassos(seed: int) -> Iterator[Trace]:
    """Runs of a random graph that go round for ever, with detours on the way and on the way round."""
    chance = Random(seed)  # noqa: S311 - no secret
    edges = ", ".join(str(10 * a + b) for a in range(6) for b in chance.sample(range(6), 2))
    text = f"""
        protocol graph
        state {{ s: 0..9 = 0, broken: 0..2 = 0 }}
        {chance.choice(["", "fair", "strong fair"])} action go(e in {{ {edges} }}) {{
          require s == e / 10
          s := e % 10
        }}
        fault jolt(to in {{2, 4}}) {{ require broken < 2  broken := broken + 1  s := to }}
        fair repair mend {{ require broken == 2  broken := 0 }}
        {chance.choice(["leadsto p: s == 3 ~> s == 9", "always eventually p: s == 9"])}
        check all {{ faults any }}
    """
    (model,) = loads(text)
    scope = model.checks[0].scope
    states, steps, _, _ = walk(Machine(model, scope), chance, 30)
    whole = Trace(model, scope, states, steps, Stops(), "p", None)
    for end in sorted(range(len(states)), key=lambda _: chance.random()):
        for start in range(end):
            if states[start] == states[end]:
                yield from certified(replace(up_to(whole, end), ending=Lasso(start)))
