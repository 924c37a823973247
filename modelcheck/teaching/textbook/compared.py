"""Protocols, compared: the answer of each to each question, and where two of them differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from counterexamples.trace import Trace
from modelcheck.asking.crew import Crew
from modelcheck.asking.sweep import Orders
from modelcheck.contract.report import Reporter
from modelcheck.teaching.textbook.asked import Bearing
from modelcheck.teaching.textbook.comparison import (
    Column,
    Comparison,
    ComparisonCell,
    ComparisonQuestion,
    Possible,
)
from modelcheck.teaching.textbook.searched import Known, SearchedCheck, found_of, searched
from spec.frozen import frozen


@frozen
class Weighed:
    """A possible answer with the results of its questions."""

    possible: Possible
    found: tuple[SearchedCheck, ...]

    @property
    def bearing(self) -> Bearing:
        """Whether the answer is supported by all results, or refuted by one."""
        bearings = {each.bearing for each in self.found}
        return next((each for each in (Bearing.AGAINST, Bearing.OPEN) if each in bearings), Bearing.FOR)


@frozen
class AnsweredCell:
    """A cell of the comparison with the results for each possible answer."""

    cell: ComparisonCell
    weighed: tuple[Weighed, ...]

    @property
    def words(self) -> str | None:
        """The first supported answer, if all before it are refuted; None if one is open."""
        if self.cell.silent:
            return None
        for each in self.weighed:
            match each.bearing:
                case Bearing.FOR:
                    return each.possible.words
                case Bearing.OPEN:
                    return None
                case Bearing.AGAINST:
                    pass
        return self.cell.otherwise

    @property
    def is_open(self) -> bool:
        """Whether the answer is unknown although the model has one."""
        return self.words is None and not self.cell.silent

    def of(self, words: str) -> Weighed | None:
        """The results for an answer."""
        return next((each for each in self.weighed if each.possible.words == words), None)

    @property
    def states(self) -> int:
        """The number of states visited, each search counted once."""
        found = [one for each in self.weighed for one in each.found]
        outcomes = {each.asked.place(): each.outcome for each in found if each.outcome is not None}
        return sum(outcome.findings.stats.states for outcome in outcomes.values())


@frozen
class Side:
    """One of two columns that differ: its answer, and the run that shows it."""

    column: Column
    words: str
    found: SearchedCheck
    run: Trace


@frozen
class Apart:
    """A question that separates two columns: a run refutes `words` in one and supports it in the other."""

    question: ComparisonQuestion
    words: str
    fails: Side
    holds: Side


@frozen
class Compared:
    """All answers, by question and column."""

    comparison: Comparison
    answers: Mapping[tuple[str, str], AnsweredCell]

    def answer(self, question: ComparisonQuestion, column: Column) -> AnsweredCell:
        """The answer of a column to a question."""
        return self.answers[question.name, column.name]

    @property
    def open(self) -> int:
        """The number of unknown answers."""
        return sum(each.is_open for each in self.answers.values())

    @property
    def pairs(self) -> Iterator[tuple[Column, Column, Apart | None]]:
        """Every two columns with the cheapest runs that separate them, if any."""
        for first, second in combinations(self.comparison.columns, 2):
            found = [*self._apart(first, second), *self._apart(second, first)]
            order = list(self.comparison.questions)
            yield (
                first,
                second,
                min(
                    found,
                    key=lambda each: (
                        each.fails.run.faults,
                        len(each.fails.run.steps),
                        order.index(each.question),
                    ),
                    default=None,
                ),
            )

    def differ(self, first: Column, second: Column) -> list[ComparisonQuestion]:
        """The questions that two columns answer differently."""
        return [
            question
            for question in self.both(first, second)
            if self.answer(question, first).words != self.answer(question, second).words
        ]

    def both(self, first: Column, second: Column) -> list[ComparisonQuestion]:
        """The questions that two columns answer."""
        return [
            question
            for question in self.comparison.questions
            if None not in {self.answer(question, each).words for each in (first, second)}
        ]

    def _apart(self, fails: Column, holds: Column) -> Iterator[Apart]:
        """The questions that runs separate: false in one column and true in the other."""
        for question in self.differ(fails, holds):
            here, there = self.answer(question, fails), self.answer(question, holds)
            words = there.words or ""
            good, bad = there.of(words), here.of(words)
            if good is None or bad is None or here.words is None:
                continue
            broken = ((found, found.run) for found in bad.found if found.bearing is Bearing.AGAINST)
            runs = [(found, run) for found, run in broken if run is not None]
            shown = [(found, run) for found in good.found if (run := found.example) is not None]
            if runs and shown:
                yield Apart(question, words, Side(fails, here.words, *runs[0]), Side(holds, words, *shown[0]))


def compared(
    asked: Comparison, orders: Orders, *, crew: Crew | None = None, reporter: Reporter | None = None
) -> Compared:
    """The answers of all columns; after an interrupt those known by then.

    Costs a search for each check that is asked about, on all cores: some seconds for all of it.
    """
    none: Known = {}
    *_, known = none, *searched(asked.asked, orders, crew=crew, reporter=reporter)
    return Compared(
        asked,
        {
            (question.name, column.name): _answered(question.cells[column.name], known)
            for question in asked.questions
            for column in asked.columns
        },
    )


def _answered(cell: ComparisonCell, known: Known) -> AnsweredCell:
    """A cell with its results."""
    return AnsweredCell(
        cell,
        tuple(Weighed(each, tuple(found_of(asked, known) for asked in each.asked)) for each in cell.possible),
    )
