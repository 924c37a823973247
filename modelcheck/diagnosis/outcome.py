"""The outcome of a check with each of its runs made minimal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from counterexamples.trace import Trace
from modelcheck.contract.result import Holds, Outcome, Result, Violated
from modelcheck.diagnosis.shrink import Shrunk


def smaller(outcome: Outcome, shrink: Callable[[Trace], Shrunk]) -> tuple[Outcome, list[Shrunk]]:
    """The outcome with shrunk runs, and each shrunk run; verdicts are unchanged.

    After a request to end the other runs stay as they are.
    """
    shrunk: list[Shrunk] = []

    def small(trace: Trace) -> Trace:
        if any(each.is_interrupted for each in shrunk):
            return trace
        shrunk.append(shrink(trace))
        return shrunk[-1].trace

    def result(of: Result) -> Result:
        match of.verdict:
            case Violated(trace=Trace() as trace):
                return replace(of, verdict=replace(of.verdict, trace=small(trace)))
            case Holds(example=Trace() as trace):
                return replace(of, verdict=replace(of.verdict, example=small(trace)))
            case _:
                return of

    findings = outcome.findings
    error = None if findings.error is None else small(findings.error)
    results = tuple(result(of) for of in findings.results)
    return replace(outcome, findings=replace(findings, error=error, results=results)), shrunk
