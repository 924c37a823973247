"""Two runs, or two states, as text: what is common, where they part, what is otherwise, how each ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from counterexamples.compare import RunComparison, Stretch, between
from counterexamples.diff import Change
from counterexamples.ending import ending
from counterexamples.lines import Line, Piece, Role, count, line, size, wrapped
from counterexamples.text import MARGIN, MARKS, bounds, change_lines, step_lines
from counterexamples.trace import Example, Stops, Trace
from spec.meaning.semantics import Machine

FEW = 8  # steps in a row that are all shown; of more, the first and the last
LABEL = 7  # columns for which run it is


def side_by_side(found: RunComparison, names: tuple[str, str], width: int) -> Iterator[Line]:
    """The lines on two aligned runs; `names` are their names for people."""
    runs = _Run("first", found.first, width), _Run("second", found.second, width)
    for run, name in zip(runs, names, strict=True):
        yield from run.headline(name)
    limits = [list(bounds(run.trace, width)) for run in runs]
    for lines in limits[: 1 if limits[0] == limits[1] else 2]:
        yield from ((), *lines)
    yield ()
    yield from _beginning(found, runs[0])
    if not found.same_steps:
        yield from _parting(found, runs)
        yield from _after(found, runs)
    yield from _ends(found, runs)


def two_states(first: Trace, number: int, second: Trace, other: int, width: int) -> Iterator[Line]:
    """The lines on every part that differs between two states."""
    here, there = _state(number), _state(other)
    if first is second:
        yield line(f"From {here} to {there}:")
        low, high = sorted((number, other))
        yield from _Run("", first, width).some(range(low + 1, high + 1))
        yield line("What differs:")
    else:
        yield line(f"From {here} of the first to {there} of the second:")
    yield from _differs(between(first, number, second, other), _Run("", first, width))


def _state(number: int) -> str:
    """A state in words."""
    return f"the state after step {number}" if number else "the start"


class _Run:
    """One of the two runs, with what is needed to print its steps."""

    def __init__(self, label: str, trace: Trace, width: int) -> None:
        self.label = label
        self.trace = trace
        self.width = width
        self._machine = Machine(trace.model, trace.scope)
        self._actions = {action.name: action for action in trace.model.actions}

    def headline(self, name: str) -> Iterator[Line]:
        """The lines about the run's violation."""
        role = Role.GOOD if isinstance(self.trace.ending, Example | Stops) else Role.BAD
        yield line(Piece(f"{self.label:<{LABEL}}", Role.STRONG), name)
        yield from wrapped(line(" " * LABEL), self.trace.headline(), self.width, role)

    def steps(self, numbers: range, label: str | None = None, other: int = 0) -> Iterator[Line]:
        """The lines of some steps; `other` is the offset of their numbers in the other run."""
        for number in numbers:
            step = self.trace.steps[number - 1]
            action = self._actions[step.action]
            both = f"{number}/{number + other}" if other else str(number)
            name = self.label if label is None else label
            counted = Piece(f"{both:>5} ", Role.DIM)
            start = line(Piece(f"{name:<{LABEL}}", Role.STRONG), counted, MARKS[action.kind], " ")
            before = self.trace.states[number - 1]
            yield from step_lines(self._machine, action, step, before, start, self.width)

    def ending(self) -> Iterator[Line]:
        """The lines about the run's end."""
        yield from ending(self._machine, self.trace, self.width)

    def some(self, numbers: range, label: str | None = None, other: int = 0) -> Iterator[Line]:
        """The lines of some steps; of many only the first and the last."""
        if len(numbers) <= FEW:
            yield from self.steps(numbers, label, other)
            return
        half = FEW // 2
        yield from self.steps(numbers[:half], label, other)
        yield line(" " * LABEL, Piece(f"    …  {count(len(numbers) - 2 * half, 'step')}", Role.DIM))
        yield from self.steps(numbers[-half:], label, other)


def _beginning(found: RunComparison, run: _Run) -> Iterator[Line]:
    """The lines on the common prefix."""
    if found.parted is None:
        yield line("They are runs of other models or other members, so that only their steps are compared.")
    elif _starts_differ(found):
        yield line("They start in other states; from the first to the second:")
        yield from _differs(found.parted, run)
    steps = "step" if found.common == 1 else count(found.common, "step")
    if found.same_steps:
        yield line(f"Both take the same {steps}:" if found.common else "Neither takes a step.")
    elif found.common:
        yield line(f"Both begin with the same {steps}:")
    yield from run.some(range(1, found.common + 1), "both")


def _parting(found: RunComparison, runs: tuple[_Run, _Run]) -> Iterator[Line]:
    """The lines on the first steps that differ, and on the state differences after them."""
    number = found.common + 1
    if found.common:
        yield ()
    yield line(f"They part at step {number}:")
    for run in runs:
        if number <= len(run.trace.steps):
            yield from run.steps(range(number, number + 1))
        else:
            yield line(Piece(f"{run.label:<{LABEL}}", Role.STRONG), Piece("      ends here", Role.DIM))
    if found.parted and not _starts_differ(found):
        yield line("What differs then, from the first to the second:")
        yield from _differs(found.parted, runs[0])


def _after(found: RunComparison, runs: tuple[_Run, _Run]) -> Iterator[Line]:
    """The lines on the steps after those."""
    parted, *others = found.stretches
    stretches = [Stretch(parted.first[1:], parted.second[1:], parted.same), *others]
    if any(each.first or each.second for each in stretches):
        yield from ((), line("From there on:"))
    for each in stretches:
        if each.same:
            yield from runs[0].some(each.first, "both", each.second.start - each.first.start)
        else:
            yield from (*runs[0].some(each.first), *runs[1].some(each.second))
    yield from _more(found)


def _more(found: RunComparison) -> Iterator[Line]:
    """The line on the number of steps that were not aligned."""
    first = len(found.first.steps) - found.common - sum(len(each.first) for each in found.stretches)
    second = len(found.second.steps) - found.common - sum(len(each.second) for each in found.stretches)
    if first or second:
        words = f"{count(first, 'more step')} of the first, {count(second, 'more step')} of the second"
        yield line(" " * LABEL, Piece(f"    …  {words}", Role.DIM))


def _ends(found: RunComparison, runs: tuple[_Run, _Run]) -> Iterator[Line]:
    """The lines on the differences at the end, and on how each run ends."""
    if found.ends is not None and not found.same_steps:
        yield from ((), line("What differs at the end, from the first to the second:"))
        yield from _differs(found.ends, runs[0])
    endings = [list(run.ending()) for run in runs]
    if endings[0] == endings[1]:
        yield from ((), line("Both end alike:"), *endings[0])
        return
    for run, lines in zip(runs, endings, strict=True):
        yield from ((), line(f"The {run.label} ends:"), *lines)


def _starts_differ(found: RunComparison) -> bool:
    """Whether the initial states differ."""
    return found.first.states[0] != found.second.states[0]


def _differs(found: tuple[Change, ...], run: _Run) -> Iterator[Line]:
    """The lines on differences."""
    if found:
        yield from change_lines(found, run.trace.scope, run.width, both=True)
    else:
        yield line(" " * MARGIN, Piece("nothing", Role.DIM))


def facing(first: Sequence[Line], second: Sequence[Line], width: int, between: int) -> Iterator[Line]:
    """Two texts in two columns, each `width` wide."""
    for left, right in zip_longest(first, second, fillvalue=()):
        gap = Piece(" " * (max(0, width - size(left)) + between))
        yield (*left, gap, *right) if right else left
