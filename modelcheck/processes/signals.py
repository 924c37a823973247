"""What a signal that asks to end does to work that takes long: Ctrl-C, SIGTERM and SIGHUP are one thing.

NOTE(ending): the first request ends the work in order, with all that was found by then; the next ends the
program at once.  A command line makes each of these signals a request.  In programs of others only
Ctrl-C is one, since what SIGTERM means to them is theirs to say.  Processes that work for this one leave all
of them to it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from math import inf
from time import monotonic, sleep
from types import FrameType
from typing import Self

from modelcheck.contract.result import End
from modelcheck.processes.starting import is_leaving

ENDING: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LEFT = 0.02  # seconds until a callback in which a request was lost is over
ECHO = 0.5  # seconds in which the next signal is the same request: `timeout` sends two, as do shells

Handler = Callable[[int, FrameType | None], object] | int | None


class Requests:
    """Distinguishes new requests to end from repetitions of the last signal."""

    def __init__(self) -> None:
        self._first: list[None] = [None]  # taken by whoever is first
        self._over = inf  # when the next signal is a new request

    def is_new(self) -> bool:
        """Whether this signal is a new request.

        The next signal may be handled in the midst of this, so who is first is decided by one operation.
        """
        if monotonic() >= self._over:
            self._over = inf
            self._first.append(None)
        try:
            self._first.pop()
        except IndexError:
            return False
        self._over = monotonic() + ECHO
        return True

    def lost(self) -> None:
        """Note that the last request had no effect: the next signal is a new one."""
        self._over = -inf


class EndHandler:
    """A signal handler that calls `heard` for each request to end."""

    def __init__(self, heard: Callable[[], object], requests: Requests) -> None:
        self.heard = heard
        self.requests = requests

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        """Call `heard`, unless the signal repeats the last."""
        if self.requests.is_new():
            self.heard()


def interrupt() -> None:
    """Raise KeyboardInterrupt, the default effect of a request to end."""
    raise KeyboardInterrupt


@contextmanager
def requests_to_end() -> Iterator[None]:
    """A context in which every signal that asks to end raises KeyboardInterrupt."""
    usual, requests = (signal.SIG_DFL, signal.default_int_handler), Requests()
    wanted = _handled(EndHandler(interrupt, requests), lambda _, known: known in usual or is_leaving(known))
    with wanted, _repeated(requests):
        yield


@contextmanager
def _repeated(requests: Requests) -> Iterator[None]:
    """A context in which a request comes again that was lost in a finaliser or a callback of references.

    Whatever these raise is dropped, and importing a module runs such a callback.
    """
    hook = sys.unraisablehook

    def lost(args: sys.UnraisableHookArgs) -> None:
        if args.exc_type is KeyboardInterrupt and threading.current_thread() is threading.main_thread():
            requests.lost()
            threading.Thread(target=_send_again, args=(threading.get_ident(),), daemon=True).start()
        else:
            hook(args)

    sys.unraisablehook = lost
    try:
        yield
    finally:
        if sys.unraisablehook is lost:  # and no other hook around it
            sys.unraisablehook = hook


def _send_again(to: int) -> None:
    """Send Ctrl-C to a thread, when it has left the callback."""
    sleep(LEFT)
    signal.pthread_kill(to, signal.SIGINT)


@contextmanager
def ending_at_once() -> Iterator[None]:
    """A context in which each of these signals ends the process, for servers."""
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in ENDING if is_main}
    for number, known in before.items():
        if known is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        for number, known in before.items():
            signal.signal(number, known)


@contextmanager
def at_request(heard: Callable[[], object], *, if_free: bool = False) -> Iterator[None]:
    """A context in which requests to end call `heard` instead of raising KeyboardInterrupt.

    With `if_free` only where nothing else hears them.  Only the main thread can receive signals: in any
    other nothing is heard.
    """
    ours = [known for number in ENDING if isinstance(known := signal.getsignal(number), EndHandler)]
    handler = EndHandler(heard, ours[0].requests if ours else Requests())
    with _handled(handler, lambda number, known: _is_heard(number, known, if_free=if_free)):
        yield


@contextmanager
def _handled(handler: EndHandler, is_wanted: Callable[[int, Handler], bool]) -> Iterator[None]:
    """A context with the handler in place of those that `is_wanted` selects; main thread only."""
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in ENDING if is_main}
    taken = {number: known for number, known in before.items() if is_wanted(number, known)}
    for number in taken:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, known in taken.items():
            signal.signal(number, known)


def _is_heard(number: int, handler: Handler, *, if_free: bool) -> bool:
    """Whether a signal with this handler is a request to end."""
    if handler is signal.default_int_handler:
        return True
    if isinstance(handler, EndHandler):
        return not if_free or handler.heard is interrupt
    return callable(handler) and number == signal.SIGINT and not if_free


class Interruptible:
    """A base class for work in which the first request to end only sets `ended`.

    That is within it as a context; the next one is a KeyboardInterrupt.  See NOTE(ending).
    """

    def __init__(self, ended: str = "") -> None:
        self.ended = ended  # why nothing more is done
        self._listening: AbstractContextManager[None] | None = None

    def __enter__(self) -> Self:
        self._listening = at_request(self._interrupt)
        self._listening.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        if self._listening is not None:
            self._listening.__exit__(None, None, None)

    def close(self) -> None:
        """Release resources."""

    def _interrupt(self) -> None:
        """Handle a request to end."""
        if self.ended == End.INTERRUPTED.value:
            raise KeyboardInterrupt
        self.ended = End.INTERRUPTED.value


@contextmanager
def heard_in_native_code() -> Iterator[None]:
    """A context in which native code that handles only Ctrl-C gets it for other signals too.

    Costs a thread.  What comes of it afterwards is an echo.
    """
    others = [number for number in ENDING if number != signal.SIGINT]
    is_ours = any(isinstance(signal.getsignal(number), EndHandler) for number in others)
    if not is_ours or threading.current_thread() is not threading.main_thread():
        yield
        return
    out, into = os.pipe()
    os.set_blocking(into, False)
    before = signal.set_wakeup_fd(into, warn_on_full_buffer=False)
    thread = threading.Thread(target=_pass_on, args=(out, threading.get_ident(), set(others)), daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(into)
        thread.join()
        os.close(out)


def _pass_on(out: int, to: int, numbers: set[int]) -> None:
    """Send SIGINT to the thread `to` for each of these signals whose number is read from the pipe `out`."""
    while come := os.read(out, 1):
        if come[0] in numbers:
            signal.pthread_kill(to, signal.SIGINT)


def ignore_all() -> None:
    """Ignore all requests to end, which the parent process handles."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def blocked(*numbers: int) -> Iterator[None]:
    """A context in which signals are blocked, for this thread and new processes."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
