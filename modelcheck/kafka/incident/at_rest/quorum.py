"""How much of the newest copy of the metadata log is committed for sure: what a majority of its voters has.

NOTE(committed): a voter that was alone, as after the others had stopped, may have records that no majority
got.  They are dropped if others elect one of themselves without it, and are committed if it leads: both can
be.  What is in a snapshot is committed, as one is made of nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from modelcheck.kafka.files.metadata.log import MetadataLog


def majority(voters: Collection[int]) -> int:
    """How many voters are a majority of these."""
    return len(voters) // 2 + 1


def committed_end(newest: MetadataLog, copies: Mapping[int, MetadataLog], voters: Collection[int]) -> int:
    """The offset up to which the newest copy of the metadata log is committed for sure.

    All of it where a majority of the voters is not here, as then nothing is known of it.
    """
    here = [copies[node] for node in voters if node in copies]
    if len(here) < majority(voters):
        return newest.end
    reached = sorted((_shared(each, newest) for each in here), reverse=True)
    in_snapshots = (min(each.snapshot_end, newest.end) for each in copies.values())
    return max(reached[majority(voters) - 1], *in_snapshots)


def _shared(copy: MetadataLog, newest: MetadataLog) -> int:
    """The offset up to which a copy has the records of the newest one.

    In an older epoch its leader may have had last records that no other voter got.
    """
    later = (each.start for each in newest.epochs if each.epoch > copy.epoch)
    return min(copy.end, next(later, newest.end))
