"""`modelcheck serve lsp`, asked by pygls's own client over the standard streams, and in this process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from modelcheck.contract.exits import Exit

ROOT = Path(__file__).parent.parent.parent
TINY = (ROOT / "tests" / "modelcheck" / "tiny.rsm").read_text(encoding="utf-8")
URI = "file:///models/tiny.rsm"
PATIENCE = 120  # seconds that a session, or the end of a process, is waited for
Json = Any

needs_pygls = pytest.mark.skipif(find_spec("pygls") is None, reason="the package pygls is not installed")


class Editor:
    """An editor: the client, and what it was told of each text."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - of pygls
        self.client = client
        self.told: dict[str, Any] = {}
        self.refreshed = 0

    def open(self, text: str, uri: str = URI) -> None:
        from lsprotocol import types as lsp  # noqa: PLC0415 - it need not be there

        document = lsp.TextDocumentItem(uri, "rsm", 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))

    def change(
        self, version: int, text: str, place: tuple[int, int, int] | None = None, uri: str = URI
    ) -> None:
        """Put a text in place of all, or in a line from one column to another."""
        from lsprotocol import types as lsp  # noqa: PLC0415 - as above

        document = lsp.VersionedTextDocumentIdentifier(uri=uri, version=version)
        change: Any = lsp.TextDocumentContentChangeWholeDocument(text)
        if place is not None:
            line, start, end = place
            between = lsp.Range(lsp.Position(line, start), lsp.Position(line, end))
            change = lsp.TextDocumentContentChangePartial(between, text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))

    async def diagnostics(self, version: int, count: int, uri: str = URI) -> list[Any]:
        """So many diagnostics of a version, when they come."""
        return list(await until(lambda: self._of(version, count, uri)))

    def _of(self, version: int, count: int, uri: str) -> tuple[Any, ...] | None:
        told = self.told.get(uri)
        if told is None or told.version != version or len(told.diagnostics) != count:
            return None
        return (*told.diagnostics,)

    async def command(self, name: str, check: str, uri: str = URI) -> Json:
        from lsprotocol import types as lsp  # noqa: PLC0415 - as above

        params = lsp.ExecuteCommandParams(name, [uri, check])
        return await self.client.workspace_execute_command_async(params)

    async def lenses(self, uri: str = URI) -> list[str]:
        from lsprotocol import types as lsp  # noqa: PLC0415 - as above

        params = lsp.CodeLensParams(lsp.TextDocumentIdentifier(uri))
        return [each.command.title for each in await self.client.text_document_code_lens_async(params)]


async def until(look: Callable[[], Json | None]) -> Json:
    """What is found in the end."""
    while (found := look()) is None:  # noqa: ASYNC110 - whoever is waited for is another process
        await asyncio.sleep(0.01)
    return found


def session(use: Callable[[Editor], Awaitable[Json]], *options: str, encodings: tuple[str, ...] = ()) -> Json:
    """What comes of a session with a server of its own."""
    from lsprotocol import types as lsp  # noqa: PLC0415 - as above
    from pygls.lsp.client import LanguageClient  # noqa: PLC0415 - as above

    async def talk() -> Json:
        client: Any = LanguageClient("tests", "1")
        editor = Editor(client)
        client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(
            lambda params: editor.told.__setitem__(params.uri, params)
        )
        await client.start_io(
            sys.executable,
            "-m",
            "modelcheck",
            "serve",
            "lsp",
            *options,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        general = lsp.GeneralClientCapabilities(position_encodings=[*encodings] or None)
        capabilities = lsp.ClientCapabilities(general=general)
        async with asyncio.timeout(PATIENCE):
            await client.initialize_async(lsp.InitializeParams(capabilities=capabilities))
            client.initialized(lsp.InitializedParams())
            found = await use(editor)
            await client.shutdown_async(None)
            client.exit(None)
            await client._server.wait()
        assert client._server.returncode == 0
        await client.stop()
        return found

    return asyncio.run(talk())


@needs_pygls
def test_a_mistake_is_told_as_one_types_and_goes_when_it_is_mended() -> None:
    text = TINY.replace('says "The controller', 'says "\U0001f600 {laeder} The controller')

    async def use(editor: Editor) -> Json:
        editor.open(text)
        (wrong,) = await editor.diagnostics(1, 1)
        place = wrong.range
        mended = (place.start.line, place.start.character, place.end.character)
        editor.change(2, "leader", mended)
        await editor.diagnostics(2, 0)
        return wrong

    wrong = session(use, "--background", "none", encodings=("utf-8",))

    assert (wrong.code, wrong.source) == ("R0208", "modelcheck")
    assert "did you mean `leader`?" in wrong.message
    line = text.splitlines()[wrong.range.start.line]
    assert wrong.range.start.character == line.index("laeder") + 3  # the bytes that the face has more


@needs_pygls
def test_a_check_runs_by_itself_and_its_story_is_a_click_away() -> None:
    async def use(editor: Editor) -> Json:
        editor.open(TINY)
        await editor.diagnostics(1, 0)
        before = await editor.lenses()
        after = before
        while not after[0].startswith("✓"):
            await asyncio.sleep(0.05)
            after = await editor.lenses()
        surprise = await editor.command("modelcheck.story", "surprise")
        page = await editor.command("modelcheck.page", "surprise")
        editor.change(2, TINY.replace("Epoch = 2", "Epoch = 1", 1))
        await editor.diagnostics(2, 0)
        return before, after, surprise, page, await editor.lenses()

    before, after, surprise, page, changed = session(use)

    assert before[0].startswith("run · expects: safe is violated with 1 fault in 6 steps")
    assert after[0].startswith("✓ as expected · 112 states · ")
    assert after[1:3] == ["story", "page"]
    assert after[3].startswith("run")  # its scope is not the smallest
    assert "violated" in surprise
    assert page.lower().startswith("<!doctype html>")
    assert changed[0].startswith("run")  # what was found was of another text


@needs_pygls
def test_shutdown_during_a_check_ends_it() -> None:
    """The check would take longer than a session waits for the end of its server."""

    async def use(editor: Editor) -> list[str]:
        editor.open(TINY)
        await editor.diagnostics(1, 0)
        await editor.command("modelcheck.run", "large")
        return await editor.lenses()

    assert "stop (running …)" in session(use, "--background", "none", "--max-time", str(10 * PATIENCE))


@needs_pygls
def test_a_thousand_quick_edits_come_to_the_last_of_them() -> None:
    async def use(editor: Editor) -> Json:
        editor.open(TINY)
        for version in range(2, 1002):
            editor.change(version, "x" if version % 2 else "//", (3, 0, 0))
        (wrong,) = await editor.diagnostics(1001, 1)
        editor.change(1002, TINY)
        await editor.diagnostics(1002, 0)
        return wrong

    wrong = session(use, "--background", "none")

    assert wrong.code == "R0101"


@needs_pygls
def test_a_server_that_is_killed_takes_its_checks_with_it() -> None:
    program = (
        "import asyncio, modelcheck.commands.serve.mcp.asked as asked\n"
        "request = {'tool': 'check', 'file': 'tests/modelcheck/tiny.rsm', 'check': 'large', 'seconds': 60}\n"
        "asyncio.run(asked.answer(request, 60, None))"
    )
    server = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT)
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children")
    if not children.exists():
        server.kill()
        pytest.skip("this system does not tell whose child a process is")
    while not (found := children.read_text(encoding="ascii").split()):
        time.sleep(0.01)
    server.kill()
    server.wait()
    until_when = time.monotonic() + PATIENCE
    while _runs(int(found[0])) and time.monotonic() < until_when:
        time.sleep(0.05)

    assert not _runs(int(found[0]))


@needs_pygls
def test_an_editor_that_dies_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "tiny.rsm"
    path.write_text(TINY, encoding="utf-8")
    program = f"""
import asyncio, os, sys, time
sys.path.insert(0, {str(ROOT)!r})
from tests.modelcheck.test_lsp import Editor, TINY, session
async def use(editor):
    editor.open(TINY)
    await editor.diagnostics(1, 0)
    await editor.command("modelcheck.run", "large")
    server, children = editor.client._server.pid, ""
    told = f"/proc/{{server}}/task/{{server}}/children"
    while os.path.exists(told) and not (children := open(told).read()):
        await asyncio.sleep(0.01)
    sys.stdout.write(f"{{server}} {{children}}"); sys.stdout.flush()
    os._exit(9)
session(use, "--background", "none", "--max-time", "1000")
"""
    editor = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    processes = [int(each) for each in editor.stdout.split()]
    until_when = time.monotonic() + PATIENCE
    while any(map(_runs, processes)) and time.monotonic() < until_when:
        time.sleep(0.05)

    assert editor.returncode == 9
    assert len(processes) >= 2 or not Path("/proc").exists()  # the server, and the check that it runs
    assert not any(map(_runs, processes))


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def framed(method: str, number: int | None, params: Json) -> bytes:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    body = json.dumps(message if number is None else {**message, "id": number}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


@needs_pygls
def test_a_wrong_question_is_a_line_in_the_log_of_the_editor() -> None:
    """It was a traceback."""
    place = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}, "newName": "x"}
    opened = {"uri": URI, "languageId": "rsm", "version": 1, "text": TINY}
    asked = [
        framed("initialize", 1, {"processId": None, "rootUri": None, "capabilities": {}}),
        framed("textDocument/didOpen", None, {"textDocument": opened}),
        framed("textDocument/rename", 2, place),
        framed("workspace/executeCommand", 3, {"command": "no.such"}),
        framed("shutdown", 4, None),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "modelcheck", "serve", "lsp"],
        cwd=ROOT,
        input=b"".join(asked),
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == Exit.EXPECTED
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"modelcheck serve lsp: ") == 2


@needs_pygls
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda each: each.name)
@pytest.mark.parametrize("command", ["lsp", "mcp"])
def test_a_server_ends_at_once_when_it_is_asked_to(command: str, number: signal.Signals) -> None:
    """A thread that reads its input would hold it, until that ends."""
    pytest.importorskip("pygls" if command == "lsp" else "mcp")
    with subprocess.Popen(
        [sys.executable, "-m", "modelcheck", "serve", command],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        hello = {"protocolVersion": "2025-06-18", "clientInfo": {"name": "x", "version": "1"}}
        asked: Json = {"processId": None, "rootUri": None, "capabilities": {}} | (
            hello if command == "mcp" else {}
        )
        message = framed("initialize", 1, asked)
        server.stdin.write(message if command == "lsp" else message.partition(b"\r\n\r\n")[2] + b"\n")
        server.stdin.flush()
        server.stdout.read(1)  # then it serves
        server.send_signal(number)

        assert server.wait(timeout=60) == -number


def test_without_pygls_it_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['pygls'] = None; from modelcheck.cli import main; "
        "sys.exit(main(['serve', 'lsp']))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )

    assert run.returncode == Exit.WRONG
    assert "python -m pip install 'modelcheck[lsp]'" in run.stderr
    assert "Traceback" not in run.stderr
