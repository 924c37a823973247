"""The cases that files leave possible: which release it is, and which controller.

Cases whose question is the same are asked together, so a review of many releases costs as much as that of
those that differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from modelcheck.kafka.questions.answers import Answer, ask, ask_mixed, find_answer
from modelcheck.kafka.questions.outages.combined import with_controllers
from modelcheck.kafka.questions.partition import PartitionModel, partition
from modelcheck.kafka.questions.question import ANY, GUARANTEES, Requirement, fault_kinds, under_kind
from modelcheck.kafka.questions.search import Asking
from modelcheck.kafka.settings.resolution.settings import Settings
from spec.frozen import frozen


@frozen
class PossibleCase:
    """The settings, the likeliest first, that ask the same question, and the partition it is about."""

    settings: tuple[Settings, ...]
    partition: PartitionModel


@frozen
class AnsweredCase:
    """The answers of a case under any mixture of faults, and under each kind that is required."""

    settings: tuple[Settings, ...]
    answers: tuple[Answer, ...]

    def answer(self, guarantee: str, kind: str = ANY) -> Answer | None:
        """The answer for a guarantee and a kind of fault; None if it was not asked."""
        return find_answer(self.answers, guarantee, kind)


def same_question(settings: Settings, partition: PartitionModel) -> tuple[object, ...]:
    """A key that is equal for settings whose reviews have the same answers, whatever their release."""
    size = (settings.brokers.value, partition.replicas, partition.in_sync_wanted)
    return (*size, partition.ephemeral, tuple(partition.config.items()), settings.voters)


def cases(settings: Iterable[Settings]) -> tuple[PossibleCase, ...]:
    """The settings that are possible, those of one question together, the likeliest first."""
    found: dict[tuple[object, ...], tuple[PartitionModel, list[Settings]]] = {}
    for each in settings:
        subject = partition(each)
        found.setdefault(same_question(each, subject), (subject, []))[1].append(each)
    return tuple(PossibleCase(tuple(same), subject) for subject, same in found.values())


def answered(
    asking: Asking, each: PossibleCase, mixed: Sequence[Answer], required: Sequence[Requirement], faults: int
) -> AnsweredCase:
    """The answers of a case, from those under any mixture."""
    kinds = {kind.name: kind for kind in fault_kinds(each.partition)}
    asked: list[Answer] = []
    for one in required:
        under_all = next(answer for answer in mixed if answer.guarantee == one.guarantee)
        if one.kind == ANY:
            continue
        if one.kind not in kinds:  # it cannot happen
            asked.append(Answer(one.guarantee, one.kind, None, None, complete=True, states=0))
        elif under_all.survives(one.faults):
            asked.append(replace(under_all, kind=one.kind, loss=None, states=0))
        else:
            asked += ask(asking, each.partition, under_kind((one.guarantee,), kinds[one.kind], faults))
    answers = (*mixed, *asked)
    if faults:
        answers = with_controllers(asking, each.partition, each.settings[0].voters, answers)
    return AnsweredCase(each.settings, tuple(answers))


def mixed_answers(asking: Asking, among: Sequence[PossibleCase], faults: int) -> Iterator[tuple[Answer, ...]]:
    """For each case the answers under any mixture of faults."""
    for each in among:
        yield tuple(answer for group in ask_mixed(asking, each.partition, faults) for answer in group)


def strength(answers: Iterable[Answer | None]) -> tuple[float, ...]:
    """The faults that each guarantee survives, the most important first: what is less is worse."""
    known = {answer.guarantee: answer for answer in answers if answer is not None and answer.kind == ANY}
    return tuple(survived(known.get(guarantee)) for guarantee in GUARANTEES)


def survived(answer: Answer | None) -> float:
    """The faults survived as a sort key; unknown sorts after certain loss."""
    if answer is None or answer.survived is None:
        return float("inf")
    return answer.lost_with - 1 if answer.lost_with is not None else answer.survived + 0.5
