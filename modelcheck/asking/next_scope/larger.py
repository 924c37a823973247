"""Larger scopes of a check, and which of them the search of a smaller one decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from modelcheck.asking.overrides import members
from modelcheck.contract.families import looked_at
from modelcheck.contract.result import End, Findings
from spec.elaboration.checks import LARGEST_NAT, LARGEST_SORT
from spec.meaning.semantics import Machine
from spec.model.ir import Bound, Check, ExpectVerdict, Expr, Guard, Members, Model, PropertyKind
from spec.model.kinds import INVARIANTS, OF_STEPS
from spec.model.types import Map, Nat, Type, walk_type
from spec.model.walk import expressions, walk, walk_statements

Bounds = tuple[str, ...]
"""The names of bounds that are one larger."""

# NOTE(monotone): a nat that no expression lists and no map has as its key, and a network, do one
# thing only: they cut steps.  With a larger one every run is still a run, of the same states, and
# further runs begin with a step that the smaller one cut.  So where a search cut no step at such a
# bound, a larger one changes nothing.  And what has the fewest faults of a run of these kinds can
# only become less with it: if it is the same with all such bounds larger, it is with each.
MONOTONE = frozenset({*INVARIANTS, *OF_STEPS, PropertyKind.REACHABLE, PropertyKind.DEADLOCK_FREE})


def bounds(check: Check) -> Bounds:
    """The names of all bounds of a check: sorts, nats, networks."""
    return (*check.scope.sorts, *check.scope.nats, *check.scope.networks)


def refused(model: Model, check: Check, name: str) -> str:
    """Why a bound cannot be one larger; empty if it can."""
    if check.scope.size(name) >= (LARGEST_SORT if name in check.scope.sorts else LARGEST_NAT):
        return "the language has no larger one"
    unmet = Machine(model, larger(check, (name,)).scope).assumption_failures() if model.assumes else ()
    return f"against the assumption {', '.join(each.name for each in unmet)}" if unmet else ""


def larger(check: Check, names: Iterable[str]) -> Check:
    """The check with these bounds one larger, without expected counts."""
    scope, names = check.scope, {*names}

    def grown(some: Mapping[str, int]) -> dict[str, int]:
        return {name: most + (name in names) for name, most in some.items()}

    sorts = {
        name: members(name, len(own) + 1, scope.sorts) if name in names else own
        for name, own in scope.sorts.items()
    }
    expect = tuple(each for each in check.expect if isinstance(each, ExpectVerdict))
    scope = replace(scope, sorts=sorts, nats=grown(scope.nats), networks=grown(scope.networks))
    return replace(check, scope=scope, expect=expect)


def is_monotone(model: Model, check: Check) -> bool:
    """Whether larger limits can only add runs that decide the properties, by NOTE(monotone)."""
    return all(prop.kind in MONOTONE for prop in looked_at(model, check))


def limits(model: Model) -> frozenset[str]:
    """The nats and networks that do nothing but cut steps, see NOTE(monotone)."""
    listed = {nat for of in _listed_types(model) for nat in _nats(of)}
    nats = (nat.name for nat in model.nats if nat.name not in listed)
    networks = (variable.name for variable in model.variables if variable.network)
    return frozenset((*nats, *networks))


def are_unreached(model: Model, check: Check, names: Bounds, found: Findings) -> bool:
    """Whether the search shows that larger limits of these names change nothing.

    It has cut no step there, and has been through every run that a cheaper one could begin with.
    """
    if found.end is not End.COMPLETE and not (found.end is End.DECIDED and is_monotone(model, check)):
        return False
    # the last look, by one fault more than the budget, is not among the steps that are counted
    looks_on = check.budget.total is not None and any(
        isinstance(each, ExpectVerdict) and each.any_faults for each in check.expect
    )
    return not looks_on and not any(found.stats.cut.get(name) for name in names)


def _listed_types(model: Model) -> Iterator[Type]:
    """The types whose values some expression enumerates, and those of keys."""
    seen = set[Type]()
    for whole in _wholes(model):
        for expr in walk(whole):
            if isinstance(expr, Members):
                yield expr.of
            seen.add(expr.type)
    seen.update(variable.type for variable in model.variables)
    yield from (part.key for of in seen for part in walk_type(of) if isinstance(part, Map))


def _wholes(model: Model) -> Iterator[Expr]:
    """Every outermost expression of a model, except in texts."""
    yield from (variable.init for variable in model.variables)
    yield from (assume.test for assume in model.assumes)
    for prop in model.properties:
        yield from (each for each in (prop.expr, prop.goal) if each is not None)
    for action in model.actions:
        yield from (param.domain for param in action.params)
        for each in action.head:
            match each:
                case Guard(test=test):
                    yield test
                case Bound(value=value):
                    yield value
    for body in (model.init, *(action.body for action in model.actions)):
        for statement in walk_statements(body):
            yield from expressions(statement)


def _nats(of: Type) -> Iterator[str]:
    """The names of the nats in a type."""
    yield from (part.name for part in walk_type(of) if isinstance(part, Nat))
    yield from (nat for part in walk_type(of) if isinstance(part, Map) for nat in _nats(part.key))
