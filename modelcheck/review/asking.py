"""Questions to one engine, which keeps what it has compiled, within what may be spent on all of them."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Protocol, Self

from modelcheck.api import Unsupported, check
from modelcheck.engine import Family, Limits
from modelcheck.explicit.engine import ExplicitEngine
from modelcheck.report import Event, Progress, Reporter, Stopped
from modelcheck.result import End, Outcome
from modelcheck.timings import Timings
from spec.frozen import frozen
from spec.ir import Check, Model

SHARE = 3  # one search may have a third of what is left, so that a large one leaves something for others


class Watch(Reporter, Protocol):
    """Someone who is told what is asked, and how each search goes."""

    def begin(self, title: str) -> None:
        """From here on it is about something else."""
        ...


@frozen
class Effort:
    """How many states all searches together may find, and the seconds they may take; None: any number."""

    states: int | None = None
    seconds: float | None = None


class Asking:
    """One question after the other; `ended` is why there are no more, `states` how many were found in all.

    Within it as a context the first Ctrl-C only ends the questions, so that what was
    found by then can be told; the second one is a KeyboardInterrupt as usual.
    """

    def __init__(self, effort: Effort, watch: Watch, timings: Timings | None = None) -> None:
        self.ended = ""
        self.states = 0
        self._searches = 0
        self._effort = effort
        self._watch = watch
        self._timings = timings or Timings()
        self._timings.inner = watch
        self._engine = ExplicitEngine(series=True)
        self._until = None if effort.seconds is None else time.monotonic() + effort.seconds
        self._before: Callable[[int, FrameType | None], object] | int | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        self._engine.close()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        if self.ended:
            raise KeyboardInterrupt
        self.ended = End.INTERRUPTED.value

    def outcome(self, what: str, model: Model, asked: Check, family: Family) -> Outcome | None:
        """What comes out, up to symmetry, perhaps cut short; None when nothing is left to spend."""
        limits = self._limits()
        if limits is None:
            return None
        self._searches += 1
        self._watch.begin(f"search {self._searches}: {what}")
        found = self._checked(model, asked, family, limits)
        self.states += found.findings.stats.states
        return found

    def _checked(self, model: Model, asked: Check, family: Family, limits: Limits) -> Outcome:
        try:
            return check(
                model,
                asked,
                engine=self._engine,
                limits=limits,
                reporter=self,
                symmetry=True,
                family=family,
            )
        except Unsupported:  # too wide for the fast one
            return check(model, asked, limits=limits, reporter=self, symmetry=True)

    def tell(self, event: Event) -> None:
        """Pass it on; nothing more is searched after Ctrl-C."""
        self._timings.tell(event)
        if self.ended and isinstance(event, Progress):
            raise Stopped(End.INTERRUPTED)

    @property
    def why_not(self) -> str:
        """Why a question was not answered."""
        return self.ended or (End.SECONDS if self._is_late() else End.STATES).value

    def _limits(self) -> Limits | None:
        """What one search may spend; None when there is nothing left."""
        if self.ended or self._is_late():
            return None
        states = self._effort.states
        if states is not None and self.states >= states:
            return None
        left = None if self._until is None else self._until - time.monotonic()
        return Limits(None if states is None else 1 + (states - self.states) // SHARE, left)

    def _is_late(self) -> bool:
        return self._until is not None and time.monotonic() >= self._until
