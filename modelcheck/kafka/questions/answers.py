"""The answers to a review's questions: how many faults each guarantee survives, and the first loss."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from counterexamples.reorder import late_steps
from counterexamples.trace import Trace
from modelcheck.contract.result import Holds, Unknown, Unshown, Verdict, Violated
from modelcheck.kafka.questions.answer_cache import Found
from modelcheck.kafka.questions.partition import LEADER_CHANGES, PartitionModel
from modelcheck.kafka.questions.question import (
    ANY,
    GUARANTEES,
    MOVE,
    FaultKind,
    Guarantee,
    Posed,
    Question,
    Requirement,
    family_of,
    fault_kinds,
    group_of,
    groups,
    harm,
    kind_of,
    milder_kinds,
    mixtures,
    of_mixture,
    posed,
    surprise,
    under_any,
    under_kind,
    under_moves,
    under_these,
)
from modelcheck.kafka.questions.search import Asking
from spec.frozen import frozen


@frozen
class Answer:
    """The faults that a guarantee survives, for one kind of fault or any mixture, and a run that breaks it.

    `survived` is how many faults it survives for certain (None: any number);
    -1 when it is not even known to survive a run without faults.  `loss` is the
    shortest run known that breaks it, of the fewest faults; `broken` is how many faults
    break it for certain, although there was no time to find the run.  `complete` is False
    where more time could find more; `why` is the reason when it is not.
    """

    guarantee: Guarantee
    kind: str
    survived: int | None
    loss: Trace | None
    complete: bool
    states: int
    why: str = ""
    broken: int | None = None

    @property
    def lost_with(self) -> int | None:
        """The fewest faults known to break the guarantee."""
        shown = () if self.loss is None else (self.loss.faults,)
        return min((*shown, *(() if self.broken is None else (self.broken,))), default=None)

    @property
    def is_exact(self) -> bool:
        """Whether the loss takes exactly one fault more than is survived."""
        return self.loss is not None and self.survived == self.loss.faults - 1

    def survives(self, faults: int) -> bool | None:
        """Whether `faults` faults are survived; None when that is not known."""
        if self.survived is None or self.survived >= faults:
            return True
        return False if self.lost_with is not None and self.lost_with <= faults else None


def find_answer(answers: Iterable[Answer], guarantee: str, kind: str = ANY) -> Answer | None:
    """The answer for a guarantee and a kind of fault; None if there is none."""
    return next((a for a in answers if a.guarantee.name == guarantee and a.kind == kind), None)


def meets(answer: Answer | None, required: Requirement) -> bool | None:
    """Whether an answer meets a requirement; None if unknown. What cannot happen is survived."""
    return True if answer is None else answer.survives(required.faults)


def all_met(met: Iterable[bool | None]) -> bool | None:
    """Whether all are met; None if some are unknown and none is not."""
    found = set(met)
    return False if False in found else None if None in found else True


def _answer(
    question: Question, guarantee: Guarantee, found: Found, growing: frozenset[str] = frozenset()
) -> Answer:
    """The answer about a guarantee from the result of a search."""
    verdicts = [found.verdicts[name] for name in guarantee.properties]
    kind = question.kind
    losses = [v.trace for v in verdicts if isinstance(v, Violated) and v.trace is not None]
    if losses:
        loss = _faults_late(min(losses, key=shown_first))
        return Answer(guarantee, kind, loss.faults - 1, loss, complete=True, states=found.states)
    unsure = [left for verdict in verdicts if (left := left_open(verdict)) is not None]
    if unsure:
        least, why = min(unsure)
        known = [v.extent.faults for v in verdicts if isinstance(v, Violated)]
        broken = min((faults for faults in known if faults is not None), default=None)
        return Answer(
            guarantee, kind, least, None, complete=False, states=found.states, why=why, broken=broken
        )
    bounded = bool(growing & found.cut)  # then `any number` would be of what was not looked at
    held = [question.faults if bounded else v.extent.faults for v in verdicts if isinstance(v, Holds)]
    survived = min((most for most in held if most is not None), default=None)
    return Answer(guarantee, kind, survived, None, complete=True, states=found.states)


def _faults_late(loss: Trace) -> Trace:
    """The run with faults, and elections after them, as late as possible, so that writes come first."""
    return late_steps(loss, frozenset(loss.model.faults) | LEADER_CHANGES)


def left_open(verdict: Verdict) -> tuple[int, str] | None:
    """The faults surely survived and why more is unknown; None if all is known."""
    match verdict:
        case Unknown(why, extent):
            return -1 if extent is None or extent.faults is None else extent.faults, why
        case Violated(unshown=Unshown(why, least)):
            return least - 1, why
        case _:
            return None


def shown_first(trace: Trace) -> tuple[int, int, int, tuple[int, ...]]:
    """A sort key for runs: fewer faults, milder faults, shorter, more expected."""
    faults = trace.fault_counts()
    return trace.faults, harm(faults), len(trace.steps), surprise(faults)


def first_loss(answers: Iterable[Answer]) -> Answer | None:
    """The most important loss: fewest faults, then guarantee, then the shortest run.

    That writes stop is shown in the table; it is no loss.
    """
    order = {guarantee.name: place for place, guarantee in enumerate(GUARANTEES)}
    lost = [(a, a.loss) for a in answers if a.loss is not None and not a.guarantee.unattended]
    ranked = [
        (
            (t.faults, order[a.guarantee.name], *shown_first(t)[1:], a.kind == ANY),
            a,
        )
        for a, t in lost
    ]
    return min(ranked, key=lambda pair: pair[0])[1] if ranked else None


def ask_mixed(asking: Asking, partition: PartitionModel, faults: int) -> tuple[tuple[Answer, ...], ...]:
    """For each group of guarantees the answers under any mixture of `faults` faults."""
    together = [under_any(partition, group, faults) for group in groups()]
    asking.foresee(posed_of_group(partition, question) for question in together[1:])
    return tuple(ask(asking, partition, question) for question in together)


def ask_all(
    asking: Asking, partition: PartitionModel, faults: int, mixed: Sequence[tuple[Answer, ...]]
) -> tuple[Answer, ...]:
    """The answers for each guarantee and kind of fault, given those for any mixture.

    What there was no time for is answered as far as it was searched, or as unknown.
    """
    found: list[Answer] = []
    for group, any_ in zip(groups(), mixed, strict=True):
        moved = [under_moves(partition, group)] if partition.moves else []
        rows = [answer for question in moved for answer in ask(asking, partition, question)]
        milder = _milder(asking, partition, any_)
        rows += _rows(asking, partition, any_, milder, faults)
        mild = [answer for each in milder for answer in each.asked if answer in each.shortest]
        mild += (answer for each in milder for answer in _as_short(asking, partition, each.shortest, rows))
        found += rows
        has_moves = partition.moves_among_faults > 0
        found += [
            with_parts(answer, [*_of(answer, rows), *_of(answer, mild)], moved=has_moves) for answer in any_
        ]
    return tuple(found)


def _rows(
    asking: Asking,
    partition: PartitionModel,
    mixed: Sequence[Answer],
    milder: Sequence[MilderFaults],
    faults: int,
) -> list[Answer]:
    """The answers for each kind of fault; those that the mixture implies are not searched."""
    found: list[Answer] = []
    for kind in fault_kinds(partition) if faults else ():
        of_several = [*mixed, *(answer for each in milder if kind in each.kinds for answer in each.asked)]
        survivors = {answer.guarantee: answer for answer in of_several if answer.survives(faults)}
        found += [
            Answer(each.guarantee, kind.name, each.survived, None, complete=True, states=0)
            for each in survivors.values()
        ]
        if left := tuple(each.guarantee for each in mixed if each.guarantee not in survivors):
            found += ask(asking, partition, under_kind(left, kind, faults))
    return found


def ask(asking: Asking, partition: PartitionModel, question: Question) -> tuple[Answer, ...]:
    """The answers to one question, for each of its guarantees."""
    return decided(asking, posed_of_group(partition, question))


def posed_of_group(partition: PartitionModel, question: Question) -> Posed:
    """A question as a search that shares a kernel with others about the same guarantees."""
    group = group_of(question.guarantees[0])
    return posed(partition, question, family_of(partition, group, question.budget))


def decided(asking: Asking, asked: Posed) -> tuple[Answer, ...]:
    """The answers of one search, for each of its guarantees."""
    question = asked.question
    found = asking.found(asked)
    if found is None:
        why = asking.why_not
        return tuple(
            Answer(each, question.kind, -1, None, complete=False, states=0, why=why)
            for each in question.guarantees
        )
    return tuple(_answer(question, each, found, asked.growing) for each in question.guarantees)


@frozen
class MilderFaults:
    """A set of kinds of faults of equal harm, and the answers about mixtures of them.

    `asked` are the answers of a search among them, `shortest` those that have the shortest runs by the
    fewest faults.
    """

    kinds: tuple[FaultKind, ...]
    asked: tuple[Answer, ...]
    shortest: tuple[Answer, ...]


def _milder(asking: Asking, partition: PartitionModel, mixed: Sequence[Answer]) -> list[MilderFaults]:
    """The losses by the mildest faults, and the shortest of these.

    Where the loss among all faults is as mild, no run of milder faults is shorter.
    """
    found: list[MilderFaults] = []
    for faults in sorted({answer.lost_with for answer in mixed if answer.lost_with}):
        left = [answer for answer in mixed if answer.lost_with == faults]
        for kinds in milder_kinds(partition):
            if not left:
                break
            worst = harm(kind.fault for kind in kinds)
            shortest = [a for a in left if a.loss is not None and harm(a.loss.fault_counts()) <= worst]
            group = tuple(answer.guarantee for answer in left if answer not in shortest)
            asked = ask(asking, partition, under_these(partition, group, kinds, faults)) if group else ()
            shortest += (answer for answer in asked if answer.lost_with == faults)
            found.append(MilderFaults(kinds, asked, tuple(shortest)))
            done = {answer.guarantee for answer in shortest}
            left = [answer for answer in left if answer.guarantee not in done]
    return found


def _as_short(
    asking: Asking, partition: PartitionModel, shortest: Sequence[Answer], rows: Sequence[Answer]
) -> list[Answer]:
    """Equally short and mild runs by faults that engineers expect more.

    Each mixture is a small search, up to that of the shortest run.  A mixture of one kind has a row of
    its own, but for moves of the leadership.
    """
    found: list[Answer] = []
    left = {answer.guarantee: answer.loss for answer in shortest if answer.loss is not None}
    faults = max((loss.faults for loss in left.values()), default=0)
    for mixture in mixtures(partition, faults) if left else ():
        left = {of: loss for of, loss in left.items() if surprise(mixture) < surprise(loss.fault_counts())}
        group = tuple(of for of, loss in left.items() if harm(mixture) == harm(loss.fault_counts()))
        if not group:
            continue
        if len(mixture) == 1 and not partition.moves_among_faults:
            kind = kind_of(next(iter(mixture))).name
            asked: Iterable[Answer] = (answer for answer in rows if answer.kind == kind)
        else:
            asked = ask(asking, partition, of_mixture(group, mixture, partition.moves_among_faults))
        for answer in asked:
            known = left.get(answer.guarantee)
            if (
                known is not None
                and answer.loss is not None
                and shown_first(answer.loss) < shown_first(known)
            ):
                found.append(answer)
                del left[answer.guarantee]
    return found


def _of(answer: Answer, others: Iterable[Answer]) -> list[Answer]:
    """The answers about the same guarantee."""
    return [other for other in others if other.guarantee == answer.guarantee]


def with_parts(mixed: Answer, parts: Sequence[Answer], *, moved: bool) -> Answer:
    """The answer for any mixture, combined with answers for subsets of the faults.

    What some faults break, any break.  One fault is of one kind: what survives one of
    each kind survives any one, unless the leadership was `moved` in the search of all alone.
    """
    every = [mixed, *parts]
    loss = min((part.loss for part in every if part.loss is not None), key=shown_first, default=None)
    lost_with = min((part.lost_with for part in every if part.lost_with is not None), default=None)
    one = min(
        (1 if p.survived is None else min(1, p.survived) for p in parts if p.kind not in {ANY, MOVE}),
        default=-1,
    )
    one = -1 if moved else one
    survived = None if mixed.survived is None else max(mixed.survived, one)
    if lost_with is not None and survived is not None:
        survived = min(survived, lost_with - 1)
    complete = mixed.complete or (loss is not None and survived == loss.faults - 1)
    states = sum(part.states for part in every)
    why = "" if complete else mixed.why
    return Answer(mixed.guarantee, ANY, survived, loss, complete, states, why, lost_with)
