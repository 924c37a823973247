"""Several systems in one frontier: a model of each by its own settings, and Kafka by its configuration.

What the systems are asked is called by the same names: a guarantee of Kafka's by that of the property
that the models of other systems have for it, a kind of fault by that of the fault of its model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import modelcheck.kafka.frontier.configurations as configurations
import modelcheck.kafka.frontier.models as models
import spec.model.ir as ir
from modelcheck.asking.sweep import Axis
from modelcheck.kafka.frontier.configurations import OVER, Base
from modelcheck.kafka.frontier.findings import listed
from modelcheck.kafka.frontier.grid import SETTING, SYSTEM, ConfigurationRow, Grid, Job
from modelcheck.kafka.frontier.limits import FaultLimits, kinds_of, near, wrong
from modelcheck.kafka.questions.question import GUARANTEES, KINDS, Guarantee, Posed
from spec.frozen import frozen
from spec.load import load

KAFKA = "kafka"  # in place of a file: what Kafka does by default
ASKED = {"durable": "acknowledged_survive", "read": "no_dirty_read", "writable": "writable"}
MIXTURE = (
    "A mixture is of the faults that each system's model has, as the tables by kinds show;"
    " --kinds asks all of them of the same."
)
_FAULTS = {kind.name: kind.fault for kind in KINDS}


@frozen
class ComparedSystem:
    """A system of the table, with the models of its file; of Kafka there are none."""

    name: str
    models: tuple[ir.Model, ...] = ()

    def has_axis(self, name: str) -> bool:
        """Whether the system can be varied over a name or a key."""
        return name in models.axis_names(self.models) if self.models else configurations.is_key(name)


def grid(
    names: Sequence[str],
    axes: Sequence[Axis],
    chosen: models.Chosen,
    base: Base,
    faults: int,
    kinds: str | None,
) -> Grid:
    """The rows of each system, one system after the other; Kafka is described by `base`.

    An axis is of the systems that have its name or key.  Without axes each has a row as it is, and one for
    each other value of one of its settings.
    Raises SpecError for a file, a name or a value that is wrong, and for a system without such a check.
    """
    found = [_system(name) for name in names]
    for number, system in enumerate(found):
        if system.name in {each.name for each in found[:number]}:
            wrong("FILE", " ".join(names), names[number], f"the system `{system.name}` is given twice")
    for axis in axes:
        if not any(system.has_axis(axis.name) for system in found):
            text = f"{axis.name}={','.join(axis.values)}"
            help_ = near(axis.name, [name for system in found for name in models.axis_names(system.models)])
            wrong(OVER, text, axis.name, f"none of these systems has `{axis.name}`", help_, "R0902")
    known = {fault: fault for system in found for fault in models.fault_names(system.models)}
    known |= _FAULTS | {fault: fault for fault in _FAULTS.values()} if KAFKA in names else {}
    asked = FaultLimits(faults, None if kinds is None else kinds_of(kinds, known))
    parts = []
    for system in found:
        own = [axis for axis in axes if system.has_axis(axis.name)]
        part = _of_model(system, own, chosen, asked) if system.models else _of_kafka(base, own, asked)
        is_varied = bool(own) or not axes
        parts.append(part if is_varied else replace(part, rows=part.rows[:1], is_star=False))
    return _together(found, parts, asked)


def _system(name: str) -> ComparedSystem:
    """The system that is named on the command line."""
    if name == KAFKA:
        return ComparedSystem(name)
    of = load(name)
    return ComparedSystem(of[0].name, of)


def _of_model(
    system: ComparedSystem, axes: Sequence[Axis], chosen: models.Chosen, asked: FaultLimits
) -> Grid:
    """The rows of a model, by the checks and properties that it has of those that are chosen."""
    checks = [check.name for model in system.models for check in model.checks]
    properties = [prop.name for model in system.models for prop in model.properties]
    own = replace(
        chosen,
        checks=_of_these("--check", system, chosen.checks, checks),
        properties=_of_these("--property", system, chosen.properties, properties),
    )
    if not own.checks and len(checks) > 1:
        help_ = "choose one of each system with --check, such as `--check settings`"
        wrong("--check", system.name, "", f"{system.name} has {len(checks)} checks", help_)
    made = models.grid_of(system.models, axes, own, asked)
    return made if axes or made.is_star else replace(made, heads=(SETTING,), rows=_as_it_is(made.rows))


def _of_these(
    option: str, system: ComparedSystem, wanted: Sequence[str], known: Sequence[str]
) -> tuple[str, ...]:
    """Those of the wanted names that a system has.  Raises SpecError where it has none."""
    found = tuple(name for name in wanted if name in known)
    if wanted and not found:
        help_ = near(wanted[0], known)
        wrong(option, " ".join(wanted), "", f"{system.name} has no {option[2:]} {' or '.join(wanted)}", help_)
    return found


def _as_it_is(rows: Iterable[ConfigurationRow]) -> tuple[ConfigurationRow, ...]:
    """The only row of a system without settings."""
    return tuple(replace(row, values=(models.AS_IT_IS,)) for row in rows)


# ------------------------------------------------------------------ Kafka


def _of_kafka(base: Base, axes: Sequence[Axis], asked: FaultLimits) -> Grid:
    """The rows of Kafka, with what is asked of it by the names that the models have."""
    kinds = None
    if asked.kinds is not None:
        kinds = {name: asked.kinds[fault] for name, fault in _FAULTS.items() if fault in asked.kinds}
    guarantees = [guarantee for guarantee in GUARANTEES if guarantee.name in ASKED]
    limits = replace(asked, kinds=kinds)
    made = (
        configurations.of_three(base, axes, guarantees, limits)
        if axes
        else configurations.star(base, guarantees, limits)
    )
    return replace(
        made,
        rows=tuple(_as_model(row) for row in made.rows),
        guarantees=tuple(map(_renamed, guarantees)),
        kinds={_FAULTS.get(name, name): title for name, title in made.kinds.items()},
    )


def _as_model(row: ConfigurationRow) -> ConfigurationRow:
    """A row of Kafka with guarantees and kinds of faults by the names that the models have."""

    def of(posed: Posed) -> Posed:
        question = posed.question
        renamed = tuple(map(_renamed, question.guarantees))
        kind = _FAULTS.get(question.kind, question.kind)
        return replace(posed, question=replace(question, guarantees=renamed, kind=kind))

    cases = tuple(
        replace(case, jobs=tuple(Job(of(job.mixture), tuple(map(of, job.alone))) for job in case.jobs))
        for case in row.cases
    )
    return replace(row, cases=cases)


def _renamed(guarantee: Guarantee) -> Guarantee:
    """A guarantee of Kafka by the name that the models have for it."""
    return replace(guarantee, name=ASKED[guarantee.name], adjective="")


# ------------------------------------------------------------------ all of them


def _together(systems: Sequence[ComparedSystem], parts: Sequence[Grid], asked: FaultLimits) -> Grid:
    """One grid of the rows of all systems."""
    named = list(zip([system.name for system in systems], parts, strict=True))
    guarantees = {each.name: each for part in parts for each in part.guarantees}
    in_order = sorted(guarantees.values(), key=lambda each: _place(each.name))
    return Grid(
        listed([name for name, _ in named]),
        (SYSTEM, SETTING),
        tuple(_row(name, part, row) for name, part in named for row in part.rows),
        tuple(in_order),
        {name: title for part in reversed(parts) for name, title in part.kinds.items()},
        asked.faults,
        (MIXTURE, *(f"{name}, {note}" for name, part in named for note in part.notes)),
        peers="of the same system and size",
        is_star=all(part.is_star for part in parts),
    )


def _place(guarantee: str) -> int:
    """The place of a guarantee in the table: what all systems are asked comes first."""
    names = list(ASKED.values())
    return names.index(guarantee) if guarantee in names else len(names)


def _row(name: str, part: Grid, row: ConfigurationRow) -> ConfigurationRow:
    """A row of one system in the table of all."""
    pairs = zip(part.heads, row.values, strict=True)
    setting = ", ".join(value if head == SETTING else f"{head}={value}" for head, value in pairs)
    return replace(row, values=(name, setting), among=(name, *row.among))
