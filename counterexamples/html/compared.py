"""Several systems that were asked the same, as one self-contained page: a table, and runs side by side."""

from __future__ import annotations

from collections.abc import Sequence

from counterexamples.html.page import TableCell
from counterexamples.html.questions import QuestionScene, drawings
from counterexamples.html.templates import environment, policy, styles
from spec.frozen import frozen


@frozen
class Head:
    """A column of the comparison: the model, and its settings."""

    title: str
    about: str


@frozen
class ComparedRow:
    """A row of the comparison: a question, and the answer for each column."""

    text: str
    cells: tuple[TableCell, ...]


@frozen
class Pair:
    """Two compared models: the size of the difference, and runs that show it, if any."""

    title: str
    words: str
    question: str = ""
    scenes: tuple[QuestionScene, ...] = ()


def compared_page(
    columns: Sequence[Head],
    rows: Sequence[ComparedRow],
    pairs: Sequence[Pair],
    *,
    title: str,
    about: Sequence[str],
    notes: Sequence[str],
) -> str:
    """The HTML page of a comparison; equal findings give equal bytes.

    Costs two pictures of each run.
    """
    style = styles("page.css", "questions.css", "compared.css")
    return (
        environment()
        .get_template("compared.jinja")
        .render(
            title=title,
            about=about,
            columns=columns,
            rows=rows,
            notes=notes,
            pairs=pairs,
            drawn=drawings((pair.title, pair.scenes) for pair in pairs),
            style=style,
            policy=policy(style),
        )
    )
