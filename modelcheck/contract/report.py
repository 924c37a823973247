"""The events that an engine reports while it runs, and who receives them."""

from __future__ import annotations

from typing import Protocol

from counterexamples.trace import Trace
from modelcheck.contract.result import End, Layer, Spill
from spec.frozen import frozen


@frozen
class Progress:
    """An event about twice a second: the progress of a search. `memory` is the process's, in bytes."""

    faults: int
    depth: int
    states: int
    transitions: int
    waiting: int
    seconds: float
    memory: int


@frozen
class LayerDone:
    """An event: a layer is complete, all states with its number of faults."""

    layer: Layer


@frozen
class RunFound:
    """An event: a run decides a property: a violation, or an example of a `reachable`."""

    property: str
    faults: int
    steps: int
    trace: Trace | None = None


@frozen
class Checkpointed:
    """An event: a checkpoint was written, or why not."""

    states: int
    problem: str | None = None


@frozen
class Spilled:
    """An event: memory ended, and the search begins again on disk, or does not."""

    spill: Spill


@frozen
class RunsDone:
    """An event about twice a second: the number of random runs done."""

    done: int
    wanted: int
    steps: int
    seconds: float


@frozen
class Shrinking:
    """An event about twice a second: the size of the shrunk run, and the runs tried."""

    faults: int
    steps: int
    tried: int
    seconds: float


@frozen
class Proving:
    """An event: the progress of a proof."""

    steps: int
    clauses: int
    questions: int
    seconds: float


@frozen
class AnswersDone:
    """An event: the number of questions of kind `what` answered, and states visited for them."""

    what: str
    done: int
    wanted: int
    states: int
    seconds: float


@frozen
class SecondEngineProgress:
    """An event: the depth that the second engine has searched, or a run it found."""

    engine: str
    depth: int
    found: RunFound | None = None


@frozen
class NotCached:
    """An event: compiled code cannot be cached in `folder`, because of `problem`."""

    folder: str
    problem: str


@frozen
class PhaseDone:
    """An event: a phase of `timings.PHASES` took `seconds`."""

    phase: str
    seconds: float


Event = (
    PhaseDone
    | Progress
    | LayerDone
    | RunFound
    | Checkpointed
    | NotCached
    | Spilled
    | RunsDone
    | Shrinking
    | Proving
    | AnswersDone
    | SecondEngineProgress
)


class Stopped(Exception):  # noqa: N818 - an end like any other
    """Raised to end a search."""

    def __init__(self, end: End) -> None:
        self.end = end
        super().__init__(end.value)


class Reporter(Protocol):
    """The interface of what receives a search's events; it must be quick, as the search waits."""

    def tell(self, event: Event) -> None:
        """Receive an event; for `Progress` it may raise `Stopped` to end the search."""
        ...


class Silent:
    """A reporter that ignores all events."""

    def tell(self, event: Event) -> None:
        """Ignore an event."""
