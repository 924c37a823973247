"""Findings against what a check expects: every difference, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import assert_never

from counterexamples.trace import Trace
from modelcheck.contract.result import (
    End,
    Findings,
    Holds,
    Mismatch,
    Result,
    Stats,
    Unknown,
    Unshown,
    Verdict,
    Violated,
)
from spec.model.ir import Check, Expect, ExpectCount, ExpectTaken, ExpectVerdict


def mismatches(check: Check, findings: Findings) -> tuple[Mismatch, ...]:
    """Every expectation that is not met, and every unexpected violation.

    Random runs, and those of a solver, can only go against a verdict.  Nothing goes against
    how many faults and steps it takes, where the run at hand may not have the fewest.
    """
    if findings.sample is not None or findings.depth is not None or findings.proof is not None:
        verdicts = {r.property: r.verdict for r in findings.results if not isinstance(r.verdict, Unknown)}
        expect = (e for e in check.expect if isinstance(e, ExpectVerdict) and e.property in verdicts)
        check = replace(check, expect=tuple(expect))
    return tuple(found for found in _all(check, findings) if found is not None)


def _is_fewest(verdict: Verdict) -> bool:
    """Whether a verdict's run surely has the fewest faults."""
    return not isinstance(verdict, Violated) or verdict.fewest


def _plain(expected: ExpectVerdict) -> ExpectVerdict:
    """The expected verdict without details."""
    return replace(expected, faults=None, steps=None, any_faults=False)


def _all(check: Check, findings: Findings) -> Iterator[Mismatch | None]:
    """The mismatch of every expectation, or None where it is met."""
    results = {result.property: result for result in findings.results}
    for expectation in check.expect:
        yield _one(expectation, results, findings)
    foreseen = {
        expectation.property for expectation in check.expect if isinstance(expectation, ExpectVerdict)
    }
    for result in findings.results:
        if result.property not in foreseen and isinstance(result.verdict, Violated):
            yield Mismatch(ExpectVerdict(result.property, holds=True, span=check.span), said(result.verdict))


def needs_counts(check: Check) -> bool:
    """Whether a check expects counts, so that the search must be complete."""
    return any(not isinstance(expectation, ExpectVerdict) for expectation in check.expect)


def _one(expectation: Expect, results: Mapping[str, Result], findings: Findings) -> Mismatch | None:
    """The mismatch of an expectation; None if it is met."""
    match expectation:
        case ExpectVerdict():
            if expectation.property not in results:
                return Mismatch(expectation, "it was not looked at")
            verdict = results[expectation.property].verdict
            fair = expectation if _is_fewest(verdict) else _plain(expectation)
            is_known = not isinstance(verdict, Unknown)
            return None if _meets(verdict, fair) else Mismatch(expectation, said(verdict), is_known=is_known)
        case ExpectCount(what=what, count=count, faults=faults):
            return _compare(expectation, count, _count(findings, what, faults))
        case ExpectTaken(action=action, count=count):
            known = findings.stats.taken.get(action, 0) if findings.end is End.COMPLETE else None
            return _compare(expectation, count, known)
        case _:
            assert_never(expectation)


def _compare(wish: Expect, expected: int, found: int | None) -> Mismatch | None:
    """The mismatch of a count; None if it is met."""
    if found is None:
        return Mismatch(wish, "the search did not come to an end", is_known=False)
    return None if found == expected else Mismatch(wish, str(found))


def _meets(verdict: Verdict, expected: ExpectVerdict) -> bool:
    """Whether a verdict is as expected."""
    match verdict:
        case Holds(extent=extent):
            return expected.holds and (not expected.any_faults or extent.faults is None)
        case Violated(trace=trace):
            faults = trace.faults if trace else None
            steps = len(trace.steps) if trace else None
            return (
                not expected.holds and expected.faults in {None, faults} and expected.steps in {None, steps}
            )
        case Unknown():
            return False
        case _:
            assert_never(verdict)


def _count(findings: Findings, what: str, faults: int | None) -> int | None:
    """A counter of the search, up to a number of faults; None if it did not get there."""
    stats = findings.stats
    if faults is None:
        return _whole(stats, what) if findings.end is End.COMPLETE else None
    if faults < len(stats.layers):
        return int(getattr(stats.layers[faults], what))
    return _count(findings, what, None)  # more faults than there are layers add nothing


def _whole(stats: Stats, what: str) -> int:
    """A counter of the whole search."""
    return sum(stats.cut.values()) if what == "cut" else int(getattr(stats, what))


# ------------------------------------------------------------------------ words


def plural(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def wish(expected: ExpectVerdict) -> str:
    """An expected verdict in words: "p is violated with 1 fault in 10 steps"."""
    if expected.holds:
        return f"{expected.property} holds{' for any number of faults' if expected.any_faults else ''}"
    faults = "" if expected.faults is None else f" with {plural(expected.faults, 'fault')}"
    steps = "" if expected.steps is None else f" in {plural(expected.steps, 'step')}"
    return f"{expected.property} is violated{faults}{steps}"


def wished(expected: Expect) -> str:
    """An expectation in words."""
    match expected:
        case ExpectVerdict():
            return wish(expected)
        case ExpectCount(what=what, count=count, faults=faults):
            within = "" if faults is None else f" within {plural(faults, 'fault')}"
            return f"{what} {count}{within}"
        case ExpectTaken(action=action, count=count):
            return f"taken {action} {count}"
        case _:
            assert_never(expected)


def said(verdict: Verdict) -> str:
    """A verdict in words: "violated with 1 fault in 10 steps"."""
    match verdict:
        case Holds(unshown=Unshown() as unshown):
            return f"reached; {unshown}"
        case Violated(unshown=Unshown() as unshown):
            return f"violated; {unshown}"
        case Holds(example=Trace() as example):
            return f"reached {_run(example)}"
        case Holds(extent=extent, beyond=beyond):
            faults = "any number of faults" if extent.faults is None else plural(extent.faults, "fault")
            open_ = f"; from {plural(beyond, 'state')} only beyond the scope" if beyond else ""
            return f"holds with {faults}{open_}"
        case Violated(trace=Trace() as trace):
            return f"violated {_run(trace)}"
        case Violated():
            return "is never reached"
        case Unknown(reason=reason):
            return f"unknown: {reason}"
        case _:
            assert_never(verdict)


def _run(trace: Trace) -> str:
    """The faults and steps of a run in words."""
    return f"with {plural(trace.faults, 'fault')} in {plural(len(trace.steps), 'step')}"
