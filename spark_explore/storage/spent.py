"""Where the time of a search goes: seconds of a core, by what is done in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from time import perf_counter
from typing import TYPE_CHECKING, Any

from spark_explore.storage.store import Around, Store

if TYPE_CHECKING:
    from modelcheck.explicit.native.kernel import Kernel  # which loads a compiler, and a status needs none

OF_KERNEL = {
    "expand": "expand",
    "deduplicate": "duplicates",
    "take_all": "duplicates",
    "part": "duplicates",
    "ask": "ask",
}
OF_SORTED = {
    "sort_by_value": "sort",
    "distinct": "sort",
    "subtract": "seen",
    "drop": "seen",
}
LEVELS = "levels"  # whole levels in the process of the driver
TASKS = "tasks"  # whole tasks of jobs, as the workers see them
JOBS = "jobs"  # whole jobs, on all cores
BYTES = "bytes read"


class CoreSeconds(defaultdict[str, float]):
    """Core seconds by activity, and the bytes of files that were read."""

    def __init__(self, spent: Mapping[str, float] | None = None) -> None:
        super().__init__(float, spent or {})

    def add(self, spent: Mapping[str, float]) -> None:
        """Add the seconds of another."""
        for what, seconds in spent.items():
            self[what] += seconds


class Stopwatch:
    """Measures the core seconds of this process by activity."""

    def __init__(self) -> None:
        self._spent = CoreSeconds()

    @contextmanager
    def on(self, what: str) -> Iterator[None]:
        """A context whose time counts for an activity."""
        started = perf_counter()
        try:
            yield
        finally:
            self.count(what, perf_counter() - started)

    def count(self, what: str, more: float) -> None:
        """Add to what is counted."""
        self._spent[what] += more

    def take(self) -> CoreSeconds:
        """The seconds since the last call."""
        spent, self._spent = self._spent, CoreSeconds()
        return spent

    def kernel(self, kernel: Kernel) -> Kernel:
        """The kernel with functions whose time counts."""
        counted = copy(kernel)
        counted.call = self._counted(OF_KERNEL, kernel.call)
        return counted

    def sorted_states(self, kernel: Kernel) -> dict[str, Any]:
        """The functions on sorted states, of which some count their time."""
        return self._counted(OF_SORTED, kernel.sorted_states())

    def _counted(self, what: Mapping[str, str], call: Mapping[str, Any]) -> dict[str, Any]:
        """The functions, of which some count their time."""
        return {**call, **{name: self._timed(own, call[name]) for name, own in what.items()}}

    def _timed(self, what: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The function with its time counted."""

        def timed(*args: Any) -> Any:  # noqa: ANN401 - whatever the function takes and gives
            with self.on(what):
                return call(*args)

        return timed


class TimedStore(Around):
    """A store whose reading and writing time counts, and how much is read."""

    def __init__(self, store: Store, watch: Stopwatch) -> None:
        super().__init__(store)
        self._watch = watch

    def put(self, name: str, parts: Sequence[bytes]) -> None:
        """Write a file."""
        with self._watch.on("write"):
            self._store.put(name, parts)

    def read(self, name: str, start: int = 0, size: int | None = None) -> bytes:
        """Some of a file's bytes."""
        with self._watch.on("read"):
            found = self._store.read(name, start, size)
        self._watch.count(BYTES, len(found))
        return found


def as_json(spent: CoreSeconds) -> dict[str, float]:
    """The seconds as JSON data, rounded to milliseconds."""
    return {what: round(seconds, 3) for what, seconds in spent.items()}


def line(spent: CoreSeconds) -> str:
    """The seconds in a line for people, the most expensive activity first."""
    parts = {what: seconds for what, seconds in spent.items() if what not in {LEVELS, TASKS, JOBS}}
    parts["Python"] = spent[LEVELS] + spent[TASKS] - sum(parts.values())
    parts["Java and waiting"] = spent[JOBS] - spent[TASKS]
    said = (f"{what} {seconds:.1f}" for what, seconds in sorted(parts.items(), key=lambda part: -part[1]))
    return f"{spent[LEVELS] + spent[JOBS]:.1f} s of cores: {' · '.join(said)}"
