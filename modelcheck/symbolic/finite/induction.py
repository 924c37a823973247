"""Induction over several steps: what is true in k successive states of a run is true in the next one.

Sheeran, Singh and Stålmarck (2000), "Checking safety properties using induction and a SAT-solver".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import ClassVar

from counterexamples.lines import count
from counterexamples.trace import Erred, Trace
from modelcheck.contract.engine import Prepared, Refusal, Task
from modelcheck.contract.proof import ObligationCell, ObligationStatus, Proof
from modelcheck.contract.report import Proving, Reporter, RunFound
from modelcheck.contract.result import End, Findings, Result, Unknown, Verdict
from modelcheck.grounding.term_values import term_value
from modelcheck.symbolic.answers import (
    STOPS,
    Clock,
    Over,
    by_none,
    by_run,
    claims_of,
    end_of,
    is_good,
    refusals_of,
    searched,
)
from modelcheck.symbolic.finite.smallest import measures
from modelcheck.symbolic.finite.system import ERROR, System, system
from modelcheck.symbolic.formulas import Formula
from modelcheck.symbolic.interrupts import interruptible
from modelcheck.symbolic.replayed import replayed, state_of
from modelcheck.symbolic.solver import ENDS, SolverAnswer, Unrolling, version
from spec.model.ir import Property

DEPTH = 4  # steps by default
LOOKS = 60  # questions to make one step small
NO_ERROR = "the model makes no error"  # a claim that has no name in the text


@dataclass(slots=True)
class Induction:
    """An engine that proves claims for runs of any length within one scope, by induction over steps.

    With one step, then two, up to `depth`: a claim is proved where runs of that many
    steps that start anywhere, and in which all claims are true, cannot end in a
    state where it is false, and runs from the start do not either.  States that a
    run meets twice are left out.  Lemmas of the model are proved with the properties.
    A violation that runs from the start show is `Violated`; what is neither is
    `Unknown`, with a small step that shows why.  `seconds` are for each question.
    """

    name: ClassVar[str] = "induction"

    depth: int = DEPTH
    seconds: float | None = None
    _prepared: Prepared[System] = field(default_factory=Prepared, repr=False, compare=False)

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        """What the engine cannot check of a task. Costs the encoding."""
        return refusals_of(task, self._system)

    def run(self, task: Task, reporter: Reporter) -> Findings:
        """The verdicts and proofs, up to a limit or Ctrl-C."""
        return searched(self.name, task, lambda: _Induction(self, self._system(task), task, reporter))

    def _system(self, task: Task) -> System:
        """The task as a transition system, translated once."""
        return self._prepared.of(task, system)


Obligation = tuple[str, str]  # a claim, and the action after which it is to be true


class _Induction:
    """One proof by k-induction: the current k, what is proved, and the runs that refute."""

    def __init__(self, wish: Induction, system: System, task: Task, reporter: Reporter) -> None:
        self._wish, self._system, self._task, self._reporter = wish, system, task, reporter
        self._clock = Clock(task, wish.seconds)
        self._measures = list(measures(task.model, system.machine))
        others = [*system.terms(), *self._measures]
        given = (system.machine, task.limits.memory, others, self._clock.left)
        self._base = Unrolling(*given)  # from the start
        self._short = Unrolling(*given)  # from anywhere, before the last step
        self._long = Unrolling(*given)  # and after it
        self._short.restart(system.formed)
        self._long.restart(system.formed)
        self._steps = 0  # of the induction
        self._goals = {prop.name for prop in task.properties if is_good(prop)}
        self._open = [ERROR, *(prop.name for prop in claims_of(task))]
        self._proved: dict[str, int] = {}  # by how many steps
        self._shown: dict[str, Trace] = {}
        self._error: Trace | None = None
        self._cells: dict[tuple[str, str | None], ObligationCell] = {}
        self._questions = 0
        self._clock.ready()

    # ------------------------------------------------------------------------ the proof

    def _search(self) -> End:
        """Prove with k = 1, 2, … up to the depth, and return why the search ended."""
        try:
            with interruptible() as self._look_up:
                for steps in range(1, max(1, self._wish.depth) + 1):
                    self._steps = steps
                    end = self._induct(steps)
                    if end is not None:
                        return end
        except STOPS as stop:
            return end_of(stop)
        return End.DEPTH

    def _induct(self, steps: int) -> End | None:
        """Try induction with the current k; return why the search ends, or None to continue."""
        self._tell()
        self._search_base()
        if self._error is not None:
            return End.ERROR
        if self._is_decided():
            return End.DECIDED
        self._base.grow()
        if not self._asks(self._base):  # no run is longer
            for name in self._open:
                self._prove(name)
            return End.COMPLETE
        if steps > 1:
            self._short.grow()
            self._short.assume(self._short.new_state())
        self._long.grow()
        self._long.assume(self._long.new_state())
        for name in self._inductive_together():
            self._prove(name)
        return End.DECIDED if self._is_decided() else None

    def _prove(self, name: str) -> None:
        """Record that a claim is proved."""
        self._proved[name] = self._steps

    def _is_decided(self) -> bool:
        """Whether every property is decided; without properties, whether errors are."""
        asked = {prop.name for prop in self._task.properties}
        left = asked - self._shown.keys() - self._proved.keys()
        return not left and (ERROR in self._proved or (bool(asked) and asked <= self._shown.keys()))

    def _search_base(self) -> None:
        """Search the runs from the start that are longer than those searched before, for violations."""
        for name in list(self._open):
            started = monotonic()
            try:
                formula = self._base.at(self._system.bad(name), self._base.depth)
                found = name not in self._proved and self._asks(self._base, formula)
            except Over:
                self._base_cell(name, started, ObligationStatus.UNKNOWN)
                raise
            if not found:
                self._base.refute(formula)
                self._base_cell(name, started, ObligationStatus.PROVED)
                continue
            self._show(name)
            if self._error is not None:
                return

    def _base_cell(self, name: str, started: float, kept: ObligationStatus) -> None:
        """Record the status of the base case of a claim, and the time it took."""
        before = self._cells.get((name, None))
        seconds = monotonic() - started + (before.seconds if before else 0.0)
        self._cells[name, None] = ObligationCell(name or NO_ERROR, None, kept, seconds)

    def _show(self, name: str) -> None:
        """Record the run that the solver has just found: an error of the model, or what decides `name`."""
        last = None
        if name in self._system.of_steps:
            last = next(
                (action,)
                for action, test in self._system.of_steps[name].items()
                if self._asks(self._base, self._base.at(test, self._base.depth))
            )
        trace = self._trace(self._base, name, last)
        if isinstance(trace.ending, Erred):
            self._error = trace
            return
        self._shown[name] = trace
        self._open.remove(name)
        self._reporter.tell(RunFound(name, trace.faults, len(trace.steps)))

    # ------------------------------------------------------------------- obligations

    def _inductive_together(self) -> list[str]:
        """The largest set of open claims that are inductive together with the current k."""
        left = [name for name in self._open if name not in self._proved]
        while left:
            lost = {name for name in left if not self._keeps(name, left)}
            if not lost:
                return left
            left = [name for name in left if name not in lost]
        return left

    def _keeps(self, name: str, left: Sequence[str]) -> bool:
        """Whether each action preserves a claim if the claims in `left` are true before it."""
        kept = True
        for action in self._actions(name):
            started = monotonic()
            runs, formulas = self._question((name, action), left)
            try:
                found = self._asks(runs, *formulas)
                why, known = "", ObligationStatus.FAILED if found else ObligationStatus.PROVED
            except Over as over:
                if over.end is not End.SECONDS or self._clock.is_late:
                    raise
                why, known = f"the solver gave up after {self._wish.seconds:g} s", ObligationStatus.UNKNOWN
            trace = None
            if (
                known is ObligationStatus.FAILED
                and self._steps == self._wish.depth
                and name not in self._goals
            ):
                trace = self._smallest((name, action), runs, formulas)
            cell = ObligationCell(name or NO_ERROR, action, known, monotonic() - started, why, trace)
            self._cells[name, action] = cell
            kept = kept and known is ObligationStatus.PROVED
        return kept

    def _actions(self, name: str) -> Iterable[str]:
        """The actions that may violate a claim."""
        of_steps = self._system.of_steps.get(name)
        return self._system.actions() if of_steps is None else of_steps

    def _question(self, asked: Obligation, left: Sequence[str]) -> tuple[Unrolling, list[Formula]]:
        """The runs and the formulas that they violate a claim by an action, after k states where all hold."""
        system, (name, action) = self._system, asked
        true = [each for each in (*left, *self._proved) if each not in self._shown]
        of_states = [each for each in true if each in system.of_states]
        if name in system.of_states:
            runs, last = self._long, self._steps
            wrong = [runs.last_step(system.rules(action)), runs.at(system.of_states[name], last)]
        else:
            runs, last = self._short, self._steps - 1
            test = system.of_steps[name][action]
            wrong = [runs.at(test, last), *self._true(runs, of_states, last)]
        return runs, [*wrong, *(each for time in range(last) for each in self._true(runs, true, time))]

    def _true(self, runs: Unrolling, names: Iterable[str], time: int) -> Iterator[Formula]:
        """The formulas that claims are true in the state at a time."""
        terms = self._system.machine.terms
        for name in names:
            good = terms.no(self._system.bad(name))
            if good.constant != 1:
                yield runs.at(good, time)

    # --------------------------------------------------------- the step that shows why

    def _smallest(self, asked: Obligation, runs: Unrolling, formulas: list[Formula]) -> Trace | None:
        """The step found by the solver, reduced by one measure after another while that is quick."""
        name, action = asked
        last = (action,) if name in self._system.of_steps else None
        trace = self._trace(runs, name, last)
        found, terms = runs.found(), self._system.machine.terms
        looks = LOOKS
        for measure in self._measures:
            size = term_value(measure, found.states[0])
            while size > measure.lo and looks:
                looks -= 1
                less = runs.at(terms.le(measure, terms.number(size - 1)), 0)
                if not self._finds_in_time(runs, *formulas, less):
                    break
                found = runs.found()
                trace = self._trace(runs, name, last)
                size = term_value(measure, found.states[0])
            formulas = [*formulas, runs.at(terms.le(measure, terms.number(size)), 0)]
        return replace(trace, is_run=False)

    def _finds_in_time(self, runs: Unrolling, *formulas: Formula) -> bool:
        """Whether some run satisfies the formulas, and was found in time."""
        try:
            return self._asks(runs, *formulas)
        except Over as over:
            if over.end is End.SECONDS and not self._clock.is_late:
                return False
            raise

    def _trace(self, runs: Unrolling, name: str, last: tuple[str, ...] | None) -> Trace:
        """The run that the solver found, as a trace of the model."""
        task, run = self._task, runs.found()
        states = [state_of(self._system.machine.stored, values) for values in run.states]
        wanted = task.model.property(name) if name else None
        return replayed(task, states, [rule.action for rule in run.rules], wanted, last)

    # ------------------------------------------------------------------------ asking

    def _asks(self, runs: Unrolling, *formulas: Formula) -> bool:
        """Whether some run satisfies the formulas. Raises Over if the solver has no answer."""
        self._questions += 1
        self._look_up()
        answer = runs.ask(*formulas, seconds=self._clock.left())
        if answer in ENDS:
            raise Over(ENDS[answer])
        return answer is SolverAnswer.YES

    def _tell(self) -> None:
        """Report progress."""
        self._reporter.tell(Proving(self._steps, 0, self._questions, self._clock.seconds))

    # ------------------------------------------------------------------------ findings

    def findings(self) -> Findings:
        """Run the search, and return its findings."""
        end = self._search()
        stats = self._clock.stats()
        results = tuple(Result(p.name, p.kind, self._verdict(p, end)) for p in self._task.properties)
        sought = self._goals.intersection(self._open)  # where to ask may be an error, further on
        if end is End.DEPTH and ERROR in self._proved and not sought:
            end = End.COMPLETE  # nothing is left that more patience would look at
        return Findings(self._wish.name, end, results, stats, self._error, proof=self._proof())

    def _proof(self) -> Proof:
        """The proof: its obligations, each with its status."""
        proved = {name or NO_ERROR for name in self._proved}
        cells = [cell for (name, _), cell in self._cells.items() if name not in self._shown]
        return Proof(
            tuple(name or NO_ERROR for name in self._proved),
            tuple(cell for cell in cells if cell.claim in proved),
            tuple(cell for cell in cells if cell.claim not in proved | self._goals),
            version(),
            within_scope=True,
            steps=self._steps,
        )

    def _verdict(self, prop: Property, end: End) -> Verdict:
        """The verdict on a property after a search that ended by `end`."""
        trace = self._shown.get(prop.name)
        if trace is not None:
            return by_run(self._task, prop, trace)
        if prop.name in self._proved and ERROR in self._proved:
            return by_none(self._task, prop)
        return Unknown(self._why(prop.name, end))

    def _why(self, name: str, end: End) -> str:
        """The reason why a property is neither proved nor violated."""
        if end not in {End.DEPTH, End.COMPLETE, End.DECIDED}:
            return str(end.value)
        if name in self._proved:
            return f"it is not proved that {NO_ERROR}"
        if name in self._goals:
            steps = count(self._base.depth, "step")
            return f"not reached in runs of up to {steps}, and not proved that it never is"
        cells = [cell for (claim, _), cell in self._cells.items() if claim == name]
        failed = [cell for cell in cells if cell.kept is ObligationStatus.FAILED]
        over = "" if self._steps == 1 else f"by induction over {count(self._steps, 'step')}, "
        if failed:
            return f"not inductive: {over}it may be false {failed[0].place}"
        lost = next(cell for cell in cells if cell.kept is ObligationStatus.UNKNOWN)
        return f"not proved {lost.place}: {lost.why}"
