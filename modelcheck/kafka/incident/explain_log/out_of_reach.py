"""What a broker's directory shows and the broker can no longer get: no broker that leads later has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from modelcheck.kafka.incident.explain_log.observations import Back, Decided, Observed
from spec.frozen import frozen
from spec.meaning.semantics import State

Epochs = Sequence[int | None]  # of the records of a log, None for any


@frozen
class _Later:
    """For a position in the timeline: who leads from there on, and behind each broker's next return."""

    leaders: frozenset[int]
    returned: tuple[frozenset[int], ...]


class OutOfReach:
    """Counts the records and high watermarks out of reach; `at` gives the index of a variable in a state.

    An estimate for an order among points: a leader that is not observed any more may still give some.
    """

    def __init__(self, observed: Observed, at: Callable[[str], int]) -> None:
        names = "Broker.log", "Broker.leads", "Broker.epoch", "Broker.up", "Broker.session", "epoch", "leader"
        self._at = {name: at(name) for name in names}
        self._ends = [end for end in observed.ends.values() if end.log or end.mark]
        self._later = tuple(_later(observed))

    def count(self, state: State, position: int, marked: int) -> int:
        """How much is out of reach; a broker that is `marked` has had its high watermark."""
        at, later = self._at, self._later[position]
        logs, up, session = state[at["Broker.log"]], state[at["Broker.up"]], state[at["Broker.session"]]
        epoch, epochs = state[at["epoch"]], state[at["Broker.epoch"]]
        acting = {each for each, leads in enumerate(state[at["Broker.leads"]]) if leads == each and up[each]}
        leader = state[at["leader"]]
        leads_now = acting if leader is None else acting | {leader}
        found = 0
        for end in self._ends:
            broker = end.broker
            sources = later.leaders | leads_now if session[broker] else later.returned[broker]
            found += not (marked >> broker & 1 or sources)
            wanted = end.log or ()
            has = _same(logs[broker], wanted)
            past = has  # records from here on are of an epoch that can begin no more
            for each in wanted[has:]:
                if each is None or each >= epoch:
                    break
                past += 1
            if past > has and all(epochs[each] != wanted[past - 1] for each in acting):
                found += past - max([has, *(_same(logs[each], wanted[:past]) for each in sources)])
        return found


def _same(log: Sequence[tuple[int, int]], wanted: Epochs) -> int:
    """For how many records a log agrees with the wanted one."""
    count = 0
    for entry, epoch in zip(log, wanted, strict=False):
        if epoch is not None and entry[0] != epoch:
            break
        count += 1
    return count


def _later(observed: Observed) -> Iterator[_Later]:
    """For each position who leads later; a broker that never returns has no leader."""
    events, leading = observed.events, list[int | None]([None])
    for event in events:
        leading.append(event.leader if isinstance(event, Decided) else leading[-1])
    none = frozenset[int]()
    found = [_Later(none, (none,) * len(observed.brokers))]
    for number in reversed(range(len(events))):
        event, (leaders, returned) = events[number], (found[-1].leaders, list(found[-1].returned))
        if isinstance(event, Decided) and event.leader is not None:
            leaders |= {event.leader}
        if isinstance(event, Back):
            now = leading[number]
            returned[event.broker] = leaders if now is None else leaders | {now}
        found.append(_Later(leaders, tuple(returned)))
    return reversed(found)
