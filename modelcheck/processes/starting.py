"""Ctrl-C while the program is loaded: the program ends at once and silently, since no work was begun."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130  # the exit code in shells of a process that Ctrl-C has ended


def leave_at_once() -> None:
    """Make Ctrl-C end the process without a traceback, unless it is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def is_leaving(handler: object) -> bool:
    """Whether a signal handler is that of `leave_at_once`."""
    return handler is _leave


def _leave(_signal: int, _frame: FrameType | None) -> NoReturn:
    """The handler."""
    os._exit(INTERRUPTED)
