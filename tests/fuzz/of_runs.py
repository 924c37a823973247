"""What is made of runs: written and read, reordered, renamed, made smaller, told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import modelcheck.engines.registry as engines
import modelcheck.search.simulate as simulate
from counterexamples.certify import NotReplayable, certify
from counterexamples.compare import compare
from counterexamples.itf.read import document
from counterexamples.itf.write import write
from counterexamples.reorder import late_faults
from counterexamples.trace import (
    BadAssert,
    BadState,
    BadStep,
    Deadlocked,
    Erred,
    Example,
    Lasso,
    Trace,
    Trapped,
)
from modelcheck.api import check
from modelcheck.contract.engine import Limits
from modelcheck.contract.result import Distinct, End, Findings, Holds, Outcome, Violated
from modelcheck.diagnosis.distinct.search import distinct
from modelcheck.diagnosis.shrink import shrink
from modelcheck.search.first_names import RenamedRun, with_first_names
from modelcheck.search.simulate import RandomRuns
from spec.meaning.semantics import Machine, State, Step, Taken
from spec.model.interchangeable import symmetric_sorts
from spec.model.ir import Check
from spec.model.kinds import OF_RUNS
from spec.model.values import ModelError
from tests.agreement import differences
from tests.fuzz.cases import Case, TooLarge
from tests.fuzz.findings import Differences

SECONDS = 10
RUNS = 10
MOST = 3_000  # states within any budget
AT_ONCE = BadState | BadStep | BadAssert | Deadlocked | Example  # endings that a last step and state show
WAYS = Limits(states=400, seconds=SECONDS)


def runs_of(case: Case) -> dict[str, Trace]:
    """The runs that the reference engine found, by what they show."""
    return {} if case.findings is None else runs_in(case.findings)


def runs_in(findings: Findings) -> dict[str, Trace]:
    """The runs in findings, by what they show."""
    found = {} if findings.error is None else {"error": findings.error}
    for result in findings.results:
        match result.verdict:
            case Holds(example=Trace() as run) | Violated(trace=Trace() as run):
                found[result.property] = run
            case _:
                pass
    return found


def random_runs(case: Case) -> dict[str, Trace]:
    """Runs that show the same as those of the reference engine, but neither the cheapest nor the shortest."""
    found: dict[str, Trace] = {}
    for name, best in runs_of(case).items():
        if name == "error" or isinstance(best.ending, Lasso | Trapped | Erred):
            continue
        engine = RandomRuns(RUNS, case.seed, 2 * len(best.steps) + 8)
        asked = replace(case.asked, only=(name,), expect=())
        told = check(case.model, asked, engine=engine, limits=WAYS).trace(name)
        if told is not None:
            found[f"{name}, at random"] = told
    return found


def of_each(
    case: Case, ask: Callable[[Case, str, Trace], Iterator[tuple[str, object, object]]]
) -> Differences | None:
    """What is asked of every run: facts that differ, as what, expected and found."""
    runs = runs_of(case) | random_runs(case)
    if not runs:
        return None
    told = ((name, *each) for name, run in runs.items() for each in ask(case, name, run))
    return {f"{name}: {what}": (expected, found) for name, what, expected, found in told}


def refusal(run: Trace) -> str:
    """Why something is no run; empty where it is one."""
    try:
        certify(run)
    except NotReplayable as refusal:
        return str(refusal)
    return ""


# ------------------------------------------------------------------ files


def written(case: Case) -> Differences | None:
    """Runs that are written and read again."""
    return of_each(case, _written)


def _written(case: Case, _: str, run: Trace) -> Iterator[tuple[str, object, object]]:
    text = write(run)
    again = document(text).replayed(case.model).trace
    yield "read again", _parts(run), _parts(again)
    yield "written again", text, write(again)


def _parts(run: Trace) -> tuple[object, ...]:
    return run.states, run.steps, run.ending, run.property, run.check, run.scope


# ------------------------------------------------------------------ order and names


def reordered(case: Case) -> Differences | None:
    """Runs with late faults, and under other names of interchangeable members."""
    return of_each(case, _reordered)


def _reordered(case: Case, name: str, run: Trace) -> Iterator[tuple[str, object, object]]:
    late = late_faults(run)
    yield "with late faults it is a run", "", refusal(late)
    yield "the same steps", Counter(run.steps), Counter(late.steps)
    yield "the same end", run.states[-1], late.states[-1]
    yield "late faults are late", late.steps, late_faults(late).steps
    yield "a run is like itself", (True, ()), (compare(run, run).same_steps, compare(run, run).ends)
    if isinstance(run.ending, Erred):
        return  # of several steps that err, the first one is told, and by other names it is another one
    chance = case.random(f"names of {name}")
    for sort in symmetric_sorts(case.model):
        members = [*range(len(run.scope.sorts[sort]))]
        chance.shuffle(members)
        other = RenamedRun(case.model, sort, tuple(members)).trace(run)
        yield f"with other names of {sort} it is a run", "", refusal(other)
        named = with_first_names(other)
        yield f"with first names of {sort} it is a run", "", refusal(named)
        yield f"first names of {sort} are the first", named.steps, with_first_names(named).steps
        yield f"names of {sort} make no difference", with_first_names(run).steps, named.steps


# ------------------------------------------------------------------ smaller runs


def shrunk(case: Case) -> Differences | None:
    """Runs that are made minimal."""
    return of_each(case, _shrunk)


def _shrunk(case: Case, name: str, run: Trace) -> Iterator[tuple[str, object, object]]:
    is_same = case.random(f"scope of {name}").random() < 0.5
    small = shrink(run, same_scope=is_same, seconds=SECONDS)
    if not small.is_minimal:
        return
    yield "shrunk it is a run", "", refusal(small.trace)
    yield (
        "shrunk it shows the same",
        (type(run.ending), run.property),
        (type(small.trace.ending), small.trace.property),
    )
    yield "it has no more faults", True, small.trace.faults <= run.faults
    yield (
        "it is no longer",
        True,
        (small.trace.faults, len(small.trace.steps)) <= (run.faults, len(run.steps)),
    )
    yield "no step can go", [], leavable(small.trace)
    again = shrink(small.trace, same_scope=is_same, seconds=SECONDS)
    if again.is_minimal:
        yield "shrunk once more", _size(small.trace), _size(again.trace)


def _size(run: Trace) -> tuple[object, ...]:
    sizes = {sort: len(names) for sort, names in run.scope.sorts.items()}
    return run.faults, len(run.steps), sizes, run.scope.nats, run.scope.networks


def leavable(run: Trace) -> list[int]:
    """The numbers from 0 of the steps without which a run, with what of it is still possible, ends alike."""
    if not isinstance(run.ending, AT_ONCE):
        return []
    replayed = Replayed(run)
    return [number for number in range(len(run.steps)) if replayed.ends_alike(number)]


class Replayed:
    """The steps of a run taken again by the meaning of the language, without one of them."""

    def __init__(self, run: Trace) -> None:
        self._run = run
        self._machine = Machine(run.model, run.scope)

    def ends_alike(self, out: int) -> bool:
        """Whether some run of the steps but one shows what all of them do, without what is not possible."""
        states = {self._run.states[out]}
        if any(self.shows(None, None, state) for state in states):
            return True
        for step in self._run.steps[out + 1 :]:
            reached = set[State]()
            for state in states:
                for taken in self._again(state, step):
                    if self.shows(state, taken, taken.state):
                        return True
                    reached.add(taken.state)
            states = reached or states
        return False

    def _again(self, state: State, step: Step) -> list[Taken]:
        """That step; else those of the same action and parameters with other choices."""
        found = list[Taken]()
        try:
            for each in self._machine.steps(state, actions=(step.action,)):
                if isinstance(each, Taken) and each.step.args == step.args:
                    found.append(each)
        except ModelError:
            pass
        return [each for each in found if each.step == step] or found

    def shows(self, before: State | None, taken: Taken | None, state: State) -> bool:
        """Whether a last step and state show what the run does; never where asking makes an error."""
        ending, machine = self._run.ending, self._machine
        prop = self._run.model.property(self._run.property or "")
        try:
            match ending:
                case BadState() | Deadlocked():
                    return not machine.holds(prop, state)
                case Example():
                    return machine.holds(prop, state)
                case BadAssert():
                    return taken is not None and prop.name in taken.broken
                case BadStep():
                    return (
                        before is not None
                        and taken is not None
                        and not machine.step_holds(prop, before, taken.step, state)
                    )
                case _:
                    return False
        except ModelError:
            return False


# ------------------------------------------------------------------ distinct ways


def ways(case: Case) -> Differences | None:
    """The distinct ways to violate properties."""
    findings = case.findings
    if findings is None or not any(isinstance(each.verdict, Violated) for each in findings.results):
        return None
    outcome = Outcome(case.model, case.asked, findings, ())
    told = (each for found in distinct(outcome, limits=WAYS) for each in _ways(case, found))
    return {what: (expected, found) for what, expected, found in told}


def _ways(case: Case, found: Distinct) -> Iterator[tuple[str, object, object]]:
    name, runs = found.property, found.runs
    costs = [(run.faults, len(run.steps)) for run in runs]
    yield f"{name}: cheapest first", sorted(costs), costs
    known = runs_of(case)[name]
    yield f"{name}: the first is as cheap as the known one", (known.faults, len(known.steps)), costs[0]
    for number, run in enumerate(runs, 1):
        yield f"{name}: way {number} is a run", "", refusal(run)
        yield f"{name}: no step of way {number} can go", [], leavable(run)
        yield f"{name}: way {number} is of it", name, run.property
        budget = case.asked.budget
        spent = run.fault_counts()
        is_within = all(budget.allows(each) for each in spent)
        yield f"{name}: way {number} is within the kinds", True, is_within
    different = {(run.states, run.steps) for run in runs}
    yield f"{name}: no way is there twice", len(runs), len(different)


# ------------------------------------------------------------------ random runs


def simulated(case: Case) -> Differences | None:
    """Random runs: of states that can be reached, and no cheaper than what a search finds."""
    names = tuple(n for n in case.asked.only or () if case.model.property(n).kind not in OF_RUNS)
    asked = replace(case.asked, only=names, expect=())
    known = case.by_reference(asked).findings
    if known is None:
        return None
    depth = case.random("simulated").randint(0, 15)
    told = check(case.model, asked, engine=RandomRuns(RUNS, case.seed, depth), limits=WAYS).findings
    found: dict[str, tuple[object, object]] = {
        "compiled code": (timeless(told), timeless(_compiled(case, asked, depth)))
    }
    best, shown = runs_in(known), runs_in(told)
    for name, run in shown.items():
        if known.error is not None or (name == "error" and known.end is not End.COMPLETE):
            continue  # the search has not seen what comes behind the error, or behind its last violation
        least = best.get(name)
        found |= differences({f"{name} is known": True}, {f"{name} is known": least is not None})
        if least is not None:
            costs = (least.faults, len(least.steps)), (run.faults, len(run.steps))
            found |= differences(
                {f"{name} is no cheaper": True}, {f"{name} is no cheaper": costs[0] <= costs[1]}
            )
    if known.error is None and (reachable := _reachable(case)) is not None:
        sample = [*shown.values(), *([told.sample.run] if told.sample and told.sample.run else [])]
        for number, run in enumerate(sample):
            beyond = [state for state in run.states if state not in reachable]
            found |= differences({f"{number}: beyond": []}, {f"{number}: beyond": beyond})
            spent, budget = run.fault_counts(), asked.budget
            is_within = budget.total is None or run.faults <= budget.total
            is_within &= all(spent.get(fault, 0) <= most for fault, most in budget.counted.items())
            is_within &= all(budget.allows(fault) for fault in spent)
            found |= differences({f"{number}: within": True}, {f"{number}: within": is_within})
            found |= differences({f"{number}: a run": ""}, {f"{number}: a run": refusal(run)})
            found |= differences({f"{number}: short": True}, {f"{number}: short": len(run.steps) <= depth})
    return found


def _compiled(case: Case, asked: Check, depth: int) -> Findings:
    """What the same random runs find in compiled code, from the first one on."""
    few, simulate.FEW = simulate.FEW, -1
    try:
        engine = engines.random_runs(RUNS, case.seed, depth, {})
        return check(case.model, asked, engine=engine, limits=WAYS).findings
    finally:
        simulate.FEW = few


def timeless(findings: Findings) -> Findings:
    """The findings without seconds and memory."""
    return replace(findings, stats=replace(findings.stats, seconds=0.0, memory=0))


def _reachable(case: Case) -> set[State] | None:
    """Every state that can be reached within the scope by faults of the check; None beside an error."""
    machine = Machine(case.model, case.asked.scope)
    actions = [a.name for a in case.model.actions if not a.is_fault or case.asked.budget.allows(a.name)]
    found = set(waiting := list(machine.initial()))
    for state in waiting:
        try:
            after = {step.state for step in machine.steps(state, None, actions) if isinstance(step, Taken)}
        except ModelError:  # more faults than the budget lead there
            return None
        waiting += after - found
        found |= after
        if len(found) > MOST:
            raise TooLarge
    return found
