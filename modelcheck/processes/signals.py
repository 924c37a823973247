"""What Ctrl-C and other signals do to work that goes on for long."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

from modelcheck.contract.result import End


class Interruptible:
    """Work in which the first Ctrl-C only sets `ended`, so that what was found by then can be shown.

    That is within it as a context; the second one is a KeyboardInterrupt as usual.  Only the main
    thread can receive signals.
    """

    def __init__(self, ended: str = "") -> None:
        self.ended = ended  # why nothing more is done
        self._before: Callable[[int, FrameType | None], object] | int | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def close(self) -> None:
        """Let go what the work has taken; Ctrl-C still waits."""

    def _interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        if self.ended == End.INTERRUPTED.value:
            raise KeyboardInterrupt
        self.ended = End.INTERRUPTED.value


@contextmanager
def like_ctrl_c(*numbers: int) -> Iterator[None]:
    """These signals are a KeyboardInterrupt, where they would end the process and leave what it has begun.

    What ignores them goes on ignoring them.  Only the main thread can receive signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    changed = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def blocked(number: int) -> Iterator[None]:
    """A signal waits, for this thread and processes that it starts; where the system can do that."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
