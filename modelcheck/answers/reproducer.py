"""All that it takes to see again that two engines contradict each other, as one file."""

from __future__ import annotations

import json
import platform
import tempfile
from contextlib import suppress
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from counterexamples.itf.write import write
from modelcheck.answers.outcome_json import as_json
from modelcheck.contract.result import Outcome
from modelcheck.engines.portfolio import Disagreement
from modelcheck.storage.files import save_text
from modelcheck.storage.written import refuse_others
from spec.diagnostics import SpecError
from spec.model.ir import Check, Model

LIBRARIES = ("z3-solver", "llvmlite")


def reproducer(model: Model, check: Check, found: Disagreement) -> dict[str, Any]:
    """The data for a bug report about a disagreement: model, check, both findings, versions."""
    first, second = found.engines
    return {
        "format": "modelcheck disagreement 1",
        "what": "two engines contradict each other, which is a bug of modelcheck",
        "clashes": list(found.clashes),
        "versions": {"python": platform.python_version(), "machine": platform.platform()} | _versions(),
        "text": model.source.text,
        "first": as_json(Outcome(model, check, found.findings, ())),
        "second": {
            "engine": second,
            "depth": found.depth,
            "traces": [json.loads(write(run)) for run in found.runs],
        },
        "again": [
            f"modelcheck check FILE --check {check.name} --engine {engine}" for engine in (first, second)
        ],
    }


def save_reproducer(model: Model, check: Check, found: Disagreement) -> Path:
    """Write the data to the current folder, or a temporary one; returns the path."""
    text = json.dumps(reproducer(model, check, found), indent=2) + "\n"
    path = Path(f"modelcheck-disagreement-{model.name}-{check.name.replace(' ', '-')}.json")
    try:
        refuse_others(path)
        save_text(path, text)
    except SpecError:
        path = Path(tempfile.mkdtemp(prefix="modelcheck-")) / path
        save_text(path, text)
    return path


def _versions() -> dict[str, str]:
    """The versions of modelcheck and its dependencies."""
    found = {}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version_of(name)
    return found
