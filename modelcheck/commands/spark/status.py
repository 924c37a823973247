"""`modelcheck spark status PLACE`: the progress of a run of the Spark engine, from its files."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from counterexamples.lines import line
from modelcheck.contract.engine import CannotResume
from modelcheck.contract.exits import Exit
from modelcheck.storage.output import Output
from spec.diagnostics import Diagnostic, SpecError
from spec.reading import reason_of
from spec.source import Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    parser.add_argument("place", metavar="PLACE", help="The --run-dir of the run, a folder or a URI")


def run(args: argparse.Namespace, output: Output) -> int:
    """Print the completed levels of a run; starts and writes nothing."""
    module: Any = import_module("spark_explore.storage.status")
    try:
        found = module.status(args.place)
    except (CannotResume, OSError, module.Damaged) as reason:
        raise SpecError([Diagnostic("R0910", Source(args.place, ""), None, said(reason))]) from None
    output.lines(line(each) for each in module.lines(found))
    return Exit.EXPECTED


def said(error: Exception) -> str:
    """The text of an error, without the number that the system gives it."""
    return reason_of(error) if isinstance(error, OSError) and error.errno is not None else str(error)
