"""The distinct ways in which a property is violated, as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from counterexamples.text import MARKS, step_lines
from counterexamples.trace import Trace
from modelcheck.contract.result import Distinct, Outcome, Result, Violated
from modelcheck.diagnosis.blamed import blamed
from modelcheck.diagnosis.distinct.search import KINDS
from modelcheck.diagnosis.summary import what_is_wrong
from spec.meaning.semantics import Machine


def ways_lines(found: Distinct, width: int) -> Iterator[Line]:
    """The report on the distinct ways to violate a property.

    First their number, then each with its cost, its steps and what is wrong at the end.  The last
    sentences give the extent of the search.
    """
    many = count(len(found.runs), "distinct way")
    yield from wrapped((), f"{found.property}: {many} to violate it", width, Role.STRONG)
    for number, run in enumerate(found.runs, 1):
        yield ()
        yield from _way(number, run, width)
    yield ()
    for sentence in extent_words(found):
        yield from wrapped(line("  "), sentence, width)


def cost_words(run: Trace) -> str:
    """The cost of a run: "2 faults (crash, isolate), 5 steps"."""
    kinds = ", ".join(name if n == 1 else f"{n} × {name}" for name, n in run.fault_counts().items())
    faults = f"{count(run.faults, 'fault')} ({kinds})" if run.faults else "no fault"
    return f"{faults}, {count(len(run.steps), 'step')}"


def extent_words(found: Distinct) -> Iterator[str]:
    """The extent of the search for ways, in sentences."""
    faults = f"up to {count(found.most_faults, 'fault')}" if found.most_faults else "no fault"
    looked = f"{count(found.looked_at, 'violating run')} with {faults}, in {count(found.states, 'state')}"
    yield f"Looked at {looked}: {'it' if found.looked_at == 1 else 'each'} contains one of these."
    if found.unfinished:
        start = f"{count(found.faults, 'fault')} and {count(found.steps, 'step')}"
        yield f"There may be more from {start} on: {found.unfinished}."


def single_runs(outcome: Outcome, width: int) -> Iterator[Line]:
    """The lines on violations with only one run, and why."""
    for result in outcome.findings.results:
        match result:
            case Result(name, kind, Violated(trace=Trace())) if kind not in KINDS:
                why = f"{name}: no further way was looked for, since `{kind.value}` is about whole runs"
                yield ()
                yield from wrapped((), why, width, Role.DIM)
            case _:
                pass


def _way(number: int, run: Trace, width: int) -> Iterator[Line]:
    """The lines of one way."""
    yield line(Piece(f"{number:>3}  "), Piece(cost_words(run), Role.BAD))
    machine = Machine(run.model, run.scope)
    digits = len(str(len(run.steps)))
    for at, (step, before) in enumerate(zip(run.steps, run.states, strict=False), 1):
        action = run.model.action(step.action)
        label = line(Piece(f"{'':5}{at:>{digits}} ", Role.DIM), MARKS[action.kind], " ")
        yield from step_lines(machine, action, step, before, label, width)
    yield from wrapped(line("     "), what_is_wrong(run, blamed(run)), width)
