"""The search for the run of the model that explains observations, with the fewest faults."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from modelcheck.contract.report import Stopped
from modelcheck.contract.result import End
from modelcheck.kafka.incident.explain_log.guidance import Guidance
from modelcheck.kafka.incident.explain_log.product import LOSES_DISK, NONE, ObservationProduct, Point
from modelcheck.processes.memory import resident
from spec.frozen import frozen
from spec.meaning.semantics import Step
from spec.reading import Patience

EVERY = 256  # points between two looks at the clock
EAGER = 3  # what a step that must still come counts, where one that was taken counts 1: finds a run soon
EXACT = 1  # the same, for the fewest steps
REFINED = 4_000  # points that are looked at for a run of fewer steps, when one is known
QUICK = 2_000  # points after which any run will do as well, and then a cheaper one
EACH = 60  # points more for each event: a long history takes as many to be gone through at all
PART = 4  # any run is looked for in a fourth of the points at most
PROVING = 10_000  # points of the search for the fewest faults, in all, to show that a known run has them
FAULT = 5  # what a fault counts, in steps, where any run will do
# Of two runs as long, that with less of this is shown: what loses records, or acknowledges them too early.
GRAVE = {"produce_unheeding": 1, "power_loss": 1} | dict.fromkeys(LOSES_DISK, 2)
OnProgress = Callable[[int, int, int], None]  # points seen, faults, observations explained


@frozen
class ExplanationLimits:
    """The limits of a search: number of points, time, memory and faults."""

    states: int | None = None
    patience: Patience = Patience(None)
    memory: int | None = None
    faults: int | None = None


@frozen
class Explained:
    """A run that explains the observations; it has one point more than steps."""

    points: tuple[Point, ...]
    steps: tuple[Step, ...]


@frozen
class ExplanationResult:
    """The result of a search for an explanation.

    `run` explains everything, and every run that does has `least` faults or more.  Without it `furthest` are
    points that explain the most observations, with the fewest faults.
    """

    run: Explained | None
    furthest: tuple[Point, ...]
    seen: int
    faults: int
    end: End
    least: int = 0

    @property
    def complete(self) -> bool:
        """Whether the search excluded all other explanations with at most `faults` faults."""
        return self.end is End.COMPLETE


def fewest(
    product: ObservationProduct, limits: ExplanationLimits, on_progress: OnProgress
) -> ExplanationResult:
    """The explanation with the fewest faults, and of these with the fewest steps.

    Where the search for it does not end soon, any run, of which `least` says whether it is known to have the
    fewest faults.
    """
    found = _first_found(product, limits, on_progress)
    if found.run is None:
        return found
    fewer_steps = replace(limits, states=_smaller(REFINED, limits.states), faults=found.faults)
    shorter = ExplanationSearch(product, fewer_steps, on_progress, EXACT).run()
    if shorter.run is None:
        return found if shorter.end is not End.INTERRUPTED else replace(found, end=End.INTERRUPTED)
    return replace(shorter, seen=shorter.seen + found.seen)


def _first_found(
    product: ObservationProduct, limits: ExplanationLimits, on_progress: OnProgress
) -> ExplanationResult:
    """A run with the fewest faults, or one that is found sooner, made cheaper.

    The search for the fewest faults ends soon where that for any run goes astray, and the other way round.
    So they take turns, each from where it was, with twice as many points each time; that for any run has no
    more than a part of all, so that the other one, which can also say that there is none, has most of them.
    """
    cheapest = ExplanationSearch(product, limits, on_progress)
    any_run = ExplanationSearch(product, limits, on_progress, in_turn=True)
    states, points = limits.states, QUICK + EACH * len(product.observed.events)
    while True:
        left = None if states is None else states - any_run.seen
        found = cheapest.run(_smaller(points, left))
        if found.end is not End.STATES or (left is not None and found.seen >= left):
            return replace(found, seen=cheapest.seen + any_run.seen)
        found = any_run.run(_smaller(points, None if states is None else states // PART))
        if found.run is not None:
            return _cheaper(found, cheapest, any_run, states)
        if found.end is not End.STATES:
            return replace(found, seen=cheapest.seen + any_run.seen)
        points *= 2


def _cheaper(
    found: ExplanationResult, cheapest: ExplanationSearch, any_run: ExplanationSearch, states: int | None
) -> ExplanationResult:
    """Cheaper runs than the one found, as long as they are soon found; then whether it is the cheapest."""
    least = cheapest.faults
    while found.faults > least:
        left = None if states is None else states - cheapest.seen
        fewer = any_run.run(_smaller(any_run.seen + QUICK, left), found.faults - 1)
        if fewer.run is None and fewer.end is not End.INTERRUPTED:
            left = None if states is None else states - any_run.seen
            fewer = cheapest.run(_smaller(PROVING, left), found.faults - 1)
            least = cheapest.faults
        if fewer.run is None:
            least = found.faults if fewer.complete else least
            found = replace(found, end=End.INTERRUPTED if fewer.end is End.INTERRUPTED else found.end)
            break
        found = fewer
    return replace(found, seen=cheapest.seen + any_run.seen, least=min(least, found.faults))


def _smaller(most: int, states: int | None) -> int:
    """The smaller one of two numbers of points, of which one may be no limit."""
    return most if states is None else min(most, states)


class _Candidate(NamedTuple):
    """A point that waits: what decides the order, and the faults and steps of a run through it at least.

    `ahead` are the steps still to come, and `paid` is whether only faults are left to look at.
    """

    first: int
    whole: int
    grave: int
    ahead: int
    paid: bool
    number: int
    faults: int


class _Cheapest:
    """Points that wait, the cheapest first."""

    def __init__(self) -> None:
        self._heap: list[_Candidate] = []

    def __bool__(self) -> bool:
        return bool(self._heap)

    def push(self, waiting: _Candidate, _position: int) -> None:
        """Add a point."""
        heapq.heappush(self._heap, waiting)

    def pop(self) -> _Candidate:
        """The next point."""
        return heapq.heappop(self._heap)


class _InTurn:
    """Points that wait, the cheapest of each position in turn: NOTE(in_turn)."""

    def __init__(self) -> None:
        self._heaps: dict[int, list[_Candidate]] = {}
        self._turn: list[int] = []

    def __bool__(self) -> bool:
        return bool(self._heaps)

    def push(self, waiting: _Candidate, position: int) -> None:
        """Add a point."""
        heapq.heappush(self._heaps.setdefault(position, []), waiting)

    def pop(self) -> _Candidate:
        """The next point."""
        while True:
            if not self._turn:
                self._turn = sorted(self._heaps, reverse=True)
            position = self._turn.pop()
            if position in self._heaps:
                break
        heap = self._heaps[position]
        found = heapq.heappop(heap)
        if not heap:
            del self._heaps[position]
        return found


class ExplanationSearch:
    """One search, and what it has found so far; `run` may be interrupted at any time, and continues there.

    Points are looked at by the faults that a run through them has at least, those that must still come
    among them, so the first one that explains everything has the fewest.  Then by steps: an `eager` search
    prefers points that have little before them and promise a run (NOTE(guidance)), and one that counts those
    steps once finds the fewest.

    NOTE(in_turn): a search that goes `in_turn` looks at the most promising point of each position in the
    timeline, one position after the other.  What spoils a run often shows only some observations later, and
    an order among all points looks at all that follows from a spoilt one before it goes back.  The run that
    is found first may have more faults than another.
    """

    def __init__(
        self,
        product: ObservationProduct,
        limits: ExplanationLimits,
        on_progress: OnProgress,
        eager: int = EAGER,
        *,
        in_turn: bool = False,
    ) -> None:
        self.product = product
        self._eager = eager
        self._in_turn = in_turn
        self._guidance = Guidance(product.observed, product.at) if eager > EXACT else None
        self._limits = limits
        self._on_progress = on_progress
        self._until = limits.states
        self._seen = self._faults = self._reached = 0
        self._best: dict[tuple[bytes, int, int, tuple[int, ...]], tuple[int, int, int]] = {}
        self._points: list[Point] = []
        self._predecessors: list[tuple[int, Step | None]] = []
        self._spent: list[tuple[int, int]] = []  # faults, and what is grave
        self._steps: list[int] = []
        self._furthest: list[int] = []
        self._waiting = _InTurn() if in_turn else _Cheapest()

    @property
    def seen(self) -> int:
        """How many points have been looked at."""
        return self._seen

    @property
    def faults(self) -> int:
        """How many faults a run has that the search for the fewest has not found yet, at least."""
        return self._faults

    def run(self, until: int | None = None, faults: int | None = None) -> ExplanationResult:
        """Search until an explanation is found, none exists, or a limit ends the search.

        `until` is a number of points, in place of that of the limits.  Runs with more `faults` than
        these are left out, here and in later calls.
        """
        self._until = self._limits.states if until is None else until
        if self._until is not None and self._seen >= self._until:
            return self._result(None, End.STATES)
        try:
            found = self._search(faults)
        except Stopped as stopped:
            return self._result(None, stopped.end)
        except KeyboardInterrupt:
            return self._result(None, End.INTERRUPTED)
        return self._result(found, End.COMPLETE)

    def _search(self, most: int | None) -> int | None:
        """The index of the final point of an explanation; None if there is none."""
        if not self._points:
            for point in self.product.starts():
                self._add(point, NONE, None, (0, 0), 0)
        while self._waiting:
            waiting = self._waiting.pop()
            if most is None or waiting.faults <= most:
                if self._is_final(waiting):
                    return waiting.number
            elif not self._in_turn:
                self._waiting.push(waiting, self._points[waiting.number].position)
                return None  # all others have as many
        return None

    def _is_final(self, waiting: _Candidate) -> bool:
        """Whether a point explains everything; otherwise what follows it waits."""
        product, faults, number = self.product, waiting.faults, waiting.number
        steps, point, spent = self._steps[number], self._points[number], self._spent[number]
        due = product.due(point)
        if waiting.paid:
            for step, after in product.next(point, product.faults):
                if product.due(after) >= due:
                    self._add(after, number, step, _with(spent, step), steps + 1)
            return False
        if self._best[self._key(point)] != (faults, steps, spent[1]):
            return False  # found again with less
        try:
            self._look(faults, point.position, number)
        except Stopped:
            self._waiting.push(waiting, point.position)
            raise
        if product.is_end(point):
            return True
        for step, after in product.next(point, product.free):
            self._add(after, number, step, _with(spent, step, faults=0), steps + 1)
        for step, after in product.next(point, product.reducing(point)) if due else ():
            if product.due(after) < due:
                self._add(after, number, step, _with(spent, step), steps + 1)
        self._wait(faults + 1, waiting.whole, waiting.ahead, number, paid=True)
        return False

    def _add(
        self, point: Point, predecessor: int, step: Step | None, spent: tuple[int, int], steps: int
    ) -> None:
        """Add a point unless it was reached as cheaply before."""
        faults, grave = spent[0] + self.product.due(point), spent[1]
        key, cost = self._key(point), (faults, steps, grave)
        known = self._best.get(key)
        if known is not None and known <= cost:
            return
        self._best[key] = cost
        self._points.append(point)
        self._predecessors.append((predecessor, step))
        self._spent.append(spent)
        self._steps.append(steps)
        ahead = self.product.ahead(point)
        whole = steps + self._eager * ahead
        if self._guidance is not None:
            whole += self._guidance.penalty(point.state, point.position, point.marked, point.lines)
        self._wait(faults, whole, ahead, len(self._points) - 1)

    def _wait(self, faults: int, whole: int, ahead: int, number: int, *, paid: bool = False) -> None:
        """Let a point wait, or only its faults if it is `paid`, unless that is more than allowed."""
        if self._limits.faults is not None and faults > self._limits.faults:
            return
        first = FAULT * faults + whole if self._in_turn else faults
        waiting = _Candidate(first, whole, self._spent[number][1], ahead, paid, number, faults)
        self._waiting.push(waiting, self._points[number].position)

    def _key(self, point: Point) -> tuple[bytes, int, int, tuple[int, ...]]:
        """What identifies a point."""
        return (self.product.machine.encode(point.state), point.position, point.marked, point.lines)

    def _look(self, faults: int, position: int, number: int) -> None:
        """Count a point, and check the limits at intervals."""
        self._seen += 1
        self._faults = faults
        if position > self._reached or not self._furthest:
            self._reached, self._furthest = position, []
        if position == self._reached and len(self._furthest) < EVERY:
            self._furthest.append(number)
        if self._seen % EVERY:
            return
        self._on_progress(self._seen, faults, self._reached)
        limits = self._limits
        if self._until is not None and self._seen >= self._until:
            raise Stopped(End.STATES)
        if limits.patience.left == 0:
            raise Stopped(End.SECONDS)
        if limits.memory is not None and resident() >= limits.memory:
            raise Stopped(End.MEMORY)

    def _result(self, found: int | None, end: End) -> ExplanationResult:
        """The result of the search."""
        run = None if found is None else self._run(found)
        furthest = tuple(self._points[number] for number in self._furthest)
        return ExplanationResult(
            run, furthest, self._seen, self._faults, end, 0 if self._in_turn else self._faults
        )

    def _run(self, number: int) -> Explained:
        """The run to a point."""
        points, steps = [self._points[number]], list[Step]()
        while True:
            number, step = self._predecessors[number]
            if step is None:
                return Explained(tuple(reversed(points)), tuple(reversed(steps)))
            points.append(self._points[number])
            steps.append(step)


def _with(spent: tuple[int, int], step: Step, faults: int = 1) -> tuple[int, int]:
    """The cost after one more step, which may be a fault."""
    return (spent[0] + faults, spent[1] + GRAVE.get(step.action, 0))
