"""The controllers that vote: how many the files name, and what stands still while they are down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import modelcheck.kafka.questions.search as search
from modelcheck.cli import main
from modelcheck.kafka.questions.outages.combined import combined
from modelcheck.kafka.questions.outages.controllers import Quorum, quorum
from modelcheck.kafka.questions.partition import partition
from modelcheck.kafka.questions.search import Asking, Effort, Unwatched
from modelcheck.kafka.report.controllers_text import says
from modelcheck.kafka.settings.provenance import Stated
from modelcheck.kafka.settings.readers.recognition import read_text
from modelcheck.kafka.settings.resolution.settings import Settings, resolve
from modelcheck.kafka.settings.resolution.voters import Voters
from spec.source import Source

SCHEMA = json.loads((Path(__file__).parents[3] / "modelcheck/kafka/report/schema.json").read_text())
THREE = "controller.quorum.voters=1@a:9093,2@b:9093,3@c:9093\n"
COMBINED = "node.id=1\nprocess.roles=broker,controller\ndefault.replication.factor=3\n" + THREE


def settings(*texts: str, kafka: str = "3.7") -> Settings:
    return resolve([read_text(Source(f"f{n}", text)) for n, text in enumerate(texts)], kafka=kafka)


def voters(*texts: str, kafka: str = "3.7") -> tuple[int, bool, bool] | None:
    """How many there are, whether that is assumed, and whether they are brokers."""
    found = settings(*texts, kafka=kafka).voters
    return None if found is None else (found.count.value, found.count.assumed, found.are_brokers)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (COMBINED, (3, False, True)),
        ("node.id=7\nprocess.roles=controller\n" + THREE, (3, False, False)),
        ("process.roles=controller\ncontroller.quorum.voters=1@a:9093\n" + THREE, (3, False, False)),
        ("node.id=7\nprocess.roles=broker\n" + THREE, (3, False, False)),
        ("process.roles=broker\ncontroller.quorum.bootstrap.servers=a:1,b:1\n", (2, True, False)),
        ("process.roles=broker\ncontroller.quorum.voters=${VOTERS}\n", None),
        ("process.roles=broker\ncontroller.quorum.voters= , \n", None),
        ("process.roles=broker\n", None),
        ("broker.id=1\nzookeeper.connect=z:2181\n" + THREE, None),
        ("CurrentVoters: [1,2,3]\nCurrentObservers: [4,5]\n", (3, False, False)),
        ("CurrentVoters: [1,2,3]\nCurrentObservers: []\n", (3, False, True)),
    ],
)
def test_the_voters_that_files_name(text: str, expected: tuple[int, bool, bool] | None) -> None:
    assert voters(text) == expected


def test_files_that_name_different_numbers_contradict_each_other() -> None:
    found = settings(COMBINED, COMBINED.replace("node.id=1", "node.id=2").replace(",3@c:9093", ""))

    assert [warning.code for warning in found.warnings] == ["R0736"]
    assert found.voters is not None
    assert found.voters.count.value == 2


def asked(text: str, named: Voters | None = None) -> Quorum:
    found = settings(text)
    with Asking(Effort(), Unwatched()) as asking:
        answer = quorum(asking, named or found.voters)
    assert answer is not None
    return answer


@pytest.mark.parametrize(("many", "down"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_nothing_is_decided_without_a_majority(many: int, down: int) -> None:
    named = Voters(Stated(many, "as said"), are_brokers=False)

    assert asked(COMBINED, named).frozen_with == down


def test_a_search_that_is_not_small_is_compiled_and_answers_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    named, answers = Voters(Stated(3, "as said"), are_brokers=False), []
    for few in (search.FEW, 2):
        monkeypatch.setattr(search, "FEW", few)
        monkeypatch.setenv("MODELCHECK_CACHE", str(tmp_path / str(few)))
        answers.append(asked(COMBINED, named))
    interpreted, compiled = answers

    assert compiled == interpreted


def test_of_more_controllers_than_anybody_has_it_is_not_asked() -> None:
    found = asked(COMBINED, Voters(Stated(9, "as said"), are_brokers=False))

    assert found.frozen_with is None
    assert says(found, None) == (
        "There are 9 controllers (as said); how many may be down was not asked. "
        "The other answers are for a majority that is up."
    )


def test_without_voters_nothing_is_asked() -> None:
    with Asking(Effort(), Unwatched()) as asking:
        assert quorum(asking, None) is None


@pytest.mark.parametrize(
    ("many", "spare"),
    [
        (1, "There is one controller (as said). While it is down nothing is decided"),
        (2, "None of the two controllers (as said) may be down. With one down nothing is decided"),
        (5, "Two of the five controllers (as said) may be down. With three down nothing is decided"),
    ],
)
def test_what_is_said_of_so_many_controllers(many: int, spare: str) -> None:
    told = says(asked(COMBINED, Voters(Stated(many, "as said"), are_brokers=False)), None)

    assert told.startswith(spare)


def reviewed(text: str, capsys: pytest.CaptureFixture[str]) -> Mapping[str, Any]:
    """The review of one file as JSON, with two faults."""
    Path("server.properties").write_text(text)
    main(["kafka", "review", "server.properties", "--kafka", "3.7", "--json"])
    review: Mapping[str, Any] = json.loads(capsys.readouterr().out)
    jsonschema.validate(review, SCHEMA)
    return review


def test_brokers_that_are_the_controllers_take_the_majority_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    apart = reviewed(COMBINED.replace("broker,controller", "broker"), capsys)
    review = reviewed(COMBINED, capsys)
    found, works = review["controllers"], review["availability"]

    # Where the controllers are elsewhere it takes three crashes.
    assert (apart["availability"]["controllers_too"], works["controllers_too"]) == (False, True)
    assert apart["availability"]["services"]["electable"]["stops_with"] == 3
    assert [row["electable"] for row in works["down"]] == [True, True, False, False]
    assert [row["writable"] for row in works["down"]] == [True, True, False, False]
    assert all(each["comes_back"] for each in works["services"].values())
    assert (found["stands_still_with"], found["brokers"]) == (2, 2)
    assert [step["action"] for step in found["brokers_run"]] == ["crash", "crash"]
    assert found["says"] == (
        "One of the three controllers (controller.quorum.voters at server.properties:4) may be down. With "
        "two down nothing is decided: no leader is elected, the in-sync set stays as it is, and no broker "
        "that starts is let in; writes continue until the next replica fails. Each is a broker as well: with "
        "two of them down no replica leads, as above; the answers about brokers that are cut off are for a "
        "majority that is up."
    )


def test_the_table_of_faults_says_of_such_brokers_what_the_table_of_outages_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    survived = {}
    for roles in ("broker", "broker,controller"):
        review = reviewed(COMBINED.replace("broker,controller", roles), capsys)
        kinds = review["guarantees"]["writable"]["by_kind"]
        survived[roles] = {name: kinds[name]["survives"] for name in ("session", "crash", "power", "disk")}

    assert survived["broker"] == {"session": 2, "crash": 2, "power": 2, "disk": 2}
    assert survived["broker,controller"] == {"session": 2, "crash": 1, "power": 1, "disk": 1}


@pytest.mark.parametrize(
    ("replicas", "many", "expected"),
    [(3, 3, 2), (3, 4, 2), (3, 5, None), (2, 2, 1), (2, 3, None), (1, 1, 1), (3, 2, None)],
)
def test_a_fourth_node_that_votes_is_not_enough(replicas: int, many: int, expected: int | None) -> None:
    """With how many brokers of a partition down there is no majority, while some replica is up."""
    found = settings(COMBINED.replace("factor=3", f"factor={replicas}"))
    nodes = combined(partition(found), Voters(Stated(many, "as said"), are_brokers=True))

    assert (None if nodes is None else nodes.frozen_with) == expected


def test_controllers_on_nodes_of_their_own_are_nothing_of_brokers() -> None:
    found = settings(COMBINED)

    assert combined(partition(found), Voters(Stated(3, "as said"), are_brokers=False)) is None
    assert combined(partition(found), None) is None
