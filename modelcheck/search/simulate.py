"""Random runs: not all of a model, but a look far into one that is too large to search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import field, replace
from time import monotonic
from typing import ClassVar, Protocol

from counterexamples.lines import count
from counterexamples.trace import Ending, Stops, Trace
from modelcheck.contract.engine import Limits, Refusal, Task, not_asked
from modelcheck.contract.report import Reporter, RunFound, RunsDone, Silent
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
from modelcheck.search.chance import Chance
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
FEW = 2_000  # steps that are interpreted sooner than code for them is compiled
AT_ONCE = 0.05  # seconds that compiled code has between two looks at the limits, or about
FIRST = 1_000  # states that it visits before the first look
UNUSED = Refusal("symmetry, of which random runs have no use; --no-symmetry asks without it")
AGAIN = 2_000  # steps of a run that was cut short which are taken again to show it


class Samples(Protocol):
    """The interface of what makes many runs of a simulation at once: the same runs, by NOTE(chance)."""

    @property
    def run(self) -> int:
        """The number of the run in hand."""
        ...

    @property
    def steps(self) -> int | None:
        """How many steps the run in hand has; None if it is not begun."""
        ...

    @property
    def finished(self) -> int:
        """How many runs it has made."""
        ...

    @property
    def longest(self) -> int:
        """The steps of the longest run, that in hand included."""
        ...

    @property
    def taken(self) -> Mapping[str, int]:
        """How often each action was taken, the run in hand included."""
        ...

    @property
    def cut(self) -> Mapping[str, int]:
        """How many steps each limit of the scope has cut, those of the run in hand included."""
        ...

    def make(self, run: int, last: int, visits: int, wanted: Collection[str]) -> bool:
        """Make runs from number `run` to before `last`, with at most `visits` states visited.

        Returns whether the run it has come to may decide something: a property of states among those
        `wanted`, or anything else.  That one is not counted, and left to whoever asks.
        """
        ...


@frozen
class RandomRuns:
    """An engine that takes random runs of up to `depth` steps, and never concludes that something holds.

    A step is chosen from those that are possible, stay within the scope and are within the budget
    of faults, each with the same probability; with `weights`, in proportion to the weight of its
    action, which is 1 unless given.  A run depends on the seed and on its number only (and
    on the weights), so fewer runs are the first of more.  Stops at the first violation,
    whose run is neither the one with the fewest faults nor the shortest.

    `sampler` makes the runs in which nothing happens, where it can; the findings are the same without.
    """

    name: ClassVar[str] = "simulate"

    runs: int
    seed: int
    depth: int = DEPTH
    weights: Mapping[str, int] = field(default_factory=dict)
    sampler: Callable[[RandomRuns, Task, Collection[State]], Samples | None] | None = None

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        """What the engine cannot check: properties of whole runs, reductions and checkpoints."""
        return tuple(not_asked(task, OF_RUNS, UNUSED))

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
        self.started = monotonic()
        self._taken: Counter[str] = Counter()  # these five without what samples count
        self._cut: Counter[str] = Counter()
        self._visits = self._longest = self._runs = 0
        self._samples: Samples | None = None
        self._sampler = wish.sampler
        self._reporter = reporter
        self._reported = self.started
        self._starts = self.machine.initial()
        self._free = frozenset(task.model.free)
        self._good = {p.name for p in task.properties if p.kind is PropertyKind.REACHABLE}
        self._number = -1  # of the run whose states and steps these are
        self._states: list[State] = []
        self._steps: list[Step] = []
        self._faults = 0

    def run(self) -> End:
        """Make runs until one decides something or a limit ends them; return the reason."""
        try:
            end = self._make_runs()
            if not (self.shown or self.error):
                self._see_last(end)
        except KeyboardInterrupt:
            return End.INTERRUPTED
        except MemoryError:
            return End.MEMORY
        return end

    def _make_runs(self) -> End:
        """Make runs until one decides something or a limit ends them; return the reason."""
        while self.runs < self.wish.runs:
            end = self._hurry() or self._look_around()
            if end is not None:
                return end
            if self.runs == self.wish.runs:
                break
            end = self._run(self.runs)
            if end is not None:
                return end
            if self._is_over():
                break
        decided = len(self.shown) == len(self.task.properties) > 0
        return End.ERROR if self.error else End.DECIDED if decided else End.SAMPLED

    @property
    def runs(self) -> int:
        """How many runs are finished."""
        return self._runs if self._samples is None else max(self._runs, self._samples.run)

    @property
    def taken(self) -> Counter[str]:
        """How often each action was taken."""
        return self._taken + Counter(self._samples.taken if self._samples else {})

    @property
    def cut(self) -> Counter[str]:
        """How many steps each limit of the scope has cut."""
        return self._cut + Counter(self._samples.cut if self._samples else {})

    @property
    def visits(self) -> int:
        """How many states were visited, each time counted."""
        if self._samples is None:
            return self._visits
        begun = self._samples.steps is not None
        return self._visits + self._samples.finished + sum(self._samples.taken.values()) + begun

    @property
    def longest(self) -> int:
        """The steps of the longest run."""
        return max(self._longest, self._samples.longest if self._samples else 0)

    # --------------------------------------------------------- runs in compiled code

    def _hurry(self) -> End | None:
        """Make runs in compiled code, up to one that may decide something; return the limit that ended it."""
        if self._sampler is not None and self._taken.total() + self.wish.depth > FEW:
            sampler, self._sampler = self._sampler, None
            self._samples = sampler(self.wish, self.task, self._starts)
        if self._samples is None:
            return None
        wanted = [prop.name for prop in self.task.properties if prop.name not in self.shown]
        most, states = FIRST, self.task.limits.states
        while (end := self._look_around()) is None:
            began = monotonic()
            left = most if states is None else min(most, states - self.visits)
            if self._samples.make(self.runs, self.wish.runs, left, wanted) or self.runs == self.wish.runs:
                return None
            took = monotonic() - began
            most = most * 2 if took < AT_ONCE / 2 else max(most // 2, 1) if took > AT_ONCE * 2 else most
        return end

    def _see_last(self, end: End) -> None:
        """Make the last run again where compiled code has made it; one that was cut short in part."""
        if self._samples is None:
            return
        steps = self._samples.steps
        number = self._samples.run - (steps is None)
        if number <= self._number:
            return
        depth = self.wish.depth if steps is None else steps
        if end is not End.SAMPLED:
            depth = min(depth, AGAIN)
        alone = replace(self.task, limits=Limits())
        again = _Simulation(replace(self.wish, depth=depth, sampler=None), alone, Silent())
        again._run(number)
        self._number, self._states, self._steps = number, again._states, again._steps

    # ------------------------------------------------------------------ one run

    def _run(self, number: int) -> End | None:
        """Make one run to its end; return the limit that ended it, if any."""
        chance, known = Chance(self.wish.seed, number), len(self.shown)
        before = self._taken.copy(), self._cut.copy(), self._visits, self._longest
        self._number, self._steps, self._faults = number, [], 0
        self._states = [self._starts[chance.below(len(self._starts))]]
        spent = self.budget.empty
        self._visits += 1
        self.claims.see_state(self._states[0], self._place())
        self._note_error()
        while not self._is_over() and len(self._steps) < self.wish.depth:
            if (end := self._look_around()) is not None:
                return end
            if self._samples and len(self.shown) > known and self.wish.depth - len(self._steps) > FEW:
                # Compiled code makes the run again, and no longer looks for what was found.
                self._taken, self._cut, self._visits, self._longest = before
                return None
            possible = self._possible(spent)
            chosen = None if self._is_over() else self._chosen(possible, chance)
            if chosen is None:
                break
            if chosen.step.action not in self._free:
                spent = self.budget.pay(spent, chosen.step.action)
                self._faults += 1
            self._take(chosen)
        self._runs = number + 1
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
                    self._cut[found.limit] += 1
                else:
                    possible.append(found)
            if stuck and self.claims.deadlock and not self.machine.can_go_on(state):
                self.claims.see_end(state, self._place())
                self._note_error()
        except ModelError as error:
            self.claims.erred(error, self._place())
            self._note_error()
        return possible

    def _chosen(self, possible: list[Taken], chance: Chance) -> Taken | None:
        """One of the possible steps, drawn by the weights of their actions; None if none has any."""
        weights = [self.wish.weights.get(taken.step.action, 1) for taken in possible]
        total = sum(weights)
        drawn = chance.below(total) if total else 0
        for taken, weight in zip(possible, weights, strict=True):
            if drawn < weight:
                return taken
            drawn -= weight
        return None

    def _take(self, chosen: Taken) -> None:
        """Take a step, and evaluate the properties on it and in the state it leads to."""
        before = self._states[-1]
        self._states.append(chosen.state)
        self._steps.append(chosen.step)
        self._taken[chosen.step.action] += 1
        self._visits += 1
        self._longest = max(self._longest, len(self._steps))
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
        taken = self.taken
        stats = Stats(
            states=self.visits,
            transitions=taken.total(),
            levels=self.longest + 1,
            layers=(),
            taken={action.name: taken[action.name] for action in self.task.model.actions},
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
