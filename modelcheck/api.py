"""One check, from the question to the answer: choose an engine, run it, certify what it shows, compare."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic, perf_counter

from counterexamples.certify import NotReplayable, certify
from counterexamples.reorder import late_faults
from counterexamples.trace import Trace
from modelcheck.contract.coverage import never_used
from modelcheck.contract.engine import CannotResume, Engine, Family, Keep, Limits, Refusal, Task, Witness
from modelcheck.contract.expected import mismatches, needs_counts
from modelcheck.contract.families import looked_at
from modelcheck.contract.report import PhaseDone, Reporter, Silent, Stopped
from modelcheck.contract.result import End, Findings, Holds, Outcome, Result, Violated, run_of
from modelcheck.contract.witnesses import witnesses
from modelcheck.engines.portfolio import Portfolio
from modelcheck.engines.registry import engine as engine_of
from modelcheck.engines.room import with_enough_room, with_first_room
from modelcheck.processes.memory import memory_limit
from modelcheck.processes.watch import LastWord, watched
from modelcheck.search.account import unsearched
from modelcheck.search.first_names import with_first_names
from spec.meaning.semantics import Machine
from spec.model.interchangeable import symmetric_sorts
from spec.model.ir import Assume, Check, Model

PREFERRED = ("explicit", "reference")  # the fastest first
MOST_REORDERED = 200  # steps of a run; it takes up to one exchange for each pair


@dataclass
class Unsupported(Exception):  # noqa: N818 - an answer to the user, not a bug
    """Raised if no engine can do what the check asks; nothing was searched."""

    engine: str
    refusals: tuple[Refusal, ...]

    def __str__(self) -> str:
        each = [r.what + (f" (use {r.instead})" if r.instead else "") for r in self.refusals]
        return f"the engine {self.engine} cannot do: {', '.join(each)}"


@dataclass
class Unmet(Exception):  # noqa: N818 - an answer to the user, not a bug
    """Raised if configuration or sizes violate assumptions of the model; nothing was searched."""

    model: Model
    assumes: tuple[Assume, ...]

    def __str__(self) -> str:
        return f"assumptions that do not hold: {', '.join(assume.name for assume in self.assumes)}"


def check(  # noqa: PLR0913 - each is given by its name
    model: Model,
    check: Check,
    *,
    engine: str | Engine | None = None,
    limits: Limits | None = None,
    reporter: Reporter | None = None,
    symmetry: bool | None = None,
    threads: int | None = None,
    keep: Keep | None = None,
    ways: bool = True,
    family: Family | None = None,
    at_first: bool = False,
    beside_after: float | None = None,
    last_word: LastWord | None = None,
    with_witnesses: bool = False,
    forgets: bool = False,
    partial_order: bool = False,
    spill: Path | None = None,
) -> Outcome:
    """The outcome of a check; every trace in it has been replayed by the semantics.

    Of the runs that differ by the order of independent steps, the one shown has its faults as
    late as they can be: a broker crashes when that matters.  Of those that differ by the names of
    interchangeable members, it is the one in which who leads first has the first name
    (NOTE(first-names)).  Random runs, and those of more than 200 steps, stay as they were found.
    With no engine named or given, the fastest that can do all the check asks.  With
    `symmetry` (None: as the check says), states that differ by a renaming of interchangeable
    members count as one; `threads` of None is one for each core.  Without `ways` the search takes
    less memory, and is repeated where there is a run to show.  `family` names
    questions that follow, so that less is made anew for each.  With `at_first` it may end
    as soon as a run decides one property.  `with_witnesses` the statistics show which parts of
    properties no state puts to the test (NOTE(witnesses)).  With `forgets` states count as one that
    differ only in what no step can meet any more (NOTE(forgotten)).  With `partial_order` steps
    that others commute with are left for later (NOTE(persistent)): a run may then have more steps than
    the shortest.  With `beside_after` and no
    engine given, a second one starts after some seconds, in parallel (see NOTE(portfolio)).  Stops
    with a partial outcome before memory runs out, unless it can continue on disk, in a folder in `spill`,
    or on Ctrl-C; where nothing else stops it, `last_word` is to end the program (see NOTE(watch)).
    Raises KeyError (no such engine), Unsupported, Unmet, CannotResume, or ModelError when
    the model cannot even start; NotReplayable and Disagreement are bugs of the engines.
    """
    limits = limits or Limits()
    limits = replace(limits, memory=memory_limit(limits.memory))
    task = replace(
        task_of(model, check, family, symmetry=symmetry, with_witnesses=with_witnesses, forgets=forgets),
        partial_order=partial_order,
        family=None if partial_order else family,
        limits=limits,
        threads=threads,
        keep=keep,
        ways=ways,
        at_first=at_first,
        spill=spill,
    )
    last_word = None if keep else last_word  # to write a checkpoint down takes as long as it takes
    engines, began = PREFERRED if engine is None else (engine,), monotonic()
    try:
        with watched(task.limits.seconds, task.limits.memory, last_word):
            findings = _answered(engines, task, reporter or Silent(), beside_after, began)
    except Stopped as stopped:
        findings = unsearched(_name(engines[0]), task, stopped.end, monotonic() - began)
    except MemoryError:
        findings = unsearched(_name(engines[0]), task, End.MEMORY, monotonic() - began)
    outcome = Outcome(model, check, findings, mismatches(check, findings))
    return replace(outcome, unused=never_used((outcome,)))


def task_of(
    model: Model,
    check: Check,
    family: Family | None = None,
    *,
    symmetry: bool | None = None,
    with_witnesses: bool = False,
    forgets: bool = False,
) -> Task:
    """The task of a check, without limits."""
    properties = looked_at(model, check)
    found: tuple[Witness, ...] = ()
    if with_witnesses:
        names = {prop.name for prop in properties}
        among = witnesses(properties) if family is None else family.witnesses
        found = tuple(each for each in among if each.part.property in names)
    return Task(
        model,
        with_first_room(model, check.scope),
        check.budget,
        properties,
        check=check.name,
        stop_early=not needs_counts(check),
        symmetry=symmetric_sorts(model) if (check.symmetry if symmetry is None else symmetry) else (),
        family=family,
        witnesses=found,
        forgets=forgets,
    )


def _answered(
    engines: tuple[str | Engine, ...],
    task: Task,
    reporter: Reporter,
    beside_after: float | None,
    asked_at: float,
) -> Findings:
    """What the first engine that can finds in what is left of the time; every run in it has been replayed."""
    began = perf_counter()

    def search(task: Task) -> Findings:
        if assumes := Machine(task.model, task.scope).assumption_failures():
            raise Unmet(task.model, assumes)
        chosen = _able(engines, task)
        if engines is PREFERRED and beside_after is not None:
            chosen = Portfolio(chosen, beside_after)
        if task.limits.seconds is not None:
            left = max(0.0, task.limits.seconds - (monotonic() - asked_at))
            task = replace(task, limits=replace(task.limits, seconds=left))
        nonlocal began
        began = perf_counter()
        return chosen.run(task, reporter)

    findings = with_enough_room(task, search)
    searched = perf_counter()
    try:
        for trace in traces(findings):
            certify(trace)
    except NotReplayable:
        if task.keep is None or not task.keep.resume:
            raise
        raise CannotResume("the checkpoint is damaged: a run in it is none of the model's") from None
    reporter.tell(PhaseDone("search", searched - began))
    if findings.sample is None:  # a random run is shown as it went
        findings = replace(findings, results=tuple(map(_shown, findings.results)))
    reporter.tell(PhaseDone("replay", perf_counter() - searched))
    return findings


def _shown(result: Result) -> Result:
    """The result with its run rearranged for readers."""
    match result.verdict:
        case Holds(example=trace) as holds if trace is not None and _is_short(trace):
            return replace(result, verdict=replace(holds, example=_as_shown(trace)))
        case Violated(trace=trace) as violated if trace is not None and _is_short(trace):
            return replace(result, verdict=replace(violated, trace=_as_shown(trace)))
        case _:
            return result


def _as_shown(trace: Trace) -> Trace:
    """The run with late faults and members renamed by first appearance, replayed again."""
    late = late_faults(trace)
    named = with_first_names(late)
    return late if named == late else certify(named).trace


def _is_short(trace: Trace) -> bool:
    """Whether a run is short enough to rearrange."""
    return trace.is_run and len(trace.steps) <= MOST_REORDERED


def _name(engine: str | Engine) -> str:
    """The name of an engine."""
    return engine if isinstance(engine, str) else engine.name


def _able(engines: tuple[str | Engine, ...], task: Task) -> Engine:
    """The first engine that can do all of a task. Raises Unsupported, of one that names no other of them."""
    refused: dict[str, tuple[Refusal, ...]] = {}
    for each in engines:
        chosen = engine_of(each) if isinstance(each, str) else each
        refused[chosen.name] = chosen.refusals(task)
        if not refused[chosen.name]:
            return chosen
    names = [name for name in refused if not any(each.instead in refused for each in refused[name])]
    last = (names or list(refused))[-1]
    raise Unsupported(last, refused[last])


def traces(findings: Findings) -> tuple[Trace, ...]:
    """Every run in the findings."""
    shown = [findings.error, None if findings.sample is None else findings.sample.run]
    shown += (run_of(result.verdict) for result in findings.results)
    return tuple(trace for trace in shown if trace is not None)
