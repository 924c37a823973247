"""What a comparison of all jobs came to, written down with what it was of."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import spec.library as library
from modelcheck.kafka.frontier.grid import Job
from tests.scopes.asked import Cell, JobComparison
from tests.scopes.grid import RAISED

RECORD = Path(__file__).with_name("confirmed.json")
_DISPLAY = re.compile(r"\bdisplay\s*\{[^{}]*\}")
_WORDS = re.compile(r'//[^\n]*|"[^"\n]*"')


def write(jobs: Sequence[Job], found: Sequence[JobComparison]) -> None:
    """Write down which answers each larger bound changes, which are unknown, and how many jobs are left."""
    rows = []
    for raised in RAISED:
        of = [(one, each) for one in found for each in one.compared if each.raised == raised.name]
        rows.append(
            {
                "raised": raised.name,
                "jobs": len(of),
                "cells": sum(each.cells for _, each in of),
                "different": _cells(jobs, [(one.number, each.different) for one, each in of], raised.name),
                "unknown": _cells(jobs, [(one.number, each.unknown) for one, each in of], raised.name),
            }
        )
    about = {
        "model": model(),
        "questions": questions(jobs),
        "jobs": len(found),
        "left": len(jobs) - len(found),
        "states": sum(one.states for one in found),
        "cpu_seconds": round(sum(one.seconds for one in found)),
        "rows": rows,
    }
    RECORD.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def recorded() -> dict[str, Any]:
    """What was written down."""
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def model() -> str:
    """A digest of the model of a partition, without comments, texts, what pictures show, and checks."""
    text = _DISPLAY.sub("", _WORDS.sub("", library.text("kafka")))
    text = re.sub(r"\s+", " ", text.partition("check usual ")[0])
    return hashlib.sha256(text.encode()).hexdigest()


def questions(jobs: Sequence[Job]) -> str:
    """A digest of the questions of all jobs."""
    return hashlib.sha256("\n".join(sorted(job.key for job in jobs)).encode()).hexdigest()


def described(job: Job, raised: str, cell: Cell) -> str:
    """A cell that a larger bound changes, in words."""
    scope = job.mixture.check.scope
    config = ", ".join(f"{name}={value}" for name, value in scope.config.items())
    what = f"{cell.guarantee} under {cell.kind}: {cell.before}, with {raised}: {cell.after}"
    return f"{what} ({len(scope.sorts['Broker'])} brokers, {config})"


def _cells(jobs: Sequence[Job], found: Sequence[tuple[int, Sequence[Cell]]], raised: str) -> list[str]:
    """The cells in words, each with how often it is there."""
    words = Counter(described(jobs[number], raised, cell) for number, cells in found for cell in cells)
    return sorted(words)
