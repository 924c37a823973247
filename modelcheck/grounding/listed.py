"""Sets and bags in places: adding and removing members."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from modelcheck.grounding.shapes import Heap, Item, Listed, Shape, Shapes
from modelcheck.grounding.terms import GroundTerm, Sign


def put(shapes: Shapes, listed: Listed, item: Shape, when: GroundTerm) -> Listed:
    """The set or bag with `item` added in the first free place where `when` is true; a set has it once."""
    terms = shapes.terms
    new = when if listed.counts else terms.both(when, terms.no(shapes.is_in(item, listed)))
    seeks = new
    places: list[Item] = []
    for has, held in listed.places:
        here = terms.both(seeks, terms.no(has))
        places.append((terms.any((has, here)), shapes.ite(here, item, held)))
        seeks = terms.both(seeks, has)
    if seeks.constant != 0:
        places.append((seeks, item))
    fresh = (*listed.fresh, (new, item))
    return replace(listed, places=tuple(places), fresh=fresh, puts=listed.puts + 1)


def put_all(shapes: Shapes, listed: Listed, items: Iterable[Item]) -> Listed:
    """The set or bag with those items added whose conditions are true."""
    for has, item in items:
        listed = put(shapes, listed, item, has)
    return listed


def take_out(shapes: Shapes, listed: Listed, item: Shape, when: GroundTerm) -> Listed:
    """The set or bag without one occurrence of `item` where `when` is true."""
    terms = shapes.terms
    places = list(listed.places)
    own = [n for n, (has, held) in enumerate(places) if held is item and has.sign is Sign.VAR]
    if own and not (listed.counts or listed.puts):  # it is the value there, and so in no other place
        has, held = places[own[0]]
        places[own[0]] = terms.both(has, terms.no(when)), held
        return replace(listed, places=tuple(places))
    seeks = when
    for n in sorted(range(len(places)), key=lambda n: n not in own):
        has, held = places[n]
        hit = terms.all((seeks, has, shapes.equal(item, held)))
        places[n] = terms.both(has, terms.no(hit)), held
        if listed.counts:
            seeks = terms.both(seeks, terms.no(hit))
    return replace(listed, places=tuple(places))


def in_places(shapes: Shapes, like: Listed, value: Heap | Listed) -> Listed:
    """The same set or bag stored in places like those of `like`; members beyond them are left out."""
    fill = put_all if isinstance(value, Listed) else _in_order
    return fill(shapes, shapes.empty(like), possible_members(shapes, value))


def possible_members(shapes: Shapes, whole: Heap | Listed) -> list[Item]:
    """The possible members of a set or bag with their conditions; of a bag, as often as each may occur."""
    terms = shapes.terms
    if isinstance(whole, Listed) or not whole.counts:
        return shapes.inside(whole)
    each = ((has, n, item) for has, item in whole.of.values() for n in range(has.hi))
    return [(terms.lt(terms.number(n), has), item) for has, n, item in each]


def _in_order(shapes: Shapes, empty: Listed, items: Iterable[Item]) -> Listed:
    """The places filled with distinct items in order: the n-th that is present goes to the n-th place.

    As many terms as possible_members times places; to `put` one after the other would ask of each
    thing where all the others are.
    """
    terms = shapes.terms
    held = [item for _, item in empty.places]
    taken = [terms.true, *(terms.false for _ in held)]  # whether exactly this many are there so far
    for there, item in items:
        next_ = [terms.both(there, here) for here in taken]
        held = [shapes.ite(test, item, old) for test, old in zip(next_, held, strict=False)]
        less = [terms.false, *taken]
        taken = [terms.ite(there, fewer, same) for fewer, same in zip(less, taken, strict=False)]
    places = [(terms.no(terms.any(taken[: n + 1])), item) for n, item in enumerate(held)]
    return replace(empty, places=tuple(places))
