"""Facts under a change of names: what is true of one member is as true of another.

NOTE(orbits): where the members of a sort are interchangeable (`modelcheck/search/symmetry.py`)
renaming them turns runs into runs, so a clause that all states of up to k steps make
true is made true by them under any names.  Clauses that are kept under some names
only are as true, but those that no step breaks do not have to be kept on their own:
one may rest on another that was not renamed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import spec.model.ir as ir
from modelcheck.search.symmetry import neighbours
from modelcheck.symbolic.finite.facts import StateFact
from spec.model.interchangeable import symmetric_sorts
from spec.model.op import Op
from spec.model.renaming import Renaming, renamed
from spec.model.walk import with_parts

Cube = frozenset[int]  # of facts, by number from 1; below 0 those that are false


class CubeOrbits:
    """The orbits of cubes: all that each becomes when interchangeable members are renamed."""

    def __init__(self, model: ir.Model, scope: ir.Scope, facts: Sequence[StateFact]) -> None:
        numbers: dict[Any, int] = {}
        for n, fact in enumerate(facts, 1):
            if fact.expr is not None:
                numbers |= {_known(each): n for each in (fact.expr, *fact.also)}
                numbers |= {_known(each): -n for each in fact.unlike}
        self._swaps: list[Mapping[int, int]] = []
        for sort in symmetric_sorts(model):
            for names in neighbours(len(scope.sorts[sort])):
                self._swaps.append(_swap(facts, numbers, sort, names))
        self._count = len(facts)

    @property
    def whole(self) -> bool:
        """Whether every fact has a counterpart under every renaming."""
        return all(len(swap) == self._count for swap in self._swaps)

    def forget(self) -> None:
        """Treat every cube as an orbit of its own from now on."""
        self._swaps = []

    def of(self, cube: Cube) -> Iterator[Cube]:
        """The orbit of a cube; the cube alone if a fact of it has no counterpart."""
        seen, waiting = {cube}, [cube]
        while waiting:
            each = waiting.pop()
            for swap in self._swaps:
                if not all(abs(literal) in swap for literal in each):
                    yield cube
                    return
                other = frozenset(swap[abs(n)] if n > 0 else -swap[abs(n)] for n in each)
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        yield from seen


def _swap(
    facts: Sequence[StateFact], numbers: Mapping[Any, int], sort: str, names: Renaming
) -> Mapping[int, int]:
    """For each fact the one it becomes under a renaming; none for a fact without a counterpart."""
    found = {}
    for n, fact in enumerate(facts, 1):
        if fact.expr is not None:
            other = numbers.get(_known(_renamed(fact.expr, sort, names)))
            if other is not None:
                found[n] = other
    return found


def _renamed(expr: ir.Expr, sort: str, names: Renaming) -> ir.Expr:
    """The expression with the members of a sort renamed."""
    if isinstance(expr, ir.Const):
        return replace(expr, value=renamed(expr.type, sort, expr.value, names))
    return with_parts(expr, lambda part: _renamed(part, sort, names))


def _known(node: Any) -> Any:  # noqa: ANN401 - any part of an expression
    """A key that is equal for expressions of the same meaning: both orders of an equation, for instance."""
    if isinstance(node, ir.Apply) and node.op is Op.EQ:
        return (Op.EQ, frozenset(map(_known, node.args)))
    if is_dataclass(node) and isinstance(node, ir.Apply | ir.Part | ir.Is | ir.Bind):
        names = [field.name for field in fields(node) if field.name != "span"]
        return (type(node).__name__, *(_known(getattr(node, name)) for name in names))
    if isinstance(node, ir.Const):
        return ("Const", str(node.type), node.value)
    if isinstance(node, tuple):
        return tuple(map(_known, node))
    return node
