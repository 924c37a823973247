"""Properties of infinite runs, for the page in which a model is played."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from counterexamples.itf.write import write
from counterexamples.lines import count
from counterexamples.trace import Lasso, Trace
from modelcheck.api import check as answer
from modelcheck.contract.engine import Limits
from modelcheck.contract.families import looked_at
from modelcheck.contract.result import End, Holds, Violated
from spec.meaning.semantics import Machine
from spec.model.ir import Check, Model
from spec.model.kinds import OF_FAIR_RUNS

Json = Any
LIMITS = Limits(states=200_000, seconds=10)


def forever(model: Model, check: Check) -> dict[str, Json]:
    """For each liveness property the result for the page, with the violating run, if any.

    A run of some steps breaks none of them, so the page cannot judge them on its own.  Costs a
    check of these properties alone, up to the limits, and nothing where there are none.
    """
    names = tuple(prop.name for prop in looked_at(model, check) if prop.kind in OF_FAIR_RUNS)
    if not names:
        return {}
    asked = replace(check, only=names, expect=())
    findings = answer(model, asked, limits=LIMITS).findings
    if findings.end is End.ERROR:
        return dict.fromkeys(
            names, _only("The model makes an error; `modelcheck check` shows the run to it.")
        )
    return {result.property: _told(result.verdict) for result in findings.results}


def _told(verdict: object) -> Json:
    """A verdict as data for the page."""
    match verdict:
        case Holds():
            return _only("The check has found that no fair run of this scope and its faults breaks it.")
        case Violated(trace=Trace(ending=Lasso(loop)) as run):
            faults = f"with {count(run.faults, 'fault')}" if run.faults else "without any fault"
            way = f"{count(len(run.steps), 'step')}, and then it {_goes_on(run, loop)}"
            return {
                "verdict": f"The check has found that a fair run breaks it, {faults}: {way}.",
                "run": json.loads(write(run)),
                "loop": loop,
                "circle": _circle(run, loop),
            }
        case Violated():
            return _only("The check has found a run that breaks it; `modelcheck check` shows it.")
        case _:
            return _only(
                "Whether one does was not found out while this page was made; `modelcheck check` asks."
            )


def _only(words: str) -> Json:
    """A text as data for the page."""
    return {"verdict": words, "run": None, "loop": 0, "circle": []}


def _goes_on(run: Trace, loop: int) -> str:
    """How the run continues forever, in words."""
    return "may stay there" if loop == len(run.steps) else f"repeats itself from after step {loop} on"


def _circle(run: Trace, loop: int) -> list[str]:
    """The repeated steps in words."""
    machine = Machine(run.model, run.scope)
    pairs = zip(run.steps[loop:], run.states[loop:], strict=False)
    return [machine.says(run.model.action(step.action), step, before) for step, before in pairs]
