"""The counterexamples that pictures and explanations are judged by, and runs of any length."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

from counterexamples.trace import BadState, Stops, Trace
from modelcheck.api import check
from modelcheck.asking.overrides import Overrides, apply
from modelcheck.contract.result import Violated
from spec.load import load
from spec.meaning.semantics import Machine, Step, Taken
from spec.model.ir import Check, Model

PROTOCOLS = Path(__file__).parent.parent / "spec/protocols"
STORIES = {  # by its name: the file, the check, the property
    "jepsen": ("kafka", "jepsen", "acknowledged_survive"),
    "kip101": ("kafka_followers", "kip101", "acknowledged_survive"),
    "kip279": ("kafka_log", "kip101_two_fast_elections", "weak_isr"),
    "last_replica_standing": ("kafka", "last_replica_standing", "acknowledged_survive"),
    "two_leaders": ("raft", "two_leaders", "election_safety"),
}


@cache
def named(file: str, name: str) -> tuple[Model, Check]:
    """A check of a protocol that comes with the project, and its model."""
    models = load(PROTOCOLS / f"{file}.rsm")
    return next((model, each) for model in models for each in model.checks if each.name == name)


@cache
def story(name: str) -> Trace:
    """The counterexample of that name, by the engine of choice."""
    file, check_, prop = STORIES[name]
    verdict = check(*named(file, check_)).verdict(prop)
    assert isinstance(verdict, Violated)
    assert verdict.trace is not None
    return verdict.trace


def wandering(file: str, name: str, steps: int, seed: int, *scope: str) -> Trace:
    """A random run of that many steps (fewer where nothing can happen), in other bounds if given."""
    model, asked = named(file, name)
    bounds = apply(model, asked, Overrides(scope, ())).scope
    machine, random = Machine(model, bounds), Random(seed)  # noqa: S311 - no secret
    states, taken = [machine.initial()[0]], list[Step]()
    while len(taken) < steps:
        able = [each for each in machine.steps(states[-1]) if isinstance(each, Taken)]
        if not able:
            break
        chosen = random.choice(able)
        states.append(chosen.state)
        taken.append(chosen.step)
    return Trace(model, bounds, tuple(states), tuple(taken), Stops(), None, name)


def ends_badly(trace: Trace, prop: str) -> Trace:
    """The same run, said to break a property at its end."""
    return Trace(trace.model, trace.scope, trace.states, trace.steps, BadState(), prop, trace.check)
