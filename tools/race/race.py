"""The race: each contestant in turn, round after round, so that what disturbs the machine disturbs all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from tools.race.contestants import Contestant, ContestantResult
from tools.race.process import Ran, run

Tell = Callable[[str], None]


@dataclass(slots=True)
class Lane:
    """A contestant with its folders, and what was measured of it so far.

    `base` is the memory it needs for a model of hardly any states, `ready` how long it took to build.
    """

    contestant: Contestant
    folder: Path
    small: Contestant | None  # the same on the smallest scope
    small_folder: Path
    ready: float = 0.0
    base: int | None = None
    found: list[ContestantResult] = field(default_factory=list)
    ran: list[Ran] = field(default_factory=list)
    failed: str | None = None

    @property
    def seconds(self) -> float:
        """The median of the search times; of the whole process where the tool does not separate them."""
        return median(
            ran.seconds if found.seconds is None else found.seconds
            for ran, found in zip(self.ran, self.found, strict=True)
        )

    @property
    def wall(self) -> float:
        """The median of the times from start to end of the process."""
        return median(ran.seconds for ran in self.ran)

    @property
    def peak(self) -> float:
        """The median of the greatest amounts of memory."""
        return median(ran.peak for ran in self.ran)

    @property
    def states(self) -> int:
        """How many states it found in the last round."""
        return self.found[-1].states

    @property
    def each(self) -> float | None:
        """Bytes of memory a state beyond the base; None where that was not measured."""
        return None if self.base is None else max(0.0, self.peak - self.base) / self.states


def race(lanes: Sequence[Lane], rounds: int, tell: Tell) -> bool:
    """Build, measure the base, run the rounds; False when interrupted: the lanes have what was measured."""
    try:
        for lane in lanes:
            tell(f"{lane.contestant.name}: getting ready")
            _make_ready(lane)
        for turn in range(rounds):
            for lane in lanes:
                if lane.failed is None:
                    _run(lane)
                    tell(f"{lane.contestant.name}: round {turn + 1} of {rounds}{_heard(lane)}")
    except KeyboardInterrupt:
        return False
    return True


def disagreements(lanes: Iterable[Lane]) -> dict[int, list[str]]:
    """Who found how many states: one entry when all agree."""
    counts: dict[int, list[str]] = {}
    for lane in lanes:
        for states in sorted({found.states for found in lane.found}):
            counts.setdefault(states, []).append(lane.contestant.name)
    return counts


def _heard(lane: Lane) -> str:
    return f": {lane.failed}" if lane.failed else f": {lane.ran[-1].seconds:.2f} s"


def _make_ready(lane: Lane) -> None:
    for command in lane.contestant.build:
        made = run(command, lane.folder)
        lane.ready += made.seconds
        if made.code != 0:
            lane.failed = f"`{command[0]}` fails: {_last(made)}"
            return
    if lane.small is None:
        return
    for command in lane.small.build:
        run(command, lane.small_folder)
    for _ in range(2):  # the first may have to compile
        small = run(lane.small.command, lane.small_folder)
        lane.base = None if lane.small.read(small) is None else small.peak


def _run(lane: Lane) -> None:
    ran = run(lane.contestant.command, lane.folder)
    found = lane.contestant.read(ran)
    if found is None:
        lane.failed = f"did not search to the end: {_last(ran)}"
        return
    lane.ran.append(ran)
    lane.found.append(found)


def _last(ran: Ran) -> str:
    lines = [line.strip() for line in ran.said.splitlines() if line.strip()]
    return lines[-1] if lines else f"exit code {ran.code}"
