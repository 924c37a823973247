"""`modelcheck fmt FILE…`: model files in the one canonical layout."""

from __future__ import annotations

import argparse
from pathlib import Path

from modelcheck.contract.exits import Exit
from modelcheck.storage.files import read_text, save_text
from modelcheck.storage.output import Output
from spec.diagnostics import Diagnostic, SpecError
from spec.formatting.format import format_text
from spec.library import is_meant
from spec.source import Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="model files (.rsm); `-` reads stdin")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--check", action="store_true", help="change nothing; exit with 1 if a file is not formatted"
    )
    how.add_argument(
        "--stdout", action="store_true", help="print the formatted text instead of rewriting the file"
    )


def run(args: argparse.Namespace, output: Output) -> int:
    """Format each file; one with mistakes is reported and skipped."""
    worst: int = Exit.EXPECTED
    wrong: list[SpecError] = []
    for name in args.files:
        try:
            text = _text(name)
            formatted = format_text(text, name)
        except SpecError as error:
            wrong.append(error)
            continue
        if args.stdout or (name == "-" and not args.check):
            output.write(formatted)
        elif formatted == text:
            continue
        elif args.check:
            output.tell(f"{name}: not formatted")
            worst = Exit.VIOLATED
        else:
            save_text(Path(name), formatted)
            output.tell(f"{name}: formatted")
    if wrong:
        raise SpecError(diagnostic for error in wrong for diagnostic in error.diagnostics)
    return worst


def _text(name: str) -> str:
    """The text of a file. Raises SpecError."""
    if is_meant(name):
        message = "this protocol comes with modelcheck: it is formatted, and no file to write to"
        help_ = f"`modelcheck library show {name} --source` prints it"
        raise SpecError([Diagnostic("R0904", Source(name, ""), None, message, help=help_)])
    return read_text(name)
