"""The engines by name; each is imported at its first use."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import nullcontext
from importlib import import_module
from typing import Any

from modelcheck.contract.engine import Engine, Task
from modelcheck.engines.extras import needing
from modelcheck.search.simulate import RandomRuns, Samples
from spec.meaning.semantics import State

ENGINES = {
    "bmc": "modelcheck.symbolic.bounded:BoundedSearch",
    "explicit": "modelcheck.explicit.engine:ExplicitEngine",
    "ic3": "modelcheck.symbolic.finite.ic3:Reachability",
    "induction": "modelcheck.symbolic.finite.induction:Induction",
    "prove": "modelcheck.symbolic.unbounded.engine:Prover",
    "reference": "modelcheck.search.reference:ReferenceEngine",
    "spark": "spark_explore.engine:SparkEngine",
}
SAMPLER = "modelcheck.explicit.sampler:sampler"  # compiled random runs
EXTRAS = {"spark"}  # what these need is installed by their names: modelcheck[spark]


def engine(name: str, **options: object) -> Engine:
    """The engine with a name and options, imported on demand. Raises CannotStart.

    Raises KeyError when there is none, and CannotStart when what it needs is not installed.
    """
    made: Engine = loaded(name, ENGINES[name])(**options)
    return made


def random_runs(runs: int, seed: int, depth: int, weights: Mapping[str, int]) -> RandomRuns:
    """The engine that takes random runs, in compiled code once there are many."""

    def sampler(wish: RandomRuns, task: Task, starts: Collection[State]) -> Samples | None:
        made: Samples | None = loaded("simulate", SAMPLER)(wish, task, starts)
        return made

    return RandomRuns(runs, seed, depth, weights, sampler)


def loaded(name: str, where: str) -> Any:  # noqa: ANN401 - whatever it is
    """An object of a module, `where` being MODULE:NAME. Raises CannotStart as `engine` does."""
    module, _, attribute = where.partition(":")
    with needing(name, f"the engine {name}") if name in EXTRAS else nullcontext():
        return getattr(import_module(module), attribute)
