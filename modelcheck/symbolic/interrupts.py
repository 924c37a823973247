"""A request to end, or a limit, while a solver is working or taking formulas, which must not get lost."""

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
from modelcheck.processes.signals import ENDING, heard_in_native_code


def let_go_silently() -> None:
    """Suppress the tracebacks that interrupts cause when Python frees a z3 object.

    The object may be incomplete, or the interrupt may come while it is freed, which `interruptible` notices.
    """
    before = sys.unraisablehook

    def hook(lost: sys.UnraisableHookArgs) -> None:
        # Only Python before 3.14 names the object.
        where = lost.exc_traceback.tb_frame.f_globals if lost.exc_traceback is not None else {}
        is_known = isinstance(lost.exc_value, AttributeError | KeyboardInterrupt)
        if not is_known or not str(where.get("__name__", "")).startswith("z3."):
            before(lost)

    sys.unraisablehook = hook


@contextmanager
def interruptible() -> Iterator[Callable[[], None]]:
    """A context for calls of z3 that yields a function, which raises KeyboardInterrupt if one got lost.

    A request to end (NOTE(ending)) becomes another error in the midst of a call of z3, and is lost while
    a value of z3 is freed.  The context raises KeyboardInterrupt and Stopped for the former, and MemoryError
    if z3 has no more memory, also while it takes formulas.
    In other threads than the main one, and where a signal has no handler, the function raises nothing.
    """
    pressed: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: known for number in ENDING if is_main and callable(known := signal.getsignal(number))}

    def press(number: int, frame: FrameType | None) -> None:
        try:
            before[number](number, frame)
        except KeyboardInterrupt:
            pressed.append(number)
            raise

    def look() -> None:
        if pressed:
            raise KeyboardInterrupt

    with heard_in_native_code():
        for number in before:
            signal.signal(number, press)
        try:
            yield look
        except Exception as error:
            meant = _meant(error)
            if meant is not None:
                raise meant from None
            raise
        finally:
            for number, known in before.items():
                signal.signal(number, known)


def _meant(error: Exception) -> BaseException | None:
    """The exception that an error of z3, or of a call of it, means; None if it is an error of its own."""
    said = str(error)
    if isinstance(error, ArgumentError):
        if KeyboardInterrupt.__name__ in said:
            return KeyboardInterrupt()
        if Stopped.__name__ in said:
            return Stopped(next(end for end in End if end.value in said))
    if type(error).__module__.startswith("z3.") and "memory" in said:
        return MemoryError()
    return None
