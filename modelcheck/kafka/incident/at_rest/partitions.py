"""The partitions of some directories: the metadata's state of each, and the replicas that are here."""

from __future__ import annotations

from collections.abc import Mapping

from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.metadata.records import PartitionCreated
from modelcheck.kafka.files.partition_log import PartitionLog
from spec.frozen import frozen


@frozen
class ReplicaLog:
    """A partition's log on a broker that is here; an empty one, `absent`, where it has no folder of it."""

    node: int
    log: PartitionLog
    high_watermark: int | None
    clean: bool
    absent: bool = False

    @property
    def lost_its_end(self) -> bool:
        """Whether records are gone that the broker itself had noted as committed."""
        return self.high_watermark is not None and self.high_watermark > self.log.end


@frozen
class PartitionFiles:
    """A partition: its state as the metadata has it, if there is any, and the replicas that are here.

    `eligible_count` is whether the cluster's feature eligible.leader.replicas.version is on.
    """

    place: TopicPartition
    state: PartitionCreated | None
    replicas: Mapping[int, ReplicaLog]
    unclean_by_itself: bool = False
    eligible_count: bool = False

    @property
    def missing(self) -> tuple[int, ...]:
        """The replicas whose brokers are not here."""
        return tuple(n for n in self.state.replicas if n not in self.replicas) if self.state else ()

    @property
    def electable(self) -> tuple[int, ...]:
        """The replicas that are elected once they are there: by no operator, and by no unclean election.

        The in-sync replicas; with eligible leader replicas (KIP-966) those too, of which a broker
        that was not shut down cleanly is struck when it registers.
        """
        state = self.state
        if state is None:
            return ()
        if not self.eligible_count:
            return state.isr
        struck = {node for node, replica in self.replicas.items() if not replica.clean}
        return tuple(n for n in dict.fromkeys((*state.isr, *state.elr)) if n not in struck)

    @property
    def struck(self) -> tuple[int, ...]:
        """Who was eligible, and is not any more when it registers, since it was not shut down cleanly."""
        state = self.state
        if state is None or not self.eligible_count:
            return ()
        return tuple(n for n in dict.fromkeys((*state.isr, *state.elr)) if n not in self.electable)

    @property
    def last_known_leader(self) -> int | None:
        """Who is elected, uncleanly, where eligible leader replicas count and none is left."""
        state = self.state
        if state is None or not self.eligible_count or self.electable:
            return None
        if len(state.last_known_elr) == 1:
            return state.last_known_elr[0]
        return state.leader if state.leader >= 0 else None

    @property
    def missing_leaders(self) -> tuple[int, ...]:
        """Those missing who would be elected without further ado if they came back."""
        return tuple(n for n in self.missing if n in self.electable)
