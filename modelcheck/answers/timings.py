"""What the time of a command went into."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, process_time

from modelcheck.contract.report import Event, PhaseDone, Reporter, Silent
from modelcheck.contract.wording import seconds_words

PHASES = ("start", "read", "write", "compile", "load", "search", "replay", "tell")


class Timings:
    """Measures seconds by phase; as a reporter it also collects engines' phases."""

    def __init__(self, inner: Reporter | None = None) -> None:
        self.inner: Reporter = inner or Silent()
        self._spent = dict.fromkeys(PHASES, 0.0)
        self._spent["start"] = process_time()
        self._since = perf_counter()

    def tell(self, event: Event) -> None:
        """Record a phase's time, or pass the event on."""
        if isinstance(event, PhaseDone):
            self._spent[event.phase] += event.seconds
        else:
            self.inner.tell(event)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """A context whose time counts for a phase, except time counted for others meanwhile."""
        began, known = perf_counter(), sum(self._spent.values())
        try:
            yield
        finally:
            others = sum(self._spent.values()) - known
            self._spent[name] += perf_counter() - began - others

    def words(self) -> str:
        """The phases with their seconds, and the sum: `search 0.31 · tell 0.05 = 0.4 s`."""
        total = self._spent["start"] + perf_counter() - self._since
        rest = total - sum(self._spent.values())
        parts = [*self._spent.items(), ("rest", rest)]
        parts_ = " · ".join(f"{name} {seconds:.2f}" for name, seconds in parts if seconds >= 0.005)
        return f"time: {parts_} = {seconds_words(total)}"
