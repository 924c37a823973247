"""The answers to a review's questions: how many faults each guarantee survives, and the first loss."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from counterexamples.reorder import late_faults
from counterexamples.trace import Trace
from modelcheck.api import check
from modelcheck.engine import Limits
from modelcheck.result import End, Holds, Outcome, Unknown, Violated
from modelcheck.review.partition import Partition
from modelcheck.review.questions import ANY, Guarantee, Question, as_check, severity
from modelcheck.workers import Workers

SEARCH = 0.65  # of the time, when a loss is known and a remedy is to be found in the rest
MORE = 1.5  # times the seconds that a search was given: less is not worth another try
TIME_UP = End.SECONDS.value


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of a guarantee under a kind of fault.

    `survived` is how many faults it survives for certain (None: any number);
    -1 when it is not even known to survive a run without faults.  `loss` is the
    shortest run known that breaks it, of the fewest faults.  `complete` says
    whether more time could tell more; `why` is the reason when it is not.
    """

    guarantee: Guarantee
    kind: str
    survived: int | None
    loss: Trace | None
    complete: bool
    states: int
    why: str = ""

    @property
    def is_exact(self) -> bool:
        """Whether the loss has just one fault more than is survived."""
        return self.loss is not None and self.survived == self.loss.faults - 1

    def survives(self, faults: int) -> bool | None:
        """Whether so many faults are survived; None when that is not known."""
        if self.survived is None or self.survived >= faults:
            return True
        return False if self.loss is not None and self.loss.faults <= faults else None


Told = Callable[[int, int], None]  # so many searches are done, of so many


def ask(partition: Partition, question: Question, seconds: float | None) -> tuple[Answer, ...]:
    """The answers to one question, within so many seconds."""
    model, asked = as_check(partition, question)
    outcome = check(model, asked, limits=Limits(seconds=seconds), symmetry=True, threads=1)
    return tuple(_answer(question, guarantee, outcome) for guarantee in question.guarantees)


def _answer(question: Question, guarantee: Guarantee, outcome: Outcome) -> Answer:
    verdicts = [outcome.verdict(name) for name in guarantee.properties]
    stats, kind = outcome.findings.stats, question.kind
    losses = [v.trace for v in verdicts if isinstance(v, Violated) and v.trace is not None]
    if losses:
        loss = late_faults(min(losses, key=_order))
        return Answer(guarantee, kind, loss.faults - 1, loss, complete=True, states=stats.states)
    unknown = [v for v in verdicts if isinstance(v, Unknown)]
    if unknown:
        least = min(-1 if v.extent is None or v.extent.faults is None else v.extent.faults for v in unknown)
        why = unknown[0].reason
        return Answer(guarantee, kind, least, None, complete=False, states=stats.states, why=why)
    bounded = "Epoch" in stats.cut  # then `any number` would be of elections that were not looked at
    held = [question.faults if bounded else v.extent.faults for v in verdicts if isinstance(v, Holds)]
    survived = min((most for most in held if most is not None), default=None)
    return Answer(guarantee, kind, survived, None, complete=True, states=stats.states)


def _order(trace: Trace) -> tuple[int, tuple[int, ...], int]:
    """Of two runs the one with fewer faults is told, then the one with milder faults, then the shorter."""
    return trace.faults, severity(trace), len(trace.steps)


def ask_all(
    workers: Workers,
    partition: Partition,
    asked: Sequence[Question],
    *,
    seconds: float,
    told: Told = lambda _done, _all: None,
) -> tuple[Answer, ...]:
    """One answer for each guarantee and row, from all the questions, on all cores.

    When the time is up, what was not searched to the end is answered as far
    as it was, and a question not reached as unknown.  Some of the time is left
    over when a loss is known.
    """
    began = time.monotonic()
    found: list[tuple[Answer, ...] | None] = [None] * len(asked)
    given = [0.0] * len(asked)
    again = list(range(len(asked)))

    def until() -> float:
        known = [answer for answers in found for answer in answers or ()]
        is_lost = any(answer.loss and not answer.guarantee.unattended for answer in known)
        return began + seconds * (SEARCH if is_lost else 1)

    while again and not workers.ended:
        jobs = [partial(ask, partition, asked[number]) for number in again]
        for place, share, answers in workers.each(jobs, until=until):
            number = again[place]
            given[number] = share
            old = found[number]
            found[number] = answers if old is None or answers[0].states >= old[0].states else old
            told(sum(map(_is_complete, found)), len(asked))
        share = max(0.0, until() - time.monotonic())
        again = [n for n in again if not _is_complete(found[n]) and share > MORE * given[n]]
    told(len(asked), len(asked))
    why = workers.ended or TIME_UP
    answered = [
        answer
        for question, answers in zip(asked, found, strict=True)
        for answer in answers or [_unanswered(question, guarantee, why) for guarantee in question.guarantees]
    ]
    return _gathered(answered)


def _is_complete(answers: tuple[Answer, ...] | None) -> bool:
    return answers is not None and all(answer.complete for answer in answers)


def _unanswered(question: Question, guarantee: Guarantee, why: str) -> Answer:
    return Answer(guarantee, question.kind, -1, None, complete=False, states=0, why=why)


def _gathered(found: Sequence[Answer]) -> tuple[Answer, ...]:
    """One answer for each guarantee and row; what one kind of fault breaks, `any` breaks too."""
    rows: dict[tuple[str, str], list[Answer]] = {}
    for answer in found:
        for kind in dict.fromkeys((answer.kind, ANY)):
            rows.setdefault((answer.guarantee.name, kind), []).append(answer)
    return tuple(_together(kind, answers) for (_, kind), answers in rows.items())


def _together(kind: str, parts: Sequence[Answer]) -> Answer:
    """What several searches say together.

    A run is one that some part asked about, so what all parts survive is
    survived.  One fault is of one kind: where all searches of a single kind got
    so far, a mixture that was not searched survives it too.
    """
    singles = [part for part in parts if part.kind != ANY]
    one = min((1 if part.survived is None else min(1, part.survived) for part in singles), default=-1)
    least = one if kind == ANY else -1
    known = [max(part.survived, least) for part in parts if part.survived is not None]
    losses = [part.loss for part in parts if part.loss is not None]
    loss = min(losses, key=_order, default=None)
    survived = min(known, default=None)
    if loss is not None and survived is not None:
        survived = min(survived, loss.faults - 1)
    complete = all(part.complete for part in parts) or (loss is not None and survived == loss.faults - 1)
    why = "" if complete else next((part.why for part in parts if part.why), "")
    return Answer(parts[0].guarantee, kind, survived, loss, complete, sum(part.states for part in parts), why)
