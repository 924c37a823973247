"""The judge: replays a trace by the meaning of the language alone, before it is shown."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import assert_never

from counterexamples.diff import changes
from counterexamples.nearest import differences, leading, no_step, refusing, why_not
from counterexamples.trace import (
    BadAssert,
    BadState,
    BadStep,
    Deadlocked,
    Erred,
    Example,
    Lasso,
    Stops,
    Trace,
    Trapped,
)
from spec.frozen import frozen
from spec.meaning.ranks import Ranks
from spec.meaning.semantics import CutOff, Machine, State, Step, Taken
from spec.model.ir import Fairness, Property, PropertyKind
from spec.model.kinds import INVARIANTS, OF_FAIR_RUNS
from spec.model.values import ModelError

OF_KIND: dict[type, AbstractSet[PropertyKind]] = {  # which properties an ending can be about
    BadState: INVARIANTS,
    BadStep: {PropertyKind.STEP},
    BadAssert: {PropertyKind.ASSERT},
    Example: {PropertyKind.REACHABLE},
    Deadlocked: {PropertyKind.DEADLOCK_FREE},
    Lasso: OF_FAIR_RUNS,
    Trapped: {PropertyKind.RECOVERABLE},
}
CLOSURE = 100_000  # states looked at before "no way back" is taken on trust


@frozen
class Certified:
    """A trace that was replayed by the semantics; `trusted` names parts that could not be checked."""

    trace: Trace
    trusted: str = ""


class NotReplayable(Exception):  # noqa: N818 - a finding, not an error
    """Raised for a trace that is no run of the model, or does not show what it claims.

    `at` is the number of the step that is wrong, counted from 1; 0 is the
    initial state, None the ending.  `hints` are sentences on what the model does instead.
    """

    def __init__(self, at: int | None, reason: str, hints: tuple[str, ...] = ()) -> None:
        self.at = at
        self.reason = reason
        self.hints = hints
        place = "the ending" if at is None else f"step {at}" if at else "the initial state"
        super().__init__(f"{place}: {reason}")


def certify(trace: Trace) -> Certified:
    """The trace after a replay: the start, every step and the ending are the model's. Raises NotReplayable.

    Costs the enumeration of all steps of each state of the trace. Raises NotReplayable.
    """
    machine = Machine(trace.model, trace.scope)
    _starts(machine, trace)
    taken: Taken | None = None
    for number, step in enumerate(trace.steps, 1):
        before, after = trace.states[number - 1 : number + 1]
        taken = _takes(machine, number, before, step, after)
    return Certified(trace, _ends(machine, trace, taken))


def _starts(machine: Machine, trace: Trace) -> None:
    """Check the first state."""
    if not trace.is_run:
        raise NotReplayable(0, "it is an obstacle to a proof, and may not be reachable by any run")
    if len(trace.states) != len(trace.steps) + 1:
        raise NotReplayable(None, f"{len(trace.states)} states for {len(trace.steps)} steps")
    try:
        starts = machine.initial()
    except ModelError as error:
        raise NotReplayable(0, f"the model cannot start: {error.message}") from error
    found = trace.states[0]
    if found not in starts:
        near = min((changes(machine.model, machine.scope, start, found) for start in starts), key=len)
        many = (
            ""
            if len(starts) == 1
            else f"it is none of the model's {len(starts)} initial states; the nearest: "
        )
        raise NotReplayable(0, many + differences(machine, near))


def _takes(machine: Machine, number: int, before: State, step: Step, after: State) -> Taken:
    """The model's step with that name between two states. Raises NotReplayable if there is none."""
    other: State | None = None
    try:
        for found in machine.steps(before, actions=(step.action,), args=step.args):
            if found.step != step:
                continue
            if isinstance(found, CutOff):
                raise NotReplayable(number, f"{machine.name(step)} goes beyond the scope of {found.limit}")
            if found.state == after:
                return found
            other = found.state
    except ModelError as error:
        raise NotReplayable(number, f"the model makes an error here: {error.message}") from error
    instead = leading(machine, before, after)
    if instead is not None:
        hints: tuple[str, ...] = (f"{machine.name(instead)} leads from state {number - 1} to this state.",)
    else:
        hints = no_step(machine, number, before, after, step) if other is None else ()
    if other is None:
        raise NotReplayable(number, _refusal(machine, before, step), hints)
    differs = differences(machine, changes(machine.model, machine.scope, other, after))
    raise NotReplayable(number, f"{machine.name(step)} does not lead to this state: {differs}", hints)


def _refusal(machine: Machine, state: State, step: Step) -> str:
    """Why the model does not take a step."""
    action = next((action for action in machine.model.actions if action.name == step.action), None)
    if action is None:
        return f"the model has no action `{step.action}`"
    if len(step.args) != len(action.params):
        return f"{action.name} has {len(action.params)} parameters, not {len(step.args)}"
    name = machine.name(step)
    guard = refusing(machine, step, state)
    if guard is None:
        return f"{name} cannot happen here: no choice or parameter of this kind is offered"
    return f"{name} cannot happen here: {why_not(machine, guard, step, state)}"


# --------------------------------------------------------------------- endings


def _ends(machine: Machine, trace: Trace, taken: Taken | None) -> str:
    """Check the ending, and return what had to be trusted. Raises NotReplayable."""
    last = trace.states[-1]
    trusted = ""
    kinds = OF_KIND.get(type(trace.ending))
    if trace.property is not None and kinds is not None:
        prop = _property(trace)
        _claim(prop.kind in kinds, f"`{prop.name}` is a property of another kind: {prop.kind.value}")
    match trace.ending:
        case BadState():
            _claim(not _evaluate(machine, trace, last), f"`{trace.property}` is true in the last state")
        case Example():
            _claim(_evaluate(machine, trace, last), f"`{trace.property}` is false in the last state")
        case BadStep():
            _claim(bool(trace.steps), "there is no step")
            holds = machine.step_holds(_property(trace), trace.states[-2], trace.steps[-1], last)
            _claim(not holds, f"`{trace.property}` is true of the last step")
        case BadAssert():
            broken = taken.broken if taken else ()
            _claim(trace.property in broken, f"no assert of `{trace.property}` is false in the last step")
        case Erred() as ending:
            _check_error(machine, trace, ending)
        case Deadlocked():
            found = next(iter(machine.steps(last)), None)
            _claim(found is None, f"{machine.name(found.step) if found else ''} can happen in the last state")
            ends = trace.property is not None and _evaluate(machine, trace, last)
            _claim(not ends, f"`{trace.property}` allows a run to end in the last state")
        case Lasso(loop):
            _loops(machine, trace, loop)
        case Trapped():
            trusted = _is_trapped(machine, _property(trace), last)
        case Stops():
            pass
        case _:
            assert_never(trace.ending)
    return trusted


def _claim(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - an assertion reads best so
    """Raise NotReplayable with the message unless the condition is true."""
    if not holds:
        raise NotReplayable(None, otherwise)


def _property(trace: Trace) -> Property:
    """The property that the trace is about."""
    if trace.property is None:
        raise NotReplayable(None, "no property is named")
    try:
        return trace.model.property(trace.property)
    except KeyError:
        raise NotReplayable(None, f"the model has no property `{trace.property}`") from None


def _evaluate(machine: Machine, trace: Trace, state: State) -> bool:
    """The value of the trace's property in a state."""
    try:
        return machine.holds(_property(trace), state)
    except ModelError as error:
        raise NotReplayable(None, f"the property makes an error: {error.message}") from error


def _check_error(machine: Machine, trace: Trace, ending: Erred) -> None:
    """Check that the model makes the recorded error in the last state."""
    last = trace.states[-1]
    try:
        if trace.property is not None:
            _ask(machine, trace)
        for _ in machine.steps(last, actions=None if ending.step is None else (ending.step.action,)):
            pass
    except ModelError as error:
        _claim(error.code == ending.code, f"the error is {error.code}, not {ending.code}")
        _claim(ending.step in {None, error.step}, "another step makes the error")
        return
    raise NotReplayable(None, f"no error {ending.code} happens in the last state")


def _ask(machine: Machine, trace: Trace) -> None:
    """Evaluate the property, for the error that this may be."""
    prop = _property(trace)
    if prop.kind not in {PropertyKind.STEP, PropertyKind.ASSERT}:
        machine.ask(prop, trace.states[-1])
    elif trace.steps and prop.kind is PropertyKind.STEP:
        machine.step_holds(prop, trace.states[-2], trace.steps[-1], trace.states[-1])


def _loops(machine: Machine, trace: Trace, loop: int) -> None:
    """Check that the cycle returns to its first state, and that the property is not satisfied on it."""
    _claim(0 <= loop < len(trace.states), f"there is no state {loop} to come back to")
    _claim(trace.states[loop] == trace.states[-1], f"the last state is not state {loop} again")
    prop = _property(trace)
    try:
        _claim(not _is_served(machine, trace, prop, loop), f"the run does what `{prop.name}` promises")
        _claim_fair(machine, trace, loop)
    except ModelError as error:
        raise NotReplayable(None, f"the model makes an error on the way round: {error.message}") from error


def _is_served(machine: Machine, trace: Trace, prop: Property, loop: int) -> bool:
    """Whether the run does what is promised, at the latest on the cycle."""
    if prop.kind is not PropertyKind.LEADSTO:
        enough = any if prop.kind is PropertyKind.ALWAYS_EVENTUALLY else all
        return enough(machine.holds(prop, state) for state in trace.states[loop:])
    waits = [number for number, state in enumerate(trace.states) if machine.holds(prop, state)]
    _claim(bool(waits), "what should lead to the goal never happens")
    return any(machine.goal(prop, state) for state in trace.states[min(waits[-1], loop) :])


def _claim_fair(machine: Machine, trace: Trace, loop: int) -> None:
    """Check that the cycle has no faults and violates no fairness assumption.

    An action is possible where it has a step that changes the state or leaves
    the scope, and is taken by a step that changes the state, whatever its parameters.
    """
    changing = {
        trace.steps[number].action
        for number in range(loop, len(trace.steps))
        if trace.states[number] != trace.states[number + 1]
    }
    states = dict.fromkeys(trace.states[loop:])
    for action in trace.model.actions:
        if action.is_fault:
            again = any(step.action == action.name for step in trace.steps[loop:])
            _claim(not again, f"the fault {action.name} would happen again and again")
        elif action.is_fair and action.name not in changing:
            possible = [_is_possible(machine, action.name, state) for state in states]
            broken = all(possible) if action.fairness is Fairness.WEAK else any(possible)
            _claim(not broken, f"{action.fairness.value} {action.name} is put off for ever")


def _is_possible(machine: Machine, action: str, state: State) -> bool:
    """Whether an action has a step from a state."""
    found = machine.steps(state, actions=(action,))
    return any(isinstance(step, CutOff) or step.state != state for step in found)


def _is_trapped(machine: Machine, prop: Property, last: State) -> str:
    """Check that no state reachable without faults satisfies the property, up to CLOSURE states."""
    mending, alike = set(machine.model.free), Ranks(machine.model, machine.scope)
    seen, stack = {last}, [last]
    while stack:
        state = stack.pop()
        _claim(not machine.holds(prop, state), f"a state where `{prop.name}` is true can still be reached")
        for found in machine.steps(state, actions=mending):
            if isinstance(found, CutOff):
                raise NotReplayable(None, f"a way that may lead there leaves the scope at {found.limit}")
            after = alike.squeezed(found.state)
            if after in seen:
                continue
            if len(seen) >= CLOSURE:
                return f"that none of the states beyond the first {CLOSURE:,} leads back"
            seen.add(after)
            stack.append(after)
    return ""
