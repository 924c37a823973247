"""`modelcheck kafka reproduce`: a run of the model, driven on a real Kafka and compared with it."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from modelcheck.answers.progress import ProgressLine
from modelcheck.commands.options.given import MODEL
from modelcheck.kafka.reproduce.attempts import Manner, exit_code, tried
from modelcheck.kafka.reproduce.installation import find
from modelcheck.kafka.reproduce.report import as_json, lines
from modelcheck.kafka.reproduce.selection import counterexample, trace_in
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files, add_force

TRACE = ".json"
MOST_TIMES = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options of `modelcheck kafka reproduce`."""
    parser.set_defaults(refuse=parser.error)
    add = parser.add_argument
    add(
        "run",
        metavar="TRACE|FILE",
        help=f"a run in the Informal Trace Format (.json), as `check --itf` writes it; or {MODEL}, whose "
        "counterexample is searched first",
    )
    add(
        "--check",
        metavar="NAME",
        help="use this check of FILE, or the check that a trace of another tool belongs to",
    )
    add(
        "--under",
        metavar="NAME",
        help="drive the run on a cluster with the configuration of this check, and compare whether the "
        "record survives as the model predicts",
    )
    add(
        "--kafka-home",
        type=Path,
        required=True,
        metavar="DIR",
        help="use the unpacked release of Kafka in this folder",
    )
    add(
        "--times", type=int, default=1, metavar="N", help="repeat N times, each on a new cluster (default: 1)"
    )
    add("--keep", type=Path, metavar="DIR", help="keep the folders of the cluster here")
    add(
        "--min-isr-at",
        choices=("topic", "brokers"),
        default="topic",
        help="set min.insync.replicas on the topic, or only in the files of the brokers (default: topic)",
    )
    add("--json", action="store_true", help="print JSON")
    add(
        "--html",
        type=Path,
        metavar="FILE",
        help="write an HTML page with the storyboard of the model, and the state of the cluster and its "
        "files after each step",
    )
    add_force(parser)


def run(args: argparse.Namespace, output: Output) -> int:
    """Try the run: exit 0 if the cluster behaved like the model, 1 if not, 3 if unknown."""
    if not 1 <= args.times <= MOST_TIMES:
        args.refuse(f"--times: give a number from 1 to {MOST_TIMES}")
    if args.keep is not None and args.keep.exists() and (not args.keep.is_dir() or any(args.keep.iterdir())):
        args.refuse(f"--keep: {args.keep} is there already, and not an empty folder")
    files = Files(output, [args.run], force=args.force)
    files.refuse("html", args.html)
    home = find(args.kafka_home)
    progress = ProgressLine(output.err, "searching", columns=output.width)
    try:
        if args.run.endswith(TRACE) or args.run == "-":
            trace = trace_in(args.run, args.check)
        else:
            trace = counterexample(args.run, args.check, progress)
        manner = Manner(args.under, args.times, args.keep, args.min_isr_at == "brokers")
        found = tried(trace, home, progress, manner)
    finally:
        progress.clear()
    if args.json:
        output.json(as_json(found))
    else:
        output.lines(lines(found, output.width))
    if args.keep is not None:
        output.tell(f"modelcheck: the directories are in {args.keep}")
    if args.html is not None:
        from modelcheck.kafka.reproduce.page import attempt_page  # noqa: PLC0415 - jinja2 only for pages

        files.put(args.html, "html", attempt_page(found, _command(args), args.keep))
    return files.exit(exit_code(found))


def _command(args: argparse.Namespace) -> str:
    """The command line that repeats the attempt."""
    words = ["modelcheck", "kafka", "reproduce", args.run]
    for name, value, usual in (
        ("--check", args.check, None),
        ("--under", args.under, None),
        ("--kafka-home", args.kafka_home, None),
        ("--times", args.times, 1),
        ("--min-isr-at", args.min_isr_at, "topic"),
    ):
        if value != usual:
            words += [name, str(value)]
    return shlex.join(words)
