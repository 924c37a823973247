"""What a target makes of a model, and the targets by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from spec.frozen import frozen
from spec.ir import Check, Model


@frozen
class Exported:
    """A model in the language of another checker, and how to run it there.

    `files` gives each file's text by its name, the main one first.  `command`
    are lines for a shell, to be run one after another in the folder of the
    files.  `notes` are sentences on what is left out or counted otherwise.
    """

    files: Mapping[str, str]
    command: tuple[str, ...]
    notes: tuple[str, ...] = ()


Target = Callable[[Model, Check], Exported]

TARGETS = {
    "tla": "modelcheck.export.tla.module:tla",
    "promela": "modelcheck.export.promela:promela",
    "murphi": "modelcheck.export.murphi:murphi",
}


def target(name: str) -> Target:
    """The export to that target, loaded now. Raises KeyError when there is none."""
    module, _, attribute = TARGETS[name].partition(":")
    made: Target = getattr(import_module(module), attribute)
    return made
