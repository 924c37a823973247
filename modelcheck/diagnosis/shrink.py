"""A run made as small as its ending allows: fewer faults, fewer members and lower bounds, fewer steps.

NOTE(minimal): a run is minimal when each of these, alone, leaves nothing that ends in the
same way: one step taken out, be it a fault, a repair or an action; one member of a sort
taken out, with all that names it; the bound of one nat or network lowered by one.
What is left is taken again by NOTE(rerun), so later steps that become impossible may go
too: without a step, from the same start; in a smaller scope, from any start there.
A member or a bound that a setting or an assumption of the model needs cannot go.

A minimal run may not be the smallest of all: another way to the same ending may be
shorter.  For that one searches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from time import monotonic
from typing import NamedTuple

from counterexamples.certify import certify
from counterexamples.trace import Lasso, Stops, Trace
from modelcheck.contract.report import Reporter, Shrinking, Silent
from modelcheck.diagnosis.rerun import Course, ReplayResult, ReplayStage, RunPrefix, from_the_end
from modelcheck.diagnosis.scopes import bounds, fits_settings, starts, with_bound, without_member
from spec.frozen import frozen
from spec.meaning.semantics import Step
from spec.model.ir import Scope

FEW = 8  # other choices that are tried for one step, other starts for a run
QUIET = 0.5  # seconds between two reports of progress


class ShowsNothing(Exception):  # noqa: N818 - an answer to the user
    """Raised for a trace without a violation to preserve."""


class ShrinkEnd(Enum):
    """Why shrinking ended."""

    MINIMAL = "nothing more can go"
    SECONDS = "the limit of time is reached"
    INTERRUPTED = "interrupted"


@frozen
class Shrunk:
    """A shrunk trace and the original; `tried` smaller runs were replayed."""

    trace: Trace
    before: Trace
    same_scope: bool
    stopped: ShrinkEnd
    tried: int
    seconds: float

    @property
    def is_minimal(self) -> bool:
        """Whether no single reduction (a step, a member, a bound by one) leaves a violation."""
        return self.stopped is ShrinkEnd.MINIMAL

    @property
    def is_interrupted(self) -> bool:
        """Whether it was interrupted before it was minimal."""
        return self.stopped is ShrinkEnd.INTERRUPTED

    @property
    def faults_gone(self) -> int:
        """The number of faults removed."""
        return self.before.faults - self.trace.faults

    @property
    def steps_gone(self) -> int:
        """The number of steps removed, including faults."""
        return len(self.before.steps) - len(self.trace.steps)

    @property
    def members_gone(self) -> Mapping[str, int]:
        """The number of members removed from each sort."""
        less = {
            s: len(names) - len(self.trace.scope.sorts[s]) for s, names in self.before.scope.sorts.items()
        }
        return {sort: count for sort, count in less.items() if count}

    @property
    def bounds_lowered(self) -> Mapping[str, tuple[int, int]]:
        """The old and new bound of each nat and network that was lowered."""
        now = bounds(self.trace.scope)
        return {n: (old, now[n]) for n, old in bounds(self.before.scope).items() if old != now[n]}


def shrink(
    trace: Trace, *, same_scope: bool = False, seconds: float | None = None, reporter: Reporter | None = None
) -> Shrunk:
    """The trace made minimal by NOTE(minimal), or as small as possible within the limits.

    It is gone about in several ways, of which the one with the fewest faults, then
    steps, counts.  Nothing is ever added: no step is taken that the trace does not
    have, but for another member in the place of one that is taken out, and for other
    choices.  With `same_scope` no member and no bound goes.  The same trace gives the
    same result.  Costs a replay for each smaller run that is tried: in each way at
    least one for each step, member and bound that is left.
    Raises NotReplayable where the trace is no run of its model, ShowsNothing where it claims nothing.
    """
    certify(trace)
    if isinstance(trace.ending, Stops):
        raise ShowsNothing
    shrinking = _Shrinking(trace, seconds, reporter or Silent(), same_scope=same_scope)
    stopped = shrinking.run()
    certify(shrinking.best.run)
    return Shrunk(
        shrinking.best.run, trace, same_scope, stopped, shrinking.tried, monotonic() - shrinking.started
    )


def _size(run: Trace) -> tuple[int, ...]:
    """A sort key for the size of runs."""
    members = sum(map(len, run.scope.sorts.values()))
    return run.faults, len(run.steps), members, sum(bounds(run.scope).values())


class _OutOfTime(Exception):  # noqa: N818 - an answer
    """Raised if the time limit is reached."""


class _Way(NamedTuple):
    """A strategy for shrinking; each may end at a different run.

    With `heirs`, another member may do what one did that is taken out.
    """

    members_first: bool
    forwards: bool
    heirs: bool


WAYS = (
    _Way(members_first=False, forwards=False, heirs=True),
    _Way(members_first=False, forwards=True, heirs=False),
    _Way(members_first=True, forwards=False, heirs=False),
    _Way(members_first=True, forwards=True, heirs=True),
)


class _Shrinking:
    """The smallest run so far, and the current one."""

    def __init__(self, trace: Trace, seconds: float | None, reporter: Reporter, *, same_scope: bool) -> None:
        self.tried = 0
        self._same_scope = same_scope
        self.started = self._reported = monotonic()
        self._seconds = seconds
        self._reporter = reporter
        self._faults = set(trace.model.faults)
        self.course = self.best = Course(ReplayStage(trace, self._look), trace)

    def run(self) -> ShrinkEnd:
        """Shrink until nothing can be removed; returns why it ended."""
        try:
            self._run()
        except _OutOfTime:
            stopped = ShrinkEnd.SECONDS
        except KeyboardInterrupt:
            stopped = ShrinkEnd.INTERRUPTED
        else:
            return ShrinkEnd.MINIMAL
        self._note()
        return stopped

    def _run(self) -> None:
        """Shrink by every strategy, and again from the smallest run, until none improves it."""
        self.course = self.course.stage.course(self.course.run)
        self._take_out_detours()
        start = self.best = self.course
        while True:
            for way in WAYS:
                self.course = start
                while self._round(way):
                    pass
                self._note()
            if self.best is start:
                return
            start = self.best

    def _note(self) -> None:
        """Record the current run if it is the smallest."""
        if self.course.run is not self.best.run and _size(self.course.run) <= _size(self.best.run):
            self.best = self.course

    def _round(self, way: _Way) -> bool:
        """Try every reduction once; returns whether any succeeded."""
        before = self.course
        if not way.members_first:
            self._take_out(self._are_faults, way)
        self._take_out_members(way)
        self._lower_bounds()
        self._take_out(self._are_faults, way)
        self._take_out(lambda trace: range(len(trace.steps)), way)
        self._start_simply()
        self._choose_simply()
        return self.course is not before

    def _look(self) -> None:
        """Check the time limit, and report progress."""
        now = monotonic()
        if self._seconds is not None and now - self.started >= self._seconds:
            raise _OutOfTime
        if now - self._reported >= QUIET:
            self._reported = now
            run = min(self.course.run, self.best.run, key=_size)
            self._reporter.tell(Shrinking(run.faults, len(run.steps), self.tried, now - self.started))

    def _keep(self, found: ReplayResult) -> bool:
        """Continue with a replayed run if it has the ending; returns whether it does."""
        self.tried += 1
        if found.run is None:
            return False
        self.course = Course(self.course.stage, found.run)
        return True

    # ------------------------------------------------------------------ steps

    def _are_faults(self, trace: Trace) -> list[int]:
        """The indices of the steps that are faults."""
        return [number for number, step in enumerate(trace.steps) if step.action in self._faults]

    def _take_out_detours(self) -> None:
        """Remove steps between equal states."""
        states = self.course.run.states
        end = self.course.run.ending.loop if isinstance(self.course.run.ending, Lasso) else len(states) - 1
        last = {state: number for number, state in enumerate(states[:end])}
        out, at = list[int](), 0
        while at < end:
            out += range(at, last[states[at]])
            at = last[states[at]] + 1
        if out:
            self._keep(self.course.without(out))

    def _take_out(self, of: Callable[[Trace], Sequence[int]], way: _Way) -> None:
        """Remove steps: large parts first, down to single ones.

        Zeller and Hildebrandt 2002, "Simplifying and isolating failure-inducing input".
        """
        size = len(of(self.course.run))
        while size > 0:
            if way.forwards:
                self._take_out_forwards(of, size)
            else:
                for part in from_the_end(of(self.course.run), size):
                    self._keep(self.course.without(part))
            size //= 2

    def _take_out_forwards(self, of: Callable[[Trace], Sequence[int]], size: int) -> None:
        """Remove parts of a size, from the start."""
        at = 0
        while part := of(self.course.run)[at : at + size]:
            if not self._keep(self.course.without(part)):
                at += size

    # ------------------------------------------------------------------ scopes

    def _take_out_members(self, way: _Way) -> None:
        """Remove members of sorts, the last first: with their steps, or replaced by an heir."""
        if self._same_scope:
            return
        for sort, names in self.course.run.scope.sorts.items():
            for member in range(len(names) - 1, -1, -1):
                heirs = (other for other in range(len(self.course.run.scope.sorts[sort])) if other != member)
                any(
                    self._take_out_member(sort, member, heir)
                    for heir in (None, *(heirs if way.heirs else ()))
                )

    def _take_out_member(self, sort: str, member: int, heir: int | None) -> bool:
        """Try to remove a member; returns whether it succeeded."""
        less = without_member(self.course.run, sort, member, heir)
        return less is not None and self._move(*less)

    def _lower_bounds(self) -> None:
        """Lower the bounds of nats and networks, in large steps first."""
        if self._same_scope:
            return
        for name, bound in bounds(self.course.run.scope).items():
            less = bound
            while less > 0:
                run = self.course.run
                now = bounds(run.scope)[name]
                if less > now or not self._move(with_bound(run.scope, name, now - less), run.steps):
                    less //= 2

    def _move(self, scope: Scope, steps: tuple[Step | None, ...]) -> bool:
        """Continue in another scope if the steps have the ending there."""
        there = replace(self.course.run, scope=scope)
        if not fits_settings(there):
            return False
        stage = ReplayStage(there, self._look)
        first = [RunPrefix(state) for state in starts(stage.machine)]
        wanted = [(number, step) for number, step in enumerate(steps) if step is not None]
        found = stage.replay(first, wanted)
        self.tried += 1
        if found.run is None:
            return False
        self.course = Course(stage, found.run)
        return True

    # ------------------------------------------------------------------ choices

    def _start_simply(self) -> None:
        """Use an earlier initial state, in canonical order."""
        states = self.course.stage.machine.initial()
        for start in states[: min(FEW, states.index(self.course.run.states[0]))]:
            if self._keep(self.course.stage.replay([RunPrefix(start)], enumerate(self.course.run.steps))):
                return

    def _choose_simply(self) -> None:
        """Use earlier choices, in canonical order."""
        number = 0
        while number < len(self.course.run.steps):
            step, state = self.course.run.steps[number], self.course.run.states[number]
            others = self.course.stage.takings(state, step.action)
            steps = [taken.step for taken in others if taken.step.args == step.args]
            for other in steps[: min(FEW, steps.index(step))]:
                if self._keep(self.course.instead(number, other)):
                    break
            number += 1
