"""Whether what is found without a bound for a nat agrees with what is found within bounds."""

from __future__ import annotations

from dataclasses import replace

from counterexamples.trace import Erred, Trace
from modelcheck.api import check
from modelcheck.contract.engine import Limits
from modelcheck.contract.result import End, Findings, Holds, Unknown, Verdict, Violated, run_of
from spec.meaning.evaluate import NOT_GREATEST
from spec.model.ir import Check, Model
from spec.model.ordinals import obstacles

SMALL = 3000  # states of a search that is asked several times


def cost(trace: Trace | None) -> tuple[int, int] | None:
    return None if trace is None else (trace.faults, len(trace.steps))


def told(verdict: Verdict) -> tuple[str, tuple[int, int] | None]:
    match verdict:
        case Holds(example=example):
            return "holds", cost(example)
        case Violated(trace=trace):
            return "violated", cost(trace)
        case Unknown():
            return "unknown", None


def facts(found: Findings) -> dict[str, tuple[str, tuple[int, int] | None]]:
    return {each.property: told(each.verdict) for each in found.results}


def bounded(question: Check, nat: str, most: int) -> Check:
    """A check with a number in place of `any`."""
    scope = question.scope
    bounds = {**scope.nats, nat: most}
    return replace(question, scope=replace(scope, nats=bounds, unbounded=scope.unbounded - {nat}))


def unbounded(question: Check, nat: str) -> Check:
    """A check with `any` in place of a number, without expectations."""
    scope = question.scope
    bounds = {name: most for name, most in scope.nats.items() if name != nat}
    scope = replace(scope, nats=bounds, unbounded=scope.unbounded | {nat})
    return replace(question, scope=scope, expect=(), exact=())


def agree_with_bounds(model: Model, question: Check, nat: str, most: int) -> bool:
    """Whether what was found without a bound agrees with bounds, if it was; asserts that it does.

    A run without a bound is one within the bound that it needs, so there the cheapest is the same;
    what holds without a bound holds within each.
    """
    found = check(model, question, limits=Limits(states=20 * SMALL)).findings
    if found.end is End.ERROR or found.end.partial:
        if found.error is not None:
            assert isinstance(found.error.ending, Erred)
            assert found.error.ending.code == NOT_GREATEST
        return False
    runs = [run for each in found.results if (run := run_of(each.verdict)) is not None]
    needed = [run.scope.nats[nat] for run in runs if nat not in run.scope.unbounded]
    without = facts(found)
    for bound in sorted({most, most + 1, *needed}):
        within = check(model, bounded(question, nat, bound), limits=Limits(states=20 * SMALL)).findings
        if within.end.partial:
            continue
        for name, (verdict, price) in facts(within).items():
            kind = model.property(name).kind.value
            good, bad = ("violated", "holds") if kind == "reachable" else ("holds", "violated")
            if kind == "recoverable":
                continue  # a way out may need a larger value than the bound allows
            if without[name][0] == good:
                assert verdict == good, (name, bound)
            elif bound >= max(needed, default=0):
                assert (verdict, price) == without[name], (name, bound)
            elif verdict == bad and price is not None and (least := without[name][1]) is not None:
                assert price >= least, (name, bound)
    return True


def engines_agree(model: Model, question: Check) -> bool:
    """Whether both engines, and symmetry, were asked without a bound; asserts that they find the same.

    Not asked are searches that are large.
    """
    limits = Limits(states=20 * SMALL)
    native = check(model, question, engine="explicit", limits=limits).findings
    if native.end.partial or native.stats.states > SMALL:
        return False
    plain = check(model, question, engine="reference", limits=limits).findings
    renamed = check(model, question, symmetry=True, limits=limits).findings
    assert (native.end, native.stats.states, native.stats.taken, facts(native)) == (
        *(plain.end, plain.stats.states, plain.stats.taken),
        facts(plain),
    )
    assert facts(renamed) == facts(native)
    assert renamed.stats.states <= native.stats.states
    return True


def ordinals(model: Model) -> list[str]:
    return [nat.name for nat in model.nats if not any(True for _ in obstacles(model, nat.name))]
