"""The options by which a command also writes what it found for pipelines, and who writes it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from modelcheck.answers.pipelines.report import Report
from modelcheck.contract.report import Stopped
from modelcheck.processes.watch import watched
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files


def add_pipeline_options(parser: argparse._ActionsContainer) -> None:
    """Add `--junit FILE` and `--sarif FILE`."""
    add = parser.add_argument
    add("--junit", type=Path, metavar="FILE", help="write the verdicts as JUnit XML")
    add(
        "--sarif",
        type=Path,
        metavar="FILE",
        help="write findings with their locations for code scanning (SARIF 2.1.0)",
    )


def pipeline_paths(args: argparse.Namespace) -> tuple[Path, ...]:
    """The files that are asked for."""
    return tuple(path for path in (args.junit, args.sarif) if path is not None)


def refuse_report(args: argparse.Namespace, files: Files) -> None:
    """Raise early the SpecError of files that cannot be written."""
    files.refuse("junit", args.junit)
    files.refuse("sarif", args.sarif)


def write_report(
    args: argparse.Namespace, files: Files, output: Output, found: Callable[[], Report], command: str
) -> None:
    """Write the report files asked for, each completely or not at all.

    Only where some are asked for is `found` called, which writes every run as a story.
    """
    if not (paths := pipeline_paths(args)):
        return
    try:
        with watched(args.max_time, None, output.give_up):
            report = found()
    except Stopped as stopped:
        for path in paths:
            files.fail(path, stopped)
        return
    # Here, and so not at the start of every check: both need libraries that nothing else does.
    from modelcheck.answers.pipelines.junit import junit  # noqa: PLC0415
    from modelcheck.answers.pipelines.sarif import sarif  # noqa: PLC0415

    if args.junit is not None:
        files.put(args.junit, "junit", junit(report))
    if args.sarif is not None:
        files.put(args.sarif, "sarif", sarif(report, command))
