"""Questions whose answers are folded away, as one self-contained page for a course; it has no JavaScript."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count

from counterexamples.explanation import Explanation
from counterexamples.html.templates import environment, policy, shapes, styles
from counterexamples.lines import Role
from counterexamples.pictures.depict import picture
from counterexamples.pictures.picture import Picture
from counterexamples.pictures.storyboard import storyboard
from counterexamples.pictures.svg import svg
from counterexamples.trace import Trace
from spec.frozen import frozen


@frozen
class Ground:
    """One reason for an answer: circumstances, result, and method."""

    text: str
    role: Role
    found: str
    extent: str = ""


@frozen
class QuestionScene:
    """A run with a title; its explanation gives the sentences above it."""

    title: str
    trace: Trace
    explanation: Explanation | None = None
    command: str = ""


@frozen
class PageQuestion:
    """A question with its folded answer: words, reasons and runs.

    Runs that are `beside` each other are to be compared.
    """

    name: str
    text: str
    about: str
    source: str
    answer: str
    role: Role
    grounds: tuple[Ground, ...] = ()
    scenes: tuple[QuestionScene, ...] = ()
    remarks: tuple[str, ...] = ()
    beside: bool = False


@frozen
class DrawnScene:
    """A scene in the form that the template uses."""

    scene: QuestionScene
    picture: Picture
    summary: tuple[str, ...]
    storyboard: str
    diagram: str


def questions_page(questions: Sequence[PageQuestion], *, title: str, about: Sequence[str]) -> str:
    """The HTML page of questions; equal questions give equal bytes.

    Costs two pictures of each run.
    """
    style = styles("page.css", "questions.css")
    return (
        environment()
        .get_template("questions.jinja")
        .render(
            title=title,
            about=about,
            questions=questions,
            drawn=drawings((question.name, question.scenes) for question in questions),
            style=style,
            policy=policy(style),
        )
    )


def drawings(scenes: Iterable[tuple[str, Sequence[QuestionScene]]]) -> dict[str, list[DrawnScene]]:
    """The scenes by name in the form that templates use, numbered uniquely within the page."""
    numbers = count(1)
    return {name: [_drawn(scene, next(numbers)) for scene in each] for name, each in scenes}


def _drawn(scene: QuestionScene, number: int) -> DrawnScene:
    """One scene in the form that the template uses."""
    full = picture(scene.trace, explanation=scene.explanation)
    plain = replace(full, title="", caption="", bounds="", needs="")  # the page has its own words
    explained = scene.explanation
    summary = explained.summary if explained is not None else (full.caption,) if full.caption else ()
    return DrawnScene(
        scene,
        full,
        summary,
        shapes(storyboard(plain), number, f"{full.title}: storyboard", full.caption),
        shapes(svg(plain), number, f"{full.title}: sequence diagram", full.caption),
    )
