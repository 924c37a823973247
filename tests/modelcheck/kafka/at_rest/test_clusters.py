"""What is said of directories of real clusters is what those clusters did when they were started again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.kafka.files.metadata.image import MetadataImage
from modelcheck.kafka.files.metadata.records import BrokerRegistered, PartitionCreated
from modelcheck.kafka.incident.at_rest.sessions import staying
from tests.consoles import marked, part_of

ROOT = Path(__file__).parent.parent.parent.parent.parent
CLUSTERS = ROOT / "tests" / "modelcheck" / "kafka" / "files" / "clusters"
NAMES = sorted(path.parent.name for path in CLUSTERS.glob("*/cluster.json"))
TRUNCATING = re.compile(r"Truncating to (?:offset )?(\d+)\b(?! has no effect)")


def known(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CLUSTERS / name / "cluster.json").read_text())
    return found


AGAIN = [(name, number) for name in NAMES for number in range(len(known(name)["again"]))]


def asked(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, dict[str, Any]]:
    code = main(["kafka", "inspect", *args, "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, found


def given(name: str, lost: list[int]) -> list[str]:
    """The directories of a cluster without those of brokers that lose their disks, and who these are."""
    gone = {f"broker{node}" for node in lost}
    here = [str(path) for path in sorted((CLUSTERS / name).glob("*[rk0-9]")) if path.name not in gone]
    return [*here, *(f"--lost={node}" for node in lost)]


def partition(found: dict[str, Any], topic: str = "orders") -> dict[str, Any]:
    (one,) = (each for each in found["partitions"] if each["topic"] == topic)
    assert isinstance(one, dict)
    return one


def test_there_are_clusters_to_compare_with() -> None:
    assert len(NAMES) >= 4
    assert len(AGAIN) >= 7


@pytest.mark.parametrize(("name", "number"), AGAIN)
def test_the_cluster_did_what_is_predicted(
    name: str, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    real = known(name)["again"][number]
    _, found = asked(capsys, *given(name, real.get("lost", [])))
    (said,) = (each for each in partition(found)["outcomes"] if each["leader"] == real["leader"])
    cut = {
        node: int(truncated[1])
        for node, lines in real["log"].items()
        for line in lines
        if (truncated := TRUNCATING.search(line))
    }

    assert real["leader"] in real["order"][: max(2, real.get("first", 0))]
    assert said["end"] == len(real["values"])
    assert {node: to for node, to in said["cut_back"].items() if int(node) in real["order"]} == cut
    assert (said["how"] in {"by-hand", "last-known"}) == any(
        "UNCLEAN" in line for lines in real["log"].values() for line in lines
    )


@pytest.mark.parametrize("name", [name for name in NAMES if known(name)["again"]])
def test_the_first_to_start_is_the_best_of_those_that_were_tried(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, found = asked(capsys, str(CLUSTERS / name))
    most = max(len(real["values"]) for real in known(name)["again"] if not real.get("lost"))
    wanted = partition(found)["wanted"]
    (said,) = (each for each in partition(found)["outcomes"] if each["leader"] == wanted)

    assert said["end"] == most or said["committed"] == 0
    assert found["start"].index(wanted) == 0 or not partition(found)["by_hand"]


def test_whoever_is_eligible_leads_where_the_last_leader_lost_its_disk_and_starts_last(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As the real cluster did; started first, the empty one led in the end, and all was lost."""
    code, found = asked(capsys, *given("eligible", [1]))
    real = {tuple(each["order"]): each for each in known("eligible")["again"] if each.get("lost") == [1]}
    ways = {each["leader"]: (each["how"], each["lost"]) for each in partition(found)["outcomes"]}

    assert code == Exit.VIOLATED
    assert (real[2, 3, 1]["leader"], real[1, 2, 3]["leader"], real[1, 2, 3]["values"]) == (2, 1, [])
    assert found["start"] == [2, 3, 1]
    assert ways == {2: ("eligible", 0), 3: ("by-hand", 5), 1: ("last-known", 25)}


def test_a_killed_broker_that_was_eligible_does_not_lead_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Broker 3 was struck when it registered; the real cluster had no leader before broker 1 ran."""
    orders = [each["order"] for each in known("registered_killed")["again"]]
    main(["kafka", "inspect", str(CLUSTERS / "registered_killed")])
    said = capsys.readouterr().out

    assert [3, 1, 2] in orders
    assert "2 of 2 partitions have no leader before broker 1 runs." in said


def test_where_all_that_were_eligible_were_killed_the_last_leader_waits_for_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["kafka", "inspect", str(CLUSTERS / "eligible_killed")])

    assert "2 of 2 partitions have no leader before brokers 1 and 2 run." in capsys.readouterr().out


def test_an_unclean_election_may_have_lost_records_from_where_its_epoch_begins(
    capsys: pytest.CaptureFixture[str],
) -> None:
    begins = {}
    for name in ("elected_unclean", "elected_unclean_newer", "lowered", "eligible"):
        _, found = asked(capsys, str(CLUSTERS / name))
        begins[name] = partition(found)["unknown_from"]

    assert begins == {"elected_unclean": 20, "elected_unclean_newer": 20, "lowered": 20, "eligible": None}


@pytest.mark.parametrize(
    ("name", "lost", "since"), [("power_loss", [], 25), ("power_loss_newer", [], 25), ("last_lost", [1], 25)]
)
def test_a_last_leader_without_its_end_may_have_had_more_than_any_file_has(
    name: str, lost: list[int], since: int, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = asked(capsys, *given(name, lost))

    assert code == Exit.VIOLATED
    assert partition(found)["unknown_from"] == since
    assert f"orders-0 from offset {since} on" in found["answer"]
    assert any("acknowledged with acks=1 or acks=all" in text for text in partition(found)["why"])


def test_one_broker_stays_in_the_isr_where_controllers_are_up_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With brokers started at once the real cluster kept others: any of them may be the one that stays."""
    real = known("ends_differ_newer")
    _, found = asked(capsys, str(CLUSTERS / "ends_differ_newer"))
    leaders = {each["leader"] for each in real["again"]}
    steps = [each["order"][0] for each in real["again"]]

    assert partition(found)["controllers_first"] == real["alone"] == [1]
    assert leaders == {1, 2}
    assert steps == [1, 3]  # neither led who was started first
    assert partition(found)["can_still_be_lost"] == 10


def test_an_order_is_given_that_is_right_whoever_stays_in_the_isr(capsys: pytest.CaptureFixture[str]) -> None:
    main(["kafka", "inspect", str(CLUSTERS / "ends_differ_newer")])
    said = capsys.readouterr().out
    first, hand, command, *_ = said[said.index("  Start broker 1") :].splitlines()

    assert first == "  Start broker 1; wait until it runs."
    assert "it was dropped from the ISR: elect it by hand, uncleanly, for orders-0" in hand
    assert "--election-type unclean --topic orders --partition 0" in command
    assert "broker 1  controllers up first" in said
    assert "(9 s by default)" in said


@pytest.mark.parametrize(
    ("level", "elr", "least", "stays"),
    [(27, False, 2, (3,)), (27, True, 2, ()), (27, True, 1, (3,)), (21, False, 2, (1, 2, 3))],
)
def test_who_stays_goes_by_the_order_of_sessions(
    level: int, *, elr: bool, least: int, stays: tuple[int, ...]
) -> None:
    """The epochs of a real cluster of 4.1.0, in which 3 alone stayed; 1 and 2 have one place."""
    state = PartitionCreated(0, UUID(int=1), (1, 2, 3), (1, 2, 3), 1, 0, 0)
    image = MetadataImage()
    image.features["metadata.version"] = level
    for node, epoch in ((1, 7), (2, 8), (3, 11)):
        image.brokers[node] = BrokerRegistered(node, UUID(int=node), epoch, fenced=False, shutting_down=False)

    assert staying(state, image, least=least, elr=elr) == stays


@pytest.mark.parametrize(("level", "stays"), [(27, (1,)), (29, (2,))])
def test_from_4_2_on_the_order_of_sessions_is_that_of_records(level: int, stays: tuple[int, ...]) -> None:
    """The epochs of a real cluster of 4.2.0, in which 2 alone stayed."""
    state = PartitionCreated(0, UUID(int=1), (3, 2, 1), (2, 1), 2, 1, 1)
    image = MetadataImage()
    image.features["metadata.version"] = level
    for node, epoch in ((1, 201), (2, 193), (3, 179)):
        image.brokers[node] = BrokerRegistered(
            node, UUID(int=node), epoch, fenced=node == 3, shutting_down=False
        )

    assert staying(state, image, least=2, elr=False) == stays


@pytest.mark.parametrize("name", NAMES)
def test_the_report_reads_as_expected(
    name: str,
    golden: Callable[[str, str], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    main(["kafka", "inspect", str(CLUSTERS / name), "--all"])

    golden(f"at_rest/{name}.txt", capsys.readouterr().out)


@pytest.mark.parametrize("name", ["README.md", "docs/how-to/recover-a-partition.md"])
def test_a_document_shows_what_the_command_says(
    name: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    in_document: Callable[[Path, str, str], None],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    page = ROOT / name
    (words,) = marked(page, "at rest", "sh")
    (shown,) = marked(page, "from at rest")
    main(words.split()[1:])

    in_document(page, shown, part_of(capsys.readouterr().out, shown))
