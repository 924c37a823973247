"""Every engine answers every question as the reference engine does, as far as it promises, or refuses it.

What it refuses is a gap that `engines.py` declares.  A failure names the engine and the model, and for a
random one its seed is in the name of the test.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import spec.library as library
from modelcheck.api import Unmet, check, task_of
from modelcheck.contract.engine import Limits
from modelcheck.contract.result import End
from spec.model.interchangeable import symmetric_sorts
from spec.model.ir import Budget, Check, Model
from spec.model.values import ModelError
from tests.agreement import Found, cost, differences, found_by, orbits
from tests.conformance.engines import CONSTRUCTS, DEPTH, GAPS, WAYS, Promise, Way, kind
from tests.conformance.questions import SEED, WRITTEN, of_protocol, question
from tests.modelcheck.symbolic.proved import wrong
from tests.plain_search import Plain, shown
from tests.protocol_checks import NAMES

RANDOM = 160  # models
APART = 1000  # seeds between two of them
QUICK = 8  # one in so many is among the quick tests
PATIENCE = Limits(seconds=2)  # with engines that may take for ever

pytestmark = pytest.mark.usefixtures("quickly_compiled")


def asked_of(way: Way, model: Model, asked: Check) -> Check:
    """The check without the kinds of properties that are gaps of an engine."""
    renamed = is_renamed(way)
    gaps = GAPS[way.of].keys() | way.gaps.keys()
    names = [p.name for p in model.properties if asked.only is None or p.name in asked.only]
    kinds = {name: model.property(name).kind for name in names}
    only = (
        name for name in names if gaps.isdisjoint({kind(kinds[name]), kind(kinds[name], renamed=renamed)})
    )
    return replace(asked, only=tuple(only))


def has_sorts(name: str) -> bool:
    """Whether a file has members that may be interchangeable: as it is written, so that none is loaded."""
    return re.search(r"^sort\b", WRITTEN[name].read_text(encoding="utf-8"), re.MULTILINE) is not None


def is_renamed(way: Way) -> bool:
    return "symmetry" in way.options


def pairs() -> Iterator[tuple[str, Way]]:
    """Each question with each way to ask it; those of one model stand together."""
    for protocol in NAMES:
        own = library.goes_on_from(protocol) == protocol
        for n, name in enumerate(of_protocol(protocol)):
            narrow = own and n == 0
            yield from ((name, way) for way in WAYS if name not in way.slow and (way.widely or narrow))
    for name in WRITTEN:
        plain = not has_sorts(name)
        yield from ((name, way) for way in WAYS if name not in way.slow and not (plain and is_renamed(way)))
    for number in range(1, RANDOM + 1):
        yield from ((f"{SEED}{number * APART}", way) for way in WAYS if number % way.every == 0)


def is_one_of_many(name: str, way: Way) -> bool:
    """Whether others say nearly the same: quick are files of the tests, and one way to ask some others."""
    if name.startswith(SEED):
        return int(name.removeprefix(SEED)) // APART % QUICK != 0
    return name not in WRITTEN and way is not WAYS[0]


PAIRS = [
    pytest.param(
        name, way,
        id=f"{name}-{way.name}",
        marks=[pytest.mark.one_of_many] if is_one_of_many(name, way) else [],
    )
    for name, way in pairs()
]  # fmt: skip


@pytest.mark.grid
@pytest.mark.parametrize(("name", "way"), PAIRS)
def test_an_engine_answers_as_it_promises(name: str, way: Way) -> None:
    model, whole = question(name)
    asked = asked_of(way, model, whole)
    if is_refused(way, model, asked, name):
        return
    if way.promise is Promise.EVERYTHING:
        assert different(way, model, asked, name) == {}, model.source.text
    elif way.promise is Promise.RUNS:
        assert other_runs(way, model, asked, name) == {}, model.source.text
    else:
        assert untrue(way, model, asked, name) == [], model.source.text


def is_refused(way: Way, model: Model, asked: Check, name: str) -> bool:
    """Whether the model is one that an engine cannot express, as is declared."""
    try:
        refusals = way.make().refusals(task_of(model, asked, symmetry=is_renamed(way)))
    except ModelError:  # it cannot start, which the engine answers
        return False
    told = [each.what for each in refusals]
    assert all(any(words in what for words in CONSTRUCTS) for what in told), told
    if not name.startswith(SEED):
        assert (
            [way.refused[name] in what for what in told] == [True] * len(told)
            if told
            else name not in way.refused
        )
    return bool(told)


@cache
def measure(name: str, only: tuple[str, ...] | None, *, symmetry: bool) -> Found:
    """What the reference engine finds: asked once, and every engine is compared with it."""
    model, asked = question(name)
    found = found_by(model, replace(asked, only=only), "reference", symmetry=symmetry)
    assert found is not None
    return found


def answer(way: Way, model: Model, asked: Check, **options: Any) -> Found:  # noqa: ANN401
    """What an engine finds; that it refuses is a failure, which no gap explains."""
    try:
        every = {**way.options, **options, "with_witnesses": True}
        return Found(check(model, asked, engine=way.make(), **every).findings)
    except Unmet as unmet:
        return Found(None, str(unmet))
    except ModelError as error:
        return Found(None, error.code)


def different(way: Way, model: Model, asked: Check, name: str) -> dict[str, Any]:
    """Where anything differs.

    With symmetry, how much of an erring state was seen depends on which state stands for its orbit.
    """
    if is_renamed(way) and not symmetric_sorts(model):
        return {}
    symmetry = is_renamed(way)
    known, found = measure(name, asked.only, symmetry=symmetry), answer(way, model, asked)
    a, b = known.facts, found.facts
    if symmetry and known.findings is not None and known.findings.error is not None:
        a, b = ({fact: facts.get(fact) for fact in ("end", "error", "refused")} for facts in (a, b))
    return differences(a, b)


@cache
def plain(name: str, only: tuple[str, ...] | None) -> Plain | None:
    """All runs of few steps; None where these are too many."""
    model, asked = question(name)
    found = Plain(model, replace(asked, only=only), DEPTH)
    return found if found.search() else None


def other_runs(way: Way, model: Model, asked: Check, name: str) -> dict[str, Any]:
    """The runs shown whose length and faults are not those of the best ones, by property; "" is an error."""
    by_faults = way.name.endswith("faults")
    if measure(name, asked.only, symmetry=False).findings is None or not asked.only:
        return {}
    known = plain(name, asked.only)
    if known is None:
        return {}
    found = answer(way, model, asked).findings
    assert found is not None

    def order(each: tuple[int, int]) -> tuple[int, int]:
        return each[::-1] if by_faults else each

    if "" not in known.shown:
        expected = {each: min(costs, key=order) for each, costs in known.shown.items()}
        return differences(expected, {each: cost(trace)[::-1] for each, trace in shown(found).items()})
    if (
        found.end is End.DECIDED
    ):  # before it came to an error; what else is true depends on the order of looking
        return {}
    error = None if found.error is None else cost(found.error)[::-1]
    return differences({"": min(known.shown[""], key=order)}, {"": error})


def untrue(way: Way, model: Model, asked: Check, name: str) -> list[str]:
    """What is said and is not so."""
    known = measure(name, asked.only, symmetry=False).findings
    found = answer(way, model, replace(asked, expect=()), limits=PATIENCE).findings
    return [] if known is None or found is None else list(wrong(known, found))


WITHOUT_FAULTS_TOO = (  # files whose states without faults are few, and make no error
    "bags_in_small_tables empty_is_not_none end_that_is_allowed error_before_a_broken_step "
    "error_in_reachable fields_of_the_best messages_of_one_union natural "
    "option_that_a_function_gives other_case set_in_a_network two_sorts wiped_option tiny toy"
).split()


@pytest.mark.parametrize(
    "name", [*WITHOUT_FAULTS_TOO, *(f"{SEED}{number * APART}" for number in range(4, RANDOM, 8))]
)
def test_states_up_to_symmetry_are_counted_as_trying_every_renaming_does(name: str) -> None:
    model, asked = question(name)
    quiet = replace(asked, budget=Budget(0), only=(), expect=())
    try:
        expected = orbits(model, quiet, most=300)
    except ModelError:
        assert name.startswith(SEED)
        return
    for engine in ("reference", "explicit"):
        found = check(model, quiet, engine=engine, symmetry=True).findings

        assert expected in {None, found.stats.states}
