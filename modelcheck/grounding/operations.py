"""Operations that are never an error, by operator."""

from __future__ import annotations

from collections.abc import Callable

from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.grounding.shapes import Heap, Shape, Shapes, number
from modelcheck.grounding.terms import GroundTerm, Terms
from spec.model.op import Op


def _heaps(
    by: Callable[[Terms, GroundTerm, GroundTerm], GroundTerm],
) -> Callable[[Shapes, Shape, Shape], Shape]:
    """An operation on sets or bags that combines the presence, or count, of each member by `by`."""

    def operation(shapes: Shapes, a: Shape, b: Shape) -> Shape:
        if not (isinstance(a, Heap) and isinstance(b, Heap)):
            raise Inexpressible("an operation on a set and something else")
        made = {v: (by(shapes.terms, x, y), item) for v, (x, y, item) in shapes.pairs(a, b).items()}
        return Heap({v: held for v, held in made.items() if held[0].constant != 0}, a.counts)

    return operation


def _union(terms: Terms, a: GroundTerm, b: GroundTerm) -> GroundTerm:
    """The presence, or the count, of a member in the union."""
    return terms.any((a, b)) if a.truth else terms.add(a, b)


def _minus(terms: Terms, a: GroundTerm, b: GroundTerm) -> GroundTerm:
    """The presence, or the count, of a member in the difference."""
    if a.truth:
        return terms.both(a, terms.no(b))
    return terms.ite(terms.lt(b, a), terms.sub(a, b), terms.number(0))


def _arithmetic(name: str) -> Callable[[Shapes, Shape, Shape], Shape]:
    """The operation on two numbers by the method `name` of Terms."""

    def operation(shapes: Shapes, a: Shape, b: Shape) -> Shape:
        made: GroundTerm = getattr(shapes.terms, name)(number(a), number(b))
        return made

    return operation


PLAIN: dict[Op, Callable[..., Shape]] = {
    Op.NOT: lambda shapes, a: shapes.terms.no(number(a)),
    Op.ADD: _arithmetic("add"),
    Op.SUB: _arithmetic("sub"),
    Op.MUL: _arithmetic("mul"),
    Op.EQ: lambda shapes, a, b: shapes.equal(a, b),
    Op.LT: lambda shapes, a, b: shapes.less(a, b),
    Op.LE: lambda shapes, a, b: shapes.terms.no(shapes.less(b, a)),
    Op.UNION: _heaps(_union),
    Op.MINUS: _heaps(_minus),
}
