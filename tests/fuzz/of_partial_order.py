"""What is found where steps are left for later, as where none is: NOTE(persistent)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from modelcheck.api import task_of
from modelcheck.contract.engine import Task
from modelcheck.contract.report import Silent
from modelcheck.contract.result import End, Findings, Holds, Unknown, Verdict, Violated
from modelcheck.search.interpreted import InterpretedSearch
from modelcheck.search.persistent import REDUCIBLE, persistence, unmoved
from spec.meaning.semantics import Machine, State
from spec.model.interchangeable import symmetric_sorts
from spec.model.ir import Budget, Check, PropertyKind
from tests.agreement import Found, cost, differences, found_by
from tests.fuzz.cases import MOST, Case, TooLarge, case_of, small_chunks
from tests.fuzz.findings import Differences
from tests.fuzz.queue_models import random_model


def reducible(case: Case) -> Check:
    """The check of a model with properties that may be asked of fewer steps, and some budget of faults."""
    named = [case.model.property(name) for name in case.asked.only or ()]
    only = tuple(
        each.name
        for each in named
        if each.kind in REDUCIBLE and (each.kind is not PropertyKind.STEP or unmoved(each))
    )
    chance = case.random("partial order")
    kept = tuple(name for name in only if chance.random() < 0.5)
    budget = chance.choice([case.asked.budget, Budget(0), Budget(1), Budget(2), Budget(None)])
    return replace(case.asked, only=kept, budget=budget)


def left_for_later(case: Case) -> Differences | None:
    """Verdicts and faults with fewer steps as with all; the same by both engines."""
    asked, options = reducible(case), _options(case)
    plain = case.by_reference(asked)
    fewer = case.by_reference(asked, **options)
    if different := _left_out(case, asked, plain, fewer):
        return different
    with small_chunks():
        fast = found_by(case.model, asked, case.explicit, threads=1 + case.seed % 2, **options)
    if fast is None:
        return {}
    if options["symmetry"] or fewer.findings is None or fewer.findings.error is not None:
        return apart(plain, fast, asked.budget)  # what stands for an orbit differs, and what is left out
    return differences(fewer.facts, fast.facts)


def _options(case: Case) -> dict[str, bool]:
    """Fewer steps, for one model in three with symmetry too where it has any."""
    return {
        "symmetry": bool(symmetric_sorts(case.model)) and case.seed % 3 == 0,
        "partial_order": True,
    }


def _left_out(case: Case, asked: Check, plain: Found, fewer: Found) -> Differences:
    """What the reference engine loses with fewer steps."""
    seen = {} if plain.findings is None else seen_apart(case, asked)
    apart_from = apart(plain, fewer, asked.budget), claimed(plain, fewer), seen
    return {name: pair for each in apart_from for name, pair in each.items()}


def seen_apart(case: Case, asked: Check) -> Differences:
    """Where fewer steps lead to other values of what properties read, or to other ends, or by other faults.

    That is more than a verdict tells: each value of these variables with the fewest faults that lead to
    it, and each state without steps, at the end of a whole search.
    """
    task = replace(task_of(case.model, asked), stop_early=False, limits=MOST)
    all_, fewer = (_searched(replace(task, partial_order=each)) for each in (False, True))
    if all_ is None or fewer is None:
        return differences({"error": all_ is None}, {"error": fewer is None})
    found: dict[str, tuple[object, object]] = {}
    for name, one, two in zip(("values", "ends"), all_, fewer, strict=True):
        found |= {f"{name} {key}": (one.get(key), two.get(key)) for key in one.keys() ^ two.keys()}
        found |= {
            f"{name} {key}": (one[key], two[key]) for key in one.keys() & two.keys() if one[key] != two[key]
        }
    return found


def _searched(task: Task) -> tuple[dict[State, int], dict[State, int]] | None:
    """The values of watched variables, and the states without steps, with faults; None after an error."""
    search = InterpretedSearch(task, Machine(task.model, task.scope), Silent(), keep_edges=False)
    end = search.run()
    if end.partial:
        raise TooLarge
    if end is not End.COMPLETE:
        return None
    of = persistence(replace(task, partial_order=True))
    assert of is not None
    values: dict[State, int] = {}
    ends: dict[State, int] = {}
    for number in range(len(search.space)):
        (_, state), faults = search.space.node(number), search.space.level(number).faults
        values.setdefault(tuple(state[each] for each in sorted(of.watched)), faults)
        if not search.machine.can_go_on(state):
            ends.setdefault(state, faults)
    return values, ends


def of_queues(case: Case) -> Differences | None:
    """The same of a model of processes with queues, of which most steps commute."""
    return _of_queues(case, left_for_later)


def of_queues_interpreted(case: Case) -> Differences | None:
    """The same by the reference engine alone: which steps are left out is decided once for both engines.

    A model costs 0.02 s of CPU where compiled code costs a second, so many more can be looked at.
    """

    def interpreted(case: Case) -> Differences:
        asked = reducible(case)
        return _left_out(case, asked, case.by_reference(asked), case.by_reference(asked, **_options(case)))

    return _of_queues(case, interpreted)


def _of_queues(case: Case, differing: Callable[[Case], Differences | None]) -> Differences | None:
    text = random_model(case.random("queues"))
    found = differing(case_of(case.seed, text))
    return {**found, "model": (None, text)} if found else found


def apart(plain: Found, fewer: Found, budget: Budget) -> Differences:
    """Where two findings differ in more than how many states and steps they looked at."""
    a, b = plain.findings, fewer.findings
    if a is None or b is None:
        return differences({"refused": plain.refused}, {"refused": fewer.refused})
    if a.error is not None or b.error is not None:
        return _with_error(a, b)
    found = differences(_told(a, budget), _told(b, budget))
    if not a.end.partial and a.end is b.end and a.end.name == "COMPLETE":
        found |= differences({"unused": a.stats.unused}, {"unused": b.stats.unused})
    return found


def _with_error(a: Findings, b: Findings) -> Differences:
    """Where two searches to an error differ: it ends both, and what else is known then differs."""
    found = differences({"error": a.error and cost(a.error)[0]}, {"error": b.error and cost(b.error)[0]})
    for one, two in zip(a.results, b.results, strict=True):
        if not isinstance(one.verdict, Unknown) and not isinstance(two.verdict, Unknown):
            found |= differences({one.property: _kind(one.verdict)}, {one.property: _kind(two.verdict)})
    return found


def _told(found: Findings, budget: Budget) -> Mapping[str, object]:
    """The verdict on each property, and the faults; of more faults than the budget nothing."""
    return {each.property: _kind(each.verdict, budget) for each in found.results}


def _kind(verdict: Verdict, budget: Budget | None = None) -> object:
    match verdict:
        case Holds(extent, _, run):
            within = extent.faults is None or (budget is not None and budget.total is not None)
            return "holds", within or budget is None, run and run.faults
        case Violated(_, run):
            return "violated", run and run.faults
        case Unknown(reason):
            return "unknown", reason.partition(":")[0]


def claimed(plain: Found, fewer: Found) -> Differences:
    """Where fewer steps say of any number of faults what all steps do not."""
    if plain.findings is None or fewer.findings is None:
        return {}
    return {
        one.property: (one.verdict.extent.faults, None)
        for one, two in zip(plain.findings.results, fewer.findings.results, strict=True)
        if isinstance(one.verdict, Holds)
        and isinstance(two.verdict, Holds)
        and two.verdict.extent.faults is None
        and one.verdict.extent.faults is not None
    }
