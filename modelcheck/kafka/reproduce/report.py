"""What came of an attempt, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator

from counterexamples.lines import Line, Piece, Role, count, line, wrapped
from modelcheck.kafka.reproduce.attempt import Attempt, Came, ReproductionTask
from modelcheck.kafka.reproduce.cluster import name as node_name
from modelcheck.kafka.reproduce.driver import How, PhaseEnd, Run
from modelcheck.kafka.reproduce.observed_state import NODES, Ending, View
from modelcheck.kafka.reproduce.plan import Phase
from spec.meaning.semantics import Machine, Step

MARKS = {
    How.AS_THE_RUN: Piece("✓", Role.GOOD),
    How.AS_THE_MODEL: Piece("✓", Role.GOOD),
    How.OTHER_WAY: Piece("~", Role.UNSURE),
    How.OTHERWISE: Piece("✗", Role.BAD),
    How.NOT_COMPARED: Piece("?", Role.DIM),
}
ROLES = {
    Came.REPRODUCED: Role.BAD,
    Came.LOST: Role.BAD,
    Came.NOT_REPRODUCED: Role.UNSURE,
    Came.COULD_NOT: Role.UNSURE,
    Came.SURVIVED: Role.GOOD,
}
PREDICTED = {
    Ending.LOST: "what was acknowledged is lost",
    Ending.KEPT: "nothing is lost",
    Ending.NOBODY_LEADS: "no broker leads",
}


def lines(found: Attempt, width: int) -> Iterator[Line]:
    """The whole report: the result, the settings, and each phase of the most telling run."""
    asked = found.asked
    yield from wrapped((), headline(found), width, ROLES[found.came])
    for text in (*what_is_left(found), *what_differs(found)):
        yield from wrapped(line("  "), text, width)
    yield ()
    view = View(asked.model, asked.scope)
    yield from wrapped(line("  "), " · ".join(asked.settings.words()), width, Role.DIM)
    yield from wrapped(line("  "), who(asked, view), width, Role.DIM)
    run = telling(found)
    for end in run.ends if run is not None else ():
        yield ()
        yield from _phase(asked, view, end, width)


def headline(found: Attempt) -> str:
    """The result in a sentence."""
    asked = found.asked
    name = asked.plan.trace.check or "the run"
    under = "" if asked.under is None else f" under {asked.under}"
    times = (
        f", {sum(bool(run.lost) for run in found.runs)} of {len(found.runs)} times"
        if len(found.runs) > 1
        else ""
    )
    return (
        f"{asked.plan.trace.model.name} · {name}{under} on Kafka {found.version}: {found.came.value}{times}"
    )


def predicted_words(found: Attempt) -> str:
    """The model's prediction of the ending, in words."""
    return ", or ".join(words for ending, words in PREDICTED.items() if ending in found.predicted)


def telling(found: Attempt) -> Run | None:
    """The run to show: the first that lost a record, else the last."""
    return next((run for run in found.runs if run.lost), found.runs[-1] if found.runs else None)


def what_is_left(found: Attempt) -> Iterator[str]:
    """The records left in the end, in sentences."""
    names = View(found.asked.model, found.asked.scope).names
    if found.problem is not None:
        at = "" if found.problem.step is None else f"step {found.problem.step}: "
        yield f"{at}{found.problem.why}"
    run = telling(found)
    if run is None:
        return
    if run.leader is None:
        yield f"{_records(run.acked)} acknowledged; no broker leads, so nothing can be read."
        return
    leader = names[run.leader]
    if run.lost:
        yield (
            f"{_records(run.lost)} acknowledged, and {leader}, which leads, has not got it;"
            f" a consumer is given {_given(run.given)}."
        )
    else:
        yield (
            f"{_records(run.acked)} acknowledged; {leader}, which leads, has {_given(run.kept)};"
            f" a consumer is given {_given(run.given)}."
        )


def what_differs(found: Attempt) -> Iterator[str]:
    """The model's prediction, and the first step that differed, in sentences."""
    if found.asked.read:
        yield f"This release reads it otherwise: {found.asked.read}."
    if found.asked.freely:
        yield f"The model predicts: {predicted_words(found)}."
    run = telling(found)
    first = None if run is None else run.first_otherwise
    if first is not None:
        yield f"The first that went otherwise: {numbers(first.phase)}; it went {first.how.value}."
    elif run is not None and not run.lost and not found.asked.freely:
        yield "Every step went as in the run, and yet the record is there."


def _phase(asked: ReproductionTask, view: View, end: PhaseEnd, width: int) -> Iterator[Line]:
    """The report on one phase."""
    phase = end.phase
    label = line("  ", MARKS[end.how], f" {numbers(phase):<6} ")
    yield from wrapped(label, says(asked, phase), width)
    indent = line(" " * 11)
    if phase.following and not asked.freely:
        own = ", ".join(step_name(step, view.names) for step in phase.following)
        yield from wrapped(indent, f"then on its own: {own}", width, Role.DIM)
    for note in end.notes:
        yield from wrapped(indent, note, width, Role.DIM)
    for pair in sorted(phase.held):
        text = f"meanwhile {view.names[pair[0]]} cannot fetch from {view.names[pair[1]]}"
        yield from wrapped(indent, text, width, Role.DIM)
    shown = " · ".join(
        f"{part} {value}" for part, value in view.parts(end.cluster) if part in SHOWN or "log" in part
    )
    yield from wrapped(indent, f"{shown} · after {end.seconds:.1f} s", width)
    for each in end.differences:
        text = f"{each.part}: the model has {each.model}, the cluster {each.cluster}"
        yield from wrapped(indent, text, width, Role.BAD if end.how is How.OTHERWISE else Role.UNSURE)


SHOWN = {"leader", "in sync"}


def says(asked: ReproductionTask, phase: Phase) -> str:
    """The forced step of a phase, in the model's words."""
    said = sentences(asked, phase)[: len(phase.done)]
    return "; ".join(said) or "the cluster's own first steps"


def sentences(asked: ReproductionTask, phase: Phase) -> list[str]:
    """The steps of a phase in the model's words, the forced ones first."""
    trace = asked.plan.trace
    machine = Machine(trace.model, trace.scope)
    steps = (*phase.done, *phase.following)
    return [
        machine.says(trace.model.action(step.action), step, trace.states[phase.first - 1 + number])
        for number, step in enumerate(steps)
    ]


def numbers(phase: Phase) -> str:
    """The numbers of a phase's steps in the run, as text."""
    last = phase.first + len(phase.done) + len(phase.following) - 1
    return f"{phase.first}" if last == phase.first else f"{phase.first}-{last}"


def who(asked: ReproductionTask, view: View) -> str:
    """Which broker of the cluster is which of the model, and the order of replicas."""
    brokers = ", ".join(f"{name} is broker {number}" for number, name in enumerate(view.names, NODES))
    order = ", ".join(view.names[each] for each in asked.plan.order)
    return f"{brokers}; in the order of replicas: {order}"


def step_name(step: Step, names: tuple[str, ...]) -> str:
    """A step as the model writes it."""
    return f"{step.action}({', '.join(names[each] for each in step.args if isinstance(each, int))})"


def _records(found: tuple[int, ...]) -> str:
    """Records in words."""
    if not found:
        return "No record was"
    return (
        f"Record {', '.join(map(str, found))} was"
        if len(found) == 1
        else f"Records {', '.join(map(str, found))} were"
    )


def _given(found: tuple[int, ...] | None) -> str:
    """The records that a consumer got, in words."""
    if found is None:
        return "no answer"
    return f"{count(len(found), 'record')} ({', '.join(map(str, found))})" if found else "none of them"


def as_json(found: Attempt) -> dict[str, object]:
    """The attempt as JSON data."""
    asked = found.asked
    view = View(asked.model, asked.scope)
    return {
        "kafka": found.version,
        "check": asked.plan.trace.check,
        "under": asked.under,
        "read_otherwise": asked.read,
        "came": found.came.name.lower(),
        "as_foretold": found.is_as_predicted,
        "foretold": sorted(each.value for each in found.predicted),
        "problem": None if found.problem is None else {"step": found.problem.step, "why": found.problem.why},
        "settings": list(asked.settings.words()),
        "order": [view.names[each] for each in asked.plan.order],
        "runs": [_run_json(run, view) for run in found.runs],
    }


def _run_json(run: Run, view: View) -> dict[str, object]:
    """One run as JSON data."""
    return {
        "leader": None if run.leader is None else view.names[run.leader],
        "acknowledged": list(run.acked),
        "in_log_of_leader": None if run.kept is None else list(run.kept),
        "given_to_consumer": None if run.given is None else list(run.given),
        "lost": list(run.lost),
        "ending": run.ending.value,
        "seconds": round(run.seconds, 1),
        "phases": [
            {
                "steps": numbers(end.phase),
                "done": [step_name(step, view.names) for step in end.phase.done],
                "did": [step_name(step, view.names) for step in end.did],
                "how": end.how.name.lower(),
                "cluster": dict(view.parts(end.cluster)),
                "differences": [
                    {"part": each.part, "model": each.model, "cluster": each.cluster}
                    for each in end.differences
                ],
                "high_watermarks": {view.names[mark.broker]: mark.cluster for mark in end.marks},
                "files": [
                    {"node": node_name(each.node), "file": each.file, "lines": list(each.lines)}
                    for each in end.files
                ],
                "notes": list(end.notes),
                "seconds": round(end.seconds, 1),
            }
            for end in run.ends
        ],
    }
