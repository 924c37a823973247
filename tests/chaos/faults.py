"""The faults of a round as the model of Kafka counts them, and whether they refute a review."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.chaos.judges import Json, Judge, Judgement, Truth, Verdict
from tests.chaos.plan import FIRST_CONTROLLER, Event, Kind

BY_OPERATORS = {Kind.SET, Kind.REASSIGN, Kind.ELECT}  # after which a review speaks of another topic
ANY = "any"  # kind of faults: in any mixture
PROMISES = {
    Judge.REVIEW: ("durable", "acknowledged"),
    Judge.READ: ("committed", "read"),
}  # guarantee, and of what


def count(befallen: Iterable[Event]) -> int:
    """How many faults befell the brokers.

    What befalls the disk of a broker that was killed is one fault together with the kill: a loss of power, or
    of a disk.  A clean stop counts as a kill, since a review's brokers go down by faults alone.  A controller
    that restarts, or is cut off, is none, for the model's controller never is.
    """
    found = 0
    fallen: set[int] = set()  # by a fault, and not started since
    for event in befallen:
        match event.kind:
            case Kind.KILL | Kind.STOP | Kind.FULL:
                found += 1
                fallen.add(event.node)
            case Kind.WIPE | Kind.POWER | Kind.LOSE_ONE:
                found += event.node not in fallen
                fallen.add(event.node)
            case Kind.START:
                fallen.discard(event.node)
            case Kind.PAUSE | Kind.CUT | Kind.HOLD | Kind.FAIL:
                found += event.node < FIRST_CONTROLLER
            case _:
                pass
    return found


def is_reviewed(topic: str, befallen: Iterable[Event]) -> bool:
    """Whether a review speaks of what befell a topic: nobody changed its settings, replicas or leader."""
    return not any(each.topic == topic and each.kind in BY_OPERATORS for each in befallen)


def lost(topic: str, of: Iterable[str], found: Truth, seen: Json) -> set[str]:
    """The records of some that are lost without anybody's decision to elect uncleanly."""
    values = seen["values"][topic]
    if values is None or topic in seen["by_hand"] or not seen["whole"]:
        return set(of) - found.kept
    return set(of) - set(values)


def reviewed(
    topic: str, judge: Judge, lost_records: set[str], faults: int, review: dict[str, Any]
) -> Judgement:
    """Whether a loss refutes a review: it came with fewer faults than that says."""
    guarantee, what = PROMISES[judge]
    answer = review["guarantees"][guarantee]["by_kind"][ANY]
    least, survived = answer["lost_with"], answer["survives"]
    told = f"{len(lost_records)} {what} records are lost with {faults} faults"
    if least is not None and least <= faults:
        return Judgement(topic, judge, Verdict.RIGHT, f"{told}, and can be with {least}")
    if survived is not None and survived < faults:
        return Judgement(topic, judge, Verdict.UNKNOWN, f"{told}, more than the {survived} asked of")
    return Judgement(topic, judge, Verdict.WRONG, f"{told}, though these are said to be survived")
