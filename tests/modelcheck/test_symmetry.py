"""Symmetry changes counts and nothing else: not the verdicts, faults, steps and errors of the model."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from random import Random

import pytest

import spec.library as library
from counterexamples.trace import Trace
from modelcheck.api import Unsupported, check
from modelcheck.contract.engine import Limits, Task
from modelcheck.contract.families import looked_at
from modelcheck.contract.report import Silent
from modelcheck.contract.result import Holds, Unknown, Verdict, Violated
from modelcheck.contract.wording import verdict_words
from modelcheck.engines.registry import engine as engine_of
from modelcheck.search.interpreted import InterpretedSearch
from modelcheck.search.symmetry import Orbits, neighbours
from spec.diagnostics import SpecError
from spec.load import load, loads
from spec.meaning.semantics import Machine
from spec.model import ir
from spec.model.interchangeable import symmetric_sorts
from spec.model.kinds import OF_FAIR_RUNS
from spec.model.renaming import Renaming
from spec.model.values import ModelError
from tests.agreement import cost
from tests.model_texts import model_text
from tests.protocol_checks import NAMES, PROTOCOLS, by_size, named_check

SMALL = 1500  # states of a check without symmetry
ENOUGH = 4  # checks of a file
FOUND = sorted((Path(__file__).parent / "agreement").glob("*.rsm"))
MODELS = 120  # random ones in each part


def asked(model: ir.Model, given: ir.Check) -> ir.Check | None:
    """The check without what cannot be asked up to symmetry, and without expectations about counts."""
    names = tuple(p.name for p in looked_at(model, given) if p.kind not in OF_FAIR_RUNS)
    return replace(given, only=names, expect=()) if names else None


def told(verdict: Verdict) -> tuple[object, ...]:
    match verdict:
        case Holds(extent, _, example):
            return "holds", extent.faults, length(example)
        case Violated(_, trace):
            return "violated", length(trace)
        case Unknown(reason):
            return "unknown", reason


def facts(model: ir.Model, question: ir.Check, engine: str, *, symmetry: bool, most: int = SMALL) -> object:
    """What must be the same with symmetry and without, errors included; None where it is not known."""
    try:
        found = check(
            model, question, engine=engine, symmetry=symmetry, limits=Limits(states=most), threads=1
        ).findings
    except Unsupported:
        return None
    except ModelError as error:
        return error.code
    if found.end.partial:
        return None
    erred = None if found.error is None else cost(found.error)
    return erred, {each.property: told(each.verdict) for each in found.results}


def length(trace: Trace | None) -> tuple[int, int] | None:
    return None if trace is None else (trace.faults, len(trace.steps))


def test_swaps_of_neighbours_make_every_renaming() -> None:
    waiting: list[Renaming] = [(0, 1, 2, 3)]
    made = set(waiting)
    for each in waiting:
        others = {tuple([each[n] for n in swap]) for swap in neighbours(4)} - made
        made |= others
        waiting.extend(others)

    assert made == set(permutations(range(4)))


@pytest.mark.usefixtures("quickly_compiled")
@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_errors_are_the_same_where_they_once_were_not(path: Path) -> None:
    model = load(path)[0]
    question = asked(model, model.checks[0]) or replace(model.checks[0], only=(), expect=())
    plain = facts(model, question, "reference", symmetry=False, most=2 * SMALL)

    assert plain is not None
    assert plain == facts(model, question, "reference", symmetry=True)
    assert plain == facts(model, question, "explicit", symmetry=False, most=2 * SMALL)
    assert plain == facts(model, question, "explicit", symmetry=True)


@pytest.mark.parametrize("part", range(4))
def test_random_models_say_the_same_with_symmetry(part: int) -> None:
    errors = compared = 0
    for seed in range(part * 1000, part * 1000 + MODELS):
        try:
            (model,) = loads(model_text(Random(seed).randrange))  # noqa: S311 - no secret
        except SpecError:
            continue
        question = asked(model, model.checks[0])
        if question is None or not symmetric_sorts(model):
            continue
        plain = facts(model, question, "reference", symmetry=False)
        if plain is not None:
            compared += 1
            errors += isinstance(plain, tuple) and plain[0] is not None

            assert plain == facts(model, question, "reference", symmetry=True), model.source.text

    assert compared > MODELS / 4
    assert errors > compared / 10


TOKENS = """
protocol tokens

sort Node

process Node { durable has: 0..2 = 0, durable up: bool = true }
state { newest: Node? = none }

action pass_on(a: Node, b: Node) {
  require up:    a.up and b.up
  require other: a != b and newest != a and a.has < 2
  a.has := a.has + 1
  newest  := b
  assert few: b.has < 2 or a.has < 2
}
fault stop(n: Node) {
  require up: n.up
  n.up := false
}

fun given: int = sum n: Node. n.has

step turns: forall n in old(newest). n.up or n == newest
step never_back says "a node that is down gets nothing": forall n: Node. n.up or n.has == old(n.has)
step one_more: did(stop) or old(given) + 1 == given
step alone: forall a: Node where did(stop(a)). exists b: Node where b != a. b.up
step no_error: forall n: Node where n.has == 2 and did(stop(n)). 1 / (2 - old(n.has)) == 0

check three { scope Node = 3  faults <= 3  only ASKED }
check four { scope Node = 4  faults stop <= 2  only ASKED }
"""
OF_STEPS = "few, turns, never_back, one_more, alone"


@pytest.mark.usefixtures("quickly_compiled")
@pytest.mark.parametrize("engine", ["reference", "explicit"])
@pytest.mark.parametrize("number", [0, 1])
def test_properties_of_steps_are_the_same_up_to_symmetry(number: int, engine: str) -> None:
    (model,) = loads(TOKENS.replace("ASKED", OF_STEPS))
    question = model.checks[number]
    plain = check(model, question, engine="reference").findings
    up_to = check(model, question, engine=engine, symmetry=True).findings
    said = {each.property: told(each.verdict) for each in plain.results}

    assert said == {each.property: told(each.verdict) for each in up_to.results}
    assert {text[0] for text in said.values()} == {"holds", "violated"}
    assert up_to.stats.states < plain.stats.states


@pytest.mark.usefixtures("quickly_compiled")
@pytest.mark.parametrize("engine", ["reference", "explicit"])
def test_an_error_while_a_property_of_steps_is_asked_has_a_run_up_to_symmetry(engine: str) -> None:
    (model,) = loads(TOKENS.replace("ASKED", "no_error"))
    plain = check(model, model.checks[0], engine="reference").findings.error
    up_to = check(model, model.checks[0], engine=engine, symmetry=True).findings.error
    assert plain is not None
    assert up_to is not None

    assert cost(up_to) == cost(plain)
    assert up_to.property == "no_error"


NOT_ALIKE = {  # protocols whose members are not interchangeable, and why
    "viewstamped": "its replicas have an order, in a ring",
    "zab": "it empties channels in a `for` in a `for`",
    "kafka_transactions": "an `if` in a `for` decides, whose rounds are not known to be alike",
    "kafka_racks": "each broker of a rack loses what it had not flushed, or a part of it, in a round",
}


def enough(protocol: str) -> list[str]:
    """The smallest checks of a protocol, fewer where its model is another one's."""
    most = ENOUGH if library.goes_on_from(protocol) == protocol else 1
    small = [each for each in by_size(protocol) if each.states <= SMALL]
    return [each.name for each in (small or by_size(protocol)[:1])[:most]]


@pytest.mark.parametrize("protocol", NAMES)
def test_verdicts_faults_and_steps_are_the_same(protocol: str) -> None:
    for name in enough(protocol):
        model, given = named_check(protocol, name)
        assert bool(symmetric_sorts(model)) == (protocol not in NOT_ALIKE)
        question = asked(model, given)
        if question is not None:
            plain, up_to = (check(model, question, symmetry=renamed) for renamed in (False, True))
            said, also = (
                {each.property: told(each.verdict) for each in one.findings.results} for one in (plain, up_to)
            )

            assert said == also, name


def orbits(model: ir.Model, question: ir.Check) -> tuple[int, int]:
    """How many states and orbits there are, by trying every renaming on every state."""
    machine = Machine(model, question.scope)
    task = Task(model, question.scope, ir.Budget(question.budget.total), (), stop_early=False)
    search = InterpretedSearch(task, machine, Silent(), keep_edges=False)
    search.run()
    sorts = symmetric_sorts(model)
    rename = Orbits(machine, sorts)._renamed
    choices = [[(sort, r) for r in permutations(range(len(question.scope.sorts[sort])))] for sort in sorts]
    least = set()
    for number in range(len(search.space)):
        _, state = search.space.node(number)
        least.add(min(machine.encode(rename(state, chosen)) for chosen in product(*choices)))
    return len(search.space), len(least)


@pytest.mark.parametrize(
    ("name", "sizes", "faults"),
    [
        ("kafka.rsm", {"Broker": 3, "Epoch": 2, "Offset": 1, "Record": 1}, 1),
        ("two_phase_commit.rsm", {}, 0),
    ],
)
def test_the_states_are_one_of_each_orbit(name: str, sizes: dict[str, int], faults: int) -> None:
    model = next(model for model in load(PROTOCOLS / name) if model.checks)
    scope = model.checks[0].scope
    sorts = {
        sort: tuple(f"m{number}" for number in range(sizes[sort])) if sort in sizes else members
        for sort, members in scope.sorts.items()
    }
    nats = {nat: sizes.get(nat, limit) for nat, limit in scope.nats.items()}
    scope = ir.Scope(sorts, nats, scope.networks, scope.config)
    question = replace(model.checks[0], scope=scope, budget=ir.Budget(faults))
    states, classes = orbits(model, question)
    task = Task(model, scope, question.budget, (), stop_early=False, symmetry=symmetric_sorts(model))
    search = InterpretedSearch(task, Machine(model, scope), Silent(), keep_edges=False)
    search.run()

    assert len(search.space) == classes
    assert classes < states


def test_too_many_renamings_are_refused_before_they_are_listed() -> None:
    (model,) = loads(
        "protocol crowd\nsort Node\nprocess Node { durable next: Node? = none }\n"
        "check all { scope Node = 64 }\n"
    )

    with pytest.raises(
        Unsupported, match="more than 5,040 renamings of each state, since it relates members"
    ):
        check(model, model.checks[0], engine="explicit", symmetry=True)


@pytest.mark.parametrize(
    ("engine", "options"),
    [("reference", {}), ("explicit", {}), ("spark", {"shards": 3, "driver_states": None})],
)
def test_states_from_which_only_the_edge_leads_on_are_told_as_orbits(
    engine: str, options: dict[str, int]
) -> None:
    (model,) = load(Path(__file__).parent / "agreement" / "beyond_up_to_renaming.rsm")
    said = {}
    for renamed in (False, True):
        found = check(model, model.checks[0], engine=engine_of(engine, **options), symmetry=renamed)
        said[renamed] = verdict_words(model, found.result("late"))

    assert said == {
        False: "holds, within the scope; from 16 states the only way leaves it",
        True: "holds, within the scope; from 8 states up to renaming Node the only way leaves it",
    }
