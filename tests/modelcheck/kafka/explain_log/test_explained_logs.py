"""What the lines of logs tell beside directories, and what is wrong with logs."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from tests.modelcheck.conftest import CLUSTERS

LOGS = Path("logs")
ZOOKEEPER = CLUSTERS.parent / "zookeeper"


def asked(capsys: pytest.CaptureFixture[str], *args: Path | str) -> tuple[int, dict[str, Any]]:
    code = main(["kafka", "explain-log", *map(str, args), "--partition", "orders-0", "--json"])
    (found,) = json.loads(capsys.readouterr().out)["partitions"]
    assert isinstance(found, dict)
    return code, found


def refused(capsys: pytest.CaptureFixture[str], *args: Path | str) -> str:
    assert main(["kafka", "explain-log", *map(str, args), "--partition", "orders-0"]) == Exit.WRONG
    return capsys.readouterr().err


def places(found: dict[str, Any], action: str) -> list[str]:
    """The evidence of the first step of an action."""
    step = next(each for each in found["explained"]["steps"] if each["action"] == action)
    return [each["place"] for each in step["evidence"]]


# ------------------------------------------------------------------ what they tell


def test_what_was_cut_away_is_told_by_lines_and_by_no_directory(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("truncated")
    code, found = asked(capsys, here, "--acks", "1")

    assert code == Exit.VIOLATED
    assert found["explained"]["faults"] == {"crash": 1}
    kept = next(each for each in found["explained"]["lost"] if each["property"] == "acknowledged_kept")
    assert kept["offsets"] == [{"start": 20, "end": 30}]
    assert any(place.startswith("broker1/server.log:") for place in places(found, "become_follower"))
    shutil.rmtree(here / LOGS)
    code, found = asked(capsys, here, "--acks", "1")

    assert code == Exit.EXPECTED
    assert found["explained"]["faults"] == {}


def test_a_broker_that_returns_without_a_registration_did_not_restart(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    _, told = asked(capsys, CLUSTERS / "paused")
    _, gaps = asked(capsys, CLUSTERS / "paused", "--gaps")

    assert told["explained"]["faults"] == {"cut_off": 1}
    assert gaps["explained"]["faults"] == {"cut_off": 1}  # the metadata log shows it without any log
    assert any("--gaps" in text for text in told["basis"])


def test_lines_that_contradict_the_rest_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begin = "[2024-05-01 12:00:00,000] INFO ["
    loaded = "Log loaded for partition orders-0 with initial high watermark 0 (kafka.cluster.Partition)"
    lines = [
        f"{begin}Partition orders-0 broker=2] {loaded}",
        f"{begin}UnifiedLog partition=orders-0, dir=/d] Truncating to offset 20 (kafka.log.UnifiedLog)",
    ]
    (tmp_path / "server.log").write_text("".join(f"{line}\n" for line in lines))
    log = tmp_path / "server.log"
    code, found = asked(capsys, CLUSTERS / "ends_differ", log, "--copy", "--faults", "0")

    assert code == Exit.UNKNOWN
    assert found["unexplained"]["place"].endswith("server.log:2")


def test_rotated_and_packed_logs_say_the_same(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("paused")
    _, before = asked(capsys, here)
    folder = here / LOGS / "broker3"
    lines = (folder / "server.log").read_text().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if "Log loaded for partition orders-0" in line)
    with gzip.open(folder / "server.log.2026-11-24-21.gz", "wt") as file:
        file.writelines(lines[:first])
    (folder / "server.log.2026-11-24-22").write_text("".join(lines[first : first + 1]))
    (folder / "server.log").write_text("".join(lines[first + 1 :]))
    _, after = asked(capsys, here)
    shown = [each["place"] for step in after["explained"]["steps"] for each in step["evidence"]]

    assert [each["name"] for each in after["explained"]["steps"]] == [
        each["name"] for each in before["explained"]["steps"]
    ]
    assert after["lines"]["matched"] == before["lines"]["matched"]
    assert "broker3/server.log.2026-11-24-22:1" in shown


def test_logs_may_be_given_as_files(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("paused")
    log = shutil.move(here / LOGS / "broker3" / "server.log", here / "one.txt")
    shutil.rmtree(here / LOGS)
    _, found = asked(capsys, here, f"3={log}")

    assert found["lines"]["files"] == 1
    assert found["explained"]["faults"] == {"cut_off": 1}


# ------------------------------------------------------------------ logs alone


def test_logs_alone_find_the_run_too(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = asked(capsys, CLUSTERS / "truncated" / LOGS, "--acks", "1")
    (kept,) = [each for each in found["explained"]["lost"] if each["property"] == "acknowledged_kept"]

    assert code == Exit.VIOLATED
    assert found["explained"]["faults"] == {"crash": 1}
    assert kept["offsets"] == [{"start": 20, "end": 30}]
    assert any(text.startswith("There is no metadata log:") for text in found["basis"])
    assert any("as Kafka 3.9.1 does it" in text for text in found["basis"])


@pytest.mark.nightly
def test_logs_of_a_real_cluster_with_zookeeper_find_its_run(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = asked(capsys, ZOOKEEPER, "--acks", "1", "--max-time", "10m")  # one to two minutes
    (kept,) = [each for each in found["explained"]["lost"] if each["property"] == "acknowledged_kept"]
    stopped = [each["name"] for each in found["explained"]["steps"] if each["action"] == "shut_down"]

    assert code == Exit.VIOLATED
    assert found["explained"]["faults"] == {"isolate": 1, "crash": 1}  # a broker was paused, and one killed
    assert kept["offsets"] == [{"start": 20, "end": 30}]
    assert stopped == ["shut_down(broker1)", "shut_down(broker3)", "shut_down(broker2)"]
    assert found["lines"]["unknown"] == 0


def test_logs_of_a_cluster_with_zookeeper_are_ordered_by_their_versions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def write(name: str, *lines: str) -> None:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("".join(f"[2021-05-01 12:00:00,000] INFO {line}\n" for line in lines))

    changed = "[Controller id=1 epoch=1] Changed partition orders-0 from"
    state = (
        "to OnlinePartition with state LeaderAndIsr(leader={}, leaderEpoch={}, isr=List({}), zkVersion={})"
    )
    logger = "(state.change.logger)"
    write(
        "1/state-change.log",
        f"{changed} NewPartition {state.format(1, 0, '1, 2', 0)} {logger}",
        "[Broker id=1] Leader orders-0 starts at leader epoch 0 from offset 0 with high watermark 0 ISR [1,2]"
        f" addingReplicas [] removingReplicas []. Previous leader epoch was -1. {logger}",
    )
    write(
        "1/server.log",
        "Kafka version: 2.8.1 (org.apache.kafka.common.utils.AppInfoParser)",
        "[Partition orders-0 broker=1] Shrinking ISR from 1,2 to 1. Leader: (highWatermark: 5, endOffset: 9)."
        " Out of sync replicas: (brokerId: 2, endOffset: 5). (kafka.cluster.Partition)",
        "[Partition orders-0 broker=1] ISR updated to 1 and version updated to [1] (kafka.cluster.Partition)",
    )
    write(
        "2/state-change.log",
        "[Broker id=2] Follower orders-0 starts at leader epoch 0 from offset 0 with high watermark 0."
        f" Previous leader epoch was -1. {logger}",
        f"{changed} OfflinePartition {state.format(2, 1, '2', 2)} {logger}".replace("id=1", "id=2"),
        "[Broker id=2] Leader orders-0 starts at leader epoch 1 from offset 5 with high watermark 5 ISR [2]"
        f" addingReplicas [] removingReplicas []. Previous leader epoch was 0. {logger}",
    )
    code, found = asked(capsys, tmp_path, "--acks", "1")
    steps = [step["action"] for step in found["explained"]["steps"]]

    assert code == Exit.VIOLATED
    assert "elect_unclean" in steps
    assert found["explained"]["lost"][0]["offsets"][-1]["end"] == 9
    assert any("as Kafka 2.8.1 does it" in text for text in found["basis"])


# ------------------------------------------------------------------ what is wrong with them


def test_a_file_that_is_no_log_is_refused(
    tmp_path: Path, copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("nothing of Kafka\n")
    (copied("truncated") / LOGS / "broker1" / "server.log").write_bytes(b"\x80\x81\0" * 500)

    assert "error[R0924]" in refused(capsys, CLUSTERS / "paused", tmp_path / "notes.txt")
    assert "error[R0924]" in refused(capsys, tmp_path / "truncated")


def test_logs_that_say_nothing_of_the_partition_are_an_error_and_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "[2024-05-01 12:00:00,000] INFO [SocketServer] nothing of ours (kafka.network.SocketServer)\n"
    (tmp_path / "server.log").write_text(line * 3)
    said = refused(capsys, CLUSTERS / "ends_differ", tmp_path / "server.log")

    assert "error[R0925]: of 3 lines in these logs none says anything of orders-0" in said
    (tmp_path / "server.log").write_text("")

    assert "error[R0925]" in refused(capsys, CLUSTERS / "ends_differ", tmp_path / "server.log")


def test_two_brokers_in_one_log_are_refused(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    logs = copied("truncated") / LOGS
    both = [(logs / name / "server.log").read_text() for name in ("broker1", "broker2")]
    (logs / "broker1" / "server.log").write_text("".join(both))
    said = refused(capsys, logs.parent)

    assert "error[R0918]: line 4 is of broker 1, and line 226 is of broker 2" in said


def test_one_log_in_two_places_is_refused(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    logs = copied("truncated") / LOGS
    shutil.copytree(logs / "broker1", logs / "again")

    assert "error[R0918]" in refused(capsys, logs.parent)


def test_a_log_of_another_broker_than_was_said_is_refused(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("truncated")

    assert "error[R0918]" in refused(
        capsys, f"2={here / LOGS / 'broker1' / 'server.log'}", CLUSTERS / "paused"
    )
