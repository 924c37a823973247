"""Runs are named by the parts that members play: whoever leads first has the first name."""

from __future__ import annotations

from itertools import permutations

import pytest

from counterexamples.certify import certify
from counterexamples.pictures.depict import picture
from counterexamples.trace import Trace
from modelcheck.search.first_names import RenamedRun, other_names, with_first_names
from spec.model.interchangeable import symmetric_sorts
from tests.stories import STORIES, story


def renamings(trace: Trace) -> list[Trace]:
    """The run under all other names of its replicas."""
    (sort,) = (name for name in ("Broker", "Replica", "Server") if name in symmetric_sorts(trace.model))
    others = permutations(range(len(trace.scope.sorts[sort])))
    return [RenamedRun(trace.model, sort, names).trace(trace) for names in others]


@pytest.mark.parametrize("name", STORIES)
def test_a_run_under_any_names_is_the_same_run(name: str) -> None:
    found = renamings(story(name))

    assert len({(each.states, each.steps) for each in found}) == len(found)
    for each in found:
        certify(each)

        assert with_first_names(each) == story(name)


@pytest.mark.parametrize("name", STORIES)
def test_who_leads_first_has_the_first_name(name: str) -> None:
    rows = picture(story(name)).rows
    leaders = [[lane for lane, each in row.replicas.items() if each.leads] for row in rows]

    assert next(filter(None, leaders)) == [next(iter(rows[0].replicas))]


def test_it_is_told_which_names_change() -> None:
    trace = story("two_leaders")
    other = RenamedRun(trace.model, "Server", (2, 0, 1)).trace(trace)

    assert other_names(trace) == ()
    assert other_names(other) == (("server1", "server2"), ("server2", "server3"), ("server3", "server1"))
