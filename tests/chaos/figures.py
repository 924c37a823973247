"""The figures of rounds: how often each judge found an answer right."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.chaos.judges import Judge

Line = Mapping[str, Any]


def lines(paths: Iterable[Path]) -> Iterator[Line]:
    """The lines of results in files of JSON lines."""
    for path in paths:
        for line in path.read_text().splitlines():
            yield json.loads(line)


def counted(found: Sequence[Line], judge: Judge) -> tuple[int, int]:
    """How many answers were right, and how many were judged at all."""
    of_judge = [each["right"] for each in found if each["judge"] == judge and each["right"] is not None]
    return sum(of_judge), len(of_judge)


def table(found: Sequence[Line]) -> list[str]:
    """A line for each judge."""
    return [
        f"{judge:20} {right:4} of {every:4} right"
        for judge in Judge
        for right, every in [counted(found, judge)]
    ]


def wrong(found: Iterable[Line]) -> list[Line]:
    """The answers that were wrong."""
    return [each for each in found if each["right"] is False]
