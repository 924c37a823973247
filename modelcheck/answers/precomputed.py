"""The first states of a check, computed beforehand: what a page plays with where it has no kernel.

The states are those of the cheapest runs, the fewest faults first and then the fewest steps, found by the
interpreter; for each there are the records of `modelcheck/explicit/wasm/records.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import Any

import spec.model.ir as ir
from counterexamples.play.described import PageTypes
from modelcheck.search.space import FaultBudget
from spec.frozen import frozen
from spec.meaning.semantics import CutOff, Machine, State, Taken
from spec.model.ir import Check, Model, PropertyKind, Value
from spec.model.types import Type
from spec.model.values import ModelError, ordered

Json = Any
MOST_STATES = 2_000
RECORDS_FOR_EACH = 20  # for each state of the limit, on average; the records of one state may go beyond it
OF_A_STATE = {PropertyKind.INVARIANT, PropertyKind.LEMMA, PropertyKind.REACHABLE, PropertyKind.RECOVERABLE}
NO, YES, ERROR = "012"  # whether a property is true of a state


@frozen
class Precomputed:
    """A table of `count` states for a page, as JSON: `used` describes it, `starts` are the initial ones."""

    used: Json
    table: str
    count: int
    starts: int


def precomputed(
    model: Model,
    check: Check,
    types: PageTypes,
    most: int = MOST_STATES,
    tell: Callable[[int], None] = lambda _: None,
) -> Precomputed:
    """The first states of a check, about `most`, with the steps that fit; `tell` hears how many there are.

    Costs what the reference engine takes for them, some thousands of states a second, and some kilobytes of
    memory for each.  Raises ModelError where the model cannot start.
    """
    return _Table(model, check, types).made(most, tell)


@dataclass(slots=True)
class _FoundStates:
    """The states found, with what is known about them, by number; states and records as JSON, to be small."""

    states: list[str] = field(default_factory=list)
    spent: list[list[int]] = field(default_factory=list)
    records: list[str | None] = field(default_factory=list)  # None of a state whose steps are not known
    dead: list[str] = field(default_factory=list)
    truths: dict[str, list[str]] = field(default_factory=dict)


class _Table:
    """Builds the table of one check."""

    def __init__(self, model: Model, check: Check, types: PageTypes) -> None:
        self._machine = Machine(model, check.scope)
        self._model, self._types = model, types
        self._budget = FaultBudget(model, replace(check.budget, total=None))
        self._most = {
            name: check.budget.counted[name] for name in model.faults if name in check.budget.counted
        }
        allowed = [a for a in model.actions if not a.is_fault or a.name in self._budget.allowed]
        self._actions = sorted(allowed, key=lambda action: action.is_fault)  # as kernels order them
        kinds = {kind: [p for p in model.properties if p.kind is kind] for kind in PropertyKind}
        self._of_states = [p for p in model.properties if p.kind in OF_A_STATE]
        self._of_steps = [p.name for p in (*kinds[PropertyKind.STEP], *kinds[PropertyKind.ASSERT])]
        self._steps = kinds[PropertyKind.STEP]
        self._deadlock = next(iter(kinds[PropertyKind.DEADLOCK_FREE]), None)
        self._numbers: dict[tuple[bytes, State], int] = {}
        self._found = _FoundStates(truths={p.name: [] for p in self._of_states})
        self._waiting: list[tuple[int, int, int, bytes, State]] = []  # by faults, steps and number
        self._costs: list[tuple[int, int]] = []  # of each state the least known so far

    def made(self, most: int, tell: Callable[[int], None]) -> Precomputed:
        """The table of about `most` states."""
        starts = [self._number(0, 0, self._budget.empty, state) for state in self._machine.initial()]
        records, room = 0, RECORDS_FOR_EACH * most
        while self._waiting and len(self._numbers) < most and records < room:
            faults, steps, number, spent, state = heappop(self._waiting)
            if self._found.records[number] is None:
                known = [*self._records(state, spent, faults, steps)]
                self._found.records[number] = _text(known)
                records += len(known)
                tell(len(self._numbers))
        found = self._found
        used = {
            "table": True,
            "words": 1,
            "whole": not self._waiting,
            "count": len(found.states),
            "known": sum(each is not None for each in found.records),
            "ofSteps": self._of_steps,
            "ofStates": [p.name for p in self._of_states if p.kind is not PropertyKind.RECOVERABLE],
            "reached": [p.name for p in self._of_states if p.kind is PropertyKind.REACHABLE],
            "faults": [action.name for action in self._actions if action.is_fault],
            "deadlock": None if self._deadlock is None else self._deadlock.name,
            "asked": {p.name: p.name for p in self._of_states},
            "actions": [action.name for action in self._actions],
            "params": {a.name: [self._named(p.name, p.type) for p in a.params] for a in self._actions},
            "counters": [{"name": name, "most": most} for name, most in self._most.items()],
        }
        table = {
            "states": f"[{','.join(found.states)}]",
            "spent": _text(found.spent),
            "records": f"[{','.join(each or 'null' for each in found.records)}]",
            "dead": _text("".join(found.dead)),
            "truths": _text({name: "".join(each) for name, each in found.truths.items()}),
        }
        text = ",".join(f'"{name}":{each}' for name, each in table.items())
        return Precomputed(used, f"{{{text}}}", len(found.states), len({*starts}))

    def _named(self, name: str, of: Type) -> Json:
        """A name with its type as JSON data."""
        return {"name": name, "type": self._types.number(of)}

    def _number(self, faults: int, steps: int, spent: bytes, state: State) -> int:
        """The number of a state; a new one is examined and queued."""
        key, found = (spent, state), self._found
        number = self._numbers.setdefault(key, len(self._numbers))
        if number == len(found.states):
            found.states.append(_text([plain(value) for value in state]))
            found.spent.append([int.from_bytes(spent[at : at + 2]) for at in range(0, len(spent), 2)])
            found.records.append(None)
            found.dead.append(self._dead(state))
            for prop in self._of_states:
                found.truths[prop.name].append(self._truth(prop, state))
            self._costs.append((faults, steps + 1))
        if (faults, steps) < self._costs[number]:
            self._costs[number] = (faults, steps)
            heappush(self._waiting, (faults, steps, number, spent, state))
        return number

    def _truth(self, prop: ir.Property, state: State) -> str:
        """The value of a property in a state, as a letter."""
        try:
            return YES if self._machine.holds(prop, state) else NO
        except ModelError:
            return ERROR

    def _dead(self, state: State) -> str:
        """Whether a state is a deadlock, as a letter."""
        return YES if self._deadlock is not None and self._truth(self._deadlock, state) == NO else NO

    # ------------------------------------------------------------------- the records of a state

    def _records(self, state: State, spent: bytes, faults: int, steps: int) -> Iterator[Json]:
        """The records of a state by action; after an error only of faults, as in a search."""
        has_failed = False
        affordable = self._budget.affordable(spent)
        for action in self._actions:
            if action.is_fault and action.name not in affordable:
                yield {"action": action.name, "outcome": "spent"}
            elif action.is_fault or not has_failed:
                refused: set[tuple[str, int]] = set()
                try:
                    for each in self._machine.steps(state, refused, (action.name,)):
                        yield self._record(action, each, state, spent, (faults, steps))
                except ModelError:
                    has_failed = True
                    yield {"action": action.name, "outcome": "error"}
                for name, index in sorted(refused):
                    yield {"action": name, "outcome": "refused", "why": index}

    def _record(
        self, action: ir.Action, each: Taken | CutOff, state: State, spent: bytes, cost: tuple[int, int]
    ) -> Json:
        """The record of one step as JSON data."""
        step = each.step
        record: Json = {"action": action.name, "params": [plain(value) for value in step.args]}
        if action.says is not None:
            record["text"] = self._machine.says(action, step, state)
        if step.choices:
            record["choices"] = [
                {**self._named(c.name, c.type), "value": plain(c.value)} for c in step.choices
            ]
        if isinstance(each, CutOff):
            return record | {"outcome": "cut", "why": each.limit}
        broken = [p.name for p in self._steps if not self._keeps(p, state, each)]
        faults, steps = cost
        paid = self._budget.pay(spent, action.name) if action.is_fault else spent
        to = self._number(faults + action.is_fault, steps + 1, paid, each.state)
        return record | {"outcome": "taken", "to": to, "broken": [*broken, *each.broken]}

    def _keeps(self, prop: ir.Property, state: State, each: Taken) -> bool:
        """Whether a step satisfies a property."""
        try:
            return self._machine.step_holds(prop, state, each.step, each.state)
        except ModelError:
            return False


def _text(data: Json) -> str:
    """JSON data as text without spaces."""
    return json.dumps(data, separators=(",", ":"))


def plain(value: Value) -> Json:
    """A value as JSON data: sets and bags as sorted lists."""
    match value:
        case tuple():
            return [plain(each) for each in value]
        case frozenset():
            return [plain(each) for each in ordered(value)]
        case _:
            return value
