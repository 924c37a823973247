"""What the language server answers, asked in this process."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from spec.formatting.format import format_text
from spec.load import loads, read
from tests.spec.editing.test_names import MODEL

if find_spec("pygls") is None:
    pytest.skip("the package pygls is not installed", allow_module_level=True)

import lsprotocol.types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from modelcheck.commands.serve.lsp.running import CheckAnswer, TextChecks, in_background
from modelcheck.commands.serve.lsp.server import _Desk, made

ANSWER = {
    "summary": "as expected",
    "stats": {"states": 1234, "seconds": 0.25, "ready": 0.1},
    "mismatches": [{"expected": "few holds", "found": "violated with 1 fault in 2 steps", "known": True}],
    "properties": [{"name": "few", "verdict": "violated", "words": "violated in 2 steps", "expected": False}],
}


class Stub:
    """Stands for the protocol: what was published, and the folders of an editor."""

    def __init__(self, folder: Path) -> None:
        self.workspace = SimpleNamespace(folders={}, root_uri=folder.as_uri(), position_encoding="utf-16")
        self.client_capabilities = lsp.ClientCapabilities()
        self.published: dict[str, lsp.PublishDiagnosticsParams] = {}

    def text_document_publish_diagnostics(self, params: lsp.PublishDiagnosticsParams) -> None:
        self.published[params.uri] = params


class Desk:
    """An editor with one file of the model, and what it asks."""

    def __init__(self, folder: Path) -> None:
        self.stub = Stub(folder)
        self.desk = _Desk(cast("LanguageServer", self.stub), "none", 5, None)
        self.folder = folder

    def uri(self, name: str = "small.rsm") -> str:
        return (self.folder / name).as_uri()

    def open(self, text: str, name: str = "small.rsm") -> None:
        document = lsp.TextDocumentItem(self.uri(name), "rsm", 1, text)
        self.desk.opened(lsp.DidOpenTextDocumentParams(document))
        buffer = self.desk._buffers.get(document.uri)
        assert buffer is not None
        self.desk._buffers.known(buffer, whole=True)  # as after a while

    def at(self, text: str, place: str, name: str = "small.rsm") -> dict[str, Any]:
        offset = text.index(place)
        line = text.count("\n", 0, offset)
        character = offset - text.rfind("\n", 0, offset) - 1
        document = lsp.TextDocumentIdentifier(self.uri(name))
        return {"text_document": document, "position": lsp.Position(line, character)}

    def found(self, locations: list[lsp.Location] | None) -> list[tuple[str, int]]:
        return [(Path(each.uri).name, each.range.start.line) for each in locations or ()]


@pytest.fixture
def asks(tmp_path: Path) -> Callable[[Callable[[Desk], Any]], Any]:
    """Ask something where there is a loop, in which texts would be looked at later."""

    def asked(use: Callable[[Desk], Any]) -> Any:  # noqa: ANN401 - whatever is answered
        async def inside() -> Any:  # noqa: ANN401 - as above
            desk = Desk(tmp_path)
            found = use(desk)
            await desk.desk.shutdown(None)
            return found

        return asyncio.run(inside())

    return asked


Asks = Callable[[Callable[[Desk], Any]], Any]


def answered(
    place: str, ask: Callable[[Desk, dict[str, Any]], Any], text: str = MODEL
) -> Callable[[Desk], Any]:
    def use(desk: Desk) -> Any:  # noqa: ANN401 - as above
        desk.open(text)
        return ask(desk, desk.at(text, place))

    return use


def test_hover_tells_a_type_its_size_and_where_that_is_from(asks: Asks) -> None:
    found = asks(answered("votes:", lambda desk, at: desk.desk.hover(lsp.HoverParams(**at))))

    assert found.contents.value.startswith("```rsm\nvotes: set[Vote] = {}\n```")
    assert "of type `set[Vote]`: 256 values in the smallest scope, that of `one` (" in found.contents.value


@pytest.mark.parametrize(
    ("place", "said"),
    [("size(votes)", "how many elements"), ("require", "a guard"), ("volatile", "first value")],
)
def test_hover_tells_what_the_manual_says_of_words(place: str, said: str, asks: Asks) -> None:
    found = asks(answered(place, lambda desk, at: desk.desk.hover(lsp.HoverParams(**at))))

    assert said in found.contents.value


def test_hover_tells_more_of_a_mistake(asks: Asks) -> None:
    text = MODEL.replace("size(votes)", "size(vots)")
    found = asks(answered("vots", lambda desk, at: desk.desk.hover(lsp.HoverParams(**at)), text))

    assert "R0208" in found.contents.value


def test_completion_replaces_what_is_typed_of_a_name(asks: Asks) -> None:
    text = MODEL.replace("size(votes)", "size(vo)")
    found = asks(answered(") >= 0", lambda desk, at: desk.desk.completion(lsp.CompletionParams(**at)), text))
    (votes,) = [each for each in found.items if each.label == "votes"]

    assert votes.text_edit.range.end.character - votes.text_edit.range.start.character == 2
    assert votes.documentation.value.startswith("```rsm\nvotes:")


def test_a_definition_is_everywhere_where_a_variant_declares_it_again(asks: Asks) -> None:
    found = asks(
        answered("few holds", lambda desk, at: desk.found(desk.desk.definition(lsp.DefinitionParams(**at))))
    )

    assert [line for _, line in found] == [
        n for n, line in enumerate(MODEL.splitlines()) if "invariant few" in line
    ]


def test_an_unsaved_text_counts_in_the_files_that_go_on_from_it(asks: Asks, tmp_path: Path) -> None:
    (tmp_path / "small.rsm").write_text("protocol small\n", encoding="utf-8")
    own = 'import "small.rsm"\n\ninvariant again: size(votes) >= 0\n'

    def use(desk: Desk) -> Any:  # noqa: ANN401 - as above
        desk.open(MODEL)
        desk.open(own, "own.rsm")
        at = desk.at(own, "votes", "own.rsm")
        context = lsp.ReferenceContext(include_declaration=True)
        references = desk.desk.references(lsp.ReferenceParams(context, **at))
        definition = desk.desk.definition(lsp.DefinitionParams(**at))
        edit = desk.desk.rename(lsp.RenameParams(new_name="ballots", **at))
        return desk.found(definition), desk.found(references), edit

    definition, references, edit = asks(use)

    assert definition == [("small.rsm", MODEL[: MODEL.index("votes")].count("\n"))]
    assert sorted({name for name, _ in references}) == ["own.rsm", "small.rsm"]
    assert sorted(len(changes) for changes in edit.changes.values()) == [1, 4]


def test_a_mistake_in_another_file_stands_at_the_import(asks: Asks, tmp_path: Path) -> None:
    (tmp_path / "small.rsm").write_text(
        MODEL.replace("size(votes) >= 0", "size(vots) >= 0"), encoding="utf-8"
    )

    async def use() -> lsp.PublishDiagnosticsParams:
        desk = Desk(tmp_path)
        desk.open('import "small.rsm"\n', "own.rsm")
        await desk.desk._looks[desk.uri("own.rsm")]
        told = desk.stub.published[desk.uri("own.rsm")]
        await desk.desk.shutdown(None)
        return told

    (found,) = asyncio.run(use()).diagnostics

    assert found.range.start == lsp.Position(0, 0)
    assert found.related_information is not None
    assert Path(found.related_information[0].location.uri).name == "small.rsm"


def test_a_rename_that_would_catch_a_name_is_refused_with_its_reason(asks: Asks) -> None:
    def use(desk: Desk) -> str:
        desk.open(MODEL)
        with pytest.raises(JsonRpcInvalidParams) as refused:
            desk.desk.rename(lsp.RenameParams(new_name="n", **desk.at(MODEL, "vote = ")))
        with pytest.raises(JsonRpcInvalidParams):
            desk.desk.prepare_rename(lsp.PrepareRenameParams(**desk.at(MODEL, "require")))
        return str(refused.value)

    assert "`n` already has a meaning here" in asks(use)


def test_what_comes_with_the_package_is_not_renamed(asks: Asks) -> None:
    text = "import two_phase_commit\n\ninvariant more: true\n"
    name = "outcome"
    assert name in read("two_phase_commit")
    own = text.replace("true", f"{name} == {name}")

    def use(desk: Desk) -> str:
        desk.open(own)
        with pytest.raises(JsonRpcInvalidParams) as refused:
            desk.desk.rename(lsp.RenameParams(new_name="verdict_", **desk.at(own, name)))
        return str(refused.value)

    assert "which is not changed from here" in asks(use)


def test_a_wrong_word_has_a_fix(asks: Asks) -> None:
    text = MODEL.replace("size(votes)", "size(vots)")

    def use(desk: Desk) -> list[lsp.CodeAction]:
        desk.open(text)
        at = desk.at(text, "vots")
        place = lsp.Range(at["position"], at["position"])
        params = lsp.CodeActionParams(at["text_document"], place, lsp.CodeActionContext([]))
        return desk.desk.actions(params)

    (fix,) = asks(use)

    assert (fix.title, fix.kind) == ("write `votes`", lsp.CodeActionKind.QuickFix)
    ((edit,),) = fix.edit.changes.values()
    assert edit.new_text == "votes"


def test_symbols_of_a_text_and_of_all_files(asks: Asks, tmp_path: Path) -> None:
    (tmp_path / "other.rsm").write_text("protocol other\n\nsort Voter\n", encoding="utf-8")
    (tmp_path / "broken.rsm").write_bytes(b"protocol \xff")

    def use(desk: Desk) -> Any:  # noqa: ANN401 - as above
        desk.open(MODEL)
        own = desk.desk.document_symbols(lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(desk.uri())))
        return own, desk.desk.workspace_symbols(lsp.WorkspaceSymbolParams("vot"))

    own, every = asks(use)

    assert [each.name for each in own[:4]] == ["Node", "Role", "Vote", "Msg"]
    assert sorted(each.name for each in every) == ["Vote", "Voter", "votes"]


def test_formatting_changes_the_lines_that_differ(asks: Asks) -> None:
    formatted = format_text(MODEL)
    text = formatted.replace("  votes.add(vote)", "      votes .add( vote)")

    def use(desk: Desk) -> Any:  # noqa: ANN401 - as above
        desk.open(text)
        document = lsp.TextDocumentIdentifier(desk.uri())
        options = lsp.FormattingOptions(tab_size=2, insert_spaces=True)
        return desk.desk.formatting(lsp.DocumentFormattingParams(document, options))

    (edit,) = asks(use)

    assert edit.new_text == "  votes.add(vote)\n"
    assert edit.range.end.line - edit.range.start.line == 1


def test_what_a_check_came_to_stands_beside_the_text(asks: Asks) -> None:
    def use(desk: Desk) -> Any:  # noqa: ANN401 - as above
        desk.open(MODEL)
        desk.desk._runs._texts[desk.uri()] = TextChecks(
            {"one": CheckAnswer(1, "the story", ANSWER)}
        )  # as if it had run
        document = lsp.TextDocumentIdentifier(desk.uri())
        lenses = desk.desk.lenses(lsp.CodeLensParams(document))
        everywhere = lsp.Range(lsp.Position(0, 0), lsp.Position(999, 0))
        hints = desk.desk.hints(lsp.InlayHintParams(document, everywhere))
        buffer = desk.desk._buffers.get(desk.uri())
        assert buffer is not None
        desk.desk._tell(buffer, desk.desk._buffers.known(buffer))
        return lenses, hints, desk.stub.published[desk.uri()].diagnostics

    lenses, hints, warned = asks(use)

    assert [each.command.title for each in lenses] == [
        "✗ as expected · 1,234 states · 0.3 s · expects: few holds · run again",
        "story",
        "page",
    ]
    assert [(each.label, each.tooltip) for each in hints] == [
        ("✗", "expected: few holds; found: violated with 1 fault in 2 steps"),
        ("✗", "one: violated in 2 steps"),
        ("✗", "one: violated in 2 steps"),
    ]
    assert [each.severity for each in warned] == [lsp.DiagnosticSeverity.Warning]


BEGINNINGS = ("", "\ud83d", "protocol", "import raft", MODEL[: len(MODEL) // 2], "\r\r\n\u2028")


@pytest.mark.parametrize("text", BEGINNINGS, ids=map(str, range(len(BEGINNINGS))))
def test_nothing_that_is_asked_of_half_a_file_fails(text: str, asks: Asks) -> None:
    def use(desk: Desk) -> None:
        desk.open(text)
        document = lsp.TextDocumentIdentifier(desk.uri())
        for place in (lsp.Position(0, 0), lsp.Position(0, 1), lsp.Position(9999, 9999)):
            at: dict[str, Any] = {"text_document": document, "position": place}
            desk.desk.hover(lsp.HoverParams(**at))
            desk.desk.completion(lsp.CompletionParams(**at))
            desk.desk.definition(lsp.DefinitionParams(**at))
            desk.desk.references(lsp.ReferenceParams(lsp.ReferenceContext(include_declaration=True), **at))
        desk.desk.document_symbols(lsp.DocumentSymbolParams(document))
        desk.desk.lenses(lsp.CodeLensParams(document))

    asks(use)


def test_the_server_says_what_it_can() -> None:
    server = made("none", 1, None)

    assert {"modelcheck.run", "modelcheck.stop", "modelcheck.story", "modelcheck.page"} <= {
        *server.protocol.fm.commands
    }
    assert lsp.TEXT_DOCUMENT_CODE_LENS in server.protocol.fm.features


def test_the_page_on_editors_names_every_command() -> None:
    page = (Path(__file__).parents[2] / "docs/how-to/use-an-editor.md").read_text(encoding="utf-8")
    commands = made("none", 1, None).protocol.fm.commands

    assert re.findall(r"^\| `(modelcheck\.\w+)`", page, re.MULTILINE) == list(commands)


def test_hover_reads_well(asks: Asks, golden: Callable[[str, str], None]) -> None:
    places = (
        "votes:",
        "Vote {",
        "term: 0..3 }",
        "leader,",
        "terms(of",
        "ask(n",
        "calm",
        "few:",
        "bold",
        "size",
        "holds }",
    )

    def use(desk: Desk) -> str:
        desk.open(MODEL)
        found = [desk.desk.hover(lsp.HoverParams(**desk.at(MODEL, place))) for place in places]
        texts = [
            each.contents.value for each in found if each and isinstance(each.contents, lsp.MarkupContent)
        ]
        assert len(texts) == len(places)
        return "\n\n=====\n\n".join(texts) + "\n"

    golden("editors/hover.md", asks(use))


def test_a_change_of_a_text_is_told_of_those_that_go_on_from_it(tmp_path: Path) -> None:
    own = 'import "small.rsm"\n\ninvariant again: size(votes) >= 0\n'

    async def use() -> list[int]:
        desk = Desk(tmp_path)
        desk.open(MODEL)
        desk.open(own, "own.rsm")
        counts = []
        for text in (MODEL, MODEL.replace("votes", "ballots")):
            document = lsp.VersionedTextDocumentIdentifier(uri=desk.uri(), version=2)
            change = lsp.TextDocumentContentChangeWholeDocument(text)
            desk.desk.changed(lsp.DidChangeTextDocumentParams(document, [change]))
            await desk.desk._looks[desk.uri("own.rsm")]
            counts.append(len(desk.stub.published[desk.uri("own.rsm")].diagnostics))
        await desk.desk.shutdown(None)
        return counts

    assert asyncio.run(use()) == [0, 1]


class Slow:
    """Stands for processes that answer requests: each waits until it is ended."""

    def __init__(self) -> None:
        self.has_begun, self.has_ended = asyncio.Event(), asyncio.Event()
        self.ended: list[str] = []

    async def answer(self, request: dict[str, Any], _seconds: float, _folder: str) -> dict[str, Any]:
        self.has_begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            self.ended.append(request["check"])
            self.has_ended.set()
        return {"exit": 0, "says": "", "data": ANSWER}


@pytest.mark.parametrize("how", ["stop", "change", "close", "shutdown"])
def test_a_check_that_runs_is_ended(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow()
    monkeypatch.setattr("modelcheck.commands.serve.mcp.asked.answer", slow.answer)

    async def use() -> str | None:
        desk = Desk(tmp_path)
        desk.open(MODEL)
        desk.desk.run(desk.uri(), "one")
        await slow.has_begun.wait()
        document = lsp.TextDocumentIdentifier(desk.uri())
        match how:
            case "stop":
                desk.desk.stop(desk.uri(), "one")
            case "change":
                renewed = lsp.VersionedTextDocumentIdentifier(uri=desk.uri(), version=2)
                change = lsp.TextDocumentContentChangeWholeDocument(MODEL + "\n")
                desk.desk.changed(lsp.DidChangeTextDocumentParams(renewed, [change]))
            case "close":
                desk.desk.closed(lsp.DidCloseTextDocumentParams(document))
            case _:
                await desk.desk.shutdown(None)
        await slow.has_ended.wait()
        await asyncio.sleep(0)
        titles = [
            each.command.title for each in desk.desk.lenses(lsp.CodeLensParams(document)) if each.command
        ]
        await desk.desk.shutdown(None)
        return titles[0] if titles else None

    title = asyncio.run(use())

    assert slow.ended == ["one"]
    assert (title or "").startswith("? stopped" if how == "stop" else "run" if how != "close" else "")


def test_checks_run_one_after_the_other_the_smallest_first() -> None:
    models = loads(
        MODEL
        + "check two of bold { scope Node = 1 faults none }\ncheck three { scope Node = 5 faults none }\n"
        "check four { scope Node = 3 faults none }\n"
    )

    assert list(in_background(models, "smallest")) == ["two", "four"]
    assert list(in_background(models, "all")) == ["two", "one", "four", "three"]
    assert list(in_background(models, "none")) == []
