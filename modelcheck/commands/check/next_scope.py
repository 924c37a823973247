"""`modelcheck check FILE… --next-scope`: whether the answers of checks stay with each bound one larger."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence

from counterexamples.text import story
from modelcheck.answers.progress import ProgressLine
from modelcheck.asking.next_scope.answers import runs
from modelcheck.asking.next_scope.search import LIMITS, NextScopeRow, NextScopeSearch
from modelcheck.asking.next_scope.text import as_json, exit_of, lines_of, summary
from modelcheck.commands.check.questions import questions
from modelcheck.commands.options.draw_options import draw_asked, refuse_unused
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit, worst
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files

UNUSED = (  # of `check`, and none of them says something of a check at a larger scope
    *(
        "all",
        "certificate",
        "checkpoint",
        "disk",
        "why",
        "html",
        "itf",
        "junit",
        "max_disk",
        "no_disk",
        "no_ways",
        "partial_order",
        "reproduce",
        "resume",
    ),
    *("sarif", "shrink", "symmetry", "threads", "timings"),
)


def run(args: argparse.Namespace, output: Output) -> int:
    """Run every check at larger scopes too; returns the worst exit code."""
    _refuse_others(args)
    refuse_unused(args)
    files = Files(output, args.files, force=args.force)
    asking = NextScopeSearch(questions(args))
    states = LIMITS.states if args.max_states is None else args.max_states
    rows = _rows(args, output, asking, Limits(states, args.max_time, args.max_memory))
    if args.json:
        output.json(as_json(rows, len(asking.asked), strict=args.strict))
    else:
        output.lines(summary(rows, len(asking.asked), output.width, strict=args.strict))
    draw_asked(args, (run for row in rows for run in runs(row.answers)), files, output, is_explained=False)
    open_ = Exit.EXPECTED if len(rows) == len(asking.asked) else Exit.UNKNOWN
    return files.exit(worst([open_, *(exit_of(row, strict=args.strict) for row in rows)]))


def _rows(
    args: argparse.Namespace, output: Output, asking: NextScopeSearch, limits: Limits
) -> Sequence[NextScopeRow]:
    """The row of each check, printed in the order of the files as they are ready."""
    progress = ProgressLine(output.err, "", columns=shutil.get_terminal_size().columns)
    progress.begin("the next scope")
    rows: dict[int, NextScopeRow] = {}
    shown = 0
    try:
        for number, row in asking.rows(limits, progress):
            rows[number] = row
            while shown in rows:
                progress.clear()
                _tell(args, output, rows[shown])
                shown += 1
    finally:
        progress.clear()
    for number in sorted(rows):
        if number >= shown:
            _tell(args, output, rows[number])
    return [rows[number] for number in sorted(rows)]


def _tell(args: argparse.Namespace, output: Output, row: NextScopeRow) -> None:
    """Print a check with the results of its larger scopes; with `-v` the runs that differ."""
    if args.json or (args.quiet and exit_of(row, strict=args.strict) is Exit.EXPECTED):
        return
    output.lines(lines_of(row, output.width, strict=args.strict, everything=args.trace))
    if args.trace:
        for each in runs(row.answers):
            output.write("\n")
            output.lines(story(each, width=output.width))
            output.write("\n")


def _refuse_others(args: argparse.Namespace) -> None:
    """Exit with an error for options without effect here."""
    given = [name for name in UNUSED if getattr(args, name, None) not in {None, False}]  # a program has fewer
    if given:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        args.refuse(f"--next-scope goes without {names}")
