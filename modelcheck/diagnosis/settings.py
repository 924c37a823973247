"""Which settings a run needs: what would not be possible, or not wrong, with another value of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from counterexamples.explanation import NeededSetting
from counterexamples.text import setting_by_key
from counterexamples.trace import Example, Trace
from modelcheck.diagnosis.causal_core import Exhausted, refusal
from modelcheck.diagnosis.rerun import ReplayStage, RunPrefix
from spec.meaning.semantics import Machine
from spec.model.ir import ConfigEntry, Scope, Value
from spec.model.types import Nat, Range
from spec.model.values import ModelError, members, show


def settings(trace: Trace, look: Callable[[], None] = lambda: None) -> tuple[NeededSetting, ...]:
    """The settings that a certified violation needs, each with a value that prevents it.

    The steps are taken again with another value of one setting, by NOTE(rerun), and
    do not end in the same violation.  It is about this run: another one may well
    break the same property.  Settings whose other values break an assumption of the
    model are left out.  Costs a replay for each other value of each setting; of numbers
    only those next to the value.  `look` is called before each step, and ends it by
    raising Exhausted: then settings may be missing.
    """
    return tuple(_found(trace, look))


def _found(trace: Trace, look: Callable[[], None]) -> Iterator[NeededSetting]:
    """The needed settings."""
    for entry in trace.model.configs:
        for other in other_values(entry, trace.scope):
            scope = replace(trace.scope, config={**trace.scope.config, entry.name: other})
            try:
                found = _without(trace, entry, other, scope, look)
            except Exhausted:
                return
            except ModelError:
                continue
            if found is not None:
                yield found
                break


def other_values(entry: ConfigEntry, scope: Scope) -> tuple[Value, ...]:
    """The values of a setting other than that in a scope; of a number its neighbours, of no scalar none."""
    value = scope.config[entry.name]
    try:
        others = [each for each in members(entry.type, scope) if each != value]
    except TypeError:  # no scalar
        return ()
    if isinstance(entry.type, Nat | Range):
        others = [each for each in others if abs(each - value) == 1]
    return tuple(others)


def _without(
    trace: Trace, entry: ConfigEntry, other: Value, scope: Scope, look: Callable[[], None]
) -> NeededSetting | None:
    """The effect of another value on the run; None if the violation remains."""
    machine = Machine(trace.model, scope)
    if machine.assumption_failures():
        return None
    starts = [state for state in machine.initial() if state == trace.states[0]]
    if not starts:
        return None
    replay = ReplayStage(replace(trace, scope=scope), look).replay(
        [RunPrefix(starts[0])], enumerate(trace.steps)
    )
    if replay.run is not None:
        return None
    values = trace.scope.config[entry.name], other
    value, text = (show(entry.type, each, scope) for each in values)
    here, there = (setting_by_key(trace.model, entry, each, scope) for each in values)
    by_key = (here, there)
    if replay.refused is None:
        is_example = isinstance(trace.ending, Example)
        what = f"`{trace.property}` is not reached" if is_example else "nothing is wrong at the end"
        return NeededSetting(entry.name, value, text, what, by_key=by_key)
    later, state = replay.refused
    reason = refusal(machine, trace.steps[later], state)
    what = f"step {later + 1} is not possible: {reason}"
    return NeededSetting(entry.name, value, text, what, later + 1, by_key)
