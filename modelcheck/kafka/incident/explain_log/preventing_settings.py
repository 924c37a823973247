"""The settings that would have refused a run: it is replayed under each change of one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from counterexamples.nearest import guard_text, refusing
from counterexamples.trace import Trace
from modelcheck.kafka.incident.explain_log.metadata_timeline import FIRST
from modelcheck.kafka.incident.explain_log.observations import SETTING
from modelcheck.kafka.questions.changes import REPLICAS, Circumstances, SwitchChange, in_words, single_changes
from modelcheck.kafka.questions.partition import PartitionModel
from modelcheck.kafka.settings.keys.releases import plain, value_of
from modelcheck.kafka.settings.keys.versions import version
from spec.frozen import frozen
from spec.meaning.semantics import Machine, State, Step, Taken


@frozen
class RunRefusal:
    """A change of settings, and its effect on a run: the step it refuses, or the loss it prevents.

    `step` is None where all steps go, and nothing is lost by them.
    """

    what: str
    step: int | None
    guard: str


def refusals(trace: Trace, losses: tuple[str, ...], release: str) -> Iterator[RunRefusal]:
    """The changes of one setting that refuse a step of the run or prevent its losses.

    Costs a replay for each.  A refused run does not prove that no other run loses as much.
    """
    config = {entry.name: plain(entry, trace.scope.config[entry.name]) for entry in trace.model.configs}
    if any(step.action in SETTING for step in trace.steps):
        yield from _unchanged(trace, losses)
    config = {name.removesuffix(FIRST): value for name, value in config.items()}
    names = trace.scope.sorts["Broker"]
    wanted = int(config["min_isr"])
    partition = PartitionModel(
        trace.model, trace.model, names, config, ephemeral=False, approximations=(), in_sync_wanted=wanted
    )
    for change in single_changes(partition):
        if change.switch != REPLICAS and f"{change.switch}{FIRST}" not in trace.scope.config:
            found = _under(trace, change, losses)
            if found is not None:
                what = in_words(change, Circumstances(version(release), len(names), version(release))).what
                yield RunRefusal(what, *found)


def _unchanged(trace: Trace, losses: tuple[str, ...]) -> Iterator[RunRefusal]:
    """The effect on the run if the settings never change."""
    found = _replayed(trace, Machine(trace.model, trace.scope), losses, without=frozenset(SETTING))
    if found is not None:
        yield RunRefusal("the topic's settings as they were at first", *found)


def _under(trace: Trace, change: SwitchChange, losses: tuple[str, ...]) -> tuple[int | None, str] | None:
    """The step that a change refuses (or None), with the guard; None if the same properties break."""
    entry = next(each for each in trace.model.configs if each.name == change.switch)
    config = {**trace.scope.config, change.switch: value_of(entry, change.after)}
    return _replayed(trace, Machine(trace.model, replace(trace.scope, config=config)), losses)


def _replayed(
    trace: Trace, machine: Machine, losses: tuple[str, ...], without: frozenset[str] = frozenset()
) -> tuple[int | None, str] | None:
    """The effect of replaying the run on a machine, `without` steps of some actions."""
    state = trace.states[0]
    for number, step in enumerate(trace.steps, 1):
        if step.action in without:
            continue
        after = _taken(machine, state, step)
        if after is None:
            guard = refusing(machine, step, state)
            return number, "" if guard is None else guard_text(machine, guard)
        state = after
        if any(not machine.holds(trace.model.property(name), state) for name in losses):
            return None
    return None, ""


def _taken(machine: Machine, state: State, step: Step) -> State | None:
    """The state that a step leads to; None if the machine refuses it."""
    found = machine.steps(state, actions=(step.action,), args=step.args)
    return next((each.state for each in found if isinstance(each, Taken) and each.step == step), None)
