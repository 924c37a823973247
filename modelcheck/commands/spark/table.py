"""`modelcheck spark table PLACE WHERE`: the states or transitions of a run, as Parquet or a table."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

from counterexamples.lines import line
from modelcheck.commands.options.engine_options import OPTIONS
from modelcheck.commands.spark.status import said
from modelcheck.contract.engine import CannotResume
from modelcheck.contract.exits import Exit
from modelcheck.engines.registry import loaded
from modelcheck.storage.output import Output
from spec.diagnostics import Diagnostic, SpecError, mistyped
from spec.source import Source

WRITER = "spark_explore.frames:write_run"
SETTINGS = "spark_explore.cluster.session:SparkSettings"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    add = parser.add_argument
    add("place", metavar="PLACE", help="the --run-dir of the run, a folder or a URI")
    add("where", metavar="WHERE", help="a new folder or URI for Parquet; with --catalog the name of a table")
    add("--transitions", action="store_true", help="write the transitions, not the states")
    add("--violating", metavar="NAME", help="write only the states that violate this invariant or lemma")
    add("--columns", metavar="NAME,…", help="write only these variables, and _state if it is named")
    add("--catalog", action="store_true", help="create a table of Spark's catalog, such as Iceberg's")
    for flag in ("--master", "--conf", "--patience"):
        add(flag, **OPTIONS[flag].about)


def run(args: argparse.Namespace, output: Output) -> int:
    """Write the table, and print where it is."""
    if args.transitions and args.violating:
        raise mistyped("--violating", args.violating, "a property is violated by states, not by transitions")
    if args.transitions and args.columns:
        raise mistyped("--columns", args.columns, "the columns of transitions are always the same")
    write, settings = loaded("spark", WRITER), loaded("spark", SETTINGS)
    storage: Any = import_module("spark_explore.storage.pieces")
    given = {name: getattr(args, name) for name in ("master", "conf", "patience")}
    try:
        write(
            args.place,
            args.where,
            transitions=args.transitions,
            violating=args.violating,
            columns=None if args.columns is None else [each.strip() for each in args.columns.split(",")],
            is_name=args.catalog,
            settings=settings(**{name: value for name, value in given.items() if value is not None}),
        )
    except KeyError as unknown:
        name = str(unknown.args[0])
        if name == args.violating:
            message = f"the run has no invariant or lemma `{name}`"
            raise mistyped("--violating", name, message) from None
        raise mistyped(
            "--columns", args.columns, f"the states of the run have no variable `{name}`"
        ) from None
    except (CannotResume, OSError, storage.Damaged) as reason:
        raise SpecError([Diagnostic("R0910", Source(args.place, ""), None, said(reason))]) from None
    what = "transitions" if args.transitions else "states"
    output.lines([line(f"the {what} of {args.place} are in {args.where}")])
    return Exit.EXPECTED
