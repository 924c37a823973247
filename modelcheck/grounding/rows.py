"""Operations on sequences in flat variables: a length, and slots that are zero beyond it."""

from __future__ import annotations

from modelcheck.grounding.shapes import Row, Shape, Shapes
from modelcheck.grounding.terms import GroundTerm


def concat(shapes: Shapes, a: Row, b: Row) -> Row:
    """The concatenation of two sequences."""
    terms = shapes.terms
    slots: list[Shape] = []
    for n in range(len(a.slots) + len(b.slots)):
        found = a.slots[n] if n < len(a.slots) else shapes.zero((a.slots or b.slots)[0])
        for m, slot in enumerate(b.slots):
            found = shapes.ite(terms.eq(a.length, terms.number(n - m)), slot, found)
        slots.append(found)
    return Row(terms.add(a.length, b.length), tuple(slots))


def take(shapes: Shapes, row: Row, n: GroundTerm) -> Row:
    """The first `n` entries of a sequence, or all if it has fewer."""
    terms = shapes.terms
    n = terms.ite(terms.lt(n, terms.number(0)), terms.number(0), n)
    slots = row.slots[: n.hi]
    kept = [shapes.ite(terms.lt(terms.number(i), n), slot, shapes.zero(slot)) for i, slot in enumerate(slots)]
    return Row(terms.ite(terms.lt(n, row.length), n, row.length), tuple(kept))


def drop(shapes: Shapes, row: Row, n: GroundTerm) -> Row:
    """The sequence without its first `n` entries."""
    terms = shapes.terms
    n = terms.ite(terms.lt(n, terms.number(0)), terms.number(0), n)
    slots = [
        shapes.pick(
            n,
            [row.slots[i + k] if i + k < len(row.slots) else shapes.zero(slot) for k in range(n.hi + 1)],
        )
        for i, slot in enumerate(row.slots)
    ]
    left = terms.ite(terms.lt(n, row.length), terms.sub(row.length, n), terms.number(0))
    return Row(left, tuple(slots))


def common(shapes: Shapes, a: Row, b: Row) -> GroundTerm:
    """The length of the longest common prefix of two sequences."""
    terms = shapes.terms
    found = terms.number(min(len(a.slots), len(b.slots)))
    for n in reversed(range(found.lo)):
        at = terms.number(n)
        both = (terms.lt(at, a.length), terms.lt(at, b.length), shapes.equal(a.slots[n], b.slots[n]))
        found = terms.ite(terms.all(both), found, at)
    return found


def starts(shapes: Shapes, row: Row, start: Row) -> GroundTerm:
    """Whether `start` is a prefix of the sequence."""
    terms = shapes.terms
    same = [
        terms.implies(terms.lt(terms.number(n), start.length), shapes.equal(a, b))
        for n, (a, b) in enumerate(zip(row.slots, start.slots, strict=False))
    ]
    return terms.all((terms.le(start.length, row.length), *same))
