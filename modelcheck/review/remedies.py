"""The smallest change of configuration that would have prevented a loss, found by checking each.

Every switch of the model and the number of replicas is tried at every safer
value: first one change at a time, then two, until some number of changes
helps.  A change counts when the same faults, as many of each as in the
story and in any order, no longer break the guarantee, and when writes are
still taken while nothing is wrong.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from modelcheck.api import check
from modelcheck.engine import Limits
from modelcheck.result import Holds, Unknown
from modelcheck.review.answers import Answer
from modelcheck.review.changes import Change, changed, in_words, single_changes
from modelcheck.review.partition import Partition
from modelcheck.review.questions import GUARANTEES, Guarantee, Question, as_check
from modelcheck.review.versions import Version
from modelcheck.workers import Workers

MOST_CHANGES = 2
_WRITABLE = next(guarantee for guarantee in GUARANTEES if guarantee.name == "writable")


@dataclass(frozen=True, slots=True)
class Trial:
    """What changes do: whether they prevent the loss, and whether writes then go on by themselves.

    None is not known; `goes_on` is asked only where the loss is prevented.
    """

    prevents: bool | None
    goes_on: bool | None = None


@dataclass(frozen=True, slots=True)
class Remedy:
    """Changes that together prevent the loss."""

    changes: tuple[Change, ...]
    goes_on: bool | None
    upgrade: bool


@dataclass(frozen=True, slots=True)
class Search:
    """What trying changes came to: `found` are all of `changes` changes.

    `tried` were checked to the end, of `candidates`; with fewer, something that helps may have been missed.
    """

    found: tuple[Remedy, ...]
    changes: int
    tried: int
    candidates: int

    @property
    def complete(self) -> bool:
        """Whether every change that came in question was checked to the end."""
        return self.tried == self.candidates


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What decides which changes can be made, and how they are worded."""

    release: Version
    brokers: int


def remedies(
    workers: Workers, partition: Partition, about: Circumstances, answer: Answer, seconds: float
) -> Search:
    """The remedies of the smallest number of changes, within so many seconds.

    Those that keep writes going come first, then those that need no other Kafka.
    """
    until, tried, asked = time.monotonic() + seconds, 0, 0
    search = Search((), MOST_CHANGES, 0, 0)
    for number in range(1, MOST_CHANGES + 1):
        candidates = sorted(_candidates(partition, number), key=lambda made: _is_upgrade(made, about))
        jobs = [partial(_try, partition, changes, answer) for changes in candidates]
        trials = {candidates[place]: trial for place, _, trial in workers.each(jobs, until=lambda: until)}
        tried += sum(trial.prevents is not None for trial in trials.values())
        asked += len(candidates)
        helped = [(made, trials[made]) for made in candidates if made in trials and trials[made].prevents]
        found = [Remedy(made, trial.goes_on, _is_upgrade(made, about)) for made, trial in _least(helped)]
        found.sort(key=lambda remedy: (remedy.goes_on is not True, remedy.upgrade))
        search = Search(tuple(found), number, tried, asked)
        if found or not search.complete:
            break
    return search


def _candidates(partition: Partition, number: int) -> Iterator[tuple[Change, ...]]:
    for changes in combinations(single_changes(partition), number):
        if len({change.switch for change in changes}) == number:
            yield changes


def _is_upgrade(changes: tuple[Change, ...], about: Circumstances) -> bool:
    return any(in_words(change, about.release, about.brokers).upgrade for change in changes)


def _least(
    helped: Iterable[tuple[tuple[Change, ...], Trial]],
) -> Iterator[tuple[tuple[Change, ...], Trial]]:
    """Of changes of the same switches the first, which changes least: not 3 where 2 is enough."""
    seen: set[tuple[str, ...]] = set()
    for changes, trial in helped:
        switches = tuple(change.switch for change in changes)
        if switches not in seen:
            seen.add(switches)
            yield changes, trial


def _try(partition: Partition, changes: tuple[Change, ...], answer: Answer, seconds: float) -> Trial:
    """Whether changes prevent a loss, within so many seconds; never those that refuse writes anyhow."""
    assert answer.loss is not None
    end = time.monotonic() + seconds
    other = changed(partition, changes)
    most = dict(answer.loss.fault_counts())
    for guarantee, faults in ((_WRITABLE, {}), (answer.guarantee, most)):
        held = _holds(other, guarantee, faults, end)
        if not held:
            return Trial(held)
    return Trial(prevents=True, goes_on=_holds(other, _WRITABLE, most, end))


def _holds(partition: Partition, guarantee: Guarantee, most: dict[str, int], end: float) -> bool | None:
    """Whether the guarantee survives at most so many of each fault; None when that is not known in time."""
    model, asked = as_check(partition, Question((guarantee,), "story", most))
    outcome = check(model, asked, limits=Limits(seconds=max(0.1, end - time.monotonic())), symmetry=True)
    verdicts = [outcome.verdict(name) for name in guarantee.properties]
    if any(isinstance(verdict, Unknown) for verdict in verdicts):
        return None
    return all(isinstance(verdict, Holds) for verdict in verdicts)
