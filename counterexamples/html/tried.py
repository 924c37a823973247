"""A run that was tried on a real system, as one self-contained page: the model next to the observations."""

from __future__ import annotations

from collections.abc import Sequence

from counterexamples.html.questions import QuestionScene, drawings
from counterexamples.html.templates import environment, policy, styles
from counterexamples.lines import Role
from spec.frozen import frozen


@frozen
class SeenPart:
    """A part of the state: the model's value, empty if unknown, and the observed one."""

    name: str
    model: str
    real: str
    differs: bool = False


@frozen
class FileExcerpt:
    """Lines of a file of the real system, with a title."""

    title: str
    lines: tuple[str, ...]


@frozen
class TriedStep:
    """The action for some steps of the run, and the result; `sentence` is the model's."""

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
    """A reproduction attempt: the answer, its explanation, settings, the model's run, and steps."""

    title: str
    verdict: str
    role: Role
    about: tuple[str, ...]
    facts: tuple[tuple[str, tuple[str, ...]], ...]
    command: str
    scene: QuestionScene
    steps: Sequence[TriedStep]


def tried_page(tried: Tried) -> str:
    """The HTML page of a reproduction attempt; equal findings give equal bytes.

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
