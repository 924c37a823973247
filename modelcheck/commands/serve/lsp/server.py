"""The server: what the Language Server Protocol asks, answered by `spec.editing` and by checks.

The protocol is that of https://microsoft.github.io/language-server-protocol, by pygls.
Nothing here waits for long: a text is looked at model by model, and checks have processes of their own.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

import lsprotocol.types as lsp
from pygls.exceptions import (
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
)
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

import modelcheck.commands.serve.lsp.lsp_data as lsp_data
import spec.syntax.tree as s
from modelcheck.commands.serve.lsp.buffers import Buffer, Buffers, is_shipped, model_files, path_of_name
from modelcheck.commands.serve.lsp.marks import TextMark, expects, marks, verdict
from modelcheck.commands.serve.lsp.running import CheckAnswer, CheckRuns, Failed, Waits, in_background
from modelcheck.contract.version import VERSION
from spec.diagnostics import SpecError
from spec.editing.completion import complete
from spec.editing.described import described
from spec.editing.outline import OutlineEntry, outline
from spec.editing.positions import Lines, Unit
from spec.editing.remedies import remedies
from spec.editing.renaming import NotRenameable, places, rename, renameable
from spec.editing.understood import Understood
from spec.formatting.format import format_text
from spec.imports import goes_on
from spec.source import Source, Span
from spec.syntax.parser import parse

ASKED_WRONGLY = (JsonRpcInvalidParams, JsonRpcInvalidRequest, JsonRpcMethodNotFound, JsonRpcParseError)
PAUSE = 0.02  # seconds without a key before a text is looked at
QUIET = 0.5  # seconds more before its checks run automatically
BETWEEN = 0.001  # seconds between two models, in which keys are heard
MOST_SYMBOLS = 500
LANGUAGE = "rsm"


def serve(background: str, seconds: float, memory: int | None) -> None:
    """Run the language server on the standard streams until the editor exits."""
    told = logging.StreamHandler()
    told.setFormatter(_Brief())
    logging.getLogger("pygls").addHandler(told)
    given, taken = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")  # pygls closes what it is given
    made(background, seconds, memory).start_io(given, taken)


class _Brief(logging.Formatter):
    """A log formatter that prints an editor's wrong requests in one line."""

    def format(self, record: logging.LogRecord) -> str:
        """The record in one line; with a traceback for our bugs."""
        wrong = None if record.exc_info is None else record.exc_info[1]
        return (
            f"modelcheck serve lsp: {wrong}" if isinstance(wrong, ASKED_WRONGLY) else super().format(record)
        )


def made(background: str, seconds: float, memory: int | None) -> LanguageServer:
    """A language server, not started."""
    server = LanguageServer("modelcheck", VERSION)
    desk = _Desk(server, background, seconds, memory)
    features: dict[str, tuple[Callable[..., Any], Any]] = {
        lsp.INITIALIZE: (desk.initialize, None),
        lsp.SHUTDOWN: (desk.shutdown, None),
        lsp.TEXT_DOCUMENT_DID_OPEN: (desk.opened, None),
        lsp.TEXT_DOCUMENT_DID_CHANGE: (desk.changed, None),
        lsp.TEXT_DOCUMENT_DID_CLOSE: (desk.closed, None),
        lsp.TEXT_DOCUMENT_HOVER: (desk.hover, None),
        lsp.TEXT_DOCUMENT_COMPLETION: (desk.completion, lsp.CompletionOptions(trigger_characters=["."])),
        lsp.TEXT_DOCUMENT_DEFINITION: (desk.definition, None),
        lsp.TEXT_DOCUMENT_REFERENCES: (desk.references, None),
        lsp.TEXT_DOCUMENT_PREPARE_RENAME: (desk.prepare_rename, None),
        lsp.TEXT_DOCUMENT_RENAME: (desk.rename, lsp.RenameOptions(prepare_provider=True)),
        lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (desk.document_symbols, None),
        lsp.WORKSPACE_SYMBOL: (desk.workspace_symbols, None),
        lsp.TEXT_DOCUMENT_FORMATTING: (desk.formatting, None),
        lsp.TEXT_DOCUMENT_CODE_ACTION: (
            desk.actions,
            lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.Empty]),
        ),
        lsp.TEXT_DOCUMENT_CODE_LENS: (desk.lenses, lsp.CodeLensOptions(resolve_provider=False)),
        lsp.TEXT_DOCUMENT_INLAY_HINT: (desk.hints, None),
    }
    for name, (answer, options) in features.items():
        server.feature(name, options)(_function(answer))
    commands: dict[str, Callable[..., Any]] = {
        "modelcheck.run": desk.run,
        "modelcheck.stop": desk.stop,
        "modelcheck.story": desk.story,
        "modelcheck.page": desk.page,
    }
    for name, command in commands.items():
        server.command(name)(_function(command))
    return server


def _function(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method as a function, which pygls can set attributes on."""
    if iscoroutinefunction(method):

        @wraps(method)
        async def waits(*args: Any) -> Any:  # noqa: ANN401 - whatever the method takes and gives
            return await method(*args)

        return waits

    @wraps(method)
    def answers(*args: Any) -> Any:  # noqa: ANN401 - whatever the method takes and gives
        return method(*args)

    return answers


class _Desk:
    """The handlers of the language server's requests, and its state."""

    def __init__(self, server: LanguageServer, background: str, seconds: float, memory: int | None) -> None:
        self._server, self._background = server, background
        self._buffers = Buffers(Unit.UTF16, to_fs_path)
        self._runs = CheckRuns(seconds, memory, self._found)
        self._looks: dict[str, asyncio.Task[None]] = {}
        self._outlines: dict[str, tuple[str, tuple[OutlineEntry, ...]]] = {}

    # -------------------------------------------------------------- texts

    def initialize(self, _: lsp.InitializeParams) -> None:
        """Negotiate the position encoding."""
        agreed = self._server.workspace.position_encoding or lsp.PositionEncodingKind.Utf16
        self._buffers = Buffers(Unit(lsp.PositionEncodingKind(agreed).value), to_fs_path)

    async def shutdown(self, _: None) -> None:
        """Stop everything that is running."""
        for task in self._looks.values():
            task.cancel()
        await self._runs.end()

    def opened(self, params: lsp.DidOpenTextDocumentParams) -> None:
        """Handle an opened document."""
        document = params.text_document
        self._renewed(self._buffers.open(document.uri, document.text, document.version))

    def changed(self, params: lsp.DidChangeTextDocumentParams) -> None:
        """Handle a changed document."""
        changes = [
            (_pair(each.range.start), _pair(each.range.end), each.text)
            if isinstance(each, lsp.TextDocumentContentChangePartial)
            else each.text
            for each in params.content_changes
        ]
        document = params.text_document
        buffer = self._buffers.change(document.uri, document.version, changes)
        if buffer is not None:
            self._renewed(buffer)

    def closed(self, params: lsp.DidCloseTextDocumentParams) -> None:
        """Handle a closed document."""
        buffer = self._buffers.close(params.text_document.uri)
        if buffer is not None:
            self._stop(buffer)
            self._publish(buffer, [])
            for other in self._buffers.on(buffer):
                if other is not buffer:
                    self._renewed(other)

    def _stop(self, buffer: Buffer) -> None:
        """Cancel the pending analysis of a document."""
        self._runs.forget(buffer.uri)
        if (look := self._looks.pop(buffer.uri, None)) is not None:
            look.cancel()

    def _renewed(self, buffer: Buffer) -> None:
        """Schedule the analysis of a document, and of those that import it, after typing pauses."""
        for each in self._buffers.on(buffer):
            self._stop(each)
            self._looks[each.uri] = asyncio.get_running_loop().create_task(self._look(each))

    async def _look(self, buffer: Buffer) -> None:
        """Analyse a document, and publish its diagnostics."""
        await asyncio.sleep(PAUSE)
        last = None
        for known in self._buffers.stages(buffer):
            if known.judged or known.diagnostics:
                self._tell(buffer, known)
            last = known
            await asyncio.sleep(BETWEEN)
        self._refresh()
        if last is None or last.diagnostics:
            return
        await asyncio.sleep(QUIET)
        own = _checks(buffer.tree())
        for check in in_background(last.models, self._background):
            if check in own:
                self._runs.start(buffer.uri, last, check)

    def _tell(self, buffer: Buffer, known: Understood) -> None:
        """Publish an analysis, and start background checks."""
        found = list(lsp_data.diagnostics(known, buffer.lines, self._lines_of))
        self._publish(buffer, [*found, *lsp_data.warnings(self._marks(buffer), buffer.lines)])

    def _publish(self, buffer: Buffer, found: list[lsp.Diagnostic]) -> None:
        """Send diagnostics."""
        params = lsp.PublishDiagnosticsParams(buffer.uri, found, buffer.version)
        self._server.text_document_publish_diagnostics(params)

    def _found(self, uri: str) -> None:
        """Handle news about a document's checks."""
        buffer = self._buffers.get(uri)
        if buffer is not None and buffer.known is not None:
            self._tell(buffer, buffer.known)
            self._refresh()

    def _refresh(self) -> None:
        """Ask the editor to update code lenses and hints."""
        able = self._server.client_capabilities.workspace
        if able is not None and able.code_lens is not None and able.code_lens.refresh_support:
            self._server.workspace_code_lens_refresh(None)
        if able is not None and able.inlay_hint is not None and able.inlay_hint.refresh_support:
            self._server.workspace_inlay_hint_refresh(None)

    def _lines_of(self, name: str) -> tuple[str, Lines] | None:
        """The URI and lines of a file."""
        buffer = self._buffers.named(name)
        if buffer is not None:
            return buffer.uri, buffer.lines
        uri = from_fs_path(str(Path(path_of_name(name)).absolute()))
        try:
            return None if uri is None else (uri, Lines(self._buffers.read(name), self._buffers.unit))
        except SpecError:
            return None

    def _files(self) -> tuple[str, ...]:
        """The model files that are open or in the workspace folders."""
        uris = [*self._server.workspace.folders, self._server.workspace.root_uri]
        folders = [path for uri in uris if uri is not None and (path := to_fs_path(uri)) is not None]
        names = (*(each.name for each in self._buffers.every()), *model_files(folders))
        return tuple(dict.fromkeys(names))

    def _others(self) -> Iterator[str]:
        """The files with imports."""
        for name in self._files():
            with contextlib.suppress(SpecError):
                if goes_on(self._buffers.read(name)):
                    yield name

    def _at(self, uri: str, position: lsp.Position) -> tuple[Buffer, int] | None:
        """The document and offset of a position."""
        buffer = self._buffers.get(uri)
        return None if buffer is None else (buffer, buffer.lines.offset(*_pair(position)))

    # ------------------------------------------------------------- what is at a place

    def hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        """The description at a position."""
        if (at := self._at(params.text_document.uri, params.position)) is None:
            return None
        buffer, offset = at
        known = self._buffers.known(buffer)
        found = described(known, buffer.names(known), offset)
        if found is None:
            return None
        content = lsp.MarkupContent(lsp.MarkupKind.Markdown, found.text)
        return lsp.Hover(content, lsp_data.range_of(buffer.lines, found.span))

    def completion(self, params: lsp.CompletionParams) -> lsp.CompletionList | None:
        """The completions at a position."""
        if (at := self._at(params.text_document.uri, params.position)) is None:
            return None
        buffer, offset = at
        found = complete(Source(buffer.name, buffer.text), offset, self._buffers.read)
        return lsp.CompletionList(is_incomplete=False, items=list(lsp_data.completions(found, buffer.lines)))

    def definition(self, params: lsp.DefinitionParams) -> list[lsp.Location] | None:
        """The declarations of the symbol at a position; a variant may declare it again."""
        if (at := self._at(params.text_document.uri, params.position)) is None:
            return None
        buffer, offset = at
        known = self._buffers.known(buffer)
        names = buffer.names(known)
        found = names.at(known.start + offset)
        if found is None:
            return None
        return list(self._locations(known.place(each.span) for each in names.declared(found.symbol)))

    def references(self, params: lsp.ReferenceParams) -> list[lsp.Location] | None:
        """The occurrences of the symbol at a position, in all files."""
        if (at := self._at(params.text_document.uri, params.position)) is None:
            return None
        buffer, offset = at
        found = places(self._buffers.known(buffer, whole=True), offset, self._others(), self._buffers.read)
        return list(self._locations((file, span) for file, spans in found.items() for span in spans))

    def _locations(self, spans: Iterator[tuple[str, Span]]) -> Iterator[lsp.Location]:
        """Spans in files as LSP locations."""
        for file, span in spans:
            if (found := self._lines_of(file)) is not None:
                yield lsp.Location(found[0], lsp_data.range_of(found[1], span))

    def document_symbols(self, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        """The declarations in a document."""
        buffer = self._buffers.get(params.text_document.uri)
        if buffer is None:
            return []
        self._buffers.known(buffer)
        tree = buffer.tree()
        return [] if tree is None else lsp_data.symbols(outline(tree), buffer.lines)

    def workspace_symbols(self, params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        """The declarations in all files whose names contain a query."""
        found: list[lsp.WorkspaceSymbol] = []
        for name in self._files():
            with contextlib.suppress(SpecError, RecursionError):
                place = self._lines_of(name)
                for each, within in _every(self._outline(name), ""):
                    if params.query.casefold() in each.name.casefold() and place is not None:
                        location = lsp.Location(place[0], lsp_data.range_of(place[1], each.at))
                        kind = lsp_data.SYMBOLS[each.kind]
                        found.append(lsp.WorkspaceSymbol(location, each.name, kind, container_name=within))
        return found[:MOST_SYMBOLS]

    def _outline(self, name: str) -> tuple[OutlineEntry, ...]:
        """The declarations in a file, cached by its text."""
        text = self._buffers.read(name)
        kept = self._outlines.get(name)
        if kept is None or kept[0] != text:
            kept = self._outlines[name] = (text, outline(parse(Source(name, text))))
        return kept[1]

    # -------------------------------------------------------------- changes

    def prepare_rename(self, params: lsp.PrepareRenameParams) -> lsp.Range | None:
        """The range of the name at a position."""
        if (at := self._at(params.text_document.uri, params.position)) is None:
            return None
        buffer, offset = at
        known = self._buffers.known(buffer, whole=True)
        found = renameable(known, buffer.names(known), offset)
        if isinstance(found, NotRenameable):
            raise JsonRpcInvalidParams(found.why)
        return lsp_data.range_of(buffer.lines, found)

    def rename(self, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        """The edits that rename a symbol in all files; an error if that is not possible."""
        if (at := self._at(params.text_document.uri, params.position)) is None:
            return None
        buffer, offset = at
        known = self._buffers.known(buffer, whole=True)
        found = rename(
            known,
            offset,
            params.new_name,
            self._others(),
            self._buffers.read,
            is_ours=lambda file: not is_shipped(file),
        )
        if isinstance(found, NotRenameable):
            raise JsonRpcInvalidParams(found.why)
        changes = {}
        for file, spans in found.places.items():
            if (place := self._lines_of(file)) is not None:
                changes[place[0]] = [
                    lsp.TextEdit(lsp_data.range_of(place[1], each), found.new) for each in spans
                ]
        return lsp.WorkspaceEdit(changes)

    def formatting(self, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        """The edits to canonical layout; None if the document does not parse."""
        buffer = self._buffers.get(params.text_document.uri)
        if buffer is None:
            return None
        try:
            return lsp_data.edits(buffer.lines, format_text(buffer.text, buffer.name))
        except SpecError:
            return None

    def actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        """The quick fixes of diagnostics, and commands for checks."""
        buffer = self._buffers.get(params.text_document.uri)
        if buffer is None:
            return []
        start, end = (buffer.lines.offset(*_pair(each)) for each in (params.range.start, params.range.end))
        found = []
        known = self._buffers.known(buffer)
        for each in known.diagnostics:
            for remedy in remedies(each):
                own = known.reported_at(each)
                if own is None or each.span is None or not own.start <= end or not start <= own.end:
                    continue
                moved = own.start - each.span.start
                span = Span(remedy.span.start + moved, remedy.span.end + moved)
                edit = lsp.TextEdit(lsp_data.range_of(buffer.lines, span), remedy.new)
                changes = lsp.WorkspaceEdit({buffer.uri: [edit]})
                kind = lsp.CodeActionKind.QuickFix
                found.append(lsp.CodeAction(remedy.says, kind=kind, edit=changes, is_preferred=True))
        for check, command in self._commands(buffer):
            if check.span.start <= end and start <= check.span.end and command.command:
                title = f"{check.name.text}: {command.title}"
                found.append(lsp.CodeAction(title, kind=lsp.CodeActionKind.Empty, command=command))
        return found

    # -------------------------------------------------------------- checks

    def _commands(self, buffer: Buffer) -> Iterator[tuple[s.CheckDecl, lsp.Command]]:
        """The commands for each check: run or stop, show its story."""
        for check in _checks(buffer.tree()).values():
            arguments = [buffer.uri, check.name.text]
            state = self._runs.state(buffer.uri, check.name.text)
            match state:
                case Waits():
                    yield (
                        check,
                        lsp.Command(f"stop ({verdict(state)})", "modelcheck.stop", arguments=arguments),
                    )
                case None:
                    title = f"run · expects: {expects(check)}"
                    yield check, lsp.Command(title, "modelcheck.run", arguments=arguments)
                case CheckAnswer() | Failed():
                    title = f"{verdict(state)} · expects: {expects(check)} · run again"
                    yield check, lsp.Command(title, "modelcheck.run", arguments=arguments)
            if isinstance(state, CheckAnswer):
                yield check, lsp.Command("story", "modelcheck.story", arguments=arguments)
                yield check, lsp.Command("page", "modelcheck.page", arguments=arguments)

    def _marks(self, buffer: Buffer) -> list[TextMark]:
        """The marks of a document."""
        tree = buffer.tree()
        if tree is None:
            return []
        names = _checks(tree)
        return list(marks(tree, {name: self._runs.state(buffer.uri, name) for name in names}))

    def lenses(self, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        """The code lenses above each check: run, expectation, result."""
        buffer = self._buffers.get(params.text_document.uri)
        if buffer is None:
            return []
        return [
            lsp.CodeLens(lsp_data.range_of(buffer.lines, check.name.span), command)
            for check, command in self._commands(buffer)
        ]

    def hints(self, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        """The inlay hints at expectations and properties."""
        buffer = self._buffers.get(params.text_document.uri)
        return [] if buffer is None else list(lsp_data.hints(self._marks(buffer), buffer.lines))

    def run(self, uri: str, check: str) -> None:
        """Run a check of an open document."""
        buffer = self._buffers.get(uri)
        if buffer is not None:
            self._runs.start(uri, self._buffers.known(buffer), check)

    def stop(self, uri: str, check: str) -> None:
        """Stop a running check."""
        self._runs.stop(uri, check)

    async def story(self, uri: str, check: str) -> str | None:
        """The result of a check with its runs as text; it is run if necessary."""
        buffer = self._buffers.get(uri)
        if buffer is None:
            return None
        state = self._runs.state(uri, check)
        if not isinstance(state, CheckAnswer):
            with contextlib.suppress(asyncio.CancelledError):  # the text has changed
                await asyncio.shield(self._runs.start(uri, self._buffers.known(buffer), check))
            state = self._runs.state(uri, check)
        match state:
            case CheckAnswer(_, says):
                return says
            case Failed(why):
                return why
            case _:
                return None

    async def page(self, uri: str, check: str) -> str | None:
        """The runs of a check as an HTML page."""
        buffer = self._buffers.get(uri)
        return None if buffer is None else await self._runs.page(self._buffers.known(buffer), check)


def _checks(tree: s.Protocol | s.GoesOn | None) -> dict[str, s.CheckDecl]:
    """The checks in a tree by name."""
    items = () if tree is None else tree.items
    return {item.name.text: item for item in items if isinstance(item, s.CheckDecl)}


def _every(entries: tuple[OutlineEntry, ...], within: str) -> Iterator[tuple[OutlineEntry, str]]:
    """All outline entries, nested ones with their containers' names."""
    for each in entries:
        yield each, within
        yield from _every(each.parts, each.name)


def _pair(position: lsp.Position) -> tuple[int, int]:
    """A position as line and column."""
    return position.line, position.character
