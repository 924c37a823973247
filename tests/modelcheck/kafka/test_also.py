"""What a review asks with `--also`: racks, restarts, directories, links, moves, settings, clients."""

from __future__ import annotations

import argparse
import json
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import spec.library as library
from modelcheck.cli import main
from modelcheck.commands.kafka.review import add_arguments
from modelcheck.kafka.questions.also.findings import SUBJECTS
from modelcheck.kafka.questions.also.findings import TRANSACTIONS as TRANSACTIONS_SUBJECT
from modelcheck.kafka.questions.also.inquiries import inquiries
from modelcheck.kafka.questions.partition import partition, with_spares
from modelcheck.kafka.questions.question import GUARANTEES
from modelcheck.kafka.settings.readers.recognition import read_text
from modelcheck.kafka.settings.resolution.settings import resolve
from spec.load import loads
from spec.meaning.semantics import Machine, Taken
from spec.source import Source

SCHEMA = json.loads((Path(__file__).parents[3] / "modelcheck/kafka/report/schema.json").read_text())

UNKNOWN = "no file has the racks of the replicas"

Run = Callable[..., Mapping[str, Any]]


@pytest.fixture
def asked(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """`asked("links", 3, "min.insync.replicas=2")`: what `--also links` finds, with one fault unless said."""
    monkeypatch.chdir(tmp_path)

    def run(
        what: str, replicas: int, *settings: str, kafka: str = "3.7", faults: int = 1
    ) -> Mapping[str, Any]:
        text = ["node.id=1", "process.roles=broker", f"default.replication.factor={replicas}", *settings, ""]
        Path("server.properties").write_text("\n".join(text))
        command = [
            "kafka",
            "review",
            "server.properties",
            "--kafka",
            kafka,
            "--faults",
            str(faults),
            "--json",
        ]
        main([*command, *(["--also", what] if what else [])])
        review = json.loads(capsys.readouterr().out)
        jsonschema.validate(review, SCHEMA)
        found: Mapping[str, Any] = {each["subject"]: each for each in review["also"]}
        return found[what] if what else found

    return run


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(words)


def lost_with(found: Mapping[str, Any]) -> list[tuple[str, int | None]]:
    return [(case["about"], case["lost_with"]) for case in found["cases"]]


def test_nothing_is_asked_unless_it_is_named(asked: Run) -> None:
    assert asked("", 1) == {}


def test_a_leader_that_clients_do_not_reach_stops_writes(asked: Run) -> None:
    found = asked("links", 2)

    assert lost_with(found) == [
        ("writable", None),
        ("writable", None),
        ("writable", 1),
        ("writable", None),
        ("durable", None),
    ]
    assert [step["action"] for step in found["cases"][2]["run"]] == ["hide"]


def test_where_all_replicas_must_be_in_sync_one_link_stops_writes(asked: Run) -> None:
    found = asked("links", 2, "min.insync.replicas=2")

    assert [step["action"] for step in found["cases"][0]["run"]] == ["part"]


def test_one_replica_has_no_link_to_another(asked: Run) -> None:
    found = asked("links", 1)

    assert [case["says"] for case in found["cases"] if "each other" in case["says"]] == []


def test_a_replica_that_was_just_added_may_be_elected_uncleanly(asked: Run) -> None:
    clean = asked("reassignment", 1)
    unclean = asked("reassignment", 1, "unclean.leader.election.enable=true", kafka="3.9")

    assert lost_with(clean) == [("durable", None), ("durable", 1), ("ends", 1)]
    assert clean["cases"][1]["says"].endswith("power loss, as without that")
    assert lost_with(unclean)[0] == ("durable", 1)
    assert "reassign" in [step["action"] for step in unclean["cases"][0]["run"]]
    assert unclean["cases"][0]["lost_without"] is None


@pytest.mark.parametrize(("kafka", "expected"), [("3.7", None), ("3.8", 1)])
def test_since_3_8_a_replica_that_stays_and_is_down_keeps_a_move_from_being_over(
    asked: Run, kafka: str, expected: int | None
) -> None:
    assert lost_with(asked("reassignment", 2, kafka=kafka))[-1] == ("ends", expected)


def test_an_operator_who_allows_unclean_election_may_lose_what_one_replica_had(asked: Run) -> None:
    found = asked("settings", 2, faults=2)

    assert lost_with(found) == [("durable", 2), ("durable", 2)]
    assert "allow_unclean" in [step["action"] for step in found["cases"][0]["run"]]
    assert found["cases"][0]["lost_without"] is None
    assert found["notes"] == ["min.insync.replicas cannot be lowered to any effect"]


def test_lowering_the_minimum_costs_records_that_come_after_it(asked: Run) -> None:
    lowered = asked("settings", 2, "min.insync.replicas=2", faults=2)["cases"][1]

    assert "set_min_isr" in [step["action"] for step in lowered["run"]]
    assert lowered["lost_with"] == 2


def test_power_that_fails_for_the_whole_site_takes_what_nobody_had_flushed(asked: Run) -> None:
    plain = asked("racks", 2)
    flushed = asked("racks", 2, "log.flush.interval.messages=1")

    assert lost_with(plain) == [("durable", 1)]
    assert [step["action"] for step in plain["cases"][0]["run"]][-1] == "blackout"
    assert lost_with(flushed) == [("durable", None)]
    assert plain["assumed"][0].endswith("two of the two replicas are assumed to be in one rack: the site")


def test_two_of_three_replicas_are_taken_to_share_a_rack_where_nobody_says(asked: Run) -> None:
    found = asked("racks", 3, "min.insync.replicas=2")

    assert lost_with(found) == [
        ("durable", 1),
        ("durable", None),
        ("durable", None),
        ("durable", None),
        ("writable", 1),
        ("writable", 1),
    ]
    (assumed,) = found["assumed"]
    assert assumed == f"{UNKNOWN}: two of the three replicas are assumed to be in one rack"


@pytest.mark.parametrize(
    ("racks", "expected"),
    [
        ("abc", (1, "by broker.rack, and spread evenly")),
        ("aab", (2, "by broker.rack, and spread evenly")),
        ("aaa", (3, "by broker.rack, and spread evenly")),
        ("ab", (2, UNKNOWN)),
    ],
)
def test_replicas_are_spread_over_the_racks_that_brokers_name(racks: str, expected: tuple[int, str]) -> None:
    texts = [f"broker.id={n}\nbroker.rack={r}\ndefault.replication.factor=3\n" for n, r in enumerate(racks)]
    found = resolve(
        [read_text(Source(f"f{n}", text)) for n, text in enumerate(texts)], kafka="3.7", brokers=3
    )

    assert (found.together.value, found.together.reason) == expected


def test_where_files_show_replicas_the_fullest_rack_counts() -> None:
    texts = [f"broker.id={n}\nbroker.rack={r}\n" for n, r in enumerate("aab", 1)]
    topic = "Topic: t\tPartitionCount: 2\tReplicationFactor: 2\tConfigs: \n" + "".join(
        f"\tTopic: t\tPartition: {n}\tLeader: 1\tReplicas: {ids}\tIsr: {ids}\n"
        for n, ids in enumerate(("1,3", "1,2"))
    )
    found = resolve([read_text(Source(f"f{n}", text)) for n, text in enumerate([*texts, topic])], kafka="3.7")

    assert (found.together.value, found.together.assumed) == (2, False)


def test_a_rack_with_one_replica_is_a_broker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, rack in enumerate("abc"):
        text = f"broker.id={number}\nbroker.rack={rack}\ndefault.replication.factor=2\n"
        Path(f"server{number}.properties").write_text(text)
    files = [f"server{number}.properties" for number in range(3)]
    main(["kafka", "review", *files, "--kafka", "3.7", "--faults", "1", "--also", "racks", "--json"])
    (found,) = json.loads(capsys.readouterr().out)["also"]

    assert lost_with(found) == [("durable", 1)]
    (note,) = found["notes"]
    assert note.startswith("a rack takes one replica, as a fault of its broker does (by broker.rack")


def test_a_rolling_restart_that_does_not_wait_loses_with_fewer_faults(asked: Run) -> None:
    found = asked("rolling", 3, "min.insync.replicas=2")

    assert lost_with(found) == [("durable", None), ("durable", 1), ("writable", 1), ("writable", None)]
    assert [step["action"] for step in found["cases"][1]["run"]].count("shut_down") == 2
    assert found["cases"][1]["lost_without"] is None
    assert "never of two at once" in found["assumed"][0]
    (mixed,) = found["notes"]
    assert mixed.startswith("brokers of two releases in one cluster")
    assert mixed.endswith("the older metadata.version, which both speak until it is raised")


def test_with_acks_one_a_rolling_restart_loses_without_any_fault(asked: Run) -> None:
    found = asked("rolling", 2, kafka="2.8")

    assert lost_with(found)[:2] == [("durable", 0), ("durable", 0)]


@pytest.mark.parametrize(("kafka", "fewest"), [("4.2", 1), ("4.3", None), ("4.4", None)])
def test_up_to_4_2_who_is_down_for_a_restart_is_not_eligible_when_another_has_a_new_disk(
    kafka: str, fewest: int | None, asked: Run
) -> None:
    own = "process.roles=broker,controller"  # so that it is the controllers who say what is in sync
    found = asked("rolling", 2, "min.insync.replicas=2", own, kafka=kafka)
    ways = [[step["action"] for step in case["run"]] for case in found["cases"][:2]]

    assert lost_with(found)[:2] == [("durable", fewest), ("durable", fewest)]
    assert [{"disk_loss", "assign_directory"} <= {*way} for way in ways] == [fewest is not None] * 2


def test_a_restart_on_ephemeral_storage_is_a_lost_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    real = Path(__file__).parent / "real/strimzi-ephemeral.yaml"
    main(["kafka", "review", str(real), "--faults", "1", "--also", "rolling", "--json"])
    (found,) = json.loads(capsys.readouterr().out)["also"]

    (note,) = found["notes"]
    assert found["cases"] == []
    assert note.startswith("on ephemeral storage a broker that is started again has lost its disk")


def test_where_brokers_are_the_controllers_a_majority_is_assumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "node.id=1\nprocess.roles=broker,controller\ncontroller.quorum.voters=1@a:1,2@b:1,3@c:1\n"
    Path("server.properties").write_text(text)
    main(
        [
            "kafka",
            "review",
            "server.properties",
            "--kafka",
            "3.7",
            "--faults",
            "1",
            "--also",
            "links",
            "--json",
        ]
    )
    (found,) = json.loads(capsys.readouterr().out)["also"]

    assert found["assumed"] == ["a majority of controllers is up, though they are on the nodes of brokers"]


@pytest.mark.parametrize(
    ("kafka", "expected"),
    [("3.7.0", [("durable", 1), ("led", None), ("durable", None)]), ("3.7.1", [("durable", None)])],
)
def test_a_broker_that_forgets_what_was_in_a_directory_leads_empty(
    asked: Run, kafka: str, expected: list[tuple[str, int | None]]
) -> None:
    found = asked("directories", 2, "log.dirs=/a,/b", kafka=kafka)

    assert lost_with(found)[: len(expected)] == expected
    assert "(log.dirs at server.properties:4)" in found["assumed"][1]


def test_until_2_8_a_broker_writes_on_behind_a_write_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("server.properties").write_text("broker.id=1\ndefault.replication.factor=1\n")
    lost = {}
    for kafka in ("2.7", "2.8"):
        main(
            [
                "kafka",
                "review",
                "server.properties",
                "--kafka",
                kafka,
                "--faults",
                "1",
                "--also",
                "directories",
                "--json",
            ]
        )
        (found,) = json.loads(capsys.readouterr().out)["also"]
        lost[kafka] = lost_with(found)

    assert lost == {"2.7": [("durable", 1)], "2.8": [("durable", None)]}


@pytest.mark.parametrize(
    ("kafka", "directories", "note"),
    [
        ("3.6", "/a,/b", "a broker with KRaft has one directory before Kafka 3.7"),
        (
            "3.9",
            "/a",
            "log.dirs at server.properties:4 is one directory, and a broker without any halts: the row disk",
        ),
    ],
    ids=["before 3.7", "one"],
)
def test_one_directory_is_the_whole_disk(asked: Run, kafka: str, directories: str, note: str) -> None:
    found = asked("directories", 1, f"log.dirs={directories}", kafka=kafka)

    assert (found["cases"], found["notes"]) == ([], [note])


def test_nothing_is_said_to_go_on_where_the_majority_of_controllers_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    taken = "whether writes continue where more are down: they take the majority of controllers with them"
    voters = "controller.quorum.voters=1@a:1,2@b:1,3@c:1\nlog.flush.interval.messages=1\n"
    found = {}
    for roles in ("broker", "broker,controller"):
        text = f"node.id=1\nprocess.roles={roles}\ndefault.replication.factor=3\n{voters}"
        Path("server.properties").write_text(text)
        main(
            [
                "kafka",
                "review",
                "server.properties",
                "--kafka",
                "3.7",
                "--faults",
                "1",
                "--also",
                "racks,rolling",
                "--json",
            ]
        )
        for each in json.loads(capsys.readouterr().out)["also"]:
            tried = [case["tried"] for case in each["cases"] if case["about"] == "writable"]
            found[roles, each["subject"]] = tried, taken in each["notes"]

    assert found == {
        ("broker", "racks"): ([1, 1], False),
        ("broker", "rolling"): ([1, 1], False),
        ("broker,controller", "racks"): ([], True),
        ("broker,controller", "rolling"): ([0, 0], True),
    }


TRANSACTIONS = ("whole", "whole", "closed", "goes_on")


@pytest.mark.parametrize(
    ("kafka", "settings", "expected"),
    [
        ("3.5", (), (1, 1, 1, 1)),
        ("3.7", (), (1, 1, None, 1)),
        ("3.7", ("transaction.partition.verification.enable=false",), (1, 1, 1, 1)),
        ("4.0", (), (None, None, None, None)),
        ("4.0", ("metadata.version=3.9-IV0",), (1, 1, None, 1)),
    ],
)
def test_a_request_that_comes_late_harms_transactions_until_each_has_its_epoch(
    asked: Run, kafka: str, settings: tuple[str, ...], expected: tuple[int | None, ...]
) -> None:
    found = asked("transactions", 1, *settings, kafka=kafka)

    assert lost_with(found) == list(zip(TRANSACTIONS, expected, strict=True))


def test_an_old_client_does_not_take_an_epoch_for_each_transaction() -> None:
    """KAFKA-17754 is mended in brokers and in the client."""
    reading = read_text(Source("server.properties", "process.roles=broker\n"))
    for client, epochs in (("4.0", True), ("3.9", False), ("librdkafka", False)):
        settings = resolve([reading], kafka="4.0", client=client)
        each = inquiries(TRANSACTIONS_SUBJECT, partition(settings), settings).asked

        assert {inquiry.given["epoch_per_transaction"] for inquiry in each} == {epochs}


def test_of_transactions_it_does_not_matter_how_many_replicas_there_are(asked: Run) -> None:
    found = asked("transactions", 4, kafka="4.0")

    assert len(found["cases"]) == len(TRANSACTIONS)


def test_before_0_11_there_are_no_transactions(asked: Run) -> None:
    found = asked("transactions", 1, kafka="0.10.2")

    assert (found["cases"], found["notes"]) == (
        [],
        ["Kafka 0.10.2 has no transactions: they came with 0.11.0"],
    )


RACK_AWARE = "replica.selector.class=org.apache.kafka.common.replica.RackAwareReplicaSelector"


@pytest.mark.parametrize(("kafka", "expected"), [("3.3.1", 1), ("3.3.2", None)])
def test_until_3_3_2_a_consumer_is_sent_to_a_follower_that_stands_still(
    asked: Run, kafka: str, expected: int | None
) -> None:
    found = asked("consumers", 2, RACK_AWARE, kafka=kafka)

    assert lost_with(found) == [("reads_on", expected), ("committed", None)]


@pytest.mark.parametrize(
    ("kafka", "replicas", "settings", "note"),
    [
        ("2.3", 2, (RACK_AWARE,), "consumers read from the leader before Kafka 2.4"),
        ("3.7", 2, (), "consumers read from the leader: no replica.selector.class is given"),
        ("3.7", 1, (RACK_AWARE,), "consumers read from the leader: there is no follower to read from"),
    ],
    ids=["old", "no selector", "alone"],
)
def test_where_consumers_read_from_the_leader_nothing_is_asked(
    asked: Run, kafka: str, replicas: int, settings: tuple[str, ...], note: str
) -> None:
    found = asked("consumers", replicas, *settings, kafka=kafka)

    assert found["cases"] == []
    assert found["notes"][0] == note


def test_all_asks_about_each_subject() -> None:
    asked = parse(["f.properties", "--also", "all"]).also

    assert asked == SUBJECTS


def test_of_more_replicas_than_can_be_searched_it_is_not_asked(asked: Run) -> None:
    found = asked("links", 4)

    assert (found["cases"], found["notes"]) == ([], ["it is asked of at most 3 replicas"])


def test_brokers_without_a_replica_have_names_of_their_own() -> None:
    assert with_spares(("broker3", "broker1"), 3) == ("broker3", "broker1", "broker2")


def test_each_subject_has_its_file_and_guarantees_of_the_review() -> None:
    shipped = {f"{name}.rsm" for name in library.names()}
    guarantees = {guarantee.name for guarantee in GUARANTEES}

    assert {subject.file for subject in SUBJECTS} <= shipped
    assert {each for subject in SUBJECTS for each in subject.touches} <= guarantees


def test_what_cannot_be_asked_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["kafka", "review", "server.properties", "--also", "disks"])

    assert code == 2
    told = " ".join(capsys.readouterr().err.split())
    assert (
        "'disks' is none of racks, rolling, directories, links, reassignment, settings, transactions, "
        "consumers; all is all of them" in told
    )


@pytest.mark.parametrize("option", [[], ["-v"]])
def test_what_was_not_asked_is_said_with_how_to_ask(
    option: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    golden: Callable[[str, str], None],
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    Path("server.properties").write_text("node.id=1\nprocess.roles=broker\ndefault.replication.factor=1\n")
    main(
        [
            "kafka",
            "review",
            "server.properties",
            "--kafka",
            "3.7",
            "--faults",
            "1",
            "--also",
            "links",
            *option,
        ]
    )
    text = capsys.readouterr().out
    told = text[text.index("Single links") : text.index("Assumed")]
    left = text[text.index("Not asked") : text.index("Checked for")]

    golden(f"review/also{''.join(option)}.txt", told + left)


SLOW = """
import kafka
variant slow of kafka {
  fault lag(f in isr) {
    require up:   f.up and f.linked
    require lags: exists l in leader. l != f and acts_as_leader(l) and is_leader(l) and l.linked
    for l in leader {
      if l.session and l.current {
        eligible  := still_eligible(isr - {f})
        isr       := isr - {f}
        l.members := isr
      }
    }
  }
}
check some of slow {
  scope  Broker = {A, B, C}, Epoch = 3, Offset = 1, Record = 1
  config acks = all, min_isr = 2, elr = true
  faults lag <= 1
}
"""


def test_a_replica_that_is_slow_is_one_that_is_cut_off_and_healed() -> None:
    (model,) = loads(SLOW, "slow.rsm", only=("slow",))
    (check,) = model.checks
    machine = Machine(model, check.scope)
    seen = dict.fromkeys(machine.initial())
    queue = deque(seen)
    compared = 0
    while queue:
        taken = [step for step in machine.steps(queue.popleft()) if isinstance(step, Taken)]
        for step in taken:
            if step.step.action in model.free and step.state not in seen:
                seen[step.state] = None
                queue.append(step.state)
        for slow in (step for step in taken if step.step.action == "lag"):
            (cut,) = (s for s in taken if (s.step.action, s.step.args) == ("isolate", slow.step.args))
            healed = [s.state for s in machine.steps(cut.state, actions={"heal"}) if isinstance(s, Taken)]
            compared += 1

            assert slow.state in healed

    assert compared > 50
