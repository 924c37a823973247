"""A frontier for programs: JSON with the run at each edge, and a line of CSV for each cell."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO

from counterexamples.trace import Trace
from modelcheck.contract.version import VERSION
from modelcheck.kafka.frontier.findings import Frontier, Line
from modelcheck.kafka.frontier.grid import distinct_jobs
from modelcheck.kafka.questions.answers import Answer
from modelcheck.kafka.report.run_text import outcome, sentences
from modelcheck.kafka.report.wording import answer_json
from modelcheck.kafka.settings.keys.releases import kafka
from spec.meaning.semantics import Machine

FORMAT = "modelcheck frontier 1"  # the number goes up when a key changes its meaning or goes away
CELL = ("guarantee", "faults of", "survives", "lost with", "complete", "run", "states")


def as_json(found: Frontier) -> dict[str, object]:
    """The frontier as JSON data; each run is written once, and referred to by its index."""
    grid, runs = found.grid, _Runs()
    configurations = [_configuration(found, each, runs) for each in found.lines]
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": grid.title,
        "axes": list(grid.heads),
        "faults_tried": grid.faults,
        "fault_kinds": dict(grid.kinds),
        "guarantees": {each.name: each.holds for each in grid.guarantees},
        "cells": grid.cells,
        "searched_apart": len(distinct_jobs(grid.asked)),
        "configurations": configurations,
        "one_setting": _one_setting(found),
        "left_out": [
            {"values": dict(zip(grid.heads, row.values, strict=True)), "why": row.left_out}
            for row in grid.left_out
        ],
        "notes": list(grid.notes),
        "runs": runs.data,
        "complete": found.complete,
        "missing": found.missing,
        "ended": found.ended or None,
        "states": found.states,
        "seconds": round(found.seconds, 3),
    }


def _one_setting(found: Frontier) -> dict[str, list[dict[str, object]]]:
    """For each guarantee that is lost, the configurations that survive more of it by one setting."""
    told: dict[str, list[dict[str, object]]] = {}
    for remedies in found.remedies:
        told.setdefault(remedies.guarantee.name, []).extend(
            {"number": each.line.number, "less": [lost.name for lost in each.less]}
            for each in remedies.settings
        )
    return told


def _configuration(found: Frontier, each: Line, runs: _Runs) -> dict[str, object]:
    """One configuration with its answers as JSON data."""
    better = found.better.get(each.number)
    answers: dict[str, dict[str, object]] = {guarantee.name: {} for guarantee in found.grid.guarantees}
    for guarantee, kind, answer in found.cells(each):
        data = answer_json(answer)
        if data is not None and answer is not None:
            data["run"] = None if answer.loss is None else runs.place(answer.loss)
            if worst := each.worst.get((guarantee.name, kind)):
                data["worst_of"] = list(worst)
        answers[guarantee.name][kind] = data
    return {
        "number": each.number,
        "values": dict(zip(found.grid.heads, each.row.values, strict=True)),
        "answers": answers,
        "better": None
        if better is None
        else {"number": better.number, "more": [guarantee.name for guarantee in better.guarantees]},
    }


class _Runs:
    """The runs of the report as JSON data, each once."""

    def __init__(self) -> None:
        self.data: list[dict[str, object]] = []
        self._places: dict[str, int] = {}

    def place(self, trace: Trace) -> int:
        """The index of a run, which is added if it is new."""
        data = run_json(trace)
        key = repr(data)
        if key not in self._places:
            self._places[key] = len(self.data)
            self.data.append(data)
        return self._places[key]


def run_json(trace: Trace) -> dict[str, object]:
    """A run as JSON data: its steps in sentences."""
    return {
        "property": trace.property,
        "faults": dict(trace.fault_counts()),
        "steps": list(_sentences(trace)),
        "outcome": outcome(trace) if _is_reviewed(trace) else None,
    }


def _sentences(trace: Trace) -> Iterator[str]:
    """A run's steps in sentences."""
    if _is_reviewed(trace):
        yield from (each.says for each in sentences(trace))
        return
    machine = Machine(trace.model, trace.scope)
    for before, step in zip(trace.states, trace.steps, strict=False):
        yield machine.says(trace.model.action(step.action), step, before)


def _is_reviewed(trace: Trace) -> bool:
    """Whether the run is of a model that the review has sentences for."""
    return any(trace.model is model for model in kafka().values())


# ------------------------------------------------------------------------- CSV


def as_csv(found: Frontier) -> str:
    """The frontier as CSV, a line for each cell.

    `survives` is empty where nothing is known to be, and `any` for any number; `lost with` is empty
    where nothing was lost.  What was left out has a line with the reason.
    """
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["configuration", *found.grid.heads, *CELL, "better", "left out"])
    for each in found.lines:
        better = found.better.get(each.number)
        for guarantee, kind, answer in found.cells(each):
            if answer is not None:
                above = "" if better is None else better.number
                cell = [guarantee.name, kind, *_cell(answer)]
                rows.writerow([each.number, *each.row.values, *cell, above, ""])
    for row in found.grid.left_out:
        rows.writerow(["", *row.values, *("" for _ in CELL), "", row.left_out])
    return text.getvalue()


def _cell(answer: Answer) -> Iterator[object]:
    """The values of a cell, in the order of `CELL`."""
    data = answer_json(answer) or {}
    for key in ("survives", "lost_with"):
        yield "" if data[key] is None else data[key]
    yield "yes" if answer.complete else "no"
    yield "" if answer.loss is None else " ".join(step.action for step in answer.loss.steps)
    yield answer.states
