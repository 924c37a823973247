"""Ctrl-C, or a limit, while a solver is asked or told, which must not get lost."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import ArgumentError
from types import FrameType

from modelcheck.contract.report import Stopped
from modelcheck.contract.result import End


def forgive_half_made_values() -> None:
    """From now on a value of z3 that an interrupt left half made is let go without a traceback."""
    before = sys.unraisablehook

    def hook(lost: sys.UnraisableHookArgs) -> None:
        # Which object it was, only Python before 3.14 says.
        where = lost.exc_traceback.tb_frame.f_globals if lost.exc_traceback is not None else {}
        is_half_made = isinstance(lost.exc_value, AttributeError)
        if not is_half_made or not str(where.get("__name__", "")).startswith("z3."):
            before(lost)

    sys.unraisablehook = hook


@contextmanager
def interruptible() -> Iterator[Callable[[], None]]:
    """What this gives raises the KeyboardInterrupt of a Ctrl-C that got lost.

    In the midst of a call of z3 it becomes another error, and where one of its values is let go, nothing;
    the first is so of the Stopped of a watch too.  That z3 has no more memory, also for what it is only told,
    is a MemoryError.
    Where Ctrl-C is nothing to this process, and in any other thread than the main one, it raises nothing.
    """
    pressed: list[int] = []
    before = signal.getsignal(signal.SIGINT)

    def press(number: int, frame: FrameType | None) -> None:
        try:
            if callable(before):  # Python's own handler, or another one
                before(number, frame)
        except KeyboardInterrupt:
            pressed.append(number)
            raise

    def look() -> None:
        if pressed:
            raise KeyboardInterrupt

    is_ours = threading.current_thread() is threading.main_thread() and callable(before)
    if is_ours:
        signal.signal(signal.SIGINT, press)
    try:
        yield look
    except Exception as error:
        meant = _meant(error)
        if meant is not None:
            raise meant from None
        raise
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, before)


def _meant(error: Exception) -> BaseException | None:
    """What an error of z3, or of a call of it, stands for."""
    said = str(error)
    if isinstance(error, ArgumentError):
        if KeyboardInterrupt.__name__ in said:
            return KeyboardInterrupt()
        if Stopped.__name__ in said:
            return Stopped(next(end for end in End if end.value in said))
    if type(error).__module__.startswith("z3.") and "memory" in said:
        return MemoryError()
    return None
