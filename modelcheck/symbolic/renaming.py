"""Symmetry breaking: of runs that differ by the names of members, those that a bounded search looks at.

A sort has no order and no named members (`modelcheck/search/symmetry.py`), so when two
neighbours of a sort change names throughout a run, it is a run again, and of the
two runs one is enough: the one whose first rule that differs has the lower number.
So as long as no step has distinguished two neighbours, the rules that the change would
turn into earlier ones are not to be taken.  Of all runs that differ by names, the
least one passes every such test.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from modelcheck.contract.engine import Task
from modelcheck.grounding.machine import GroundMachine
from modelcheck.grounding.steps import Arg, GroundRule
from modelcheck.search.symmetry import neighbours
from modelcheck.symbolic.formulas import Formula
from modelcheck.symbolic.replayed import state_of
from modelcheck.symbolic.solver import Unrolling
from spec.frozen import frozen
from spec.model.interchangeable import symmetric_sorts
from spec.model.renaming import Renaming, renamed

Key = tuple[str, tuple[Arg, ...]]


@frozen
class Swap:
    """The exchange of two members: which initial states and rules it changes, and which to smaller ones."""

    starts: tuple[int, ...]
    earlier_starts: tuple[int, ...]
    rules: tuple[int, ...]
    earlier_rules: tuple[int, ...]


def swaps(task: Task, machine: GroundMachine) -> tuple[Swap, ...]:
    """The exchanges of two neighbouring members that are symmetries of the machine."""
    if machine.tells_members:
        return ()
    found = []
    for sort in symmetric_sorts(task.model):
        for names in neighbours(len(task.scope.sorts[sort])):
            starts = _start_images(task, machine, sort, names)
            rules = _rule_images(machine.rules, sort, names)
            if starts is not None and rules is not None:
                found.append(Swap(*_altered(starts), *_altered(rules)))
    return tuple(found)


def _altered(to: Sequence[int | None]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The indices that map to another one, and of these those that map to a smaller one."""
    altered = tuple(n for n, other in enumerate(to) if other != n)
    return altered, tuple(n for n in altered if (other := to[n]) is not None and other < n)


def _start_images(task: Task, machine: GroundMachine, sort: str, names: Renaming) -> list[int | None] | None:
    """The index that each initial state maps to; None if the exchange is no symmetry."""
    states = [state_of(machine.stored, values) for values in machine.starts]
    numbers = {state: n for n, state in enumerate(states)}
    found: list[int | None] = []
    for state in states:
        pairs = zip(task.model.variables, state, strict=True)
        other = tuple(renamed(variable.type, sort, value, names) for variable, value in pairs)
        if other not in numbers:
            return None
        found.append(numbers[other])
    return found


def _rule_images(rules: Sequence[GroundRule], sort: str, names: Renaming) -> list[int | None] | None:
    """The index that each rule maps to, None if that is ambiguous; None if the exchange is no symmetry."""
    numbers: dict[Key, list[int]] = defaultdict(list)
    for n, rule in enumerate(rules):
        numbers[rule.action, rule.args].append(n)
    found: list[int | None] = []
    for rule in rules:
        args = tuple((of, renamed(of, sort, value, names)) for of, value in rule.args)
        others = numbers.get((rule.action, args), [])
        if len(others) != len(numbers[rule.action, rule.args]):
            return None
        found.append(others[0] if len(others) == 1 else None)
    return found


class LeastNames:
    """Restricts an unrolling to one run of each symmetry class: those that no exchange makes smaller."""

    def __init__(self, runs: Unrolling, changes: Sequence[Swap]) -> None:
        self._runs, self._swaps = runs, changes
        self.restart()

    def restart(self) -> None:
        """State the conditions for runs without steps."""
        runs = self._runs
        self._apart: list[Formula] = []  # whether the two neighbours have been distinguished
        for swap in self._swaps:
            runs.refute(runs.first_state(swap.earlier_starts))
            self._apart.append(runs.first_state(swap.starts))

    def grow(self) -> None:
        """Extend the conditions by the step that was added to the runs."""
        runs = self._runs
        for n, swap in enumerate(self._swaps):
            runs.assume(runs.either([self._apart[n], runs.no(runs.last_step(swap.earlier_rules))]))
            self._apart[n] = runs.named(runs.either([self._apart[n], runs.last_step(swap.rules)]))
