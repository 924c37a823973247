"""What is written as formulas grows no faster than what was said: counted, since machines differ in speed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from modelcheck.grounding.machine import GroundMachine, grounded
from modelcheck.grounding.shapes import Shapes, number
from modelcheck.grounding.term_values import term_value
from modelcheck.grounding.terms import GroundTerm, Terms
from spec.load import loads
from spec.model.ir import Scope
from tests.stories import named


class Counting(Terms):
    """Terms that count how often one is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def ite(self, test: GroundTerm, a: GroundTerm, b: GroundTerm) -> GroundTerm:
        self.asked += 1
        return super().ite(test, a, b)

    def eq(self, a: GroundTerm, b: GroundTerm) -> GroundTerm:
        self.asked += 1
        return super().eq(a, b)


def nested(terms: Terms, depth: int, first: int) -> GroundTerm:
    """Choices of which each leads to the one before in two ways."""
    found = terms.var(first, 9)
    for n in range(depth):
        tests = [terms.var(100 + 3 * n + m, None) for m in range(3)]
        other = terms.var(first + 1 + n, 9)
        ways = [terms.ite(test, found, other) for test in tests[1:]]
        found = terms.ite(tests[0], *ways)
    return found


def equal_choices(terms: Terms, shapes: Shapes, size: int) -> None:
    terms.eq(nested(terms, size, 1000), nested(terms, size, 2000))


def first_true(terms: Terms, size: int) -> GroundTerm:
    """The number of the first test that is true."""
    found = terms.number(size)
    for n in reversed(range(size)):
        found = terms.ite(terms.var(n, None), terms.number(n), found)
    return found


def equal_number(terms: Terms, shapes: Shapes, size: int) -> None:
    terms.eq(first_true(terms, size), terms.number(size // 2))


def picked(terms: Terms, shapes: Shapes, size: int) -> None:
    shapes.pick(
        terms.add(first_true(terms, size), terms.number(1)), [terms.var(100 + n, 3) for n in range(size)]
    )


@pytest.mark.parametrize("write", [equal_choices, equal_number, picked])
def test_twice_as_many_choices_are_twice_the_work(write: Callable[[Terms, Shapes, int], None]) -> None:
    asked = []
    for size in (7, 14):
        terms = Counting()
        write(terms, Shapes(terms, Scope({}, {}, {}, {})), size)
        asked.append(terms.asked)

    assert asked[1] <= 2.5 * asked[0]


def test_an_index_chosen_by_tests_picks_what_it_says() -> None:
    terms = Terms()
    options = [terms.number(n) for n in (5, 6, 7, 8)]
    found = number(Shapes(terms, Scope({}, {}, {}, {})).pick(first_true(terms, 3), options))

    assert [term_value(found, values) for values in [(1, 1, 0), (0, 1, 1), (0, 0, 1), (0, 0, 0)]] == [
        5,
        6,
        7,
        8,
    ]


@pytest.mark.parametrize("value", range(4))
def test_a_choice_among_numbers_is_a_number_where_its_tests_say_so(value: int) -> None:
    terms = Terms()
    is_it = terms.eq(first_true(terms, 3), terms.number(value))
    every = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]

    assert [term_value(is_it, each) for each in every] == [
        int(([*each, 1].index(1)) == value) for each in every
    ]


ROW = """
protocol row
sort Server
state { row: seq[Server; LIMIT] = [] }
fun place(s: Server): int = the({i in 0..size(row) - 1 where row[i] == s})
action add(s: Server) { require new: s not in row
  require room: size(row) < 2
  row.append(s) }
action remove(s in row) { row := row[..place(s)] + row[place(s) + 1..] }
invariant few: forall s in row. size(row) <= 2
check it { scope Server = 2 }
"""


def row(limit: int) -> GroundMachine:
    (model,) = loads(ROW.replace("LIMIT", str(limit)))
    return grounded(model, model.checks[0], for_solver=True)


def test_a_member_of_a_sequence_is_one_step_wherever_it_stands() -> None:
    assert [rule.name for rule in row(8).rules] == [
        "add(server1)",
        "add(server2)",
        "remove(server1)",
        "remove(server2)",
    ]


def test_a_sequence_with_a_gap_closed_is_written_in_as_many_terms_as_places_times_places() -> None:
    small, large = (len(row(limit).terms) for limit in (16, 32))

    assert large <= 4.5 * small


def test_servers_in_a_row_of_up_to_64_are_written_in_some_thousand_terms() -> None:
    """Before, a place in the row was compared with each place anew, for each server in each: minutes."""
    assert len(grounded(*named("chain", "head_replies"), for_solver=True, in_places=True).terms) < 40_000
