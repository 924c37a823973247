"""What is still to come in a log: the unclean shutdowns and truncations behind each position in it."""

from __future__ import annotations

from collections.abc import Sequence

from modelcheck.kafka.incident.explain_log.observations import LineObservation


def last_up(log: Sequence[LineObservation]) -> dict[int, int]:
    """For each broker the index of the last line that shows it up."""
    return {seen.broker: number for number, seen in enumerate(log) if seen.up}


def reports_truncation(seen: LineObservation) -> bool:
    """Whether a line reports that a log was cut."""
    return seen.length is not None and "become_follower" in seen.actions and not seen.ahead


def later_truncations(log: Sequence[LineObservation]) -> tuple[int, ...]:
    """For each position in a log the number of later lines that report a truncation."""
    found = [0]
    for seen in reversed(log):
        found.append(found[-1] + reports_truncation(seen))
    return tuple(reversed(found))


def later_falls(log: Sequence[LineObservation]) -> tuple[dict[int, tuple[bool, int, bool]], ...]:
    """For each position in a log the brokers with unclean shutdowns in later lines.

    For each broker: whether it has gone down so before it is next up, how often it does so after that, and
    whether it comes back after the last time.
    """
    found: list[dict[int, tuple[bool, int, bool]]] = [{}]
    for seen in reversed(log):
        now = dict(found[-1])
        first, rest, back = now.get(seen.broker, (False, 0, False))
        if seen.up is False and seen.stopped is False:
            now[seen.broker] = (True, rest, back)
        elif seen.up:
            now[seen.broker] = (False, rest + first, back or not (first or rest))
        found.append(now)
    return tuple(reversed(found))
