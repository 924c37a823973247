"""Each way to make a term, for every choice of operands: it has the value that plain arithmetic has.

The operands are terms of the forms that are simplified, and all values of a few plain variables are tried.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product, repeat
from typing import NamedTuple

import pytest

from modelcheck.grounding import terms
from modelcheck.grounding.term_values import term_value
from spec.meaning.operators import MOST_BITS


class Variables(NamedTuple):
    """Values of the plain variables."""

    x: int
    y: int
    p: int
    q: int


X, Y, P, Q = ((0, 2), (1, 1), (2, None), (3, None))  # each with the most it may be
EVERY = [Variables(x, y, p, q) for x in range(3) for y in range(2) for p in (0, 1) for q in (0, 1)]
KNOWN: list[dict[terms.GroundTerm, int]] = [{} for _ in EVERY]
TERMS = terms.Terms()


@dataclass(frozen=True, eq=False)
class Operand:
    """A term, how it is written, and its value by plain arithmetic."""

    text: str
    term: terms.GroundTerm
    value: Callable[[Variables], int]

    @cached_property
    def values(self) -> list[int]:
        """Its value for all values of the variables."""
        return [int(self.value(each)) for each in EVERY]


def values_of(term: terms.GroundTerm) -> list[int]:
    """What a term is for all values of the variables."""
    return [term_value(term, each, known) for each, known in zip(EVERY, KNOWN, strict=True)]


@cache
def numbers() -> list[Operand]:
    """Terms that are numbers."""
    x, y, p, q = (TERMS.var(*each) for each in (X, Y, P, Q))
    minus_two, minus_one, zero, one, two, three = (TERMS.number(n) for n in range(-2, 4))
    return [
        Operand("-2", minus_two, lambda _: -2),
        Operand("-1", minus_one, lambda _: -1),
        Operand("0", zero, lambda _: 0),
        Operand("1", one, lambda _: 1),
        Operand("2", two, lambda _: 2),
        Operand("3", three, lambda _: 3),
        Operand("x", x, lambda v: v.x),
        Operand("y", y, lambda v: v.y),
        Operand("x + 1", TERMS.add(x, one), lambda v: v.x + 1),
        Operand("x - 1", TERMS.sub(x, one), lambda v: v.x - 1),
        Operand("x - y", TERMS.sub(x, y), lambda v: v.x - v.y),
        Operand("x + y", TERMS.add(x, y), lambda v: v.x + v.y),
        Operand("x if p else y", TERMS.ite(p, x, y), lambda v: v.x if v.p else v.y),
        Operand("y if p else 2", TERMS.ite(p, y, two), lambda v: v.y if v.p else 2),
        Operand(
            "1 if p else 2 if q else x",
            TERMS.ite(p, one, TERMS.ite(q, two, x)),
            lambda v: 1 if v.p else 2 if v.q else v.x,
        ),
        Operand(
            "1 if p else 2 if q else 1 if x == 2 else y",
            TERMS.ite(p, one, TERMS.ite(q, two, TERMS.ite(TERMS.eq(x, two), one, y))),
            lambda v: 1 if v.p else 2 if v.q else 1 if v.x == 2 else v.y,
        ),
    ]


@cache
def truths() -> list[Operand]:
    """Terms that are true or false."""
    x, y, p, q = (TERMS.var(*each) for each in (X, Y, P, Q))
    is_one, is_two = (TERMS.eq(x, TERMS.number(n)) for n in (1, 2))
    return [
        Operand("true", TERMS.true, lambda _: True),
        Operand("false", TERMS.false, lambda _: False),
        Operand("p", p, lambda v: v.p),
        Operand("not p", TERMS.no(p), lambda v: not v.p),
        Operand("q", q, lambda v: v.q),
        Operand("p and q", TERMS.all((p, q)), lambda v: v.p and v.q),
        Operand("p or q", TERMS.any((p, q)), lambda v: v.p or v.q),
        Operand("x == 1", is_one, lambda v: v.x == 1),
        Operand("x == 2", is_two, lambda v: v.x == 2),
        Operand("x != 2", TERMS.no(is_two), lambda v: v.x != 2),
        Operand("x < y", TERMS.lt(x, y), lambda v: v.x < v.y),
        Operand("q if p else x == 1", TERMS.ite(p, q, is_one), lambda v: v.q if v.p else v.x == 1),
    ]


def naturals() -> list[Operand]:
    """Numbers that are never below 0."""
    return [each for each in numbers() if each.term.lo >= 0]


@dataclass(frozen=True)
class Made:
    """A way to make a term: of what, how, and what it is to mean."""

    operands: tuple[Callable[[], list[Operand]], ...]
    how: Callable[..., terms.GroundTerm]
    meaning: Callable[..., int]


def divided(by: int, sign: terms.Sign) -> Made:
    meaning = operator.floordiv if sign is terms.Sign.DIV else operator.mod
    return Made((naturals,), lambda a: TERMS.divide(a, by, sign), lambda a: meaning(a, by))


def if_(test: int, a: int, b: int) -> int:
    return a if test else b


ONE, TWO, THREE = (truths,), (truths,) * 2, (truths,) * 3
NUMBER, PAIR = (numbers,), (numbers,) * 2
WAYS: Mapping[str, Made] = {
    "not": Made(ONE, TERMS.no, lambda a: not a),
    "not not": Made(ONE, lambda a: TERMS.no(TERMS.no(a)), lambda a: a),
    "both": Made(TWO, TERMS.both, lambda a, b: a and b),
    "implies": Made(TWO, TERMS.implies, lambda a, b: not a or b),
    "all of three": Made(THREE, lambda *each: TERMS.all(each), lambda *each: all(each)),
    "any of three": Made(THREE, lambda *each: TERMS.any(each), lambda *each: any(each)),
    "all of none": Made((), lambda: TERMS.all(()), lambda: True),
    "any of none": Made((), lambda: TERMS.any(()), lambda: False),
    "if, of truth values": Made(THREE, TERMS.ite, if_),
    "if, of numbers": Made((truths, numbers, numbers), TERMS.ite, if_),
    "== of truth values": Made(TWO, TERMS.eq, operator.eq),
    "== of numbers": Made(PAIR, TERMS.eq, operator.eq),
    "< of truth values": Made(TWO, TERMS.lt, operator.lt),
    "< of numbers": Made(PAIR, TERMS.lt, operator.lt),
    "<= of truth values": Made(TWO, TERMS.le, operator.le),
    "<= of numbers": Made(PAIR, TERMS.le, operator.le),
    "is the number 1": Made(NUMBER, lambda a: TERMS.is_number(a, 1), lambda a: a == 1),
    "is the truth value 0": Made(ONE, lambda a: TERMS.is_number(a, 0), lambda a: not a),
    "is the truth value 1": Made(ONE, lambda a: TERMS.is_number(a, 1), lambda a: a),
    "+": Made(PAIR, TERMS.add, operator.add),
    "-": Made(PAIR, TERMS.sub, operator.sub),
    "*": Made(PAIR, TERMS.mul, operator.mul),
    "/ 1": divided(1, terms.Sign.DIV),
    "/ 2": divided(2, terms.Sign.DIV),
    "% 1": divided(1, terms.Sign.MOD),
    "% 2": divided(2, terms.Sign.MOD),
    "% 5": divided(5, terms.Sign.MOD),
    "sum of three": Made((numbers,) * 3, lambda *each: TERMS.sum(each), lambda *each: sum(each)),
    "count": Made(ONE, TERMS.count, lambda a: a),
    "some, of a truth value": Made(ONE, TERMS.some, lambda a: a),
    "some, of a number": Made(NUMBER, TERMS.some, lambda a: a > 0),
}
each_way = pytest.mark.parametrize("way", WAYS)


@pytest.mark.parametrize("operands", [numbers, truths])
def test_the_operands_are_what_they_are_written_as(operands: Callable[[], list[Operand]]) -> None:
    assert [each.text for each in operands() if values_of(each.term) != each.values] == []


def rows(way: str) -> Iterator[tuple[str, terms.GroundTerm, list[int]]]:
    """For each choice of operands what is asked, the term that is made, and what its values should be."""
    made = WAYS[way]
    for operands in product(*(each() for each in made.operands)):
        given = zip(*(each.values for each in operands), strict=True) if operands else repeat(())
        expected = [int(made.meaning(*each)) for _, each in zip(EVERY, given, strict=False)]
        text = f"{way}: {', '.join(each.text for each in operands)}"
        yield text, made.how(*(each.term for each in operands)), expected


@each_way
def test_a_term_has_the_value_that_plain_arithmetic_has(way: str) -> None:
    assert [text for text, term, expected in rows(way) if values_of(term) != expected] == []


@each_way
def test_a_term_is_within_its_bounds(way: str) -> None:
    assert [text for text, term, _ in rows(way) if not within(term, values_of(term))] == []


def within(term: terms.GroundTerm, values: list[int]) -> bool:
    return term.lo <= min(values) <= max(values) <= term.hi


@each_way
def test_a_term_that_is_always_the_same_number_is_that_number(way: str) -> None:
    known = [(text, term) for text, term, _ in rows(way) if term.constant is not None]

    assert [text for text, term in known if term.sign is not terms.Sign.CONST] == []


def choices() -> list[Operand]:
    """Numbers that are chosen by tests."""
    return [each for each in numbers() if each.term.sign is terms.Sign.ITE]


@pytest.mark.parametrize("choice", choices(), ids=lambda each: each.text)
def test_the_cases_of_a_choice_are_its_numbers_in_the_order_of_their_tests(choice: Operand) -> None:
    cases, rest = TERMS.cases(choice.term)
    found = values_of(rest)
    for test, value in reversed(cases):
        found = [value if yes else other for yes, other in zip(values_of(test), found, strict=True)]

    assert found == choice.values


def test_a_product_that_fills_a_memory_is_not_begun() -> None:
    large = TERMS.number(1 << MOST_BITS)

    with pytest.raises(MemoryError):
        TERMS.mul(large, large)


def test_every_part_of_a_term_is_found_once() -> None:
    made = terms.Terms()
    x, p = made.var(*X), made.var(*P)
    both = made.add(x, made.ite(p, x, made.number(5)))
    found = list(terms.subterms([both]))

    assert {*found} == {both, x, p, made.number(5), both.args[1]}
    assert len(found) == 5
    assert {*terms.subterms([both], known=[both.args[1]])} == {both, x}
