"""Limits that hold whatever is running, also within one evaluation, code generation or a replay.

NOTE(watch): a search checks the limits between two steps, and ends in order with all
that was found.  A watch is for the rest.  When a limit is passed by far, it raises `Stopped` where
Python runs in the main thread.  When it is passed by twice as much and that was not heard, since
what runs is native code, it calls for the last word, which ends the program.  Nothing may be
found by then, and no property is reported as holding.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType
from typing import ClassVar

from modelcheck.contract.report import Stopped
from modelcheck.contract.result import End
from modelcheck.processes.memory import resident
from modelcheck.processes.signals import blocked
from spec.frozen import frozen

LOOK = 0.05  # seconds between two looks at the clock and at the memory
AGAIN = 2.0  # seconds in which what was heard comes out of everything that runs
LOOKS = "watch"  # the name of its thread, which takes no lock that another thread needs
LastWord = Callable[[End], None]
CAN_RAISE = hasattr(signal, "pthread_kill")


@frozen
class _WatchLimits:
    """Limits of time and memory; None is unlimited."""

    seconds: float | None
    memory: int | None

    def passed(self, started: float) -> End | None:
        """The limit that is exceeded; None if none is."""
        if self.seconds is not None and monotonic() - started >= self.seconds:
            return End.SECONDS
        if self.memory is not None and resident() >= self.memory:
            return End.MEMORY
        return None


def _soft(seconds: float | None, memory: int | None) -> _WatchLimits:
    """The limits at which Stopped is raised."""
    return _WatchLimits(
        None if seconds is None else 1.5 * seconds + 1,
        None if memory is None else memory + memory // 20 + 50_000_000,
    )


def _hard(seconds: float | None, memory: int | None) -> _WatchLimits:
    """The limits at which `last_word` is called, after time to show what was found."""
    return _WatchLimits(
        None if seconds is None else 2.5 * seconds + 2,
        None if memory is None else memory + memory // 8 + 100_000_000,
    )


@contextmanager
def watched(seconds: float | None, memory: int | None, last_word: LastWord | None = None) -> Iterator[None]:
    """A context in which Stopped is raised if a limit is far exceeded; if that fails, calls `last_word`.

    Only the main thread can be stopped: in any other there is but the last word.  Costs a
    thread that looks at the clock and the memory twenty times a second.  May be nested.
    """
    if seconds is None and memory is None:
        yield
        return
    watch = _Watch(seconds, memory, last_word)
    with watch.handling():
        watch.start()
        try:
            yield
        finally:
            watch.end()


@contextmanager
def held() -> Iterator[None]:
    """A context in which the watch raises no Stopped, for code that checks the limits itself."""
    if not CAN_RAISE:
        yield
        return
    with blocked(signal.SIGALRM):
        yield


def _is_in_finaliser(frame: FrameType | None) -> bool:
    """Whether a frame, or one around it, runs a finaliser, which must not be interrupted."""
    while frame is not None and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    return frame is not None


class _Watch:
    """A thread that checks the limits, and a signal handler in the main thread."""

    _innermost: ClassVar[_Watch | None] = None  # of those that are handled

    def __init__(self, seconds: float | None, memory: int | None, last_word: LastWord | None) -> None:
        self._soft, self._hard = _soft(seconds, memory), _hard(seconds, memory)
        self._last_word = last_word
        self._passed: End | None = None
        self.last_raised: float | None = None  # in the main thread, by this watch or by one in it
        self.around: _Watch | None = None
        self._over = threading.Event()
        self._is_handled = False
        self._thread = threading.Thread(target=self._look, daemon=True, name=LOOKS)
        self._started = monotonic()

    @contextmanager
    def handling(self) -> Iterator[None]:
        """A context with the signal handler installed, in the main thread."""
        if not CAN_RAISE or threading.current_thread() is not threading.main_thread():
            yield
            return
        before, hook = signal.getsignal(signal.SIGALRM), sys.unraisablehook

        def stop(number: int, frame: FrameType | None) -> None:
            passed = self._passed
            if passed is not None and not _is_in_finaliser(frame):
                self._passed = None
                if self._may_raise():
                    self._raised()
                    raise Stopped(passed)
            if passed is None and callable(before):  # the signal was for the watch around this one
                before(number, frame)

        def lost(args: sys.UnraisableHookArgs) -> None:
            if isinstance(args.exc_value, Stopped):  # in a callback of the garbage collector
                self.last_raised = None
            else:
                hook(args)

        signal.signal(signal.SIGALRM, stop)
        sys.unraisablehook = lost
        self._is_handled = True
        self.around, _Watch._innermost = _Watch._innermost, self
        try:
            yield
        finally:
            _Watch._innermost = self.around
            if sys.unraisablehook is lost:  # and no other hook around it
                sys.unraisablehook = hook
            signal.signal(signal.SIGALRM, before)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def end(self) -> None:
        """Stop the thread."""
        self._over.set()
        self._thread.join()
        self._passed = None

    def _may_raise(self) -> bool:
        """Whether enough time has passed since the last raise, which some code may have swallowed."""
        return self.last_raised is None or monotonic() - self.last_raised > AGAIN

    def _raised(self) -> None:
        """Record that Stopped was raised, also for watches around this one.

        Otherwise it would stop the telling of what was found up to the limit.
        """
        watch: _Watch | None = self
        while watch is not None:
            watch.last_raised = monotonic()
            watch = watch.around

    def _look(self) -> None:
        """Check the limits periodically, in the thread."""
        while not self._over.wait(LOOK):
            if (
                self._is_handled
                and self._passed is None
                and self._may_raise()
                and (passed := self._soft.passed(self._started)) is not None
            ):
                self._passed = passed
            if self._passed is not None:  # until it is heard
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)
            if self._last_word is not None and (passed := self._hard.passed(self._started)) is not None:
                self._last_word(passed)
                return
