"""What two runs have in common, where they part, and what is otherwise then: as data."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from counterexamples.diff import Change, changes
from counterexamples.trace import Trace
from spec.frozen import frozen
from spec.meaning.semantics import Machine

ALIGNED = 400  # steps of each run that are aligned behind the place where they part; more costs too much


@frozen
class Stretch:
    """Aligned steps of two runs, as ranges of step numbers from 1; either may be empty.

    `same` if they are the same steps, one by one.
    """

    first: range
    second: range
    same: bool


@frozen
class RunComparison:
    """The alignment of two runs.

    They begin with the same `common` steps.  `stretches` goes through the steps
    behind those, as far as they were aligned.  `parted` is what differs in the
    starts, or else after the first steps that differ (nothing where one run is
    the beginning of the other); `ends` is what differs in the last states: both
    from the first run to the second, and None where states cannot be compared.
    """

    first: Trace
    second: Trace
    common: int
    stretches: tuple[Stretch, ...]
    parted: tuple[Change, ...] | None
    ends: tuple[Change, ...] | None

    @property
    def same_steps(self) -> bool:
        """Whether both runs take exactly the same steps."""
        return self.common == len(self.first.steps) == len(self.second.steps)


def compare(first: Trace, second: Trace) -> RunComparison:
    """The alignment of two runs by their steps: action, parameters and choices.

    Costs a name for each step, and the alignment of ALIGNED steps of each at most.
    """
    names = step_names(first), step_names(second)
    common = _common(*names)
    stretches = tuple(_aligned(names[0][common:][:ALIGNED], names[1][common:][:ALIGNED], common))
    if not is_comparable(first, second):
        return RunComparison(first, second, common, stretches, None, None)
    parted: tuple[Change, ...] = ()
    if first.states[0] != second.states[0]:
        parted = between(first, 0, second, 0)
    elif common < min(len(first.steps), len(second.steps)):
        parted = between(first, common + 1, second, common + 1)
    ends = between(first, len(first.steps), second, len(second.steps))
    return RunComparison(first, second, common, stretches, parted, ends)


def between(first: Trace, number: int, second: Trace, other: int) -> tuple[Change, ...]:
    """The changes from a state of one run to a state of another; the states must be comparable."""
    return changes(first.model, first.scope, first.states[number], second.states[other])


def is_comparable(first: Trace, second: Trace) -> bool:
    """Whether the states of both runs have the same variables, with values of the same scope."""

    def shape(trace: Trace) -> object:
        return [(each.name, each.type) for each in trace.model.variables], trace.scope.sorts

    return shape(first) == shape(second)


def step_names(trace: Trace) -> list[str]:
    """The steps of a run as text."""
    machine = Machine(trace.model, trace.scope)
    return [machine.name(step) for step in trace.steps]


def _common(first: list[str], second: list[str]) -> int:
    """The length of the longest common prefix."""
    least = min(len(first), len(second))
    return next((i for i in range(least) if first[i] != second[i]), least)


def _aligned(first: list[str], second: list[str], skipped: int) -> Iterator[Stretch]:
    """The stretches of two runs, by the longest common subsequence of their steps after `skipped`."""
    for kind, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        yield Stretch(
            range(skipped + a + 1, skipped + b + 1), range(skipped + c + 1, skipped + d + 1), kind == "equal"
        )
