"""Protocols, compared, as a table: for a terminal, for Markdown and for programs."""

from __future__ import annotations

import csv
import textwrap
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import product

from counterexamples.lines import Line, Piece, Role, line, wrapped
from modelcheck.contract.version import VERSION
from modelcheck.teaching.textbook.compared import AnsweredCell, Apart, Compared, Side, Weighed
from modelcheck.teaching.textbook.comparison import Column, ComparisonQuestion
from modelcheck.teaching.textbook.wording import SIGNS, check_words, extent, found_json, found_words

Json = dict[str, object]
FORMAT = "modelcheck compare 1"  # the number goes up when a key changes its meaning or goes away
SILENT = "–"  # it cannot be asked
OPEN = "?"  # it could be known
NAME = 15  # columns of a name, where none is longer
LEAST = 9  # columns of an answer; where there are fewer, answers are below each other


def cell(answered: AnsweredCell) -> Piece:
    """An answer as a table cell."""
    if answered.cell.silent:
        return Piece(SILENT, Role.DIM)
    return Piece(OPEN, Role.UNSURE) if answered.words is None else Piece(answered.words)


def table(found: Compared, width: int) -> Iterator[Line]:
    """The lines of the table, with descriptions of the columns."""
    columns = found.comparison.columns
    first = max(28, width * 2 // 5 - 4 * len(columns))
    each = (width - first - 2 * len(columns)) // max(1, len(columns))
    for column in columns:
        name = Piece(f"{column.name:<{_name_size(found)}}", Role.STRONG)
        yield from wrapped(line(name), column.about, width)
    yield ()
    if each < LEAST:
        yield from _below_each_other(found, width)
    else:
        heads = [Piece(column.title, Role.STRONG) for column in columns]
        yield from _row(Piece(""), heads, first, each)
        for question in found.comparison.questions:
            answers = [cell(found.answer(question, column)) for column in columns]
            yield from _row(Piece(question.text), answers, first, each)
    below = list(notes(found, width))
    yield from ((), *below) if below else ()


def _row(head: Piece, cells: Sequence[Piece], first: int, each: int) -> Iterator[Line]:
    """The lines of a row."""
    columns = [
        (piece, size, textwrap.wrap(piece.text, size)) for piece, size in _sized(head, cells, first, each)
    ]
    for number in range(max(len(lines) for _, _, lines in columns)):
        yield tuple(
            Piece(f"{lines[number] if number < len(lines) else '':<{size}}  ", piece.role)
            for piece, size, lines in columns
        )


def _sized(head: Piece, cells: Sequence[Piece], first: int, each: int) -> list[tuple[Piece, int]]:
    """The cells of a row with widths."""
    return [(head, first), *((piece, each) for piece in cells)]


def _below_each_other(found: Compared, width: int) -> Iterator[Line]:
    """The lines of the answers as a list, for narrow terminals."""
    for question in found.comparison.questions:
        yield from wrapped((), question.text, width, Role.STRONG)
        for column in found.comparison.columns:
            piece = cell(found.answer(question, column))
            yield from wrapped(line(f"  {column.name:<{_name_size(found)}}"), piece.text, width, piece.role)


def _name_size(found: Compared) -> int:
    """The columns that a name takes, with the space after it."""
    return max(NAME, *(len(column.name) + 2 for column in found.comparison.columns))


def notes(found: Compared, width: int) -> Iterator[Line]:
    """The lines on cells without an answer."""
    cells = ((column, found.answer(question, column).cell) for question, column in _cells(found))
    for name, why in dict.fromkeys((column.name, cell.silent) for column, cell in cells if cell.silent):
        yield from wrapped(line(f"{SILENT} "), f"{name}, not modelled: {why}", width, Role.DIM)
    if found.open:
        yield from wrapped(line(f"{OPEN} "), "not decided: the search was cut short", width, Role.UNSURE)


def _cells(found: Compared) -> Iterator[tuple[ComparisonQuestion, Column]]:
    """All cells."""
    yield from product(found.comparison.questions, found.comparison.columns)


def evidence(found: Compared, width: int) -> Iterator[Line]:
    """The lines on the searches behind each answer."""
    for question in found.comparison.questions:
        yield ()
        yield from wrapped((), question.text, width, Role.STRONG)
        for column in found.comparison.columns:
            answered = found.answer(question, column)
            piece = cell(answered)
            yield from wrapped(line(f"  {column.name}: "), piece.text, width, piece.role)
            for weighed in _looked_at(answered):
                yield from _weighed(weighed, width)


def _looked_at(answered: AnsweredCell) -> Iterator[Weighed]:
    """The possible answers up to the one given."""
    for weighed in answered.weighed:
        yield weighed
        if weighed.possible.words == answered.words:
            return


def _weighed(weighed: Weighed, width: int) -> Iterator[Line]:
    """The lines on a possible answer, with its searches."""
    for found in weighed.found:
        label = line("    ", SIGNS[found.bearing], f"“{weighed.possible.words}”: ")
        words = f"{check_words(found.asked)}: {found_words(found)} ({' · '.join(extent(found))})"
        yield from wrapped(label, words, width, Role.DIM)


# -------------------------------------------------------------------- other forms


def markdown(found: Compared) -> str:
    """The table in Markdown."""
    columns = found.comparison.columns
    rows = [["", *(column.title for column in columns)], ["---"] * (len(columns) + 1)]
    rows += [
        [question.text, *(cell(found.answer(question, column)).text for column in columns)]
        for question in found.comparison.questions
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def as_csv(found: Compared) -> str:
    """The answers as CSV, a line for each cell; `why` has the reason for a missing answer."""
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["question", "text", "faults", "protocol", "answer", "why", "checks", "states"])
    for question, column in _cells(found):
        answered = found.answer(question, column)
        asked = [each.asked for weighed in _looked_at(answered) for each in weighed.found]
        checks = dict.fromkeys(f"{each.model}:{each.check}" for each in asked)
        values = [answered.words or "", _why(answered), " ".join(checks), answered.states]
        rows.writerow([question.name, question.text, question.faults, column.name, *values])
    return text.getvalue()


def _why(answered: AnsweredCell) -> str:
    """Why a cell has no answer."""
    return answered.cell.silent or ("not decided" if answered.is_open else "")


def as_json(found: Compared) -> Json:
    """The comparison as JSON data, with the searches behind each answer."""
    columns = found.comparison.columns
    return {
        "format": FORMAT,
        "version": VERSION,
        "columns": [{"name": each.name, "title": each.title, "about": each.about} for each in columns],
        "questions": [_question_json(found, each, columns) for each in found.comparison.questions],
        "pairs": [
            {
                "first": first.name,
                "second": second.name,
                "differ": [question.name for question in found.differ(first, second)],
                "apart": None if apart is None else _apart_json(apart),
            }
            for first, second, apart in found.pairs
        ],
        "complete": not found.open,
    }


def _question_json(found: Compared, question: ComparisonQuestion, columns: Sequence[Column]) -> Json:
    """A row as JSON data."""
    answers = {column.name: found.answer(question, column) for column in columns}
    return {
        "name": question.name,
        "text": question.text,
        "faults": question.faults,
        "answers": {name: _answer_json(answered) for name, answered in answers.items()},
    }


def _answer_json(answered: AnsweredCell) -> Json:
    """A cell as JSON data."""
    return {
        "answer": answered.words,
        "why": _why(answered) or None,
        "asked": [
            {
                "answer": weighed.possible.words,
                "found": weighed.bearing.value,
                "checks": [found_json(found) for found in weighed.found],
            }
            for weighed in _looked_at(answered)
        ],
    }


def _apart_json(apart: Apart) -> Json:
    """The runs that separate two columns as JSON data."""
    return {
        "question": apart.question.name,
        "asked_for": apart.words,
        "fails": _side_json(apart.fails),
        "holds": _side_json(apart.holds),
    }


def _side_json(side: Side) -> Json:
    """One side of them as JSON data."""
    asked = side.found.asked
    return {
        "protocol": side.column.name,
        "answer": side.words,
        "check": f"{asked.model}:{asked.check}",
        "property": asked.property,
        "faults": side.run.faults,
        "steps": [step.action for step in side.run.steps],
    }
