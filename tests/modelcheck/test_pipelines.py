"""What `check` and `review` write for pipelines: JUnit XML, and SARIF with its places."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from modelcheck.answers.pipelines.junit import junit
from modelcheck.answers.pipelines.outcomes import of_outcomes
from modelcheck.answers.pipelines.report import CaseReport, CaseStatus, Report
from modelcheck.answers.pipelines.sarif import sarif
from modelcheck.api import check
from modelcheck.cli import main
from modelcheck.contract.exits import Exit
from modelcheck.contract.result import End
from modelcheck.storage.ours import is_ours, marked
from spec.load import load

ROOT = Path(__file__).parent.parent.parent
TINY = ROOT / "tests" / "modelcheck" / "tiny.rsm"
Json = Any

SUITES = {"name", "tests", "failures", "errors", "time"}
CASE = {"classname", "name", "time"}
TOOL = {"name", "semanticVersion", "rules"}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.rsm").write_text(TINY.read_text(encoding="utf-8"), encoding="utf-8")


def suites(path: str = "a.xml") -> list[ET.Element]:
    """The suites of a file, after a look at its form and at whether all numbers are right."""
    root = ET.fromstring(Path(path).read_text(encoding="utf-8"))  # noqa: S314 - it is ours
    assert root.tag == "testsuites"
    assert root.attrib.keys() == SUITES
    for suite in root:
        assert suite.tag == "testsuite"
        assert suite.attrib.keys() == SUITES | {"skipped"}
        cases = list(suite)
        assert {case.tag for case in cases} == {"testcase"}
        assert all(case.attrib.keys() == CASE and float(case.get("time", "-1")) >= 0 for case in cases)
        assert int(suite.get("tests", "")) == len(cases)
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(attribute, "")) == len(suite.findall(f"testcase/{tag}"))
        for case in cases:
            assert len(case) - (case.find("system-out") is not None) <= 1
    for attribute in ("tests", "failures", "errors"):
        assert int(root.get(attribute, "")) == sum(int(suite.get(attribute, "")) for suite in root)
    return list(root)


def results(path: str = "a.sarif") -> list[Json]:
    """The results of a file, after a look at its form."""
    log = json.loads(Path(path).read_text(encoding="utf-8"))
    assert log["version"] == "2.1.0"
    assert "sarif-schema-2.1.0.json" in log["$schema"]
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver.keys() == TOOL
    names = [rule["id"] for rule in driver["rules"]]
    assert len(set(names)) == len(names)
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    found: list[Json] = run["results"]
    for each in found:
        assert names[each["ruleIndex"]] == each["ruleId"]
        assert each["level"] in {"error", "warning", "note"}
        assert each["message"]["text"]
        for stage in (*each["locations"], *each.get("relatedLocations", ()), *stages(each)):
            place = stage["physicalLocation"]
            assert place["artifactLocation"]["uri"]
            region = place.get("region", {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1})
            begin, end = [(region[f"{at}Line"], region[f"{at}Column"]) for at in ("start", "end")]
            assert (1, 1) <= begin <= end
    return found


def stages(result: Json) -> list[Json]:
    return [
        each["location"]
        for flow in result.get("codeFlows", ())
        for thread in flow["threadFlows"]
        for each in thread["locations"]
    ]


def lines(result: Json) -> list[int]:
    return [each["physicalLocation"]["region"]["startLine"] for each in result["locations"]]


def line_of(text: str, name: str = "tiny.rsm") -> int:
    return next(n for n, line in enumerate(Path(name).read_text("utf-8").splitlines(), 1) if text in line)


def written(*words: str) -> int:
    return main([*words, "--junit", "a.xml", "--sarif", "a.sarif"])


def test_what_is_as_expected_passes_and_is_no_finding() -> None:
    assert written("check", "tiny.rsm", "--check", "as_expected", "-q") == Exit.EXPECTED
    (suite,) = suites()
    (case,) = suite

    assert (case.get("classname"), case.get("name")) == ("tiny", "as_expected")
    assert [element.tag for element in case] == ["system-out"]
    assert "Replica = 2" in (case.findtext("system-out") or "")
    assert [each["level"] for each in results() if each["level"] != "note"] == []


def test_an_unexpected_verdict_is_a_failure_with_its_story() -> None:
    assert written("check", "tiny.rsm", "--check", "surprise", "-q") == Exit.VIOLATED
    failure = suites()[0].find("testcase/failure")

    assert failure is not None
    assert "violated: safe" in failure.get("message", "")
    assert "crashes." in (failure.text or "")


def test_an_unexpected_verdict_is_an_error_at_its_property_with_the_run() -> None:
    written("check", "tiny.rsm", "--check", "surprise", "-q")
    (found,) = [each for each in results() if each["ruleId"] == "tiny/safe"]

    assert found["level"] == "error"
    assert lines(found) == [line_of("invariant safe")]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "tiny.rsm"
    assert "check surprise of tiny: Replica = 2" in found["message"]["text"]
    assert [each["physicalLocation"]["region"]["startLine"] for each in found["relatedLocations"]] == [
        line_of("check surprise")
    ]
    (crash,) = [each for each in stages(found) if "crashes" in each["message"]["text"]]
    assert crash["physicalLocation"]["region"]["startLine"] == line_of("fault crash")


def test_a_count_that_differs_is_an_error_at_the_check() -> None:
    written("check", "tiny.rsm", "--check", "surprise", "-q")
    (found,) = [each for each in results() if each["ruleId"] == "expectation"]

    assert (found["level"], lines(found)) == ("error", [line_of("check surprise")])
    assert "states 17" in found["message"]["text"]


def test_what_is_not_known_is_an_error_of_a_case_and_a_warning() -> None:
    assert written("check", "tiny.rsm", "--check", "large", "--max-states", "100", "-q") == Exit.UNKNOWN
    error = suites()[0].find("testcase/error")

    assert error is not None
    assert error.get("type") == "unknown"
    assert [(each["ruleId"], each["level"]) for each in results()] == [("tiny/mono", "warning")]


def test_what_an_engine_cannot_do_is_skipped_with_the_reason() -> None:
    code = written("check", "tiny.rsm", "--check", "as_expected", "--engine", "bmc", "-q")
    skipped = suites()[0].find("testcase/skipped")

    assert code == Exit.UNKNOWN
    assert skipped is not None
    assert "bmc cannot do" in skipped.get("message", "")
    assert [each["level"] for each in results()] == ["warning"]


def test_strict_makes_errors_of_what_is_never_used() -> None:
    written("check", "tiny.rsm", "--check", "as_expected", "--strict", "-q")
    strict = [each for each in results() if each["ruleId"].startswith("never-")]
    written("check", "tiny.rsm", "--check", "as_expected", "-q")
    mild = [each for each in results() if each["ruleId"].startswith("never-")]

    assert {each["level"] for each in strict} <= {"error"}
    assert {each["level"] for each in mild} <= {"note"}
    assert len(strict) == len(mild)


def test_every_property_that_was_asked_about_has_a_rule() -> None:
    written("check", "tiny.rsm", "--check", "as_expected", "-q")
    rules = json.loads(Path("a.sarif").read_text("utf-8"))["runs"][0]["tool"]["driver"]["rules"]
    asked = {f"tiny/{each.name}" for each in load("tiny.rsm")[0].properties}

    assert asked <= {rule["id"] for rule in rules}


def test_wrong_input_is_told_with_its_code_and_place(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad one.rsm").write_text("protocol bad\n\ninvariant x: 1 + true\n", encoding="utf-8")
    assert written("check", "bad one.rsm") == Exit.WRONG
    found, case = results(), suites()[0].find("testcase/error")

    assert case is not None
    assert (case.text or "") in capsys.readouterr().err
    assert {each["level"] for each in found} == {"error"}
    assert all(each["ruleId"].startswith("R0") for each in found)
    assert found[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "bad%20one.rsm"
    assert lines(found[0]) == [3]
    assert not json.loads(Path("a.sarif").read_text("utf-8"))["runs"][0]["invocations"][0][
        "executionSuccessful"
    ]


def test_a_protocol_of_the_library_has_the_place_of_its_file() -> None:
    written("check", "kafka", "--check", "jepsen", "--faults", "2", "-q")
    uris = {
        place["physicalLocation"]["artifactLocation"]["uri"]
        for each in results()
        for place in each["locations"]
    }

    assert uris == {(ROOT / "spec" / "protocols" / "kafka.rsm").as_uri()}


def test_what_has_no_file_has_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    assert written("check", "tiny.rsm", "--check", "nothing") == Exit.WRONG

    assert [each["locations"] for each in results()] == [[]]


def test_files_of_an_earlier_run_are_written_over_and_others_are_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for _ in range(2):
        assert written("check", "tiny.rsm", "--check", "as_expected", "-q") == Exit.EXPECTED
    for name in ("a.xml", "a.sarif"):
        own = Path(name).read_text("utf-8")
        Path(name).write_text("<somebody/>", encoding="utf-8")
        assert written("check", "tiny.rsm", "--check", "as_expected", "-q") == Exit.WRONG
        assert Path(name).read_text("utf-8") == "<somebody/>"
        Path(name).write_text(own, encoding="utf-8")
    assert "would be written over" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("option", ["--junit", "--sarif"])
def test_a_full_disk_is_told(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["check", "tiny.rsm", "--check", "as_expected", "-q", option, "/dev/full"])

    assert code == Exit.WRONG
    assert "no space left" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--junit", "--sarif"])
def test_a_path_that_cannot_be_written_is_told_before_the_search(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["check", "tiny.rsm", "-q", option, "nowhere/a.xml"])

    assert code == Exit.WRONG
    assert "as_expected" not in capsys.readouterr().out


def test_what_xml_cannot_have_is_replaced() -> None:
    text = junit(
        Report((CaseReport("a\x00b", "\ud800<&>", CaseStatus.FAILED, 0.0, "\x1b[31m", "\ufffe]]>"),))
    )

    case = ET.fromstring(text).find("testsuite/testcase")  # noqa: S314 - it is ours
    assert case is not None
    assert case.get("name") == "\N{REPLACEMENT CHARACTER}<&>"


def test_the_marks_are_known_again() -> None:
    assert is_ours(marked("junit", junit(Report())))
    assert is_ours(marked("sarif", sarif(Report(), "check")))
    assert not is_ours(sarif(Report(), "check").replace('"modelcheck"', '"another"').encode())


def test_an_error_of_the_model_stands_where_it_is_made() -> None:
    wrong = "invariant partial: forall r: Replica. r.hw == 0 or r.log[r.hw] == 1"
    text = Path("tiny.rsm").read_text("utf-8").replace("reachable full", f"{wrong}\nreachable full")
    Path("tiny.rsm").write_text(text, encoding="utf-8")
    (model,) = load("tiny.rsm")
    outcome = check(model, replace(model.checks[0], expect=()))
    assert outcome.findings.error is not None
    Path("a.sarif").write_text(sarif(of_outcomes([outcome]), "check"), encoding="utf-8")

    errors = [each for each in results() if each["ruleId"].startswith("R06")]
    assert [lines(each) for each in errors] == [[line_of("invariant partial")]]


def test_a_partial_outcome_says_nothing_of_counts() -> None:
    (model,) = load("tiny.rsm")
    question = next(each for each in model.checks if each.name == "surprise")
    found = check(model, question)
    part = replace(found, findings=replace(found.findings, end=End.STATES))
    whole, partial = of_outcomes([found]), of_outcomes([part])

    assert "expectation" in {each.rule.name for each in whole.findings}
    assert "expectation" not in {each.rule.name for each in partial.findings}


def test_a_review_points_at_the_setting(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["jepsen.properties", "producer.properties"]
    for name in names:
        Path(name).write_text((ROOT / "examples" / name).read_text("utf-8"), encoding="utf-8")
    asked = ["--kafka", "0.8.1", "--brokers", "2", "--require", "durable:2", "--require", "committed:1"]
    assert written("kafka", "review", *names, *asked) == Exit.VIOLATED
    capsys.readouterr()
    (suite,) = suites()
    came = {case.get("name"): [e.tag for e in case if e.tag != "system-out"] for case in suite}
    (durable,) = [each for each in results() if each["ruleId"] == "review/durable"]
    (committed,) = [each for each in results() if each["ruleId"] == "review/committed"]

    assert came["required durable:2"] == ["failure"]
    assert came["required committed:1"] == []
    assert came["durable"] == []
    assert (durable["level"], committed["level"]) == ("error", "warning")
    place = durable["locations"][0]["physicalLocation"]
    uri, number = place["artifactLocation"]["uri"], place["region"]["startLine"]
    assert uri in names
    assert "acks" in Path(uri).read_text("utf-8").splitlines()[number - 1]
    assert "prevented by min.insync.replicas=2" in durable["message"]["text"]


def test_a_configuration_that_is_wrong_is_told_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("server.properties").write_text("broker.id=1\nmin.insync.replicas=two\n", encoding="utf-8")
    assert written("kafka", "review", "server.properties", "--kafka", "3.7") == Exit.WRONG

    found = results()
    assert [lines(each) for each in found] == [[2]]
    assert suites()[0].find("testcase/error") is not None
    assert "R07" in capsys.readouterr().err


def test_an_estimate_decides_nothing_to_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert written("check", "tiny.rsm", "--estimate") == Exit.WRONG
    assert "--estimate goes with neither" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="limits of a process are asked of POSIX")
def test_a_file_is_there_as_a_whole_or_not_at_all() -> None:
    """A file may not grow beyond some bytes, as on a disk that is nearly full."""
    limited = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600));"
        "from modelcheck.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    words = ["check", "tiny.rsm", "--check", "as_expected", "-q", "--engine", "reference"]
    run = subprocess.run(
        [sys.executable, "-c", limited, *words, "--sarif", "a.sarif"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == Exit.WRONG
    assert "cannot be written" in run.stderr
    assert sorted(each.name for each in Path().iterdir()) == ["tiny.rsm"]
