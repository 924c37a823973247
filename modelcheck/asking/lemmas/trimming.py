"""The lemmas of a proof that are needed: others are left out, as long as all obligations stay proved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import spec.model.ir as ir
from modelcheck.asking.lemmas.questions import ProofQuestions, Reply
from modelcheck.asking.lemmas.search import FoundLemma
from modelcheck.symbolic.unbounded.obligations import Obligation


class Trimmer:
    """Leaves out lemmas that no claim needs, first by what the solver used, then one at a time."""

    def __init__(
        self,
        questions: ProofQuestions,
        claims: Sequence[ir.Property],
        replies: Iterable[Reply],
        threads: int,
        is_late: Callable[[], bool],
    ) -> None:
        self._questions, self._claims, self._threads = questions, tuple(claims), threads
        self._replies = {each.question: each for each in replies if each.is_proved}
        self._is_late = is_late

    def needed(self, lemmas: Sequence[FoundLemma]) -> tuple[FoundLemma, ...]:
        """A smallest part of the lemmas with which every claim is proved, as far as time allows.

        No lemma of it can be left out alone.  Costs the questions that relied on each lemma.
        """
        left = self._used(lemmas)
        for each in sorted(left, key=lambda one: one.clause.cost, reverse=True):
            if self._is_late():
                break
            if each not in left:
                continue
            rest = tuple(one for one in left if one is not each)
            found = self._proved_by(rest)
            if found is not None:
                self._replies |= found
                left = self._used(rest)
        return left

    def uses(self, lemmas: Sequence[FoundLemma]) -> Mapping[str, frozenset[str]]:
        """For each claim and lemma the other lemmas that keep it true."""
        names = {each.name for each in lemmas}
        found: dict[str, frozenset[str]] = {}
        for question, reply in self._replies.items():
            used = (reply.uses or frozenset()) & names - {question.claim}
            found[question.claim] = found.get(question.claim, frozenset()) | used
        return found

    def _used(self, lemmas: Sequence[FoundLemma]) -> tuple[FoundLemma, ...]:
        """The lemmas that the claims use, directly or through others."""
        uses = self.uses(lemmas)
        waiting, seen = [each.name for each in self._claims], set[str]()
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                waiting += uses.get(one, ())
        return tuple(each for each in lemmas if each.name in seen)

    def _proved_by(self, rest: Sequence[FoundLemma]) -> dict[Obligation, Reply] | None:
        """New proofs of what relied on other lemmas, by these; None if something is not proved so."""
        claims = (*self._claims, *(each.lemma for each in rest))
        names = {each.name for each in claims}
        asked = [
            question
            for question in self._questions.of(claims)
            if not (self._replies[question].uses or frozenset()) <= names
        ]
        found: dict[Obligation, Reply] = {}
        with ThreadPoolExecutor(self._threads) as pool:
            for reply in pool.map(lambda each: self._questions.reply(each, claims), asked):
                if not reply.is_proved:
                    pool.shutdown(wait=True, cancel_futures=True)
                    return None
                found[reply.question] = reply
        return found
