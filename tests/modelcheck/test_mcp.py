"""`modelcheck serve mcp`, asked by the official SDK's own client over the standard streams."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from counterexamples.itf.write import write
from modelcheck.cli import main
from modelcheck.commands.serve.mcp import jobs
from modelcheck.commands.serve.mcp.asked import answer as ask
from modelcheck.commands.serve.mcp.work import answered
from modelcheck.contract.exits import Exit
from tests.counterexamples.runs import TOY, divergence
from tests.hostile_files import patience

ROOT = Path(__file__).parent.parent.parent
TINY = "tests/modelcheck/tiny.rsm"
JOBS = {"review", "frontier", "inspect", "explain_log", "necessity", "protocols", "protocol"}
TOOLS = {"check", "explain", "replay", "certificate", "certify"} | JOBS
Json = Any
Calls = list[tuple[str, dict[str, Any]]]

needs_sdk = pytest.mark.skipif(find_spec("mcp") is None, reason="the package mcp is not installed")


def session(
    use: Callable[[Any], Coroutine[Any, Any, Json]],
    *options: str,
    folder: Path = ROOT,
    home: Path | None = None,
) -> Json:
    """What comes of a session with a server of its own, which is started in a folder."""
    from mcp import Client, StdioServerParameters  # noqa: PLC0415 - it need not be there
    from mcp.client.stdio import stdio_client  # noqa: PLC0415 - as above

    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "modelcheck", "serve", "mcp", *options],
        env={**os.environ, "PYTHONPATH": str(ROOT), **({} if home is None else {"HOME": str(home)})},
        cwd=folder,
    )

    async def talk() -> Json:
        async with asyncio.timeout(120), Client(stdio_client(parameters)) as client:
            return await use(client)

    return asyncio.run(talk())


def answers(calls: Calls, *options: str, **where: Any) -> list[Json]:  # noqa: ANN401 - as for `session`
    """The answers to some calls, in one session."""

    async def use(client: Any) -> list[Json]:  # noqa: ANN401 - of the SDK
        return [await client.call_tool(name, arguments) for name, arguments in calls]

    found = session(use, *options, **where)
    for each in found:
        assert "Traceback" not in str(each)
    return list(found)


def answer(name: str, *options: str, **arguments: Any) -> Json:  # noqa: ANN401 - any JSON
    (found,) = answers([(name, arguments)], *options)
    assert not found.is_error, found
    return found.structured_content


@needs_sdk
def test_every_tool_says_what_it_takes_and_gives() -> None:
    async def use(client: Any) -> Json:  # noqa: ANN401 - of the SDK
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in session(use)}

    assert tools.keys() == TOOLS
    for tool in tools.values():
        assert tool.description
        inputs = {name for name, about in tool.input_schema["properties"].items() if about.get("description")}
        assert inputs == tool.input_schema["properties"].keys()
        assert tool.input_schema["additionalProperties"] is False
        assert {"exit", "says", "scope", "data"} <= tool.output_schema["properties"].keys()


@needs_sdk
def test_a_check_is_told_with_its_scope_and_story() -> None:
    found = answer("check", file=TINY, check="surprise")

    assert found["exit"] == Exit.VIOLATED
    assert found["scope"].startswith("check surprise of tiny: Replica = 2, Epoch = 3")
    assert "crashes." in found["says"]
    verdicts = {each["name"]: each["verdict"] for each in found["data"]["properties"]}
    assert (verdicts["safe"], verdicts["mono"]) == ("violated", "holds")
    assert "trace" not in found["data"]["properties"][0]


@needs_sdk
def test_a_text_may_stand_in_place_of_a_file_and_a_check_be_changed() -> None:
    text = (ROOT / TINY).read_text(encoding="utf-8")
    found = answer("check", text=text, check="as_expected", faults="0", scope={"Epoch": 2}, traces=True)

    assert found["exit"] == Exit.EXPECTED
    assert found["data"]["file"] == "model.rsm"
    assert found["data"]["faults"]["total"] == 0
    assert any(each.get("trace") for each in found["data"]["properties"])


@needs_sdk
def test_wrong_input_is_a_diagnostic() -> None:
    wrong, neither, unknown, number = answers(
        [
            ("check", {"text": "protocol x y"}),
            ("check", {}),
            ("check", {"file": TINY, "check": "surprice"}),
            ("check", {"file": TINY, "seconds": -1}),
        ]
    )

    assert wrong.structured_content["exit"] == Exit.WRONG
    assert wrong.structured_content["says"].startswith("model.rsm:1:12: error[R0101]")
    assert wrong.structured_content["data"]["errors"][0]["line"] == 1
    assert neither.structured_content["says"] == "give a file or a text, and not both"
    assert "did you mean `surprise`?" in unknown.structured_content["says"]
    assert all(each.is_error for each in (wrong, neither, unknown, number))


@needs_sdk
def test_an_argument_that_a_tool_does_not_have_is_an_error() -> None:
    scope, none = answers(
        [("check", {"file": TINY, "check": "surprise", "scop": {"Epoch": 2}}), ("explain", {"file": TINY})]
    )

    assert (scope.is_error, none.is_error) == (True, True)
    assert "`scop` is no argument of check: did you mean `scope`?" in scope.content[0].text
    assert "`file` is no argument of explain: there are code" in none.content[0].text


@needs_sdk
def test_no_verdict_and_a_violation_are_answers_and_no_errors() -> None:
    violated, unknown = answers(
        [
            ("check", {"file": TINY, "check": "surprise"}),
            ("check", {"file": TINY, "check": "large", "scope": {"Replica": 7}, "seconds": 1}),
        ]
    )

    assert (violated.structured_content["exit"], violated.is_error) == (Exit.VIOLATED, False)
    assert (unknown.structured_content["exit"], unknown.is_error) == (Exit.UNKNOWN, False)


@needs_sdk
def test_a_nat_of_the_scope_can_be_left_without_a_bound() -> None:
    found = answer(
        "check", file="kafka_deposed", of="kafka", check="deposed_acks_one", scope={"Epoch": "any"}
    )

    assert "Epoch = any" in found["scope"]


# ------------------------------------------------------------------ which files are read

HIDDEN = "what is of somebody else"


@pytest.fixture
def at_work(tmp_path: Path) -> Path:
    """A folder with a model beside a folder with a secret, and ways that lead there."""
    (tmp_path / "work").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret").write_text(f"{HIDDEN}\n", encoding="utf-8")
    (tmp_path / "other" / "tiny.rsm").write_text((ROOT / TINY).read_text("utf-8"), encoding="utf-8")
    (tmp_path / "work" / "tiny.rsm").write_text((ROOT / TINY).read_text("utf-8"), encoding="utf-8")
    (tmp_path / "work" / "link").symlink_to("../other/secret")
    (tmp_path / "work" / "far").symlink_to("../other")
    (tmp_path / "work" / "imports.rsm").write_text('import "../other/secret.rsm"\n', encoding="utf-8")
    (tmp_path / "other" / "secret.rsm").write_text(f"{HIDDEN}\n", encoding="utf-8")
    return tmp_path


ELSEWHERE = (
    *("../other/secret", "link", "far/secret", "far/secret.rsm", "far", "/etc/passwd", "/etc"),
    *("/proc/self/environ", "/dev/stdin", "-", "work\0", "imports.rsm"),
)


@pytest.mark.parametrize("name", [*ELSEWHERE, "{at_work}/other/secret"])
def test_no_tool_says_anything_of_a_file_elsewhere(
    name: str, at_work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(at_work / "work")
    name = name.format(at_work=at_work)
    for request in (
        {"tool": "check", "file": name, "seconds": 1},
        {"tool": "certificate", "file": name, "check": "surprise", "seconds": 1},
        {"tool": "replay", "file": "tiny.rsm", "trace": name},
        {"tool": "certify", "certificate": name, "seconds": 1},
        {"tool": "review", "files": [name], "seconds": 1},
        {"tool": "review", "files": ["tiny.rsm"], "against": [name], "seconds": 1},
        {"tool": "frontier", "files": [name], "seconds": 1},
        {"tool": "inspect", "directories": [name], "seconds": 1},
        {"tool": "inspect", "directories": [f"1={name}"], "seconds": 1},
        {"tool": "explain_log", "directories": [name], "seconds": 1},
        {"tool": "necessity", "file": name, "seconds": 1},
        {"tool": "protocol", "name": [name], "seconds": 1},
    ):
        found = answered({**request, "folders": [str(at_work / "work")]})
        said = json.dumps(found)

        assert found["exit"] == Exit.WRONG, request
        assert HIDDEN not in said
        assert "root:" not in said
        assert "PATH=" not in said


@needs_sdk
def test_a_server_reads_below_its_folder_and_nowhere_else(at_work: Path) -> None:
    outside, text, inside, absolute, shipped = answers(
        [
            ("replay", {"trace": str(at_work / "other" / "secret"), "file": "tiny.rsm"}),
            ("check", {"text": f'import "{at_work}/other/secret.rsm"\n'}),
            ("check", {"file": "tiny.rsm", "check": "surprise"}),
            ("check", {"file": str(at_work / "work" / "tiny.rsm"), "check": "surprise"}),
            ("check", {"file": "quorum", "check": "n3_w2_r1"}),
        ],
        folder=at_work / "work",
    )

    assert (outside.is_error, text.is_error) == (True, True)
    assert HIDDEN not in f"{outside}{text}"
    assert [each.is_error for each in (inside, absolute, shipped)] == [False] * 3


@needs_sdk
def test_other_folders_may_be_named_and_a_home_is_none_by_itself(at_work: Path) -> None:
    call = ("check", {"file": str(at_work / "other" / "tiny.rsm"), "check": "surprise"})
    (named,) = answers([call], str(at_work / "other"), folder=at_work / "work")
    (at_home,) = answers([call], folder=at_work / "other", home=at_work / "other")

    assert not named.is_error
    assert at_home.is_error
    assert "it is not below a folder that may be read here" in at_home.structured_content["says"]


def test_a_folder_that_there_is_not_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mcp")

    assert main(["serve", "mcp", "no/such/folder"]) == Exit.WRONG
    assert "there is no such folder" in capsys.readouterr().err


@needs_sdk
def test_a_request_ends_when_its_time_is_over() -> None:
    found = answer("check", "--max-time", "1", file=TINY, check="large", scope={"Replica": 7}, seconds=500)

    assert (found["exit"], found["seconds"]) == (Exit.UNKNOWN, 1)
    assert "PARTIAL: the limit of time is reached" in found["says"]


@needs_sdk
def test_what_does_not_hear_that_its_time_is_over_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    from modelcheck.commands.serve.mcp import server  # noqa: PLC0415 - it needs the SDK

    monkeypatch.setattr("modelcheck.commands.serve.mcp.asked.GRACE", -59.9)
    request = {"tool": "check", "file": TINY, "check": "large", "seconds": 30}
    found = asyncio.run(server._answered(request, 30, None))

    assert found.exit == Exit.UNKNOWN
    assert "no verdict" in found.says


@pytest.mark.parametrize("turns", [1, 2, 3, 10, 10_000])
def test_a_request_that_is_cancelled_ends_at_once_though_its_process_only_starts(turns: int) -> None:
    """As an editor leaves while it waits for a check."""
    request = {"tool": "check", "file": TINY, "check": "large", "seconds": 99}

    async def leave() -> None:
        task = asyncio.ensure_future(ask(request, 99, None))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()

    with patience():
        asyncio.run(leave())


@needs_sdk
def test_a_code_is_explained() -> None:
    known, unknown = answers([("explain", {"code": "R0101"}), ("explain", {"code": "R9999"})])

    assert known.structured_content["says"].startswith("R0101: ")
    assert unknown.structured_content["exit"] == Exit.WRONG


@needs_sdk
def test_a_trace_is_replayed_or_refused() -> None:
    trace = json.loads(write(divergence()))
    good = answer("replay", trace=trace, file=str(TOY))
    trace["states"][2] = trace["states"][0]
    (bad,) = answers([("replay", {"trace": trace, "file": str(TOY)})])

    assert (good["exit"], good["data"]["steps"]) == (Exit.EXPECTED, len(divergence().steps))
    assert good["scope"].startswith("one run of ")
    assert (bad.structured_content["exit"], bad.is_error) == (Exit.WRONG, True)


@needs_sdk
def test_a_proof_has_a_certificate_and_a_certificate_is_checked() -> None:
    quorum = "tests/modelcheck/symbolic/certificates/quorum.json"
    file = str(ROOT / "spec" / "protocols" / "quorum.rsm")
    proved, again = answers(
        [
            ("certificate", {"file": "quorum", "check": "any_n", "seconds": 60}),
            ("certify", {"certificate": quorum, "file": file, "seconds": 60}),
        ]
    )

    assert proved.structured_content["exit"] == Exit.EXPECTED
    assert proved.structured_content["data"]["characters"] > 1000
    assert again.structured_content["exit"] in {Exit.EXPECTED, Exit.UNKNOWN}  # where no solver is a program
    assert (
        "63 obligations of 9 claims, as the check any_n of proved asks for them"
        in again.structured_content["says"]
    )


@needs_sdk
def test_what_is_not_proved_has_no_certificate() -> None:
    found = answer("certificate", file=TINY, check="as_expected", seconds=20)

    assert found["exit"] != Exit.EXPECTED
    assert not found["data"].get("certificate")


JEPSEN = "examples/jepsen.properties"


@needs_sdk
def test_the_main_jobs_are_asked_as_on_the_command_line() -> None:
    files, texts, cells, shown, listed, spared = answers(
        [
            ("review", {"files": [JEPSEN], "kafka": "0.8.1", "require": ["durable:1"], "data": True}),
            ("review", {"texts": {"a.properties": "broker.id=1\nmin.insync.replicas=2\n"}, "kafka": "3.7"}),
            ("frontier", {"files": ["kafka"], "kafka": "3.7", "over": ["acks=1,all"], "faults": 1}),
            ("protocol", {"name": "raft", "source": True}),
            ("protocols", {"data": True}),
            ("necessity", {"file": "figure8", "check": ["with_the_rule"], "kind": ["quorum"]}),
        ]
    )

    (required,) = files.structured_content["data"]["required"]
    assert (files.structured_content["exit"], required["met"]) == (Exit.VIOLATED, False)
    assert "Kafka 3.7" in texts.structured_content["says"]
    assert "acks" in cells.structured_content["says"]
    assert "protocol raft" in shown.structured_content["says"]
    assert any(each["name"] == "zab" for each in listed.structured_content["data"]["found"])
    assert not spared.is_error


@needs_sdk
def test_directories_of_brokers_are_inspected_and_explained() -> None:
    folder = "tests/modelcheck/kafka/files/clusters/elected_unclean"
    lost = {"directories": [folder.replace("elected_unclean", "last_lost")], "lost": [1], "data": True}
    inspected, explained, emptied = answers(
        [
            ("inspect", {"directories": [folder], "copy": True, "data": True}),
            ("explain_log", {"directories": [folder], "copy": True}),
            ("inspect", lost),
        ]
    )

    assert emptied.structured_content["data"]["start"] == [2, 3, 1]
    assert inspected.structured_content["data"]["partitions"]
    assert "unclean" in explained.structured_content["says"]


@needs_sdk
def test_the_manual_and_the_codes_are_there_to_read() -> None:
    async def use(client: Any) -> Json:  # noqa: ANN401 - of the SDK
        listed = [str(each.uri) for each in (await client.list_resources()).resources]
        return {uri: (await client.read_resource(uri)).contents[0].text for uri in listed}

    pages = session(use)

    assert pages["modelcheck://language"] == (ROOT / "spec/language.md").read_text(encoding="utf-8")
    assert "## R0101" in pages["modelcheck://codes"]


def test_no_argument_of_a_job_writes_a_file_or_is_taken_for_an_option() -> None:
    written = {"html", "csv", "itf", "junit", "sarif", "markdown", "draw", "out", "write_policy", "bootstrap"}
    for name, job in jobs.JOBS.items():
        assert not written & {*job.options, *job.lists, *job.flags}, name

    words = [*jobs.JOBS["review"].words({"files": ["--html=x"], "topic": "--csv", "seconds": 1})]
    assert words == ["--topic=--csv", "--max-time=1s", "--", "./--html=x"]


def test_without_the_sdk_it_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['mcp'] = None; from modelcheck.cli import main; "
        "sys.exit(main(['serve', 'mcp']))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )

    assert run.returncode == Exit.WRONG
    assert "python -m pip install 'modelcheck[mcp]'" in run.stderr
    assert "Traceback" not in run.stderr
