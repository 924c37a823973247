"""Every engine, what it promises, and what it leaves out: the one place that says so.

What is not written down as a gap an engine must answer, and what is it must refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any

from modelcheck.contract.engine import Engine
from modelcheck.engines.registry import ENGINES
from modelcheck.engines.registry import engine as engine_of
from modelcheck.explicit.disk.levels import Room
from spec.model.ir import PropertyKind
from spec.model.kinds import OF_FAIR_RUNS, OF_RUNS
from tests.on_disk import OnDisk


class Promise(Enum):
    """How much of an answer must be as the reference engine, or the definition, has it."""

    EVERYTHING = "verdicts, runs by their faults and steps, and all counts"
    RUNS = "the shortest and the cheapest runs among those of few steps"
    TRUTH = "what it says is so; it may say that it does not know"


class Why(Enum):
    """What a gap is."""

    NEVER = "never"  # by what the engine is
    NOT_YET = "not yet"  # it is wanted
    NOT_IMPLEMENTED = "not implemented"  # it could be, and nobody has asked


@dataclass(frozen=True)
class Gap:
    """Something that an engine refuses, and the reason."""

    why: Why
    reason: str


SYMMETRY, CHECKPOINTS = "symmetry", "checkpoints"
Feature = str
"""The kind of a property, that kind `up to symmetry`, symmetry as such, or checkpoints."""


def kind(of: PropertyKind, *, renamed: bool = False) -> Feature:
    """The feature that a kind of properties is."""
    return of.value + " up to symmetry" * renamed


def _each(kinds: frozenset[PropertyKind], gap: Gap, *, renamed: bool = False) -> dict[Feature, Gap]:
    return {kind(of, renamed=renamed): gap for of in kinds}


_RENAMED = Gap(Why.NOT_IMPLEMENTED, "a promise of fairness is of an action of one member: NOTE(alike)")
_CLAIMS = Gap(Why.NEVER, "its questions are about one state or one step, and not about whole runs")
_UNCOUNTED = Gap(Why.NEVER, "it lists no states, of which some could count as one")
_IN_MEMORY = Gap(Why.NOT_YET, "ways back and ways round are looked for in a table of all states")
_UNKEPT = Gap(Why.NOT_IMPLEMENTED, "what a solver has learnt is not written down")
_SOLVER = {
    **_each(OF_RUNS | {PropertyKind.DEADLOCK_FREE}, _CLAIMS),
    SYMMETRY: _UNCOUNTED,
    CHECKPOINTS: _UNKEPT,
}

GAPS: Mapping[str, Mapping[Feature, Gap]] = {
    "reference": {
        CHECKPOINTS: Gap(Why.NEVER, "it is to be plain; what takes long is asked of another engine"),
        **_each(OF_FAIR_RUNS, _RENAMED, renamed=True),
    },
    "explicit": _each(OF_FAIR_RUNS, _RENAMED, renamed=True),
    "spark": {
        **_each(OF_FAIR_RUNS, Gap(Why.NOT_YET, "to look for ways round needs all edges on one machine")),
        CHECKPOINTS: Gap(Why.NEVER, "its run directory is one: --run-dir"),
    },
    "bmc": _SOLVER,
    "induction": _SOLVER,
    "ic3": _SOLVER,
    "prove": _SOLVER
    | {kind(PropertyKind.REACHABLE): Gap(Why.NEVER, "it proves that something is always so")},
}


@dataclass(frozen=True)
class Way:
    """One way to ask an engine: its name, what it promises, and of which models it has no answer.

    Of random models it is asked about one in `every`; of protocols with both questions of each where it is
    asked `widely`, else with the smallest, and not of those that go on from another one, whose model they
    have.  `gaps` are more than those of its engine.  `refused` are models that it cannot express, each by
    which of CONSTRUCTS; `slow` are those that it need not be asked about, each with the reason.
    """

    name: str
    of: str
    promise: Promise
    every: int
    make: Callable[[], Engine]
    options: Mapping[str, Any] = field(default_factory=dict)
    widely: bool = False
    gaps: Mapping[Feature, Gap] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    slow: Mapping[str, str] = field(default_factory=dict)


def _made(name: str, **options: object) -> Callable[[], Engine]:
    return lambda: engine_of(name, **options)


CONSTRUCTS: Mapping[str, Gap] = {
    "a set whose members hold": Gap(Why.NOT_YET, "a set in places needs members of a fixed length"),
    "possible members (more than 256)": Gap(Why.NEVER, "each possible member is a variable of the formula"),
    "of anything but a number from 0 by a fixed one above 0": Gap(Why.NOT_YET, "`/` and `%` below 0"),
}
"""What engines that ask a solver cannot say of a model; their other ways round are in the manual."""

_SLOW = dict.fromkeys(
    (
        "chain",
        "chain, broken",
        "choice_from_nothing_in_a_branch",
        "kafka_fetchers, broken",
        "kafka_isr, broken",
        "raft",
        "raft, broken",
        "multi_paxos",
        "multi_paxos, broken",
        "raft_membership, broken",
        "zab, broken",
    ),
    "to write it for a solver takes longer than to search it",
) | dict.fromkeys(("wide_members", "zab_zookeeper", "raft_ongaro"), "its sets have a hundred members")
_REFUSED = {
    "viewstamped": "possible members",
    "vr_vanlightly": "possible members",
    "bags_in_small_tables": "a set whose members hold",
    "sets_of_two_sizes": "possible members",
}

DEPTH = 3  # steps of the runs that a bounded search looks at
SECONDS = 2.0  # for a question to a solver

WAYS = (
    Way("explicit", "explicit", Promise.EVERYTHING, 1, _made("explicit"), {"threads": 1}, widely=True),
    Way("explicit, two threads", "explicit", Promise.EVERYTHING, 4, _made("explicit"), {"threads": 2}),
    Way(
        "explicit, symmetry",
        "explicit",
        Promise.EVERYTHING,
        2,
        _made("explicit"),
        {"symmetry": True},
        widely=True,
    ),
    Way(
        "spark, in one process", "spark", Promise.EVERYTHING, 4, _made("spark", shards=3, driver_states=None)
    ),
    Way(
        "explicit, on disk",
        "explicit",
        Promise.EVERYTHING,
        4,
        partial(OnDisk, Room(50, 100, 20)),
        gaps=_each(OF_RUNS, _IN_MEMORY),
    ),
    Way("bmc", "bmc", Promise.RUNS, 4, _made("bmc", depth=DEPTH), refused=_REFUSED, slow=_SLOW),
    Way(
        "bmc, fewest faults",
        "bmc",
        Promise.RUNS,
        4,
        _made("bmc", depth=DEPTH, fewest_faults=True),
        refused=_REFUSED,
        slow=_SLOW,
    ),
    Way(
        "induction",
        "induction",
        Promise.TRUTH,
        8,
        _made("induction", depth=2, seconds=SECONDS),
        refused=_REFUSED,
        slow=_SLOW,
    ),
    Way("ic3", "ic3", Promise.TRUTH, 8, _made("ic3"), refused=_REFUSED, slow=_SLOW),
)
UNASKED = {
    "reference": "it is what the others are compared with, and tests/modelcheck/test_reference.py asks it",
    "prove": "it answers of every scope: tests/modelcheck/symbolic/test_unbounded.py compares each proof",
}
assert {way.of for way in WAYS} | UNASKED.keys() == ENGINES.keys() == GAPS.keys()
