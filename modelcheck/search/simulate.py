"""Random runs: not all of a model, but a look far into one that is too large to search."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from time import monotonic
from typing import ClassVar

from counterexamples.lines import count
from counterexamples.trace import Ending, Stops, Trace
from modelcheck.contract.engine import Refusal, Task
from modelcheck.contract.report import Reporter, RunFound, RunsDone
from modelcheck.contract.result import (
    End,
    Extent,
    Findings,
    Holds,
    Result,
    Sample,
    Stats,
    Unknown,
    Verdict,
    Violated,
)
from modelcheck.processes.memory import resident
from modelcheck.search.claims import Discovery, Place, PropertyMonitor
from modelcheck.search.space import FaultBudget
from spec.frozen import frozen
from spec.meaning.ranks import with_bounds
from spec.meaning.semantics import CutOff, Machine, State, Step, Taken
from spec.model.bounds import of_runs
from spec.model.ir import Property, PropertyKind
from spec.model.kinds import OF_RUNS
from spec.model.values import ModelError

DEPTH = 100  # steps of a run by default
QUIET = 0.5  # seconds between two reports of progress


@frozen
class RandomRuns:
    """An engine that takes random runs of up to `depth` steps, and never concludes that something holds.

    Every step is chosen uniformly from those that are possible, stay within the
    scope and are within the budget of faults.  A run depends on the seed and on
    its number only, so fewer runs are the first of more.  Stops at the first
    violation, whose run is neither the one with the fewest faults nor the shortest.
    """

    name: ClassVar[str] = "simulate"

    runs: int
    seed: int
    depth: int = DEPTH

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        """What the engine cannot check: properties of whole runs, symmetry and checkpoints."""
        refused = [
            Refusal(f"{p.kind.value} {p.name}", "explicit") for p in task.properties if p.kind in OF_RUNS
        ]
        if task.symmetry:
            refused.append(Refusal("symmetry, of which random runs have no use"))
        if task.keep is not None:
            refused.append(Refusal("checkpoints", "explicit"))
        return tuple(refused)

    def run(self, task: Task, reporter: Reporter) -> Findings:
        """The findings of the runs, up to the first violation, a limit or Ctrl-C."""
        simulation = _Simulation(self, task, reporter)
        return simulation.findings(simulation.run())


class _Simulation:
    """The state of a simulation: the runs so far, the current one and the findings."""

    def __init__(self, wish: RandomRuns, task: Task, reporter: Reporter) -> None:
        self.wish = wish
        self.task = task
        # A single run needs no squeezed states, so here any nat may go without a bound.
        self.machine = Machine(task.model, replace(of_runs(task.scope), unbounded=frozenset()))
        self.budget = FaultBudget(task.model, task.budget)
        self.claims = PropertyMonitor(self.machine, task.properties, self._found)
        self.shown: dict[str, Trace] = {}
        self.error: Trace | None = None
        self.taken: Counter[str] = Counter()
        self.cut: Counter[str] = Counter()
        self.runs = 0
        self.visits = 0
        self.longest = 0
        self.started = monotonic()
        self._reporter = reporter
        self._reported = self.started
        self._starts = self.machine.initial()
        self._free = frozenset(task.model.free)
        self._good = {p.name for p in task.properties if p.kind is PropertyKind.REACHABLE}
        self._states: list[State] = []
        self._steps: list[Step] = []
        self._faults = 0

    def run(self) -> End:
        """Make runs until one decides something or a limit ends them; return the reason."""
        try:
            while self.runs < self.wish.runs:
                end = self._run(Random(f"{self.wish.seed} {self.runs}"))  # noqa: S311 - no secret
                if end is not None:
                    return end
                self.runs += 1
                if self._is_over():
                    break
        except KeyboardInterrupt:
            return End.INTERRUPTED
        except MemoryError:
            return End.MEMORY
        decided = len(self.shown) == len(self.task.properties) > 0
        return End.ERROR if self.error else End.DECIDED if decided else End.SAMPLED

    # ------------------------------------------------------------------ one run

    def _run(self, chance: Random) -> End | None:
        """Make one run to its end; return the limit that ended it, if any."""
        self._states, self._steps, self._faults = [chance.choice(self._starts)], [], 0
        spent = self.budget.empty
        self.visits += 1
        self.claims.see_state(self._states[0], self._place())
        self._note_error()
        while not self._is_over() and len(self._steps) < self.wish.depth:
            if (end := self._look_around()) is not None:
                return end
            possible = self._possible(spent)
            if self._is_over() or not possible:
                break
            chosen = chance.choice(possible)
            if chosen.step.action not in self._free:
                spent = self.budget.pay(spent, chosen.step.action)
                self._faults += 1
            self._take(chosen)
        return None

    def _possible(self, spent: bytes) -> list[Taken]:
        """The possible steps; an error of the model or a deadlock is recorded."""
        state, actions = self._states[-1], self._free
        if self._faults != self.budget.total:
            actions |= self.budget.affordable(spent)
        possible: list[Taken] = []
        stuck = True
        try:
            for found in self.machine.steps(state, None, actions):
                stuck = False
                if isinstance(found, CutOff):
                    self.cut[found.limit] += 1
                else:
                    possible.append(found)
            if stuck and self.claims.deadlock and not self.machine.can_go_on(state):
                self.claims.see_end(state, self._place())
                self._note_error()
        except ModelError as error:
            self.claims.erred(error, self._place())
            self._note_error()
        return possible

    def _take(self, chosen: Taken) -> None:
        """Take a step, and evaluate the properties on it and in the state it leads to."""
        before = self._states[-1]
        self._states.append(chosen.state)
        self._steps.append(chosen.step)
        self.taken[chosen.step.action] += 1
        self.visits += 1
        self.longest = max(self.longest, len(self._steps))
        self.claims.see_step(before, chosen, self._place())
        self.claims.see_state(chosen.state, self._place())
        self._note_error()

    def _place(self) -> Place:
        """The end of the current run."""
        return Place(self._faults, len(self._steps), 0)

    def _is_over(self) -> bool:
        """Whether a violation, or every example, was found."""
        found = self.shown.keys()
        return (
            self.error is not None or not found <= self._good or 0 < len(self.task.properties) == len(found)
        )

    def _look_around(self) -> End | None:
        """Check the limits, and report progress."""
        limits, now = self.task.limits, monotonic()
        if limits.states is not None and self.visits >= limits.states:
            return End.STATES
        if limits.seconds is not None and now - self.started >= limits.seconds:
            return End.SECONDS
        if now - self._reported >= QUIET:
            if limits.memory is not None and resident() >= limits.memory:
                return End.MEMORY
            self._reported = now
            steps = self.taken.total()
            self._reporter.tell(RunsDone(self.runs, self.wish.runs, steps, now - self.started))
        return None

    # ------------------------------------------------------------------ findings

    def findings(self, end: End) -> Findings:
        """The verdicts and counts; a state counts each time it is visited."""
        stats = Stats(
            states=self.visits,
            transitions=self.taken.total(),
            levels=self.longest + 1,
            layers=(),
            taken={action.name: self.taken[action.name] for action in self.task.model.actions},
            cut=dict(sorted(self.cut.items())),
            unused=(),
            unrefused=(),
            seconds=monotonic() - self.started,
            memory=resident(),
        )
        results = tuple(Result(p.name, p.kind, self._verdict(p)) for p in self.task.properties)
        last = None if self.shown or self.error or not self._states else self._run_so_far(Stops())
        sample = Sample(self.runs, self.wish.depth, self.wish.seed, last)
        return Findings(self.wish.name, end, results, stats, self.error, sample=sample)

    def _verdict(self, prop: Property) -> Verdict:
        """The verdict on a property by the runs so far."""
        good = prop.kind is PropertyKind.REACHABLE
        trace = self.shown.get(prop.name)
        if trace is None:
            runs = count(self.runs, "random run")
            steps = count(self.wish.depth, "step")
            what = "not reached" if good else "no violation"
            return Unknown(f"{what} in {runs} of up to {steps}, seed {self.wish.seed}")
        extent = Extent(self.task.scope, trace.faults, self.task.budget.kinds)
        return Holds(extent, example=trace) if good else Violated(extent, trace, fewest=False)

    def _found(self, found: Discovery) -> None:
        """Record that the current run decides a property."""
        name = found.name or ""
        if name not in self.shown:
            self.shown[name] = self._trace(found)
            self._reporter.tell(RunFound(name, found.place.faults, found.place.depth))

    def _note_error(self) -> None:
        """Record that the current run ends in an error of the model."""
        if self.error is None and self.claims.error is not None:
            self.error = self._trace(self.claims.error)

    def _trace(self, found: Discovery) -> Trace:
        """The trace of a discovery."""
        return self._run_so_far(found.ending, found.name)

    def _run_so_far(self, ending: Ending, name: str | None = None) -> Trace:
        """The trace of the current run."""
        model, check = self.task.model, self.task.check
        scope = with_bounds(model, self.task.scope, self._states)
        return Trace(model, scope, tuple(self._states), tuple(self._steps), ending, name, check)
