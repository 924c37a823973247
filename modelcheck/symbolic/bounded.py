"""Bounded model checking: a solver looks for a run of bounded length that breaks something."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from counterexamples.lines import count
from counterexamples.trace import Erred, Trace
from modelcheck.contract.engine import Prepared, Refusal, Task
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.contract.report import Progress, Reporter, RunFound
from modelcheck.contract.result import End, Findings, Result, Unknown, Verdict
from modelcheck.grounding.machine import GroundMachine, grounded
from modelcheck.grounding.terms import GroundTerm
from modelcheck.processes.memory import resident
from modelcheck.symbolic.answers import (
    STOPS,
    Clock,
    Over,
    by_none,
    by_run,
    end_of,
    is_good,
    refusals_of,
    searched,
)
from modelcheck.symbolic.formulas import Formula
from modelcheck.symbolic.interrupts import interruptible
from modelcheck.symbolic.renaming import LeastNames, swaps
from modelcheck.symbolic.replayed import replayed, started, state_of
from modelcheck.symbolic.solver import ENDS, SolverAnswer, SolverRun, Unrolling
from spec.model.ir import Budget, Check, Property
from spec.source import Span

DEPTH = 20  # steps by default


@dataclass(slots=True)
class BoundedSearch:
    """An engine that decides all runs of up to `depth` steps, without listing their states.

    The first run it shows has the fewest steps, and of these one of the fewest
    faults; with `fewest_faults` it has the fewest faults that any run of up to
    `depth` steps needs, and of these the fewest steps.  That something holds it says
    only where no run is longer.  `seconds` are for each question to the solver.
    """

    name: ClassVar[str] = "bmc"

    depth: int = DEPTH
    fewest_faults: bool = False
    seconds: float | None = None
    _prepared: Prepared[GroundMachine] = field(default_factory=Prepared, repr=False, compare=False)

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        """What the engine cannot check of a task. Costs the encoding."""
        return refusals_of(
            task, self._machine, Refusal("symmetry; --no-symmetry asks without it", "explicit")
        )

    def run(self, task: Task, reporter: Reporter) -> Findings:
        """The findings for all runs of up to `depth` steps, up to a limit or Ctrl-C."""
        return searched(self.name, task, lambda: _Bounded(self, self._machine(task), task, reporter))

    def _machine(self, task: Task) -> GroundMachine:
        """The task over flat variables, translated once."""
        return self._prepared.of(task, _grounded)


def _grounded(task: Task) -> GroundMachine:
    """The task over flat variables, with sets stored in places unless an expression prevents that."""
    check = _uncounted(task)
    try:
        flat = grounded(task.model, check, for_solver=True, in_places=True)
    except Inexpressible:
        flat = grounded(task.model, check, for_solver=True)
    return started(task, flat)


def _uncounted(task: Task) -> Check:
    """The check with no counters of faults in its states; the solver counts the steps that are faults."""
    only = tuple(prop.name for prop in task.properties)
    budget = Budget(None, dict.fromkeys(sorted(task.budget.allowed(task.model))))
    return Check("", task.scope, budget, only, (), None, span=Span(0, 0))


class _Bounded:
    """One bounded search: the unrolled runs, and what was found."""

    def __init__(self, wish: BoundedSearch, flat: GroundMachine, task: Task, reporter: Reporter) -> None:
        self._wish, self._flat, self._task, self._reporter = wish, flat, task, reporter
        self._clock = Clock(task, wish.seconds)
        self._runs = Unrolling(self._flat, task.limits.memory, look=self._clock.left)
        self._names = LeastNames(self._runs, swaps(task, self._flat))
        self._clock.ready()
        self._faults = {
            name: [n for n, rule in enumerate(self._flat.rules) if rule.action == name]
            for name in task.model.faults
        }
        self._errors: dict[str, list[GroundTerm]] = {}  # of each fault, and of all else under ""
        for rule in self._flat.rules:
            if rule.error.constant != 0:
                name = rule.action if rule.action in self._faults else ""
                self._errors.setdefault(name, []).append(rule.error)
        self._open = {prop.name: prop for prop in task.properties}
        self._shown: dict[str, Trace] = {}
        self._error: Trace | None = None
        self._questions = 0

    # ------------------------------------------------------------------------ the search

    def _search(self) -> End:
        """Search by faults or by steps, and return why the search ended."""
        try:
            with interruptible() as self._look_up:
                return self._by_faults() if self._wish.fewest_faults else self._by_steps(None)
        except STOPS as stop:
            return end_of(stop)

    def _by_faults(self) -> End:
        """Search all depths with no fault, then with at most one, and so on."""
        end = End.DEPTH
        for most in range(self._most_faults() + 1):
            self._runs.restart()
            self._names.restart()
            end = self._by_steps(most)
            if end is not End.DEPTH and end is not End.COMPLETE:
                return end
        return end

    def _most_faults(self) -> int:
        """The greatest number of faults in a run of the depth within the budget."""
        total = self._task.budget.total
        most = self._wish.depth if total is None else min(total, self._wish.depth)
        return most if any(self._faults.values()) else 0

    def _by_steps(self, faults: int | None) -> End:
        """Search runs of 0, 1, … steps with at most `faults` faults; return why the search ended."""
        while True:
            self._tell(faults or 0)
            self._ask_at_depth(faults)
            if self._error is not None:
                return End.ERROR
            if self._shown and not self._open:
                return End.DECIDED
            if self._runs.depth == self._wish.depth:
                return End.DEPTH
            self._runs.grow()
            self._names.grow()
            self._runs.assume(self._within(faults))
            if not self._asks():
                return End.COMPLETE

    def _ask_at_depth(self, faults: int | None) -> None:
        """Ask whether a run of the current depth ends in an error of the model, then about each property."""
        if self._errors:
            erring = self._errs(faults)
            if self._asks(erring):
                run, most = self._erring_with_fewer_faults(self._runs.found(), faults)
                if faults is None and most:  # a property may err with fewer
                    self._ask_properties(None, self._within(most - 1))
                if self._error is None:
                    self._show("", run, most)
                return
            self._runs.refute(erring)
        self._ask_properties(faults)

    def _ask_properties(self, faults: int | None, *within: Formula) -> None:
        """Ask about each open property in runs of the current depth that satisfy `within`."""
        for name, formula in self._bad():
            if name not in self._open:
                continue
            if not self._asks(formula, *within):
                self._runs.refute(self._runs.all([formula, *within]))
                continue
            run = self._runs.found()
            if faults is None:
                run = self._with_fewer_faults(run, formula)
            self._show(name, run)
            if self._error is not None:
                return

    def _errs(self, faults: int | None) -> Formula:
        """The formula that some step from the last state is an error, within budget and `faults` faults."""
        runs = self._runs
        return runs.either(
            runs.all([runs.either(map(runs.holds, errors)), self._within(faults, then=name)])
            for name, errors in self._errors.items()
        )

    def _erring_with_fewer_faults(self, run: SolverRun, faults: int | None) -> tuple[SolverRun, int]:
        """The run of this length to an error with the fewest faults, and their number."""
        if faults is not None:
            return run, faults
        for fewer in range(self._fault_count(run) + 1):
            if self._asks(self._errs(fewer), self._within(fewer)):
                return self._runs.found(), fewer
        return run, self._fault_count(run) + 1

    def _bad(self) -> Iterator[tuple[str, Formula]]:
        """For each property the formula that the last state or step violates it (or is an example)."""
        runs, flat = self._runs, self._flat
        for name, term in flat.invariants:
            if term.constant != 1:
                yield name, runs.holds(flat.terms.no(term))
        for name, term in flat.goals:
            yield name, runs.holds(term)
        if runs.depth:
            claims: dict[str, dict[int, GroundTerm]] = {}
            for number, rule in enumerate(flat.rules):
                for name, term in rule.claims:
                    claims.setdefault(name, {})[number] = flat.terms.no(term)
            for name, tests in claims.items():
                yield name, runs.stepped(tests)

    def _with_fewer_faults(self, run: SolverRun, formula: Formula) -> SolverRun:
        """The run of the same length with the fewest faults that satisfies the formula."""
        while fewer := self._fault_count(run):
            if not self._asks(formula, self._within(fewer - 1)):
                break
            run = self._runs.found()
        return run

    def _fault_count(self, run: SolverRun) -> int:
        """The number of faults in a run."""
        return sum(rule.action in self._faults for rule in run.rules)

    def _within(self, faults: int | None, then: str = "") -> Formula:
        """The formula that a run, and then the fault `then`, keep within the budget and `faults` faults."""
        budget, more = self._task.budget, int(then != "")
        every = [n for numbers in self._faults.values() for n in numbers]
        totals = [most for most in (budget.total, faults) if most is not None]
        limits = [self._runs.at_most(every, most - more) for most in totals]
        for name, most in (budget.kinds or {}).items():
            if most is not None:
                limits.append(self._runs.at_most(self._faults[name], most - (name == then)))
        return self._runs.all(limits)

    def _may_follow(self, run: SolverRun, faults: int | None) -> list[str]:
        """The actions that may follow a run, within the budget and `faults` faults."""
        budget, taken = self._task.budget, [rule.action for rule in run.rules]
        totals = [most for most in (budget.total, faults) if most is not None]
        kinds = dict.fromkeys(self._faults) if budget.kinds is None else budget.kinds
        left = {name for name, most in kinds.items() if most is None or taken.count(name) < most}
        if any(self._fault_count(run) >= most for most in totals):
            left = set()
        return [a.name for a in self._task.model.actions if not a.is_fault or a.name in left]

    def _asks(self, *formulas: Formula) -> bool:
        """Whether some run satisfies the formulas. Raises Over without an answer, or KeyboardInterrupt."""
        self._look_up()
        self._questions += 1
        answer = self._runs.ask(*formulas, seconds=self._clock.left())
        if answer in ENDS:
            raise Over(ENDS[answer])
        return answer is SolverAnswer.YES

    # ------------------------------------------------------------------------ what is shown

    def _show(self, name: str, run: SolverRun, faults: int | None = None) -> None:
        """Record what a run violates, after a replay by the model's semantics."""
        trace = self._trace(name, run, faults)
        if isinstance(trace.ending, Erred):
            self._error = trace
            return
        self._shown[name] = trace
        del self._open[name]
        self._reporter.tell(RunFound(name, trace.faults, len(trace.steps), trace))

    def _trace(self, name: str, run: SolverRun, faults: int | None) -> Trace:
        """The run as a trace of the model."""
        states = [state_of(self._flat.stored, values) for values in run.states]
        wanted = self._open[name] if name else None
        last = self._may_follow(run, faults)
        return replayed(self._task, states, [rule.action for rule in run.rules], wanted, last)

    def _tell(self, faults: int) -> None:
        """Report progress."""
        seconds = self._clock.seconds
        self._reporter.tell(Progress(faults, self._runs.depth, 0, 0, self._questions, seconds, resident()))

    # ------------------------------------------------------------------------ findings

    def findings(self) -> Findings:
        """Run the search, and return its findings."""
        end = self._search()
        stats = self._clock.stats(self._runs.depth + 1)
        results = tuple(Result(p.name, p.kind, self._verdict(p, end)) for p in self._task.properties)
        return Findings(self._wish.name, end, results, stats, self._error, depth=self._runs.depth)

    def _verdict(self, prop: Property, end: End) -> Verdict:
        """The verdict on a property after a search that ended by `end`."""
        trace = self._shown.get(prop.name)
        if trace is not None:
            return by_run(self._task, prop, trace)
        if end is End.COMPLETE:
            return by_none(self._task, prop)
        asked = self._runs.depth - (end is not End.DEPTH)
        what = "not reached" if is_good(prop) else "no violation"
        if asked < 0:
            return Unknown(end.value)
        why = "" if end is End.DEPTH else f"{end.value}; "
        return Unknown(f"{why}{what} in runs of up to {count(asked, 'step')}")
