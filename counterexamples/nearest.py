"""Which step leads from one state to another, and when none does, which come nearest and why they do not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from counterexamples.diff import Change, changes
from counterexamples.lines import one_line
from spec.frozen import frozen
from spec.meaning.blame import Failure, Named, Operand, failing_guard
from spec.meaning.semantics import CutOff, Machine, State, Step, Taken
from spec.model.ir import Guard, Value
from spec.model.values import ModelError, show

LOOKED_AT = 100_000  # ways from a state that are compared, at most
MOST_NAMED = 2  # of the nearest actions, and of the places
SHORT = 60  # characters of a value that is shown


@frozen
class Near:
    """A step that comes near a state: the remaining differences, and the guard that refuses it.

    Each change is from what the model has to what the trace has.
    """

    step: Step
    differs: tuple[Change, ...]
    guard: Guard | None


def leading(machine: Machine, before: State, after: State, prefer: str | None = None) -> Step | None:
    """The first step between two states, of the preferred action if possible; None if there is none.

    Costs the enumeration of all steps of the state.  An action that makes an error on the way is passed over.
    """
    actions = [action.name for action in machine.model.actions]
    actions.sort(key=lambda name: name != prefer)
    return next((step for name in actions for step in _leading(machine, before, after, name)), None)


def _leading(machine: Machine, before: State, after: State, action: str) -> Iterator[Step]:
    """The steps of an action between two states."""
    try:
        for found in machine.steps(before, actions=(action,)):
            if isinstance(found, Taken) and found.state == after:
                yield found.step
    except ModelError:
        return


def nearest(machine: Machine, before: State, after: State) -> tuple[Near, ...]:
    """For each action the step whose effect is nearest to a state.

    Guards may refuse them; of several as near, one that no guard refuses comes first.  Looks at LOOKED_AT
    ways at most.
    """
    best: dict[str, Near] = {}
    for found in islice(machine.unguarded(before), LOOKED_AT):
        if isinstance(found, CutOff):
            continue
        differs = changes(machine.model, machine.scope, found.state, after)
        near = Near(found.step, differs, refusing(machine, found.step, before))
        if found.step.action not in best or _distance(near) < _distance(best[found.step.action]):
            best[found.step.action] = near
    ranked = sorted(best.values(), key=_distance)
    return tuple(near for near in ranked if len(near.differs) == len(ranked[0].differs))[:MOST_NAMED]


def _distance(near: Near) -> tuple[int, bool]:
    """A sort key for near steps."""
    return len(near.differs), near.guard is not None


def refusing(machine: Machine, step: Step, state: State) -> Guard | None:
    """The first guard that refuses a step; None if none does, or one is an error."""
    try:
        return machine.why_not(step.action, step.args, state)
    except ModelError:
        return None


# ----------------------------------------------------------------- in sentences


def no_step(
    machine: Machine, number: int, before: State, after: State, known: Step | None = None
) -> tuple[str, ...]:
    """Sentences on why no step leads from one state to the next; `number` is that of the missing step.

    The actions that come nearest, what they would do, and what prevents
    them; not for the step `known`, which is reported already.
    """
    found = [near for near in nearest(machine, before, after) if near.step != known]
    sentences = [_sentence(machine, near, number, before) for near in found]
    if before == after:
        sentences.insert(0, f"State {number} is state {number - 1} again, and no action leaves it as it is.")
    return (*sentences, *_beyond(machine, before))


def _sentence(machine: Machine, near: Near, number: int, before: State) -> str:
    """How near a step comes: "elect(a) would lead to this state, but its guard `up` is false in state 2"."""
    name = machine.name(near.step)
    refused = ""
    if near.guard is not None:
        refused = f"its {why_not(machine, near.guard, near.step, before, f' in state {number - 1}')}"
    if not near.differs:
        return f"{name} would lead to this state, but {refused}."
    otherwise = f"{name} comes nearest, but after it {differences(machine, near.differs, 'is {1}, not {0}')}"
    return f"{otherwise}; and {refused}." if refused else f"{otherwise}."


def differences(
    machine: Machine, differs: tuple[Change, ...], form: str = "is {0}, the model has {1}"
) -> str:
    """The first differences from a state of the model: "epoch is 3, the model has 2"."""

    def value(change: Change, which: Value) -> str:
        return _brief(show(change.type, which, machine.scope))

    sentences = [
        f"{each.path} {form.format(value(each, each.after), value(each, each.before))}" for each in differs
    ]
    return "; ".join(sentences[:MOST_NAMED]) + (
        f"; and {len(sentences) - MOST_NAMED} more" if len(sentences) > MOST_NAMED else ""
    )


def why_not(machine: Machine, guard: Guard, step: Step, state: State, where: str = "") -> str:
    """The guard that refuses a step, and why: "guard `free` (leader != r) is false: leader is a"."""
    failures = failing_guard(machine.model, machine.scope, guard, step, state)[:MOST_NAMED]
    reasons = [_because(machine, failure, guard) for failure in failures]
    because = "; ".join(filter(None, reasons))
    return f"{guard_text(machine, guard)} is false{where}" + (f": {because}" if because else "")


def _because(machine: Machine, failure: Failure, guard: Guard) -> str:
    """The false part of a guard, with its members and values, in words."""
    source = machine.model.source
    sentences = []
    if failure.span != guard.test.span:
        bound = ", ".join(f"{each.name} = {_shown(machine, each)}" for each in failure.names)
        sentences = [f"`{one_line(source.at(failure.span))}` is {'false' if failure.wanted else 'true'}"]
        sentences[0] += f" for {bound}" if bound else ""
    values = {
        one_line(source.at(each.span)): _shown(machine, each)
        for each in failure.operands
        if each.span != failure.span
    }
    return ", ".join(sentences + [f"{text} is {value}" for text, value in values.items() if text != value])


def _shown(machine: Machine, part: Named | Operand) -> str:
    """The value of a part in words."""
    return _brief(show(part.type, part.value, machine.scope))


def guard_text(machine: Machine, guard: Guard) -> str:
    """A guard by name and text: "guard `up` (r.up)"."""
    text = one_line(machine.model.source.at(guard.test.span))
    return f"guard `{guard.name}` ({text})" if guard.name else f"guard `{text}`"


def _beyond(machine: Machine, state: State) -> Iterator[str]:
    """The actions whose steps from a state leave the scope, in sentences."""
    limits: dict[str, str] = {}
    for action in machine.model.actions:
        try:
            for found in machine.steps(state, actions=(action.name,)):
                if isinstance(found, CutOff):
                    limits.setdefault(
                        action.name, f"{machine.name(found.step)} goes beyond the scope of {found.limit}"
                    )
        except ModelError as error:
            limits.setdefault(action.name, f"{action.name} makes an error of the model: {error.message}")
    yield from (f"{words}." for words in [*limits.values()][:MOST_NAMED])


def _brief(text: str) -> str:
    """A text cut short."""
    return text if len(text) <= SHORT else text[: SHORT - 1] + "…"
