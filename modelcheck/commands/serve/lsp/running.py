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
    """A check that runs, or will when others have ended."""


@frozen
class Failed:
    """A check without an answer, and why."""

    why: str


@frozen
class CheckAnswer:
    """The answer to a check: an exit code, the card with the runs as text, and the data of both."""

    exit: int
    says: str
    data: Json


State = Waits | Failed | CheckAnswer


@dataclass(slots=True, eq=False)
class TextChecks:
    """What is asked of one text: the state of each check by its name, and the tasks that work on it."""

    states: dict[str, State] = field(default_factory=dict)
    tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)


class CheckRuns:
    """The checks of all open texts; `changed` is called with each text that has something new."""

    def __init__(self, seconds: float, memory: int | None, changed: Callable[[str], None]) -> None:
        self._seconds, self._memory, self._changed = seconds, memory, changed
        self._texts: dict[str, TextChecks] = {}
        self._turn = asyncio.Lock()

    def state(self, uri: str, check: str) -> State | None:
        """What is known of a check; None where it was not asked."""
        return self._texts.get(uri, TextChecks()).states.get(check)

    def forget(self, uri: str) -> None:
        """End what runs for a text, and forget what was found."""
        for task in self._texts.pop(uri, TextChecks()).tasks.values():
            task.cancel()

    def start(self, uri: str, known: Understood, check: str) -> asyncio.Task[None]:
        """Ask a check, unless it is asked already."""
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
        """End a check that runs."""
        text = self._texts.get(uri, TextChecks())
        task = text.tasks.get(check)
        if task is not None and not task.done():
            task.cancel()
            text.states[check] = Failed("stopped")
            self._changed(uri)

    async def page(self, known: Understood, check: str) -> str | None:
        """The runs of a check as a page, for which it is searched again; None where there is none."""
        found = await self._answer(known.whole.text, check, page=True)
        return None if isinstance(found, Failed) else found.data.get("page")

    async def end(self) -> None:
        """End everything, and wait until it has ended."""
        tasks = [task for text in self._texts.values() for task in text.tasks.values()]
        for uri in list(self._texts):
            self.forget(uri)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, uri: str, text: TextChecks, model: str, check: str) -> None:
        found = await self._answer(model, check, page=False)
        text.states[check] = found
        self._changed(uri)

    async def _answer(self, model: str, check: str, *, page: bool) -> Failed | CheckAnswer:
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
    """The checks that run automatically, the smallest scope first: of each model one, or all, or none."""
    pairs = sorted(
        ((weight(model, check), model.name, check.name) for model in models for check in model.checks),
    )
    seen: set[str] = set()
    for _, model, check in pairs:
        if which == "all" or (which == "smallest" and model not in seen):
            seen.add(model)
            yield check
