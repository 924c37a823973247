"""The answers to a job of the grid, and what a larger bound changes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time

from modelcheck.kafka.frontier.grid import Job
from modelcheck.kafka.frontier.search import answers_of
from modelcheck.kafka.questions.answers import Answer
from modelcheck.kafka.questions.search import Asking, Effort, Unwatched
from tests.scopes.grid import RAISED, larger

MOST = 6_000_000  # states of one search: nine seconds


@dataclass(frozen=True)
class Cell:
    """A guarantee under a kind of fault: what the review says of it, and what it would with larger bounds."""

    guarantee: str
    kind: str
    before: str
    after: str


@dataclass(frozen=True)
class Compared:
    """What a larger bound changes of a job: which cells differ, and which were not known in the end."""

    raised: str
    cells: int
    different: tuple[Cell, ...]
    unknown: tuple[Cell, ...]


@dataclass(frozen=True)
class JobComparison:
    """What all larger bounds change of one job, in how many states and CPU seconds."""

    number: int
    compared: tuple[Compared, ...]
    states: int
    seconds: float


class Comparing:
    """Compares jobs by their numbers, in a process that keeps what it has compiled."""

    def __init__(self, jobs: tuple[Job, ...], raised: tuple[str, ...] = ()) -> None:
        self._jobs, self._raised = jobs, raised
        self._asking: Asking | None = None

    def __call__(self, number: int) -> JobComparison:
        asking = self._asking = self._asking or Asking(Effort(each=MOST, threads=1), Unwatched())
        states, began = asking.states, process_time()
        job = self._jobs[number]
        first = tuple(answers_of(asking, job))
        found = tuple(self._compared(asking, job, first))
        took = process_time() - began
        return JobComparison(number, found, asking.states - states, took)

    def _compared(self, asking: Asking, job: Job, first: tuple[Answer, ...]) -> Iterator[Compared]:
        for raised in RAISED:
            if self._raised and raised.name not in self._raised:
                continue
            if (more := larger(job, raised)) is not None:
                yield compared(raised.name, first, tuple(answers_of(asking, more)))


def compared(raised: str, before: tuple[Answer, ...], after: tuple[Answer, ...]) -> Compared:
    """What differs between two tables of answers: the numbers that they print."""
    pairs = [(one, other, words(one), words(other)) for one, other in zip(before, after, strict=True)]
    cells = [(Cell(a.guarantee.name, a.kind, x, y), a.complete and b.complete) for a, b, x, y in pairs]
    differ = tuple(cell for cell, known in cells if known and cell.before != cell.after)
    return Compared(raised, len(cells), differ, tuple(cell for cell, known in cells if not known))


def words(answer: Answer) -> str:
    """How many faults break a guarantee, or how many do not."""
    if answer.lost_with is not None:
        return f"broken with {answer.lost_with}"
    return "any number" if answer.survived is None else f"survives {answer.survived}"
