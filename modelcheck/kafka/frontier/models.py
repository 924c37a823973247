"""Checks of a model file as the rows of a frontier, over the names of its scope and configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import spec.model.ir as ir
from counterexamples.text import setting_by_key
from modelcheck.asking.models import pick_checks
from modelcheck.asking.overrides import Overrides, names_to_give
from modelcheck.asking.sweep import FAULTS, Axis, SweepPoint, points
from modelcheck.contract.families import families, looked_at
from modelcheck.diagnosis.settings import other_values
from modelcheck.kafka.frontier.grid import SETTING, ConfigurationRow, Grid, Job, RowCase
from modelcheck.kafka.frontier.limits import FaultLimits, kinds_of, near, wrong
from modelcheck.kafka.questions.question import ANY, Guarantee, Posed, Question
from spec.frozen import frozen
from spec.load import load
from spec.meaning.semantics import Machine
from spec.model.values import ModelError, members, show

OVER = "--over"
AS_IT_IS = "as the check has them"  # its first row
NO_SCOPE = ir.Scope({}, {}, {}, {})  # of settings whose values are listed: they are of no sort
NO_PROMISE = {ir.PropertyKind.REACHABLE, ir.PropertyKind.LEMMA}  # nothing that faults should not break


@frozen
class Chosen:
    """A selection of checks, models and properties of a file; everything where nothing is named."""

    checks: tuple[str, ...] = ()
    of: str | None = None
    properties: tuple[str, ...] = ()


def grid(path: str, axes: Sequence[Axis], chosen: Chosen, faults: int, kinds: str | None) -> Grid:
    """A row for each check at each point of the axes; points that violate an assumption are left out.

    An axis is a name of the scope or the configuration, or the key of a setting (a config with a key).
    Without axes, a single check of a model that has settings has a row as it is, and a row for
    each other value of one setting.
    Raises SpecError for a file, a name or a value that is wrong, and for too many rows.
    """
    models = load(path)
    known = {name: name for name in fault_names(models)}
    asked = FaultLimits(faults, None if kinds is None else kinds_of(kinds, known))
    return grid_of(models, axes, chosen, asked)


def fault_names(models: Sequence[ir.Model]) -> tuple[str, ...]:
    """The names of the faults of these models."""
    return tuple(dict.fromkeys(name for model in models for name in model.faults))


def grid_of(models: tuple[ir.Model, ...], axes: Sequence[Axis], chosen: Chosen, asked: FaultLimits) -> Grid:
    """The grid of the models of a file, as `grid` makes it."""
    path = models[0].source.name
    if any(axis.name == FAULTS for axis in axes):
        wrong(OVER, FAULTS, "", "the number of faults is the result", "set the most to try with --faults")
    checks = pick_checks(models, list(chosen.checks)) if any(model.checks for model in models) else []
    made = _points(models, checks, axes, chosen)
    heads = [each.name for each in axes]
    if is_star := not axes and len(made) == 1 and any(entry.key for entry in made[0].model.configs):
        made, heads = list(_one_setting_each(made[0])), [SETTING]
    known = fault_names([point.model for point in made])
    wanted = {prop.name: _guarantee(prop) for point in made for prop in _promises(point)}
    if not wanted:
        wrong("--property", path, "", f"{path} has no property that faults could break")
    is_named = len({_name(point) for point in made}) > 1
    rows = tuple(_row(point, heads, asked, is_named=is_named) for point in made)
    if all(row.left_out for row in rows):
        wrong(OVER, " ".join(heads), "", f"nothing is left to ask: {rows[0].left_out}")
    there = {posed.question.kind for row in rows for job in row.jobs for posed in job.alone}
    return Grid(
        models[0].name if is_named else _name(made[0]),
        (*(["check"] if is_named else []), *heads),
        _with_families(rows),
        tuple(wanted.values()),
        {name: f"fault {name} of the model" for name in known if name in there},
        asked.faults,
        (f"{AS_IT_IS}: {_settings(made[0])}",) if is_star else (),
        peers="of the same check and size",
        is_star=is_star,
    )


def _points(
    models: tuple[ir.Model, ...],
    checks: Sequence[tuple[ir.Model, ir.Check]],
    axes: Sequence[Axis],
    chosen: Chosen,
) -> list[SweepPoint]:
    """Each check at each point of the axes, with the values as they were typed."""
    own = [own_axis(models, axis) for axis in axes]
    for number, axis in enumerate(own):
        if axis.name in {each.name for each in own[:number]}:
            wrong(OVER, axes[number].name, "", f"`{axes[number].name}` is given twice")
    made = points(models, checks, own, Overrides(), of=chosen.of, properties=chosen.properties)
    typed = {
        (axis.name, value): text
        for axis, as_typed in zip(own, axes, strict=True)
        for value, text in zip(axis.values, as_typed.values, strict=True)
    }
    names = [axis.name for axis in own]
    return [
        replace(point, values=tuple(typed[pair] for pair in zip(names, point.values, strict=True)))
        for point in made
    ]


def axis_names(models: Sequence[ir.Model]) -> set[str]:
    """What an axis of these models may be over: their names, and the keys of their settings."""
    return names_to_give(models) | {
        entry.key_name for model in models for entry in model.configs if entry.key
    }


def own_axis(models: Sequence[ir.Model], axis: Axis) -> Axis:
    """The axis over the model's own name and values, where it is over the key of a setting.

    Raises SpecError for a key of several settings, and for a value that its setting does not take.
    """
    if axis.name in names_to_give(models):
        return axis
    entries = {entry.name: entry for m in models for entry in m.configs if entry.key_name == axis.name}
    if len(entries) > 1:
        text, help_ = f"{axis.name}={','.join(axis.values)}", f"vary one of {', '.join(entries)}"
        wrong(OVER, text, axis.name, f"several settings have the key `{axis.name}`", help_)
    return next((Axis(name, _own_values(entry, axis)) for name, entry in entries.items()), axis)


def _own_values(entry: ir.ConfigEntry, axis: Axis) -> tuple[str, ...]:
    """The model's values for those of a key; a key without a list has the model's own."""
    _, is_listed, listed = (entry.key or "").partition("=")
    if not is_listed:
        return axis.values
    own = [show(entry.type, value, NO_SCOPE) for value in members(entry.type, NO_SCOPE)]
    meant = {text: text for text in own} | {
        text: value for text, value in zip(listed.split("|"), own, strict=False) if text != "?"
    }
    for value in axis.values:
        if value not in meant:
            text = f"{axis.name}={','.join(axis.values)}"
            wrong(OVER, text, value, f"`{axis.name}` does not take `{value}`", near(value, meant))
    own_values = tuple(meant[value] for value in axis.values)
    if len(set(own_values)) < len(own_values):
        text = f"{axis.name}={','.join(axis.values)}"
        wrong(OVER, text, "", f"a value of `{axis.name}` is given twice, in two spellings")
    return own_values


def _settings(point: SweepPoint) -> str:
    """The settings of a point by their keys: "acks=1, min.insync.replicas=2"."""
    model, scope = point.model, point.check.scope
    keyed = (entry for entry in model.configs if entry.key)
    return ", ".join(setting_by_key(model, entry, scope.config[entry.name], scope) for entry in keyed)


def _one_setting_each(point: SweepPoint) -> Iterator[SweepPoint]:
    """The point, and one for each other value of one of the settings that have a key."""
    model, check = point.model, point.check
    yield replace(point, values=(AS_IT_IS,))
    for entry in model.configs:
        for value in other_values(entry, check.scope) if entry.key else ():
            words = setting_by_key(model, entry, value, check.scope)
            scope = replace(check.scope, config={**check.scope.config, entry.name: value})
            yield SweepPoint((words,), model, replace(check, scope=scope, expect=()))


def _name(point: SweepPoint) -> str:
    """The name of the check at a point, with its model."""
    return f"{point.model.name} · {point.check.name}"


def _promises(point: SweepPoint) -> list[ir.Property]:
    """The properties of a check that are promises: all except examples."""
    return [prop for prop in looked_at(point.model, point.check) if prop.kind not in NO_PROMISE]


def _guarantee(prop: ir.Property) -> Guarantee:
    """A property as a guarantee of the table."""
    name = prop.name
    return Guarantee(name, f"{name} holds under", f"{name} is violated", "it is violated", (name,))


def _row(point: SweepPoint, heads: Sequence[str], asked: FaultLimits, *, is_named: bool) -> ConfigurationRow:
    """The row of a point of the axes."""
    values = (*([_name(point)] if is_named else []), *point.values)
    switches = {SETTING, *(entry.name for entry in point.model.configs)}
    sizes = (value for head, value in zip(heads, point.values, strict=True) if head not in switches)
    why = _impossible(point)
    if why:
        return ConfigurationRow(values, left_out=why)
    return ConfigurationRow(values, (RowCase((_job(point, asked),)),), among=(_name(point), *sizes))


def _impossible(point: SweepPoint) -> str:
    """Why a point cannot be checked; empty if it can."""
    machine = Machine(point.model, point.check.scope)
    if unmet := machine.assumption_failures():
        return f"against the assumption {', '.join(each.name for each in unmet)}"
    try:
        machine.initial()
    except ModelError as error:
        return f"the model cannot start: {error.message}"
    return "" if _promises(point) else "the check has no property that faults could break"


def _job(point: SweepPoint, asked: FaultLimits) -> Job:
    """The job that decides all properties at a point."""
    model, check = point.model, point.check
    faults = [name for name in model.faults if check.budget.allows(name) and asked.allows(name)]
    guarantees = tuple(_guarantee(prop) for prop in _promises(point))
    names = tuple(each.name for each in guarantees)

    def posed(kind: str, some: Sequence[str], most: int) -> Posed:
        counted = {name: asked.most(name) if len(some) > 1 else None for name in some}
        budget = ir.Budget(most, counted) if counted and most else ir.Budget(0)
        question = Question(guarantees, kind, budget)
        return Posed(question, model, replace(check, budget=budget, only=names, expect=()), None)

    kinds = faults if asked.faults else []
    alone = tuple(posed(name, [name], asked.most(name) or asked.faults) for name in kinds)
    return Job(posed(ANY, faults, asked.faults), alone)


def _with_families(rows: tuple[ConfigurationRow, ...]) -> tuple[ConfigurationRow, ...]:
    """The rows, with jobs that can share a kernel grouped."""
    asked = [(posed.model, posed.check) for row in rows for job in row.jobs for posed in job.posed]
    in_turn = iter(families(asked))

    def known(job: Job) -> Job:
        first, *others = (replace(posed, family=next(in_turn)) for posed in job.posed)
        return Job(first, tuple(others))

    def in_families(case: RowCase) -> RowCase:
        return replace(case, jobs=tuple(known(job) for job in case.jobs))

    return tuple(replace(row, cases=tuple(map(in_families, row.cases))) for row in rows)
