"""`modelcheck spark settings`: the settings that a check starts Spark with."""

from __future__ import annotations

import argparse
from typing import Any

from counterexamples.lines import line
from modelcheck.commands.options.engine_options import OPTIONS
from modelcheck.contract.exits import Exit
from modelcheck.engines.registry import engine
from modelcheck.storage.output import Output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    for flag in ("--master", "--conf"):
        parser.add_argument(flag, **OPTIONS[flag].about)


def run(args: argparse.Namespace, output: Output) -> int:
    """Print KEY=VALUE for each setting, as `--conf` takes it; starts nothing."""
    found: Any = engine("spark", master=args.master, conf=args.conf)
    output.lines(line(f"{key}={value}") for key, value in sorted(found.settings().items()))
    return Exit.EXPECTED
