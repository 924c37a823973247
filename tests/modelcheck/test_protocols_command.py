"""`modelcheck library list` and `show`, and the names that they know wherever a model file is taken."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import modelcheck.commands.library.list as command
import spec.library as library
from modelcheck.contract.exits import Exit

ROOT = Path(__file__).parents[2]
FEW = ("figure8", "paxos", "primary_backup", "raft", "two_phase_commit")
Run = Callable[..., tuple[int, str, str]]


# ------------------------------------------------------------------ list and show


def test_the_list_as_it_is_read(
    run: Run, monkeypatch: pytest.MonkeyPatch, golden: Callable[[str, str], None]
) -> None:
    monkeypatch.setattr(command, "names", lambda: FEW)
    code, told, beside = run("library", "list")

    assert (code, beside) == (Exit.EXPECTED, "")
    golden("protocols/list.txt", told)


@pytest.mark.parametrize("name", ["paxos", "raft"])
def test_a_protocol_as_it_is_read(name: str, run: Run, golden: Callable[[str, str], None]) -> None:
    code, told, beside = run("library", "show", name)

    assert (code, beside) == (Exit.EXPECTED, "")
    golden(f"protocols/{name}.txt", told)


def test_every_protocol_and_every_check_is_listed(run: Run) -> None:
    whole = json.loads(run("library", "list", "--json")[1])

    assert [each["name"] for each in whole] == list(library.names())
    for each in whole:
        text = library.text(each["name"])
        names = re.findall(r"^check (\w+)", text, re.MULTILINE)
        assert [check["name"] for check in each["checks"]] == names
        assert each["variants"] == re.findall(r"^variant (\w+)", text, re.MULTILINE)


def test_no_line_is_wider_than_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")

    assert max(map(len, run("library", "show", "kafka")[1].splitlines())) <= 60


def test_json_has_what_a_check_expects(run: Run) -> None:
    (found,) = (
        c for c in json.loads(run("library", "show", "paxos", "--json")[1])["checks"] if c["name"] == "n2_1_1"
    )
    counted = json.loads(run("library", "show", "kisr", "--json")[1])["checks"][0]

    assert found["of"] == "paxos"
    assert {"property": "later_proposals_agree", "verdict": "violated", "faults": None, "steps": 7} in found[
        "expect"
    ]
    assert {"count": "states", "within_faults": 1, "is": 308736} in counted["expect"]


def test_source_is_the_file_as_it_is(run: Run) -> None:
    code, told, beside = run("library", "show", "raft", "--source")

    assert (code, beside) == (Exit.EXPECTED, "")
    assert told == (ROOT / "spec/protocols/raft.rsm").read_text(encoding="utf-8")
    assert json.loads(run("library", "show", "raft", "--source", "--json")[1]) == {
        "name": "raft",
        "text": told,
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rfat",), "help: did you mean `raft`?"),
        (("raft.rsm",), "help: did you mean `raft`?"),
        (("two_phase", "--source"), "help: did you mean `two_phase_commit`?"),
        (("nonsense",), "help: there are bookkeeper, chain,"),
        (("",), "help: there are bookkeeper"),
        ((), "the following arguments are required: NAME"),
        (("raft", "zab"), "unrecognized arguments: zab"),
        (("--nonsense",), "usage: modelcheck library show [OPTION ...] NAME"),
    ],
)
def test_what_is_no_protocol_is_wrong_input(words: tuple[str, ...], said: str, run: Run) -> None:
    code, told, beside = run("library", "show", *words)

    assert (code, told) == (Exit.WRONG, "")
    assert said in beside


def test_a_mistake_is_json_where_json_is_asked_for(run: Run) -> None:
    code, told, beside = run("library", "show", "rfat", "--json")

    assert (code, beside) == (Exit.WRONG, "")
    assert json.loads(told)["errors"][0]["code"] == "R0902"


def test_what_the_manual_shows_is_what_it_says(run: Run) -> None:
    text = (ROOT / "docs/how-to/use-the-library.md").read_text(encoding="utf-8")
    (shown,) = re.findall(
        r"^```console\n\$ modelcheck (protocols .*?|library show .*?)\n(.*?)^```$",
        text,
        re.MULTILINE | re.DOTALL,
    )

    assert run(*shown[0].split())[1].startswith(shown[1])


# ------------------------------------------------------- names in place of files


def test_a_name_stands_for_a_file_wherever_a_model_is_taken(run: Run, tmp_path: Path) -> None:
    assert run("check", "figure8", "--check", "figure_8", "--itf", "t.itf.json", "-q")[0] == Exit.EXPECTED
    for words in (
        ("trace", "show", "t.itf.json", "figure8"),
        ("trace", "shrink", "t.itf.json", "figure8", "--same-scope", "--out", "s.itf.json"),
        ("trace", "diff", "t.itf.json", "s.itf.json", "figure8"),
        ("trace", "graph", "figure8", "--check", "figure_8", "--around", "t.itf.json"),
        ("trace", "graph", "figure8", "--check", "figure_8", "--scope", "Term=1"),
        ("sweep", "figure8", "--check", "figure_8", "--vary", "Term=1,2"),
        ("export", "figure8", "--check", "figure_8", "--to", "tla", "--out", "tla"),
        ("check", "figure8", "figure8", "--check", "figure_8", "-q"),
    ):
        code, told, beside = run(*words)
        assert (words, code, beside if code else "") == (words, Exit.EXPECTED, "")
        assert told or tmp_path.joinpath("tla").is_dir()


def test_the_command_that_takes_random_runs_again_has_the_name(run: Run) -> None:
    code, told, _ = run(
        "check", "figure8", "--check", "figure_8", "--simulate", "2", "--depth", "3", "--seed", "1"
    )

    assert code == Exit.UNKNOWN
    assert "modelcheck check figure8 --check figure_8" in told


def test_a_path_that_is_no_model_is_told_as_before_and_where_the_protocol_is(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "raft").mkdir()
    code, told, beside = run("check", "raft")

    assert (code, told) == (Exit.WRONG, "")
    assert "this is a folder" in beside
    assert "`modelcheck library show raft --source`" in beside


def test_a_certificate_of_a_protocol_finds_it_by_its_name(run: Run, tmp_path: Path) -> None:
    text = (ROOT / "tests/modelcheck/symbolic/certificates/quorum.json").read_text(encoding="utf-8")
    told = json.loads(text)
    folder = tmp_path / "proofs"
    folder.mkdir()
    (folder / "c.json").write_text(json.dumps(told | {"file": "quorum", "text": "another"}), encoding="utf-8")
    code, _, beside = run("certify", "proofs/c.json")

    assert code == Exit.EXPECTED
    assert "It was written for another text of proved, which asks the same." in beside


def test_fmt_takes_no_protocol_and_leaves_it_alone(run: Run) -> None:
    for options in ((), ("--check",), ("--stdout",)):
        code, told, beside = run("fmt", "raft", *options)

        assert (code, told) == (Exit.WRONG, "")
        assert "raft: error[R0904]: this protocol comes with modelcheck" in beside
        assert "help: `modelcheck library show raft --source` prints it" in beside


def test_fmt_takes_a_file_of_that_name(run: Run, tmp_path: Path) -> None:
    (tmp_path / "raft").write_text("protocol   p\nsort A\n", encoding="utf-8")

    assert run("fmt", "raft")[0] == Exit.EXPECTED
    assert (tmp_path / "raft").read_text(encoding="utf-8").startswith("protocol p\n")
