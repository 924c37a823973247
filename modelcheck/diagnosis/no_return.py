"""The point of no return of a run, and since when it could go wrong without another fault."""

from __future__ import annotations

from collections.abc import Callable

from counterexamples.explanation import NoReturn
from counterexamples.trace import Example, Lasso, Stops, Trace
from modelcheck.diagnosis.futures import FutureKind, Futures
from spec.meaning.semantics import Machine, State, Step
from spec.model.ir import PropertyKind
from spec.model.values_in_use import values_in_state

MOST_WAY_OUT = 5  # steps of a way out that are shown


def point_of_no_return(trace: Trace, may_look: Callable[[int], bool] = lambda _: True) -> NoReturn | None:
    """The point after which the violation is unavoidable; None if nothing is wrong, or without such a point.

    The point of no return is the first state from which on, to the end of the run,
    all states are settled by NOTE(futures); a `leadsto` is settled at the earliest
    when it is due.  An `eventually always` has no such point: NOTE(futures) is of what
    must come, or must not, once, and not again and again.  Costs the futures of the
    last states: it goes back from the end as far as the first state that is not settled,
    and then, for `at_risk`, over the faults.  `may_look` is asked, with the number of
    states looked at so far, before each.
    """
    if isinstance(trace.ending, Example | Stops) or _is_of_stability(trace):
        return None
    return _Outlook(trace, may_look).found()


def _is_of_stability(trace: Trace) -> bool:
    """Whether what is violated is an `eventually always`."""
    return (
        isinstance(trace.ending, Lasso)
        and trace.property is not None
        and trace.model.property(trace.property).kind is PropertyKind.EVENTUALLY_ALWAYS
    )


class _Outlook:
    """Computes the point of no return of one trace."""

    def __init__(self, trace: Trace, may_look: Callable[[int], bool]) -> None:
        self._trace = trace
        self._machine = Machine(trace.model, trace.scope)
        self._futures = Futures(trace, may_look)
        self._last = len(trace.states) - 1

    def found(self) -> NoReturn:
        """The point of no return."""
        futures, states = self._futures, self._trace.states
        if isinstance(self._trace.ending, Lasso) and futures.view(states[-1]) is not FutureKind.SETTLED:
            return self._put_off()
        at, view, due = self._last, FutureKind.SETTLED, self._due()
        while at > due and (view := futures.view(states[at - 1])) is FutureKind.SETTLED:
            at -= 1
        is_open = at > due and view is FutureKind.OPEN
        return NoReturn(
            state=None if at > due and not is_open else at,
            at_latest=at,
            last=self._last,
            way_out=self._way_out(states[at - 1]) if is_open else (),
            at_risk=self._at_risk(),
            goal=self._goal(),
            beyond=self._beyond(states[max(0, at - 1) : at + 1]),
            states=futures.size,
            is_due=at == due > 0,
        )

    def _put_off(self) -> NoReturn:
        """The result for a lasso whose goal can, or may, still be reached."""
        last = self._trace.states[-1]
        is_open = self._futures.view(last) is FutureKind.OPEN
        return NoReturn(
            state=None,
            at_latest=self._last,
            last=self._last,
            way_out=self._way_out(last) if is_open else (),
            goal=self._goal(),
            is_put_off=is_open,
            beyond=self._beyond((last,)),
            states=self._futures.size,
        )

    def _beyond(self, states: tuple[State, ...]) -> tuple[str, ...]:
        """The limits of the scope that the futures reach, in words."""
        return tuple(self._limit(name) for name in self._futures.limits(states))

    def _limit(self, name: str) -> str:
        """A limit in words: as the check gives it, or as the largest value of the run, where none was given.

        So it is where a nat has no bound: the run has the least one that it fits.
        """
        trace, limit = self._trace, self._trace.scope.limit(name)
        given = next((each.scope for each in trace.model.checks if each.name == trace.check), None)
        if name in trace.scope.nats and (given is None or given.nats.get(name) != limit):
            in_use = values_in_state([variable.type for variable in trace.model.variables], name)
            if limit == max((number for state in trace.states for number in in_use(state)), default=0):
                return f"the largest {name} of this run"
        return f"{name} = {limit}"

    def _goal(self) -> str:
        """The goal in words."""
        if not self._futures.is_lack:
            return ""
        prop = self._trace.model.property(self._trace.property or "")
        is_leadsto = prop.kind is PropertyKind.LEADSTO
        return f"what `{prop.name}` waits for" if is_leadsto else f"a state where `{prop.name}` is true"

    def _due(self) -> int:
        """The first state from which a `leadsto` waits in vain; else the start."""
        trace, machine = self._trace, self._machine
        prop = None if trace.property is None else trace.model.property(trace.property)
        if prop is None or prop.kind is not PropertyKind.LEADSTO:
            return 0
        reached = [number for number, state in enumerate(trace.states) if machine.goal(prop, state)]
        since = reached[-1] + 1 if reached else 0
        waits = (n for n in range(since, len(trace.states)) if machine.holds(prop, trace.states[n]))
        return next(waits, 0)

    def _at_risk(self) -> int | None:
        """The first state from which the violation is possible without a further fault."""
        if self._futures.is_lack or not self._trace.faults:
            return None
        faults = set(self._trace.model.faults)
        for number in range(self._last - 1, -1, -1):
            if self._trace.steps[number].action in faults:
                is_dangerous = self._futures.is_dangerous(self._trace.states[number])
                if not is_dangerous:
                    return None if is_dangerous is None else number + 1
        return 0

    def _way_out(self, state: State) -> tuple[str, ...]:
        """The steps from a state to a safe one, in words; a long path is cut."""
        steps = [self._said(step, before) for before, step in self._futures.way_out(state)]
        more = len(steps) - MOST_WAY_OUT
        return tuple(steps) if more <= 1 else (*steps[:MOST_WAY_OUT], f"{more} more steps")

    def _said(self, step: Step, before: State) -> str:
        """A step in words."""
        return self._machine.says(self._trace.model.action(step.action), step, before)
