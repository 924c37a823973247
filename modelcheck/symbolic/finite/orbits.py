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
from modelcheck.search.interchangeable import symmetric_sorts
from modelcheck.search.symmetry import neighbours
from modelcheck.symbolic.finite.facts import StateFact
from spec.model.op import Op
from spec.model.renaming import Renaming, renamed
from spec.model.walk import with_parts

Cube = frozenset[int]  # of facts, by number from 1; below 0 those that are false


class CubeOrbits:
    """All that cubes become under changes of names."""

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
        """Whether every fact has a form under other names."""
        return all(len(swap) == self._count for swap in self._swaps)

    def forget(self) -> None:
        """From now on every cube is alone."""
        self._swaps = []

    def of(self, cube: Cube) -> Iterator[Cube]:
        """The cube, and all that it becomes; itself alone where a fact of it has no other name."""
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
    """What each fact becomes when names change; nothing for one that has no form under other names."""
    found = {}
    for n, fact in enumerate(facts, 1):
        if fact.expr is not None:
            other = numbers.get(_known(_renamed(fact.expr, sort, names)))
            if other is not None:
                found[n] = other
    return found


def _renamed(expr: ir.Expr, sort: str, names: Renaming) -> ir.Expr:
    if isinstance(expr, ir.Const):
        return replace(expr, value=renamed(expr.type, sort, expr.value, names))
    return with_parts(expr, lambda part: _renamed(part, sort, names))


def _known(node: Any) -> Any:  # noqa: ANN401 - any part of an expression
    """The same for expressions with the same meaning: the sides of an equation have no order."""
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
