"""`modelcheck spark`: how far a run of the Spark engine is, and what settings Spark would be started with."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from counterexamples.lines import line
from modelcheck.commands.options.engine_options import OPTIONS
from modelcheck.contract.engine import CannotResume
from modelcheck.contract.exits import Exit
from modelcheck.engines.registry import engine
from modelcheck.storage.output import Output
from spec.diagnostics import Diagnostic, SpecError
from spec.source import Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    whats = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    status = whats.add_parser("status", help="how far a run is, while it works or afterwards")
    status.add_argument("place", metavar="PLACE", help="the --run-dir of the run, a folder or a URI")
    status.set_defaults(tell=_status)
    settings = whats.add_parser("settings", help="every setting that a check would start Spark with")
    for flag in ("--master", "--conf"):
        settings.add_argument(flag, **OPTIONS[flag].about)
    settings.set_defaults(tell=_settings)


def run(args: argparse.Namespace, output: Output) -> int:
    """Say what is asked for; nothing is started, nothing written."""
    output.lines(line(each) for each in args.tell(args))
    return Exit.EXPECTED


def _status(args: argparse.Namespace) -> Iterable[str]:
    """A run, from the files it has written; what it has not finished is not counted."""
    module: Any = import_module("spark_explore.storage.status")
    try:
        found = module.status(args.place)
    except (CannotResume, OSError, module.Damaged) as reason:
        raise SpecError([Diagnostic("R0910", Source(args.place, ""), None, str(reason))]) from None
    texts: Iterable[str] = module.lines(found)
    return texts


def _settings(args: argparse.Namespace) -> Iterable[str]:
    """KEY=VALUE, as --conf takes it."""
    found: Any = engine("spark", master=args.master, conf=args.conf)
    return (f"{key}={value}" for key, value in sorted(found.settings().items()))
