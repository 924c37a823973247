"""`modelcheck explain CODE`: what the registry of codes knows."""

from __future__ import annotations

import argparse
import textwrap

from modelcheck.contract.exits import Exit
from modelcheck.storage.output import Output
from spec.codes import codes, find
from spec.diagnostics import suggest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    parser.add_argument("code", nargs="?", metavar="CODE", help="a code such as R0101 (default: list all)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace, output: Output) -> int:
    """Explain a code, or list all."""
    if args.code is None:
        entries = [{"code": entry.code, "title": entry.title} for _, entry in sorted(codes().items())]
        if args.json:
            output.json(entries)
        else:
            output.write("".join(f"{entry['code']}  {entry['title']}\n" for entry in entries))
        return Exit.EXPECTED
    entry = find(args.code)
    if entry is None:
        near = suggest(args.code.upper(), codes()) or "`modelcheck explain` without a code lists all"
        output.tell(f"modelcheck: there is no code `{args.code}`; {near}")
        return Exit.WRONG
    if args.json:
        output.json({"code": entry.code, "title": entry.title, "text": entry.text})
    else:
        paragraphs = "\n\n".join(
            part if part.startswith("    ") else textwrap.fill(part, 88) for part in entry.text.split("\n\n")
        )
        output.write(f"{entry.code}: {entry.title}\n\n{paragraphs}\n")
    return Exit.EXPECTED
