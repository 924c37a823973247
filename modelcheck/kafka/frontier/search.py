"""The answers to the jobs of a frontier, and no search that an answer makes needless.

NOTE(needless): a run with faults of one kind is a run with faults of any kind.  So what any mixture
of N faults leaves whole, N faults of one kind do; and where the run with the fewest faults of
any mixture has faults of one kind only, or none, and no move of the leadership, it is the run with
the fewest for that kind too.
Everything else is searched: no configuration is taken for safer than another.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from modelcheck.api import Unsupported
from modelcheck.asking.crew import Crew, Processes
from modelcheck.contract.engine import Limits
from modelcheck.kafka.frontier.grid import Grid, Job, distinct_jobs
from modelcheck.kafka.questions.answers import Answer, decided, with_parts
from modelcheck.kafka.questions.question import MOVE, Posed, has_moves
from modelcheck.kafka.questions.search import Asking, Effort, Unwatched
from spec.frozen import frozen


@frozen
class FrontierAnswer:
    """The answers of a job, with the numbers of states found now and by an earlier run."""

    answers: tuple[Answer, ...]
    states: int
    known: int


@frozen
class Answered:
    """The answers to the jobs of a grid, by key; `ended` is the reason why some are missing."""

    answers: Mapping[str, FrontierAnswer]
    ended: str
    seconds: float


def answered(
    grid: Grid, effort: Effort, tell: Callable[[int, int, float], None], crew: Crew | None = None
) -> Answered:
    """The answers to all jobs, or to those done before a request to end.

    `tell` is called now and then with the number of answers, the states so far, and the seconds.
    Costs a search for each kind of fault of each job, but for what was answered by an earlier
    run, and what an answer makes needless.
    """
    jobs = distinct_jobs(grid.asked)
    keys, began = list(jobs), time.monotonic()
    own = _answers(grid)
    at_work = crew or Processes()
    memory = at_work.share(Limits(memory=effort.memory), len(jobs)).memory
    work = JobAnswers(tuple(jobs.values()), replace(effort, threads=1, memory=memory))
    models = {id(posed.model): posed.model for job in jobs.values() for posed in job.posed}
    answers: dict[str, FrontierAnswer] = {}
    done = states = 0

    def told() -> None:
        tell(done, states, time.monotonic() - began)

    for number, found in at_work.done(work, len(keys), list(models.values()), told):
        answers[keys[number]] = found
        done, states = done + own[keys[number]], states + found.states - found.known
        told()
    return Answered(answers, at_work.ended, time.monotonic() - began)


def _answers(grid: Grid) -> dict[str, int]:
    """The number of answers that each job gives, by key."""
    found: dict[str, int] = {}
    for row in grid.asked:
        for job in row.jobs:
            many = sum(len(posed.question.guarantees) for posed in job.posed)
            found[job.key] = found.get(job.key, 0) + many
    return found


class JobAnswers:
    """Answers jobs by index, in a worker process that keeps compiled kernels."""

    def __init__(self, jobs: Sequence[Job], effort: Effort) -> None:
        self._jobs, self._effort = tuple(jobs), effort
        self._asking: Asking | None = None  # of this process

    @property
    def kinds(self) -> Sequence[Hashable]:
        """For each job what it has in common with those that share its kernel."""
        return [_kind(job.mixture) for job in self._jobs]

    def __call__(self, number: int) -> FrontierAnswer:
        """The answers of the job with an index."""
        self._asking = self._asking or Asking(self._effort, Unwatched())
        return answer_of(self._asking, self._jobs[number])

    def failed(self, number: int, problem: str) -> FrontierAnswer:
        """Unknown answers, with the problem as the reason."""
        return FrontierAnswer(tuple(_unknown(self._jobs[number], problem)), 0, 0)


def _kind(asked: Posed) -> tuple[object, ...]:
    """What questions have in common that share a kernel."""
    scope = asked.check.scope
    return id(asked.model), tuple(map(len, scope.sorts.values())), tuple(scope.nats.items())


def answer_of(asking: Asking, job: Job) -> FrontierAnswer:
    """The answers of a job, unknown where no engine can search it."""
    states, known = asking.states, asking.known
    try:
        answers = tuple(answers_of(asking, job))
    except Unsupported as unsupported:
        answers = tuple(_unknown(job, str(unsupported)))
    return FrontierAnswer(answers, asking.states - states, asking.known - known)


def _unknown(job: Job, why: str) -> Iterator[Answer]:
    """An unknown answer for each cell of a job."""
    for posed in job.posed:
        for guarantee in posed.question.guarantees:
            yield Answer(guarantee, posed.question.kind, -1, None, complete=False, states=0, why=why)


def answers_of(asking: Asking, job: Job, *, thrifty: bool = True) -> Iterator[Answer]:
    """The answers of a job: for each guarantee and kind of fault, then for any mixture.

    Not `thrifty`, it searches also what an answer makes needless: see NOTE(needless).
    """
    mixed = decided(asking, job.mixture)
    alone: list[Answer] = []
    for posed in job.alone:
        inherited = [_inherited(answer, job.mixture, posed) for answer in mixed] if thrifty else [None]
        found = [answer for answer in inherited if answer is not None]
        alone += found if len(found) == len(inherited) else decided(asking, posed)
    yield from alone
    for answer in mixed:
        parts = [each for each in alone if each.guarantee == answer.guarantee]
        yield with_parts(answer, parts, moved=job.mixture.question.moves > 0)


def _inherited(mixed: Answer, mixture: Posed, posed: Posed) -> Answer | None:
    """The answer for one kind of fault that follows from the mixture; None if it must be searched."""
    kind, faults = posed.question.kind, posed.question.faults
    if kind == MOVE or not mixed.complete:
        return None
    if mixed.lost_with is None:
        is_any = mixed.survived is None and not mixture.question.budget.counted
        survived = None if is_any else min(faults, faults if mixed.survived is None else mixed.survived)
        return Answer(mixed.guarantee, kind, survived, None, complete=True, states=0)
    loss = mixed.loss
    if (
        loss is not None
        and mixed.is_exact
        and not (mixture.question.moves and has_moves(loss))
        and loss.fault_counts().keys() <= (posed.question.budget.kinds or {}).keys()
    ):
        return Answer(mixed.guarantee, kind, loss.faults - 1, loss, complete=True, states=0)
    return None
