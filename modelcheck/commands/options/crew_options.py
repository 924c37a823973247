"""Where many searches run: `--engine` and the options of Spark, for commands that ask many questions."""

from __future__ import annotations

import argparse

from modelcheck.asking.crew import Crew
from modelcheck.asking.crews import CREWS, crew
from modelcheck.commands.options.engine_options import OPTIONS, keywords_of

OF_SPARK = ("--master", "--conf", "--patience")
HERE = "explicit"


def add_crew(parser: argparse._ActionsContainer) -> None:
    """Add the options that say where searches run; `args.refuse` must be there."""
    add = parser.add_argument
    add(
        "--engine",
        choices=CREWS,
        default=HERE,
        help=f"search on this machine ({HERE}, the default) or on a cluster (spark)",
    )
    for flag in OF_SPARK:
        add(flag, **OPTIONS[flag].among_engines)


def crew_of(args: argparse.Namespace) -> Crew:
    """Who does the searches; exits for an option of Spark without it. Raises CannotStart."""
    return crew(args.engine, **keywords_of(args, args.engine))
