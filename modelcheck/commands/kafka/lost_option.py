"""`--lost`, of the commands that read the directories of brokers."""

from __future__ import annotations

import argparse

from modelcheck.kafka.incident.at_rest.lost import lost_disk


def add_lost(parser: argparse.ArgumentParser) -> None:
    """Add the option that names disks which are gone for good."""
    parser.add_argument(
        "--lost",
        action="append",
        type=lost_disk,
        default=[],
        metavar="NODE[:ID]",
        help="mark the disk of this broker as lost for good: all of its log directories that are not given, "
        "or the one with this directory.id; a directory that is only omitted counts as unknown",
    )
