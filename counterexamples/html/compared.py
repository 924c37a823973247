"""Several systems that were asked the same, as one self-contained page: a table, and runs side by side."""

from __future__ import annotations

from collections.abc import Sequence

from counterexamples.html.page import TableCell
from counterexamples.html.questions import QuestionScene, drawings
from counterexamples.html.templates import environment, policy, styles
from spec.frozen import frozen


@frozen
class Head:
    """A column: what is compared, and under which settings."""

    title: str
    about: str


@frozen
class ComparedRow:
    """A question, and the answer of each."""

    text: str
    cells: tuple[TableCell, ...]


@frozen
class Pair:
    """Two of them: how much they differ, and the question and the runs that show a difference, if any."""

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
    """The page, as the text of an HTML file; the same findings give the same bytes.

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
