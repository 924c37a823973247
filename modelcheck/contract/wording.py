"""Verdicts and numbers in words, the same on every surface."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from counterexamples.lines import count, one_line
from modelcheck.contract.result import (
    Distinct,
    End,
    Extent,
    Findings,
    Holds,
    Result,
    Spill,
    Unknown,
    Unshown,
    UntestedPart,
    Verdict,
    Violated,
)
from spec.model.bounds import bound_words
from spec.model.ir import Budget, Check, Model, PropertyKind, Scope
from spec.model.values import show
from spec.source import Span

Setting = tuple[str, str]  # a bound or a switch: its name, and its value as a check writes it


def verdict_words(model: Model, result: Result) -> str:
    """A verdict in words: "survives 0 and 1 faults; violated with 2 (crash, isolate), in 5 steps"."""
    match result.verdict:
        case Holds() as holds:
            return _holds(model, result.kind, holds)
        case Violated(unshown=Unshown() as unshown) as violated:
            return f"{_known(model, unshown, violated.extent)}; {unshown}"
        case Violated(_, None):
            return f"never true, {_extent(model, result.verdict.extent) or 'in any reachable state'}"
        case Violated() as violated:
            return _violated(violated)
        case Unknown(reason, None):
            return f"unknown: {reason}"
        case Unknown(reason, extent) if extent is not None:
            return f"unknown: {reason}; no violation {_extent(model, extent) or 'so far'}"
        case _:
            raise AssertionError(result.verdict)


def way_words(found: Distinct, number: int) -> str:
    """The number of a way in words: "durable, way 2 of 3"."""
    return f"{found.property}, way {number} of {len(found.runs)}"


def _known(model: Model, unshown: Unshown, extent: Extent) -> str:
    """A violation without a shown run, in words."""
    survived = f"{_survives(unshown.least)}; " if unshown.least else ""
    return f"{survived}violated {fault_words(model, extent)}".rstrip()


def _holds(model: Model, kind: PropertyKind, holds: Holds) -> str:
    """The verdict that a property holds, in words."""
    if holds.unshown is not None:
        return f"reached {fault_words(model, holds.extent)}".rstrip() + f"; {holds.unshown}"
    if kind is PropertyKind.REACHABLE and holds.example is not None:
        steps = count(len(holds.example.steps), "step")
        faults = holds.example.faults
        return f"reached in {steps}" + (f", with {count(faults, 'fault')}" if faults else "")
    words = f"holds {_extent(model, holds.extent)}".rstrip()
    if holds.beyond:
        return f"{words}, within the scope; from {_beyond(holds)} the only way leaves it"
    if holds.vacuous:
        return f"{words}; but nothing is put to the test: no run ever begins to wait"
    return words


def untested_words(model: Model, parts: Iterable[UntestedPart]) -> Iterator[str]:
    """Vacuous parts of properties in words: "`m in sent` never has a member, in agreed and decided"."""
    by_part: dict[tuple[Span, bool], list[str]] = {}
    for part in parts:
        by_part.setdefault((part.span, part.is_quantifier), []).append(part.property)
    for (span, is_quantifier), names in by_part.items():
        how = "never has a member" if is_quantifier else "is never true"
        yield f"`{one_line(model.source.at(span))}` {how}, in {', '.join(names)}"


def _beyond(holds: Holds) -> str:
    """The number of states, or orbits, in words."""
    states = count(holds.beyond, "state")
    return f"{states} up to renaming {' and '.join(holds.renamed)}" if holds.renamed else states


def _violated(violated: Violated) -> str:
    """A violation in words."""
    trace = violated.trace
    if trace is None:
        raise AssertionError("a violation without a run is worded elsewhere")
    steps = count(len(trace.steps), "step")
    if not violated.fewest:
        faults = count(trace.faults, "fault") if trace.faults else "no fault"
        return f"violated by a run with {faults}, in {steps}"
    if trace.faults == 0:
        return f"violated without any fault, in {steps}"
    kinds = ", ".join(name if n == 1 else f"{n} × {name}" for name, n in trace.fault_counts().items())
    return f"{_survives(trace.faults)}; violated with {trace.faults} ({kinds}), in {steps}"


def _survives(faults: int) -> str:
    """The faults survived before the first violation, in words."""
    match faults:
        case 1:
            return "holds without faults"
        case 2:
            return "survives 0 and 1 faults"
        case _:
            return f"survives up to {faults - 1} faults"


def _extent(model: Model, extent: Extent) -> str:
    """What a verdict covers in words; empty for the scope asked about without faults."""
    anywhere = "in every scope" if extent.scope is None else ""
    anywhere += ", errors aside" if extent.but_for_errors else ""
    return ", ".join(filter(None, (anywhere, fault_words(model, extent))))


def fault_words(model: Model, extent: Extent) -> str:
    """The number of faults covered, in words; empty for a model without faults."""
    if not any(action.kind.value == "fault" for action in model.actions):
        return ""
    if extent.kinds is not None:
        return f"with {_kinds(extent.kinds)}"
    if extent.faults is None:
        return "for any number of faults"
    return "without faults" if extent.faults == 0 else f"with at most {count(extent.faults, 'fault')}"


def _kinds(kinds: Mapping[str, int | None]) -> str:
    """Limits by kind of fault, in words."""
    return ", ".join(f"any {name}" if most is None else f"{name} ≤ {most}" for name, most in kinds.items())


def engine_words(findings: Findings) -> str:
    """The engine, or two, that answered, in words."""
    beside = findings.beside
    return f"{findings.engine} and {beside.engine}" if beside and beside.answered else findings.engine


def second_engine_words(findings: Findings) -> Iterator[str]:
    """The part of the second engine, in sentences."""
    beside, first = findings.beside, findings.engine
    if beside is None:
        return
    if beside.answered:
        yield f"{beside.engine} answered {', '.join(beside.answered)}"
        verdicts = [r.verdict for r in findings.results if r.property in beside.answered]
        if any(isinstance(verdict, Violated) and not verdict.fewest for verdict in verdicts):
            yield "fewer faults may do"
        else:
            yield f"{first} had been through all runs with fewer faults"
    if beside.agreed:
        yield f"{beside.engine} agrees with {first} on {', '.join(beside.agreed)}"
    if beside.problem:
        yield f"{beside.engine} gave up: {beside.problem}"
    others = "nothing else" if beside.answered or beside.agreed else "nothing"
    if beside.depth >= 0:
        yield f"{beside.engine} found {others} in runs of up to {count(beside.depth, 'step')}"


def budget_words(budget: Budget) -> str:
    """The fault budget as a check writes it."""
    total = [] if budget.total is None else [f"at most {budget.total}" if budget.total else "none"]
    if budget.kinds is None:
        return total[0] if total else "any number"
    return ", ".join([*total, _kinds(budget.kinds)])


def bounds_set(scope: Scope) -> Iterator[Setting]:
    """The bounds in a scope as names and values."""
    yield from ((name, str(len(members))) for name, members in scope.sorts.items())
    yield from bound_words(scope).items()


def switches_set(model: Model, check: Check) -> Iterator[Setting]:
    """The switches of a check as names and values."""
    types = {entry.name: entry.type for entry in model.configs}
    for name, value in check.scope.config.items():
        yield name, show(types[name], value, check.scope)


def setting_words(settings: Iterable[Setting]) -> list[str]:
    """Settings as a check writes them: `Replica = 3`."""
    return [f"{name} = {value}" for name, value in settings]


def scope_words(scope: Scope) -> list[str]:
    """The bounds as a check writes them: `Replica = 3`, `Epoch = 2`."""
    return setting_words(bounds_set(scope))


def config_words(model: Model, check: Check) -> list[str]:
    """The switches as a check writes them."""
    return setting_words(switches_set(model, check))


def seconds_words(seconds: float) -> str:
    """A duration in words: "0.3 s", "12 s", "3 min 5 s", "2 h 10 min"."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def partial_words(findings: Findings) -> str:
    """Why a search is incomplete, and what could be tried where memory or the disk ended it."""
    why, spill = findings.end.value, findings.spill
    if findings.end is End.MEMORY and spill is not None and spill.problem is not None:
        return f"{why}, and it cannot continue on disk: {spill.problem}"
    if spill is not None and spill.problem is None and findings.end is not End.MEMORY:
        return f"{why}; with --disk DIR states are kept there, and --resume DIR continues"
    return why


def spill_words(spill: Spill | None) -> list[str]:
    """What was done when memory ended, where the search went on."""
    if spill is None or spill.folder is None:
        return []
    return [f"memory was full after {count(spill.states, 'state')}", f"begun again in {spill.folder}"]


def memory_words(bytes_: int) -> str:
    """An amount of memory: "310 MB", "1.2 GB"."""
    return f"{bytes_ / 1e9:.1f} GB" if bytes_ >= 1e9 else f"{bytes_ / 1e6:.0f} MB"


def verdict_name(verdict: Verdict) -> str:
    """The word for a verdict: `holds`, `violated` or `unknown`."""
    match verdict:
        case Holds():
            return "holds"
        case Violated():
            return "violated"
        case Unknown():
            return "unknown"
        case _:
            assert_never(verdict)
