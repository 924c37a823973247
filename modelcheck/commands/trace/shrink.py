"""`modelcheck trace shrink TRACE FILE`: the same ending in fewer faults, members, records and steps."""

from __future__ import annotations

import argparse
import shutil
from dataclasses import replace
from pathlib import Path

import modelcheck.commands.options.trace_file as trace_file
from counterexamples.certify import NotReplayable, certify
from counterexamples.itf.read import HINT, Document
from counterexamples.itf.write import write
from counterexamples.text import story
from counterexamples.trace import Stops, Trace
from modelcheck.answers.progress import ProgressLine
from modelcheck.asking.models import pick_property
from modelcheck.commands.options.amounts import seconds
from modelcheck.contract.exits import Exit
from modelcheck.diagnosis.claim import claim
from modelcheck.diagnosis.shrink import Shrunk, shrink
from modelcheck.diagnosis.shrunk_text import shrunk_lines
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files, add_force
from spec.diagnostics import Diagnostic, SpecError
from spec.model.ir import Model, Scope


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    trace_file.add_arguments(parser)
    parser.add_argument(
        "--property",
        metavar="NAME",
        help="preserve the violation of this property (default: as in the trace)",
    )
    parser.add_argument(
        "--same-scope", action="store_true", help="remove steps only, and keep members and bounds"
    )
    parser.add_argument(
        "--max-time",
        type=seconds,
        metavar="T",
        help="stop after this time with the smallest trace so far (90, 90s, 5m)",
    )
    parser.add_argument(
        "--out", type=Path, metavar="PATH", help="write the minimal trace to this file (.itf.json)"
    )
    add_force(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    """Shrink a trace, and print what was removed and the story of the rest."""
    files = Files(output, [args.trace, args.file], force=args.force)
    files.refuse("itf", args.out)
    document, model, scope = trace_file.read(args)
    trace = _claiming(document, model, scope, args.property)
    shrunk = _shrunk(trace, args, output)
    if args.out is not None:
        files.put(args.out, "itf", write(shrunk.trace))
    output.lines(shrunk_lines(shrunk, output.width))
    output.write("\n")
    output.lines(story(shrunk.trace, width=output.width))
    return files.exit(Exit.EXPECTED if shrunk.is_minimal else Exit.UNKNOWN)


def _shrunk(trace: Trace, args: argparse.Namespace, output: Output) -> Shrunk:
    """The minimal trace, with a progress line on a terminal."""
    columns = shutil.get_terminal_size().columns
    progress = ProgressLine(output.err, f"{trace.model.name} · shrinking", columns=columns)
    try:
        return shrink(trace, same_scope=args.same_scope, seconds=args.max_time, reporter=progress)
    finally:
        progress.clear()


def _claiming(document: Document, model: Model, scope: Scope | None, name: str | None) -> Trace:
    """The replayed trace with its violation. Raises SpecError if it has none."""
    if name is None:
        trace = document.replayed(model, scope).trace
        if isinstance(trace.ending, Stops):
            raise _nothing(document, trace, "the trace claims nothing that a smaller one could show as well")
        return trace
    prop = pick_property(model, name)
    trace = replace(document.trace(model, scope), ending=Stops(), property=None)
    try:
        certify(trace)
    except NotReplayable as refusal:
        message = f"this is not a run of {model.name}: {refusal}"
        help_ = HINT.join(refusal.hints)
        raise SpecError([Diagnostic("R0807", document.source, None, message, help=help_)]) from None
    found = claim(trace, prop)
    if found is None:
        raise _nothing(document, trace, f"nothing in the trace shows `{name}`, neither violated nor reached")
    return found


def _nothing(document: Document, trace: Trace, message: str) -> SpecError:
    """The error that a trace shows no violation."""
    shown = [prop.name for prop in trace.model.properties if claim(trace, prop) is not None]
    help_ = f"it shows {', '.join(shown)}: name one with --property" if shown else "it shows none at all"
    return SpecError([Diagnostic("R0808", document.source, None, message, help=help_)])
