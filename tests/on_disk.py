"""The explicit engine with its states on disk, and hardly any memory, as an engine of its own for tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from modelcheck.contract.engine import Keep, Refusal, Task
from modelcheck.contract.report import Reporter
from modelcheck.contract.result import Findings
from modelcheck.explicit.disk.levels import Room
from modelcheck.explicit.engine import ExplicitEngine


class OnDisk:
    """The engine, with memory for a few states, so that many runs are merged."""

    name: ClassVar[str] = "explicit"

    def __init__(self, room: Room) -> None:
        self._engine = ExplicitEngine(room=room)

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        return self._engine.refusals(_kept(task, Path()))

    def run(self, task: Task, reporter: Reporter) -> Findings:
        with TemporaryDirectory() as folder:
            return self._engine.run(_kept(task, Path(folder) / "states"), reporter)


def _kept(task: Task, folder: Path) -> Task:
    return replace(task, keep=Keep(folder, states=True))
