"""The outcome of an attempt as a page: the model's storyboard next to the state in the cluster's files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from counterexamples.html.questions import QuestionScene
from counterexamples.html.tried import FileExcerpt, SeenPart, Tried, TriedStep, tried_page
from modelcheck.kafka.reproduce.attempt import Attempt, ReproductionTask
from modelcheck.kafka.reproduce.cluster import name as node_name
from modelcheck.kafka.reproduce.driver import How, PhaseEnd
from modelcheck.kafka.reproduce.observed_state import NODES, View
from modelcheck.kafka.reproduce.report import (
    MARKS,
    ROLES,
    headline,
    numbers,
    predicted_words,
    says,
    sentences,
    telling,
    what_differs,
    what_is_left,
    who,
)
from spec.meaning.semantics import Step

Did = Callable[[str, int | str], str]
DID: Mapping[str, Did] = {  # what was done to a broker for a step, given the acks of the check
    "produce": lambda it, acks: f"one record is sent to {it} with acks={acks}, without retries",
    "consume": lambda it, _: f"a consumer reads from {it}",
    "move": lambda it, _: f"{it} becomes the preferred replica, and a preferred election is asked for",
    "shut_down": lambda it, _: f"{it} is shut down cleanly, and waited for",
    "start_again": lambda it, _: f"the process of {it} is started",
    "restart": lambda it, _: f"the process of {it} is started",
    "register": lambda it, _: f"the process of {it} is started, and then cut off from the controller",
    "register_again": lambda it, _: f"the process of {it} is started, and then cut off from the controller",
    "unfence": lambda it, _: f"the link between {it} and the controller is whole again",
    "session_loss": lambda it, _: f"the link between {it} and the controller is cut",
    "reconnect": lambda it, _: f"the link between {it} and the controller is whole again",
    "isolate": lambda it, _: f"all links between {it} and the other brokers are cut",
    "cut_off": lambda it, _: f"all links of {it} are cut, that to the controller too",
    "heal": lambda it, _: f"the links between {it} and the other brokers are whole again",
    "crash": lambda it, _: f"kill -9 of {it}",
    "power_loss": lambda it, _: f"kill -9 of {it}, then its log is cut to what is sure to be on its disk",
    "disk_loss": lambda it, _: f"kill -9 of {it}, then its directory is removed",
    "stopped_disk_loss": lambda it, _: f"the directory of {it} is removed",
}


def attempt_page(found: Attempt, command: str, kept: Path | None = None) -> str:
    """The HTML page of the most telling run; `command` repeats it, `kept` has its folders.

    Costs two pictures of the run.
    """
    asked = found.asked
    view = View(asked.model, asked.scope)
    run = telling(found)
    return tried_page(
        Tried(
            f"{asked.plan.trace.check or asked.plan.trace.model.name} on a real cluster",
            headline(found),
            ROLES[found.came],
            (*what_is_left(found), *what_differs(found)),
            tuple(_facts(found, view, kept)),
            command,
            QuestionScene("The storyboard", asked.plan.trace),
            [_step(asked, view, end) for end in run.ends] if run is not None else [],
        )
    )


def _facts(found: Attempt, view: View, kept: Path | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The facts for the head of the page, each with its lines: release, settings, prediction, runs."""
    asked = found.asked
    yield "release", (f"Kafka {found.version}",)
    yield "settings", asked.settings.words()
    if asked.plan.order:
        yield "brokers", (who(asked, view),)
    if found.predicted:
        yield "the model", (predicted_words(found),)
    if len(found.runs) > 1:
        lost = sum(bool(run.lost) for run in found.runs)
        yield "runs", (f"{len(found.runs)}, of which {lost} lost a record; one of them is shown",)
    if kept is not None:
        yield "folders", (str(kept),)


def _step(asked: ReproductionTask, view: View, end: PhaseEnd) -> TriedStep:
    """One phase as a step of the page."""
    following = "; ".join(sentences(asked, end.phase)[len(end.phase.done) :])
    waiting = tuple(
        f"meanwhile {view.names[asking]} cannot fetch from {view.names[from_]}"
        for asking, from_ in sorted(end.phase.held)
    )
    return TriedStep(
        numbers(end.phase),
        says(asked, end.phase),
        MARKS[end.how].role,
        end.how.value,
        tuple(done_words(step, view.names, asked.settings.acks) for step in end.did),
        "" if asked.freely else following,
        (*end.notes, *waiting),
        tuple(_parts(view, end)),
        tuple(FileExcerpt(f"{_node(each.node, view.names)}: {each.file}", each.lines) for each in end.files),
    )


def done_words(step: Step, names: tuple[str, ...], acks: int | str) -> str:
    """The action on the cluster for a step, in words."""
    broker = step.args[0]
    assert isinstance(broker, int)
    return DID[step.action](f"{names[broker]} (broker {broker + NODES})", acks)


def _parts(view: View, end: PhaseEnd) -> Iterator[SeenPart]:
    """All compared parts, and the high watermarks."""
    wrong = {each.part: each for each in end.differences}
    for part, value in view.parts(end.cluster):
        if part in wrong:
            yield SeenPart(part, wrong[part].model, value, differs=True)
        else:
            yield SeenPart(part, "" if end.how is How.NOT_COMPARED else value, value)
    for mark in end.marks:
        model = "" if mark.model is None else str(mark.model)
        name = f"high watermark of {view.names[mark.broker]}"
        yield SeenPart(name, model, str(mark.cluster), mark.differs)


def _node(node: int, names: tuple[str, ...]) -> str:
    """A node by its number, and its name in the model if it is a broker."""
    known = 0 <= node - NODES < len(names)
    return f"{node_name(node)} ({names[node - NODES]})" if known else node_name(node)
