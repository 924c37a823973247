"""The orders of members that a representative is looked for among, as code.

Members are put in the order of their signatures.  Where these tie, two that can change places
without changing the state are alike, and only the orders that differ otherwise are gone through:
the permutations of a multiset, in the order of Knuth's Algorithm L (The Art of Computer
Programming 4A, 7.2.1.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from modelcheck.explicit.codegen.arithmetic import FALSE, InstructionBlock, V, i64
from modelcheck.explicit.codegen.assembly import Function
from spec.frozen import frozen

FEW = 8  # members that are put in order without a loop


@frozen
class MemberOrder:
    """The members of a sort in an order, and the new number of each: two arrays in memory."""

    size: int
    members: str
    numbers: str


def by_signature(fn: Function, signatures: list[V], numbers: str) -> tuple[MemberOrder, str]:
    """Emit the order of members by their signatures, with new `numbers`; and the signatures in memory."""
    keys = fn.array(len(signatures))
    for place, signature in enumerate(signatures):
        fn.write(keys, signature, place)
    order = MemberOrder(len(signatures), fn.array(len(signatures)), numbers)
    _put_in_order(fn, keys, order)
    return order, keys


def _put_in_order(fn: Function, keys: str, order: MemberOrder) -> None:
    """Emit the order in which keys ascend; equal ones stay as they are."""
    size = order.size
    if size <= FEW:
        known = [fn.read(keys, n) for n in range(size)]
        for mine in range(size):
            rank = i64(0)
            for each in range(size):
                if each < mine:
                    before = fn.not_(fn.below(known[mine], known[each]))
                else:
                    before = FALSE if each == mine else fn.below(known[each], known[mine])
                rank = fn.add(rank, fn.resize(before, 64))
            fn.write(order.numbers, rank, mine)
            fn.write(order.members, i64(mine), rank)
        return
    with fn.loop(i64(size)) as one:
        key, found = fn.read(keys, one), fn.cell(64, i64(0))
        with fn.loop(i64(size)) as two:
            other = fn.read(keys, two)
            before = fn.select(fn.less(two, one), fn.up_to(other, key), fn.below(other, key))
            fn.store(found, fn.add(fn.load(found), fn.resize(before, 64)))
        rank = fn.load(found)
        fn.write(order.numbers, rank, one)
        fn.write(order.members, one, rank)


@contextmanager
def each_order(fn: Function, order: MemberOrder, keys: str, alike: Callable[[V, V], V]) -> Iterator[None]:
    """Emit the code of the `with` for each order of members with ascending keys that may differ.

    `alike` emits whether two members can change places and nothing else changes.
    """
    kinds, size = fn.array(order.size), i64(order.size)
    _write_kinds(fn, order, keys, kinds, alike)
    again, done = fn.new("again"), fn.new("arranged")
    fn.goto(again)
    fn.begin(again, early=True)
    with fn.local_values():
        with fn.loop(size) as place:
            fn.write(order.numbers, place, fn.read(order.members, place))
        yield
        _next(fn, order, keys, kinds, done)
        fn.goto(again)
    fn.begin(done)


def _write_kinds(fn: Function, order: MemberOrder, keys: str, kinds: str, alike: Callable[[V, V], V]) -> None:
    """Emit for each place a number that is the same for members that are alike, and put these together."""
    size = i64(order.size)
    with fn.loop(size) as place:
        fn.write(kinds, place, place)
        mine = fn.read(order.members, place)
        with fn.loop(place) as before:
            other, open_ = fn.read(order.members, before), fn.eq(fn.read(kinds, place), place)
            tied = fn.eq(fn.read(keys, mine), fn.read(keys, other))
            first = fn.eq(fn.read(kinds, before), before)
            with (
                fn.when(fn.and_(fn.and_(tied, first), open_)),
                fn.when(alike(mine, other)),
            ):
                fn.write(kinds, before, place)
    _sort_from(fn, order, kinds, i64(0))


def _sort_from(fn: Function, order: MemberOrder, kinds: str, first: V) -> None:
    """Emit sorting the places from one on by kind."""
    size = i64(order.size)
    with (
        fn.loop(size, first) as one,
        fn.loop(size, fn.add(one, i64(1))) as two,
        fn.when(fn.below(fn.read(kinds, two), fn.read(kinds, one))),
    ):
        _exchange(fn, kinds, one, two)
        _exchange(fn, order.members, one, two)


def _exchange(fn: Function, array: str, one: V, two: V) -> None:
    """Emit exchanging two words of an array."""
    kept, other = fn.read(array, one), fn.read(array, two)
    fn.write(array, other, one)
    fn.write(array, kept, two)


def _next(fn: Function, order: MemberOrder, keys: str, kinds: str, done: InstructionBlock) -> None:
    """Emit going on to the next order, or to `done` after the last.

    The last place is found whose kind is below that of the next with the same key; what is
    there changes places with the least that is above it behind it, and what is behind ascends again.
    """
    size, nowhere = i64(order.size), i64(order.size)
    at, by = fn.cell(64, nowhere), fn.cell(64, nowhere)

    def ascends(one: V, two: V) -> V:
        """Whether two places have the same key, and the first a lower kind."""
        first, second = (fn.read(keys, fn.read(order.members, each)) for each in (one, two))
        lower = fn.below(fn.read(kinds, one), fn.read(kinds, two))
        return fn.and_(fn.eq(first, second), lower)

    with fn.loop(size, i64(1)) as place:
        before = fn.sub(place, i64(1))
        with fn.when(ascends(before, place)):
            fn.store(at, before)
    turned = fn.load(at)
    fn.leave_if(fn.eq(turned, nowhere), done)
    with fn.loop(size, fn.add(turned, i64(1))) as place, fn.when(ascends(turned, place)):
        fn.store(by, place)
    _exchange(fn, kinds, turned, fn.load(by))
    _exchange(fn, order.members, turned, fn.load(by))
    _sort_from(fn, order, kinds, fn.add(turned, i64(1)))
