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

SEGMENT = re.compile(r"(\d{20})\.log(|\.swap|\.cleaned)")


@frozen
class PartitionLog:
    """The log of a partition, as its broker would recover it at its start.

    `epochs` begin at rising offsets below `end`.  `flushed` is the recovery point: everything
    before it was on the disk.  `damaged` is what is wrong; where `cut` is set the broker would
    drop all from `end` on, elsewhere it would not look, and the log continues after the damage.
    `begun` is the last leader epoch that the broker wrote down, of which no record may be left, and
    `noted_end` an offset up to which, by its checkpoints, the log had records.  `gaps` are
    offsets, from and up to, between segments or before the first one, which the broker has not deleted by
    its checkpoints: of a log that is not compacted a file is missing.  `dropped` is where the records end of
    a log that is to start behind them, so that the broker deletes them all.  Records before `old_end` are of
    an old format, which has no leader epochs.
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
    old_end: int = 0
    begun: EpochStart | None = None
    noted_end: int = 0
    gaps: tuple[tuple[int, int], ...] = ()
    dropped: int | None = None
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
    """The segments that a broker has after its start, each with its first offset. Raises `UnreadableError`.

    Where compaction was interrupted, what it has finished (`.swap`) takes the place of what it was made from,
    and what it has not (`.cleaned`) goes (`LogLoader.load`).
    """
    found: dict[str, list[tuple[int, Path]]] = {"": [], ".swap": [], ".cleaned": []}
    try:
        for path in folder.iterdir():
            if name := SEGMENT.fullmatch(path.name):
                found[name[2]].append((int(name[1]), path))
    except OSError as error:
        raise UnreadableError.refused(folder, error) from error
    unfinished = min((base for base, _ in found[".cleaned"]), default=None)
    swapped = [each for each in found[".swap"] if unfinished is None or each[0] < unfinished]
    if not swapped:
        return sorted(found[""])
    first, last = min(base for base, _ in swapped), max(segment_end(*each) for each in swapped)
    return sorted([*swapped, *(each for each in found[""] if not first <= each[0] < last)])


def segment_end(base: int, path: Path) -> int:
    """The offset after the last whole batch of a segment."""
    batches = read_batches(path, checksums=False)
    return max((each.end for each in batches if isinstance(each, Batch)), default=base)


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
    if found and noted and noted[0].start < found[0][0] == begins:
        gaps.insert(0, (noted[0].start, begins))
    epochs = _within(_written(noted, seen), begins, end)
    remembered = _within(_remembered(noted, seen.recovered), begins, end)
    return PartitionLog(
        folder,
        begins,
        end,
        epochs,
        size,
        min(flushed, end) if not clean else end,
        tuple(damaged),
        cut,
        seen.old_end,
        max((*noted, *epochs), key=lambda each: each.epoch, default=None),
        max((flushed, *(each.start for each in noted))),
        tuple(gaps),
        seen.end if seen.read and seen.end < begins else None,
        None if remembered == epochs else remembered,
    )


@frozen
class _Span:
    """A leader epoch, and the offsets of its first record and after its last one."""

    epoch: int
    start: int
    end: int


class _Seen:
    """What has been read of a log's batches so far."""

    def __init__(self) -> None:
        self.end = 0
        self.spans: list[_Span] = []
        self.recovered: list[EpochStart] = []
        self.old_end = 0
        self.read = 0

    def add(self, batch: Batch, *, recovers: bool) -> None:
        """Add the next batch, of a segment that a broker recovers at its start or not."""
        self.read += 1
        self.end = max(self.end, batch.end)
        if batch.version < CURRENT:
            self.old_end = self.end
        if batch.epoch < 0:
            return
        if not self.spans or batch.epoch > self.spans[-1].epoch:
            self.spans.append(_Span(batch.epoch, batch.base, batch.end))
        else:
            self.spans[-1] = replace(self.spans[-1], end=self.end)
        if recovers and (not self.recovered or batch.epoch > self.recovered[-1].epoch):
            self.recovered.append(EpochStart(batch.epoch, batch.base))


def _written(noted: Sequence[EpochStart], seen: _Seen) -> list[EpochStart]:
    """The leader epochs of a log's records: as these have them, and as its checkpoint has those of others.

    The first records of an epoch, or all, may have been compacted: then the checkpoint says where it began,
    unless that is where there are records of another one.
    """
    found: list[EpochStart] = []
    left = list(noted)
    reached = seen.old_end
    for span in (*seen.spans, None):
        before = [each for each in left if span is None or each.epoch <= span.epoch]
        left = left[len(before) :]
        upper = seen.end if span is None else span.start + 1
        found += [each for each in before if reached <= each.start < upper]
        if span is not None:
            if not found or found[-1].epoch < span.epoch:
                found.append(EpochStart(span.epoch, span.start))
            reached = span.end
    return found


def _remembered(noted: Sequence[EpochStart], recovered: Iterable[EpochStart]) -> list[EpochStart]:
    """The leader epochs of a checkpoint, and later ones of the segments that were recovered."""
    known = list(noted)
    for each in recovered:
        if not known or each.epoch > known[-1].epoch:
            known = [*(earlier for earlier in known if earlier.start < each.start), each]
    return known


def _within(known: Sequence[EpochStart], start: int, end: int) -> tuple[EpochStart, ...]:
    """The leader epochs that a log has records of, by where each begins.

    One that begins at the end of the log or after it is forgotten, and one that begins where the next one
    does; the one that holds the first record begins there at the earliest.
    """
    if start >= end:
        return ()
    following = [*(each.start for each in known[1:]), end]
    held = [each for each, until in zip(known, following, strict=False) if each.start < min(until, end)]
    before = [each for each in held if each.start <= start]
    later = [each for each in held if each.start > start]
    return (*(EpochStart(each.epoch, start) for each in before[-1:]), *later)
