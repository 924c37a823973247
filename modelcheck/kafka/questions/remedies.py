"""The smallest change of configuration that makes a guarantee survive more faults, found by checking each.

Every switch of the model and the number of replicas is tried at every safer
value: first one change at a time, then two, until some number of changes
helps.  A change counts when any faults, as many as in the first loss, no longer
break the guarantee, and when writes are still taken while nothing is wrong.
Where none does, those are kept that prevent the first loss: its faults, as many of
each and in any order.  Where the story moves the leadership, which is no fault, it
is moved as often as a review asks about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from counterexamples.trace import Trace
from modelcheck.contract.result import Holds, Violated
from modelcheck.kafka.questions.answer_cache import Found
from modelcheck.kafka.questions.answers import Answer, ask_mixed, first_loss
from modelcheck.kafka.questions.changes import Circumstances, SwitchChange, changed, in_words, single_changes
from modelcheck.kafka.questions.partition import PartitionModel
from modelcheck.kafka.questions.question import (
    GUARANTEES,
    Guarantee,
    Posed,
    family_of,
    group_of,
    has_moves,
    of_mixture,
    posed,
    under_any,
)
from modelcheck.kafka.questions.search import Asking
from spec.frozen import frozen
from spec.model.ir import Budget

MOST_CHANGES = 2
MOST_TABLES = 3  # remedies whose table afterwards is asked: each costs as much as the review's own
_WRITABLE = next(guarantee for guarantee in GUARANTEES if guarantee.name == "writable")


@frozen
class Trial:
    """The result of trying changes: whether they prevent the loss, and whether writes continue.

    None is not known; `goes_on` is asked only where the loss is prevented.
    """

    prevents: bool | None
    goes_on: bool | None = None


@frozen
class Remedy:
    """Changes that together prevent the loss.

    `after` are the answers under any mixture of faults with the changes, empty where they were not asked;
    `waits_for` is how many followers an acknowledgement then waits for, the fewest and the most.
    """

    changes: tuple[SwitchChange, ...]
    goes_on: bool | None
    upgrade: bool
    after: tuple[Answer, ...] = ()
    waits_for: tuple[int, int] = (0, 0)


@frozen
class Search:
    """The result of searching remedies: `found` are all that need `changes` changes.

    `only_the_run` is whether they prevent the first loss, and other faults, as many, still break the
    guarantee.  `tried` were checked to the end, of `candidates`; with fewer, something that helps may have
    been missed.
    """

    found: tuple[Remedy, ...]
    changes: int
    tried: int
    candidates: int
    only_the_run: bool = False

    @property
    def complete(self) -> bool:
        """Whether every candidate was checked completely."""
        return self.tried == self.candidates


def remedies(
    asking: Asking, partition: PartitionModel, about: Circumstances, answers: Sequence[Answer], faults: int
) -> Search | None:
    """The remedies of the first loss with the fewest changes that let the guarantee survive more faults.

    None where no answer has a loss.  Those that keep writes going come first, then those that need no other
    Kafka.  Each has the answers for up to `faults` faults as they are with its changes.
    """
    answer = first_loss(answers)
    if answer is None:
        return None
    search = _searched(asking, partition, about, answer)
    found = [
        replace(
            remedy,
            after=_after(asking, partition, remedy, faults) if place < MOST_TABLES else (),
            waits_for=waits_for(changed(partition, remedy.changes)),
        )
        for place, remedy in enumerate(search.found)
    ]
    return replace(search, found=tuple(found))


def _searched(asking: Asking, partition: PartitionModel, about: Circumstances, answer: Answer) -> Search:
    """The remedies, without what they change elsewhere.

    Where single changes prevent the first loss and no other, pairs are tried only if one fault is enough to
    lose: they are many, and each costs as much as a part of the review.
    """
    tried, asked = 0, 0
    search = Search((), MOST_CHANGES, 0, 0)
    kept: Search | None = None
    for number in range(1, MOST_CHANGES + 1):
        candidates = sorted(_candidates(partition, number), key=lambda made: _is_upgrade(made, about))
        trials = [(made, _try(asking, partition, made, answer)) for made in candidates]
        tried += sum(trial.prevents is not None for _, trial in trials)
        asked += len(candidates)
        helped = [(made, trial) for made, trial in trials if trial.prevents]
        better = [(made, trial) for made, trial in helped if _survives_more(asking, partition, made, answer)]
        found = [
            Remedy(made, trial.goes_on, _is_upgrade(made, about)) for made, trial in _least(better or helped)
        ]
        found.sort(key=lambda remedy: (remedy.goes_on is not True, remedy.upgrade))
        search = Search(tuple(found), number, tried, asked, only_the_run=bool(found) and not better)
        if better or not search.complete or (found and answer.loss is not None and answer.loss.faults > 1):
            return search
        kept = kept or (search if found else None)
    return search if kept is None else replace(kept, tried=tried, candidates=asked)


def _survives_more(
    asking: Asking, partition: PartitionModel, changes: tuple[SwitchChange, ...], answer: Answer
) -> bool:
    """Whether any faults, as many as in the loss, no longer break the guarantee."""
    assert answer.loss is not None
    if answer.loss.faults == 0:
        return True  # what moves of the leadership alone broke
    other = changed(partition, changes)
    question = under_any(other, (answer.guarantee,), answer.loss.faults)
    family = family_of(other, group_of(answer.guarantee), question.budget)
    return _holds(asking.found(posed(other, question, family)), answer.guarantee) is True


def _after(asking: Asking, partition: PartitionModel, remedy: Remedy, faults: int) -> tuple[Answer, ...]:
    """The answers under any mixture of faults with the changes of a remedy."""
    other = changed(partition, remedy.changes)
    return tuple(answer for group in ask_mixed(asking, other, faults) for answer in group)


def waits_for(partition: PartitionModel) -> tuple[int, int]:
    """How many followers an acknowledgement waits for: the fewest, and the most."""
    if partition.config["acks"] != "all":
        return 0, 0
    least = min(int(partition.config["min_isr"]), partition.replicas)
    return max(0, least - 1), partition.replicas - 1


def coming_trials(partition: PartitionModel, answer: Answer) -> Iterator[Posed]:
    """The first search for each single change, to compile kernels ahead."""
    if (loss := answer.loss) is not None:
        for change in single_changes(partition):
            yield _posed(changed(partition, (change,)), answer.guarantee, loss.fault_counts(), loss)


def _candidates(partition: PartitionModel, number: int) -> Iterator[tuple[SwitchChange, ...]]:
    """The sets of `number` changes to try."""
    for changes in combinations(single_changes(partition), number):
        if len({change.switch for change in changes}) == number:
            yield changes


def _is_upgrade(changes: tuple[SwitchChange, ...], about: Circumstances) -> bool:
    """Whether the changes are an upgrade of Kafka."""
    return any(in_words(change, about).upgrade for change in changes)


def _least(
    helped: Iterable[tuple[tuple[SwitchChange, ...], Trial]],
) -> Iterator[tuple[tuple[SwitchChange, ...], Trial]]:
    """Of remedies that change the same switches the first, which changes least: 2 rather than 3."""
    seen: set[tuple[str, ...]] = set()
    for changes, trial in helped:
        switches = tuple(change.switch for change in changes)
        if switches not in seen:
            seen.add(switches)
            yield changes, trial


def _try(
    asking: Asking, partition: PartitionModel, changes: tuple[SwitchChange, ...], answer: Answer
) -> Trial:
    """Try changes: whether they prevent the loss; changes that block all writes do not count."""
    assert answer.loss is not None
    loss, other, story = answer.loss, changed(partition, changes), answer.loss.fault_counts()

    def holds(guarantee: Guarantee, faults: Mapping[str, int]) -> bool | None:
        return _holds(asking.found(_posed(other, guarantee, faults, loss)), guarantee)

    for guarantee, faults in ((answer.guarantee, story), (_WRITABLE, {})):
        held = holds(guarantee, faults)
        if not held:
            return Trial(held)
    return Trial(prevents=True, goes_on=holds(_WRITABLE, story))


def _posed(other: PartitionModel, guarantee: Guarantee, faults: Mapping[str, int], loss: Trace) -> Posed:
    """The search whether these faults break a guarantee of the changed partition."""
    question = of_mixture((guarantee,), faults, other.moves if has_moves(loss) else 0)
    family = family_of(other, group_of(guarantee), Budget(None, loss.fault_counts()))  # one for all changes
    return posed(other, question, family)


def _holds(found: Found | None, guarantee: Guarantee) -> bool | None:
    """Whether a guarantee holds in a result; None if unknown."""
    verdicts = [] if found is None else [found.verdicts[name] for name in guarantee.properties]
    if any(isinstance(verdict, Violated) for verdict in verdicts):
        return False
    return True if verdicts and all(isinstance(verdict, Holds) for verdict in verdicts) else None
