"""In which order to start the brokers, so that every partition gets the leader with the least loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import permutations

from modelcheck.kafka.incident.at_rest.election_outcome import Aftermath, Succession, outcomes
from modelcheck.kafka.incident.at_rest.partitions import PartitionFiles
from modelcheck.kafka.incident.at_rest.untraced import Cause, Untraced, untraced
from spec.frozen import frozen

MOST_TRIED = 6  # brokers of which every order is tried; 720 orders


@frozen
class Judged:
    """A partition with the outcome of each leader, best first, and the leader to prefer.

    `deposed` is what a leader may have acknowledged alone, where its producers let it.
    """

    partition: PartitionFiles
    outcomes: tuple[Aftermath, ...]
    wanted: Aftermath | None
    deposed: Untraced | None = None

    @property
    def by_themselves(self) -> tuple[Aftermath, ...]:
        """The outcomes possible if brokers are started and no operator intervenes."""
        return tuple(each for each in self.outcomes if each.way.by_itself)

    @property
    def worst(self) -> Aftermath | None:
        """The worst automatic outcome; if no replica is elected automatically, the worst manual one."""
        others = (*self.partition.may_be_last, *self.partition.electable_before)
        may = [each for each in self.outcomes if each.way.by_itself or each.leader in others]
        return max(may or self.outcomes, key=lambda each: each.badness, default=None)

    @property
    def gone(self) -> int:
        """The number of records that a broker noted as committed and that no given copy has."""
        replicas = self.partition.replicas.values()
        noted = max((each.high_watermark or 0 for each in replicas), default=0)
        return max(0, noted - max((each.log.end for each in replicas), default=0))

    @property
    def untraced(self) -> tuple[Untraced, ...]:
        """The records that may be gone without a trace in any file."""
        return (*untraced(self.partition), *([self.deposed] if self.deposed else []))

    @property
    def lost_end(self) -> bool:
        """Whether the log that may have led last lacks its end, or may well."""
        return any(each.cause in {Cause.END, Cause.BESIDE} for each in self.untraced)

    @property
    def at_stake(self) -> int:
        """The number of records that a wrong start can still lose, above those that are lost in any case."""
        if not self.order_matters or self.wanted is None or self.worst is None:
            return 0
        return max(0, *_more(self.worst.badness, self.wanted.badness))

    @property
    def by_hand(self) -> bool:
        """Whether the preferred leader must be elected manually."""
        return self.wanted is not None and self.wanted.way is Succession.BY_HAND

    @property
    def last_leader(self) -> int | None:
        """The replica that leads as the last known leader, once all that it has to wait for run."""
        if not self.partition.awaited[1]:
            return None
        found = (each.leader for each in self.by_themselves if each.way is Succession.LAST_KNOWN)
        return next(found, None)

    @property
    def rivals(self) -> tuple[int, ...]:
        """The replicas that an election by hand prefers to the wanted one, if they run.

        An unclean election has no wanted leader: it takes the first of the assignment that runs.
        """
        state = self.partition.state
        if not self.by_hand or self.wanted is None or state is None:
            return ()
        before = state.replicas[: state.replicas.index(self.wanted.leader)]
        return tuple(node for node in before if node in self.partition.replicas)

    @property
    def order_matters(self) -> bool:
        """Whether the loss depends on which broker starts first; one with an empty disk must not."""
        if self.wanted is None or self.worst is None:
            return False
        empty = any(each.lost for each in self.partition.replicas.values())
        return self.wanted.badness != self.worst.badness or self.by_hand or empty

    @property
    def is_open(self) -> bool:
        """Whether missing files could change the answer, or who may lead is unknown."""
        partition = self.partition
        return partition.state is None or bool(partition.missing) or partition.unsettled is not None


def judged(partition: PartitionFiles) -> Judged:
    """The partition with its outcomes.

    An unclean election by hand is wanted only where it saves records that may have been
    acknowledged with acks=all, or where no broker here is elected automatically.
    """
    found = outcomes(partition)
    alone = [each for each in found if each.way.by_itself]
    wanted = alone[0] if alone else found[0] if found else None
    if alone and wanted is not None and found[0].badness[:2] < wanted.badness[:2]:
        wanted = found[0]
    return Judged(partition, found, wanted)


def starting_order(
    nodes: Iterable[int], all_judged: Iterable[Judged], last: Collection[int] = ()
) -> tuple[int, ...]:
    """The order of brokers that loses least; ties are broken by the lowest numbers.

    Brokers in `last`, whose disks are empty, come after all others.  Tries all orders of up to six brokers,
    and else takes the broker next that costs least.
    """
    choices = Counter(_choices(each) for each in all_judged)
    known = sorted(set(nodes) - set(last))
    empty = tuple(sorted(last))
    if len(known) <= MOST_TRIED:
        return (
            min(permutations(known), key=lambda order: _cost((*order, *empty), choices), default=()) + empty
        )
    order: list[int] = []
    while len(order) < len(known):
        left = [node for node in known if node not in order]
        order.append(min(left, key=lambda node: _cost([*order, node], choices)))
    return (*order, *empty)


def first_leader(each: Judged, order: Iterable[int]) -> Aftermath | None:
    """The outcome of a partition where brokers are started in an order, and elected as advised."""
    first = _first(_choices(each), tuple(order))
    return next((outcome for outcome in each.outcomes if outcome.leader == first), None)


def given_up(all_judged: Iterable[Judged], order: Sequence[int]) -> tuple[Judged, ...]:
    """The partitions that lose more in this order than in another one, which costs others more."""
    found = []
    for each in all_judged:
        first = first_leader(each, order)
        if first is not None and each.wanted is not None and first.badness > each.wanted.badness:
            found.append(each)
    return tuple(found)


Badness = tuple[int, int, int]


@frozen
class Choices:
    """Who may come to lead a partition, and what each costs more than need be.

    `alone` lead as soon as they run, and `last` as soon as all of `awaited` do.  As soon as `by_hand` runs,
    somebody is elected by hand: that one or, where some of `rivals` run, the first of them.
    """

    costs: tuple[tuple[int, Badness], ...]
    alone: tuple[int, ...]
    last: int | None = None
    awaited: tuple[int, ...] = ()
    by_hand: int | None = None
    rivals: tuple[int, ...] = ()


def _choices(each: Judged) -> Choices:
    """Who a start may lead to, with the cost above that of the preferred one."""
    least = each.wanted.badness if each.wanted else (0, 0, 0)
    late = each.last_leader
    alone = tuple(sorted(outcome.leader for outcome in each.by_themselves if outcome.leader != late))
    wanted = each.wanted.leader if each.wanted and each.by_hand else None
    might = {*alone, late, *each.rivals, wanted}
    costs = {o.leader: _more(o.badness, least) for o in each.outcomes if o.leader in might}
    awaited = each.partition.awaited[0] if late is not None else ()
    return Choices(tuple(sorted(costs.items())), alone, late, awaited, wanted, each.rivals)


def _first(choices: Choices, order: Sequence[int]) -> int | None:
    """Who leads first where brokers are started in an order, and elected by hand as advised."""
    running: set[int] = set()
    for node in order:
        running.add(node)
        if node in choices.alone:
            return node
        if choices.last is not None and running.issuperset(choices.awaited):
            return choices.last
        if node == choices.by_hand:
            return next((each for each in choices.rivals if each in running), node)
    return None


def _more(cost: Badness, least: Badness) -> Badness:
    """The excess of a cost over the least."""
    return (cost[0] - least[0], cost[1] - least[1], cost[2] - least[2])


def _cost(order: Sequence[int], choices: Counter[Choices]) -> Badness:
    """The cost of an order of starts, over all partitions."""
    total = [0, 0, 0]
    for each, times in choices.items():
        first = _first(each, order)
        for n, part in enumerate(dict(each.costs)[first] if first is not None else ()):
            total[n] += part * times
    return (total[0], total[1], total[2])
