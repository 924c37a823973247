"""Whether part of a run still ends as the whole one did, by the semantics alone: the judge of shrinking.

It follows NOTE(rerun) to the letter and shares no code with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from random import Random

import spec.model.ir as ir
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
from spec.load import loads
from spec.meaning.fits import fits
from spec.meaning.semantics import Machine, State, Step, Taken
from spec.model.ir import PropertyKind, Scope
from spec.model.op import Op
from spec.model.types import BOOL
from spec.model.values import Cut, Misfit, ModelError, show
from spec.source import Span
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


def still_shown(trace: Trace, wanted: Iterable[Step]) -> bool:
    """Whether those steps, as far as they are possible, end as the trace does, from its start."""
    return _shown(trace, trace.states[:1], [(step, None) for step in wanted])


def shown_in(trace: Trace, scope: Scope) -> bool:
    """Whether the steps of a trace end as it does in another scope, from any start: by what they are called.

    A step there is the same when it is printed in the same way, so one that names
    what is not in that scope is not possible.
    """
    if not is_of_use(trace, scope):
        return False
    names = _named(Machine(trace.model, trace.scope), trace.steps)
    there = replace(trace, scope=scope)
    starts = Machine(trace.model, scope).initial()[:ABREAST]
    return _shown(there, starts, list(zip(trace.steps, names, strict=True)))


def is_of_use(trace: Trace, scope: Scope) -> bool:
    """Whether the model means something in a scope."""
    try:
        for entry in trace.model.configs:
            value = scope.config[entry.name]
            check = fits(entry.type, scope)
            if check is not None:
                check(value)
            show(entry.type, value, scope)
        machine = Machine(trace.model, scope)
        return not machine.assumption_failures() and machine.initial() != ()
    except (Cut, Misfit, ModelError, ValueError, IndexError):
        return False


def _named(machine: Machine, steps: Iterable[Step]) -> list[tuple[str, str]]:
    """What steps are called, without and with their choices."""
    return [(machine.name(replace(step, choices=())), machine.name(step)) for step in steps]


def _shown(
    trace: Trace, starts: Iterable[State], wanted: Iterable[tuple[Step, tuple[str, str] | None]]
) -> bool:
    machine = Machine(trace.model, trace.scope)
    runs: dict[State, Run] = {state: ((state,), ()) for state in starts}
    if any(is_seen(machine, trace, None, None, state) for state in runs):
        return True
    for step, name in wanted:
        further: dict[State, Run] = {}
        for state, (states, steps) in list(runs.items())[:ABREAST]:
            for taken in ways(machine, state, step, name):
                if is_seen(machine, trace, state, taken, taken.state):
                    return True
                further.setdefault(taken.state, ((*states, taken.state), (*steps, taken.step)))
        runs = dict(list(further.items())[:ABREAST]) or runs
    return any(is_whole(trace, run) for run in runs.values())


def ways(machine: Machine, state: State, step: Step, name: tuple[str, str] | None) -> list[Taken]:
    """How a step can be taken: with its choices, or else with any; all of that name, if one is given."""
    found: list[Taken] = []
    with suppress(ModelError):  # what comes before an error is possible
        found.extend(each for each in machine.steps(state, None, [step.action]) if isinstance(each, Taken))
    if name is None:
        found = [each for each in found if each.step.args == step.args]
        return [each for each in found if each.step == step] or found
    called = [(each, *_named(machine, [each.step])[0]) for each in found]
    found = [each for each, short, _ in called if short == name[0]]
    return [each for each, _, long in called if long == name[1]] or found


def is_seen(machine: Machine, trace: Trace, before: State | None, taken: Taken | None, state: State) -> bool:
    """Whether a run that comes to a state by a step ends there as the trace does."""
    ending = trace.ending
    try:
        if isinstance(ending, BadAssert):
            return taken is not None and trace.property in taken.broken
        if isinstance(ending, Deadlocked):
            stuck = not list(machine.steps(state))
            return stuck and not machine.may_end(trace.model.property(trace.property or ""), state)
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


def is_whole(trace: Trace, run: Run) -> bool:
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
            certify(replace(trace, states=states, steps=steps, ending=ending))
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
    except (ModelError, IndexError):  # it cannot start
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
        some = chance.sample(variables, min(len(variables), chance.randint(1, 4)))
        last = len(run.steps) if kind in WHOLE else chance.randint(1, max(1, len(run.steps)))
        short = up_to(run, min(last, len(run.steps)))
        prop = ir.Property("made_up", kind, _claim(kind, short, some), None, 0, None, span=NOWHERE)
        model = replace(run.model, properties=(prop,))
        yield from certified(replace(short, model=model, ending=ending, property=prop.name))


def _claim(kind: PropertyKind, run: Trace, some: list[tuple[int, ir.Variable]]) -> ir.Expr | None:
    """What the last step or state makes false, or true for an example."""
    ends = tuple(_compared(Op.NE, index, variable, run.states[-1]) for index, variable in some)
    match kind:
        case PropertyKind.DEADLOCK_FREE:
            return None
        case PropertyKind.RECOVERABLE:
            starts = (_compared(Op.EQ, index, variable, run.states[0]) for index, variable in some)
            return ir.And(tuple(starts), type=BOOL, span=NOWHERE)
        case PropertyKind.REACHABLE:
            same = (_compared(Op.EQ, index, variable, run.states[-1]) for index, variable in some)
            return ir.And(tuple(same), type=BOOL, span=NOWHERE)
        case PropertyKind.STEP:
            before = (_compared(Op.NE, index, v, run.states[-2:][0]) for index, v in some[:1])
            olds = (ir.Old(each, type=BOOL, span=NOWHERE) for each in before)
            return ir.Or((*olds, *ends), type=BOOL, span=NOWHERE)
        case _:
            return ir.Or(ends, type=BOOL, span=NOWHERE)


def _compared(op: Op, index: int, variable: ir.Variable, state: State) -> ir.Expr:
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


def random_walks(seed: int) -> Iterator[Trace]:
    """Walks through random graphs that go round for ever, get stuck, or find no way back, with detours."""
    chance = Random(seed)  # noqa: S311 - no secret
    edges = [10 * a + b for a in range(6) for b in chance.sample(range(6), 2)]
    sink = [edge for edge in edges if edge < 50]
    for drawn, mends, claim, ending in (
        (edges, True, chance.choice(["leadsto p: s == 3 ~> s == 9", "always eventually p: s == 9"]), None),
        (sink, False, "deadlock free", Deadlocked()),
        (
            [edge for edge in edges if (edge < 30) <= (edge % 10 < 3)],
            True,
            "recoverable p: s == 3",
            Trapped(),
        ),
    ):
        (model,) = loads(f"""
            protocol graph
            state {{ s: 0..9 = 0, broken: 0..2 = 0 }}
            {chance.choice(["", "fair", "strong fair"])} action go(e in {{ {", ".join(map(str, drawn))} }}) {{
              require s == e / 10
              s := e % 10
            }}
            fault jolt(to in {{ 2, 4 }}) {{ require broken < 2  broken := broken + 1  s := to }}
            fair repair mend {{ require {"broken == 2" if mends else "false"}  broken := 0 }}
            {claim}
            check all {{ faults any }}
        """)
        scope, (prop,) = model.checks[0].scope, model.properties
        states, steps, _, _ = walk(Machine(model, scope), chance, 30)
        whole = Trace(model, scope, states, steps, Stops(), prop.name, None)
        yield from _lassos(whole, chance) if ending is None else certified(replace(whole, ending=ending))


def _lassos(run: Trace, chance: Random) -> Iterator[Trace]:
    """One part of a run, if any, that could go round for ever."""
    ends = [(a, b) for b in range(len(run.states)) for a in range(b) if run.states[a] == run.states[b]]
    for start, end in chance.sample(ends, len(ends)):
        if found := list(certified(replace(up_to(run, end), ending=Lasso(start)))):
            yield from found
            return
