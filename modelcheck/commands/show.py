"""`modelcheck show TRACE FILE`: a trace from a file, replayed on its model, as a story."""

from __future__ import annotations

import argparse

from counterexamples.itf.read import document
from counterexamples.text import story
from modelcheck.exits import Exit
from modelcheck.explanation.explain import why
from modelcheck.files import LARGEST_TRACE, read_text
from modelcheck.models import pick_check, pick_model
from modelcheck.output import Output
from modelcheck.overrides import Overrides, apply, free_check
from spec.ir import Model, Scope
from spec.load import load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument(
        "trace",
        metavar="TRACE",
        help="a trace in the Informal Trace Format (.itf.json); `-` reads it from the input",
    )
    parser.add_argument("file", metavar="FILE", help="the model it is a run of (.rsm)")
    parser.add_argument(
        "--of", metavar="NAME", help="which protocol or variant of the file (default: what the trace says)"
    )
    parser.add_argument(
        "--check", metavar="NAME", help="take the scope from this check (for traces of other tools)"
    )
    parser.add_argument(
        "--scope", nargs="+", default=[], metavar="NAME=N", help="give the scope (for traces of other tools)"
    )
    parser.add_argument(
        "--config", nargs="+", default=[], metavar="NAME=VALUE", help="give the configuration"
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="say why it goes wrong: what is false, which steps it takes, from when on nothing helps",
    )


def run(args: argparse.Namespace, output: Output) -> int:
    """Read, replay, tell. A trace that is no run of the model is wrong input."""
    found = document(read_text(args.trace, largest=LARGEST_TRACE), args.trace)
    model = pick_model(load(args.file), args.of or found.model)
    trace = found.replayed(model, _scope(model, args)).trace
    output.lines(story(trace, width=output.width))
    if args.explain:
        output.lines(why(trace, output.width, in_full=True))
    return Exit.EXPECTED


def _scope(model: Model, args: argparse.Namespace) -> Scope | None:
    """The scope that the command line gives, None when the trace has to."""
    given = Overrides(tuple(args.scope), tuple(args.config))
    if args.check is not None:
        return apply(model, pick_check(model, args.check), given).scope
    return free_check(model, given).scope if given else None
