"""`modelcheck library compare [NAME …]`: the same questions to several protocols, answered by searches."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from counterexamples.lines import count
from modelcheck.answers.progress import ProgressLine
from modelcheck.asking.sweep import Orders
from modelcheck.commands.options.amounts import add_limits
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files, add_force
from modelcheck.teaching.textbook.compared import Compared, compared
from modelcheck.teaching.textbook.comparison import Comparison, comparison, comparison_of_settings
from modelcheck.teaching.textbook.pairs import pairs
from modelcheck.teaching.textbook.table import as_csv, as_json, evidence, markdown, table
from spec.diagnostics import mistyped, suggest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    parser.usage = "modelcheck library compare [NAME ...] [OPTION ...]"
    known = comparison()
    names, settings = (", ".join(_names(each)) for each in (known, comparison_of_settings()))
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help=f"compare only these, of {names} (default: all)")
    add("--settings", action="store_true", help=f"ask what settings do; the names are then of {settings}")
    add(
        "--faults",
        type=int,
        choices=range(known.most_faults + 1),
        default=known.most_faults,
        metavar="N",
        help=f"limit the questions to runs of at most N faults, 0 to {known.most_faults} (the default)",
    )
    add("-v", "--trace", action="store_true", help="show the evidence for each answer")
    add("--html", type=Path, metavar="FILE", help="write an HTML page with the table, and runs side by side")
    add("--csv", type=Path, metavar="FILE", help="write a line per answer")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--markdown", action="store_true", help="print only the table, as Markdown")
    add_limits(parser)
    add_force(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    """Compare protocols; exit 0 if everything is decided, else 3, whatever the answers are."""
    known = comparison_of_settings() if args.settings else comparison()
    asked = known.of(_named(known, args.names), args.faults)
    files = Files(output, [], force=args.force)
    files.refuse("html", args.html)
    files.refuse("csv", args.csv)
    progress = ProgressLine(output.err, "compare", columns=output.width)
    progress.show("compare: reading the protocols")
    orders = Orders(Limits(args.max_states, args.max_time, args.max_memory))
    try:
        found = compared(asked, orders, reporter=progress)
    finally:
        progress.clear()
    _tell(args, output, found)
    if args.csv is not None:
        files.put(args.csv, "csv", as_csv(found))
    if args.html is not None:
        from modelcheck.teaching.textbook.compared_page import page  # noqa: PLC0415 - jinja2 only for pages

        progress.begin("the runs of the page are explained")
        text = page(found)
        progress.clear()
        files.put(args.html, "html", text)
    return files.exit(Exit.UNKNOWN if found.open else Exit.EXPECTED)


def _tell(args: argparse.Namespace, output: Output, found: Compared) -> None:
    """Print the comparison."""
    if args.json:
        output.json(as_json(found))
    elif args.markdown:
        output.write(markdown(found))
    else:
        output.lines(table(found, output.width))
        output.lines(evidence(found, output.width) if args.trace else ())
        output.lines(pairs(found, output.width))
        output.write(f"\n{_summary(found)}\n")


def _summary(found: Compared) -> str:
    """The summary of the comparison."""
    decided = sum(each.words is not None for each in found.answers.values())
    silent = sum(bool(each.cell.silent) for each in found.answers.values())
    parts = [f"{count(decided, 'answer')} by searches"]
    parts += [f"{silent} not modelled"] * bool(silent)
    parts += [f"{found.open} NOT DECIDED"] * bool(found.open)
    return ", ".join(parts)


def _names(known: Comparison) -> list[str]:
    """The names of the columns."""
    return [column.name for column in known.columns]


def _named(known: Comparison, names: Sequence[str]) -> list[str]:
    """The columns with these names in order; all without names. Raises SpecError."""
    listed = _names(known)
    for name in names:
        if name not in listed:
            help_ = suggest(name, listed) or f"there are {', '.join(listed)}"
            if name in _names(comparison_of_settings()):
                help_ = "what settings do is asked with --settings"
            what = f"nothing that is compared is called `{name}`"
            raise mistyped("protocols", name, what, help_, "R0902")
    return list(dict.fromkeys(names)) or listed
