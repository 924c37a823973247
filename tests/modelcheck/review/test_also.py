"""What a review asks with `--also`: single links, moved replicas, changed settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import spec.library as library
from modelcheck.cli import main
from modelcheck.review.also.found import SUBJECTS
from modelcheck.review.partition import with_spares
from modelcheck.review.questions import GUARANTEES

SCHEMA = json.loads((Path(__file__).parents[3] / "modelcheck/review/schema.json").read_text())

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
        command = ["review", "server.properties", "--kafka", kafka, "--faults", str(faults), "--json"]
        main([*command, *(["--also", what] if what else [])])
        review = json.loads(capsys.readouterr().out)
        jsonschema.validate(review, SCHEMA)
        found: Mapping[str, Any] = {each["subject"]: each for each in review["also"]}
        return found[what] if what else found

    return run


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
    code = main(["review", "server.properties", "--also", "disks"])

    assert code == 2
    assert "'disks' is none of links, reassignment, settings" in capsys.readouterr().err


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
    main(["review", "server.properties", "--kafka", "3.7", "--faults", "1", "--also", "links", *option])
    text = capsys.readouterr().out
    told = text[text.index("Single links") : text.index("Assumed")]
    left = text[text.index("Not asked") : text.index("Checked for")]

    golden(f"review/also{''.join(option)}.txt", told + left)
