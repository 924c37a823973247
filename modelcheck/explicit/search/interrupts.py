"""Ctrl-C that waits for a good moment, so that what was counted stays whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts() -> Iterator[Sequence[int]]:
    """The interrupts that have come, to be looked at now and then; the third in a row interrupts at once.

    Only the main thread can receive signals; in another, nothing ever comes.
    """
    come: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield come
        return

    def note(number: int, _frame: FrameType | None) -> None:
        come.append(number)
        if len(come) > 2:
            raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # somebody else minds them
        yield come
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield come
    finally:
        signal.signal(signal.SIGINT, before)
