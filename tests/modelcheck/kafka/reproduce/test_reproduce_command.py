"""`modelcheck kafka reproduce` with input that is wrong, a Kafka that does not start, and Ctrl-C."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from counterexamples.itf.write import write
from counterexamples.trace import Trace
from modelcheck.contract.exits import Exit
from modelcheck.kafka.reproduce.cluster import Cluster, free_port, until
from modelcheck.kafka.reproduce.installation import Home, find
from spec.diagnostics import SpecError
from tools.reproduce_table import PREDICTIONS, read, table

ROOT = Path(__file__).parents[4]
Command = Callable[..., tuple[int, str, str]]
Counterexample = Callable[[str], Trace]


@pytest.fixture
def trace(counterexample: Counterexample, tmp_path: Path) -> Path:
    """A run in a file, so that nothing has to be searched."""
    path = tmp_path / "acks_one.itf.json"
    path.write_text(write(counterexample("acks_one")))
    return path


# ------------------------------------------------------------------ wrong input


def test_a_folder_without_a_kafka_is_refused(run: Command, trace: Path, tmp_path: Path) -> None:
    code, _, told = run("kafka", "reproduce", str(trace), "--kafka-home", str(tmp_path))

    assert code == Exit.WRONG
    assert "error[R0930]" in told
    assert "is no Kafka" in told


def test_without_java_nothing_is_started(
    run: Command, trace: Path, false_home: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = false_home("exit 1")
    monkeypatch.setenv("PATH", "")
    code, _, told = run("kafka", "reproduce", str(trace), "--kafka-home", str(home))

    assert code == Exit.WRONG
    assert "error[R0930]: no Java runtime was found" in told


def test_a_run_of_another_protocol_is_refused_with_the_models_that_are_driven(
    run: Command, trace: Path, tmp_path: Path, false_home: Callable[[str], Path]
) -> None:
    data = json.loads(trace.read_text())
    data["#meta"]["modelcheck"]["model"] = "raft"
    other = tmp_path / "other.itf.json"
    other.write_text(json.dumps(data))
    code, _, told = run("kafka", "reproduce", str(other), "--kafka-home", str(false_home("exit 1")))

    assert code == Exit.WRONG
    assert "error[R0931]: `raft` is no model of a partition of Kafka" in told
    assert "these are in: kafka, " in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("quorum", "--check", "any_n"), "`proved` is no model of a partition of Kafka"),
        (("kafka", "--check", "acks_all"), "acks_all has no run in which a record is lost"),
        (("kafka",), "and an attempt is of one"),
        (("kafka", "--check", "jepsen"), "truncation = own_high_watermark: Kafka 4.1.0 cannot be made to"),
        (("kafka", "--check", "acks_one", "--under", "usual"), "usual has 3 brokers, and the run 2"),
        (("kafka", "--check", "acks_one", "--times", "0"), "--times: give a number from 1"),
    ],
)
def test_what_cannot_be_tried_is_said_before_anything_starts(
    words: tuple[str, ...], said: str, run: Command, false_home: Callable[[str], Path]
) -> None:
    code, _, told = run("kafka", "reproduce", *words, "--kafka-home", str(false_home("exit 1")))

    assert code == Exit.WRONG
    assert said in " ".join(told.split())


@pytest.mark.parametrize(
    ("release", "words", "said"),
    [
        (
            "3.9.1",
            ("kafka_eligible", "--check", "eligible_all_lost"),
            "Kafka 3.9.1 has no eligible leader replicas: they came with 4.0",
        ),
        (
            "3.3.2",
            ("kafka_replaced_disk", "--check", "empty_leads_later"),
            "the controller of Kafka 3.3.2 knows no directories: they came with 3.7",
        ),
        (
            "4.3.1",
            ("kafka_replaced_disk", "--check", "eligible_forgotten"),
            "directory_keeps_eligible = false: Kafka 4.3.1 cannot be made to",
        ),
        (
            "4.2.2",
            ("kafka_replaced_disk", "--check", "eligible_forgotten", "--under", "eligible_remembered"),
            "directory_keeps_eligible = true: Kafka 4.2.2 cannot be made to",
        ),
        (
            "2.8.2",
            ("kafka", "--check", "acks_one"),
            "Kafka 2.8.2: the preview of KRaft before 3.0 is not driven, nor are clusters with ZooKeeper",
        ),
    ],
)
def test_what_a_release_has_not_got_is_refused(
    release: str, words: tuple[str, ...], said: str, false_home: Callable[..., Path], run: Command
) -> None:
    pytest.importorskip("kafka")
    code, _, told = run("kafka", "reproduce", *words, "--kafka-home", str(false_home("exit 1", release)))

    assert code == Exit.WRONG
    assert said in " ".join(told.split())


@pytest.mark.parametrize(("release", "told"), [("3.7.2", ""), ("3.9.1", "node100.cluster")])
def test_a_controller_tells_the_name_that_links_lead_to(
    release: str, told: str, tmp_path: Path, false_home: Callable[..., Path]
) -> None:
    home = find(false_home("exit 1", release))
    with Cluster(home, tmp_path, 2, settings={}, controllers={}, features=()):
        lines = (tmp_path / "100.properties").read_text().splitlines()
    found = [line for line in lines if line.startswith("advertised.listeners=")]

    assert [told in line for line in found] == ([True] if told else [])


def test_a_step_that_cannot_be_forced_is_named(run: Command, false_home: Callable[[str], Path]) -> None:
    home = str(false_home("exit 1"))
    code, said, _ = run("kafka", "reproduce", "kafka", "--check", "acks_zero", "--kafka-home", home)

    assert code == Exit.UNKNOWN
    assert "acks_zero on Kafka 4.1.0: could not" in said
    assert "step 1: the link between the producer and the leader cannot be cut" in said


def test_a_page_is_written_though_a_step_cannot_be_forced(
    run: Command, tmp_path: Path, false_home: Callable[[str], Path]
) -> None:
    words = ("kafka", "reproduce", "kafka", "--check", "acks_zero", "--kafka-home", str(false_home("exit 1")))
    code, _, told = run(*words, "--html", "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")

    assert code == Exit.UNKNOWN
    assert "modelcheck: wrote page.html" in told
    assert "acks_zero on Kafka 4.1.0: could not" in page
    assert "modelcheck kafka reproduce kafka --check acks_zero --kafka-home" in page


def test_a_page_is_not_written_over_a_file_of_others(
    run: Command, tmp_path: Path, false_home: Callable[[str], Path]
) -> None:
    (tmp_path / "page.html").write_text("mine")
    words = ("kafka", "reproduce", "kafka", "--check", "acks_zero", "--kafka-home", str(false_home("exit 1")))
    code, _, told = run(*words, "--html", "page.html")

    assert code == Exit.WRONG
    assert "error[R0913]" in told
    assert (tmp_path / "page.html").read_text() == "mine"


def test_a_folder_that_is_kept_has_to_be_empty(
    run: Command, trace: Path, tmp_path: Path, false_home: Callable[[str], Path]
) -> None:
    home = str(false_home("exit 1"))
    code, _, told = run("kafka", "reproduce", str(trace), "--kafka-home", home, "--keep", str(tmp_path))

    assert code == Exit.WRONG
    assert "and not an empty folder" in told


# ------------------------------------------------------------------ what does not start, or is stopped


def test_of_a_kafka_that_does_not_start_the_last_lines_are_shown(
    run: Command, trace: Path, false_home: Callable[[str], Path]
) -> None:
    pytest.importorskip("kafka")
    frames = "for each in $(seq 30); do echo '\tat kafka.Kafka.main(Kafka.scala)'; done; echo '\t... 6 more'"
    home = false_home(f"echo 'ERROR no room for a heap'; {frames}; exit 1")
    code, _, told = run("kafka", "reproduce", str(trace), "--kafka-home", str(home))

    assert code == Exit.WRONG
    assert "error[R0932]" in told
    assert "has ended unexpectedly" in told
    assert "ERROR no room for a heap" in told
    assert "Kafka.scala" not in told
    assert "6 more" not in told


@pytest.mark.skipif(sys.platform != "linux", reason="has further addresses of this machine")
def test_a_port_that_is_taken_meanwhile_is_named(
    run: Command, trace: Path, false_home: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = str(false_home("exit 1"))
    with socket.create_server(("127.77.1.2", 0)) as other:
        port = other.getsockname()[1]
        monkeypatch.setattr("modelcheck.kafka.reproduce.cluster.free_port", lambda *_: port)
        code, _, told = run("kafka", "reproduce", str(trace), "--kafka-home", home)

    assert code == Exit.WRONG
    assert "error[R0932]: a port that was free a moment ago is in use" in told
    assert "Address already in use" in told


def test_ports_are_not_given_twice_and_where_none_is_free_that_is_said() -> None:
    first = free_port(["127.0.0.1"])

    assert free_port(["127.0.0.1"], [first]) != first
    with pytest.raises(SpecError, match=r"no port is free at 127\.0\.0\.1"):
        free_port(["127.0.0.1"], range(1 << 16))
    with pytest.raises(SpecError, match=r"no port is free at 192\.0\.2\.1"):
        free_port(["192.0.2.1"])  # an address of documents only (RFC 5737)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at the processes of this machine")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_it_ends_no_process_is_left(
    number: int, trace: Path, tmp_path: Path, false_home: Callable[[str], Path]
) -> None:
    pytest.importorskip("kafka")
    home = false_home(f"echo $$ >> {tmp_path}/started; exec sleep 1000")
    words = [sys.executable, "-m", "modelcheck", "kafka", "reproduce", str(trace), "--kafka-home", str(home)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(words, cwd=ROOT, env=environment, stderr=subprocess.PIPE) as program:
        started = tmp_path / "started"
        assert until(lambda: started.exists() and len(started.read_text().split()) == 3, 60)
        nodes = [int(each) for each in started.read_text().split()]
        assert all(map(is_running, nodes))
        program.send_signal(number)
        code = program.wait(timeout=60)

    assert until(lambda: not any(map(is_running, nodes)), 20)
    if number != signal.SIGKILL:
        assert code == Exit.UNKNOWN
        assert list(tmp_path.glob("modelcheck-kafka-*")) == []


def is_running(process: int) -> bool:
    try:
        return "sleep" in Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return False


def test_a_home_may_be_named_by_its_jars(false_home: Callable[[str], Path]) -> None:
    home = false_home("exit 1")

    assert find(home).version == find(home / "libs").version == "4.1.0"
    assert find(home).release == (4, 1)
    with pytest.raises(SpecError, match="is no Kafka"):
        find(home / "bin")


# ------------------------------------------------------------------ the table


def test_the_table_in_the_page_is_that_of_what_was_tried() -> None:
    page = (ROOT / "docs/explanation/predictions.md").read_text(encoding="utf-8")

    assert table(read()) in page
    assert set(read()) <= {each.name for each in PREDICTIONS}


def test_a_cell_that_was_not_tried_is_empty_and_one_that_differs_is_bold() -> None:
    first, second = PREDICTIONS[:2]
    rows = table(
        {
            first.name: {"3.9.1": {"model": "lost", "cluster": "lost"}},
            second.name: {"4.1.0": {"model": "kept", "cluster": "lost"}},
        }
    ).splitlines()

    assert rows[0].endswith("| Kafka 3.9.1 | Kafka 4.1.0 |")
    assert rows[2].endswith("| lost | lost |  |")
    assert rows[3].endswith("| kept |  | **lost** |")


# ------------------------------------------------------------------ on a real cluster


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the client's library
def test_a_real_cluster_with_another_configuration_loses_nothing(real_home: Home, run: Command) -> None:
    words = ("kafka", "reproduce", "kafka", "--check", "acks_one", "--under", "acks_all", "--json")
    for _ in range(2):  # on a machine that is busy a broker may lose its session, which is another run
        code, said, told = run(*words, "--kafka-home", str(real_home.libs))
        gc.collect()  # what that library leaves open is told here, and not in another test
        if code == Exit.EXPECTED:
            break

    assert code == Exit.EXPECTED, (said, told)
    found = json.loads(said)
    assert found["came"] == "survived"
    assert found["as_foretold"] is True
