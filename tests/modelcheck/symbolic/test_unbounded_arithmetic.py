"""Quorums by their sizes: laws for every n, and the same counted over real sets for small ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import pytest

from modelcheck.symbolic.process import ProcessAnswer, programs
from modelcheck.symbolic.unbounded.arithmetic import LAWS, Law

MOST = 6  # members, for counting
OFF_BY_ONE = {
    "quorums_meet": ("(> (+ w r) n)", "(>= (+ w r) n)"),
    "majorities_meet": ("(>= both 1)", "(>= both 2)"),
    "majority_needs_2f_plus_1": ("(+ (* 2 f) 1)", "(* 2 f)"),
    "isr_needs_f_plus_1": ("(+ f 1)", "f"),
    "same_acknowledgements": ("(- q 1) f)", "q f)"),
}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_law_is_true_for_every_number(law: Law) -> None:
    assert [law.proved(program) for program in programs()] == [ProcessAnswer.UNSAT] * len(programs())


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_law_that_is_off_by_one_is_false(law: Law) -> None:
    old, new = OFF_BY_ONE[law.name]
    wrong = replace(law, then=law.then.replace(old, new))

    assert wrong != law
    assert wrong.proved(programs()[0]) is ProcessAnswer.SAT


def quorums(n: int, least: int) -> list[frozenset[int]]:
    """Every set of at least so many of n members."""
    return [frozenset(chosen) for size in range(least, n + 1) for chosen in combinations(range(n), size)]


@pytest.mark.parametrize("n", range(1, MOST + 1))
def test_quorums_meet_exactly_when_their_sizes_exceed_n(n: int) -> None:
    for w, r in product(range(n + 1), repeat=2):
        meet = all(a & b for a in quorums(n, w) for b in quorums(n, r))

        assert meet == (w + r > n)


@pytest.mark.parametrize("n", range(1, MOST + 1))
def test_what_a_proof_assumes_of_sizes_is_true_of_sets(n: int) -> None:
    sets = quorums(n, 0)
    for a, b in product(sets, repeat=2):
        assert len(a) + len(b) <= n or a & b
        assert not a <= b or len(a) <= len(b)
        assert len(b - a) != 1 or not a < b or len(b) == len(a) + 1


@pytest.mark.parametrize("failures", range(4))
def test_the_smallest_cluster_that_tolerates_failures(failures: int) -> None:
    def has_majority(n: int) -> bool:
        return any(all(2 * size > n for size in [q]) and q <= n - failures for q in range(n + 1))

    def keeps_a_copy(n: int) -> bool:
        return any(copies - failures >= 1 for copies in range(n + 1))

    assert min(n for n in range(1, 20) if has_majority(n)) == 2 * failures + 1
    assert min(n for n in range(1, 20) if keeps_a_copy(n)) == failures + 1
