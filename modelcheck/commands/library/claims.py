"""`modelcheck library claims [NAME …]`: textbook claims, each verified or refuted by searches."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

from modelcheck.answers.progress import ProgressLine
from modelcheck.asking.sweep import Orders
from modelcheck.commands.options.amounts import add_limits
from modelcheck.commands.options.draw_options import add_draw_options, draw_asked, refuse_unused
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files
from modelcheck.teaching.textbook.claims import Claim, ClaimJudgement, claims
from modelcheck.teaching.textbook.search import DecidedClaim, decided
from modelcheck.teaching.textbook.text import as_json, judgement_lines, stories, summary
from spec.diagnostics import mistyped, suggest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    parser.usage = "modelcheck library claims [NAME ...] [OPTION ...]"
    parser.set_defaults(refuse=parser.error)
    add = parser.add_argument
    add(
        "names",
        nargs="*",
        metavar="NAME",
        help="verify only these claims, such as C2, and show their runs (default: all)",
    )
    add("-v", "--trace", action="store_true", help="show the runs of every claim")
    add(
        "--html",
        type=Path,
        metavar="FILE",
        help="write an HTML page for a course: questions with folded answers",
    )
    add("--json", action="store_true", help="print JSON")
    add_limits(parser)
    add_draw_options(parser, "write each run in these formats (svg, mermaid, itf, …)")


def run(args: argparse.Namespace, output: Output) -> int:
    """Decide the claims; exit 0 if all are as recorded, 1 if one differs, 3 if one is undecided."""
    refuse_unused(args)
    files = Files(output, [], force=args.force)
    files.refuse("html", args.html)
    asked = _picked(claims(), args.names)
    progress = ProgressLine(output.err, "claims", columns=shutil.get_terminal_size().columns)
    orders = Orders(Limits(args.max_states, args.max_time, args.max_memory))
    progress.show("claims: reading the protocols")
    found = []
    try:
        for each in decided(asked, orders, reporter=progress):
            found.append(each)
            progress.clear()
            if not args.json:
                _tell(args, output, each)
    finally:
        progress.clear()
    if args.json:
        output.json([as_json(each) for each in found])
    else:
        output.write(f"\n{summary(found)}\n")
    if args.html is not None:
        from modelcheck.teaching.textbook.page import claims_page  # noqa: PLC0415 - jinja2 only for pages

        files.put(args.html, "html", claims_page(found))
    runs = [trace for each in found for _, trace in each.runs]
    draw_asked(args, runs, files, output, is_explained=False)
    return files.exit(*map(_exit, found))


def _tell(args: argparse.Namespace, output: Output, found: DecidedClaim) -> None:
    """Print a decided claim."""
    output.lines(judgement_lines(found, output.width))
    if args.trace or args.names:
        output.lines(stories(found, output.width))


def _exit(found: DecidedClaim) -> Exit:
    """The exit code of a decided claim."""
    if found.surprises or not found.is_as_expected:
        return Exit.VIOLATED
    return Exit.UNKNOWN if found.judgement is ClaimJudgement.OPEN else Exit.EXPECTED


def _picked(known: Sequence[Claim], names: Sequence[str]) -> list[Claim]:
    """The claims with these names, ignoring case; all without names."""
    by_name = {claim.name.lower(): claim for claim in known}
    for name in names:
        if name.lower() not in by_name:
            listed = [claim.name for claim in known]
            help_ = suggest(name, listed) or f"there are {', '.join(listed)}"
            raise mistyped("claims", name, f"no claim is called `{name}`", help_, "R0902")
    wanted = {name.lower() for name in names}
    return [claim for key, claim in by_name.items() if not wanted or key in wanted]
