"""The command with directories that are wrong, broken or incomplete, and with limits."""

from __future__ import annotations

import fcntl
import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.kafka.files.crc32c import crc32c
from modelcheck.kafka.incident.explain_log.product import ObservationProduct
from tests.modelcheck.conftest import CLUSTERS
from tests.modelcheck.kafka.files.written import batch

METADATA = Path("__cluster_metadata-0") / f"{0:020}.log"
CHECKSUM = 17  # where a batch has it; what it is of comes behind
LEADER = bytes([0x01, 0x04])  # tag 1, four bytes
ISR_OF_ONE = bytes([0x00, 0x05, 0x02])  # tag 0, five bytes, an array of one


def asked(capsys: pytest.CaptureFixture[str], *args: Path | str) -> tuple[int, dict[str, Any]]:
    code = main(["kafka", "explain-log", *map(str, args), "--partition", "orders-0", "--json"])
    (found,) = json.loads(capsys.readouterr().out)["partitions"]
    assert isinstance(found, dict)
    return code, found


def edit(path: Path, old: bytes, new: bytes) -> None:
    """Change all bytes of a segment that are so, and make the checksums of their batches right again."""
    data = bytearray(path.read_bytes().replace(old, new))
    begins = 0
    while begins < len(data):
        (size,) = struct.unpack_from(">i", data, begins + 8)
        rest = bytes(data[begins + CHECKSUM + 4 : begins + 12 + size])
        struct.pack_into(">I", data, begins + CHECKSUM, crc32c(rest))
        begins += 12 + size
    path.write_bytes(data)


# ------------------------------------------------------------------ what no run explains


def test_a_wrong_record_of_the_metadata_is_the_first_that_no_run_explains(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("power_loss")
    for segment in here.glob(f"*/{METADATA}"):
        edit(segment, ISR_OF_ONE + struct.pack(">i", 1), ISR_OF_ONE + struct.pack(">i", 3))
    code, found = asked(capsys, here)

    assert code == Exit.UNKNOWN
    assert found["explained"] is None
    assert found["unexplained"]["place"].endswith("__cluster_metadata-0 at offset 29")
    assert "in sync [3]" in found["unexplained"]["says"]


def test_an_election_of_who_is_not_in_sync_names_the_guard_that_refuses_it(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("leader_ahead")
    for segment in here.glob(f"*/{METADATA}"):  # the first leader is elected again, and not the second
        edit(segment, LEADER + struct.pack(">i", 2), LEADER + struct.pack(">i", 1))
    code, found = asked(capsys, here, "--faults", "1")

    assert code == Exit.UNKNOWN
    assert found["unexplained"]["place"].endswith("__cluster_metadata-0 at offset 30")
    assert any("guard" in text for text in found["unexplained"]["nearest"])


def test_a_high_watermark_that_nobody_can_have_had_is_refused(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("power_loss")
    checkpoint = here / "broker3" / "replication-offset-checkpoint"
    checkpoint.write_text(checkpoint.read_text().replace("orders 0 20", "orders 0 25"))
    code, found = asked(capsys, here, "--faults", "1")

    assert code == Exit.UNKNOWN
    assert found["unexplained"]["place"] == "broker3/replication-offset-checkpoint"


def test_a_log_of_an_epoch_that_nobody_led_is_refused(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("ends_differ")
    segment = here / "broker2" / "orders-0" / f"{0:020}.log"
    segment.write_bytes(segment.read_bytes() + batch(30, [b"v"], epoch=7))
    code, found = asked(capsys, here, "--faults", "3")

    assert code == Exit.UNKNOWN
    assert found["unexplained"]["place"] == "broker2/orders-0"


# ------------------------------------------------------------------ refused


def test_an_unknown_partition_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in ("order-0", "orders-1", "orders"):
        assert main(["kafka", "explain-log", str(CLUSTERS / "eligible"), "--partition", wrong]) == Exit.WRONG
        said = capsys.readouterr().err
        assert f"error[R0919]: the metadata log has no partition `{wrong}`, only: orders-0, quiet-0" in said


def test_directories_without_metadata_are_an_error_and_no_success(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("eligible")
    for folder in here.glob("*/__cluster_metadata-0"):
        shutil.rmtree(folder)

    assert main(["kafka", "explain-log", str(here)]) == Exit.WRONG
    assert "error[R0919]: no metadata log" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["explain-log", "inspect"])
def test_a_directory_that_is_not_there_is_an_error(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["kafka", command, str(tmp_path / "nowhere")]) == Exit.WRONG
    assert "error[R0904]: there is no such directory" in capsys.readouterr().err


def test_metadata_of_which_nothing_can_be_read_is_an_error_and_no_success(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("eligible")
    for segment in here.glob(f"*/{METADATA}"):
        segment.write_bytes(b"\0" * 200)

    assert main(["kafka", "explain-log", str(here)]) == Exit.WRONG
    assert "error[R0919]" in capsys.readouterr().err


def test_the_directory_of_a_running_broker_is_refused(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def held(*_: object) -> None:
        raise BlockingIOError

    here = copied("ends_differ")
    (here / "broker1" / ".lock").touch()
    monkeypatch.setattr(fcntl, "lockf", held)

    assert main(["kafka", "explain-log", str(here)]) == Exit.WRONG
    assert "error[R0916]" in capsys.readouterr().err


def test_a_copy_of_running_brokers_needs_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = asked(capsys, CLUSTERS / "ends_differ", "--copy")

    assert code == Exit.EXPECTED
    assert found["explained"]["faults"] == {}


@pytest.mark.parametrize("node", ["1", "9"])
def test_a_directory_that_is_here_or_nobodys_is_not_lost(
    node: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["kafka", "explain-log", str(CLUSTERS / "eligible"), "--lost", node]) == Exit.WRONG
    assert "error[R0903]" in capsys.readouterr().err


# ------------------------------------------------------------------ missing and damaged


def test_what_a_missing_broker_had_is_free_and_this_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    here = CLUSTERS / "leader_ahead"
    code, found = asked(capsys, here / "broker2", here / "broker3", here / "controller")

    assert code == Exit.EXPECTED
    assert any(text.startswith("Not here: broker 1;") for text in found["basis"])


def test_a_metadata_log_cut_off_is_read_as_far_as_it_goes(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("power_loss")
    for segment in here.glob(f"*/{METADATA}"):
        segment.write_bytes(segment.read_bytes()[:-5])
    code, found = asked(capsys, here)

    assert found["coverage"]["damaged"] == 1
    assert code in {Exit.EXPECTED, Exit.UNKNOWN}


def test_a_metadata_log_that_begins_with_a_snapshot_leaves_free_what_was_before(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("power_loss")
    for segment in here.glob(f"*/{METADATA}"):
        segment.rename(segment.with_name(f"{32:020}-{1:010}.checkpoint"))
    code, found = asked(capsys, here)

    assert code == Exit.EXPECTED
    assert any("does not go back to the beginning of the partition" in text for text in found["basis"])


def test_a_log_cut_off_in_a_batch_ends_before_it(
    copied: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    here = copied("ends_differ")
    segment = here / "broker2" / "orders-0" / f"{0:020}.log"
    segment.write_bytes(segment.read_bytes()[:-5])
    code, found = asked(capsys, here)

    assert code == Exit.EXPECTED
    assert sum(found["explained"]["faults"].values()) == 3


# ------------------------------------------------------------------ limits


def test_a_limit_is_not_known(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelcheck.kafka.incident.explain_log.run_search.EVERY", 1)
    code, found = asked(capsys, CLUSTERS / "leader_ahead", "--max-states", "5")

    assert code == Exit.UNKNOWN
    assert found["answer"] == "orders-0: not known (the limit of states is reached)"


def test_a_run_that_is_not_shown_to_be_the_cheapest_is_not_said_to_be(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where faults that must come are not known before, and no point is left to exclude cheaper runs."""
    for name in ("EVERY", "QUICK", "EACH", "PROVING", "REFINED"):
        monkeypatch.setattr(f"modelcheck.kafka.incident.explain_log.run_search.{name}", 1)
    monkeypatch.setattr(ObservationProduct, "due", lambda _product, _point: 0)
    _, found = asked(capsys, CLUSTERS / "ends_differ", "--faults", "4")
    faults = sum(found["explained"]["faults"].values())

    assert faults >= 3
    assert f"with {faults} faults (" in found["answer"]
    assert found["answer"].endswith(
        "; whether one with fewer explains it is not known: each has 1 fault or more"
    )


def test_without_a_limit_a_partition_has_a_budget_of_cpu_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modelcheck.kafka.incident.explain_log.run_search.EVERY", 1)
    monkeypatch.setattr("modelcheck.commands.kafka.explain_log.CPU", 1e-9)
    code, found = asked(capsys, CLUSTERS / "leader_ahead")
    longer, _ = asked(capsys, CLUSTERS / "leader_ahead", "--max-time", "1h")

    assert code == Exit.UNKNOWN
    assert found["answer"] == "orders-0: not known (the limit of time is reached)"
    assert longer == Exit.EXPECTED


def test_where_a_search_got_stuck_is_said_and_what_would_narrow_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("modelcheck.kafka.incident.explain_log.run_search.EVERY", 1)
    here = CLUSTERS / "leader_ahead"
    code, found = asked(capsys, here / "broker2", here / "broker3", here / "controller", "--max-states", "5")
    stuck = found["stuck"]

    assert code == Exit.UNKNOWN
    assert found["explained"] is found["unexplained"] is None
    assert 0 < stuck["explained"] < stuck["of"]
    assert "__cluster_metadata-0 at offset" in stuck["place"]
    assert any("broker1 is not here" in each for each in stuck["narrower"])
    assert stuck["narrower"][-1] == "`--max-states 50` looks for longer"


def test_what_got_stuck_is_told(
    golden: Callable[[str, str], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("modelcheck.kafka.incident.explain_log.run_search.EVERY", 1)
    here = str(CLUSTERS / "leader_ahead")
    main(["kafka", "explain-log", here, "--partition", "orders-0", "--max-states", "20"])
    golden("explain_log/stuck.txt", capsys.readouterr().out)


def test_an_answer_has_no_place_where_it_got_stuck(capsys: pytest.CaptureFixture[str]) -> None:
    _, found = asked(capsys, CLUSTERS / "leader_ahead")

    assert found["stuck"] is None


# ------------------------------------------------------------------ the newest part


def test_an_offset_that_no_log_has_begins_no_part(capsys: pytest.CaptureFixture[str]) -> None:
    here = str(CLUSTERS / "leader_ahead")

    assert (
        main(["kafka", "explain-log", here, "--partition", "orders-0", "--from-offset", "99"]) == Exit.WRONG
    )
    said = capsys.readouterr().err
    assert "error[R0903]: no log of orders-0 here has the record at this offset" in said
    assert "the longest one ends at 30" in said


def test_without_a_state_to_begin_with_all_is_explained_and_this_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, found = asked(capsys, CLUSTERS / "leader_ahead", "--from-epoch", "0")

    assert code == Exit.EXPECTED
    assert found["from_epoch"] is None
    assert any(each.startswith("All is explained: there is no later state") for each in found["basis"])


def test_too_few_faults_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = asked(capsys, CLUSTERS / "ends_differ", "--faults", "2")

    assert code == Exit.UNKNOWN
    assert "2 faults" in found["answer"]


def test_an_interruption_is_not_known(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ObservationProduct, "next", interrupted)
    code, found = asked(capsys, CLUSTERS / "leader_ahead")

    assert code == Exit.UNKNOWN
    assert found["answer"] == "orders-0: not known (interrupted)"
