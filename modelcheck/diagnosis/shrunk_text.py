"""What shrinking came to, in a few lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from counterexamples.lines import BETWEEN, Line, Piece, Role, count, line, packed, wrapped
from counterexamples.trace import Trace
from modelcheck.diagnosis.shrink import ShrinkEnd, Shrunk

LABEL = 11  # columns, as on a verdict card


def shrunk_lines(shrunk: Shrunk, width: int) -> Iterator[Line]:
    """The lines on what was removed, and whether the trace is minimal."""
    before, after = shrunk.before, shrunk.trace
    what = _size(after) if after == before else f"from {_size(before)} to {_size(after)}"
    yield from wrapped(_label("shrunk"), what, width)
    if items := [line(each) for each in _scope(shrunk)]:
        yield from packed(_label("scope"), items, width, BETWEEN)
    tried = f"{count(shrunk.tried, 'smaller run')} replayed"
    match shrunk.stopped:
        case ShrinkEnd.MINIMAL:
            what = "step" if shrunk.same_scope else "step, fault, member or bound"
            yield from wrapped(_label("minimal"), f"no single {what} can go; {tried}", width, Role.GOOD)
        case _:
            sentence = f"{shrunk.stopped.value}, so more may go; {tried}"
            yield from wrapped(_label("partial"), sentence, width, Role.UNSURE)


def _label(word: str) -> Line:
    """A word as a label."""
    return line("    ", Piece(f"{word:<{LABEL}}", Role.DIM))


def _size(trace: Trace) -> str:
    """The size of a trace in words."""
    faults = f"{trace.faults:,}" if trace.faults else "no"
    return f"{count(len(trace.steps), 'step')} with {faults} fault{'' if trace.faults == 1 else 's'}"


def _scope(shrunk: Shrunk) -> Iterator[str]:
    """The removed members and lowered bounds: `Broker 5 → 2`."""
    for sort, members in shrunk.before.scope.sorts.items():
        if sort in shrunk.members_gone:
            yield f"{sort} {len(members)} → {len(shrunk.trace.scope.sorts[sort])}"
    for name, (old, new) in shrunk.bounds_lowered.items():
        yield f"{name} {old:,} → {new:,}"
