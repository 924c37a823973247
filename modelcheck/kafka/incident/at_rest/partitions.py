"""The partitions of some directories: the metadata's state of each, and the replicas that are here."""

from __future__ import annotations

from collections.abc import Mapping

from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.metadata.records import PartitionCreated
from modelcheck.kafka.files.partition_log import PartitionLog
from spec.frozen import frozen


@frozen
class ReplicaLog:
    """A replica's log in the given directories; an empty one, `absent`, if it has no folder."""

    node: int
    log: PartitionLog
    high_watermark: int | None
    clean: bool
    absent: bool = False

    @property
    def lost_its_end(self) -> bool:
        """Whether the log lacks records below the high watermark that its broker wrote down."""
        return self.high_watermark is not None and self.high_watermark > self.log.end


@frozen
class PartitionFiles:
    """A partition: its state in the metadata, if any, and the replicas in the given directories.

    `eligible_count` is whether the cluster's feature eligible.leader.replicas.version is on.
    """

    place: TopicPartition
    state: PartitionCreated | None
    replicas: Mapping[int, ReplicaLog]
    unclean_by_itself: bool = False
    eligible_count: bool = False

    @property
    def missing(self) -> tuple[int, ...]:
        """The replicas whose brokers' directories were not given."""
        return tuple(n for n in self.state.replicas if n not in self.replicas) if self.state else ()

    @property
    def electable(self) -> tuple[int, ...]:
        """The replicas that the controller elects cleanly and automatically.

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
        """The replicas that lose eligibility on registration, after an unclean shutdown."""
        state = self.state
        if state is None or not self.eligible_count:
            return ()
        return tuple(n for n in dict.fromkeys((*state.isr, *state.elr)) if n not in self.electable)

    @property
    def last_known_leader(self) -> int | None:
        """The replica elected uncleanly when no eligible leader replica (ELR) is left."""
        state = self.state
        if state is None or not self.eligible_count or self.electable:
            return None
        if len(state.last_known_elr) == 1:
            return state.last_known_elr[0]
        return state.leader if state.leader >= 0 else None

    @property
    def missing_leaders(self) -> tuple[int, ...]:
        """The missing replicas that would be elected automatically if they returned."""
        return tuple(n for n in self.missing if n in self.electable)
