"""Protocols, compared, as a page: the table, and for each two of them the runs in which they differ."""

from __future__ import annotations

from collections.abc import Iterator

from counterexamples.html.compared import ComparedRow, Head, Pair, compared_page
from counterexamples.html.page import TableCell
from counterexamples.html.questions import QuestionScene
from counterexamples.lines import plain
from modelcheck.answers.html_report import LOOKED_AT
from modelcheck.diagnosis.explain import explain
from modelcheck.teaching.textbook.compared import Compared, Side
from modelcheck.teaching.textbook.pairs import differences, sides_in_words
from modelcheck.teaching.textbook.table import cell, notes
from modelcheck.teaching.textbook.wording import again

TITLE = "The same questions to different replicated logs"
ABOUT = (
    "Every answer was computed, by searches of all runs of a model within a scope and a budget of faults.",
    "Below, for each two: the question on which they differ in the fewest faults, then steps.",
)
WIDE = 10_000  # columns: the browser breaks the lines


def page(found: Compared) -> str:
    """The HTML page of the comparison; equal findings give equal bytes.

    Costs the explanation of each run, up to some thousand states, and its pictures.
    """
    columns = found.comparison.columns
    rows = []
    for question in found.comparison.questions:
        pieces = [cell(found.answer(question, column)) for column in columns]
        rows.append(ComparedRow(question.text, tuple(TableCell(piece.text, piece.role) for piece in pieces)))
    return compared_page(
        [Head(column.title, column.about) for column in columns],
        rows,
        list(_pairs(found)),
        title=TITLE,
        about=ABOUT,
        notes=plain(notes(found, WIDE)).splitlines(),
    )


def _pairs(found: Compared) -> Iterator[Pair]:
    """The compared pairs for the page."""
    for first, second, apart in found.pairs:
        title, words = f"{first.title} and {second.title}", differences(found, first, second)
        if apart is None:
            yield Pair(title, words)
        else:
            scenes = (_scene(apart.fails), _scene(apart.holds))
            yield Pair(title, words, f"{apart.question.text} {sides_in_words(apart)}", scenes)


def _scene(side: Side) -> QuestionScene:
    """The run of a side for the page."""
    explained = explain(side.run, LOOKED_AT)
    return QuestionScene(f"{side.column.title}: {side.words}", side.run, explained, again(side.found.asked))
