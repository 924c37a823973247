"""Ctrl-C while a solver is asked, which must not get lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import ArgumentError


@contextmanager
def interruptible() -> Iterator[Callable[[], None]]:
    """Within, Ctrl-C is a KeyboardInterrupt, and what this gives raises one that got lost.

    In the midst of a call of z3 it becomes another error, and where one of its values is let go, nothing.
    Where somebody else minds Ctrl-C, and in any other thread than the main one, it raises nothing.
    """
    pressed: list[int] = []

    def press(number: int, _: object) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    def look() -> None:
        if pressed:
            raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    is_ours = threading.current_thread() is threading.main_thread() and before is signal.default_int_handler
    if is_ours:
        signal.signal(signal.SIGINT, press)
    try:
        yield look
    except ArgumentError as error:
        if KeyboardInterrupt.__name__ in str(error):
            raise KeyboardInterrupt from None
        raise
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, before)
