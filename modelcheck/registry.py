"""The engines there are, by name; none is imported before it is asked for."""

from __future__ import annotations

from importlib import import_module

from modelcheck.engine import Engine

ENGINES = {
    "explicit": "modelcheck.explicit.engine:ExplicitEngine",
    "reference": "modelcheck.reference:ReferenceEngine",
}


def engine(name: str) -> Engine:
    """The engine of that name, loaded now. Raises KeyError when there is none."""
    module, _, attribute = ENGINES[name].partition(":")
    made: Engine = getattr(import_module(module), attribute)()
    return made
