"""What a broker knows of its log after its start (`LogLoader`, `LogSegment.recover`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelcheck.kafka.files.checkpoints import EpochStart
from modelcheck.kafka.files.partition_log import read_log
from tests.modelcheck.kafka.files.written import epochs, log


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
