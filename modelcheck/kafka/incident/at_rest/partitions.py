"""The partitions of some directories: the metadata's state of each, and the replicas that are here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.metadata.records import PartitionCreated
from modelcheck.kafka.files.partition_log import PartitionLog
from spec.frozen import frozen


@frozen
class ReplicaLog:
    """A replica's log in the given directories; an empty one, `absent`, if it has no folder.

    `clean` is whether its directory was left by a clean shutdown, and `lost` whether it had one on a disk
    that is gone.  `proven` is whether the controller takes a clean
    shutdown for one: every directory of the broker has the epoch of its last registration.  `beside_short` is
    whether another log of the broker has lost its end, as after a power failure, which this one had too, and
    `whole` whether all records before its end are there, none is damaged, and the broker has their epochs.
    """

    node: int
    log: PartitionLog
    high_watermark: int | None
    clean: bool
    absent: bool = False
    lost: bool = False
    proven: bool = True
    beside_short: bool = False
    whole: bool = True

    @property
    def lost_proof(self) -> bool:
        """Whether a clean shutdown, if there was one, cannot be proven."""
        return self.lost or (self.clean and not self.proven)

    @property
    def stays_eligible(self) -> bool:
        """Whether a member of the ELR is one still when its broker has registered (KIP-966)."""
        return self.clean and self.proven and not self.lost

    @property
    def lost_its_end(self) -> bool:
        """Whether the log lacks records that were in it, by what its broker wrote down.

        That is the high watermark, the recovery point, and the offset at which a leader epoch began.
        """
        return max(self.high_watermark or 0, self.log.noted_end) > self.log.end

    @property
    def is_short(self) -> bool:
        """Whether the log has lost its end, or ends in a batch of which a part is on the disk."""
        return self.lost_its_end or self.log.cut


@frozen
class PartitionFiles:
    """A partition: its state in the metadata, if any, and the replicas in the given directories.

    `eligible_count` is whether the cluster's feature eligible.leader.replicas.version is on, and
    `forgets_eligible` whether a broker that reports a new directory leaves no replica eligible (up to 4.2).
    `staying` are the members of the ISR that are expected to stay where controllers start anew, None for all,
    and `fenced_last` the one of them that is expected to lose its session last, if any is (NOTE(sessions)).
    `unclean_elections` have the epoch and the leader of each, as far as the metadata log goes back.
    `outsiders` are brokers that are no replicas any more, each with how many records its log has and none of
    the replicas' logs.  `unsettled` is the offset of the metadata from which on it may not be committed, if
    that decides who may lead, and `before` the state of the partition there, None if it did not exist.
    """

    place: TopicPartition
    state: PartitionCreated | None
    replicas: Mapping[int, ReplicaLog]
    unclean_by_itself: bool = False
    eligible_count: bool = False
    forgets_eligible: bool = False
    unclean_elections: tuple[tuple[int, int], ...] = ()
    staying: tuple[int, ...] | None = None
    fenced_last: int | None = None
    outsiders: tuple[tuple[int, int], ...] = ()
    unsettled: int | None = None
    before: PartitionCreated | None = None

    @property
    def missing(self) -> tuple[int, ...]:
        """The replicas whose brokers' directories were not given."""
        return tuple(n for n in self.state.replicas if n not in self.replicas) if self.state else ()

    @property
    def not_whole(self) -> tuple[int, ...]:
        """The brokers whose log lacks records or leader epochs, or has damaged records that a start keeps."""
        return tuple(node for node, replica in self.replicas.items() if not replica.whole)

    @property
    def electable(self) -> tuple[int, ...]:
        """The replicas that the controller elects cleanly and automatically.

        The in-sync replicas; with eligible leader replicas (KIP-966) those too, of which a broker
        that cannot prove a clean shutdown is struck when it registers.  One that is missing counts, as if it
        could.
        """
        state = self.state
        if state is None:
            return ()
        if not self.eligible_count:
            return state.isr
        struck = {node for node, replica in self.replicas.items() if not replica.stays_eligible}
        return tuple(n for n in self.in_line if n not in struck)

    @property
    def in_line(self) -> tuple[int, ...]:
        """The replicas that the metadata has in sync, or eligible."""
        state = self.state
        return () if state is None else tuple(dict.fromkeys((*state.isr, *state.elr)))

    @property
    def struck(self) -> tuple[int, ...]:
        """The replicas that lose eligibility on registration, after an unclean shutdown."""
        state = self.state
        if state is None or not self.eligible_count:
            return ()
        return tuple(n for n in self.in_line if n not in self.electable)

    @property
    def leaving(self) -> tuple[int, ...]:
        """The replicas that a reassignment takes away as soon as all others are in sync."""
        return () if self.state is None else self.state.removing

    @property
    def last_known_leader(self) -> int | None:
        """The replica elected uncleanly when no eligible leader replica (ELR) is left, or may be left.

        Controllers that start anew fence one member of the ISR after the other, and each that is left leads
        meanwhile: so the one that is expected to be fenced last.
        """
        state = self.state
        if state is None or not self.eligible_count or (self.electable and not self.may_forget_eligible):
            return None
        if len(state.last_known_elr) == 1:
            return state.last_known_elr[0]
        if self.fenced_last is not None:
            return self.fenced_last
        return state.leader if state.leader >= 0 else None

    @property
    def may_be_last(self) -> tuple[int, ...]:
        """Who may be the last known leader in place of the one that is expected to be fenced last.

        Any member of the ISR: where brokers start at once with the controllers, one that registers as soon as
        its old session is over leaves the ISR before its turn.
        """
        state, last = self.state, self.fenced_last
        if state is None or last is None or self.last_known_leader != last:
            return ()
        return tuple(node for node in state.isr if node != last and node in self.replicas)

    @property
    def electable_before(self) -> tuple[int, ...]:
        """The replicas that are elected automatically where the end of the metadata is not committed."""
        if self.unsettled is None:
            return ()
        return replace(self, state=self.before, unsettled=None, before=None).electable

    @property
    def dropping(self) -> bool:
        """Whether controllers that start anew take members out of the ISR before a broker can register."""
        return self.state is not None and self.staying not in {None, self.state.isr}

    @property
    def may_forget_eligible(self) -> bool:
        """Whether a broker with an empty disk, once it has started, leaves no replica eligible."""
        return self.forgets_eligible and any(each.lost for each in self.replicas.values())

    @property
    def awaited(self) -> tuple[tuple[int, ...], bool]:
        """The replicas without which no broker leads automatically, and whether all of them have to run.

        Else it takes any one of them.  None where every replica may lead, or nothing is known.  All members
        of the ISR where one of them may stay alone in it.
        """
        if self.state is None or self.unclean_by_itself:
            return (), False
        if self.dropping:
            return tuple(sorted(self.in_line)), True
        here = tuple(n for n in self.electable if n in self.replicas)
        if here:
            return (here if len(here) < len(self.replicas) else ()), False
        last = self.last_known_leader
        return (tuple(sorted({*self.struck, last})), True) if last is not None else ((), False)

    @property
    def missing_leaders(self) -> tuple[int, ...]:
        """The missing replicas that would be elected automatically if they returned."""
        return tuple(n for n in self.missing if n in self.electable)
