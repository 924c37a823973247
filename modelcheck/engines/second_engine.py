"""A second engine in parallel to the one that searches, in a process of its own: what it has found so far."""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from math import inf
from multiprocessing.connection import Connection
from time import monotonic

from counterexamples.trace import Trace
from modelcheck.contract.engine import Task
from modelcheck.contract.report import Event, Progress, RunFound
from modelcheck.contract.result import End, Findings
from modelcheck.engines.registry import engine
from modelcheck.processes.children import Child, started
from spec.frozen import frozen

EAGER = 60.0  # seconds for which it has its full share of the cores; most short runs are found by then
NICE = 10  # how much less it asks for from then on
LIBRARIES = 1_000_000_000  # bytes of addresses, hardly of memory, that a process has before it begins


@frozen
class Order:
    """The order to a second engine: its name, options, and the task."""

    engine: str
    options: Mapping[str, object]
    task: Task


@frozen
class NoTask:
    """A message that the engine cannot do the task."""


@frozen
class Broke:
    """A message that the engine raised an exception, a bug in modelcheck."""

    problem: str


Message = Event | Findings | NoTask | Broke


class SecondEngine:
    """An engine in a process of its own; `close` kills it."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.runs: dict[str, Trace] = {}  # by the property that each decides
        self.depth = -1  # of everything else no run of up to this many steps decides anything
        self.problem = ""
        self.refused = False
        self._child: Child | None = started(_serve)
        with suppress(OSError):  # it is gone already, which `listen` finds out
            self._child.pipe.send(order)

    @property
    def is_running(self) -> bool:
        """Whether more messages may come."""
        return self._child is not None

    def listen(self, seconds: float = 0.0) -> bool:
        """Process its messages, waiting at most `seconds` for the first; whether there was any."""
        heard = False
        while self._child is not None and self._child.pipe.poll(0 if heard else seconds):
            heard = True
            try:
                self._take(self._child.pipe.recv())
            except (EOFError, OSError):
                self.problem = f"its process {self._child.ending()}"
                self.close()
        return heard

    def close(self) -> None:
        """Kill the process."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _take(self, message: Message) -> None:
        """Process a message: progress, a run, the end, a refusal or a bug."""
        match message:
            case Progress(depth=depth):
                self.depth = depth - 1
            case RunFound(name, _, _, Trace() as trace):
                self.runs[name] = replace(trace, model=self.order.task.model, scope=self.order.task.scope)
            case Findings():
                self._end(message)
            case NoTask():
                self.refused = True
                self.close()
            case Broke(problem):
                self.problem = problem
                self.close()
            case _:
                pass

    def _end(self, findings: Findings) -> None:
        """Record that no message will follow."""
        if findings.end in {End.DEPTH, End.COMPLETE} and findings.depth is not None:
            self.depth = findings.depth
        elif findings.end is not End.DECIDED:
            self.problem = findings.end.value
        self.close()


# ------------------------------------------------------------------ in the other process


class _Sender:
    """A reporter that sends events through the pipe; later it lowers the process's priority."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._eager_until = monotonic() + EAGER

    def tell(self, event: Event) -> None:
        """Send an event through the pipe."""
        self._pipe.send(event)
        if monotonic() > self._eager_until:
            self._eager_until = inf
            with suppress(OSError, AttributeError):  # where there are no priorities
                os.nice(NICE)


def _serve(pipe: Connection) -> None:
    """The process: run the engine as ordered, and send its events and findings."""
    order: Order = pipe.recv()
    try:
        pipe.send(_answer(order, pipe))
    except OSError:  # the other end is closed
        return
    except MemoryError:
        pipe.send(Broke(End.MEMORY.value))
    except Exception as error:  # noqa: BLE001 - whatever it is, the other process shall know
        pipe.send(Broke(f"a bug in modelcheck: {error!r}"))


def _answer(order: Order, pipe: Connection) -> Message:
    """The final message: findings, refusals or a bug."""
    if order.task.limits.memory is not None:
        with suppress(OSError, ValueError):  # where the system has no such limit
            most = order.task.limits.memory + LIBRARIES
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
    chosen = engine(order.engine, **order.options)
    if chosen.refusals(order.task):
        return NoTask()
    return chosen.run(order.task, _Sender(pipe))
