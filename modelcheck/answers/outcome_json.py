"""The outcome of a check for programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from counterexamples.itf.encode import encoder, plain
from counterexamples.itf.write import digest, write
from counterexamples.lines import one_line
from counterexamples.trace import Trace
from modelcheck.contract.assessment import assess, is_expected
from modelcheck.contract.expected import wished
from modelcheck.contract.proof import ObligationCell, Proof
from modelcheck.contract.result import (
    Distinct,
    Extent,
    Holds,
    Outcome,
    Result,
    Sample,
    Unknown,
    Unshown,
    UntestedPart,
    Violated,
    run_of,
)
from modelcheck.contract.version import VERSION
from modelcheck.contract.wording import verdict_name, verdict_words
from modelcheck.diagnosis.explain import explain
from spec.model.bounds import nat_bounds

FORMAT = 1

Json = dict[str, Any]


def as_json(outcome: Outcome, *, strict: bool = False, explained: bool = False) -> Json:
    """The outcome as JSON data; traces are in ITF, with explanations on request."""
    model, check, findings = outcome.model, outcome.check, outcome.findings
    found = assess(outcome, strict=strict)
    types = {entry.name: entry.type for entry in model.configs}
    return (
        {
            "format": FORMAT,
            "version": VERSION,
            "file": model.source.name,
            "text": digest(model.source),
            "model": model.name,
            "check": check.name,
            "scope": {
                "sorts": {name: list(members) for name, members in check.scope.sorts.items()},
                "nats": dict(nat_bounds(check.scope)),
                "networks": dict(check.scope.networks),
            },
            "config": {
                name: encoder(types[name], check.scope, plain)(v) for name, v in check.scope.config.items()
            },
            "faults": _faults(check.budget.total, check.budget.kinds),
            "exit": int(found.exit),
            "summary": found.words,
            "partial": findings.end.partial,
            "end": findings.end.name.lower(),
            "properties": [
                _result(outcome, each)
                | _why(run_of(each.verdict), explained)
                | _distinct(outcome.ways(each.property), explained)
                for each in findings.results
            ],
            "error": None if findings.error is None else trace_json(findings.error),
            "mismatches": [
                {"expected": wished(m.wish), "found": m.found, "known": m.is_known}
                for m in outcome.mismatches
            ],
            "engine": findings.engine,
            "exact": findings.sample is None,
            "symmetry": list(findings.symmetry),
            "stats": _stats(outcome),
        }
        | _sample(findings.sample)
        | ({"partial_order": True} if findings.partial_order else {})
        | ({} if findings.spill is None else {"spill": asdict(findings.spill)})
        | ({} if findings.depth is None else {"depth": findings.depth})
        | ({} if findings.proof is None else {"proof": _proof(findings.proof)})
        | ({} if findings.beside is None else {"beside": asdict(findings.beside)})
        | _why(findings.error, explained)
    )


def _sample(sample: Sample | None) -> Json:
    """A simulation as JSON data."""
    if sample is None:
        return {}
    data = {"runs": sample.runs, "depth": sample.depth, "seed": sample.seed}
    return {"sample": data | ({} if sample.run is None else {"trace": trace_json(sample.run)})}


def _proof(proof: Proof) -> Json:
    """A proof as JSON data: its claims, its solver, and every obligation with how it was discharged."""
    return {
        "claims": list(proof.claims),
        "solver": proof.solver,
        "within_scope": proof.within_scope,
        "steps": proof.steps,
        "obligations": [_cell(cell) for cell in (*proof.cells, *proof.dropped)],
    }


def _cell(cell: ObligationCell) -> Json:
    """An obligation as JSON data; `action` is null where the claim must hold in the initial states."""
    return {
        "claim": cell.claim,
        "action": cell.action,
        "kept": cell.kept.value,
        "why": cell.why if cell.shown is None else "",
        "decidable": cell.decidable,
        "seconds": round(cell.seconds, 3),
        "not_a_run": trace_json(cell.shown),
    }


def _why(trace: Trace | None, explained: bool) -> Json:  # noqa: FBT001 - as it was asked for
    """The explanation of a run as JSON data."""
    found = explain(trace) if explained and trace is not None else None
    if found is None:
        return {}
    data = asdict(found)
    data["core"]["sentence"] = found.core.sentence
    if found.no_return is not None:
        data["no_return"]["sentences"] = found.no_return.sentences
    if found.trap is not None:
        data["trap"]["sentences"] = found.trap.sentences
    return {"explanation": data}


def _distinct(found: Distinct | None, explained: bool) -> Json:  # noqa: FBT001 - as it was asked for
    """The distinct ways as JSON data."""
    if found is None:
        return {}
    data = {
        "runs": [_way(run) | _why(run, explained) for run in found.runs],
        "looked_at": found.looked_at,
        "states": found.states,
        "most_faults": found.most_faults,
        "reached": {"faults": found.faults, "steps": found.steps},
        "unfinished": found.unfinished or None,
    }
    return {"distinct": data}


def _way(run: Trace) -> Json:
    """One way as JSON data."""
    return {"faults": run.faults, "steps": len(run.steps), "trace": trace_json(run)}


def _faults(total: int | None, kinds: Any) -> Json:  # noqa: ANN401 - a mapping or None
    """A fault budget as JSON data; null is unlimited."""
    return {"total": total, "kinds": None if kinds is None else dict(kinds)}


def _result(outcome: Outcome, result: Result) -> Json:
    """A result as JSON data."""
    data: Json = {
        "name": result.property,
        "kind": result.kind.value,
        "verdict": verdict_name(result.verdict),
        "words": verdict_words(outcome.model, result),
        "expected": is_expected(outcome, result),
        "by_faults": list(result.by_faults),
    }
    match result.verdict:
        case Holds(extent, beyond, example, unshown, vacuous, renamed):
            return (
                data
                | _unshown(unshown)
                | {
                    "extent": _extent(extent),
                    "beyond": beyond,
                    **({"beyond_up_to_renaming": list(renamed)} if renamed else {}),
                    **({"vacuous": True} if vacuous else {}),
                    "trace": trace_json(example),
                }
            )
        case Violated(extent, trace, unshown=unshown):
            counts = {} if trace is None else {"faults": trace.faults, "steps": len(trace.steps)}
            return (
                data | _unshown(unshown) | {"extent": _extent(extent), **counts, "trace": trace_json(trace)}
            )
        case Unknown(reason, extent):
            return data | {"extent": None if extent is None else _extent(extent), "reason": reason}


def _unshown(unshown: Unshown | None) -> Json:
    """Why a run is not shown, as JSON data."""
    return {} if unshown is None else {"unshown": asdict(unshown)}


def _extent(extent: Extent) -> Json:
    """An extent as JSON data."""
    faults: Json = {"faults": _faults(extent.faults, extent.kinds)}
    return faults | ({"but_for_errors": True} if extent.but_for_errors else {})


def trace_json(trace: Trace | None) -> Json | None:
    """A run in ITF as JSON data."""
    return None if trace is None else dict(json.loads(write(trace)))


def _stats(outcome: Outcome) -> Json:
    """The counters as JSON data."""
    stats = outcome.findings.stats
    layers = [
        {
            "faults": layer.faults,
            "new": layer.new,
            "states": layer.states,
            "transitions": layer.transitions,
            "levels": layer.levels,
            "cut": layer.cut,
        }
        for layer in stats.layers
    ]
    return {
        "states": stats.states,
        "transitions": stats.transitions,
        "levels": stats.levels,
        "layers": layers,
        "taken": dict(stats.taken),
        "cut": dict(stats.cut),
        "unused": list(stats.unused),
        "unrefused": [{"action": action, "guard": guard} for action, guard in stats.unrefused],
        "untested": [_untested(outcome, part) for part in stats.untested],
        "seconds": round(stats.seconds, 3),
        "ready": round(stats.ready, 3),
        "memory": stats.memory,
    }


def _untested(outcome: Outcome, part: UntestedPart) -> Json:
    """A vacuous part of a property as JSON data."""
    source = outcome.model.source
    file, line, column = source.place(part.span.start)
    return {
        "property": part.property,
        "kind": "quantifier" if part.is_quantifier else "condition",
        "text": one_line(source.at(part.span)),
        "file": file,
        "line": line,
        "column": column,
    }
