"""A run that was tried on a real system, as one self-contained page: the model next to the observations."""

from __future__ import annotations

from collections.abc import Sequence

from counterexamples.html.questions import QuestionScene, drawings
from counterexamples.html.templates import environment, policy, styles
from counterexamples.lines import Role
from spec.frozen import frozen


@frozen
class SeenPart:
    """A part of the state: as the model has it, empty where that is not known, and as it was seen."""

    name: str
    model: str
    real: str
    differs: bool = False


@frozen
class FileExcerpt:
    """Lines of a file of the real system, under a title."""

    title: str
    lines: tuple[str, ...]


@frozen
class TriedStep:
    """What was done for some steps of the run, and what came of it; `sentence` is the model's own."""

    number: str
    sentence: str
    role: Role
    how: str
    done: tuple[str, ...]
    following: str
    notes: tuple[str, ...]
    parts: tuple[SeenPart, ...]
    excerpts: tuple[FileExcerpt, ...]


@frozen
class Tried:
    """What came of it: the answer, what explains it, what was set, the run of the model, and its steps."""

    title: str
    verdict: str
    role: Role
    about: tuple[str, ...]
    facts: tuple[tuple[str, tuple[str, ...]], ...]
    command: str
    scene: QuestionScene
    steps: Sequence[TriedStep]


def tried_page(tried: Tried) -> str:
    """The page, as the text of an HTML file; the same findings give the same bytes.

    Costs two pictures of the run.
    """
    style = styles("page.css", "questions.css", "tried.css")
    return (
        environment()
        .get_template("tried.jinja")
        .render(
            tried=tried,
            drawn=drawings([("run", [tried.scene])])["run"][0],
            style=style,
            policy=policy(style),
        )
    )
