"""A sort is left alone where the order of its members could be seen."""

from __future__ import annotations

import pytest

from spec.load import loads
from spec.model.interchangeable import symmetric_sorts

START = """
protocol p
sort A
nat  N
record Pair { n: N, a: A }
state { chosen: A? = none, total: N = 0 }
process A {
  durable n: N = 0
  durable m: N = 0
  durable small: 0..2 = 0
  durable to: A? = none
  durable log: seq[N; N] = []
  durable pairs: set[Pair; N] = {}
}
"""


def rounds(body: str, before: str = "") -> bool:
    """Whether A is interchangeable in a model with such a `for`."""
    (model,) = loads(f"{START} action act(own: A) {{ {before} for a in A {{ {body} }} }}")
    return symmetric_sorts(model) == ("A",)


@pytest.mark.parametrize(
    "body",
    [
        "a.n := 0",
        "a.n := a.n + 1",  # cut, in whatever round
        "a.small := a.small + 1",  # an error, in whatever round
        "a.n := a.n + 1 a.m := a.m + 1",
        "a.log.append(a.n)",
        "a.n := own.m - 1",  # an error in the first round, or none
        "a.small := 2 a.n := a.n + 1",
        "a.pairs.add(Pair(own.n, a))",
        "a.log := a.log[..1]",
        "a.to := own",
    ],
)
def test_rounds_that_end_alike_may_change_places(body: str) -> None:
    assert rounds(body)


@pytest.mark.parametrize(
    "body",
    [
        "chosen := a",  # the last one stays
        "total := total + 1",
        "a.n := total total := 0",
        "own.n := a.n",
        "a.small := 2 - own.small",  # one round writes what the others read
        "if a.n == 0 { a.n := 1 }",
        "a.n := a.n + 1 a.small := a.small + 1",  # cut in one round, an error in another
        "a.n := a.n + 1 a.log := [last(a.log)]",
        "a.log.append(last(a.log))",
        "a.n := a.n - 1",  # below 0 is an error, beyond the scope is cut: a number that may be either
        "a.n := a.n + 1 a.m := own.m - 1",  # an error in all rounds, but behind what may be cut in some
    ],
)
def test_a_sort_is_left_alone_where_the_first_round_to_end_decides(body: str) -> None:
    assert not rounds(body)


def test_an_error_of_every_round_comes_before_what_may_be_cut_in_some() -> None:
    assert rounds("a.m := fresh a.n := a.n + 1", before="let fresh = own.m - 1")
