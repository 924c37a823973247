"""`--draw FORMAT,… --out FOLDER`: the options of commands that write each run they find, and the writing."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from counterexamples.trace import Trace
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files, add_force


def add_draw_options(parser: argparse._ActionsContainer, what: str) -> None:
    """The options, given what `--draw` does in words."""
    parser.add_argument("--draw", type=_formats, default=(), metavar="FORMAT,…", help=what)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="into this folder (the current one)")
    add_force(parser)


def refuse_out_alone(args: argparse.Namespace) -> None:
    """Refuse a folder into which nothing is written."""
    if args.out is not None and not args.draw:
        args.refuse("--out is where --draw FORMAT writes")


def draw_asked(
    args: argparse.Namespace, runs: Iterable[Trace], files: Files, output: Output, *, is_explained: bool
) -> None:
    """Write every run in each of the formats that were asked for."""
    if not args.draw:
        return
    from modelcheck.commands.drawn import draw  # noqa: PLC0415 - what draws is loaded only to draw

    folder, seconds = args.out or Path(), args.max_time
    draw(runs, args.draw, folder, files, output, is_explained=is_explained, seconds=seconds)


def _formats(text: str) -> tuple[str, ...]:
    """The formats that an option names."""
    from modelcheck.commands.drawn import formats  # noqa: PLC0415 - as above

    try:
        return formats(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
