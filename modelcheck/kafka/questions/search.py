"""Questions to one engine, which keeps what it has compiled, within what may be spent on all of them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from modelcheck.answers.timings import Timings
from modelcheck.api import Unsupported, check, task_of
from modelcheck.contract.engine import Engine, Limits
from modelcheck.contract.report import Event, Progress, Reporter, Silent, Stopped
from modelcheck.contract.result import End, Outcome
from modelcheck.explicit.engine import ExplicitEngine
from modelcheck.kafka.questions.answer_cache import Answers, Found, found, question
from modelcheck.kafka.questions.question import ANY, Posed
from modelcheck.processes.signals import Interruptible
from modelcheck.search.reference import ReferenceEngine
from spec.frozen import frozen

CLOSES = 100_000  # states, up to which a search is made again to see whether more faults would add anything
FEW = 1_000  # states, up to which a small search is interpreted: to make a kernel takes as long
FORGETS = 2  # faults, from which on it is worth it: with one the last layer is small
SHARE = 3  # one search may have a third of what is left, so that a large one leaves something for others


class Watch(Reporter, Protocol):
    """Receives the progress of searches."""

    def begin(self, title: str) -> None:
        """Begin a new topic of the searches that follow."""
        ...


class Unwatched(Silent):
    """A watcher of searches that shows no progress."""

    def begin(self, title: str) -> None:
        """Ignore a topic."""


@frozen
class Effort:
    """The limits for all searches of a run: states and seconds; None is unlimited.

    `each` is how many states one search may find, `threads` how many take part in it (None: all cores),
    `memory` how many bytes may be in use.
    """

    states: int | None = None
    seconds: float | None = None
    each: int | None = None
    threads: int | None = None
    memory: int | None = None


class Asking(Interruptible):
    """Runs searches with a common limit and cache; `ended` is why no more are run.

    What an earlier run has answered costs nothing again: `known` of the states were found then.
    """

    def __init__(self, effort: Effort, watch: Watch, timings: Timings | None = None, ended: str = "") -> None:
        super().__init__(ended)
        self.states = self.known = 0
        self._answers = Answers()
        self._asked: set[str] = set()  # a question that comes again finds no more states
        self._searches = 0
        self._effort = effort
        self._watch = watch
        self._timings = timings or Timings()
        self._timings.inner = watch
        self._engine = ExplicitEngine(series=True)
        self._until = None if effort.seconds is None else time.monotonic() + effort.seconds

    def again(self, times: int) -> Asking:
        """Further questions with their own limit of states, `times` as many, and the same end of time."""
        effort = self._effort
        seconds = None if self._until is None else max(0.0, self._until - time.monotonic())
        states = None if effort.states is None else times * effort.states
        spend = Effort(states, seconds, effort.each, effort.threads, effort.memory)
        return Asking(spend, self._watch, self._timings, self.ended)

    def add(self, other: Asking) -> None:
        """Count the states of further questions here, and take over why they came to an early end."""
        self.states, self.known = self.states + other.states, self.known + other.known
        self.ended = self.ended or other.ended

    def close(self) -> None:
        """Stop the background compilation."""
        self._engine.close()

    def foresee(self, coming: Iterable[Posed]) -> None:
        """Compile the kernels of coming questions on another core; answered ones cost nothing."""
        if self._effort.threads != 1 and not self.ended:
            new = (each for each in coming if not self._answers.has(question(each.model, each.check)))
            self._engine.foresee(task_of(each.model, each.check, each.family, symmetry=True) for each in new)

    def found(self, asked: Posed, what: str = "", *, small: bool = False) -> Found | None:
        """The result of a search, possibly incomplete; None if no effort is left.

        `what` is shown to a watcher; by default the question.
        A `small` search may have so few states that to make a kernel for it takes longer than to do without.
        Raises Unsupported where no engine can do it, which is so of no review.
        """
        key = question(asked.model, asked.check)
        is_again = key in self._asked
        self._asked.add(key)
        if (known := self._answers.get(key, asked.model, asked.check)) is not None:
            if not is_again:
                self.states, self.known = self.states + known.states, self.known + known.states
            return known
        limits = self._limits(self._answers.short(key))
        if limits is None:
            return None
        self._searches += 1
        self._watch.begin(f"search {self._searches}: {what or asked.question}")
        outcome = self._counted(asked, limits, small=small)
        self._answers.keep(key, outcome)
        self.states += outcome.findings.stats.states
        return found(outcome)

    def _counted(self, asked: Posed, limits: Limits, *, small: bool) -> Outcome:
        """The outcome with as few states as it takes: NOTE(forgotten).

        A search of any faults that finds few states is made again with all they have, which shows whether
        it holds for any number of faults; of one that finds many that is not looked for.
        """
        faults = asked.question.budget.total if asked.question.kind == ANY else None
        if faults is None or faults < FORGETS:
            return self._checked(asked, limits, small=small, forgets=False)
        outcome = self._checked(asked, limits, small=small, forgets=True)
        findings = outcome.findings
        if findings.end is not End.COMPLETE or findings.stats.states > CLOSES:
            return outcome
        return self._checked(asked, limits, small=small, forgets=False)

    def _checked(self, asked: Posed, limits: Limits, *, small: bool, forgets: bool) -> Outcome:
        """The outcome by the compiled engine and with symmetry, where they apply; few states interpreted."""
        if small:
            few = replace(limits, states=min(limits.states or FEW, FEW))
            with suppress(Unsupported):
                outcome = self._searched(asked, few, ReferenceEngine(), symmetry=True, forgets=forgets)
                if outcome.findings.end is not End.STATES or few == limits:
                    return outcome
        for engine, symmetry in ((self._engine, True), (self._engine, False), (None, True)):
            with suppress(Unsupported):
                return self._searched(asked, limits, engine, symmetry=symmetry, forgets=forgets)
        return self._searched(asked, limits, None, symmetry=False, forgets=forgets)

    def _searched(
        self, asked: Posed, limits: Limits, engine: Engine | None, *, symmetry: bool, forgets: bool
    ) -> Outcome:
        """The outcome by an engine."""
        return check(
            asked.model,
            asked.check,
            engine=engine,
            limits=limits,
            reporter=self,
            symmetry=symmetry,
            threads=self._effort.threads,
            family=asked.family,
            forgets=forgets,
        )

    def tell(self, event: Event) -> None:
        """Forward an event to the watcher; stop searching after Ctrl-C."""
        self._timings.tell(event)
        if self.ended and isinstance(event, Progress):
            raise Stopped(End.INTERRUPTED)

    @property
    def why_not(self) -> str:
        """The reason why a question was not answered."""
        return self.ended or (End.SECONDS if self._is_late() else End.STATES).value

    def _limits(self, short: int) -> Limits | None:
        """The limits for one search, which needs more than `short` states; None if too few are left."""
        if self.ended or self._is_late():
            return None
        seconds = None if self._until is None else self._until - time.monotonic()
        if self._effort.states is None:
            return Limits(self._effort.each, seconds, self._effort.memory)
        left = self._effort.states - (self.states - self.known)
        return (
            None
            if left <= 0
            else Limits(min(left, max(1 + left // SHARE, 2 * short)), seconds, self._effort.memory)
        )

    def _is_late(self) -> bool:
        """Whether the time is over."""
        return self._until is not None and time.monotonic() >= self._until
