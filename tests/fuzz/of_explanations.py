"""What an explanation says of a run, and what is found of it by looking at everything."""

from __future__ import annotations

from collections.abc import Iterator

from counterexamples.explanation import NoReturn
from counterexamples.trace import (
    BadAssert,
    BadState,
    BadStep,
    Deadlocked,
    Erred,
    Example,
    Lasso,
    Stops,
    Trace,
    Trapped,
)
from modelcheck.contract.engine import Limits
from modelcheck.diagnosis.causal_core import causal_core
from modelcheck.diagnosis.explain import explain
from modelcheck.diagnosis.no_return import point_of_no_return
from spec.meaning.semantics import Machine, State, Taken
from spec.model.ir import PropertyKind
from spec.model.values import ModelError
from tests.fuzz.cases import Case, TooLarge
from tests.fuzz.findings import Differences
from tests.fuzz.of_runs import Replayed, leavable, of_each, refusal

MOST = 1_500  # states without a fault from a run
PATIENCE = Limits(states=2_000, seconds=10)
SHOWN = 5  # steps of a way out that are all said


def cores(case: Case) -> Differences | None:
    """The steps that a violation needs."""
    return of_each(case, _cores)


def _cores(case: Case, _: str, run: Trace) -> Iterator[tuple[str, object, object]]:
    core, least = causal_core(run)
    machine = Machine(case.model, run.scope)
    yield "the core is a run", "", refusal(least)
    yield "it shows the same", (type(run.ending), run.property), (type(least.ending), least.property)
    yield "it is all that is needed", len(core.steps), len(least.steps)
    yield "no step of it can go", [], leavable(least)
    numbers = [each.number for each in core.steps]
    yield "its steps are in order", sorted(set(numbers)), numbers
    names = [machine.name(run.steps[each - 1]) for each in numbers]
    yield "they are those of the run", names, [each.name for each in core.steps]


def explained(case: Case) -> Differences | None:
    """Whether there is an explanation at all."""
    return of_each(case, _explained)


def _explained(_: Case, __: str, run: Trace) -> Iterator[tuple[str, object, object]]:
    found = explain(run, PATIENCE)
    yield "it is explained", True, found is not None and bool(found.summary)


def no_return(case: Case) -> Differences | None:
    """The points of no return."""
    return of_each(case, _no_return)


def _no_return(case: Case, _: str, run: Trace) -> Iterator[tuple[str, object, object]]:
    if isinstance(run.ending, Example | Stops | Erred) or run.property is None:
        return
    if case.model.property(run.property).kind is PropertyKind.LEADSTO:
        return  # it goes by when it is due
    found = point_of_no_return(run)
    if case.model.property(run.property).kind is PropertyKind.EVENTUALLY_ALWAYS:
        yield "there is no such point", None, found
        return
    assert found is not None
    future = _Future(run)
    settled = [not future.is_open(state) for state in run.states]
    if future.is_unclear:
        return
    if isinstance(run.ending, Lasso) and not settled[-1]:
        yield "it is put off", (True, None), (found.is_put_off, found.state)
        return
    at = len(run.states) - 1
    while at > 0 and settled[at - 1]:
        at -= 1
    yield "the point of no return", at, found.state
    if at:
        yield "the way out", future.way_out(run.states[at - 1]), len(found.way_out)
    yield from _at_risk(run, future, found)


def _at_risk(run: Trace, future: _Future, found: NoReturn) -> Iterator[tuple[str, object, object]]:
    faults = set(run.model.faults)
    if (
        future.is_lack
        or not run.faults
        or (run.steps[-1].action in faults and not isinstance(run.ending, BadState))
    ):
        return
    at = len(run.states) - 1
    while at > 0 and future.is_dangerous(run.states[at - 1]):
        at -= 1
    yield "at risk", at, found.at_risk


class _Future:
    """All that comes of the states of a run by actions and repairs, looked at at once. Raises TooLarge."""

    def __init__(self, run: Trace) -> None:
        self._run, self._machine = run, Machine(run.model, run.scope)
        self._shown = Replayed(run)
        self.is_lack = isinstance(run.ending, Trapped | Lasso)
        self.is_unclear = False  # where a property makes an error
        self._after: dict[State, list[State]] = {}
        self._bad: set[State] = set()
        self._wanted: set[State] = set()
        states = list(dict.fromkeys(run.states))
        for state in states:
            self._look(state)
            states += [each for each in dict.fromkeys(self._after[state]) if each not in self._after]
            for each in self._after[state]:
                self._after.setdefault(each, [])
            if len(states) > MOST:
                raise TooLarge
        self._safe = self._wanted if self.is_lack else set(states) - self._leading_to(self._bad)
        self._open = self._leading_to(self._safe)
        self._dangerous = self._leading_to(self._bad)

    def is_open(self, state: State) -> bool:
        """Whether a way leads to a state from which on nothing is wrong."""
        return state in self._open

    def is_dangerous(self, state: State) -> bool:
        """Whether a way leads to what is wrong."""
        return state in self._dangerous

    def way_out(self, state: State) -> int:
        """How many sentences a shortest way out has."""
        level, steps, seen = {state}, 0, {state}
        while not level & self._safe:
            level = {each for here in level for each in self._after[here]} - seen
            seen |= level
            steps += 1
        return min(steps, SHOWN + 1)

    def _look(self, state: State) -> None:
        self._after[state] = []
        is_step = isinstance(self._run.ending, BadStep | BadAssert)
        try:
            if not is_step and not self.is_lack and self._is_wrong(state):
                self._bad.add(state)
                return
            if self.is_lack and self._machine.holds(
                self._run.model.property(self._run.property or ""), state
            ):
                self._wanted.add(state)
                return
        except ModelError:
            self.is_unclear = True
            return
        try:
            taken = list(self._machine.steps(state, None, self._run.model.free))
        except ModelError:
            self._bad.add(state)
            return
        for each in taken:
            if isinstance(each, Taken):
                if is_step and self._breaks(state, each):
                    self._bad.add(state)
                else:
                    self._after[state].append(each.state)

    def _is_wrong(self, state: State) -> bool:
        prop = self._run.model.property(self._run.property or "")
        assert isinstance(self._run.ending, BadState | Deadlocked)
        return not self._machine.holds(prop, state)

    def _breaks(self, state: State, taken: Taken) -> bool:
        prop = self._run.model.property(self._run.property or "")
        if isinstance(self._run.ending, BadAssert):
            return prop.name in taken.broken
        try:
            return not self._machine.step_holds(prop, state, taken.step, taken.state)
        except ModelError:
            self.is_unclear = True
            return False

    def _leading_to(self, targets: set[State]) -> set[State]:
        """The states from which one of these can be reached, and these."""
        before: dict[State, list[State]] = {}
        for state, after in self._after.items():
            for each in after:
                before.setdefault(each, []).append(state)
        found = set(targets)
        waiting = list(targets)
        for state in waiting:
            new = [each for each in before.get(state, ()) if each not in found]
            found.update(new)
            waiting += new
        return found
