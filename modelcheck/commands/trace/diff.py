"""`modelcheck trace diff TRACE [TRACE] FILE`: two traces, or two states, side by side."""

from __future__ import annotations

import argparse

from counterexamples.compare import compare, is_comparable
from counterexamples.side_by_side import side_by_side, two_states
from counterexamples.trace import Trace
from modelcheck.commands.options.given import MODEL
from modelcheck.commands.options.trace_file import add_model_arguments, read_of
from modelcheck.contract.exits import Exit
from modelcheck.search.first_names import other_names, with_first_names
from modelcheck.storage.output import Output
from spec.load import load
from spec.model.ir import Model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    parser.add_argument(
        "traces",
        nargs="+",
        metavar="TRACE",
        help="one or two traces in the Informal Trace Format (.itf.json)",
    )
    parser.add_argument("file", metavar="FILE", help=f"the model of the traces: {MODEL}")
    parser.add_argument(
        "--steps",
        nargs=2,
        type=int,
        metavar="N",
        help="compare the states after these two steps (0: the initial state), of one trace or of one each",
    )
    add_model_arguments(parser)
    parser.set_defaults(refuse=parser.error)


def run(args: argparse.Namespace, output: Output) -> int:
    """Compare two traces; differences do not affect the exit code."""
    if len(args.traces) > 2:
        args.refuse("diff compares two traces; more were given")
    if len(args.traces) == 1 and args.steps is None:
        args.refuse("diff takes two traces, or --steps with two steps of one")
    models = load(args.file)
    traces = [_replayed(name, models, args) for name in args.traces]
    first, second = traces[0], traces[-1]
    if args.steps is None:
        names = args.traces[0], args.traces[1]
        first, second = (_named(each, name, output) for each, name in zip(traces, names, strict=True))
        output.lines(side_by_side(compare(first, second), names, output.width))
        return Exit.EXPECTED
    _check_steps(args, (first, second))
    output.lines(two_states(first, args.steps[0], second, args.steps[1], output.width))
    return Exit.EXPECTED


def _replayed(name: str, models: tuple[Model, ...], args: argparse.Namespace) -> Trace:
    """The replayed trace of a file."""
    document, model, scope = read_of(name, models, args)
    return document.replayed(model, scope).trace


def _named(trace: Trace, file: str, output: Output) -> Trace:
    """The trace with interchangeable members renamed, so that it can be compared."""
    if changed := other_names(trace):
        names = ", ".join(f"{old} is {new}" for old, new in changed)
        output.tell(f"modelcheck: {file}: members that may be renamed are named by who leads first: {names}")
    return with_first_names(trace)


def _check_steps(args: argparse.Namespace, traces: tuple[Trace, Trace]) -> None:
    """Exit with an error unless both steps exist and their states are comparable."""
    names = args.traces[0], args.traces[-1]
    for number, trace, name in zip(args.steps, traces, names, strict=True):
        if not 0 <= number <= len(trace.steps):
            args.refuse(f"--steps {number}: {name} has the steps 0 (the start) to {len(trace.steps)}")
    if not is_comparable(*traces):
        args.refuse("the states of the two traces are of other models or members, and cannot be compared")
