"""The options of commands that try what they have found on a real cluster; loads nothing that does."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from modelcheck.kafka.reproduce.installation import Home


def add_reproduce_options(group: argparse._ActionsContainer, what: str) -> None:
    """Add `--reproduce` and `--kafka-home`; `what` names the run for the help."""
    group.add_argument(
        "--reproduce",
        action="store_true",
        help=f"also drive {what} on a real cluster; see `modelcheck kafka reproduce`",
    )
    group.add_argument(
        "--kafka-home",
        type=Path,
        metavar="DIR",
        help="with --reproduce: the folder of an unpacked release of Kafka",
    )


def refuse_half(args: argparse.Namespace, refuse: Callable[[str], NoReturn]) -> None:
    """Exit with an error for one of the two options without the other."""
    if args.reproduce and args.kafka_home is None:
        refuse("--reproduce starts a real Kafka: add --kafka-home DIR, a release of it, unpacked")
    if args.kafka_home is not None and not args.reproduce:
        refuse("--kafka-home names the Kafka of --reproduce: give both")


def kafka_home(args: argparse.Namespace) -> Home | None:
    """The Kafka release to try runs on, if asked for. Raises SpecError."""
    if not args.reproduce:
        return None
    from modelcheck.kafka.reproduce.installation import find  # noqa: PLC0415 - only for `--reproduce`

    return find(args.kafka_home)
