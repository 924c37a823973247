"""`modelcheck serve mcp`: a server of the Model Context Protocol on the standard streams."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import modelcheck.commands.options.amounts as amounts
from modelcheck.contract.exits import Exit
from modelcheck.engines.extras import needing
from modelcheck.processes.signals import ending_at_once
from modelcheck.storage.output import Output
from spec.diagnostics import Diagnostic, SpecError
from spec.source import Source

MOST_SECONDS = 600.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    parser.add_argument(
        "folders",
        nargs="*",
        metavar="FOLDER",
        help="read files only below these folders (default: the current one, unless it is your home or /)",
    )
    parser.add_argument(
        "--max-time",
        type=amounts.seconds,
        default=MOST_SECONDS,
        metavar="T",
        help="limit the time of a request (default: 10m)",
    )
    parser.add_argument(
        "--max-memory",
        type=amounts.bytes_,
        metavar="M",
        help="give up a request above this much memory (default: 4G)",
    )


def run(args: argparse.Namespace, _: Output) -> int:
    """Run the MCP server until its input ends."""
    with needing("mcp", "modelcheck serve mcp"):
        from modelcheck.commands.serve.mcp.server import serve  # noqa: PLC0415 - it needs what is not always there

    with ending_at_once():
        serve(_folders(args.folders), args.max_time, args.max_memory)
    return Exit.EXPECTED


def _folders(given: Sequence[str]) -> tuple[Path, ...]:
    """The folders whose files may be read. Raises SpecError."""
    for name in given:
        if not os.path.isdir(name):  # noqa: PTH112 - which takes names that no file can have
            raise SpecError([Diagnostic("R0904", Source(name, ""), None, "there is no such folder")])
    here = Path.cwd()
    usual = () if here in {Path("/"), Path("~").expanduser()} else (here,)
    return tuple(Path(name).absolute() for name in given) or usual
