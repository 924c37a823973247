"""`modelcheck mcp`: a server of the Model Context Protocol on the standard streams."""

from __future__ import annotations

import argparse

import modelcheck.commands.amounts as amounts
from modelcheck.contract.exits import Exit
from modelcheck.engines.extras import needing
from modelcheck.storage.output import Output

MOST_SECONDS = 600.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument(
        "--max-time",
        type=amounts.seconds,
        default=MOST_SECONDS,
        metavar="T",
        help="the most time that a request may ask for (10m)",
    )
    parser.add_argument(
        "--max-memory", type=amounts.bytes_, metavar="M", help="give up a request beyond so much memory (4G)"
    )


def run(args: argparse.Namespace, _: Output) -> int:
    """Answer requests until the input ends."""
    with needing("mcp", "modelcheck mcp"):
        from modelcheck.commands.agents.server import serve  # noqa: PLC0415 - it needs what is not always there

    serve(args.max_time, args.max_memory)
    return Exit.EXPECTED
