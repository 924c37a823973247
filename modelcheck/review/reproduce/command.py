"""`modelcheck reproduce`: does a real Kafka do what a run of the model says?"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from counterexamples.itf.read import document
from counterexamples.trace import Trace
from modelcheck.answers.progress import ProgressLine
from modelcheck.api import check as run_check
from modelcheck.api import traces
from modelcheck.asking.models import pick_check, pick_checks, pick_model
from modelcheck.asking.overrides import Overrides, one_check
from modelcheck.commands.given import MODEL
from modelcheck.contract.exits import Exit
from modelcheck.review.reproduce.attempt import Asked, Attempt, Came, attempt
from modelcheck.review.reproduce.drive import Run
from modelcheck.review.reproduce.foretold import loses
from modelcheck.review.reproduce.home import Home, find
from modelcheck.review.reproduce.plan import CannotForce, Plan, can_drive, plan
from modelcheck.review.reproduce.report import as_json, lines
from modelcheck.review.reproduce.seen import View
from modelcheck.review.reproduce.settings import at_brokers, settings
from modelcheck.storage.files import LARGEST_TRACE, read_text
from modelcheck.storage.output import Output
from spec.diagnostics import Diagnostic, SpecError
from spec.ir import Model, Scope
from spec.load import load
from spec.source import Source

TRACE = ".json"
LOSSES = frozenset({"acknowledged_survive", "committed_on_leader"})
MOST_TIMES = 1000
ROOM = 4  # elections
PLANNED = ("moves", "rolls")  # how often something may be done that is no fault


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `modelcheck reproduce`."""
    parser.set_defaults(refuse=parser.error)
    add = parser.add_argument
    add(
        "run",
        metavar="TRACE|FILE",
        help=f"a run in the Informal Trace Format (.json), as `check --itf` writes it; or {MODEL}, whose "
        "counterexample is searched first",
    )
    add("--check", metavar="NAME", help="the check of FILE, or the check a trace of another tool is of")
    add(
        "--under",
        metavar="NAME",
        help="do to a cluster with the configuration of this check what the run does to its own, and see "
        "whether the record survives, as the model says of this one",
    )
    add("--kafka-home", type=Path, required=True, metavar="DIR", help="a release of Kafka, unpacked")
    add("--times", type=int, default=1, metavar="N", help="so often, each time on a new cluster (1)")
    add("--keep", type=Path, metavar="DIR", help="have the cluster's folders there, and leave them")
    add(
        "--min-isr-at",
        choices=("topic", "brokers"),
        default="topic",
        help="where min.insync.replicas is set: for the topic, or in the files of the brokers alone (topic)",
    )
    add("--json", action="store_true", help="the answer as JSON")


def run(args: argparse.Namespace, output: Output) -> int:
    """Try it: exit 0 where the cluster did what the model says, 1 where not, 3 where that is not known."""
    if not 1 <= args.times <= MOST_TIMES:
        args.refuse(f"--times: give a number from 1 to {MOST_TIMES}")
    if args.keep is not None and args.keep.exists() and (not args.keep.is_dir() or any(args.keep.iterdir())):
        args.refuse(f"--keep: {args.keep} is there already, and not an empty folder")
    home = find(args.kafka_home)
    progress = ProgressLine(output.err, "searching", columns=output.width)
    try:
        trace = _trace(args, progress)
        found = _tried(args, trace, home, progress)
    finally:
        progress.clear()
    if args.json:
        output.json(as_json(found))
    else:
        output.lines(lines(found, output.width))
    if args.keep is not None:
        output.tell(f"modelcheck: the directories are in {args.keep}")
    return exit_code(found)


def exit_code(found: Attempt) -> Exit:
    """As expected where the cluster did what the model says."""
    if found.came is Came.COULD_NOT:
        return Exit.UNKNOWN
    return Exit.EXPECTED if found.is_as_foretold else Exit.VIOLATED


def _tried(args: argparse.Namespace, trace: Trace, home: Home, progress: ProgressLine) -> Attempt:
    """The attempt, with the runs that there are where somebody stops it."""
    model, scope = (trace.model, trace.scope) if args.under is None else _under(args.under, trace)
    given = settings(model, scope, home)
    if args.min_isr_at == "brokers":
        given = at_brokers(given)
    found = plan(trace)
    if isinstance(found, CannotForce):
        nothing = Asked(Plan(trace, (), ()), model, scope, given, args.under)
        return Attempt(nothing, home.version, frozenset(), (), found)
    asked = Asked(found, model, wide(scope), given, args.under)
    runs: list[Run] = []
    try:
        for each in attempt(asked, home, times=args.times, keep=args.keep, tell=progress.begin):
            runs.append(each)  # noqa: PERF402 - what there is stays, where somebody stops it
    except KeyboardInterrupt:
        if not runs:
            raise
    return Attempt(asked, home.version, asked.foretold, tuple(runs))


def wide(scope: Scope) -> Scope:
    """A scope in which a cluster has room for elections that the run does not have."""
    return replace(scope, nats={name: most + ROOM * (name == "Epoch") for name, most in scope.nats.items()})


# -------------------------------------------------------------------- what is asked


def _trace(args: argparse.Namespace, progress: ProgressLine) -> Trace:
    """The run that is named, or that the search finds; one that loses a record that was acknowledged."""
    if args.run.endswith(TRACE) or args.run == "-":
        found = document(read_text(args.run, largest=LARGEST_TRACE), args.run)
        models = load("kafka")
        name = found.model or "kafka"
        if name not in {model.name for model in models}:
            _refuse_model(Source(args.run, found.source.text), name, models)
        model = pick_model(models, name)
        scope = None if args.check is None else pick_check(model, args.check).scope
        trace = found.replayed(model, scope).trace
        _refuse_undriven(model)
    else:
        model, check = one_check(load(args.run), args.check, None, Overrides(), "an attempt")
        _refuse_undriven(model)
        outcome = run_check(model, check, reporter=progress)
        losing = [each for each in traces(outcome.findings) if each.property in LOSSES]
        if not losing:
            message = f"{check.name} has no run that loses a record, so there is nothing to drive"
            help_ = f"give a check that does, and this one with `--under {check.name}`"
            raise SpecError([Diagnostic("R0921", model.source, None, message, help=help_)])
        trace = losing[0]
    if not loses(View(trace.model, trace.scope), trace.states[-1]):
        message = "in the end of this run no record is lost that was acknowledged, and only that can be seen"
        raise SpecError([Diagnostic("R0921", Source(args.run, ""), None, message)])
    return trace


def _under(name: str, trace: Trace) -> tuple[Model, Scope]:
    """The model and the scope of the other check, with room for what the run does."""
    model, check = pick_checks(load("kafka"), [name])[0]
    _refuse_undriven(model)
    own, other = trace.scope, check.scope
    if len(own.sorts["Broker"]) != len(other.sorts["Broker"]):
        message = f"{name} has {len(other.sorts['Broker'])} brokers, and the run {len(own.sorts['Broker'])}"
        raise SpecError([Diagnostic("R0921", Source("--under", name), None, message)])
    planned = {key: max(own.config[key], other.config[key]) for key in PLANNED}
    nats = {key: max(most, own.nats[key]) for key, most in other.nats.items()}
    return model, replace(other, sorts=own.sorts, nats=nats, config={**other.config, **planned})


def _refuse_undriven(model: Model) -> None:
    if not can_drive(model):
        _refuse_model(model.source, model.name, load("kafka"))


def _refuse_model(source: Source, name: str, models: tuple[Model, ...]) -> NoReturn:
    ours = ", ".join(each.name for each in models if can_drive(each))
    message = f"`{name}` is no model of a partition of Kafka, and only runs of such models are driven"
    raise SpecError([Diagnostic("R0921", source, None, message, help=f"these are: {ours}")])
