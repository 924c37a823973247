"""Where a fair run can cycle for ever, as code: the same for every model, in a graph of numbers.

The states without a goal have numbers from 0 on.  The edges of each are stored one after
the other, ended by NONE: its target, and the fair action that it is of, 0 for none.
Everything is in arrays; `frame` has their addresses, and how far the work has come, so
that all of it can be stopped and resumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from modelcheck.explicit.codegen.arithmetic import FALSE, TRUE, InstructionBlock, V, const, i64
from modelcheck.explicit.codegen.assembly import Function, Register
from modelcheck.explicit.codegen.search.runtime import SHARDS

NONE = (1 << 32) - 1  # after the last edge of a state; no number
DONE = NONE  # the order of a state whose component is known: greater than any
UNSERVED, BEGINS = 1, 2  # of a state: it has no goal; a run begins to wait there
QUEUED, PAID = 1, 2  # of what waits for a fault; of what was got by one
MOST_FAIR = 63  # actions: a bit of a word for each

# The words of a frame: where the slots of each shard begin, and how many there are;
BASES, TOTAL = 0, SHARDS
# arrays by slot: what a state is, 1 + its number or 0; by number: its slot, ways out, what is possible;
(CLASSES, NUMBERS, PLACES, STARTS, TARGETS, CODES, POSSIBLE, INSIDE) = range(SHARDS + 1, SHARDS + 9)
# arrays of the search for components, by number, and what is left to look at now and later;
(ORDER, LOW, AHEAD, PART, CIRCLE, CALLS, OPEN, ACTIVE, LATER) = range(SHARDS + 9, SHARDS + 18)
# the fair actions, as bits, and which of the arrays of what is possible is meant; how far it is;
(WEAK, STRONG, MASKS, AT, ACTIVE_COUNT, CALL_COUNT, OPEN_COUNT, SEEN, LATER_COUNT, IN_CIRCLES) = range(
    SHARDS + 18, SHARDS + 28
)
# what is waiting: by a node, where it was got from and how; all of them in their order; those due later;
(FROM, HOW, FOUND, FOUND_COUNT, DUE, DUE_FROM, DUE_COUNT) = range(SHARDS + 28, SHARDS + 35)
# the first nodes that a run can stay in, or go round from; a way within a circle: where it ends.
(FIRST_STILL, FIRST_ROUND, CAME, QUEUE, LAST, NEXT, BY) = range(SHARDS + 35, SHARDS + 42)
SIZE = SHARDS + 42
KEPT = (AT, CALL_COUNT, OPEN_COUNT, SEEN)  # of a search for components that is stopped

FRAME = ("ptr", "frame")


def array(fn: Function, name: int) -> str:
    """Emit reading the pointer to an array of the frame."""
    return fn.pointer(fn.read("%frame", name))


def get(fn: Function, pointer: str, index: V) -> V:
    """Emit reading the 32-bit number at `index` of an array."""
    return fn.resize(fn.read(pointer, index, 32), 64)


def put(fn: Function, pointer: str, index: V, value: V) -> None:
    """Emit storing the 32-bit number `value` at `index` of an array."""
    fn.write(pointer, fn.resize(value, 32), index)


def bit_of(fn: Function, code: V) -> V:
    """Emit the bit of the fair action with number `code`, from 1 on; 0 for code 0."""
    return fn.lshr(fn.shl(i64(1), code), i64(1))


@contextmanager
def ways_out(fn: Function, starts: str, targets: str, number: V) -> Iterator[tuple[V, V]]:
    """Emit the code of the `with` as a loop over a state's edges: the index and the target of each."""
    at, target = fn.cell(64, fn.read(starts, number)), fn.cell(64)

    def is_one() -> V:
        fn.store(target, get(fn, targets, fn.load(at)))
        return fn.ne(fn.load(target), i64(NONE))

    with fn.during(is_one):
        place = fn.load(at)
        yield place, fn.load(target)
        fn.store(at, fn.add(place, i64(1)))


def graphs() -> list[Function]:
    """The LLVM functions that find where fair runs can cycle forever."""
    return [_number(), _begin(), _again(), _close(), _Components().fn, _settled(), _way()]


def _number() -> Function:
    """Write `number`: numbers the states without the goal among some slots, from `number` on."""
    fn = Function(
        "number", [FRAME, ("i64", "first"), ("i64", "count"), ("i64", "number")], "void", "nounwind"
    )
    classes, numbers, places = (array(fn, name) for name in (CLASSES, NUMBERS, PLACES))
    number = fn.cell(64, V(64, "%number"))
    with fn.loop(V(64, "%count")) as index:
        slot = fn.add(V(64, "%first"), index)
        unserved = fn.is_set(fn.and_(fn.read(classes, slot, 8), const(8, UNSERVED)))
        now = fn.load(number)
        following = fn.add(now, i64(1))
        put(fn, numbers, slot, fn.select(unserved, following, i64(0)))
        with fn.when(unserved):
            put(fn, places, now, slot)
            fn.store(number, following)
    fn.end("ret void")
    return fn


# ------------------------------------------------------------------ components


def _begin() -> Function:
    """Write `begin`: initializes the search for components.

    It returns how many states have no fair action possible, so that a run may stay there.
    """
    fn = Function("begin", [FRAME, ("i64", "count")], "i64")
    count, masks, still = V(64, "%count"), array(fn, MASKS), fn.cell(64, i64(0))
    order, part, circle, active = (array(fn, name) for name in (ORDER, PART, CIRCLE, ACTIVE))
    with fn.loop(count) as number:
        put(fn, order, number, i64(0))
        put(fn, part, number, fn.add(count, i64(1)))
        put(fn, circle, number, i64(0))
        put(fn, active, number, number)
        stays = fn.is_zero(fn.read(masks, number))
        fn.store(still, fn.add(fn.load(still), fn.resize(stays, 64)))
    fn.write("%frame", count, ACTIVE_COUNT)
    for word in (AT, CALL_COUNT, OPEN_COUNT, SEEN, LATER_COUNT, IN_CIRCLES):
        fn.write("%frame", i64(0), word)
    fn.end(f"ret {fn.load(still)}")
    return fn


def _again() -> Function:
    """Write `again`: makes the states put off the active ones; returns how many they are."""
    fn = Function("again", [FRAME], "i64")
    order, later = array(fn, ORDER), array(fn, LATER)
    count = fn.read("%frame", LATER_COUNT)
    with fn.loop(count) as index:
        put(fn, order, get(fn, later, index), i64(0))
    active = fn.read("%frame", ACTIVE)
    fn.write("%frame", fn.address(later), ACTIVE)
    fn.write("%frame", active, LATER)
    fn.write("%frame", count, ACTIVE_COUNT)
    for word in (AT, SEEN, LATER_COUNT):
        fn.write("%frame", i64(0), word)
    fn.end(f"ret {count}")
    return fn


class _Components:
    """Writes `components`: runs `most` steps of the search for strongly connected components.

    It returns whether there are more.  Tarjan 1972, "Depth-first search and linear graph algorithms".
    """

    def __init__(self) -> None:
        self.fn = fn = Function("components", [FRAME, ("i64", "most")], "i1")
        self.order, self.low, self.ahead, self.part = (array(fn, n) for n in (ORDER, LOW, AHEAD, PART))
        self.calls, self.opened, self.active = (array(fn, n) for n in (CALLS, OPEN, ACTIVE))
        self.starts, self.targets = array(fn, STARTS), array(fn, TARGETS)
        self.at, self.depth, self.waiting, self.seen = (fn.cell(64, fn.read("%frame", w)) for w in KEPT)
        self.step = fn.new("step")
        self._write()

    def _write(self) -> None:
        """Emit the loop over the steps."""
        fn = self.fn
        left, more = fn.cell(64, V(64, "%most")), fn.cell(1, TRUE)
        root, here, end, stop = (fn.new(hint) for hint in ("root", "here", "end", "stop"))
        fn.goto(self.step)
        fn.begin(self.step)
        fn.leave_if(fn.is_zero(fn.load(left)), stop)
        fn.store(left, fn.sub(fn.load(left), i64(1)))
        fn.fork(fn.is_zero(fn.load(self.depth)), root, here)
        with fn.local_values():
            fn.begin(root)
            self._begin(end)
        with fn.local_values():
            fn.begin(here)
            self._advance()
        with fn.local_values():
            fn.begin(end)
            fn.store(more, FALSE)
            fn.goto(stop)
        fn.begin(stop)
        for cell, word in zip((self.at, self.depth, self.waiting, self.seen), KEPT, strict=True):
            fn.write("%frame", fn.load(cell), word)
        fn.end(f"ret {fn.load(more)}")

    def _begin(self, end: InstructionBlock) -> None:
        """Emit starting a depth-first search at the next unvisited state; jumps to `end` if there is none."""
        fn = self.fn
        new = fn.new("begin")
        fn.leave_if(fn.eq(fn.load(self.at), fn.read("%frame", ACTIVE_COUNT)), end)
        number = get(fn, self.active, fn.load(self.at))
        self._add(self.at, 1)
        fn.fork(fn.is_zero(get(fn, self.order, number)), new, self.step)
        fn.begin(new)
        self._enter(number)
        fn.goto(self.step)

    def _advance(self) -> None:
        """Emit following the next edge of the state on top of the call stack, or leaving it."""
        fn = self.fn
        leave, follow, new, known = (fn.new(hint) for hint in ("leave", "follow", "new", "known"))
        here = get(fn, self.calls, fn.sub(fn.load(self.depth), i64(1)))
        way = get(fn, self.ahead, here)
        target = get(fn, self.targets, fn.add(fn.read(self.starts, here), way))
        fn.fork(fn.eq(target, i64(NONE)), leave, follow)
        with fn.local_values():
            fn.begin(follow)
            put(fn, self.ahead, here, fn.add(way, i64(1)))
            fn.leave_if(fn.ne(get(fn, self.part, target), get(fn, self.part, here)), self.step)
            found = get(fn, self.order, target)
            fn.fork(fn.is_zero(found), new, known)
            with fn.local_values():
                fn.begin(new)
                self._enter(target)
                fn.goto(self.step)
            with fn.local_values():
                fn.begin(known)
                self._lower(here, found)
                fn.goto(self.step)
        fn.begin(leave)
        self._leave(here)

    def _leave(self, here: V) -> None:
        """Emit leaving a state whose edges are all followed; closes its component if it is the root."""
        fn = self.fn
        self._add(self.depth, -1)
        before, lowest = fn.load(self.depth), get(fn, self.low, here)
        with fn.when(fn.is_set(before)):
            self._lower(get(fn, self.calls, fn.sub(before, i64(1))), lowest)
        with fn.when(fn.eq(lowest, get(fn, self.order, here))):
            fn.store(self.waiting, fn.call(64, "close", "%frame", here, fn.load(self.waiting)))
        fn.goto(self.step)

    def _enter(self, number: V) -> None:
        """Emit visiting a state: it gets its order, and is pushed on both stacks."""
        fn = self.fn
        self._add(self.seen, 1)
        place = fn.load(self.seen)
        put(fn, self.order, number, place)
        put(fn, self.low, number, place)
        put(fn, self.ahead, number, i64(0))
        put(fn, self.opened, fn.load(self.waiting), number)
        self._add(self.waiting, 1)
        put(fn, self.calls, fn.load(self.depth), number)
        self._add(self.depth, 1)

    def _lower(self, number: V, other: V) -> None:
        """Emit low[number] = min(low[number], other)."""
        known = get(self.fn, self.low, number)
        put(self.fn, self.low, number, self.fn.select(self.fn.below(other, known), other, known))

    def _add(self, cell: Register, more: int) -> None:
        """Emit adding a constant to a local variable."""
        self.fn.store(cell, self.fn.add(self.fn.load(cell), i64(more)))


def _close() -> Function:
    """Write `close`: handles the complete component of `root`; returns the size of the stack below it.

    Emerson and Lei 1987, "Modalities for model checking": where it owes a fair action, it is to be
    looked at again without the states where that one is possible; for a weakly fair one these are all.
    """
    fn = Function("close", [FRAME, ("i64", "root"), ("i64", "opened")], "i64")
    root, behind = V(64, "%root"), V(64, "%opened")
    order, low, part, circle = (array(fn, name) for name in (ORDER, LOW, PART, CIRCLE))
    opened, starts, targets = (array(fn, name) for name in (OPEN, STARTS, TARGETS))
    codes, masks, later = (array(fn, name) for name in (CODES, MASKS, LATER))
    label, first = fn.add(root, i64(1)), fn.cell(64, behind)
    everywhere, anywhere, taken = fn.cell(64, i64(-1)), fn.cell(64, i64(0)), fn.cell(64, i64(0))
    last = fn.cell(64, i64(NONE))
    with fn.during(lambda: fn.ne(fn.load(last), root)):
        fn.store(first, fn.sub(fn.load(first), i64(1)))
        fn.store(last, get(fn, opened, fn.load(first)))
        put(fn, order, fn.load(last), i64(DONE))
    start = fn.load(first)
    single = fn.eq(fn.add(start, i64(1)), behind)
    with fn.when(single):
        put(fn, part, root, i64(0))
        fn.end(f"ret {start}")
    own = get(fn, part, root)
    with fn.loop(behind, start) as index:
        number = get(fn, opened, index)
        mask = fn.read(masks, number)
        put(fn, low, number, label)
        fn.store(everywhere, fn.and_(fn.load(everywhere), mask))
        fn.store(anywhere, fn.or_(fn.load(anywhere), mask))
    with fn.loop(behind, start) as index:
        number = get(fn, opened, index)
        with ways_out(fn, starts, targets, number) as (place, target):
            within = fn.and_(fn.eq(get(fn, part, target), own), fn.eq(get(fn, order, target), i64(DONE)))
            with fn.when(fn.and_(within, fn.eq(get(fn, low, target), label))):
                code = fn.resize(fn.read(codes, place, 8), 64)
                fn.store(taken, fn.or_(fn.load(taken), bit_of(fn, code)))
    weak, strong = fn.read("%frame", WEAK), fn.read("%frame", STRONG)
    asked = fn.or_(fn.and_(fn.load(everywhere), weak), fn.and_(fn.load(anywhere), strong))
    owed = fn.and_(asked, fn.not_(fn.load(taken)))
    keeps = fn.is_zero(owed)
    with fn.loop(behind, start) as index:
        number = get(fn, opened, index)
        stays = fn.is_zero(fn.and_(fn.read(masks, number), owed))
        with fn.when(keeps):
            put(fn, circle, number, label)
        goes_on = fn.and_(stays, fn.not_(keeps))
        put(fn, part, number, fn.select(goes_on, label, i64(0)))
        with fn.when(goes_on):
            at = fn.read("%frame", LATER_COUNT)
            put(fn, later, at, number)
            fn.write("%frame", fn.add(at, i64(1)), LATER_COUNT)
    size = fn.select(keeps, fn.sub(behind, start), i64(0))
    fn.write("%frame", fn.add(fn.read("%frame", IN_CIRCLES), size), IN_CIRCLES)
    fn.end(f"ret {start}")
    return fn


# ------------------------------------------------------------------ where runs end


def _settled() -> Function:
    """Write `settled`: how many of some nodes wait where a run can stay or cycle; the first of each.

    Nodes from TOTAL on are those that wait.
    """
    fn = Function("settled", [FRAME, ("i64", "first"), ("i64", "count")], "i64")
    found, masks, circle = (array(fn, name) for name in (FOUND, MASKS, CIRCLE))
    total, many = fn.read("%frame", TOTAL), fn.cell(64, i64(0))
    for word in (FIRST_STILL, FIRST_ROUND):
        fn.write("%frame", i64(NONE), word)
    with fn.loop(V(64, "%count")) as index:
        node = get(fn, found, fn.add(V(64, "%first"), index))
        with fn.when(fn.up_to(total, node)):
            number = fn.sub(node, total)
            still = fn.is_zero(fn.read(masks, number))
            goes_round = fn.is_set(get(fn, circle, number))
            for word, is_one in ((FIRST_STILL, still), (FIRST_ROUND, goes_round)):
                known = fn.read("%frame", word)
                is_first = fn.and_(is_one, fn.eq(known, i64(NONE)))
                fn.write("%frame", fn.select(is_first, node, known), word)
            fn.store(many, fn.add(fn.load(many), fn.resize(fn.or_(still, goes_round), 64)))
    fn.end(f"ret {fn.load(many)}")
    return fn


def _way() -> Function:
    """Write `way`: finds the shortest path within a cycle to a wanted step; returns whether there is one.

    Wanted is a step to `home`, by an owed action, or to where a weakly fair one that is owed is not
    possible.  `came` and `queue` are to be empty before.
    """
    params = [FRAME, ("i64", "origin"), ("i64", "home"), ("i64", "owed")]
    fn = Function("way", params, "i1")
    start, home, owed = V(64, "%origin"), V(64, "%home"), V(64, "%owed")
    starts, targets, codes, masks = (array(fn, name) for name in (STARTS, TARGETS, CODES, MASKS))
    circle, came, queue = (array(fn, name) for name in (CIRCLE, CAME, QUEUE))
    own, weak = get(fn, circle, start), fn.and_(owed, fn.read("%frame", WEAK))
    at, end = fn.cell(64, i64(0)), fn.cell(64, i64(1))
    put(fn, queue, i64(0), start)
    with fn.during(lambda: fn.less(fn.load(at), fn.load(end))):
        here = get(fn, queue, fn.load(at))
        fn.store(at, fn.add(fn.load(at), i64(1)))
        with (
            ways_out(fn, starts, targets, here) as (place, target),
            fn.when(fn.eq(get(fn, circle, target), own)),
        ):
            code = fn.resize(fn.read(codes, place, 8), 64)
            pays = fn.or_(fn.and_(bit_of(fn, code), owed), fn.and_(weak, fn.not_(fn.read(masks, target))))
            with fn.when(fn.or_(fn.is_set(pays), fn.eq(target, home))):
                for word, value in ((LAST, here), (NEXT, target), (BY, code)):
                    fn.write("%frame", value, word)
                fn.end("ret i1 true")
            is_new = fn.and_(fn.ne(target, start), fn.is_zero(get(fn, came, target)))
            with fn.when(is_new):
                put(fn, came, target, fn.add(here, i64(1)))
                put(fn, queue, fn.load(end), target)
                fn.store(end, fn.add(fn.load(end), i64(1)))
    fn.end("ret i1 false")
    return fn
