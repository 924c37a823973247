"""No answer of the library is taken back by a larger scope, unless its check says so."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

import spec.library as library
from modelcheck.asking.models import pick_checks
from modelcheck.asking.next_scope.search import NextScopeRow, NextScopeSearch
from modelcheck.asking.next_scope.text import exit_of
from modelcheck.contract.engine import Limits
from modelcheck.contract.exits import Exit
from spec.load import loads
from tests.fuzz.of_sweeps import Here
from tests.protocol_checks import by_size
from tools.protocol_scopes import CHANGES, asked_larger, digest, larger_words
from tools.protocol_table import FILE, of_check, read

TEXT = FILE.read_text(encoding="utf-8")
TABLES = read(TEXT)
SMALLEST = 3  # checks of a protocol that are asked again here: those that most likely look too little
LIMITS = Limits(
    states=20_000
)  # of a search, which then takes a tenth of a second, nearly all of it to compile


@cache
def exact(name: str) -> dict[str, tuple[str, ...]]:
    """The exact bounds of the checks of a protocol."""
    return {check.name: check.exact for _, check in pick_checks(loads(library.text(name), name), [])}


def cell(name: str, check: str) -> str:
    """What the page says of a check at larger scopes."""
    return of_check(TABLES[name], check)[0].larger


@pytest.mark.parametrize("name", library.names())
def test_the_page_tells_of_larger_scopes_of_the_text_as_it_is(name: str) -> None:
    again = f"python -m tools.protocol_table {name}"

    assert asked_larger(TEXT)[name].digest == digest(name), f"its text has changed: {again}"


def test_comments_texts_and_layout_do_not_change_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    before, text = digest("kisr"), library.text("kisr")
    monkeypatch.setattr(
        library, "text", lambda _: text.replace("\n  ", "\n \t").replace(" {\n", " {  // here\n")
    )
    same = digest("kisr")
    monkeypatch.setattr(library, "text", lambda _: text.replace("Epoch = 2", "Epoch = 3"))

    assert same == before
    assert digest("kisr") != before


def test_no_answer_changes_that_is_not_declared() -> None:
    changing = [(name, row.check) for name, table in TABLES.items() for row in table if CHANGES in row.larger]

    assert changing == []


@pytest.mark.one_of_many
@pytest.mark.parametrize("name", library.names())
def test_the_page_says_which_bounds_are_exact(name: str) -> None:
    for check, names in exact(name).items():
        assert all(f"`{each}`" in cell(name, check).partition("; ")[2] for each in names), check
        assert ("exact" in cell(name, check)) == bool(names), check


def asked_again(name: str) -> Iterator[NextScopeRow]:
    """The smallest checks of a protocol at larger scopes."""
    smallest = [each.name for each in by_size(name, least=0)[:SMALLEST]]
    asking = NextScopeSearch(pick_checks(loads(library.text(name), name), smallest))
    yield from (row for _, row in asking.rows(LIMITS))


@pytest.mark.grid
@pytest.mark.one_of_many
@pytest.mark.parametrize("name", library.names())
def test_the_smallest_checks_keep_their_answers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelcheck.asking.next_scope.search.Workers", Here)
    for row in asked_again(name):
        found = larger_words(row)
        confirmed, written = found.partition("; ")[0], cell(name, row.check.name)

        assert exit_of(row, strict=True) is not Exit.VIOLATED, row.check.name
        assert confirmed in {written.partition("; ")[0], "–"} or row.unfinished, row.check.name
