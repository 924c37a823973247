"""`modelcheck serve lsp`: a language server for model files on the standard streams."""

from __future__ import annotations

import argparse

import modelcheck.commands.options.amounts as amounts
from modelcheck.contract.exits import Exit
from modelcheck.engines.extras import needing
from modelcheck.processes.signals import ending_at_once
from modelcheck.storage.output import Output

SECONDS = 10.0
MEMORY = 2_000_000_000
BACKGROUND = ("smallest", "all", "none")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    parser.add_argument(
        "--background",
        choices=BACKGROUND,
        default=BACKGROUND[0],
        help="select the checks that run in the background: the one with the smallest scope of each "
        "model, all, or none",
    )
    parser.add_argument(
        "--max-time",
        type=amounts.seconds,
        default=SECONDS,
        metavar="T",
        help="give up a check after this time (default: 10s)",
    )
    parser.add_argument(
        "--max-memory",
        type=amounts.bytes_,
        default=MEMORY,
        metavar="M",
        help="give up a check above this much memory (default: 2G)",
    )


def run(args: argparse.Namespace, _: Output) -> int:
    """Run the language server until the editor exits."""
    with needing("lsp", "modelcheck serve lsp"):
        from modelcheck.commands.serve.lsp.server import serve  # noqa: PLC0415 - it needs what is not always there

    with ending_at_once():
        serve(args.background, args.max_time, args.max_memory)
    return Exit.EXPECTED
