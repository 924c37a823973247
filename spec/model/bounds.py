"""The bounds of a scope, of which a nat may have none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import spec.model.ir as ir

ANY = "any"  # what a scope has in place of the bound of a nat that has none
_NO_BOUND = 1 << 40  # more than the steps of any run


def bound_words(scope: ir.Scope) -> Mapping[str, str]:
    """The bound of each nat and network as a check gives it: a number or `any`."""
    given = {**scope.nats, **scope.networks}
    found = {name: str(most) for name, most in given.items() if name not in scope.unbounded}
    return {**dict.fromkeys(sorted(scope.unbounded), ANY), **found}


def nat_bounds(scope: ir.Scope) -> Mapping[str, int | str]:
    """The bound of each nat as a check gives it: a number or `any`."""
    return {**scope.nats, **dict.fromkeys(sorted(scope.unbounded), ANY)}


def with_room(scope: ir.Scope, room: Mapping[str, int]) -> ir.Scope:
    """The scope in which squeezed states have room for some number of values of each nat without a bound."""
    return replace(scope, nats={**scope.nats, **room}) if room else scope


def of_runs(scope: ir.Scope) -> ir.Scope:
    """The scope in which runs have the values that the model gives them, whatever these are."""
    return with_room(scope, dict.fromkeys(scope.unbounded, _NO_BOUND))
