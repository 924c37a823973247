"""The prover: that claims hold in every scope, by induction over the steps; it proves, and never refutes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from time import monotonic
from typing import ClassVar

import spec.model.ir as ir
from counterexamples.trace import Trace
from modelcheck.contract.engine import Refusal, Task, not_asked
from modelcheck.contract.inexpressible import Inexpressible
from modelcheck.contract.proof import START, ObligationCell, ObligationStatus, Proof
from modelcheck.contract.report import Proving, Reporter
from modelcheck.contract.result import End, Extent, Findings, Holds, Result, Unknown, Verdict
from modelcheck.processes.cores import cores
from modelcheck.search.reference import ReferenceEngine
from modelcheck.symbolic.answers import Clock, claims_of
from modelcheck.symbolic.process import FIRST, ProcessAnswer, Program, Said, ask, insist, programs
from modelcheck.symbolic.unbounded.induction import broken_step, scope_without_start
from modelcheck.symbolic.unbounded.obligations import Obligation, ProofTask
from spec.frozen import frozen
from spec.model.kinds import INVARIANTS, OF_STEPS
from spec.model.totality import makes_no_error
from spec.model.values import ModelError

SECONDS = 10.0  # for each question to the solver, by default
STATES = 20_000  # in which a `reachable` is looked for
ERRING = 2_000  # in which an error is
PROVABLE = INVARIANTS | OF_STEPS  # kinds of claims
NO_SOLVER = "no solver is installed; `pip install z3-solver` brings one"


@frozen
class Prover:
    """An engine that proves claims for every scope, any number of steps and of faults that a check allows.

    Lemmas of the model are proved with the properties that are asked about, each
    from all others; what cannot be proved is left out and the rest is proved
    again without it.  A claim that it cannot prove may still hold: it says
    `Unknown`, with a step that shows why if there is one in a small scope.
    An error of the model is looked for in the scope of the check, since no proof says that there is none.
    A `reachable` is looked for in the scope of the check, since one state decides it; other properties
    of whole runs are `Unknown`, and refused where nothing else is asked.
    """

    name: ClassVar[str] = "prove"

    seconds: float = SECONDS
    program: Program | None = None  # None: the first that is installed
    explain: bool = True  # look for a small step that shows why a claim is not proved

    def refusals(self, task: Task) -> tuple[Refusal, ...]:
        """What the engine cannot check of a task. Costs every formula once."""
        is_for_proof = any(prop.kind in PROVABLE for prop in task.properties)
        kinds = () if is_for_proof else set(ir.PropertyKind) - PROVABLE
        return tuple(not_asked(task, kinds)) or tuple(_inexpressible(task))

    def run(self, task: Task, reporter: Reporter) -> Findings:
        """The findings: `Holds` without a scope where all obligations are proved, else `Unknown`."""
        clock = Clock(task, self.seconds)
        program = self.program or next(iter(programs()), None)
        if program is None:
            results = tuple(Result(p.name, p.kind, Unknown(NO_SOLVER)) for p in task.properties)
            return Findings(self.name, End.COMPLETE, results, clock.stats())
        threads = task.threads or cores()
        may_err = not makes_no_error(task.model)
        attempt = ProofAttempt(asked_of(task), program, self.seconds, threads, explain=self.explain)
        end, proof, searched, questions = End.COMPLETE, None, _Searched({}, None), 0
        known: list[ObligationCell] = []  # of the claims that are being tried together

        def told() -> None:
            nonlocal questions
            questions += 1
            reporter.tell(Proving(1, 0, questions, clock.seconds))

        try:
            searched = _searched(task, reporter, may_err=may_err)
            if searched.error is not None:
                why = Unknown(End.ERROR.value)
                results = tuple(Result(p.name, p.kind, why) for p in task.properties)
                return Findings(self.name, End.ERROR, results, clock.stats(), error=searched.error)
            proof = attempt.proof(provable_of(task), known, told)
        except KeyboardInterrupt:
            end = End.INTERRUPTED
        verdicts = {prop.name: _verdict(prop, task, proof, may_err=may_err) for prop in task.properties}
        verdicts.update(searched.verdicts)
        results = tuple(Result(p.name, p.kind, verdicts[p.name]) for p in task.properties)
        shown = proof or Proof((), tuple(known), (), program.version())
        return Findings(self.name, end, results, clock.stats(), proof=shown)


def asked_of(task: Task) -> ProofTask:
    """The proof task for a check: its model, configuration, and the actions that its budget allows."""
    return ProofTask(task.model, tuple(task.scope.config.items()), task.budget.actions(task.model))


def provable_of(task: Task) -> tuple[ir.Property, ...]:
    """The claims of a task that a proof can be about: those of states and of steps, and all lemmas."""
    return tuple(claim for claim in claims_of(task) if claim.kind in PROVABLE)


@frozen
class _Searched:
    """What a search of the scope of the check found: the verdicts on each `reachable`, and an error."""

    verdicts: dict[str, Verdict]
    error: Trace | None


def _searched(task: Task, reporter: Reporter, *, may_err: bool) -> _Searched:
    """What a search of some states of the scope of the check finds."""
    asked = tuple(prop for prop in task.properties if prop.kind is ir.PropertyKind.REACHABLE)
    if not (asked or may_err):
        return _Searched({}, None)
    most = STATES if asked else ERRING
    limits = replace(task.limits, states=min(most, task.limits.states or most))
    only = replace(task, properties=asked, limits=limits, family=None, witnesses=())
    try:
        found = ReferenceEngine().run(only, reporter)
    except ModelError:  # there is no start, which an obligation is about
        return _Searched({}, None)
    return _Searched({each.property: each.verdict for each in found.results}, found.error)


def _inexpressible(task: Task) -> Iterator[Refusal]:
    """The refusals of the constructs that cannot be translated, each once, with its place."""
    asked, claims = asked_of(task), provable_of(task)
    seen = set[str]()
    for question in asked.questions(claims):
        own = tuple(claim for claim in claims if claim.name == question.claim)
        try:
            asked.formula(question, own)
        except Inexpressible as reason:
            for each in reason.constructs:
                place = "" if each.span is None else f" ({task.model.source.at_place(each.span.start)})"
                what = f"{each.what}{place}"
                if what not in seen:
                    seen.add(what)
                    yield Refusal(what, "explicit")


def _verdict(prop: ir.Property, task: Task, proof: Proof | None, *, may_err: bool) -> Verdict:
    """The verdict on a property by a proof, or by none."""
    if proof is None:
        return Unknown(End.INTERRUPTED.value)
    if prop.kind not in PROVABLE:
        return Unknown(f"{prop.kind.value} is not for a proof: the engine explicit decides it in a scope")
    if prop.name in proof.claims:
        kinds = task.budget.kinds
        some = None if kinds is None else {name: None for name, most in kinds.items() if most != 0}
        return Holds(Extent(None, 0 if task.budget.total == 0 else None, some, but_for_errors=may_err))
    cells = [cell for cell in proof.dropped if cell.claim in {START, prop.name}]
    if cells[0].claim == START:
        return Unknown(f"that {START} is not proved, and without one it holds of nothing")
    failed = [cell for cell in cells if cell.kept is ObligationStatus.FAILED]
    if failed:
        return Unknown(f"not inductive: it may be false {failed[0].place}")
    return Unknown(f"not proved {cells[0].place}: {cells[0].why}")


@frozen
class ProofAttempt:
    """The search for a proof: the solver, its time limit, and the number of threads."""

    asked: ProofTask
    program: Program
    seconds: float
    threads: int
    explain: bool

    def proof(
        self, claims: Sequence[ir.Property], known: list[ObligationCell], told: Callable[[], object]
    ) -> Proof:
        """The largest inductive set of claims, and for the others the obligations that fail.

        Nothing is proved where it is not proved that there is an initial state.  `known` has what is
        known of the last set, also where this is interrupted; `told` is called for each.
        """
        *_, last = self.rounds(claims, known, told)
        return last

    def rounds(
        self, claims: Sequence[ir.Property], known: list[ObligationCell], told: Callable[[], object]
    ) -> Iterator[Proof]:
        """The attempts to prove: each without the claims that the attempt before could not prove.

        They are proved in the last one, which loses none.
        """
        left, dropped = tuple(claims), list[ObligationCell]()
        while True:
            known.clear()
            cells = self._cells(left, known, told)
            unproved = [cell for cell in cells if cell.kept is not ObligationStatus.PROVED]
            lost = {cell.claim for cell in unproved}
            left, dropped = tuple(claim for claim in left if claim.name not in lost), [*dropped, *unproved]
            if START in lost:
                yield Proof((), (), tuple(dropped), self.program.version())
                return
            names = tuple(claim.name for claim in left)
            yield Proof(names, tuple(cells), tuple(dropped), self.program.version())
            if not lost:
                return

    def _cells(
        self, claims: Sequence[ir.Property], known: list[ObligationCell], told: Callable[[], object]
    ) -> list[ObligationCell]:
        """The status of every obligation, tried by several threads."""
        with ThreadPoolExecutor(self.threads) as pool:
            futures = {pool.submit(self._cell, each, claims): each for each in self.asked.questions(claims)}
            open_ = dict(futures)
            try:
                for future in as_completed(futures):
                    known.append(future.result())
                    del open_[future]
                    told()
                return [future.result() for future in futures]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                known += [
                    ObligationCell(each.claim, each.action, ObligationStatus.UNKNOWN, 0.0, "not tried")
                    for each in open_.values()
                ]
                raise

    def _cell(self, question: Obligation, claims: Sequence[ir.Property]) -> ObligationCell:
        """The status of one obligation, after questions with and without more terms about sizes."""
        start = monotonic()
        for named in (False, True):
            formula = self.asked.formula(question, claims, named=named)
            text = formula.text()
            if named:
                said = insist(self.program, text, seconds=self.seconds)
            else:
                said = ask(self.program, text, seconds=min(FIRST, self.seconds))
            if said.answer is ProcessAnswer.UNSAT:
                return ObligationCell(
                    question.claim,
                    question.action,
                    ObligationStatus.PROVED,
                    monotonic() - start,
                    smt=text,
                    named=named,
                    decidable=formula.is_effectively_propositional,
                )
        shown, why = self._shown(question, claims), _why(said, question)
        kept = ObligationStatus.UNKNOWN if shown is None else ObligationStatus.FAILED
        if question.claim == START and (without := scope_without_start(self.asked)):
            kept, why = ObligationStatus.FAILED, without
        return ObligationCell(question.claim, question.action, kept, monotonic() - start, why, shown)

    def _shown(self, question: Obligation, claims: Sequence[ir.Property]) -> Trace | None:
        """A small step that violates the claim, if explanations are wanted and one is found."""
        if not self.explain:
            return None
        return broken_step(self.program, self.asked, question, claims, self.seconds)


def _why(said: Said, question: Obligation) -> str:
    """The reason why an obligation is not proved."""
    if said.answer is ProcessAnswer.SAT and question.claim == START:
        return "it does not follow, but in no small scope is there none"
    if said.answer is ProcessAnswer.SAT and question.action is None:
        return "the solver knows a start for which it is false"
    if said.answer is ProcessAnswer.SAT:
        return "it does not follow, but in no small scope was a step found that shows it"
    if said.answer in {ProcessAnswer.FAILED, ProcessAnswer.ENDED}:
        return f"{said.answer.value}: {' '.join(said.text.split())[:120]}"
    return str(said.answer.value)
