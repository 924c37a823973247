"""`modelcheck play FILE`: a check as a page in which its model is played, step by step."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from modelcheck.answers.progress import ProgressLine
from modelcheck.asking.overrides import one_check
from modelcheck.asking.unmet import refuse_unstartable
from modelcheck.commands.given import MODEL, add_overrides, given_by
from modelcheck.contract.exits import Exit
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files, add_force
from spec.load import load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add = parser.add_argument
    add("file", metavar="FILE", help=MODEL)
    what = parser.add_argument_group("what to play")
    what.add_argument("--check", metavar="NAME", help="this check; needed where the file has several")
    what.add_argument("--of", metavar="NAME", help="of this protocol or variant of the file")
    add_overrides(what)
    how = parser.add_argument_group("where to")
    how.add_argument("--html", type=Path, required=True, metavar="FILE", help="write the page to this file")
    add_force(how)
    parser.set_defaults(refuse=parser.error)


def run(args: argparse.Namespace, output: Output) -> int:
    """Compile the check for a page, and write that. What cannot be compiled is refused."""
    from modelcheck.answers.played import played  # noqa: PLC0415 - half of the engine, and jinja2
    from modelcheck.explicit.codegen.packing import TooWide  # noqa: PLC0415 - as above

    files = Files(output, [args.file], force=args.force)
    files.refuse(args.html)
    model, check = one_check(load(args.file), args.check, args.of, given_by(args), "a page to play with")
    refuse_unstartable(model, check)
    progress = ProgressLine(output.err, "", columns=shutil.get_terminal_size().columns)
    progress.begin(f"{model.name} · {check.name}: compiling it for a page")
    try:
        page = played(model, check)
    except TooWide as wide:
        progress.clear()
        output.tell(f"modelcheck: {model.name} · {check.name} cannot be played: {wide}")
        output.tell("  A page runs the explicit engine: try a smaller scope with --scope.")
        return Exit.UNKNOWN
    finally:
        progress.clear()
    files.put(args.html, "html", page)
    return files.exit()
