"""What is wrong with a replica's log and what its broker does about it, in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.directories import LogDirectory
from modelcheck.kafka.files.partition_log import PartitionLog

SET_ASIDE = re.compile(r"(.+)-(\d{1,10})\.[^.]+-(future|stray)")


def faults(log: PartitionLog, *, compacted: bool, tiered: bool) -> Iterator[str]:
    """Why a log is not whole: records or leader epochs that its broker lacks; gaps only of one not compacted.

    With tiered storage (`tiered`) the first segments are deleted here and not there.
    """
    for begins, ends in () if compacted else log.gaps:
        if ends == log.start and not tiered:
            yield (
                f"{log.folder}: no segment has offsets {begins:,} to {ends - 1:,}, from which on"
                " leader-epoch-checkpoint has epochs: a file is missing, unless the broker was killed while"
                " it deleted old segments; a broker does not look, and as leader has its followers delete"
                " theirs"
            )
        elif ends != log.start:
            yield (
                f"{log.folder}: no segment has offsets {begins:,} to {ends - 1:,}: a file is missing, unless"
                " the topic is compacted; a broker does not look, and has no such records for anyone"
            )
    if log.dropped is not None:
        yield (
            f"{log.folder}: log-start-offset-checkpoint says that the log starts at {log.start:,}, and its"
            f" records end at {log.dropped:,}: the broker deletes them all when it starts"
        )
    if log.remembered is not None:
        yield f"{log.folder}: {_remembered(log)}"


def _remembered(log: PartitionLog) -> str:
    """What a broker does that has other leader epochs than the records of its log."""
    remembered = log.as_remembered.epochs
    gone = next((each for each in log.epochs if each not in remembered), None)
    if gone is not None:
        return (
            f"leader-epoch-checkpoint does not say that epoch {gone.epoch} began at {gone.start:,}, as the"
            " records do; a broker reads epochs from segments that it recovers alone, and with too few two"
            " replicas may keep different records"
        )
    extra = next(each for each in remembered if each not in log.epochs)
    return (
        f"leader-epoch-checkpoint says that epoch {extra.epoch} began at {extra.start:,}, where the records"
        " are of another one; a broker believes it, and two replicas may keep different records"
    )


def consequence(log: PartitionLog) -> str:
    """What a broker does about the damage in a log at its start, as a phrase."""
    if log.cut:
        return f"(the broker drops all from offset {log.end:,} on when it starts)"
    return "(before the recovery point, so the broker does not look when it starts)"


def set_aside(theirs: Sequence[LogDirectory]) -> Iterator[str]:
    """The folders of a broker that are no replica's now and may have the only copy of records, in sentences.

    A log that is being moved to another directory is at its old place, too.
    """
    for read in theirs:
        for name in read.set_aside:
            found = SET_ASIDE.fullmatch(name)
            if found is None:
                continue
            place = TopicPartition(found[1], int(found[2]))
            if found[3] == "stray":
                what = "set aside by its broker, as the metadata had no such replica there"
            elif any(place in each.partitions for each in theirs):
                continue
            else:
                what = "a copy of a log that was being moved to this directory, and the log is not here"
            yield f"{read.path / name}: {what}; left out, and it may have records that no other log has"
