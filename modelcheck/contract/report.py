"""The events that an engine reports while it runs, and who receives them."""

from __future__ import annotations

from typing import Protocol

from counterexamples.trace import Trace
from modelcheck.contract.result import End, Layer
from spec.frozen import frozen


@frozen
class Progress:
    """How far a search is; reported about twice a second. `memory` is in bytes, of the whole process."""

    faults: int
    depth: int
    states: int
    transitions: int
    waiting: int
    seconds: float
    memory: int


@frozen
class LayerDone:
    """A layer has been searched: all states with its number of faults."""

    layer: Layer


@frozen
class RunFound:
    """A property is decided by a run: violated, or (a `reachable`) reached. Some engines show it at once."""

    property: str
    faults: int
    steps: int
    trace: Trace | None = None


@frozen
class Checkpointed:
    """A checkpoint was written; or could not be, and why."""

    states: int
    problem: str | None = None


@frozen
class RunsDone:
    """How many random runs are done, of how many; reported about twice a second."""

    done: int
    wanted: int
    steps: int
    seconds: float


@frozen
class Shrinking:
    """How large a run still is, and how many smaller ones were tried; reported about twice a second."""

    faults: int
    steps: int
    tried: int
    seconds: float


@frozen
class Proving:
    """How far a proof is: runs of how many steps it is about, what it has learned, and its questions."""

    steps: int
    clauses: int
    questions: int
    seconds: float


@frozen
class AnswersDone:
    """How many questions of a kind (`what`) are answered, of how many, and how many states that took."""

    what: str
    done: int
    wanted: int
    states: int
    seconds: float


@frozen
class SecondEngineProgress:
    """The depth up to which the second engine has searched; or a run that it has found."""

    engine: str
    depth: int
    found: RunFound | None = None


@frozen
class NotCached:
    """What was compiled cannot be kept for the next run: where, and why."""

    folder: str
    problem: str


@frozen
class PhaseDone:
    """A phase, one of `timings.PHASES`, has taken `seconds`."""

    phase: str
    seconds: float


Event = (
    PhaseDone
    | Progress
    | LayerDone
    | RunFound
    | Checkpointed
    | NotCached
    | RunsDone
    | Shrinking
    | Proving
    | AnswersDone
    | SecondEngineProgress
)


class Stopped(Exception):  # noqa: N818 - an end like any other
    """The search ends here."""

    def __init__(self, end: End) -> None:
        self.end = end
        super().__init__(end.value)


class Reporter(Protocol):
    """Receives what a search reports; must be quick, the search waits."""

    def tell(self, event: Event) -> None:
        """Take note of an event. For `Progress` it may raise `Stopped`, which ends the search."""
        ...


class Silent:
    """A reporter that ignores all events."""

    def tell(self, event: Event) -> None:
        """Ignore an event."""
