"""The engines there are, by name; none is imported before it is asked for."""

from __future__ import annotations

from importlib import import_module

from modelcheck.engine import Engine

ENGINES = {
    "bmc": "modelcheck.symbolic.bounded:BoundedSearch",
    "explicit": "modelcheck.explicit.engine:ExplicitEngine",
    "induction": "modelcheck.symbolic.finite.induction:Induction",
    "prove": "modelcheck.symbolic.unbounded.engine:Prover",
    "reference": "modelcheck.reference:ReferenceEngine",
}


def engine(name: str, **options: object) -> Engine:
    """The engine of that name with its own options, loaded now. Raises KeyError when there is none."""
    module, _, attribute = ENGINES[name].partition(":")
    made: Engine = getattr(import_module(module), attribute)(**options)
    return made
