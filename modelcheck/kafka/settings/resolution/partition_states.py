"""The states of a topic's partitions that are not well: no leader, or replicas missing from the ISR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from modelcheck.kafka.settings.readings import Partition, Reading, Topic
from spec.frozen import frozen
from spec.source import Source


@frozen
class PartitionState:
    """A state that some partitions of a topic are in, by the first of them.

    `numbers` are all partitions in this state: with as many replicas in each role, whichever brokers they
    are on.  `running` are the replicas outside the ISR on brokers that are in sync, or lead, in another
    partition with a leader.
    """

    topic: str
    partition: Partition
    numbers: tuple[int, ...]
    running: tuple[int, ...]
    source: Source

    @property
    def replicas(self) -> tuple[int, ...]:
        """The brokers with a replica, each once."""
        return tuple(dict.fromkeys(self.partition.replicas))

    @property
    def leader(self) -> int | None:
        """The leader; None if there is none, or if it is none of the replicas."""
        return self.partition.leader if self.partition.leader in self.replicas else None

    @property
    def isr(self) -> tuple[int, ...]:
        """The in-sync replicas, the leader first; it counts as one of them."""
        found = [node for node in self.replicas if node in self.partition.isr]
        return tuple(dict.fromkeys(([] if self.leader is None else [self.leader]) + found))

    @property
    def elr(self) -> tuple[int, ...]:
        """The eligible leader replicas; empty where they are not shown."""
        eligible = self.partition.elr or ()
        return tuple(n for n in self.replicas if n in eligible and n not in self.isr)

    @property
    def outside(self) -> tuple[int, ...]:
        """The replicas that are neither in the ISR nor eligible."""
        known = {*self.isr, *self.elr}
        return tuple(node for node in self.replicas if node not in known)

    @property
    def last_leader(self) -> int | None:
        """The replica that led last, where the last known ELR names one."""
        last = self.partition.last_known_elr or ()
        return last[0] if self.leader is None and len(last) == 1 and last[0] not in self.isr else None

    @property
    def place(self) -> str:
        """The partition's line as `file:line`."""
        span = self.partition.span
        return self.source.at_line(span.start) if span else self.source.name

    @property
    def shape(self) -> tuple[int | bool | None, ...]:
        """What decides the answers about a partition: how many replicas are in each role."""
        runs, last = set(self.running), self.last_leader
        return (
            len(self.replicas),
            self.leader is not None,
            len(self.isr),
            len(self.elr),
            self.partition.elr is not None,
            len(runs & {*self.elr}),
            len(runs & {*self.outside}),
            None if last is None else last in self.elr,
        )

    def as_json(self) -> dict[str, object]:
        """The state as JSON data."""
        return {
            **self.partition.as_json(),
            "partitions": list(self.numbers),
            "running": list(self.running),
            "place": self.place,
        }


def partition_states(readings: Sequence[Reading], topic: Topic | None) -> tuple[PartitionState, ...]:
    """The states of the topic's partitions that are not well, each once: the gravest first.

    The gravest has no leader, then the fewest replicas in sync.
    """
    if topic is None:
        return ()
    running = {node for reading in readings for node in reading.brokers.running}
    found: dict[tuple[object, ...], PartitionState] = {}
    for partition in topic.partitions:
        if not partition.has_state or not partition.replicas:
            continue
        state = PartitionState(topic.name, partition, (partition.number,), (), topic.source)
        if state.leader is not None and not {*state.elr, *state.outside}:
            continue
        away = {*(partition.offline or ())}
        runs = tuple(n for n in (*state.elr, *state.outside) if n in running and n not in away)
        state = replace(state, running=runs)
        known = found.get(state.shape)
        numbers = (*(known.numbers if known else ()), partition.number)
        found[state.shape] = replace(known or state, numbers=numbers)
    return tuple(sorted(found.values(), key=lambda each: (each.leader is not None, len(each.isr))))
