"""`kafka review --against`: what a change of files makes worse and better."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.kafka.questions.comparison import reverted
from modelcheck.kafka.questions.partition import partition
from modelcheck.kafka.settings.readers.recognition import read_text
from modelcheck.kafka.settings.resolution.settings import resolve
from spec.source import Source

SERVER = "process.roles=broker\nnode.id=1\nmin.insync.replicas=2\ndefault.replication.factor=3\nlog.dirs=/d\n"
PRODUCER = "acks=all\nbootstrap.servers=a:9\n"
GIT = ("git", "-c", "user.email=a@b", "-c", "user.name=n")
Read = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files as they were in `old/`, and as they are in `new/`."""
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "server.properties").write_text(SERVER, "utf-8")
        (tmp_path / name / "producer.properties").write_text(PRODUCER, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def change(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / "new" / name
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")


def compare(*options: str) -> int:
    names = ("server.properties", "producer.properties")
    files = [f"new/{name}" for name in names]
    old = [] if "--against-revision" in options else ["--against", *(f"old/{name}" for name in names)]
    return main(["kafka", "review", *files, "--kafka", "3.9", "--faults", "1", *options, *old])


def said(capsys: Read) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_the_same_files_change_nothing(folder: Path, capsys: Read) -> None:
    change(folder, "server.properties", "log.dirs=/d", "log.dirs=/other")

    assert compare("--no-worse") == Exit.EXPECTED
    assert said(capsys) == "No guarantee of any topic becomes worse or better."


def test_what_becomes_worse_is_shown_with_its_setting_and_its_run(folder: Path, capsys: Read) -> None:
    change(folder, "producer.properties", "acks=all", "acks=1")
    change(folder, "server.properties", "min.insync.replicas=2", "min.insync.replicas=1")

    assert compare("--no-worse") == Exit.VIOLATED
    text = said(capsys)
    assert "✗ durable any 1+ → no" in text
    assert "✓ writable any 0 → 1+" in text
    assert "acks: all (old/producer.properties:1) → 1 (new/producer.properties:1) makes durable worse" in text
    assert "min.insync.replicas: 2 (old/server.properties:3) → 1 (new/server.properties:3) makes" not in text
    assert "The run against `durable`, which is new" in text


def test_without_the_wish_that_nothing_is_worse_only_requirements_fail(folder: Path) -> None:
    change(folder, "producer.properties", "acks=all", "acks=1")

    assert compare() == Exit.EXPECTED
    assert compare("--require", "durable:1") == Exit.VIOLATED


def test_what_becomes_better_fails_nothing(folder: Path, capsys: Read) -> None:
    change(folder, "server.properties", "min.insync.replicas=2", "min.insync.replicas=1")

    assert compare("--no-worse", "--json") == Exit.EXPECTED
    (topic,) = json.loads(capsys.readouterr().out)["topics"]
    assert topic["worse"] == []
    assert {each["guarantee"] for each in topic["better"]} == {"writable"}
    assert [each["key"] for each in topic["settings"]] == ["min.insync.replicas"]


def test_the_files_of_a_revision_are_read_from_git(folder: Path, capsys: Read) -> None:
    for words in (["init", "-q"], ["add", "new"], ["commit", "-q", "-m", "one"]):
        subprocess.run([*GIT, *words], cwd=folder, check=True)
    change(folder, "producer.properties", "acks=all", "acks=0")

    assert compare("--against-revision", "HEAD", "--no-worse") == Exit.VIOLATED
    assert "acks: all (HEAD:new/producer.properties:1) → 0 (new/producer.properties:1)" in said(capsys)


def test_a_revision_that_git_does_not_have_is_an_error(folder: Path, capsys: Read) -> None:
    subprocess.run([*GIT, "init", "-q"], cwd=folder, check=True)

    assert compare("--against-revision", "no-such") == Exit.WRONG
    assert "no-such:new/server.properties: error[R0701]: git: " in capsys.readouterr().err


def test_a_topic_that_is_new_or_gone_is_neither_worse_nor_better(folder: Path, capsys: Read) -> None:
    for name, topic in (("old", "a"), ("new", "b")):
        lines = (
            f"Topic: {topic}\tPartitionCount: 1\tReplicationFactor: 3\tConfigs:\n"
            f"\tTopic: {topic}\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\n"
        )
        (folder / name / "server.properties").write_text(lines, "utf-8")

    assert compare("--all-topics", "--no-worse") == Exit.EXPECTED
    text = said(capsys)
    assert "topic a is no longer there" in text
    assert "topic b is new" in text


def test_files_for_pipelines_are_about_what_becomes_worse(folder: Path) -> None:
    change(folder, "producer.properties", "acks=all", "acks=1")

    assert compare("--sarif", "o.sarif", "--junit", "o.xml", "--markdown", "o.md") == Exit.EXPECTED
    (result,) = json.loads((folder / "o.sarif").read_text("utf-8"))["runs"][0]["results"]
    (at,) = result["locations"]
    assert result["level"] == "error"
    assert at["physicalLocation"]["artifactLocation"]["uri"].endswith("new/producer.properties")
    assert at["physicalLocation"]["region"]["startLine"] == 1
    assert (folder / "o.xml").read_text("utf-8").count("<failure") == 1
    text = (folder / "o.md").read_text("utf-8")
    assert "| ❌ | durable | any | 1+ | no |" in text
    assert "```mermaid\nsequenceDiagram" in text


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--no-worse"], "--no-worse is of a comparison"),
        (["--markdown", "o.md"], "--markdown is of a comparison"),
        (
            ["--against", "old/server.properties", "--html", "o.html"],
            "without --against",
        ),
        (["--against", "old/server.properties", "--against-revision", "HEAD"], "give one"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    folder: Path, capsys: Read, options: list[str], why: str
) -> None:
    assert main(["kafka", "review", "new/server.properties", *options]) == Exit.WRONG
    assert why in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("switch", ["replicas", "min_isr", "acks", "unclean"])
def test_a_switch_that_is_taken_back_has_its_old_value_and_no_other(switch: str) -> None:
    old = partition(resolve([read_text(Source("s", SERVER)), read_text(Source("p", PRODUCER))], kafka="3.9"))
    changed = SERVER.replace("replicas=2", "replicas=1").replace("factor=3", "factor=4")
    files = [
        read_text(Source("s", changed + "unclean.leader.election.enable=true\n")),
        read_text(Source("p", PRODUCER.replace("all", "1"))),
    ]
    new = partition(resolve(files, kafka="3.9"))
    found = reverted(new, old, switch)
    values = {"replicas": found.replicas, **found.config}
    before, after = ({"replicas": each.replicas, **each.config} for each in (old, new))

    assert values[switch] == before[switch] != after[switch]
    assert {k: v for k, v in values.items() if k != switch} == {k: v for k, v in after.items() if k != switch}
