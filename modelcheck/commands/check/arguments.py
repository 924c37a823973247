"""The arguments of `modelcheck check`, and which of them do not go together."""

from __future__ import annotations

import argparse
from pathlib import Path

import modelcheck.commands.options.amounts as amounts
from modelcheck.api import PREFERRED
from modelcheck.commands.options.draw_options import add_draw_options, refuse_unused
from modelcheck.commands.options.engine_options import (
    SPARK,
    add_engine_options,
    add_partial_order,
    add_symmetry,
)
from modelcheck.commands.options.given import MODELS, add_overrides
from modelcheck.commands.options.pipeline_options import add_pipeline_options, pipeline_paths, refuse_report
from modelcheck.contract.engine import Keep
from modelcheck.contract.result import MOST_WAYS
from modelcheck.storage.files import have_folder
from modelcheck.storage.output import Output
from modelcheck.storage.written import Files, is_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments and options to its parser."""
    parser.set_defaults(refuse=parser.error)
    parser.add_argument("files", nargs="+", metavar="FILE", help=MODELS)
    _add_questions(parser.add_argument_group("selection"))
    _add_limits(parser.add_argument_group("search"))
    _add_answers(parser.add_argument_group("output"))


def _add_questions(group: argparse._ArgumentGroup) -> None:
    """Add the options that select and change checks."""
    add = group.add_argument
    add("--check", action="append", default=[], metavar="NAME", help="check only this one; repeatable")
    add("--of", metavar="NAME", help="use this protocol or variant of the file")
    add(
        "--property", action="append", default=[], metavar="NAME", help="check only this property; repeatable"
    )
    add_overrides(group)
    add(
        "--strict",
        action="store_true",
        help="fail if a property holds vacuously, or no check uses a part of the model",
    )


def _add_limits(group: argparse._ArgumentGroup) -> None:
    """Add the options that limit searches."""
    add = group.add_argument
    add_engine_options(group)
    add("--threads", type=amounts.threads, metavar="N", help="use N cores (default: all)")
    add_symmetry(group)
    add_partial_order(group)
    add(
        "--no-ways",
        action="store_true",
        help="do not store predecessors (saves two bytes per state); search again to reconstruct a "
        "counterexample",
    )
    add("--max-states", type=amounts.count, metavar="N", help="give up after N states (2000, 5M)")
    add("--max-time", type=amounts.seconds, metavar="T", help="give up after this time (90, 90s, 5m, 2h)")
    add("--max-memory", type=amounts.bytes_, metavar="M", help="give up above this much memory (800M, 4G)")
    add(
        "--disk",
        type=Path,
        metavar="DIR",
        help="keep the states in this folder, and recent ones in memory; --resume continues from there",
    )
    add(
        "--max-disk",
        type=amounts.bytes_,
        metavar="M",
        help="give up above this much on disk (50G; default without --disk: half of what is free)",
    )
    add(
        "--no-disk",
        action="store_true",
        help="end when memory is full (default: search again with the states on disk, where possible)",
    )
    add("--checkpoint", type=Path, metavar="DIR", help="save checkpoints to this folder, for --resume")
    add(
        "--resume",
        metavar="DIR",
        help="continue from a checkpoint, a --disk or a --run-dir, and keep it up to date",
    )
    add(
        "--every",
        type=amounts.seconds,
        default=300,
        metavar="T",
        help="set the interval between checkpoints (default: 5m)",
    )


def _add_answers(group: argparse._ArgumentGroup) -> None:
    """Add the options for output and files."""
    add = group.add_argument
    add("-v", "--trace", action="store_true", help="also show expected violations and witnesses as stories")
    add(
        "--why",
        action="store_true",
        help="show the stories of -v, and the cause of each violation: the false part of the property, the "
        "steps that it needs",
    )
    add("--explain", dest="why", action="store_true", help=argparse.SUPPRESS)  # its former name
    add(
        "--all",
        type=amounts.ways,
        nargs="?",
        const=MOST_WAYS,
        metavar="N",
        help=f"show up to N distinct ways to violate each property (default: {MOST_WAYS})",
    )
    add("--timings", action="store_true", help="print a breakdown of the time at the end")
    add("-q", "--quiet", action="store_true", help="print one line per check")
    add("--json", action="store_true", help="print JSON")
    add_pipeline_options(group)
    add(
        "--itf",
        type=Path,
        metavar="PATH",
        help="write the traces to this file (.itf.json), or to this folder",
    )
    add(
        "--html",
        type=Path,
        metavar="FILE",
        help="write an HTML page with the verdicts and every run, step by step",
    )
    add_draw_options(group, "write every run in these formats (svg, mermaid, …); see `trace show --as`")


def refuse_conflicts(args: argparse.Namespace) -> None:
    """Exit with an error for options that do not go together."""
    if args.why and args.quiet:
        args.refuse("--why tells more and --quiet tells less: give one of them")
    if args.all is not None:
        _refuse_with_all(args)
    refuse_unused(args)
    if args.checkpoint is not None and args.resume is not None:
        args.refuse("--resume keeps its own checkpoint up to date: give it alone, without --checkpoint")
    if args.disk is not None or args.max_disk is not None or args.no_disk:
        _refuse_with_disk(args)
    kept = args.checkpoint is not None or args.resume is not None or args.disk is not None
    written = args.itf or args.html or args.draw or pipeline_paths(args)
    if args.estimate and (args.json or args.symmetry or args.partial_order or written or kept):
        args.refuse(
            "--estimate goes with neither --json, --junit, --sarif, --itf, --html, --draw, --symmetry, "
            "--partial-order nor a checkpoint nor --disk"
        )
    if args.certificate is not None and changed(args):
        args.refuse(
            f"a certificate applies to a check exactly as written: leave out {', '.join(changed(args))}"
        )


def _refuse_with_disk(args: argparse.Namespace) -> None:
    """Exit with an error for options that do not go together with `--disk` and `--max-disk`."""
    if args.no_disk and (args.disk is not None or args.max_disk is not None):
        args.refuse(
            "--no-disk writes no states, and --disk and --max-disk say where and how many: leave it out"
        )
    if args.disk is not None and (args.checkpoint is not None or args.resume is not None):
        args.refuse("--disk keeps its own checkpoint, from which --resume continues: give one of them alone")
    if args.engine == SPARK:
        args.refuse(
            "--engine spark has its states in its --run-dir: leave out --disk, --max-disk and --no-disk"
        )
    if args.disk is not None and args.no_ways:
        args.refuse("--disk stores no predecessors anyway: leave out --no-ways")


def _refuse_with_all(args: argparse.Namespace) -> None:
    """Exit with an error for options that do not go together with `--all`."""
    if args.quiet:
        args.refuse("--all tells more and --quiet tells less: give one of them")
    if args.simulate is not None:
        args.refuse("random runs see a part only: give --all without --simulate")
    if args.estimate:
        args.refuse("--estimate decides nothing, so there are no ways to tell: leave out --all")
    if args.engine not in {None, *PREFERRED}:
        engines = " or ".join(PREFERRED)
        args.refuse(f"--all is for --engine {engines}, or for none: leave out --engine {args.engine}")


def files(args: argparse.Namespace, output: Output) -> Files:
    """The writer of the output files; fails early if one cannot be written."""
    made = Files(output, args.files, force=args.force)
    itf = None if args.itf is None or is_folder(args.itf) else args.itf
    made.refuse("certificate", args.certificate)
    made.refuse("html", args.html)
    made.refuse("itf", itf)
    refuse_report(args, made)
    for folder in filter(None, (args.checkpoint, args.disk)):
        have_folder(folder)
    return made


def changed(args: argparse.Namespace) -> list[str]:
    """The options given that change a check."""
    options = {
        "--of": args.of,
        "--property": args.property,
        "--scope": args.scope,
        "--config": args.config,
        "--release": args.release,
        "--faults": args.faults,
    }
    return [option for option, given in options.items() if given]


def keep(args: argparse.Namespace) -> Keep | None:
    """Where checkpoints or all states are written, if that is wanted."""
    folder = args.resume or args.checkpoint or args.disk
    if folder is None or args.engine == SPARK:  # whose levels are in files as it goes
        return None
    return Keep(Path(folder), args.every, resume=args.resume is not None, states=args.disk is not None)
