"""Two engines on one task: the first searches, and when that takes long the second works in parallel.

NOTE(portfolio): the answer is the one that the first engine would give alone.
The second, a bounded search, finds runs of the fewest steps, and of these one with the fewest
faults.  That no run with fewer faults does it too is known where it has none, or where the
first engine has been through all runs with fewer.  Only then it is taken for the answer, and
the search ends when every property has one.  Otherwise it continues; where a limit or Ctrl-C
ends it, the run is shown for what it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from counterexamples.lines import count
from counterexamples.trace import Trace
from modelcheck.contract.engine import Engine, Limits, Refusal, Task
from modelcheck.contract.report import Event, Progress, Reporter, RunFound, SecondEngineProgress, Stopped
from modelcheck.contract.result import (
    End,
    Extent,
    Findings,
    Holds,
    Result,
    SecondEngineReport,
    Unknown,
    Verdict,
    Violated,
)
from modelcheck.processes.cores import cores
from spec.model.ir import PropertyKind

if TYPE_CHECKING:
    from modelcheck.engines.second_engine import SecondEngine

PATIENCE = 5.0  # seconds that the first engine has for itself; most checks end before
SECOND = "bmc"
DEEP = 1000  # steps: further than the second ever comes
MEMORY = 2_000_000_000  # bytes that the second may have, and no more than a share of the limit
SHARE = 0.1
LOOK = 0.2  # seconds between two looks at what the second has found, where no other search runs
GAVE_UP = {End.STATES, End.MEMORY}

Cost = tuple[int, int]  # of a run: faults, then steps


@dataclass
class Disagreement(Exception):  # noqa: N818 - shown in words of its own
    """Raised if two engines contradict each other, which is a bug in modelcheck."""

    engines: tuple[str, str]
    clashes: tuple[str, ...]
    findings: Findings
    runs: tuple[Trace, ...]
    depth: int

    def __str__(self) -> str:
        return "; ".join(self.clashes)


class Portfolio:
    """An engine that runs two engines and joins their findings: see NOTE(portfolio).

    The second one starts after `patience` seconds, in a process of its own that never outlives
    the search; not where the task is for one thread, wants symmetry or checkpoints, or is too
    much for it.  Raises Disagreement where the two contradict each other.
    """

    name: ClassVar[str] = "portfolio"

    def __init__(self, first: Engine, patience: float = PATIENCE) -> None:
        self._first = first
        self._patience = patience

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        """What the first engine cannot do."""
        return self._first.refusals(task)

    def run(self, task: Task, reporter: Reporter) -> Findings:
        """The joined findings of both engines."""
        both = _Both(task, reporter, self._patience)
        try:
            findings = self._first.run(task, both)
            if findings.end in GAVE_UP:
                findings = both.wait(findings)
        finally:
            both.close()
        return both.joined(findings)


class _Both:
    """A reporter that listens to both engines, and ends the search once they are done together."""

    def __init__(self, task: Task, reporter: Reporter, patience: float) -> None:
        self._task, self._reporter, self._patience = task, reporter, patience
        self._began = monotonic()
        self._found: dict[str, Cost] = {}  # by the first engine; perhaps not the best yet
        self._at: Cost = (0, 0)  # all that costs less has been seen by the first
        self._second: SecondEngine | None = None
        self._is_alone = False
        self._reported = set[str]()

    def tell(self, event: Event) -> None:
        """Pass an event on, and end the search if everything is settled."""
        self._reporter.tell(event)
        match event:
            case RunFound(name, faults, steps):
                self._found[name] = faults, steps
            case Progress():
                self._at = event.faults, event.depth
                if self._second is not None:
                    self._listen()
                elif not self._is_alone and event.seconds >= self._patience:
                    self._start()
                if self._is_settled:
                    raise Stopped(End.INTERRUPTED)
            case _:
                pass

    def wait(self, findings: Findings) -> Findings:
        """Wait for the second engine after the first gave up, within the time limit."""
        limit, second = self._task.limits.seconds, self._second
        if limit is None or second is None:
            return findings
        self._note_last_layer(findings)
        try:
            while second.is_running and not self._is_settled and monotonic() < self._began + limit:
                self._listen(LOOK)
        except KeyboardInterrupt:
            return replace(findings, end=End.INTERRUPTED)
        return findings

    def close(self) -> None:
        """Stop the second engine."""
        if self._second is not None:
            self._second.close()

    def _start(self) -> None:
        """Start the second engine."""
        from modelcheck.engines.second_engine import Order, SecondEngine  # noqa: PLC0415 - loaded when a search takes long

        self._is_alone = True  # whatever becomes of it, there is no other
        wanted = tuple(p for p in self._task.properties if not self._by_first(p.name))
        most = self._task.limits.memory
        memory = MEMORY if most is None else min(MEMORY, int(SHARE * most))
        task = replace(self._task, properties=wanted, limits=Limits(memory=memory))
        if wanted and _may_start(self._task):
            self._second = SecondEngine(Order(SECOND, {"depth": DEEP}, task))

    def _listen(self, seconds: float = 0.0) -> None:
        """Process the second engine's messages so far, and report news."""
        second = self._second
        if second is None or not second.listen(seconds) or second.refused:
            return
        self._reporter.tell(SecondEngineProgress(SECOND, second.depth + 1))
        for name, run in second.runs.items():
            if name not in self._reported and not self._by_first(name) and not self._by_second(name):
                self._reported.add(name)
                self._reporter.tell(
                    SecondEngineProgress(SECOND, second.depth + 1, RunFound(name, *_cost(run)))
                )

    # --------------------------------------------------------------- who knows what

    @property
    def _is_settled(self) -> bool:
        """Whether every property is decided by a run known to be the best."""
        return (
            self._second is not None
            and self._task.stop_early
            and all(self._by_first(p.name) or self._by_second(p.name) for p in self._task.properties)
        )

    def _by_first(self, name: str) -> bool:
        """Whether the first engine has the best run for a property."""
        return name in self._found and self._found[name] <= self._at

    def _by_second(self, name: str) -> bool:
        """Whether the second engine has a run with the fewest faults, by the first's progress."""
        run = None if self._second is None else self._second.runs.get(name)
        return run is not None and run.faults <= self._at[0]

    def _note_last_layer(self, findings: Findings) -> None:
        """Record the last layer searched, as progress reports may lag."""
        self._at = max(self._at, (len(findings.stats.layers), 0))

    # -------------------------------------------------------------------- together

    def joined(self, findings: Findings) -> Findings:
        """The joined findings. Raises Disagreement."""
        second = self._second
        if second is None or second.refused:
            return findings
        self._note_last_layer(findings)
        clashes = tuple(self._clashes(findings, second))
        if clashes:
            names = findings.engine, SECOND
            raise Disagreement(names, clashes, findings, tuple(second.runs.values()), second.depth)
        results = tuple(self._result(each, findings, second) for each in findings.results)
        pairs = list(zip(findings.results, results, strict=True))
        answered = tuple(new.property for old, new in pairs if new is not old)
        agreed = tuple(
            new.property
            for old, new in pairs
            if new is old and (run := second.runs.get(new.property)) and _cost_of(new.verdict) == _cost(run)
        )
        beside = SecondEngineReport(SECOND, answered, agreed, second.depth, second.problem)
        end = End.DECIDED if findings.end.partial and self._is_settled else findings.end
        return replace(findings, results=results, end=end, beside=beside)

    def _result(self, result: Result, findings: Findings, second: SecondEngine) -> Result:
        """The first engine's result, unless it is unknown or the second's run is better."""
        name, run = result.property, second.runs.get(result.property)
        if run is None or not findings.end.partial or self._by_first(name):
            return result
        own = _cost_of(result.verdict)
        if own is not None and own <= _cost(run):
            return result
        task, good = self._task, result.kind is PropertyKind.REACHABLE
        extent = Extent(task.scope, run.faults, task.budget.kinds)
        best = self._by_second(name)
        verdict = Holds(extent, example=run) if good else Violated(extent, run, fewest=best)
        known = max(len(result.by_faults), run.faults + 1) if best else 0
        by_faults = tuple((faults >= run.faults) == good for faults in range(known))
        return replace(result, verdict=verdict, by_faults=by_faults or result.by_faults)

    def _clashes(self, findings: Findings, second: SecondEngine) -> Iterator[str]:
        """The contradictions between the findings, in words."""
        asked = {prop.name for prop in second.order.task.properties}
        is_whole = findings.end in {End.COMPLETE, End.DECIDED}
        for result in findings.results:
            name, run, own = result.property, second.runs.get(result.property), _cost_of(result.verdict)
            if isinstance(result.verdict, Unknown) or _is_unshown(result.verdict) or name not in asked:
                continue
            if own is not None and not is_whole and own > self._at:
                continue  # there may be better ones
            text = "no run decides it" if own is None else f"the best run has {_cost_words(own)}"
            if run is not None and not _fit(own, _cost(run)):
                yield f"{name}: {findings.engine}: {text}; {SECOND}: one has {_cost_words(_cost(run))}"
            elif run is None and own is not None and own[1] <= second.depth:
                deep = count(second.depth, "step")
                yield f"{name}: {findings.engine}: {text}; {SECOND}: none of up to {deep} does"


def _may_start(task: Task) -> bool:
    """Whether a second engine may run: for a plain task with several threads and cores."""
    is_plain = not task.symmetry and not task.partial_order and task.keep is None and task.ways
    return is_plain and task.threads != 1 and cores() > 1


def _cost(run: Trace) -> Cost:
    """The faults and steps of a run."""
    return run.faults, len(run.steps)


def _cost_of(verdict: Verdict) -> Cost | None:
    """The cost of the run that a verdict shows; None without one."""
    match verdict:
        case Violated(trace=trace) | Holds(example=trace) if trace is not None:
            return _cost(trace)
        case _:
            return None


def _is_unshown(verdict: Verdict) -> bool:
    """Whether a verdict is decided by a run that cannot be shown."""
    return isinstance(verdict, Violated | Holds) and verdict.unshown is not None


def _fit(best: Cost | None, shortest: Cost) -> bool:
    """Whether the costs can be the best by faults, and the best by steps, of one property."""
    if best is None:
        return False
    return best == shortest or (best[0] < shortest[0] and best[1] > shortest[1])


def _cost_words(cost: Cost) -> str:
    """A cost in words."""
    return f"{count(cost[0], 'fault')} and {count(cost[1], 'step')}"
