"""What is true of partitions that are not well, as one value from which texts and JSON are made."""

from __future__ import annotations

from enum import Enum

from modelcheck.kafka.questions.answers import Answer, all_met, find_answer, meets
from modelcheck.kafka.questions.partition import PartitionModel
from modelcheck.kafka.questions.question import ANY, Requirement
from modelcheck.kafka.settings.resolution.partition_states import PartitionState
from spec.frozen import frozen


class WayOut(Enum):
    """What can be done about a partition that is not well."""

    IN_SYNC_RETURN = "the in-sync replicas start, with their logs"
    ELIGIBLE_RETURN = "an eligible replica starts, after a clean shutdown, with its log"
    ANOTHER_IN_SYNC = "one more replica is in sync"
    UNCLEAN = "a replica that is not in sync is elected"


@frozen
class Way:
    """Something that can be done, on which brokers, and the answers about the partition after it."""

    way: WayOut
    brokers: tuple[int, ...]
    answers: tuple[Answer, ...]


@frozen
class StateFindings:
    """The answers about one state, the worst of all that look like it.

    `answers` are for each guarantee and kind of fault; `kept` are for any mixture where every offline
    replica still has what it had, empty where that makes no difference.
    """

    state: PartitionState
    partition: PartitionModel
    answers: tuple[Answer, ...]
    kept: tuple[Answer, ...]
    ways: tuple[Way, ...]

    def answer(self, guarantee: str, kind: str = ANY) -> Answer | None:
        """The answer for a guarantee and a kind of fault; None for a kind that cannot happen."""
        return find_answer(self.answers, guarantee, kind)

    def if_kept(self, guarantee: str) -> Answer | None:
        """The answer if offline replicas kept what they had; None where it was not asked."""
        return find_answer(self.kept, guarantee)

    @property
    def broken(self) -> tuple[Answer, ...]:
        """The answers about guarantees that are broken without another fault."""
        return tuple(each for each in self.answers if each.kind == ANY and each.lost_with == 0)

    def met(self, required: Requirement) -> bool | None:
        """Whether a requirement is met from this state; a fault that cannot happen is survived."""
        return meets(self.answer(required.guarantee.name, required.kind), required)


@frozen
class Today:
    """The findings about the states that a topic's partitions are in, the gravest first.

    `unasked` are states of partitions with more replicas than the model has.
    """

    states: tuple[StateFindings, ...]
    unasked: tuple[PartitionState, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every question was answered completely."""
        every = [*(a for each in self.states for a in (*each.answers, *each.kept))]
        ways = [answer for each in self.states for way in each.ways for answer in way.answers]
        return not self.unasked and all(answer.complete for answer in (*every, *ways))

    def met(self, required: Requirement) -> bool | None:
        """Whether a requirement is met from every state; None if unknown."""
        return all_met([*(each.met(required) for each in self.states), *(None for _ in self.unasked)])
