"""The checkers that a model can be written for, by name; each is imported at its first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from modelcheck.export.exported import Exported
from spec.model.ir import Check, Model

Target = Callable[[Model, Check], Exported]

TARGETS = {
    "tla": "modelcheck.export.tla.module:tla",
    "promela": "modelcheck.export.promela:promela",
    "murphi": "modelcheck.export.murphi:murphi",
}


def target(name: str) -> Target:
    """The exporter for a target, imported on demand. Raises KeyError."""
    module, _, attribute = TARGETS[name].partition(":")
    made: Target = getattr(import_module(module), attribute)
    return made
