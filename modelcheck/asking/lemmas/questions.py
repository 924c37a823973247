"""Obligations put to the solver: proved with which lemmas, or a state and a step that break them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import spec.model.ir as ir
from counterexamples.trace import Trace
from modelcheck.contract.engine import Task
from modelcheck.symbolic.process import FIRST, ProcessAnswer, Program, Said, ask, insist
from modelcheck.symbolic.unbounded.engine import asked_of
from modelcheck.symbolic.unbounded.induction import broken_step
from modelcheck.symbolic.unbounded.obligations import BEFORE, Obligation, ProofTask
from spec.frozen import frozen

FIRST_SIZES = ((2, 1, 2), (2, 2, 2))  # in which most steps that break a claim are found
OTHER_SIZES = ((3, 2, 3), (2, 3, 4), (3, 3, 4), (4, 2, 4))
MOMENT = 0.3  # seconds
SHORT = 5.0  # seconds for a question without quantifiers


@frozen
class Reply:
    """What is known of an obligation: the claims that prove it, or a step that breaks it, or neither."""

    question: Obligation
    uses: frozenset[str] | None = None
    shown: Trace | None = None

    @property
    def is_proved(self) -> bool:
        """Whether the obligation is proved."""
        return self.uses is not None


class ProofQuestions:
    """Asks the solver about claims and lemmas of a model, for every scope."""

    def __init__(self, task: Task, program: Program, seconds: float) -> None:
        self._task, self._program, self._seconds = task, program, seconds
        self._asked: tuple[tuple[ir.Property, ...], ProofTask] | None = None
        self.count = 0

    def of(self, claims: Sequence[ir.Property]) -> tuple[Obligation, ...]:
        """The obligations of claims."""
        return self._proof_task(claims).questions(claims)

    def reply(self, question: Obligation, claims: Sequence[ir.Property], *, thorough: bool = False) -> Reply:
        """What is known of an obligation, where all claims are assumed.

        What is proved at once costs least; else a step that breaks it is looked for in small scopes, where
        most are found, before the solver gets more time; `thorough` gives it all of its time.
        """
        asked = self._proof_task(claims)
        self.count += 1
        uses = self._uses(asked, question, claims, self._at_once)
        if uses is None and question.action is not None:
            shown = broken_step(self._program, asked, question, claims, SHORT, FIRST_SIZES)
            if shown is not None:
                return Reply(question, shown=shown)
        for named in (False, True):
            if uses is None:
                uses = self._uses(
                    asked, question, claims, self._long if thorough else self._first, named=named
                )
        if uses is not None:
            return Reply(question, uses)
        return Reply(question, shown=broken_step(self._program, asked, question, claims, SHORT, OTHER_SIZES))

    def _at_once(self, text: str) -> Said:
        """The solver's answer within a moment."""
        return ask(self._program, text, seconds=MOMENT)

    def _first(self, text: str) -> Said:
        """The solver's answer within the time of all but the last try."""
        return ask(self._program, text, seconds=min(FIRST, self._seconds))

    def _long(self, text: str) -> Said:
        """The solver's answer with several seeds, the last of which has all the time."""
        return insist(self._program, text, seconds=self._seconds)

    def _uses(
        self,
        asked: ProofTask,
        question: Obligation,
        claims: Sequence[ir.Property],
        answer: Callable[[str], Said],
        *,
        named: bool = False,
    ) -> frozenset[str] | None:
        """The claims from which an obligation follows; None if it is not proved."""
        labels = {f"{each.name} {BEFORE}": each.name for each in claims}
        said = answer(asked.formula(question, claims, named=named).text(labels=labels))
        if said.answer is not ProcessAnswer.UNSAT:
            return None
        return frozenset(name for label, name in labels.items() if f"|{label} #" in said.text)

    def _proof_task(self, claims: Sequence[ir.Property]) -> ProofTask:
        """The proof task of the model with the lemmas among the claims."""
        key = tuple(claims)
        if self._asked is None or self._asked[0] != key:
            known = {prop.name for prop in key}
            model = self._task.model
            others = [
                prop
                for prop in model.properties
                if prop.name not in known and prop.kind is not ir.PropertyKind.LEMMA
            ]
            wider = replace(model, properties=(*others, *key))
            self._asked = key, asked_of(replace(self._task, model=wider))
        return self._asked[1]
