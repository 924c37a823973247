"""Ctrl-C while the program is loaded: the program ends at once and silently, since no work was begun."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130  # the exit code in shells of a process that Ctrl-C has ended


def leave_at_once() -> None:
    """Let Ctrl-C end the process from here on, if it is not ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def is_leaving(handler: object) -> bool:
    """Whether that is what a handler does."""
    return handler is _leave


def _leave(_signal: int, _frame: FrameType | None) -> NoReturn:
    os._exit(INTERRUPTED)
