"""The files that `modelcheck check` writes besides: traces, a proof, a page, pictures."""

from __future__ import annotations

import argparse
from pathlib import Path

from counterexamples.itf.write import write
from modelcheck.commands.check_answers import command_again, shown_traces
from modelcheck.engine import Task
from modelcheck.files import save_text
from modelcheck.matrix import shown_steps
from modelcheck.output import Output
from modelcheck.proof import Proof
from modelcheck.result import Holds, Outcome


def write_files(args: argparse.Namespace, outcomes: list[Outcome], output: Output) -> None:
    """The files that are asked for besides."""
    if args.itf is not None:
        _save(args.itf, outcomes, output)
    if args.certificate is not None:
        _save_proof(args, outcomes, output)
    if args.html is not None:
        _save_page(args, outcomes, output)
    if args.draw:
        _draw(args, outcomes, output)


def _save_proof(args: argparse.Namespace, outcomes: list[Outcome], output: Output) -> None:
    """Write the proof down, when all that was asked about is proved."""
    for outcome in outcomes:
        proof = outcome.findings.proof
        if proof is not None and all(isinstance(each.verdict, Holds) for each in outcome.findings.results):
            _save_certificate(args.certificate, outcome, proof)
            output.tell(f"modelcheck: wrote {args.certificate}")
            return
    output.tell("modelcheck: not everything is proved, so there is no certificate")


def _save_certificate(path: Path, outcome: Outcome, proof: Proof) -> None:
    from modelcheck.symbolic.unbounded.certificate import written  # noqa: PLC0415 - loaded only for proofs
    from modelcheck.symbolic.unbounded.engine import asked_of  # noqa: PLC0415 - loaded only for proofs

    model, check = outcome.model, outcome.check
    asked = asked_of(Task(model, check.scope, check.budget, ()))
    save_text(path, written(model, check.name, asked, proof))


def _save(path: Path, outcomes: list[Outcome], output: Output) -> None:
    """Write the traces: one to the very file, several beside it with their check and property in the name."""
    traces = [trace for outcome in outcomes for trace in shown_traces(outcome, everything=True)]
    if not traces:
        output.tell("modelcheck: there is no trace to write")
    for trace in traces:
        target = path
        if path.is_dir() or len(traces) > 1:
            name = f"{trace.model.name}.{trace.check or 'run'}.{trace.property or 'error'}.itf.json"
            stem = path.name.removesuffix(".json").removesuffix(".itf")
            target = path / name if path.is_dir() else path.with_name(f"{stem}.{name}")
        save_text(target, write(trace))
        output.tell(f"modelcheck: wrote {target}")


def _save_page(args: argparse.Namespace, outcomes: list[Outcome], output: Output) -> None:
    """Write a page about all the checks."""
    from modelcheck.html_report import outcomes_page  # noqa: PLC0415 - jinja2 is loaded only for pages

    commands = [command_again(args, outcome) for outcome in outcomes]
    save_text(args.html, outcomes_page(outcomes, commands, strict=args.strict))
    output.tell(f"modelcheck: wrote {args.html}")


def _draw(args: argparse.Namespace, outcomes: list[Outcome], output: Output) -> None:
    """Write every run in each of the formats, and what stands in the way of a proof."""
    from modelcheck.commands.drawn import draw  # noqa: PLC0415 - what draws is loaded only to draw

    traces = [trace for outcome in outcomes for trace in shown_traces(outcome, everything=True)]
    traces += [steps for outcome in outcomes for _, steps in shown_steps(outcome)]
    draw(traces, args.draw, args.out or Path(), output, is_explained=args.explain)
