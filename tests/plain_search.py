"""Every run of up to so many steps, looked at one by one: what a bounded search is compared with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from counterexamples.trace import Trace
from modelcheck.contract.result import Findings, Holds, Violated
from spec.meaning.semantics import Machine, State, Taken
from spec.model.ir import Check, Kind, Model, PropertyKind
from spec.model.values import ModelError

MOST = 1500  # states of a plain search
Cost = tuple[int, int]


@dataclass
class Plain:
    """What every run of up to so many steps shows: the costs at which a name shows, "" for an error."""

    model: Model
    question: Check
    depth: int

    def __post_init__(self) -> None:
        self.shown: dict[str, set[Cost]] = {}  # (steps, faults)
        self.machine = Machine(self.model, self.question.scope)
        self.names = self.question.only or ()
        kinds = self.question.budget.kinds
        self.kinds = tuple(a.name for a in self.model.actions if a.kind is Kind.FAULT)
        self.limits = {k: None if kinds is None else kinds.get(k, 0) for k in self.kinds}

    def search(self) -> bool:
        """Look at all of it; whether it was small enough."""
        level = {(state, (0,) * len(self.kinds)) for state in self.machine.initial()}
        seen = 0
        for depth in range(self.depth + 1):
            seen += len(level)
            if seen > MOST:
                return False
            after: set[tuple[State, tuple[int, ...]]] = set()
            for state, spent in level:
                self._state(state, (depth, sum(spent)))
                after |= set(self._steps(state, spent, depth))
            level = after
        return True

    def _state(self, state: State, cost: Cost) -> None:
        for name in self.names:
            prop = self.model.property(name)
            if prop.kind in {PropertyKind.STEP, PropertyKind.ASSERT}:
                continue
            try:
                if self.machine.holds(prop, state) is (prop.kind is PropertyKind.REACHABLE):
                    self._show(name, cost)
            except ModelError:
                self._show("", cost)

    def _steps(
        self, state: State, spent: tuple[int, ...], depth: int
    ) -> Iterator[tuple[State, tuple[int, ...]]]:
        able: list[Taken] = []
        for name in self._affordable(spent):
            try:
                able += [t for t in self.machine.steps(state, actions=(name,)) if isinstance(t, Taken)]
            except ModelError:  # of the step that makes it
                self._show("", (depth, sum(spent) + (name in self.kinds)))
        for taken in able:
            paid = tuple(n + (kind == taken.step.action) for kind, n in zip(self.kinds, spent, strict=True))
            if depth < self.depth:
                cost = depth + 1, sum(paid)
                for name in taken.broken:
                    self._show(name, cost)
                for name in self.names:
                    prop = self.model.property(name)
                    if prop.kind is PropertyKind.STEP:
                        try:
                            if not self.machine.step_holds(prop, state, taken.step, taken.state):
                                self._show(name, cost)
                        except ModelError:
                            self._show("", cost)
                yield taken.state, paid

    def _affordable(self, spent: tuple[int, ...]) -> Iterator[str]:
        total = self.question.budget.total
        for action in self.model.actions:
            if action.kind is not Kind.FAULT:
                yield action.name
            elif total is None or sum(spent) < total:
                most = self.limits[action.name]
                if most is None or spent[self.kinds.index(action.name)] < most:
                    yield action.name

    def _show(self, name: str, cost: Cost) -> None:
        self.shown.setdefault(name, set()).add(cost)


def shown(findings: Findings) -> dict[str, Trace]:
    """The runs that a search showed, by property."""
    found = {}
    for result in findings.results:
        match result.verdict:
            case Violated(trace=trace) | Holds(example=trace) if trace is not None:
                found[result.property] = trace
            case _:
                pass
    return found
