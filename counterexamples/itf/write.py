"""Traces in the Informal Trace Format, which the tools of Apalache and Quint read too.

The format is Apalache's ADR 015 (https://apalache-mc.org/docs/adr/015adr-trace.html).
What it has no place for is in `#meta`: of the trace, the model, the scope
and what is shown; of a state, the step that led to it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from counterexamples.itf.encode import Json, encode, encoder
from counterexamples.trace import (
    BadAssert,
    BadState,
    BadStep,
    Deadlocked,
    Ending,
    Erred,
    Example,
    Lasso,
    Stops,
    Trace,
    Trapped,
)
from spec.meaning.semantics import Step
from spec.model.bounds import nat_bounds
from spec.model.ir import Model, Scope
from spec.source import Source

FORMAT = 1  # of our own part, `#meta.modelcheck`

KINDS: dict[str, type] = {
    "state": BadState,
    "step": BadStep,
    "assert": BadAssert,
    "error": Erred,
    "deadlock": Deadlocked,
    "lasso": Lasso,
    "trapped": Trapped,
    "example": Example,
    "stops": Stops,
}


def write(trace: Trace) -> str:
    """The trace as ITF text, a state per line; equal traces give equal texts."""
    names = [variable.name for variable in trace.model.variables]
    head: dict[str, Json] = {"#meta": _about(trace), "vars": names}
    if isinstance(trace.ending, Lasso):
        head["loop"] = trace.ending.loop
    body = json.dumps(head, indent=2, ensure_ascii=False).removesuffix("\n}")
    states = ",\n".join("    " + json.dumps(state, ensure_ascii=False) for state in _states(trace))
    return f'{body},\n  "states": [\n{states}\n  ]\n}}\n'


def digest(source: Source) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of a model's text."""
    return hashlib.sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _states(trace: Trace) -> list[dict[str, Json]]:
    """The states in ITF's encoding."""
    faults = trace.faults_before()
    names = [variable.name for variable in trace.model.variables]
    encoders = [encoder(variable.type, trace.scope) for variable in trace.model.variables]
    found = []
    for index, state in enumerate(trace.states):
        step = _step(trace, trace.steps[index - 1]) if index else {}
        values = {name: write(value) for name, write, value in zip(names, encoders, state, strict=True)}
        found.append({"#meta": {"index": index, **step, "faults": faults[index]}, **values})
    return found


def _step(trace: Trace, step: Step) -> dict[str, Json]:
    """The metadata of a step."""
    params = trace.model.action(step.action).params
    return {
        "action": step.action,
        "params": {
            p.name: encode(p.type, arg, trace.scope) for p, arg in zip(params, step.args, strict=False)
        },
        "choices": [
            {"name": choice.name, "value": encode(choice.type, choice.value, trace.scope)}
            for choice in step.choices
        ],
    }


def _about(trace: Trace) -> dict[str, Json]:
    """The metadata of a trace."""
    end = {
        "property": trace.property,
        "ending": _ending(trace),
        "faults": trace.faults,
        **({} if trace.is_run else {"run": False}),
    }
    return about(trace.model, trace.scope, trace.check, end)


def about(model: Model, scope: Scope, check: str | None, end: Mapping[str, Json]) -> dict[str, Json]:
    """The metadata of a trace: model text, check, bounds and ending."""
    types = {entry.name: entry.type for entry in model.configs}
    return {
        "format": "ITF",
        "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
        "source": model.source.name,
        "modelcheck": {
            "format": FORMAT,
            "model": model.name,
            "text": digest(model.source),
            "check": check,
            "scope": {
                "sorts": {name: list(names) for name, names in scope.sorts.items()},
                "nats": dict(nat_bounds(scope)),
                "networks": dict(scope.networks),
            },
            "config": {name: encode(types[name], value, scope) for name, value in scope.config.items()},
            **end,
        },
    }


def _ending(trace: Trace) -> dict[str, Json]:
    """The metadata of the ending."""
    ending: Ending = trace.ending
    kind = next(name for name, of in KINDS.items() if isinstance(ending, of))
    if not isinstance(ending, Erred):
        return {"kind": kind}
    return {
        "kind": kind,
        "code": ending.code,
        "message": ending.message,
        "span": [ending.span.start, ending.span.end],
        "step": None if ending.step is None else _step(trace, ending.step),
    }
