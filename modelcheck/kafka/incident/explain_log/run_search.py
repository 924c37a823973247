"""The search for the run of the model that explains observations, with the fewest faults."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace

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
GRAVE = {"power_loss": 1} | dict.fromkeys(LOSES_DISK, 2)  # of two runs as long, that with less is shown
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

    `run` explains everything.  Without it `furthest` are points that explain the most observations, with
    the fewest faults.
    """

    run: Explained | None
    furthest: tuple[Point, ...]
    seen: int
    faults: int
    end: End

    @property
    def complete(self) -> bool:
        """Whether the search excluded all other explanations with at most `faults` faults."""
        return self.end is End.COMPLETE


def fewest(
    product: ObservationProduct, limits: ExplanationLimits, on_progress: OnProgress
) -> ExplanationResult:
    """The explanation with the fewest faults, and of these with the fewest steps."""
    found = ExplanationSearch(product, limits, on_progress).run()
    if found.run is None:
        return found
    states = REFINED if limits.states is None else min(REFINED, limits.states)
    shorter = ExplanationSearch(
        product, replace(limits, states=states, faults=found.faults), on_progress, EXACT
    ).run()
    if shorter.run is None:
        return found if shorter.end is not End.INTERRUPTED else replace(found, end=End.INTERRUPTED)
    return replace(shorter, seen=shorter.seen + found.seen)


class ExplanationSearch:
    """One search, and what it has found so far; `run` may be interrupted at any time.

    Points are looked at by the faults that a run through them has at least, those that must still come
    among them, so the first one that explains everything has the fewest.  Then by steps: an `eager` search
    prefers points that have little before them and promise a run (NOTE(guidance)), and one that counts those
    steps once finds the fewest.
    """

    def __init__(
        self,
        product: ObservationProduct,
        limits: ExplanationLimits,
        on_progress: OnProgress,
        eager: int = EAGER,
    ) -> None:
        self.product = product
        self._eager = eager
        self._guidance = Guidance(product.observed, product.at) if eager > EXACT else None
        self._limits = limits
        self._on_progress = on_progress
        self._seen = self._faults = self._reached = 0
        self._best: dict[tuple[bytes, int, int, tuple[int, ...]], tuple[int, int, int]] = {}
        self._points: list[Point] = []
        self._predecessors: list[tuple[int, Step | None]] = []
        self._spent: list[tuple[int, int]] = []  # faults, and what they lose
        self._steps: list[int] = []
        self._furthest: list[int] = []
        # Faults and steps of a run through a point at least, what its faults lose, steps still to come,
        # whether only faults are left to look at, and its number.
        self._waiting: list[tuple[int, int, int, int, int, int]] = []

    def run(self) -> ExplanationResult:
        """Search until an explanation is found, none exists, or a limit ends the search."""
        try:
            found = self._search()
        except Stopped as stopped:
            return self._result(None, stopped.end)
        except KeyboardInterrupt:
            return self._result(None, End.INTERRUPTED)
        return self._result(found, End.COMPLETE)

    def _search(self) -> int | None:
        """The index of the final point of an explanation; None if there is none."""
        product = self.product
        for point in product.starts():
            self._add(point, NONE, None, (0, 0), 0)
        while self._waiting:
            faults, whole, grave, ahead, paid, number = heapq.heappop(self._waiting)
            if self._limits.faults is not None and faults > self._limits.faults:
                return None
            steps, point, spent = self._steps[number], self._points[number], self._spent[number]
            due = product.due(point)
            if paid:
                for step, after in product.next(point, product.faults):
                    if product.due(after) >= due:
                        self._add(after, number, step, _with(spent, step), steps + 1)
                continue
            if self._best[self._key(point)] != (faults, steps, grave):
                continue  # found again with less
            self._look(faults, point.position, number)
            if product.is_end(point):
                return number
            for step, after in product.next(point, product.free):
                self._add(after, number, step, spent, steps + 1)
            for step, after in product.next(point, product.reducing(point)) if due else ():
                if product.due(after) < due:
                    self._add(after, number, step, _with(spent, step), steps + 1)
            heapq.heappush(self._waiting, (faults + 1, whole, grave, ahead, 1, number))
        return None

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
            whole += self._guidance.penalty(point.state, point.position, point.lines)
        heapq.heappush(self._waiting, (faults, whole, grave, ahead, 0, len(self._points) - 1))

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
        if limits.states is not None and self._seen >= limits.states:
            raise Stopped(End.STATES)
        if limits.patience.left == 0:
            raise Stopped(End.SECONDS)
        if limits.memory is not None and resident() >= limits.memory:
            raise Stopped(End.MEMORY)

    def _result(self, found: int | None, end: End) -> ExplanationResult:
        """The result of the search."""
        run = None if found is None else self._run(found)
        furthest = tuple(self._points[number] for number in self._furthest)
        return ExplanationResult(run, furthest, self._seen, self._faults, end)

    def _run(self, number: int) -> Explained:
        """The run to a point."""
        points, steps = [self._points[number]], list[Step]()
        while True:
            number, step = self._predecessors[number]
            if step is None:
                return Explained(tuple(reversed(points)), tuple(reversed(steps)))
            points.append(self._points[number])
            steps.append(step)


def _with(spent: tuple[int, int], fault: Step) -> tuple[int, int]:
    """The cost after one more fault."""
    return (spent[0] + 1, spent[1] + GRAVE.get(fault.action, 0))
