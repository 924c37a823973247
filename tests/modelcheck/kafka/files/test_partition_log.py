"""What a broker knows of its log after its start (`LogLoader`, `LogSegment.recover`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelcheck.kafka.files.checkpoints import EpochStart
from modelcheck.kafka.files.partition_log import read_log, segments
from tests.modelcheck.kafka.files.written import batch, epochs, log, old_record


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two segments, written in three epochs, of which the last two are in the second segment."""
    log(tmp_path, [(0, 1), (1, 1), (2, 2)])
    log(tmp_path, [(3, 2), (4, 3)], segment=3)
    return tmp_path


ALL = (EpochStart(1, 0), EpochStart(2, 2), EpochStart(3, 4))


@pytest.mark.parametrize(
    ("noted", "recovered_from", "remembered"),
    [
        (((1, 0), (2, 2), (3, 4)), None, ALL),
        (((1, 0), (2, 2)), None, ALL[:2]),
        (((1, 0), (2, 2)), 3, ALL),
        ((), None, ()),
        ((), 3, (EpochStart(2, 3), EpochStart(3, 4))),
        ((), 0, ALL),
    ],
)
def test_a_broker_has_the_epochs_of_its_checkpoint_and_of_what_it_recovers(
    noted: tuple[tuple[int, int], ...],
    recovered_from: int | None,
    remembered: tuple[EpochStart, ...],
    folder: Path,
) -> None:
    if noted:
        epochs(folder, *noted)
    found = read_log(folder, clean=recovered_from is None, flushed=recovered_from or 0)

    assert found.epochs == ALL
    assert found.as_remembered.epochs == remembered
    assert (found.remembered is None) == (remembered == ALL)


@pytest.mark.parametrize(
    ("noted", "written"),
    [
        (((1, 0), (3, 4)), ALL),  # one in the middle is missing
        (((1, 0), (2, 1), (3, 4)), ALL),  # one begins where there are records of another
        (((1, 0), (2, 3), (3, 4)), ALL),  # one begins behind its first record
        (((1, 0), (2, 2), (3, 4), (5, 5)), ALL),  # one begins at the end
    ],
)
def test_the_records_say_which_epoch_wrote_them(
    noted: tuple[tuple[int, int], ...], written: tuple[EpochStart, ...], folder: Path
) -> None:
    epochs(folder, *noted)

    assert read_log(folder, clean=True).epochs == written


def test_of_records_that_were_compacted_the_checkpoint_says_the_epoch(tmp_path: Path) -> None:
    log(tmp_path, [(2, 1), (9, 4)])
    epochs(tmp_path, (1, 0), (2, 3), (3, 5), (4, 7))
    found = read_log(tmp_path, clean=True)

    assert found.epochs == (EpochStart(1, 0), EpochStart(2, 3), EpochStart(3, 5), EpochStart(4, 7))
    assert found.remembered is None


def test_an_epoch_behind_the_end_keeps_those_of_recovered_records_out(tmp_path: Path) -> None:
    """`LogSegment.recover` notes only epochs above all that the broker has, and drops that one afterwards."""
    log(tmp_path, [(0, 1), (1, 2)])
    epochs(tmp_path, (1, 0), (5, 7))

    assert read_log(tmp_path).as_remembered.epochs == (EpochStart(1, 0),)


@pytest.mark.parametrize(("noted", "flushed"), [(((1, 0), (2, 7)), 0), (((1, 0),), 7)])
def test_a_checkpoint_may_know_of_more_than_the_log_has(
    noted: tuple[tuple[int, int], ...], flushed: int, tmp_path: Path
) -> None:
    log(tmp_path, [(0, 1), (1, 1)])
    epochs(tmp_path, *noted)
    found = read_log(tmp_path, flushed=flushed)

    assert (found.end, found.noted_end) == (2, 7)


@pytest.mark.parametrize(
    ("noted", "start", "gaps"),
    [(((1, 0),), 0, ((0, 20),)), (((1, 20),), 0, ()), (((1, 0),), 22, ()), ((), 0, ())],
)
def test_the_first_segment_may_be_missing(
    noted: tuple[tuple[int, int], ...], start: int, gaps: tuple[tuple[int, int], ...], tmp_path: Path
) -> None:
    log(tmp_path, [(n, 1) for n in range(20, 30)], segment=20)
    epochs(tmp_path, *noted)

    assert read_log(tmp_path, clean=True, start=start).gaps == gaps


def test_a_log_that_starts_behind_its_records_is_dropped(tmp_path: Path) -> None:
    log(tmp_path, [(0, 1), (1, 1)])

    assert read_log(tmp_path, start=2).dropped is None
    assert read_log(tmp_path, start=3).dropped == 2


def test_records_of_an_old_format_come_before_all_epochs(tmp_path: Path) -> None:
    (tmp_path / f"{0:020}.log").write_bytes(old_record(0) + old_record(1) + batch(2, [b"new"], 4))
    epochs(tmp_path, (4, 2))
    found = read_log(tmp_path)

    assert (found.old_end, found.epochs) == (2, (EpochStart(4, 2),))


def test_what_compaction_has_finished_takes_the_place_of_what_it_was_made_from(tmp_path: Path) -> None:
    for base in (0, 10, 20):
        log(tmp_path, [(n, 1) for n in range(base, base + 10)], segment=base)
    new = log(tmp_path, [(4, 1), (19, 1)])
    new = new.rename(new.with_suffix(".log.swap"))

    assert segments(tmp_path) == [(0, new), (20, tmp_path / f"{20:020}.log")]
    assert read_log(tmp_path).gaps == ()


def test_what_compaction_has_not_finished_goes(tmp_path: Path) -> None:
    """So does what a split has finished behind it (KAFKA-6264)."""
    old = log(tmp_path, [(n, 1) for n in range(10)])
    old.with_suffix(".log.cleaned").write_bytes(old.read_bytes()[:-1])
    (tmp_path / f"{5:020}.log.swap").write_bytes(old.read_bytes())
    (tmp_path / f"{0:020}.log.deleted").write_bytes(old.read_bytes())

    assert segments(tmp_path) == [(0, old)]
