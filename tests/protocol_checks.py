"""The checks of the protocols by how large they are, so that a test takes the smallest that does.

The sizes are those of `spec/protocols/README.md`, which tests hold to what is found.  So a new
protocol is tried wherever all are, and nobody enters it into a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import spec.library as library
from spec.load import load
from spec.model.ir import Check, Model
from tools.protocol_table import FILE, TableRow, read

PROTOCOLS = FILE.parent
NAMES = library.names()
FEW = 20  # states, of which a check should have more


@dataclass(frozen=True)
class SizedCheck:
    """A check, how many states it finds until everything is decided, and whether a run violates something."""

    name: str
    states: int
    violated: bool


models = cache(load)


@cache
def _pages() -> Mapping[str, Sequence[SizedCheck]]:
    return {name: tuple(_checks(rows)) for name, rows in read(FILE.read_text(encoding="utf-8")).items()}


def _checks(rows: Sequence[TableRow]) -> list[SizedCheck]:
    """The checks of a table, in its order: rows without a name are of the check above them."""
    found: list[SizedCheck] = []
    for row in rows:
        broken = row.verdict == "violated"
        if row.check.strip():
            found.append(SizedCheck(row.check.strip("` "), int(row.states.replace(",", "")), broken))
        elif broken:
            found[-1] = SizedCheck(found[-1].name, found[-1].states, violated=True)
    return found


def by_size(name: str, *, violated: bool | None = None, least: int = FEW) -> list[SizedCheck]:
    """The checks of a protocol, those with no fewer states than `least` first, and of these the smallest."""
    some = [each for each in _pages()[name] if violated in {None, each.violated}]
    return sorted(some, key=lambda each: (each.states < least, each.states))


def smallest(name: str, *, violated: bool | None = None) -> SizedCheck | None:
    """The first of `by_size`; None where there is none of that kind."""
    return next(iter(by_size(name, violated=violated)), None)


def named_check(protocol: str, name: str) -> tuple[Model, Check]:
    """A check of a protocol, with its model."""
    every = [(model, each) for model in models(PROTOCOLS / f"{protocol}.rsm") for each in model.checks]
    ((model, asked),) = [(model, each) for model, each in every if each.name == name]
    return model, asked


def kisr_of_two() -> tuple[Model, Check]:
    """A check of kisr among two replicas, with any faults: 7,618 states in five layers."""
    model, found = named_check("kisr", "any_crashes")
    sorts = {"Replica": found.scope.sorts["Replica"][:2]}
    return model, replace(found, expect=(), scope=replace(found.scope, sorts=sorts))
