"""`modelcheck kafka inspect`: the log directories of stopped brokers, and an order to start them in."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import modelcheck.commands.options.amounts as amounts
from modelcheck.answers.progress import ProgressLine
from modelcheck.commands.kafka.lost_option import add_lost
from modelcheck.contract.exits import Exit
from modelcheck.contract.wording import memory_words
from modelcheck.kafka.incident.at_rest.directories import read_cluster
from modelcheck.kafka.incident.at_rest.json_report import as_json
from modelcheck.kafka.incident.at_rest.lost import refuse_unknown
from modelcheck.kafka.incident.at_rest.report import lines, worst_first
from modelcheck.kafka.incident.at_rest.start_order import Judged, judged, starting_order
from modelcheck.kafka.incident.at_rest.understood import is_understood
from modelcheck.processes.watch import watched
from modelcheck.storage.output import Output
from spec.reading import Patience


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options of `modelcheck kafka inspect`."""
    parser.add_argument(
        "directories",
        nargs="+",
        metavar="DIR",
        help="log directories of stopped brokers and controllers, or copies of them; a folder of several; "
        "NODE=DIR if meta.properties is missing. Pass every directory you have: the others count as unknown",
    )
    parser.add_argument("--all", action="store_true", help="show a table for every partition with a problem")
    parser.add_argument(
        "--copy", action="store_true", help="treat the directories as copies, and skip the lock check"
    )
    add_lost(parser)
    parser.add_argument(
        "--every-checksum",
        action="store_true",
        help="verify the checksum of every batch, not only of those that a broker verifies at startup",
    )
    parser.add_argument(
        "--max-time",
        type=amounts.seconds,
        metavar="T",
        help="stop reading after this time (90, 90s, 5m, 2h), and report the partitions read so far",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace, output: Output) -> int:
    """Inspect the directories: exit 1 for a loss or risk, 3 if missing files could change that."""
    with watched(args.max_time, None, output.give_up):
        return _told(args, output)


def _told(args: argparse.Namespace, output: Output) -> Exit:
    """Print the report; returns its exit code."""
    progress = ReadingProgress(output, Patience(args.max_time))
    try:
        gathered = read_cluster(
            args.directories,
            copies=args.copy,
            every=args.every_checksum,
            report=progress.report,
            lost=args.lost,
        )
    finally:
        progress.clear()
    if gathered.metadata is None:
        refuse_unknown(args.lost)
    found = worst_first([judged(each) for each in gathered.partitions])
    order = starting_order(gathered.brokers, found, gathered.emptied)
    if args.json:
        output.json(as_json(gathered, found, order))
    else:
        output.lines(lines(gathered, found, order, output.width, every=args.all))
    return exit_code(found, sure=not gathered.problems and is_understood(gathered.metadata))


def exit_code(found: Sequence[Judged], *, sure: bool) -> Exit:
    """The exit code of the findings: violated for a loss, unknown if something is missing."""
    if any(
        each.order_matters
        or each.gone
        or each.lost_end
        or each.partition.outsiders
        or (each.wanted is not None and each.wanted.lost)
        for each in found
    ):
        return Exit.VIOLATED
    known = all(each.wanted is not None and not each.is_open for each in found)
    return Exit.EXPECTED if sure and found and known else Exit.UNKNOWN


class ReadingProgress:
    """A progress line on a terminal for reading files."""

    def __init__(self, output: Output, patience: Patience) -> None:
        self._line = ProgressLine(output.err, "reading", columns=output.width)
        self._line.show("reading")
        self._patience = patience
        self._bytes = 0

    def report(self, what: str, size: int) -> None:
        """Count `size` bytes read. Raises OutOfTime."""
        self._patience.look()
        self._bytes += size
        self._line.mention(f"reading {what}, {memory_words(self._bytes)} so far")

    def clear(self) -> None:
        """Erase the line."""
        self._line.clear()
