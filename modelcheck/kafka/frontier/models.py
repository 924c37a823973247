"""Checks of a model file as the rows of a frontier, over the names of its scope and configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import spec.model.ir as ir
from counterexamples.text import setting_by_key
from modelcheck.asking.models import pick_checks
from modelcheck.asking.overrides import Overrides
from modelcheck.asking.sweep import FAULTS, Axis, SweepPoint, points
from modelcheck.contract.families import families, looked_at
from modelcheck.diagnosis.settings import other_values
from modelcheck.kafka.frontier.grid import ConfigurationRow, Grid, Job, RowCase
from modelcheck.kafka.frontier.limits import FaultLimits, kinds_of, wrong
from modelcheck.kafka.questions.question import ANY, Guarantee, Posed, Question
from spec.frozen import frozen
from spec.load import load
from spec.meaning.semantics import Machine
from spec.model.values import ModelError

OVER = "--over"
SETTING = "setting"  # the head of rows that differ from the first in one setting
AS_IT_IS = "as the check has them"  # its first row
NO_PROMISE = {ir.PropertyKind.REACHABLE, ir.PropertyKind.LEMMA}  # nothing that faults should not break


@frozen
class Chosen:
    """A selection of checks, models and properties of a file; everything where nothing is named."""

    checks: tuple[str, ...] = ()
    of: str | None = None
    properties: tuple[str, ...] = ()


def grid(path: str, axes: Sequence[Axis], chosen: Chosen, faults: int, kinds: str | None) -> Grid:
    """A row for each check at each point of the axes; points that violate an assumption are left out.

    Without axes, a single check of a model that has settings (configs with a key) has a row as it is,
    and a row for each other value of one setting.
    Raises SpecError for a file, a name or a value that is wrong, and for too many rows.
    """
    models = load(path)
    if any(axis.name == FAULTS for axis in axes):
        wrong(OVER, FAULTS, "", "the number of faults is the result", "set the most to try with --faults")
    checks = pick_checks(models, list(chosen.checks)) if any(model.checks for model in models) else []
    made = points(models, checks, axes, Overrides(), of=chosen.of, properties=chosen.properties)
    heads = [each.name for each in axes]
    if is_star := not axes and len(made) == 1 and any(entry.key for entry in made[0].model.configs):
        made, heads = list(_one_setting_each(made[0])), [SETTING]
    known = {name: name for point in made for name in point.model.faults}
    asked = FaultLimits(faults, None if kinds is None else kinds_of(kinds, known))
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
        faults,
        (f"{AS_IT_IS}: {_settings(made[0])}",) if is_star else (),
        peers="of the same check and size",
        is_star=is_star,
    )


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
