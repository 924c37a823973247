"""How a process ended, in words that claim no more than its exit code shows."""

from __future__ import annotations

import signal

BY_SIGNAL = {
    signal.SIGKILL: "was killed (SIGKILL), by the system as when memory runs out, or by another process",
    signal.SIGTERM: "was terminated (SIGTERM) by another process",
}
CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGABRT, signal.SIGFPE}


def ending_words(code: int | None) -> str:
    """How a process ended, as a predicate: "was terminated (SIGTERM) by another process".

    `code` is its exit code as Python counts, where a negative number is a signal; None is one that is
    not known.
    """
    if code is None or code >= 0:
        return f"ended with exit code {code}" if code else "ended without an answer"
    try:
        ended_by = signal.Signals(-code)
    except ValueError:
        return f"was ended by signal {-code}"
    if ended_by in CRASHES:
        return f"crashed ({ended_by.name}), by a bug in it or in a library, or for want of memory"
    return BY_SIGNAL.get(ended_by, f"was ended by {ended_by.name}")
