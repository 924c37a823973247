"""What stops while controllers are down, in sentences and in plain values."""

from __future__ import annotations

from collections.abc import Iterator

from counterexamples.lines import Line, Piece, Role, line, wrapped
from modelcheck.kafka.questions.outages.controllers import Quorum
from modelcheck.kafka.questions.outages.findings import Outage
from modelcheck.kafka.report.run_text import sentences_json

TITLE = "While controllers are down"
_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven")
_FROZEN = (
    "nothing is decided: no leader is elected, the in-sync set stays as it is, and no broker that starts "
    "is let in; writes continue until the next replica fails"
)


def says(found: Quorum, down: Outage | None) -> str:
    """How many controllers may be down, and what stops with more, in sentences."""
    many = found.voters.count.value
    named = f"{found.voters.count.reason}{', perhaps not all' if found.voters.count.assumed else ''}"
    if found.frozen_with is None:
        return f"There are {many} controllers ({named}); how many may be down was not asked. {_above(found)}"
    spare = found.frozen_with - 1
    if many == 1:
        sentence = f"There is one controller ({named}). While it is down {_FROZEN}."
    else:
        may = f"{_NUMBERS[spare].capitalize()} of the {_NUMBERS[many]} controllers ({named}) may be down."
        sentence = f"{may} With {_NUMBERS[found.frozen_with]} down {_FROZEN}."
    return f"{sentence} {_combined(found, down) or _above(found)}"


def _above(found: Quorum) -> str:
    """The assumption of the review about controllers, in a sentence."""
    if found.voters.are_brokers:
        return "Each is a broker as well; the other answers are for a majority that is up all the same."
    return "The other answers are for a majority that is up."


def _combined(found: Quorum, down: Outage | None) -> str:
    """The effect of brokers being controllers, in a sentence, if it was asked."""
    if found.brokers is None or down is None:
        return ""
    both = f"Each is a broker as well: with {_NUMBERS[found.brokers.faults]} of them down no replica leads"
    return f"{both}, as above; the answers about brokers that are cut off are for a majority that is up."


def lines(found: Quorum, down: Outage | None, width: int) -> Iterator[Line]:
    """The sentences under a heading."""
    yield line(Piece(TITLE, Role.STRONG))
    yield from wrapped(line("  "), says(found, down), width)
    yield ()


def as_json(found: Quorum, down: Outage | None) -> dict[str, object]:
    """The findings as JSON data."""
    return {
        "says": says(found, down),
        "stands_still_with": found.frozen_with,
        "run": sentences_json(found.run),
        "brokers": None if found.brokers is None else found.brokers.faults,
        "brokers_run": sentences_json(found.brokers),
    }
