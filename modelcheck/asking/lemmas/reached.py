"""Reachable states of a few small scopes: what no lemma may contradict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import product

import spec.model.ir as ir
import spec.model.types as t
from modelcheck.contract.engine import Limits, Task
from modelcheck.contract.report import Silent
from modelcheck.explicit.native.functions import Codes
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.explicit.search.rounds import PackedSearch
from modelcheck.explicit.search.space import PackedSpace
from spec.frozen import frozen
from spec.meaning.semantics import Machine, State
from spec.model.interchangeable import symmetric_sorts
from spec.model.values import ModelError

MOST_STATES = 20_000  # of one scope
PART = 1 << 16  # slots of a table that are read at once
MOST_NAT = 2  # the bound of a nat where the check has none
LARGEST = 5  # members of a sort
MOST_CONFIGS = 6  # ways to set the numbers of a configuration
SECONDS = 20.0  # for one scope


@frozen
class Reached:
    """The reachable states of a model within a scope, up to the names of interchangeable members.

    Where there are more than the limit, those with the fewest faults and steps.
    """

    scope: ir.Scope
    states: tuple[State, ...]
    is_whole: bool


def reached(model: ir.Model, check: ir.Check, threads: int, most: int = MOST_STATES) -> Iterator[Reached]:
    """The reachable states of a few scopes: with as few members as can be, those of the check, and one more.

    Bounds of nats and networks are the check's.  Scopes in which an assumption of the model is false, or
    which have no start, are left out, and what is larger than one that has more than `most` states.
    """
    known = set[str]()
    for scope in _scopes(model, check.scope):
        if repr(scope) in known or Machine(model, scope).assumption_failures():
            continue
        known.add(repr(scope))
        found = _states(model, scope, check.budget, threads, most)
        if found is not None:
            yield found
            if not found.is_whole:
                return


def _scopes(model: ir.Model, asked: ir.Scope) -> Iterator[ir.Scope]:
    """Scopes of growing size, each with a few ways to set the numbers of its configuration."""
    largest = max(map(len, asked.sorts.values()), default=1)
    sizes = [{name: min(n, len(each)) for name, each in asked.sorts.items()} for n in range(2, largest + 1)]
    sizes = sizes or [{name: len(each) for name, each in asked.sorts.items()}]
    sizes.append({name: min(len(each) + 1, LARGEST) for name, each in asked.sorts.items()})
    for size in sizes:
        sorts = {
            name: tuple(f"{name[0].lower()}{n + 1}" for n in range(count)) for name, count in size.items()
        }
        nats = {name: asked.nats.get(name, MOST_NAT) for name in (nat.name for nat in model.nats)}
        scope = replace(asked, sorts=sorts, nats=nats, unbounded=frozenset())
        ways = [each for each in _configs(model, scope) if not Machine(model, each).assumption_failures()]
        yield from ways[:MOST_CONFIGS]


def _configs(model: ir.Model, scope: ir.Scope) -> Iterator[ir.Scope]:
    """The scope with each setting of numbers, since a proof is of all of them; first as it is."""
    yield scope
    numbers = [each for each in model.configs if isinstance(each.type, t.Range)]
    most = max(map(len, scope.sorts.values()), default=1)
    choices = [
        range(one.type.lo, min(one.type.hi, most) + 1) for one in numbers if isinstance(one.type, t.Range)
    ]
    for values in product(*choices):
        config = dict(zip((one.name for one in numbers), values, strict=True))
        yield replace(scope, config={**scope.config, **config})


def _states(model: ir.Model, scope: ir.Scope, budget: ir.Budget, threads: int, most: int) -> Reached | None:
    """The reachable states of a scope; None if it has no start."""
    task = Task(
        model,
        scope,
        budget,
        (),
        Limits(states=most, seconds=SECONDS),
        symmetry=symmetric_sorts(model),
        threads=threads,
        ways=False,
    )
    try:
        kernel = Kernel(task, Codes())
        kernel.configure()
        with (
            closing(PackedSpace(kernel, ways=False)) as space,
            closing(PackedSearch(task, space, Machine(model, scope), Silent(), threads)) as search,
        ):
            end = search.run()
            states = [state for part in space.parts(PART) for state in space.states(part)]
    except ModelError:
        return None
    return Reached(scope, tuple(dict.fromkeys(states)), not end.partial)
