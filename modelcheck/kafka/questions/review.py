"""Everything that a review found, as one value: texts and JSON are made from it."""

from __future__ import annotations

from dataclasses import replace

from modelcheck.kafka.questions.also.findings import SubjectFindings
from modelcheck.kafka.questions.answers import Answer, all_met, find_answer, first_loss, meets
from modelcheck.kafka.questions.cases import AnsweredCase, strength, survived
from modelcheck.kafka.questions.outages.controllers import Quorum
from modelcheck.kafka.questions.outages.findings import Outage
from modelcheck.kafka.questions.partition import PartitionModel
from modelcheck.kafka.questions.question import ANY, MOVE, Requirement, fault_kinds
from modelcheck.kafka.questions.remedies import Search
from modelcheck.kafka.questions.today.findings import StateFindings, Today
from modelcheck.kafka.settings.resolution.settings import Settings
from spec.frozen import frozen


@frozen
class Review:
    """The complete result of a review.

    `faults` were tried at most; `remedies` prevent the first loss, None when
    none were looked for; `ended` is why the review came to an early end, empty when it
    did not; `states` were found by all searches together, `known` of them by an earlier run;
    `outage` is what works while brokers are down, and `quorum` while controllers are; None where no
    faults were to be tried, or no file names controllers; `also` is what was asked on request.
    `cases` are all that the files leave possible, and `reviewed` is the place of the one that `settings` and
    all the rest are of: the worst of them.  `today` is what is lost from the states that files show, in the
    worst case; None where every partition that they show is well.  `exempted` are requirements of a policy
    with an exception that has not ended, in words.
    """

    settings: Settings
    partition: PartitionModel
    faults: int
    answers: tuple[Answer, ...]
    remedies: Search | None
    required: tuple[Requirement, ...]
    ended: str
    states: int
    known: int
    seconds: float
    outage: Outage | None = None
    quorum: Quorum | None = None
    also: tuple[SubjectFindings, ...] = ()
    cases: tuple[AnsweredCase, ...] = ()
    reviewed: int = 0
    today: Today | None = None
    exempted: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every question was answered completely."""
        tried = self.remedies is None or self.remedies.complete
        answers = [*self.answers, *(answer for each in self.cases for answer in each.answers)]
        asked = all(answer.complete for answer in answers) and all(
            case.complete for each in self.also for case in each.cases
        )
        found = [part.complete for part in (self.outage, self.today) if part is not None]
        return not self.ended and tried and asked and all(found)

    @property
    def loss(self) -> Answer | None:
        """The answer whose run is shown first: see `first_loss`."""
        return first_loss(self.answers)

    @property
    def rows(self) -> dict[str, str]:
        """The kinds of faults with their descriptions; the last is any mixture."""
        moves = {MOVE: "leadership is moved, and nothing is wrong"} if self.partition.moves else {}
        kinds = {kind.name: kind.title for kind in fault_kinds(self.partition)} if self.faults else {}
        mixture = "any of these, in any mixture" if kinds else "nothing goes wrong"
        among = ", while leadership is moved" if self.partition.moves_among_faults else ""
        return moves | kinds | {ANY: mixture + among}

    def answer(self, guarantee: str, kind: str = ANY) -> Answer | None:
        """The answer for a guarantee and a kind of fault; None for a kind that cannot happen."""
        return find_answer(self.answers, guarantee, kind)

    def verdict(self, guarantee: str) -> tuple[Answer | None, tuple[Settings, ...]]:
        """The worst answer for a guarantee under any mixture, and where it is so if not in this case.

        What is assumed is never the better case.
        """
        own = self.answer(guarantee)
        others = [each.answer(guarantee) for each in self.others]
        worst = min(others, key=survived, default=own)
        if survived(worst) >= survived(own):
            return own, ()
        same = (each for each in self.cases if survived(each.answer(guarantee)) == survived(worst))
        return worst, tuple(settings for each in same for settings in each.settings)

    @property
    def others(self) -> tuple[AnsweredCase, ...]:
        """The cases that are possible too, and not reviewed further."""
        return tuple(each for place, each in enumerate(self.cases) if place != self.reviewed)

    @property
    def depends(self) -> bool:
        """Whether the answers are not the same in all cases that are possible."""
        return len({strength(each.answers) for each in self.cases}) > 1

    def met(self, required: Requirement) -> bool | None:
        """Whether a requirement is met in every case, and today; None if unknown.

        A fault that cannot happen is survived.
        """
        return all_met((self.met_in_sync(required), self.today is None or self.today.met(required)))

    def met_in_sync(self, required: Requirement) -> bool | None:
        """Whether a requirement is met in every case when all replicas are in sync; None if unknown."""
        return all_met(meets(answer, required) for answer in self._required_answers(required))

    def met_by_kinds(self, required: Requirement) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The kinds of faults that alone break a requirement of any mixture, and those that do not.

        None of either where several cases are possible, since the others are not asked by kind.
        """
        if self.others:
            return (), ()
        kinds = [kind for kind in self.rows if kind != ANY]
        met = {kind: self.met_in_sync(replace(required, kind=kind)) for kind in kinds}
        return tuple(k for k in kinds if met[k] is False), tuple(k for k in kinds if met[k] is True)

    def required_answer(self, required: Requirement) -> Answer | None:
        """The answer that decides whether a requirement is met; None for what cannot happen."""
        order = (False, None, True)
        return min(self._required_answers(required), key=lambda one: order.index(meets(one, required)))

    def _required_answers(self, required: Requirement) -> list[Answer | None]:
        """The answers about a requirement, in this case and in the others that are possible."""
        name, kind = required.guarantee.name, required.kind
        own = self.answer(name, kind)
        return [own, *(each.answer(name, kind) for each in self.others)]

    def broken_today(self, found: StateFindings) -> tuple[Answer, ...]:
        """The guarantees broken in a state without another fault, but for those broken in sync as well."""
        in_sync = {a.guarantee: a.lost_with for a in self.answers if a.kind == ANY}
        return tuple(answer for answer in found.broken if in_sync.get(answer.guarantee) != 0)

    @property
    def states_today(self) -> tuple[StateFindings, ...]:
        """What is lost from each state that files show; none where every partition is well."""
        return () if self.today is None else self.today.states

    @property
    def worse_today(self) -> bool:
        """Whether a guarantee is broken today that takes a fault when all replicas are in sync."""
        return any(self.broken_today(found) for found in self.states_today)


def broken(review: Review) -> tuple[tuple[Answer, ...], ...]:
    """The answers with a loss under any mixture, grouped by run, the first loss first."""
    shown = [answer for answer in review.answers if answer.kind == ANY and answer.loss is not None]
    first = review.loss
    if first is not None:
        shown = [first, *(answer for answer in shown if answer.guarantee != first.guarantee)]
    runs: dict[tuple[object, ...], list[Answer]] = {}
    for answer in shown:
        if answer.loss is not None:
            runs.setdefault((answer.loss.model.name, answer.loss.steps), []).append(answer)
    return tuple(map(tuple, runs.values()))
