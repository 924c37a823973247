"""What engines find, compared with what an interpreter finds that shares no code with them."""

from __future__ import annotations

from collections.abc import Mapping

from counterexamples.trace import Erred, Lasso, Trace
from modelcheck.contract.result import End, Findings, Unknown, Verdict, Violated
from spec.model.ir import Kind
from spec.model.kinds import OF_FAIR_RUNS
from tests.agreement import Found
from tests.by_the_manual.parser import Text, read
from tests.by_the_manual.search import Answer, answer
from tests.by_the_manual.search import Verdict as Told
from tests.by_the_manual.tokens import Refused
from tests.fuzz.cases import Case
from tests.fuzz.findings import Differences
from tests.protocol_checks import PROTOCOLS


def by_the_manual(case: Case) -> Differences:
    """Where the reference engine finds something else about a model."""
    return compared(case.known, read(case.text, PROTOCOLS, PROTOCOLS), case.asked.name)


def compared(found: Found, text: Text, check: str) -> Differences:
    """What the manual says of a check and what an engine found: verdicts, costs, counts and errors."""
    asked = next(each for each in text.checks if each.name == check)
    try:
        told = answer(text, asked)
    except Refused as refused:
        return {} if found.findings is None else {"refused": (str(refused), "")}
    if found.findings is None:
        return {"error": (told.error, (found.refused, (0, 0)))}
    return _of_search(told, found.findings) | {
        result.property: _of_property(
            told.verdicts.get(result.property),
            result.verdict,
            told,
            of_states=result.kind not in OF_FAIR_RUNS,
        )
        for result in found.findings.results
    }


def _of_search(told: Answer, found: Findings) -> dict[str, tuple[object, object]]:
    """Where a search ended; what it counted, if that was everything."""
    if found.end is End.DECIDED:  # perhaps before it came to an error
        return {}
    error = (told.error and told.error[1], found.error and _where(found.error))
    if found.end is not End.COMPLETE:
        return {"error": error}
    stats = found.stats
    layers = [(each.states, each.transitions, each.levels, each.cut) for each in stats.layers]
    whole = (stats.states, stats.transitions, stats.levels, sum(stats.cut.values()))
    expected = [(each.states, each.transitions, each.levels, each.cut) for each in told.layers]
    taken = (_some(told.taken), _some(stats.taken))
    counted = (expected[: len(layers)], expected[-1]), (layers, whole)
    return {"error": error, "counts": counted, "taken": taken}


def _some(taken: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in taken.items() if count}


def _where(error: Trace) -> tuple[int, int]:
    """The faults and steps of the run to an error, with the step that makes it."""
    step = error.ending.step if isinstance(error.ending, Erred) else None
    faults = {action.name for action in error.model.actions if action.kind is Kind.FAULT}
    return error.faults + (step is not None and step.action in faults), len(error.steps) + (step is not None)


def _of_property(
    told: Told | None, found: Verdict, whole: Answer, *, of_states: bool
) -> tuple[object, object]:
    """Two verdicts, as far as the one that was found goes; what is beyond the scope only of states.

    With an error, what comes no sooner than it is known or is not.
    """
    if told is None:
        return "not asked", found
    if isinstance(found, Unknown):
        may_be = whole.error is not None and (told.cost is None or told.cost >= whole.error[1])
        return ("unknown", "unknown") if may_be else (told, found.reason)
    word, run = ("violated", found.trace) if isinstance(found, Violated) else ("holds", found.example)
    if run is not None:
        cost = (run.faults,) if isinstance(run.ending, Lasso) else (run.faults, len(run.steps))
        return (told.word, told.cost and told.cost[: len(cost)]), (word, cost)
    if isinstance(found, Violated):
        return (told.word,), (word,)
    kinds = (found.extent.kinds or {}).values()
    for_any = found.extent.faults is None and all(most is None for most in kinds)
    expected = (told.word, told.for_any, told.for_nothing, told.beyond if of_states else None)
    return expected, (word, for_any, found.vacuous, found.beyond if of_states else None)
