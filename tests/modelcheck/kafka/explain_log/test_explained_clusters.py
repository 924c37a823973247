"""What is said of directories of real clusters is what was done to those clusters."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from tests.consoles import marked
from tests.modelcheck.conftest import CLUSTERS

ROOT = Path(__file__).parent.parent.parent.parent.parent
NAMES = sorted(path.parent.name for path in CLUSTERS.glob("*/cluster.json"))
WORDS = {"stop": "shut_down", "kill -9": "crash", "wait until": "cut_off"}
ELECTED = {"registered_killed": 1}  # the kill of a broker that is elected before its session ends; see `done`
LOSES = {"elected_unclean", "elected_unclean_newer", "lowered"}  # what was committed


def known(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CLUSTERS / name / "cluster.json").read_text())
    return found


@cache
def asked(*args: str) -> tuple[int, dict[str, Any]]:
    """The exit code and what is said of the partition, which several tests look at."""
    with redirect_stdout(StringIO()) as out:
        code = main(["kafka", "explain-log", *args, "--partition", "orders-0", "--json"])
    (found,) = json.loads(out.getvalue())["partitions"]
    assert isinstance(found, dict)
    return code, found


def done(name: str) -> list[set[tuple[str, str]]]:
    """What the script did to brokers, in the words of the model; several brokers at once are a set.

    In the model the session ends with the process, so a dead broker that was elected dies after that.
    """
    steps = known(name)["steps"]
    lost = {number for step in steps for number in re.findall(r"lose the directory of broker (\d)", step)}
    replaced = {number for step in steps for number in re.findall(r"replace the disk of broker (\d)", step)}
    cut = {number for step in steps for number in re.findall(r"cut broker (\d)'s log", step)}

    def fell(word: str, number: str) -> tuple[str, str]:
        what = (
            "disk_loss"
            if word == "kill -9" and number in lost | replaced
            else "power_loss"
            if number in cut
            else WORDS[word]
        )
        return what, f"broker{number}"

    groups = [
        {fell(word[0], number) for number in numbers}
        for step in steps
        if (word := re.match(r"stop|kill -9|wait until", step))
        and (numbers := re.findall(r"broker (\d)", step))
    ]
    if name in ELECTED:
        groups.insert(ELECTED[name] + 1, groups.pop(ELECTED[name]))
    return groups


def told(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The steps of a run that take a broker down, and its faults."""
    for step in found["explained"]["steps"]:
        if step["fault"] or step["action"] == "shut_down":
            yield step["action"], re.findall(r"\((broker\d)\)", step["name"])[0]


@pytest.mark.parametrize("name", NAMES)
def test_the_run_is_what_was_done(name: str) -> None:
    words = " ".join(known(name)["steps"])
    lost = [
        text for node in re.findall(r"lose the directory of broker (\d)", words) for text in ("--lost", node)
    ]
    code, found = asked(str(CLUSTERS / name), *lost)
    run = iter(told(found))

    assert code == (Exit.VIOLATED if name in LOSES else Exit.EXPECTED)
    for group in done(name):
        assert {next(run) for _ in group} == group
    assert list(run) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_record_of_the_partition_is_evidence_of_a_step(name: str) -> None:
    _, found = asked(str(CLUSTERS / name))
    places = {each["place"] for step in found["explained"]["steps"] for each in step["evidence"]}
    metadata = [int(place.rpartition(" ")[2]) for place in places if "__cluster_metadata-0" in place]

    assert metadata
    assert found["coverage"]["matched"] >= len(metadata)
    assert found["coverage"]["unknown"] == found["lines"]["unknown"] == 0
    for replica in (CLUSTERS / name).glob("broker?"):
        assert f"{replica.name}/orders-0" in places


def test_a_broker_that_is_killed_while_it_is_still_fenced_was_registered_and_not_unfenced() -> None:
    _, found = asked(str(CLUSTERS / "registered_killed"))
    *_, registered, killed = found["explained"]["steps"]

    assert [each["name"] for each in (registered, killed)] == ["register(broker3)", "crash(broker3)"]
    assert [each["says"].rpartition(": ")[2] for each in registered["evidence"][:2]] == [
        "no broker leads in epoch 2, in sync [], eligible [1]",
        "it has started",
    ]


def test_with_acks_one_the_lost_records_are_those_that_the_real_cluster_lost() -> None:
    code, found = asked(str(CLUSTERS / "leader_ahead"), "--acks", "1")
    (again,) = known("leader_ahead")["again"]
    (loss,) = found["explained"]["lost"]

    assert code == Exit.VIOLATED
    assert loss["property"] == "acknowledged_survive"
    assert loss["offsets"] == [{"start": 20, "end": 25}, {"start": 25, "end": 30}]
    values = {int(value.removeprefix("value ")) for value in again["values"]}
    assert values.isdisjoint(range(20, 30))  # the values are numbered as they were produced
    assert any(each["change"] == "acks=all" for each in found["refused_by"])


def test_settings_that_change_on_the_way_count_from_there_on() -> None:
    here = str(CLUSTERS / "lowered")
    _, found = asked(here)
    steps = found["explained"]["steps"]
    changes = {step["action"]: (number, step) for number, step in enumerate(steps) if "set" in step["says"]}
    lowered, first = changes["set_min_isr"]
    allowed, second = changes["allow_unclean"]
    commits = [number for number, step in enumerate(steps) if step["action"] == "commit"]
    (elected,) = (number for number, step in enumerate(steps) if step["action"] == "elect_unclean")

    assert first["says"] == "min.insync.replicas is set to 1"
    assert second["says"] == "unclean.leader.election.enable is set to true"
    assert commits[0] < lowered < commits[1] < allowed < elected
    assert all(each["evidence"][0]["place"].count("__cluster_metadata-0") for each in (first, second))
    assert [each["change"] for each in found["refused_by"]] == ["the topic's settings as they were at first"]


def test_a_setting_that_somebody_says_is_taken_for_all_of_the_time() -> None:
    here = str(CLUSTERS / "lowered")
    code, found = asked(here, "--config", "min_isr=1", "--config", "unclean=true")
    actions = {step["action"] for step in found["explained"]["steps"]}
    wrong, other = asked(here, "--config", "min_isr=2", "--config", "unclean=true", "--faults", "1")

    assert code == Exit.VIOLATED
    assert not actions & {"set_min_isr", "allow_unclean"}
    assert wrong == Exit.UNKNOWN  # with two, broker 2 must have had what broker 1 committed
    assert other["unexplained"]["place"] == "broker2/orders-0"


def test_the_report(
    golden: Callable[[str, str], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    main(["kafka", "explain-log", str(CLUSTERS / "leader_ahead"), "--partition", "orders-0", "--acks", "1"])
    golden("explain_log/leader_ahead.txt", capsys.readouterr().out)
    main(["kafka", "explain-log", str(CLUSTERS / "eligible"), "--partition", "orders-0"])
    golden("explain_log/eligible.txt", capsys.readouterr().out)
    without_lines = map(str, sorted((CLUSTERS / "truncated").glob("*[rk0-9]")))
    main(["kafka", "explain-log", *without_lines, "--partition", "orders-0"])
    golden("explain_log/truncated_directories.txt", capsys.readouterr().out)


def test_without_a_partition_each_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kafka", "explain-log", str(CLUSTERS / "ends_differ")]) == Exit.EXPECTED
    said = capsys.readouterr().out
    assert "orders-0: explained by a run with 3 faults (3 × crash)" in said
    assert "quiet-0: explained by a run with 3 faults (3 × crash)" in said


def test_the_run_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["kafka", "explain-log", str(CLUSTERS / "ends_differ"), "--partition", "orders-0"]

    assert main([*given, "--draw", "itf,storyboard,html", "--out", str(tmp_path)]) == Exit.EXPECTED
    assert len(list(tmp_path.iterdir())) == 3
    capsys.readouterr()


def test_the_readme_shows_what_it_says(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    in_document: Callable[[Path, str, str], None],
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(ROOT)
    page = ROOT / "docs/how-to/explain-a-loss.md"
    (words,) = marked(page, "explain log", "sh")
    (shown,) = marked(page, "from explain log")
    code = main(words.split()[1:])
    out = capsys.readouterr().out

    in_document(page, shown, out[: out.index("\n• ")])
    assert code == Exit.EXPECTED


@pytest.mark.parametrize("name", ["eligible", "ends_differ", "last_lost", "lowered", "power_loss"])
def test_it_and_inspect_tell_the_same_of_what_can_still_be_lost(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(CLUSTERS / name), *(["--lost", "1"] if name == "last_lost" else [])]
    _, explained = asked(*given)
    main(["kafka", "inspect", *given, "--json"])
    partitions = json.loads(capsys.readouterr().out)["partitions"]
    (inspected,) = (each for each in partitions if each["topic"] == "orders")

    for number in ("can_still_be_lost", "unknown_from"):
        assert explained[number] == inspected[number]


@pytest.mark.parametrize(
    ("name", "past", "still"),
    [
        ("elected_unclean", "10 records are lost already", "Up to 5 records can still be lost"),
        (
            "power_loss",
            "An unknown number of records may be lost already",
            "Up to 25 records can still be lost",
        ),
        ("paused", "nothing is lost that was acknowledged", "Nothing that is here can still be lost"),
    ],
)
def test_what_is_lost_already_is_told_apart_from_what_can_still_be_lost(
    name: str,
    past: str,
    still: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    main(["kafka", "explain-log", str(CLUSTERS / name), "--partition", "orders-0"])
    said = capsys.readouterr().out

    assert past in said
    assert still in said
    assert ("By this run nothing is lost" in said) == (name == "paused")


@pytest.mark.parametrize(
    ("name", "killed"), [("truncated", ["broker1"]), ("elected_unclean", ["broker1"]), ("paused", [])]
)
def test_a_clean_stop_that_was_a_kill_is_told_as_the_cheapest_story(name: str, killed: list[str]) -> None:
    """Without log lines; each of these brokers was killed while it led, and came back."""
    _, found = asked(*map(str, sorted((CLUSTERS / name).glob("*[rk0-9]"))))
    told, likelier = found["explained"], found["likelier"]
    likely = [told["steps"][number - 1]["name"] for number in told["kills_likely"]]

    assert likely == [f"shut_down({broker})" for broker in killed]
    assert told["faults"] == ({} if killed else {"cut_off": 1})
    assert (likelier["faults"] if likelier else {}) == ({"crash": 1} if killed else {})
    assert any("the cheapest story" in text for text in found["cheapest"]) == bool(killed)
    assert any("a kill is likelier" in text for text in found["cheapest"]) == bool(killed)


def test_what_nobody_has_who_may_lead_is_said() -> None:
    _, found = asked(str(CLUSTERS / "power_loss"))
    again = [each for each in known("power_loss")["again"] if not each["unclean"]]

    assert found["explained"]["endangered"] == [{"start": 0, "end": 20}, {"start": 20, "end": 25}]
    assert [each["values"] for each in again] == [[]]  # the real cluster lost them when it was started
