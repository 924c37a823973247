"""Of two log directories one fails: what a broker then says of its end holds for the other one alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelcheck.kafka.files.checkpoints import TopicPartition
from modelcheck.kafka.files.messages.lines import LogLine, read_log_file
from modelcheck.kafka.files.messages.templates import Says
from modelcheck.kafka.incident.explain_log.line_observations import of_its_directory

FAILED = "WARN Logs for partitions b-0,d-0 are offline and logs for future partitions  are offline due to"
FAILED += " failure on log directory /d2 (kafka.log.LogManager)"
STOPPED = "INFO [BrokerServer id=2] shut down completed (kafka.server.BrokerServer)"
STARTS = "INFO [BrokerServer id=2] Transition from SHUTDOWN to STARTING (kafka.server.BrokerServer)"
CLEAN = "INFO Skipping recovery of 4 logs from /d1 since clean shutdown file was found (kafka.log.LogManager)"
UNCLEAN = "INFO Recovering 4 logs from /d2 since no clean shutdown file was found (kafka.log.LogManager)"


def said(folder: Path, place: str, *lines: str) -> list[Says]:
    """What the lines say that hold for a partition's directory."""
    log = folder / "server.log"
    log.write_text("".join(f"[2026-11-27 23:57:32,352] {line}\n" for line in lines))
    wanted = TopicPartition(place, 0)
    found: list[LogLine] = [
        each for each in read_log_file(log, [wanted], lambda _: None).matched if each.place in {None, wanted}
    ]
    return [each.says for each in of_its_directory(found)]


@pytest.mark.parametrize(("topic", "expected"), [("b", [Says.OFFLINE]), ("a", [Says.STOPPED])])
def test_a_shutdown_is_clean_for_the_directory_that_has_not_failed(
    topic: str, expected: list[Says], tmp_path: Path
) -> None:
    assert said(tmp_path, topic, FAILED, STOPPED) == expected


def test_a_broker_that_has_started_again_has_all_its_directories(tmp_path: Path) -> None:
    assert said(tmp_path, "b", FAILED, STARTS, STOPPED) == [Says.OFFLINE, Says.STARTS, Says.STOPPED]


def test_directories_that_were_left_in_two_ways_say_nothing_of_one(tmp_path: Path) -> None:
    assert said(tmp_path, "a", STARTS, CLEAN, UNCLEAN) == [Says.STARTS]
    assert said(tmp_path, "a", STARTS, CLEAN, STOPPED, STARTS, UNCLEAN) == [
        Says.STARTS,
        Says.WAS_CLEAN,
        Says.STOPPED,
        Says.STARTS,
        Says.WAS_UNCLEAN,
    ]
