"""`modelcheck spark status PLACE`: how far a run of the Spark engine is, from the files it has written."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from counterexamples.lines import line
from modelcheck.engine import CannotResume
from modelcheck.exits import Exit
from modelcheck.output import Output
from spec.diagnostics import Diagnostic, SpecError
from spec.source import Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add = parser.add_argument
    add("what", choices=("status",), help="status: how far the run is")
    add("place", metavar="PLACE", help="the --run-dir of the run, a folder or a URI")


def run(args: argparse.Namespace, output: Output) -> int:
    """Say how far a run is; what it has not finished is not counted."""
    module: Any = import_module("spark_explore.status")
    try:
        found = module.status(args.place)
    except (CannotResume, OSError, module.Damaged) as reason:
        said = f"{args.place}: {reason}"
        raise SpecError([Diagnostic("R0910", Source(args.place, ""), None, said)]) from None
    output.lines(line(each) for each in module.lines(found))
    return Exit.EXPECTED
