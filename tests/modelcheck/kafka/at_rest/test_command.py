"""The command with directories that are broken, incomplete, mixed up or not Kafka's."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.kafka.files import partition_log
from modelcheck.kafka.files.directories import read_directory
from modelcheck.kafka.files.metadata.records import ConfigSet
from modelcheck.kafka.incident.at_rest import directories
from tests.modelcheck.conftest import CLUSTERS
from tests.modelcheck.kafka.files.made_cluster import MadeCluster
from tests.modelcheck.kafka.files.written import batch, epochs, log


def asked(capsys: pytest.CaptureFixture[str], *args: Path | str) -> tuple[int, dict[str, Any]]:
    code = main(["kafka", "inspect", *map(str, args), "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, found


def topic(found: dict[str, Any], name: str) -> dict[str, Any]:
    (one,) = (each for each in found["partitions"] if each["topic"] == name)
    assert isinstance(one, dict)
    return one


def broker(path: Path, node: int, cluster: str = "c") -> Path:
    path.mkdir(parents=True)
    (path / "meta.properties").write_text(f"version=0\nbroker.id={node}\ncluster.id={cluster}\n")
    return path


# ------------------------------------------------------------------ refused


def test_a_directory_without_kafka_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kafka", "inspect", str(tmp_path)]) == Exit.WRONG
    assert "error[R0915]: nothing of Kafka is in this directory" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["nothing", "file"])
def test_what_is_no_directory_is_an_error(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("x")

    assert main(["kafka", "inspect", str(tmp_path / name)]) == Exit.WRONG
    assert "error[R0904]" in capsys.readouterr().err


def test_directories_of_two_clusters_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = broker(tmp_path / "a", 1, "here"), broker(tmp_path / "b", 2, "there")

    assert main(["kafka", "inspect", str(one), str(two)]) == Exit.WRONG
    assert "error[R0917]: this is of cluster there" in capsys.readouterr().err


def test_a_directory_given_twice_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = broker(tmp_path / "a", 1)

    assert main(["kafka", "inspect", str(one), str(one)]) == Exit.WRONG
    assert "error[R0918]" in capsys.readouterr().err


def test_two_copies_of_a_replica_are_refused(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("ends_differ")
    other = shutil.copytree(here / "broker1", here.parent / "older")

    assert main(["kafka", "inspect", str(here), str(other)]) == Exit.WRONG
    assert "orders-0 of node 1 is here and in" in capsys.readouterr().err


def test_whose_a_directory_is_can_be_said(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("ends_differ") / "broker1"
    (here / "meta.properties").unlink()

    assert main(["kafka", "inspect", str(here)]) == Exit.WRONG
    assert f"name its broker: 1={here}" in capsys.readouterr().err
    _, found = asked(capsys, f"1={here}")
    assert found["brokers"] == [1]


def test_the_directory_of_a_running_broker_is_refused(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def held(*_: object) -> None:  # a lock of this very process would not be felt
        raise BlockingIOError

    here = copied("ends_differ") / "broker1"
    (here / ".lock").touch()
    monkeypatch.setattr(fcntl, "lockf", held)

    assert main(["kafka", "inspect", str(here)]) == Exit.WRONG
    assert "error[R0916]: a running broker holds this directory" in capsys.readouterr().err
    assert main(["kafka", "inspect", str(here), "--copy"]) != Exit.WRONG


# ------------------------------------------------------------------ missing and damaged


def test_missing_brokers_leave_it_open(capsys: pytest.CaptureFixture[str]) -> None:
    here = CLUSTERS / "ends_differ"
    code, found = asked(capsys, here / "broker1", here / "controller")

    assert code == Exit.UNKNOWN
    assert topic(found, "orders")["missing"] == [2, 3]
    assert any(text.startswith("Not here: brokers 2 and 3 (--lost 2 --lost 3 ") for text in found["basis"])


def test_started_first_a_missing_broker_that_is_eligible_leads_only_after_a_clean_shutdown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    here = CLUSTERS / "eligible"
    _, found = asked(capsys, here / "broker2", here / "broker3", here / "controller")

    assert [text.rpartition(". ")[2] for text in topic(found, "orders")["why"] if "not here" in text] == [
        "Started first, it leads if it was shut down cleanly; else it is struck when it registers."
    ]


def test_started_first_a_missing_member_of_an_isr_that_shrinks_may_lead(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Others may have been dropped from the ISR by then, or it."""
    said = {}
    for name in ("ends_differ", "ends_differ_newer"):
        _, found = asked(capsys, CLUSTERS / name / "broker1", CLUSTERS / name / "controller")
        said[name] = [
            text.rpartition(". ")[2] for text in topic(found, "orders")["why"] if "not here" in text
        ]

    assert said == {
        "ends_differ": ["Started first, it leads, with more or with less than these."],
        "ends_differ_newer": ["Started first, it may lead, with more or with less than these."],
    }


# ------------------------------------------------------------------ lost disks


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        ("2", "the directory of broker 2 is here"),
        ("7", "there is no broker 7"),
        ("1:AAAAAAAAAAAAAAAAAAAAAA", "broker 1 has lost no such directory"),
    ],
)
def test_a_disk_that_is_here_or_of_nobody_is_not_lost(
    lost: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["kafka", "inspect", str(CLUSTERS / "last_lost"), "--lost", lost]) == Exit.WRONG
    assert f"error[R0903]: {message}" in capsys.readouterr().err


def test_what_is_no_disk_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kafka", "inspect", str(CLUSTERS / "last_lost"), "--lost", "one"]) == Exit.WRONG
    assert "`one` names no disk" in capsys.readouterr().err


def test_without_metadata_no_disk_is_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log(broker(tmp_path / "1", 1) / "t-0", [(0, 0)])

    assert main(["kafka", "inspect", str(tmp_path), "--lost", "2"]) == Exit.WRONG
    assert "error[R0903]: no metadata log is here" in capsys.readouterr().err


def test_a_member_of_the_isr_whose_disk_is_lost_is_not_to_start_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, unknown = asked(capsys, CLUSTERS / "last_lost")
    _, found = asked(capsys, CLUSTERS / "last_lost", "--lost", "1")
    (empty,) = (each for each in topic(found, "orders")["outcomes"] if each["leader"] == 1)

    assert [each["leader"] for each in topic(unknown, "orders")["outcomes"]] == [2, 3]
    assert (empty["how"], empty["end"], empty["lost"]) == ("in-sync", 0, 25)
    assert found["start"] == [2, 3, 1]
    assert topic(found, "orders")["by_hand"] is not None
    assert "Not here" not in " ".join(found["basis"])


def test_one_log_directory_of_several_can_be_lost(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Broker 2 had two; its other partition is well, but it cannot prove a clean shutdown any more."""
    here = copied("eligible")
    whole = read_directory(here / "broker2")
    second = broker(here / "disk2", 2, "MkU3OEVBNTcwNTJENDM2Qg")
    for name in ("quiet-0", ".kafka_cleanshutdown"):
        shutil.move(here / "broker2" / name, second / name)
    shutil.rmtree(here / "broker2")
    _, found = asked(capsys, here, "--lost", f"2:{whole.id}")
    ways = {
        name: {each["leader"]: each["how"] for each in topic(found, name)["outcomes"]}
        for name in ("orders", "quiet")
    }
    ends = {each["node"]: (each["end"], each["lost_disk"]) for each in topic(found, "orders")["replicas"]}

    assert ends == {1: (30, False), 2: (0, True), 3: (20, False)}
    assert [each["lost_disk"] for each in topic(found, "quiet")["replicas"]] == [False] * 3
    assert ways["orders"] == ways["quiet"] == {1: "eligible", 2: "by-hand", 3: "by-hand"}


def test_a_clean_shutdown_of_an_earlier_registration_keeps_nobody_eligible(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("eligible")
    (here / "broker1" / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":3}')
    _, found = asked(capsys, here)

    assert [each["how"] for each in topic(found, "orders")["outcomes"] if each["leader"] == 1] == ["by-hand"]
    assert any("Broker 1 has no proof" in text for text in topic(found, "orders")["why"])


def test_a_controller_that_is_not_here_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    _, found = asked(capsys, *sorted((CLUSTERS / "ends_differ").glob("broker?")))

    assert any("No controller's directory is here (10)" in text for text in found["basis"])
    assert found["metadata"]["controller_is_here"] is False


def test_without_metadata_the_logs_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for node, ends in ((1, 5), (2, 3)):
        folder = broker(tmp_path / f"{node}", node) / "t-0"
        log(folder, [(n, 0) for n in range(ends)])
        epochs(folder, (0, 0))
    code, found = asked(capsys, tmp_path)

    assert (code, found["metadata"]) == (Exit.VIOLATED, None)
    assert [each["how"] for each in topic(found, "t")["outcomes"]] == ["unknown", "unknown"]
    assert [each["lost"] for each in topic(found, "t")["outcomes"]] == [0, 2]


def test_a_log_cut_off_ends_before_the_damage(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("ends_differ")
    segment = here / "broker1" / "orders-0" / f"{0:020}.log"
    segment.write_bytes(segment.read_bytes()[:-5])
    code, found = asked(capsys, here)

    assert code == Exit.VIOLATED
    assert "the batch at offset 20 lacks its last 5 bytes" in found["problems"][0]
    assert [each["end"] for each in topic(found, "orders")["replicas"]] == [20, 30, 20]
    assert not topic(found, "quiet")["outcomes"][0]["lost"]


@pytest.mark.parametrize(("policy", "told"), [("delete", 1), ("compact,delete", 0)])
def test_a_segment_that_is_missing_is_told(
    policy: str, told: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = MadeCluster()
    cluster.produce(30)
    cluster.records.append(ConfigSet(2, "orders", "cleanup.policy", policy))
    cluster.write(tmp_path)
    folder = tmp_path / "broker1" / "orders-0"
    log(folder, [(n, 0) for n in range(10)])
    log(folder, [(n, 0) for n in range(20, 30)], segment=20)

    code, found = asked(capsys, tmp_path)

    assert [f"{folder}: no segment has offsets 10 to 19" in each for each in found["problems"]] == [
        True
    ] * told
    assert topic(found, "orders")["fine"] == (not told)
    assert any("log of broker 1 is not whole" in why for why in topic(found, "orders")["why"]) == bool(told)
    assert code == (Exit.UNKNOWN if told else Exit.EXPECTED)


def test_a_flipped_bit_is_found_where_a_broker_looks(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("power_loss")
    for node in (2, 3):  # these were shut down cleanly, so nobody looks
        segment = here / f"broker{node}" / "orders-0" / f"{0:020}.log"
        data = bytearray(segment.read_bytes())
        data[300] ^= 1
        segment.write_bytes(data)
    _, before = asked(capsys, here)
    _, after = asked(capsys, here, "--every-checksum")

    assert before["problems"] == []
    assert sum("fails its checksum" in problem for problem in after["problems"]) == 2
    assert not topic(after, "orders")["fine"]


def test_a_folder_that_is_gone_is_an_empty_log(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("ends_differ")
    shutil.rmtree(here / "broker1" / "orders-0")
    _, found = asked(capsys, here)
    (first,) = (each for each in topic(found, "orders")["outcomes"] if each["leader"] == 1)

    assert (first["end"], first["lost"], first["committed"]) == (0, 30, 20)
    assert any("has no folder" in text for text in topic(found, "orders")["why"])


def test_several_directories_of_one_broker_are_one_broker(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("ends_differ")
    second = broker(here / "disk2", 1, "MkU3OEVBNTcwNTJENDM2Qg")
    shutil.move(here / "broker1" / "orders-0", second / "orders-0")
    _, whole = asked(capsys, CLUSTERS / "ends_differ")
    _, split = asked(capsys, here)

    def ends(found: dict[str, Any]) -> list[int]:
        return [each["end"] for each in topic(found, "orders")["replicas"]]

    assert ends(split) == ends(whole)


def test_records_that_are_not_known_are_counted_and_said(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("ends_differ")
    for segment in here.glob("*/__cluster_metadata-0/*.log"):
        with segment.open("ab") as file:
            file.write(batch(23, [b"\x01\x63\x00", b"\x01\x03\x09"], 1))
    _, found = asked(capsys, here)

    assert any("1 of kind 3 version 9, 1 of kind 99 version 0" in text for text in found["basis"])


@pytest.mark.parametrize("text", ["nonsense", "0\n2\norders 0 20\n", "1\n0\n", "0\n1\norders x 20\n"])
def test_a_checkpoint_that_cannot_be_read_is_said(
    text: str, copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("ends_differ")
    (here / "broker1" / "replication-offset-checkpoint").write_text(text)
    _, found = asked(capsys, here)

    assert len(found["problems"]) == 1
    assert topic(found, "orders")["replicas"][0]["high_watermark"] is None


def test_all_is_well_after_a_clean_shutdown_with_nothing_missing(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("ends_differ")
    for node in (1, 2, 3):
        for name in (f"{0:020}.log", "leader-epoch-checkpoint"):
            shutil.copy(here / f"broker{node}" / "quiet-0" / name, here / f"broker{node}" / "orders-0" / name)
        (here / f"broker{node}" / "replication-offset-checkpoint").unlink()
    code = main(["kafka", "inspect", str(here)])
    out = capsys.readouterr().out

    assert code == Exit.EXPECTED
    assert out.startswith("Nothing that is here can still be lost, whoever starts first.\n")
    assert "2 partitions are fine." in out


def test_a_broker_without_leader_epochs_is_not_fine(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """It cuts its log by the high watermark, and as leader it cuts nobody back to where they differ."""
    here = copied("ends_differ")
    (here / "broker2" / ".kafka_cleanshutdown").touch()
    _, before = asked(capsys, here)
    (here / "broker2" / "quiet-0" / "leader-epoch-checkpoint").unlink()
    _, after = asked(capsys, here)

    assert topic(before, "quiet")["fine"]
    assert not topic(after, "quiet")["fine"]
    (problem,) = after["problems"]
    assert "quiet-0: leader-epoch-checkpoint does not say that epoch 0 began at 0" in problem


def test_what_is_fine_is_so_as_far_as_the_metadata_can_be_read(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("truncated")
    main(["kafka", "inspect", str(here)])
    before = capsys.readouterr().out
    for folder in sorted(here.rglob("__cluster_metadata-0")):
        segment = folder / f"{0:020}.log"
        segment.write_bytes(segment.read_bytes()[:-5])
    main(["kafka", "inspect", str(here)])
    after = capsys.readouterr().out

    assert "2 partitions are fine.\n" in before
    assert "2 partitions are fine, as far as the metadata log can be read.\n" in after


def test_a_folder_of_a_deleted_topic_is_left_out(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("ends_differ")
    folders = here / "broker1" / "orders-0", here / "broker1" / "quiet-0"
    shutil.copy(folders[1] / "partition.metadata", folders[0] / "partition.metadata")
    _, found = asked(capsys, here)

    assert "of another topic of this name" in found["problems"][0]
    assert topic(found, "orders")["replicas"][0]["folder"] is None


def test_records_that_only_a_former_replica_has_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A log that was left out: its broker deletes it at its start, or sets it aside (`findStrayReplicas`)."""
    cluster = MadeCluster()
    cluster.produce(100)
    cluster.kill(3)
    cluster.ends[3] = 150  # acknowledged by it alone, as with acks=1
    cluster.produce(10)
    cluster.reassign(1, 2)
    cluster.write(tmp_path)

    code, found = asked(capsys, tmp_path)

    assert topic(found, "orders")["only_on_others"] == {"3": 40}
    assert (
        "40 records are only on brokers that are no replicas any more: orders-0 (broker 3: 40)."
        in (found["answer"])
    )
    assert code == Exit.VIOLATED


def test_a_former_replica_that_has_nothing_of_its_own_is_no_matter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = MadeCluster()
    cluster.produce(100)
    cluster.stop(3)
    cluster.produce(10)
    cluster.reassign(1, 2)
    cluster.write(tmp_path)

    _, found = asked(capsys, tmp_path)

    assert topic(found, "orders")["only_on_others"] == {}
    assert "no replicas any more" not in found["answer"]


def test_what_was_read_before_an_interruption_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = partition_log.read_log
    left = [3]

    def interrupted(folder: Path, **options: Any) -> partition_log.PartitionLog:  # noqa: ANN401 - as it is
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return real(folder, **options)

    monkeypatch.setattr(directories, "read_log", interrupted)
    code, found = asked(capsys, CLUSTERS / "power_loss")

    assert code == Exit.VIOLATED
    assert found["problems"] == ["Interrupted: 1 of 2 partitions were not looked at."]
    assert [each["topic"] for each in found["partitions"]] == ["orders"]


@pytest.mark.parametrize("seed", range(12))
def test_spoilt_files_never_end_in_a_traceback(
    seed: int, copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    random = Random(seed)  # noqa: S311 - no secret
    here = copied(random.choice(["ends_differ", "last_lost", "leader_ahead", "power_loss"]))
    files = sorted(path for path in here.rglob("*") if path.is_file() and path.name != "cluster.json")
    for path in random.sample(files, 12):
        data = bytearray(path.read_bytes())
        match random.randrange(4):
            case 0:
                del data[random.randrange(len(data) + 1) :]
            case 1:
                data += random.randbytes(random.randrange(80))
            case 2:
                path.unlink()
                continue
            case _:
                for _ in range(random.randrange(1, 6) if data else 0):
                    data[random.randrange(len(data))] = random.randrange(256)
        path.write_bytes(data)
    code = main(["kafka", "inspect", str(here)])

    assert code in {Exit.EXPECTED, Exit.VIOLATED, Exit.WRONG, Exit.UNKNOWN}
    assert "Traceback" not in capsys.readouterr().err
