"""The log of one replica of one partition, summed up: its offsets, and which leader epoch wrote what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from modelcheck.kafka.files.batches import CURRENT, Batch, OnRead, read_batches, silent
from modelcheck.kafka.files.checkpoints import EpochStart, read_epochs
from modelcheck.kafka.files.damage import Damage, UnreadableError
from spec.frozen import frozen

SEGMENT = re.compile(r"(\d{20})\.log")


@frozen
class PartitionLog:
    """The log of a partition, as its broker would recover it at its start.

    `epochs` begin at rising offsets below `end`.  `flushed` is the recovery point: everything
    before it was on the disk.  `damaged` is what is wrong; where `cut` is set the broker would
    drop all from `end` on, elsewhere it would not look, and the log continues after the damage.
    `begun` is the last leader epoch that the broker wrote down, of which no record may be left.  `gaps` are
    offsets, from and up to, between segments: of a log that is not compacted a file is missing.
    `remembered` are the epochs that the broker has after its start, where these are not `epochs`: those of
    its checkpoint, and others of the segments that it recovers alone (`LogSegment.recover`).
    """

    folder: Path
    start: int
    end: int
    epochs: tuple[EpochStart, ...]
    size: int
    flushed: int
    damaged: tuple[Damage, ...] = ()
    cut: bool = False
    old_format: bool = False
    begun: EpochStart | None = None
    gaps: tuple[tuple[int, int], ...] = ()
    remembered: tuple[EpochStart, ...] | None = None

    @property
    def as_remembered(self) -> PartitionLog:
        """The log with the leader epochs that its broker has after its start."""
        return self if self.remembered is None else replace(self, epochs=self.remembered, remembered=None)

    @property
    def last_epoch(self) -> int:
        """The leader epoch of the last record; -1 if there is none."""
        return self.epochs[-1].epoch if self.epochs else -1

    def end_of(self, epoch: int) -> tuple[int, int]:
        """The largest epoch of the log up to this one, and the offset of its end (KIP-101, KIP-279).

        With none, epoch -1 and the start of the log.
        """
        found, end = -1, self.start
        for number, each in enumerate(self.epochs):
            if each.epoch > epoch:
                break
            following = self.epochs[number + 1].start if number + 1 < len(self.epochs) else self.end
            found, end = each.epoch, following
        return found, end


def segments(folder: Path) -> list[tuple[int, Path]]:
    """The segments of a log, each with its first offset. Raises `UnreadableError`."""
    try:
        found = [(SEGMENT.fullmatch(path.name), path) for path in folder.iterdir()]
    except OSError as error:
        raise UnreadableError.refused(folder, error) from error
    return sorted((int(name[1]), path) for name, path in found if name is not None)


def read_log(
    folder: Path,
    *,
    flushed: int = 0,
    clean: bool = False,
    start: int = 0,
    every: bool = False,
    report: OnRead = silent,
) -> PartitionLog:
    """The log in a partition's folder, recovered as a broker does. Raises `UnreadableError`.

    Reads each segment once, in pieces.  Checksums are looked at where a broker looks at its start:
    nowhere after a `clean` shutdown, else from the segment with the recovery point `flushed` on;
    with `every`, everywhere.
    """
    found = segments(folder)
    recovered = [n for n, (base, _) in enumerate(found) if base <= flushed]
    first = recovered[-1] if recovered else 0
    seen = _Seen()
    damaged: list[Damage] = []
    cut = False
    size = 0
    gaps: list[tuple[int, int]] = []
    for number, (base, path) in enumerate(found):
        recovers = not clean and number >= first
        looked_at = every or recovers
        if number and base > seen.end and not damaged:
            gaps.append((seen.end, base))
        for each in read_batches(path, checksums=looked_at, report=report):
            if isinstance(each, Damage):
                damaged.append(each)
                cut = recovers or number == len(found) - 1
                break
            seen.add(each, recovers=recovers)
            size = size + each.size
        seen.end = max(seen.end, base)
        if cut:
            break
    begins = max(start, found[0][0]) if found else start
    end = max(seen.end, begins)
    noted = read_epochs(folder / "leader-epoch-checkpoint") or ()
    epochs = _epochs(noted, seen.epochs, begins, end)
    remembered = _epochs(noted, seen.recovered, begins, end)
    return PartitionLog(
        folder,
        begins,
        end,
        epochs,
        size,
        min(flushed, end) if not clean else end,
        tuple(damaged),
        cut,
        seen.old,
        max((*noted, *epochs), key=lambda each: each.epoch, default=None),
        tuple(gaps),
        None if remembered == epochs else remembered,
    )


class _Seen:
    """What has been read of a log's batches so far."""

    def __init__(self) -> None:
        self.end = 0
        self.epochs: list[EpochStart] = []
        self.recovered: list[EpochStart] = []
        self.old = False

    def add(self, batch: Batch, *, recovers: bool) -> None:
        """Add the next batch, of a segment that a broker recovers at its start or not."""
        self.end = max(self.end, batch.end)
        self.old = self.old or batch.version < CURRENT
        for epochs in (self.epochs, self.recovered) if recovers else (self.epochs,):
            if batch.epoch >= 0 and (not epochs or batch.epoch > epochs[-1].epoch):
                epochs.append(EpochStart(batch.epoch, batch.base))


def _epochs(
    noted: Sequence[EpochStart], seen: Iterable[EpochStart], start: int, end: int
) -> tuple[EpochStart, ...]:
    """The leader epochs of a log: those in its checkpoint, and later ones that were seen.

    One that begins at the end of the log or after it is forgotten; the one that holds the
    first record begins there at the earliest.
    """
    known = [each for each in noted if each.start < end]
    for each in seen:
        if not known or each.epoch > known[-1].epoch:
            known.append(each)
    before = [each for each in known if each.start <= start]
    later = [each for each in known if each.start > start]
    return (*(EpochStart(each.epoch, start) for each in before[-1:]), *later) if start < end else ()
