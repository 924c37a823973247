"""What a command line gives in place of a check's own bounds, settings and budget of faults."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from modelcheck.asking.overrides import Overrides

MODEL = "a model file (.rsm), or the name of a protocol that `modelcheck library list` lists"
MODELS = "model files (.rsm), or names of protocols that `modelcheck library list` lists"


def add_overrides(parser: argparse._ArgumentGroup) -> None:
    """Add the options that change a check."""
    parser.add_argument(
        "--scope",
        action="append",
        default=[],
        metavar="NAME=N",
        help="set the bound of a sort, nat or network; `any` leaves a nat without one",
    )
    parser.add_argument(
        "--config", action="append", default=[], metavar="NAME=VALUE", help="set a config entry"
    )
    parser.add_argument(
        "--release", metavar="VERSION", help="set every config entry to its default in that release"
    )
    parser.add_argument(
        "--faults",
        metavar="N",
        help="set the number of faults: N or `any` of the kinds that the check allows, or per kind: "
        "crash=1,isolate=any",
    )


def words_of(*options: tuple[str, Sequence[object]]) -> Iterator[str]:
    """Options as command-line words, each before each of its values; None for one not given."""
    for option, values in options:
        for value in values:
            if value is not None:
                yield from (option, str(value))


def given_by(args: argparse.Namespace) -> Overrides:
    """The changes to a check in the options."""
    return Overrides(tuple(args.scope), tuple(args.config), args.faults, args.release)
