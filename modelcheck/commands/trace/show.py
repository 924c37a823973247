"""`modelcheck trace show TRACE FILE`: a trace from a file, replayed on its model, as a story or a picture."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

import modelcheck.commands.options.trace_file as trace_file
from counterexamples.lines import count
from counterexamples.pictures.rendered import NoRenderer
from counterexamples.text import WIDTH
from modelcheck.answers.formats import FORMATS, RunView, as_file, format_of, remarks
from modelcheck.commands.options.draw_options import (
    add_picture_options,
    picture_options,
    refuse_unused_options,
    steps,
)
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files, add_force


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    trace_file.add_arguments(parser)
    parser.add_argument(
        "--as",
        dest="form",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"write this format: {', '.join(FORMATS)}",
    )
    parser.add_argument("--html", dest="form", action="store_const", const="html", help="short for --as html")
    parser.add_argument(
        "--out", metavar="PATH", help="write to this file; without --as its suffix selects the format"
    )
    parser.add_argument(
        "--steps", type=steps, metavar="A-B", help="show only these steps, after the state before them"
    )
    parser.add_argument(
        "--why",
        action="store_true",
        help="show the cause of the violation: the false part of the property, the steps that it needs, "
        "and the step after which nothing avoids it",
    )
    parser.add_argument("--explain", dest="why", action="store_true", help=argparse.SUPPRESS)  # formerly
    add_picture_options(parser)
    add_force(parser)
    parser.set_defaults(refuse=parser.error)


def run(args: argparse.Namespace, output: Output) -> int:
    """Show a replayed trace; one that is no run of the model is wrong input."""
    form = _form(args, output)
    files = Files(output, [args.trace, args.file], force=args.force)
    files.refuse(form, args.out)
    found, model, scope = trace_file.read(args)
    trace = found.replayed(model, scope).trace
    if args.steps is not None and args.steps.stop - 1 > len(trace.steps):
        args.refuse(f"--steps: the trace has no more than {count(len(trace.steps), 'step')}")
    to_output = args.out is None
    asked = RunView(
        trace,
        args.steps,
        args.why,
        output.width if to_output else WIDTH,
        to_output and output.is_ascii,
        command=shlex.join(["modelcheck", "trace", "show", args.trace, args.file]),
        options=picture_options(args),
    )
    try:
        content = FORMATS[form].draw(asked)
    except (NoRenderer, OSError) as refusal:
        args.refuse(str(refusal))
    if args.out is not None:
        files.put(Path(args.out), form, as_file(content))
    elif isinstance(content, tuple):
        output.lines(content)
    else:
        output.file(content)
    for remark in remarks(form, asked, content):
        output.tell(f"modelcheck: {remark}")
    return files.exit()


def _form(args: argparse.Namespace, output: Output) -> str:
    """The format asked for."""
    form = args.form or ("text" if args.out is None else format_of(args.out))
    if form is None:
        suffixes = ", ".join(suffix for each in FORMATS.values() for suffix in each.suffixes)
        args.refuse(f"--out: the name says no format: give one with --as, or a name that ends in {suffixes}")
    form = str(form)
    if args.out is None and FORMATS[form].is_binary and output.is_terminal:
        args.refuse(f"{form} is nothing for a terminal: give a file with --out")
    if args.steps is not None and not FORMATS[form].parts:
        args.refuse(f"--steps: {form} has the whole run")
    refuse_unused_options(args, [form])
    return form
