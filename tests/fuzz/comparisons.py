"""What is asked of engines about one model, and where they differ from the reference engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import factorial, prod
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

from modelcheck.api import Unmet, Unsupported, check
from modelcheck.contract.engine import Engine, Keep, Limits
from modelcheck.contract.families import families
from modelcheck.contract.result import End, Findings, Holds, Unknown, Verdict, Violated
from modelcheck.explicit.codegen.values.packing import TooWide
from modelcheck.explicit.native.compiling import Tier
from modelcheck.explicit.native.functions import Codes
from modelcheck.explicit.native.kernel import Kernel
from modelcheck.search.forgotten import OF_LAST_LAYER, forgettable
from modelcheck.symbolic.bounded import BoundedSearch
from modelcheck.symbolic.finite.ic3 import Reachability
from modelcheck.symbolic.finite.induction import Induction
from spark_explore.engine import SparkEngine
from spec.model.interchangeable import symmetric_sorts
from spec.model.ir import Budget, Check, Value
from spec.model.kinds import OF_FAIR_RUNS
from spec.model.types import is_scalar
from spec.model.values import ModelError, members
from tests.agreement import Found, cost, differences, found_by, orbits, up_to_renaming
from tests.fuzz.cases import Case, TooLarge, small_chunks
from tests.fuzz.findings import Differences
from tests.fuzz.of_chains import chains
from tests.fuzz.of_disk import on_disk, on_disk_resumed, spilled
from tests.fuzz.of_explanations import cores, explained, no_return
from tests.fuzz.of_pages import page, table
from tests.fuzz.of_partial_order import left_for_later, of_queues, of_queues_interpreted
from tests.fuzz.of_pictures import pictures
from tests.fuzz.of_runs import reordered, shrunk, simulated, ways, written
from tests.fuzz.of_sweeps import swept
from tests.fuzz.of_the_manual import by_the_manual
from tests.fuzz.same_meaning import (
    as_a_variant,
    formatted,
    imported,
    in_another_order,
    overridden,
    renamed,
    renamed_by_editor,
)
from tests.fuzz.without_parts import parts_needed
from tests.modelcheck.explicit.test_tiers import Switching, searched, task_of
from tests.modelcheck.symbolic.proved import asked as asked_of_solvers
from tests.modelcheck.symbolic.proved import wrong
from tests.modelcheck.symbolic.test_unbounded_meaning import claims_agree, steps_agree
from tests.plain_search import Plain, shown
from tests.representatives import reached, representatives_differ

MOST_NAMES = 200  # renamings that are tried on a state
DEPTH = 3  # steps of the runs that a bounded search looks at
PATIENCE = Limits(seconds=5)  # with engines that may take for ever


@dataclass(frozen=True)
class Comparison:
    """Something to compare: its name, for one model in how many, and how; no answer where there is nothing.

    Where a model has hardly any state, it is made for one in `of_tiny` times as many.
    """

    name: str
    every: int
    differing: Callable[[Case], Differences | None]
    of_tiny: int = 4

    def is_for(self, case: Case) -> bool:
        """Whether it is made for a model; different ones are for different models."""
        every = self.every * (self.of_tiny if case.is_tiny else 1)
        return (case.seed + sum(map(ord, self.name))) % every == 0


# ------------------------------------------------------------------ the explicit engine


def _explicit(case: Case, known: Found, **options: object) -> Differences | None:
    """Where the explicit engine differs with some options, all of which promise the same findings."""
    asked = options.pop("asked", case.asked)
    assert isinstance(asked, Check)
    with small_chunks():
        found = found_by(case.model, asked, case.explicit, **options)
    if found is None or (found.findings is not None and found.findings.end.partial):
        return None
    return differences(known.facts, found.facts)


def one_thread(case: Case) -> Differences | None:
    """All that the explicit engine finds."""
    return _explicit(case, case.known, threads=1)


def two_threads(case: Case) -> Differences | None:
    """The same with two threads."""
    return _explicit(case, case.known, threads=2)


def no_ways(case: Case) -> Differences | None:
    """The same where no way to a state is remembered."""
    return _explicit(case, case.known, threads=1, ways=False)


def resumed(case: Case) -> Differences | None:
    """The same after a stop, once or more often, from what was written down."""
    if case.findings is None or case.is_tiny:
        return None
    chance = case.random("resumed")
    ways, most = chance.random() < 0.7, 0
    with TemporaryDirectory() as folder, patch("os.fsync"):
        for resume in (False, True, True):
            most = chance.randint(most + 1, max(most + 1, case.findings.stats.states))
            keep = Keep(Path(folder), resume=resume)
            with small_chunks():
                found = found_by(
                    case.model, case.asked, case.explicit,
                    limits=Limits(states=most), threads=chance.randint(1, 2), keep=keep, ways=ways,
                )  # fmt: skip
            if found is None or found.findings is None or not found.findings.end.partial:
                return None if found is None else differences(case.known.facts, found.facts)
        return _explicit(case, case.known, threads=1, keep=Keep(Path(folder), resume=True), ways=ways)


def tiers(case: Case) -> Differences | None:
    """Code that is well compiled, or with cheap optimisations, and all kinds by turns."""
    if case.findings is None:
        return None
    task = task_of(case.model, case.asked)
    try:
        quick, middle, full = kernels = [Kernel(task, Codes(), tier=tier) for tier in Tier]
    except TooWide:
        return None
    with small_chunks():
        alone, between, well = (searched(task, kernel, 1 + (kernel is full)) for kernel in kernels)
        mixed = searched(task, quick, 1, Switching(quick, [middle, full], case.seed))
    found = {"well compiled": (alone, well), "in between": (alone, between), "by turns": (alone, mixed)}
    return {name: pair for name, pair in found.items() if pair[0] != pair[1]}


def family(case: Case) -> Differences | None:
    """Several questions that share a kernel, each as it is found alone."""
    chance = case.random("family")
    names = case.asked.only or ()
    totals = [case.asked.budget.total, 0, 1, None]
    kinds = case.asked.budget.kinds
    asked = [
        replace(
            case.asked,
            budget=Budget(
                total, kinds and {name: chance.choice([most, most, None, 1]) for name, most in kinds.items()}
            ),
            scope=replace(case.asked.scope, config=_some_config(case, chance)),
            only=tuple(name for name in names if chance.random() < 0.7),
            expect=case.asked.expect if chance.random() < 0.5 else (),
        )
        for total in chance.sample(totals, 2)
    ]
    shared = families([(case.model, each) for each in asked], with_witnesses=True)[0]
    found: dict[str, tuple[object, object]] = {}
    for each in asked:
        one = _explicit(case, case.by_reference(each), asked=each, threads=1, family=shared)
        if one is None:
            return None
        found |= {f"{name}, with faults {each.budget}": pair for name, pair in one.items()}
    return found


def _some_config(case: Case, chance: Random) -> dict[str, Value]:
    """Any values of the config entries of which there are few, and those of the check for the others."""
    types = {entry.name: entry.type for entry in case.model.configs}
    return {
        name: chance.choice(list(members(types[name], case.asked.scope))) if is_scalar(types[name]) else value
        for name, value in case.asked.scope.config.items()
    }


# ------------------------------------------------------------------ symmetry


def symmetry(case: Case) -> Differences | None:
    """Verdicts, lengths and errors with symmetry as they are without it."""
    if not symmetric_sorts(case.model):
        return None
    asked = up_to_renaming(case.model, case.asked)
    plain = case.known if asked.only == case.asked.only else case.by_reference(asked)
    return differences(_told(plain), _told(case.by_reference(asked, symmetry=True)))


def explicit_symmetry(case: Case) -> Differences | None:
    """All that the explicit engine finds up to symmetry, as the reference engine has it."""
    if not symmetric_sorts(case.model):
        return None
    asked = up_to_renaming(case.model, case.asked)
    known = case.by_reference(asked, symmetry=True)
    with small_chunks():
        found = found_by(case.model, asked, case.explicit, symmetry=True, threads=1 + case.seed // 2 % 2)
    if found is None:
        return None
    a, b = known.facts, found.facts
    if known.findings is not None and known.findings.error is not None:
        # how much of an erring state was seen depends on which state stands for its orbit
        a, b = ({name: facts.get(name) for name in ("end", "error", "refused")} for facts in (a, b))
    return differences(a, b)


def forgetting(case: Case) -> Differences | None:
    """Verdicts and lengths where the last layer forgets as where it does not; both engines count the same."""
    asked = replace(_of_states(case), budget=Budget(1 + case.seed % 2))
    symmetric = bool(symmetric_sorts(case.model)) and case.seed // 2 % 2 == 0
    if not forgettable(task_of(case.model, asked)):
        return None
    plain = case.by_reference(asked, symmetry=symmetric)
    known = case.by_reference(asked, symmetry=symmetric, forgets=True)
    if different := differences(_within(asked.budget, plain, known), _told(known)):
        return different
    with small_chunks():
        options = {"symmetry": symmetric, "forgets": True, "threads": 1 + case.seed // 4 % 2}
        fast = found_by(case.model, asked, case.explicit, **options)
    if fast is None or known.findings is None or known.findings.error is not None:
        return {}
    return differences(known.facts, fast.facts)


def _of_states(case: Case) -> Check:
    """The check of a model with the properties that the last layer may be asked of when it forgets."""
    named = [case.model.property(name) for name in case.asked.only or ()]
    return replace(case.asked, only=tuple(each.name for each in named if each.kind in OF_LAST_LAYER))


def _within(budget: Budget, plain: Found, known: Found) -> Mapping[str, object]:
    """What must be the same; what is not known to hold for any number of faults holds for the budget's."""
    others = _told(known)
    return {
        name: (said[0], budget.total, *said[2:])
        if isinstance(said, tuple) and said[0] == "holds" and others.get(name) != said
        else said
        for name, said in _told(plain).items()
    }


def orbits_counted(case: Case) -> Differences | None:
    """As many states up to symmetry as trying every renaming finds."""
    if not symmetric_sorts(case.model) or case.findings is None:
        return None
    quiet = replace(case.asked, budget=Budget(0), only=())
    known = case.by_reference(quiet)
    if known.findings is None or known.findings.error is not None:
        return None
    count = orbits(case.model, quiet, most=150)
    if count is None:
        return None
    found = case.by_reference(quiet, symmetry=True).findings
    return differences({"orbits": count}, {"orbits": found and found.stats.states})


def representatives(case: Case) -> Differences | None:
    """One representative of each state under all names, with other numbers of members, by both engines."""
    sorts, chance = symmetric_sorts(case.model), case.random("representatives")
    sizes = {name: chance.randint(2, 4) for name in sorts}
    if not sorts or prod(map(factorial, sizes.values())) > MOST_NAMES:
        return None
    members = {name: tuple(f"{name}_{n}" for n in range(size)) for name, size in sizes.items()}
    scope = replace(case.asked.scope, sorts={**case.asked.scope.sorts, **members})
    if scope.unbounded:
        return None
    try:
        states = reached(case.model, scope, 80)
        some = chance.sample(states, min(8, len(states)))
        return differences({"wrong": ""}, {"wrong": representatives_differ(case.model, scope, some)})
    except (TooWide, ModelError):
        return None


def _told(found: Found) -> Mapping[str, object]:
    """What must be the same with symmetry and without."""
    if found.findings is None:
        return {"refused": found.refused}
    error = found.findings.error
    return {"error": error and cost(error)} | {r.property: _length(r.verdict) for r in found.findings.results}


def _length(verdict: Verdict) -> object:
    match verdict:
        case Holds(extent, _, run):
            return "holds", extent.faults, run and (run.faults, len(run.steps))
        case Violated(_, run):
            return "violated", run and (run.faults, len(run.steps))
        case Unknown(reason):
            return "unknown", reason.partition(":")[0]


# ------------------------------------------------------------------ engines that ask a solver


def bounded(case: Case) -> Differences | None:
    """The shortest and the cheapest runs of few steps, as a plain search of all runs finds them."""
    asked = asked_of_solvers(case.model, case.asked)
    if not asked.only or case.findings is None:
        return None
    plain = Plain(case.model, asked, DEPTH)
    if not plain.search():
        return None
    found: dict[str, tuple[object, object]] = {}
    for fewest in (False, True):
        told = _asked(case, asked, BoundedSearch(DEPTH, fewest_faults=fewest))
        if told is None or (told.end.partial and told.end is not End.DEPTH):
            return None
        order = "faults" if fewest else "steps"
        if "" in plain.shown:  # where it errs, what else is true there depends on the order of looking
            if told.end is End.DECIDED:  # before it came to an error
                continue
            least = min(plain.shown[""], key=lambda each: each[::-1] if fewest else each)
            error = told.error and cost(told.error)[::-1]
            found |= differences({f"error, by {order}": least}, {f"error, by {order}": error})
            continue
        expected = {
            f"{name}, by {order}": min(costs, key=lambda each: each[::-1] if fewest else each)
            for name, costs in plain.shown.items()
        }
        actual = {f"{name}, by {order}": (len(t.steps), t.faults) for name, t in shown(told).items()}
        found |= differences(expected, actual)
    return found


def induction(case: Case) -> Differences | None:
    """What is proved by induction, and what is violated."""
    return _proved(case, Induction(2))


def ic3(case: Case) -> Differences | None:
    """What is proved by property-directed reachability, and what is violated."""
    return _proved(case, Reachability())


def _proved(case: Case, engine: Engine) -> Differences | None:
    asked = asked_of_solvers(case.model, case.asked)
    if case.findings is None:
        return None
    known = case.by_reference(asked).findings
    told = _asked(case, asked, engine)
    if told is None or known is None:
        return None
    return {f"{number}": (None, each) for number, each in enumerate(wrong(known, told))}


def _asked(case: Case, asked: Check, engine: Engine) -> Findings | None:
    try:
        return check(case.model, asked, engine=engine, limits=PATIENCE).findings
    except (Unsupported, Unmet, ModelError):
        return None


def proofs(case: Case) -> Differences | None:
    """Whether what formulas of proofs say of steps and states is so by definition."""
    if not case.model.actions:
        return None
    steps, claims = (agree(case.model, case.random("proofs")) for agree in (steps_agree, claims_agree))
    return {"steps": (True, all(steps)), "claims": (True, all(claims))}


def files(case: Case) -> Differences | None:
    """What the search on files finds, which is that of a cluster."""
    names = tuple(n for n in case.asked.only or () if case.model.property(n).kind not in OF_FAIR_RUNS)
    asked = replace(case.asked, only=names)
    with small_chunks():
        found = found_by(case.model, asked, SparkEngine(shards=3, driver_states=None), threads=1)
    return None if found is None else differences(case.by_reference(asked).facts, found.facts)


COMPARISONS = (
    Comparison("explicit, 1 thread", 1, one_thread),
    Comparison("explicit, 2 threads", 2, two_threads),
    Comparison("explicit, without ways", 3, no_ways),
    Comparison("explicit, resumed", 4, resumed),
    Comparison("disk", 3, on_disk),
    Comparison("disk, resumed", 5, on_disk_resumed),
    Comparison("disk, when memory ends", 5, spilled),
    Comparison("symmetry", 1, symmetry, of_tiny=1),
    Comparison("explicit, symmetry", 3, explicit_symmetry),
    Comparison("orbits", 11, orbits_counted),
    Comparison("representatives", 3, representatives),
    Comparison("last layer", 3, forgetting),
    Comparison("partial order", 5, left_for_later),
    Comparison("partial order, queues", 2, of_queues, of_tiny=2),
    Comparison("partial order, interpreted", 1, of_queues_interpreted, of_tiny=1),
    Comparison("family", 13, family),
    Comparison("tiers", 101, tiers),
    Comparison("search on files", 199, files),
    Comparison("bmc", 9, bounded, of_tiny=2),
    Comparison("induction", 53, induction),
    Comparison("ic3", 59, ic3),
    Comparison("proofs", 29, proofs, of_tiny=2),
    # what all engines share
    Comparison("manual", 2, by_the_manual),
    # the language
    Comparison("layout", 23, formatted),
    Comparison("other names", 8, renamed),
    Comparison("other names, by an editor", 12, renamed_by_editor),
    Comparison("another order", 6, in_another_order),
    Comparison("variant", 9, as_a_variant),
    Comparison("import", 16, imported),
    Comparison("settings", 10, overridden),
    # runs
    Comparison("trace files", 3, written),
    Comparison("runs in another order", 3, reordered),
    Comparison("shrink", 3, shrunk),
    Comparison("distinct", 3, ways),
    Comparison("simulate", 7, simulated),
    Comparison("core", 3, cores),
    Comparison("no return", 3, no_return),
    Comparison("explanation", 5, explained),
    Comparison("pictures", 3, pictures),
    # questions
    Comparison("necessity", 37, parts_needed),
    Comparison("rates", 3, chains),
    Comparison("sweep", 97, swept),
    Comparison("play", 211, page),
    Comparison("play, table", 211, table),
)


def differing(comparison: Comparison, case: Case) -> Differences | None:
    """Where something differs; an exception that nobody expects is a difference too."""
    try:
        found = comparison.differing(case)
    except TooLarge:
        return None
    except Exception as error:  # noqa: BLE001 - whatever it is, somebody promised that it does not come
        return {"exception": (None, f"{type(error).__name__}: {error}"[:300])}
    return found if found is None else {name: pair for name, pair in found.items() if pair[0] != pair[1]}


def alike(a: Differences, b: Differences) -> bool:
    """Whether two differences may have the same cause: something in both, and of exceptions the same one."""
    if "exception" in a or "exception" in b:
        kinds = [str(each.get("exception", (None, ""))[1]).partition(":")[0] for each in (a, b)]
        return kinds[0] == kinds[1]
    return bool(a.keys() & b.keys())
