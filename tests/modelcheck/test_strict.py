"""What no check uses, and what is not put to the test, is told; `--strict` makes it an exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import modelcheck.cli as cli
from modelcheck.api import check
from modelcheck.contract.coverage import never_used
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import Outcome
from spec.load import load, loads

ROOT = Path(__file__).parents[2]
MODEL = """\
protocol door

sort   Key
config wide: bool = false COMMENT

state { open: bool = false  tries: 0..3 = 0  lost: set[Key] = {} }

action unlock {
  require shut: not open
  require few:  tries < 3
  open  := true
  tries := tries + 1
}
action shut { require is_open: open  open := false }
fair action squeeze { require wide: wide  open := true }
fault jam {
  require once: tries < 4
  open := true
}

invariant counted: tries <= 3
invariant kept: forall k in lost. k in Key

CHECKS
"""
KEPT = "invariant kept: forall k in lost. k in Key"
ONE = "check narrow { scope Key = 1  faults none  config wide = false }"
TWO = f"{ONE}\ncheck broad  {{ scope Key = 1  faults none  config wide = true }}"
THREE = f"{TWO}\ncheck jams {{ scope Key = 1  faults any }}"

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Check a model with some options; the exit code, and what was said in one line."""
    monkeypatch.chdir(tmp_path)

    def checked(text: str, *options: str) -> tuple[int, str]:
        Path("door.rsm").write_text(text)
        code = cli.main(["check", "door.rsm", *options])
        return code, " ".join(capsys.readouterr().out.split())

    return checked


def model(checks: str, comment: str = "") -> str:
    return MODEL.replace("CHECKS", checks).replace("COMMENT", comment)


def outcomes(text: str) -> list[Outcome]:
    return [check(m, each, engine="reference", with_witnesses=True) for m in loads(text) for each in m.checks]


def names(text: str) -> list[str]:
    return [part.name for part in never_used(outcomes(text))]


def test_what_one_check_uses_another_need_not() -> None:
    assert names(model(ONE)) == ["squeeze"]
    assert names(model(TWO)) == []
    assert names(model(THREE)) == ["jam.once"]


def test_a_switch_that_no_check_varies_is_told_where_there_are_several() -> None:
    same = f"{ONE}\ncheck again {{ scope Key = 2  faults none }}"

    assert names(model(same)) == ["wide", "squeeze"]


def test_a_fault_that_no_check_allows_is_none_that_never_happens() -> None:
    assert "jam" not in names(model(TWO))


def test_a_search_that_did_not_end_shows_use_and_no_lack_of_it() -> None:
    early = (
        model(TWO)
        .replace("tries <= 3", "tries < 1")
        .replace("forall k in lost. k in Key", "lost == {} and tries < 1")
    )

    assert names(early) == []


def test_a_variant_uses_the_parts_of_its_base() -> None:
    own = "check with_faults of jams { scope Key = 1  faults any  config wide = true }"

    assert names(model(f"{ONE}\nvariant jams of door {{ }}\n{own}")) == ["jam.once"]


def test_parts_of_a_file_that_is_gone_on_from_are_not_told(tmp_path: Path) -> None:
    (tmp_path / "door.rsm").write_text(model(ONE))
    own = "action wait { require never: tries > 3 }\ncheck waits { scope Key = 1  faults none }"
    (tmp_path / "waits.rsm").write_text(f'import "door.rsm"\n{own}\n')
    found = [check(m, each, engine="reference") for m in load(tmp_path / "waits.rsm") for each in m.checks]

    assert [part.name for part in never_used(found)] == ["wait"]


@pytest.mark.parametrize(
    ("place", "comment", "is_declared"),
    [
        ("tries < 4", "tries < 4 // unused: tries cannot be more", True),
        ("  require once", "  // unused: tries cannot be more\n  require once", True),
        ("fault jam", "// unused: the reason is that of the guard\nfault jam", False),
    ],
)
def test_a_comment_declares_what_is_on_its_line(place: str, comment: str, *, is_declared: bool) -> None:
    assert ("jam.once" not in names(model(THREE).replace(place, comment))) is is_declared


def test_a_comment_without_a_reason_declares_nothing() -> None:
    assert "squeeze" in names(model(ONE).replace("fair action squeeze", "// unused:\nfair action squeeze"))


# ------------------------------------------------------------------- the command line


def test_without_strict_it_is_a_note(run: Run) -> None:
    code, told = run(model(THREE))

    assert code == Exit.EXPECTED
    assert "note `forall k in lost` never has a member, in kept" in told
    assert told.endswith("3 checks: 3 as expected in no check never refuses: jam.once (line 17)")
    assert "note never happened: squeeze (fair)" in run(model(ONE))[1]


def test_strict_counts_a_property_that_is_not_put_to_the_test(run: Run) -> None:
    code, told = run(model(TWO), "--strict")

    assert code == Exit.VIOLATED
    assert "door · narrow: not put to the test: kept (--strict)" in told


def test_strict_counts_what_no_check_uses(run: Run) -> None:
    text = model(THREE).replace(KEPT, "invariant none_lost: lost == {}")

    code, told = run(text, "--strict")
    assert code == Exit.VIOLATED
    assert "3 checks: 3 as expected" in told
    assert "in no check (--strict) never refuses: jam.once (line 17)" in told
    assert (
        run(text.replace("tries < 4", "tries < 4 // unused: it is a bound\n"), "--strict")[0] == Exit.EXPECTED
    )
    assert run(text.replace("\ncheck jams", "\n// "), "--strict")[0] == Exit.EXPECTED


def test_strict_counts_a_promise_that_is_never_begun(run: Run) -> None:
    text = model(TWO).replace(
        "invariant kept: forall k in lost. k in Key", "leadsto opened: tries > 3 ~> open"
    )

    code, told = run(text, "--strict")
    assert (code, run(text)[0]) == (Exit.VIOLATED, Exit.EXPECTED)
    assert "not put to the test: opened (--strict)" in told


def test_a_comment_at_a_check_is_of_that_check(run: Run) -> None:
    checks = TWO.replace("check narrow", "// unused: no key is ever lost\ncheck narrow")

    _, told = run(model(checks), "--strict", "-q")
    assert "door · narrow: holds" in told
    assert "door · broad: not put to the test: kept (--strict)" in told


def test_json_has_the_parts_with_their_places(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    del capsys
    _, told = run(model(ONE), "--json")

    (data,) = json.loads(told)
    assert data["stats"]["untested"] == [
        {
            "property": "kept",
            "kind": "quantifier",
            "text": "forall k in lost",
            "file": "door.rsm",
            "line": 22,
            "column": 17,
        }
    ]
    assert data["stats"]["unused"] == ["squeeze"]


def results(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text())["runs"][0]["results"]
    return found


def test_sarif_has_a_finding_for_each_and_strict_makes_it_an_error(run: Run, tmp_path: Path) -> None:
    same = f"{ONE}\ncheck again {{ scope Key = 2  faults none }}"
    levels = {}
    for strict in ([], ["--strict"]):
        run(model(same), "--sarif", "found.sarif", "-q", *strict)
        levels[bool(strict)] = sorted(
            {(each["ruleId"], each["level"]) for each in results(tmp_path / "found.sarif")}
        )

    assert levels == {
        False: [("never-happens", "note"), ("never-tested", "note")],
        True: [("never-happens", "error"), ("never-tested", "error"), ("never-varied", "error")],
    }


def test_sarif_points_at_a_guard_without_a_name_too(run: Run, tmp_path: Path) -> None:
    text = model(THREE).replace(KEPT, "invariant none_lost: lost == {}")
    found = {}
    for guard in ("once: tries < 4", "tries < 4"):
        run(text.replace("once: tries < 4", guard), "--sarif", "found.sarif", "-q", "--strict")
        found[guard] = {
            (each["level"], each["locations"][0]["physicalLocation"]["region"]["startLine"])
            for each in results(tmp_path / "found.sarif")
            if each["ruleId"] == "never-refuses" and "jam" in each["message"]["text"]
        }

    assert found == {"once: tries < 4": {("error", 17)}, "tries < 4": {("error", 17)}}


def test_junit_has_a_failure_for_what_no_check_uses(run: Run, tmp_path: Path) -> None:
    text = model(THREE).replace(KEPT, "invariant none_lost: lost == {}")
    run(text, "--junit", "found.xml", "-q", "--strict")

    told = (tmp_path / "found.xml").read_text()
    assert 'failures="1"' in told
    assert "never refuses: jam.once (line 17)" in told


def test_the_manual_shows_a_file_that_declares_what_it_does_not_use(run: Run) -> None:
    manual = (ROOT / "docs/how-to/trust-a-model.md").read_text()
    _, _, rest = manual.partition("<!-- declared as unused -->\n```rsm\n")
    text = rest.partition("```")[0]

    assert run(text, "--strict")[0] == Exit.EXPECTED
    assert run(text.replace("// unused: as above", ""), "--strict")[0] == Exit.VIOLATED


UNREAD = """protocol toy
sort Node
nat K
state {
  spare: K = 0
  read: K = 0
  shown: bool = false
}
process Node { durable x: K = 0  durable count: K = 0  volatile once: bool = false }
action write(n: Node) {
  require few: n.x < 2
  n.x := n.x + 1
  n.count := min(n.count + 1, 2)
  spare := read
  n.once := true
}
variant reading of toy { invariant seen: forall n: Node. n.once implies n.x > 0 }
invariant few: forall n: Node. n.x <= 2
CHECKS
"""


def test_a_variable_that_nothing_reads_is_listed() -> None:
    alone = UNREAD.replace("CHECKS", "check one { scope Node = 1  scope K = 2 }")
    both = alone + "check two of reading { scope Node = 1  scope K = 2 }"

    assert names(alone) == ["spare", "shown", "Node.count", "Node.once"]
    assert names(both) == ["spare", "shown", "Node.count"]
    declared = alone.replace("shown: bool = false", "shown: bool = false // unused: for a later check")
    assert names(declared) == ["spare", "Node.count", "Node.once"]


def test_one_check_alone_shows_what_nothing_reads(run: Run) -> None:
    text = UNREAD.replace("CHECKS", "check one { scope Node = 1  scope K = 2 }")
    code, told = run(text)

    assert code == 0
    assert "never read: spare (line 5), shown (line 7), Node.count (line 9), Node.once (line 9)" in told
    assert run(text, "--strict")[0] == 1
