"""Which run is to be tried, and with which configuration; what cannot be is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import NoReturn

import spec.library as library
from counterexamples.itf.read import document
from counterexamples.trace import Trace
from modelcheck.api import check as run_check
from modelcheck.api import traces
from modelcheck.asking.models import pick_check, pick_checks, pick_model
from modelcheck.asking.overrides import Overrides, one_check
from modelcheck.contract.report import Reporter
from modelcheck.contract.result import Outcome
from modelcheck.kafka.reproduce.attempt import ReproductionTask
from modelcheck.kafka.reproduce.installation import Home
from modelcheck.kafka.reproduce.observed_state import Ending, View
from modelcheck.kafka.reproduce.plan import CannotForce, Plan, can_drive, plan
from modelcheck.kafka.reproduce.settings import as_read, at_brokers, settings
from modelcheck.storage.files import LARGEST_TRACE, read_text
from spec.diagnostics import Diagnostic, SpecError
from spec.load import load
from spec.model.ir import Model, Scope
from spec.source import Source

LOSSES = frozenset({"acknowledged_survive", "committed_on_leader", "acknowledged_kept"})
ROOM = 4  # elections
PLANNED = ("moves", "rolls")  # how often something may be done that is no fault


def asked(
    trace: Trace, home: Home, *, under: str | None = None, at_brokers_only: bool = False
) -> tuple[ReproductionTask, CannotForce | None]:
    """The task to try a run on a release, and why it cannot be tried, if so.

    `under` names another check, whose configuration the cluster gets.  Raises SpecError for settings
    that the release has not got.
    """
    model, scope = (trace.model, trace.scope) if under is None else _under(under, trace)
    given = settings(model, scope, home)
    if at_brokers_only:
        given = at_brokers(given)
    scope, read = as_read(model, scope, home, at_brokers_only=at_brokers_only)
    found = plan(trace)
    if isinstance(found, CannotForce):
        return ReproductionTask(Plan(trace, (), ()), model, scope, given, under, read), found
    return ReproductionTask(found, model, wide(scope), given, under, read), None


def wide(scope: Scope) -> Scope:
    """A scope with room for elections that the cluster may have and the run does not."""
    return replace(scope, nats={name: most + ROOM * (name == "Epoch") for name, most in scope.nats.items()})


def trace_in(path: str, check: str | None) -> Trace:
    """The run in a file. Raises SpecError if it cannot be driven."""
    found = document(read_text(path, largest=LARGEST_TRACE), path)
    name = found.model or "kafka"
    models = next((each for _, each in driven() if name in {model.name for model in each}), None)
    if models is None:
        _refuse_model(Source(path, found.source.text), name)
    model = pick_model(models, name)
    refuse_undriven(model)
    scope = None if check is None else pick_check(model, check).scope
    trace = found.replayed(model, scope).trace
    return refuse_kept(trace, Source(path, ""))


def counterexample(file: str, name: str | None, reporter: Reporter | None = None) -> Trace:
    """The counterexample of a check. Raises SpecError if there is none that loses a record."""
    model, check = one_check(load(file), name, None, Overrides(), "an attempt")
    refuse_undriven(model)
    return losing(run_check(model, check, reporter=reporter))


def losing(outcome: Outcome) -> Trace:
    """The first driveable run of an outcome that loses a record. Raises SpecError if there is none."""
    found = [each for each in traces(outcome.findings) if each.property in LOSSES]
    if not found or not _loses(found[0]):
        name, model = outcome.check.name, outcome.model
        message = f"{name} has no run in which a record is lost that was acknowledged"
        help_ = (
            f"give a check that has one, and this one with `--under {name}` of `modelcheck kafka reproduce`"
        )
        raise SpecError([Diagnostic("R0931", model.source, None, message, help=help_)])
    return found[0]


def refuse_kept(trace: Trace, source: Source) -> Trace:
    """The run itself. Raises SpecError if it loses nothing that is visible on a cluster."""
    if not _loses(trace):
        message = "in the end of this run no record is lost that was acknowledged, and only that can be seen"
        raise SpecError([Diagnostic("R0931", source, None, message)])
    return trace


def _loses(trace: Trace) -> bool:
    """Whether a run loses a record visibly."""
    return View(trace.model, trace.scope).ending(trace.states[-1]) is Ending.LOST


def driven() -> Iterator[tuple[str, tuple[Model, ...]]]:
    """The shipped files whose models can be driven, with the models; read lazily."""
    for name in library.names():
        if name.startswith("kafka") and any(map(can_drive, _shipped(name))):
            yield name, _shipped(name)


@cache  # what is shipped does not change, and one command may ask for all of it several times
def _shipped(name: str) -> tuple[Model, ...]:
    """The models of a shipped file."""
    return load(str(resources.files("spec") / "protocols" / f"{name}.rsm"))


def file_of(check: str) -> str:
    """The name of the shipped file with a check. Raises SpecError if there is none."""
    return next((name for name, models in driven() if _has(models, check)), "kafka")


def _models_with(check: str) -> tuple[Model, ...]:
    """The models with a check."""
    found = dict(driven())
    return next((models for models in found.values() if _has(models, check)), found["kafka"])


def _has(models: tuple[Model, ...], check: str) -> bool:
    """Whether some of the models has a check."""
    return any(each.name == check for model in models for each in model.checks)


def _under(name: str, trace: Trace) -> tuple[Model, Scope]:
    """The model and scope of the check `name`, the scope enlarged to contain the run. Raises SpecError."""
    model, check = pick_checks(_models_with(name), [name])[0]
    refuse_undriven(model)
    own, other = trace.scope, check.scope
    if len(own.sorts["Broker"]) != len(other.sorts["Broker"]):
        message = f"{name} has {len(other.sorts['Broker'])} brokers, and the run {len(own.sorts['Broker'])}"
        raise SpecError([Diagnostic("R0931", Source("--under", name), None, message)])
    planned = {key: max(own.config[key], other.config[key]) for key in PLANNED}
    nats = {key: max(most, own.nats[key]) for key, most in other.nats.items()}
    return model, replace(other, sorts=own.sorts, nats=nats, config={**other.config, **planned})


def refuse_undriven(model: Model) -> None:
    """Raise SpecError if the model is not that of a partition of Kafka."""
    if not can_drive(model):
        _refuse_model(model.source, model.name)


def _refuse_model(source: Source, name: str) -> NoReturn:
    """Raise SpecError for a model that cannot be driven."""
    ours = ", ".join(name for name, _ in driven())
    message = f"`{name}` is no model of a partition of Kafka, and only runs of such models are driven"
    raise SpecError([Diagnostic("R0931", source, None, message, help=f"these are in: {ours}")])
