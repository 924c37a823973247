"""`modelcheck trace play FILE`: a check as a page in which its model is played, step by step."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any

from modelcheck.answers.progress import ProgressLine
from modelcheck.asking.overrides import one_check
from modelcheck.asking.unmet import refuse_unstartable
from modelcheck.commands.options.amounts import count
from modelcheck.commands.options.given import MODEL, add_overrides, given_by
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files, add_force
from spec.load import load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    add = parser.add_argument
    add("file", metavar="FILE", help=MODEL)
    what = parser.add_argument_group("selection")
    what.add_argument("--check", metavar="NAME", help="use this check; required if the file has several")
    what.add_argument("--of", metavar="NAME", help="use this protocol or variant of the file")
    add_overrides(what)
    how = parser.add_argument_group("output")
    how.add_argument(
        "--precomputed",
        type=count,
        metavar="N",
        help="embed the first N states instead of the compiled model, for browsers without WebAssembly;"
        " models that cannot be compiled are always embedded so",
    )
    how.add_argument("--html", type=Path, required=True, metavar="FILE", help="write the page to this file")
    add_force(how)
    parser.set_defaults(refuse=parser.error)


def run(args: argparse.Namespace, output: Output) -> int:
    """Write the page to play a check; if it cannot be compiled, with its first states instead."""
    from modelcheck.answers.played import played, played_beforehand  # noqa: PLC0415 - half of the engine
    from modelcheck.answers.precomputed import MOST_STATES  # noqa: PLC0415 - as above
    from modelcheck.explicit.codegen.values.packing import TooWide  # noqa: PLC0415 - as above

    files = Files(output, [args.file], force=args.force)
    files.refuse("html", args.html)
    model, check = one_check(load(args.file), args.check, args.of, given_by(args), "a page to play with")
    refuse_unstartable(model, check)
    progress = ProgressLine(output.err, "", columns=shutil.get_terminal_size().columns)
    progress.begin(f"{model.name} · {check.name}: compiling it for a page")
    try:
        page = None if args.precomputed else played(model, check)
    except TooWide as wide:
        page = None
        progress.clear()
        output.tell(f"modelcheck: {model.name} · {check.name} cannot be compiled for a page: {wide}")
    finally:
        progress.clear()
    if page is None:
        most, doing = args.precomputed or MOST_STATES, f"{model.name} · {check.name}: computing its states"
        progress.begin(doing)
        try:
            page, made = played_beforehand(
                model, check, most, lambda done: progress.mention(f"{doing} · {done:,} of {most:,}")
            )
        finally:
            progress.clear()
        output.tell(f"  The page carries {_carried(made)}.")
    files.put(args.html, "html", page)
    return files.exit()


def _carried(made: Any) -> str:  # noqa: ANN401 - `Precomputed`, whose module is loaded late
    """How much of the model the page contains, in words."""
    if made.used["whole"]:
        return f"all {made.count:,} states of the check"
    return (
        f"the first {made.count:,} states, and the steps from {made.used['known']:,} of them:"
        " --precomputed N takes more, and a smaller --scope has fewer"
    )
