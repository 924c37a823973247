"""The files that `modelcheck check` writes on request: traces, a proof, a page, pictures."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path

from counterexamples.itf.write import write
from modelcheck.answers.matrix import shown_steps
from modelcheck.api import task_of
from modelcheck.commands.check.cards import command_again, shown_traces
from modelcheck.commands.options.draw_options import draw_asked
from modelcheck.contract.report import Stopped
from modelcheck.contract.result import Holds, Outcome
from modelcheck.processes.watch import watched
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files, is_folder


def write_files(args: argparse.Namespace, files: Files, outcomes: list[Outcome], output: Output) -> None:
    """Write the files that the options ask for."""
    if args.itf is not None:
        _save(args.itf, files, outcomes, output)
    if args.certificate is not None:
        _save_proof(args.certificate, files, outcomes, output)
    if args.html is not None:
        _save_page(args, files, outcomes, output)
    if args.draw:
        _draw(args, files, outcomes, output)


def _save_proof(path: Path, files: Files, outcomes: list[Outcome], output: Output) -> None:
    """Write the certificate, if all properties are proved."""
    for outcome in outcomes:
        if (text := certificate_of(outcome)) is not None:
            files.put(path, "certificate", text)
            return
    output.tell("modelcheck: not everything is proved, so there is no certificate")


def certificate_of(outcome: Outcome) -> str | None:
    """The certificate of an outcome; None unless all properties asked about are proved."""
    proof, results = outcome.findings.proof, outcome.findings.results
    if proof is None or not results or not all(isinstance(each.verdict, Holds) for each in results):
        return None
    from modelcheck.symbolic.unbounded.certificate import written  # noqa: PLC0415 - loaded only for proofs

    return written(task_of(outcome.model, outcome.check), proof)


def _save(path: Path, files: Files, outcomes: list[Outcome], output: Output) -> None:
    """Write the traces: one to the file itself, several next to it, named by check and property.

    A folder has all of them; it is made if it is not there.
    """
    traces = [trace for outcome in outcomes for trace in shown_traces(outcome, everything=True)]
    if not traces:
        output.tell("modelcheck: there is no trace to write")
    is_for_all = is_folder(path)
    if traces and is_for_all:
        with suppress(OSError):  # `put` says what is wrong
            path.mkdir(parents=True, exist_ok=True)
    for trace in traces:
        target = path
        if is_for_all or len(traces) > 1:
            name = f"{trace.model.name}.{trace.check or 'run'}.{trace.property or 'error'}.itf.json"
            stem = path.name.removesuffix(".json").removesuffix(".itf")
            target = path / name if is_for_all else path.with_name(f"{stem}.{name}")
        files.put(target, "itf", write(trace))


def _save_page(args: argparse.Namespace, files: Files, outcomes: list[Outcome], output: Output) -> None:
    """Write the HTML page about all checks."""
    from modelcheck.answers.html_report import outcomes_page  # noqa: PLC0415 - jinja2 is loaded only for pages

    commands = [command_again(args, outcome) for outcome in outcomes]
    try:
        with watched(args.max_time, None, output.give_up):
            page = outcomes_page(outcomes, commands, strict=args.strict)
    except Stopped as stopped:
        files.fail(args.html, stopped)
        return
    files.put(args.html, "html", page)


def _draw(args: argparse.Namespace, files: Files, outcomes: list[Outcome], output: Output) -> None:
    """Write a picture of each run, and of obstacles to proofs, in each format."""
    traces = [trace for outcome in outcomes for trace in shown_traces(outcome, everything=True)]
    traces += [steps for outcome in outcomes for _, steps in shown_steps(outcome)]
    draw_asked(args, traces, files, output, is_explained=args.why)
