"""Other model checkers, asked about a random model: they are slow to start, so only about some."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from modelcheck.contract.families import looked_at
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.contract.result import Findings, Holds, Unknown, Violated
from modelcheck.export.exported import Exported
from modelcheck.export.targets import target
from spec.model.ir import Check, PropertyKind
from spec.model.kinds import OF_FAIR_RUNS
from spec.model.values import ModelError
from tests.agreement import differences
from tests.fuzz.cases import Case, TooLarge
from tests.fuzz.findings import Differences
from tests.oracles import rumur, spin, tlc

SECONDS = 30  # for each of the commands that make a model checker of a model: gcc may take minutes

SAID_TO_TLC = {  # in the same words
    PropertyKind.INVARIANT,
    PropertyKind.LEMMA,
    PropertyKind.REACHABLE,
    PropertyKind.DEADLOCK_FREE,
    *OF_FAIR_RUNS,
}


def by_tlc(case: Case) -> Differences | None:
    """As many states in TLC; or, of one property, whether it holds, and if not by how short a run."""
    chance, model = case.random("tlc"), case.model
    given = next(each for each in model.checks if each.name == case.asked.name)
    names = [prop.name for prop in looked_at(model, given) if prop.kind in SAID_TO_TLC]
    of_one = given.budget.total is not None or chance.random() < 0.6  # a total is a part of its states
    only: tuple[str, ...] = (chance.choice(names),) if names and of_one else ()
    if not only and given.budget.total is not None:
        return None
    asked = replace(given, only=only)
    known = case.by_reference(asked).findings
    of_runs = bool(only) and model.property(only[0]).kind in OF_FAIR_RUNS
    if known is None or not _is_said_by_tlc(known, of_runs=of_runs):
        return None
    with TemporaryDirectory() as folder:
        made = _written("tla", case, asked, Path(folder))
        if made is None or any(" is left out" in note for note in made.notes):
            return None
        if only:  # to see an example is to see a run against its opposite
            for config in Path(folder).glob("*.cfg"):
                config.write_text(config.read_text().replace(r"\* INVARIANT", "INVARIANT"))
        try:
            told = tlc(Path(folder), next(iter(made.files)).removesuffix(".tla"), quick=True)
        except subprocess.TimeoutExpired as error:
            raise TooLarge from error
    if not only:
        return differences({"states": known.stats.states}, {"states": told.states})
    verdict = known.results[0].verdict
    if of_runs:
        return differences({only[0]: isinstance(verdict, Violated)}, {only[0]: told.shown > 0})
    run = verdict.trace if isinstance(verdict, Violated) else None
    run = verdict.example if isinstance(verdict, Holds) else run
    if run is None or run.faults:  # it goes by the fewest steps alone
        return differences({only[0]: run is not None}, {only[0]: told.shown > 0})
    return differences({only[0]: len(run.states)}, {only[0]: told.shown})


def _is_said_by_tlc(known: Findings, *, of_runs: bool) -> bool:
    """Whether TLC means the same with what was asked."""
    if known.error is not None or any(isinstance(each.verdict, Unknown) for each in known.results):
        return False  # it evaluates no more than it needs, so it may not see what is wrong
    if known.results and not known.stats.states:
        return False  # it judges what is constant although there is no state
    return not (of_runs and known.stats.cut)  # at the edge of the scope it is not the same there


def by_spin(case: Case) -> Differences | None:
    """As many states in SPIN, and whether something is wrong."""
    return _flat(case, "promela", lambda folder, made, _: spin(folder, made.command, seconds=SECONDS))


def by_rumur(case: Case) -> Differences | None:
    """The same in rumur."""
    return _flat(case, "murphi", _rumur)


def _rumur(folder: Path, made: Exported, states: int) -> tuple[int, int]:
    return rumur(folder, made.command, states=states, seconds=SECONDS)


def _flat(case: Case, to: str, run: Callable[[Path, Exported, int], tuple[int, int]]) -> Differences | None:
    chance, model = case.random(to), case.model
    names = [name for name in case.asked.only or () if model.property(name).kind is PropertyKind.INVARIANT]
    only = (chance.choice(names),) if names and chance.random() < 0.5 else ()
    asked = replace(case.asked, only=only)
    known = case.by_reference(asked).findings
    if known is None:
        return None
    with TemporaryDirectory() as folder:
        made = _written(to, case, asked, Path(folder))
        if made is None or any("breaks" in note for note in made.notes):
            return None
        try:
            states, errors = run(Path(folder), made, known.stats.states)
        except subprocess.TimeoutExpired as error:
            raise TooLarge from error
    wrong = known.error is not None or any(isinstance(r.verdict, Violated) for r in known.results)
    found = differences({"wrong": wrong}, {"wrong": errors > 0})
    if not wrong and asked.budget.total is None:
        found |= differences({"states": known.stats.states}, {"states": states})
    return found


def _written(to: str, case: Case, asked: Check, folder: Path) -> Exported | None:
    """The export in a folder; None where it is refused, or the model cannot start."""
    try:
        made = target(to)(case.model, asked)
    except (Inexpressible, ModelError):
        return None
    for name, text in made.files.items():
        (folder / name).write_text(text, encoding="ascii")
    return made


OTHERS = {"tlc": by_tlc, "spin": by_spin, "rumur": by_rumur}
