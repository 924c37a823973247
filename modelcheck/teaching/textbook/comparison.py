"""The same questions to several protocols, and what decides them: `spec/protocols/comparison*.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from modelcheck.asking.overrides import Overrides
from modelcheck.teaching.textbook.asked import PropertyQuestion
from spec.frozen import frozen
from spec.library import goes_on_from
from spec.reading import resource


@frozen
class Column:
    """A column of the comparison: a protocol with settings that `about` describes."""

    name: str
    title: str
    about: str


@frozen
class Possible:
    """A possible answer in words, with the questions that support it."""

    words: str
    asked: tuple[PropertyQuestion, ...]


@frozen
class ComparisonCell:
    """The possible answers to a question: the first supported one counts, else `otherwise`.

    Where nothing can be asked of it, `silent` is why.
    """

    possible: tuple[Possible, ...] = ()
    otherwise: str = ""
    silent: str = ""


@frozen
class ComparisonQuestion:
    """A row of the comparison; `source` is where the answer is published."""

    name: str
    text: str
    faults: int
    cells: Mapping[str, ComparisonCell]


@frozen
class Comparison:
    """The columns and questions in the order of the file."""

    columns: tuple[Column, ...]
    questions: tuple[ComparisonQuestion, ...]

    def of(self, names: Sequence[str], faults: int) -> Comparison:
        """The comparison with only some columns, and questions up to a number of faults."""
        by_name = {column.name: column for column in self.columns}
        kept = tuple(question for question in self.questions if question.faults <= faults)
        return Comparison(tuple(by_name[name] for name in names), kept)

    @property
    def asked(self) -> Iterator[PropertyQuestion]:
        """All questions to search."""
        for question in self.questions:
            for column in self.columns:
                for possible in question.cells[column.name].possible:
                    yield from possible.asked

    @property
    def most_faults(self) -> int:
        """The greatest number of faults in the questions."""
        return max((question.faults for question in self.questions), default=0)


def comparison() -> Comparison:
    """The comparison of textbook protocols. Raises KeyError or ValueError for an invalid entry."""
    return _read("comparison.toml")


def comparison_of_settings() -> Comparison:
    """The comparison of systems that settings decide. Raises KeyError or ValueError for an invalid entry."""
    return _read("comparison_of_settings.toml")


def _read(file: str) -> Comparison:
    """The comparison in a file."""
    data = tomllib.loads(resource("spec", "protocols", file))
    return Comparison(
        tuple(Column(each["name"], each["title"], each["about"]) for each in data["column"]),
        tuple(_question(entry, data["column"]) for entry in data["question"]),
    )


def _question(entry: Mapping[str, Any], columns: Sequence[Mapping[str, Any]]) -> ComparisonQuestion:
    """The question of one entry of `comparison.toml`, with a cell for each of its columns.

    A column without a cell of its own has that of the column it is `like`.
    """
    given = {cell["of"]: _cell(cell) for cell in entry["cell"]}
    cells = {}
    for column in columns:
        name, like = column["name"], column.get("like", "")
        cells[name] = given[name] if name in given else _like(given[like], like, column["config"])
    if unknown := given.keys() - cells.keys():
        raise ValueError(f"{entry['name']}: no column is called {', '.join(sorted(unknown))}")
    return ComparisonQuestion(entry["name"], entry["text"], entry["faults"], cells)


def _like(cell: ComparisonCell, model: str, config: Sequence[str]) -> ComparisonCell:
    """The cell of another column, with other settings."""

    def set_(asked: PropertyQuestion) -> PropertyQuestion:
        settings = replace(asked.settings, config=(*asked.settings.config, *config))
        return replace(asked, settings=settings) if goes_on_from(asked.model) == model else asked

    possible = tuple(Possible(each.words, tuple(map(set_, each.asked))) for each in cell.possible)
    return replace(cell, possible=possible)


def _cell(entry: Mapping[str, Any]) -> ComparisonCell:
    """The cell in an entry of the file."""
    if "silent" in entry:
        return ComparisonCell(silent=entry["silent"])
    possible = tuple(Possible(each["words"], tuple(_asked(entry, each))) for each in entry["possible"])
    return ComparisonCell(possible, entry["otherwise"])


def _asked(cell: Mapping[str, Any], possible: Mapping[str, Any]) -> Iterator[PropertyQuestion]:
    """The questions of a possible answer."""
    entry = {**cell, **possible}
    settings = Overrides(
        scope=(*cell.get("scope", ()), *possible.get("scope", ())),
        config=(*cell.get("config", ()), *possible.get("config", ())),
        faults=entry.get("faults"),
    )
    for must, names in (("hold", entry.get("holds", ())), ("fail", entry.get("fails", ()))):
        for name in names:
            yield PropertyQuestion(entry["model"], entry["check"], name, must, settings)
    for each in possible.get("also", ()):
        yield from _asked({"model": entry["model"], "check": entry["check"]}, each)
