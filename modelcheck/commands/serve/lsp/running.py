"""Checks that run while a text is edited: one at a time, each in a process of its own.

NOTE(stale): an answer is of the text that was asked about.  When that changes, what runs is ended,
and what was found is forgotten.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import modelcheck.commands.serve.mcp.asked as asked
import spec.model.ir as ir
from modelcheck.contract.exits import Exit
from spec.editing.sizes import weight
from spec.editing.understood import Understood
from spec.frozen import frozen

OWN = "model.rsm"
Json = dict[str, Any]


@frozen
class Waits:
    """The state of a check that is running, or queued."""


@frozen
class Failed:
    """The state of a check that failed, with the reason."""

    why: str


@frozen
class CheckAnswer:
    """The result of a check: exit code, card and runs as text, and data."""

    exit: int
    says: str
    data: Json


State = Waits | Failed | CheckAnswer


@dataclass(slots=True, eq=False)
class TextChecks:
    """The checks of one document: their states by name, and running tasks."""

    states: dict[str, State] = field(default_factory=dict)
    tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)


class CheckRuns:
    """Runs the checks of all documents; calls `changed` with a document that has news."""

    def __init__(self, seconds: float, memory: int | None, changed: Callable[[str], None]) -> None:
        self._seconds, self._memory, self._changed = seconds, memory, changed
        self._texts: dict[str, TextChecks] = {}
        self._turn = asyncio.Lock()

    def state(self, uri: str, check: str) -> State | None:
        """The state of a check; None if it was not run."""
        return self._texts.get(uri, TextChecks()).states.get(check)

    def forget(self, uri: str) -> None:
        """Stop a document's checks, and drop their results."""
        for task in self._texts.pop(uri, TextChecks()).tasks.values():
            task.cancel()

    def start(self, uri: str, known: Understood, check: str) -> asyncio.Task[None]:
        """Start a check, unless it is running."""
        text = self._texts.setdefault(uri, TextChecks())
        running = text.tasks.get(check)
        if running is not None and not running.done():
            return running
        text.states[check] = Waits()
        task = text.tasks[check] = asyncio.get_running_loop().create_task(
            self._run(uri, text, known.whole.text, check)
        )
        self._changed(uri)
        return task

    def stop(self, uri: str, check: str) -> None:
        """Stop a running check."""
        text = self._texts.get(uri, TextChecks())
        task = text.tasks.get(check)
        if task is not None and not task.done():
            task.cancel()
            text.states[check] = Failed("stopped")
            self._changed(uri)

    async def page(self, known: Understood, check: str) -> str | None:
        """The runs of a check as an HTML page, for which it is run again; None without runs."""
        found = await self._answer(known.whole.text, check, page=True)
        return None if isinstance(found, Failed) else found.data.get("page")

    async def end(self) -> None:
        """Stop everything, and wait for it."""
        tasks = [task for text in self._texts.values() for task in text.tasks.values()]
        for uri in list(self._texts):
            self.forget(uri)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, uri: str, text: TextChecks, model: str, check: str) -> None:
        """Run a check and store its result."""
        found = await self._answer(model, check, page=False)
        text.states[check] = found
        self._changed(uri)

    async def _answer(self, model: str, check: str, *, page: bool) -> Failed | CheckAnswer:
        """The result of a check, from a process of its own."""
        request = {"tool": "check", "file": OWN, "check": check, "seconds": self._seconds, "page": page}
        request |= {} if self._memory is None else {"memory": self._memory}
        async with self._turn:
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / OWN).write_bytes(model.encode("utf-8", "replace"))
                try:
                    found = await asked.answer(request, self._seconds, folder)
                except (asked.NoAnswer, OSError) as none:
                    return Failed(str(none))
        if "properties" not in found["data"]:  # the input is wrong, or there is a bug in modelcheck
            return Failed(found["says"] or f"exit {Exit(found['exit']).name}")
        return CheckAnswer(found["exit"], found["says"], found["data"])


def in_background(models: Sequence[ir.Model], which: str) -> Iterator[str]:
    """The checks to run automatically, the smallest scope first: per model one, all, or none."""
    pairs = sorted(
        ((weight(model, check), model.name, check.name) for model in models for check in model.checks),
    )
    seen: set[str] = set()
    for _, model, check in pairs:
        if which == "all" or (which == "smallest" and model not in seen):
            seen.add(model)
            yield check
