"""The search for lemmas: from an obligation that fails to a lemma that excludes the state it fails in.

NOTE(lemmas): A proof for every scope takes lemmas that no step breaks.  Candidates are short clauses over
the model's own words that are true in all reachable states of a few small scopes.  Where a step leads from
a state in which all claims are true to one in which a claim is false, that state is not reachable if the
claim holds, so a candidate that is false in it is a lemma worth to try, and is itself proved in the same
way.  Where no candidate excludes the state, none of the claims' other lemmas ever will: the claim that is
broken cannot be proved with such lemmas.  If it is a lemma, it is given up for good; if it was asked about,
the search ends.  So the search needs no backtracking and ends, as there are finitely many candidates.
(After endive, Schultz, Dardik and Tripakis, FMCAD 2022, and IC3PO, Goel and Sakallah, NFM 2021.)
Nothing relies on the reachable states: the lemmas are proved by the solver for every scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from functools import partial

import spec.model.ir as ir
from counterexamples.trace import Trace
from modelcheck.asking.lemmas.clauses import Clause
from modelcheck.asking.lemmas.learning import ExcludedState, Learner
from modelcheck.asking.lemmas.questions import ProofQuestions, Reply
from modelcheck.symbolic.unbounded.obligations import Obligation
from spec.frozen import frozen
from spec.meaning.semantics import Machine


class SearchEnd(Enum):
    """Why a search for lemmas ended."""

    PROVED = "all obligations are proved"
    NO_CANDIDATE = "no candidate excludes the state"
    UNDECIDED = "the solver does not decide an obligation"
    SECONDS = "out of time"
    INTERRUPTED = "interrupted"


@frozen
class FoundLemma:
    """A lemma that was found: its name and clause, and the obligation for which it was needed."""

    name: str
    clause: Clause
    needed_for: Obligation

    @property
    def lemma(self) -> ir.Property:
        """The lemma as a property."""
        return self.clause.lemma(self.name)


@frozen
class SearchResult:
    """How far a search came: the lemmas it has, what is proved with them, and what is missing."""

    end: SearchEnd
    lemmas: tuple[FoundLemma, ...]
    replies: tuple[Reply, ...]
    missing: tuple[Obligation, ...] = ()
    shown: Trace | None = None
    given_up: int = 0


class LemmaSearch:
    """A search for lemmas with which the claims are proved for every scope."""

    def __init__(
        self,
        questions: ProofQuestions,
        learner: Learner,
        claims: Sequence[ir.Property],
        *,
        threads: int,
        is_late: Callable[[], bool],
        tell: Callable[[str], object],
    ) -> None:
        self._questions, self._learner, self._claims = questions, learner, tuple(claims)
        self._threads, self._is_late, self._tell = threads, is_late, tell
        self.lemmas: list[FoundLemma] = []
        self._given_up = set[Clause]()
        self._replies: dict[Obligation, Reply] = {}
        self._named = 0
        self._shown: Trace | None = None

    def run(self) -> SearchResult:
        """Search until everything is proved, no candidate is left, or time is over."""
        end = SearchEnd.PROVED
        try:
            with ThreadPoolExecutor(self._threads) as pool:
                end = self._searched(pool)
        except KeyboardInterrupt:
            end = SearchEnd.INTERRUPTED
        open_ = tuple(self._open())
        return SearchResult(
            end, tuple(self.lemmas), tuple(self._replies.values()), open_, self._shown, len(self._given_up)
        )

    # ------------------------------------------------------------------------ obligations

    @property
    def claims(self) -> tuple[ir.Property, ...]:
        """What is assumed and has to be proved: the claims, and the lemmas found so far."""
        return (*self._claims, *(each.lemma for each in self.lemmas))

    def _open(self) -> Iterator[Obligation]:
        """The obligations that are not proved from what is claimed now."""
        names = {each.name for each in self.claims}
        for question in self._questions.of(self.claims):
            reply = self._replies.get(question)
            if reply is None or reply.uses is None or not reply.uses <= names:
                yield question

    def _searched(self, pool: ThreadPoolExecutor) -> SearchEnd:
        """The reason for the end of the search."""
        stuck = set[tuple[Obligation, tuple[str, ...]]]()
        while True:
            if self._is_late():
                return SearchEnd.SECONDS
            claims = self.claims
            names = tuple(each.name for each in claims)
            open_ = [*self._open()]
            if not open_:
                return SearchEnd.PROVED
            fresh = [each for each in open_ if (each, names) not in stuck]
            if not fresh:
                end = self._thoroughly(open_, claims)
                if end is not None:
                    return end
                continue
            batch = fresh[: self._threads]
            for reply in pool.map(partial(self._questions.reply, claims=claims), batch):
                if reply.is_proved:
                    self._replies[reply.question] = reply
                elif reply.shown is None:
                    stuck.add((reply.question, names))
                elif not self._excluded(reply.question, reply.shown):
                    return SearchEnd.NO_CANDIDATE

    def _thoroughly(self, open_: Sequence[Obligation], claims: Sequence[ir.Property]) -> SearchEnd | None:
        """Ask for longer what the solver did not decide; None if the search can continue."""
        for question in open_:
            reply = self._questions.reply(question, claims, thorough=True)
            if reply.is_proved:
                self._replies[question] = reply
            elif reply.shown is not None:
                return None if self._excluded(question, reply.shown) else SearchEnd.NO_CANDIDATE
            elif not self._give_up(question.claim):
                return SearchEnd.UNDECIDED
            else:
                return None
        return None

    # ---------------------------------------------------------------------------- lemmas

    def _excluded(self, question: Obligation, shown: Trace) -> bool:
        """Exclude the state of a step that breaks a claim, else give the claim up; whether it can."""
        machine, state = Machine(shown.model, shown.scope), shown.states[0]
        if not all(machine.condition(each.lemma)(state) for each in self.lemmas):
            return True  # a lemma that was added meanwhile excludes it
        if all(each.name != question.claim for each in self.claims):
            return True  # it was given up meanwhile
        best = self._learner.best(ExcludedState(shown.scope, state), self.claims, self._given_up)
        if best is None:
            self._shown = shown
            return self._give_up(question.claim)
        self._named += 1
        found = FoundLemma(f"found_{self._named}", best, question)
        self._tell(f"{found.name}: {best.text}   [{question}]")
        self.lemmas.append(found)
        return True

    def _give_up(self, name: str) -> bool:
        """Give a lemma up; false if it is a claim that was asked about."""
        for each in self.lemmas:
            if each.name == name:
                self.lemmas.remove(each)
                self._given_up.add(each.clause)
                self._tell(f"given up {name}")
                return True
        return False
