"""What was measured, as a table, and how the others compare with us."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tools.race.race import Lane, disagreements

HEAD = ("tool", "threads", "states", "ready s", "search s", "states/s", "peak MB", "base MB", "B/state")
MB = 1_000_000


def table(lanes: Sequence[Lane]) -> Iterator[str]:
    """A row for each contestant that was measured, then whether they agree, then the ratios to the first."""
    measured = [lane for lane in lanes if lane.ran]
    yield from _aligned([HEAD, *map(_row, measured)])
    for lane in lanes:
        if lane.failed is not None:
            yield f"{lane.contestant.name}: {lane.failed}"
    if measured:
        yield ""
        yield from _agreement(measured)
    if measured and measured[0] is lanes[0]:
        yield from _ratios(measured)


def _row(lane: Lane) -> tuple[str, ...]:
    started = max(0.0, lane.wall - lane.seconds)
    return (
        lane.contestant.name,
        str(lane.contestant.threads),
        f"{lane.states:,}",
        f"{lane.ready + started:.2f}",
        f"{lane.seconds:.2f}",
        f"{lane.states / max(lane.seconds, 1e-3):,.0f}",
        f"{lane.peak / MB:,.0f}",
        "-" if lane.base is None else f"{lane.base / MB:,.0f}",
        "-" if lane.each is None else f"{lane.each:,.1f}",
    )


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        first, *others = (
            cell.ljust(width) if n == 0 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join((first, *others)).rstrip()


def _agreement(measured: Sequence[Lane]) -> Iterator[str]:
    counts = disagreements(measured)
    if len(counts) == 1:
        yield f"all found the same number of states: {next(iter(counts)):,}"
        return
    yield "THEY DISAGREE on the number of states, so the times say nothing:"
    for states, names in counts.items():
        yield f"  {states:,}: {', '.join(names)}"


def _ratios(measured: Sequence[Lane]) -> Iterator[str]:
    """The fastest mode of each rival against us, and the one with the least memory a state."""
    us, *others = measured
    for rival in dict.fromkeys(lane.contestant.tool for lane in others):
        if rival == us.contestant.tool:
            continue
        modes = [lane for lane in others if lane.contestant.tool == rival]
        best = min(modes, key=lambda lane: lane.seconds)
        yield f"{best.contestant.name} takes {best.seconds / max(us.seconds, 1e-3):.2f} times our search time"
        sized = [lane for lane in modes if lane.each is not None]
        if us.each and sized:
            least = min(sized, key=lambda lane: lane.each or 0.0)
            ratio = (least.each or 0.0) / us.each
            yield f"{least.contestant.name} takes {ratio:.2f} times our memory a state"
