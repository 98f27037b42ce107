"""The language server: diagnostics as one types, actions about them, rules explained on hover."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import PositionCodec

from tpulint import __version__
from tpulint.config import ConfigError
from tpulint.config_file import FILE_NAMES
from tpulint.editor.actions import FIX_ALL, Offer, wants
from tpulint.editor.buffers import Linted, Projects
from tpulint.editor.diagnostics import diagnostic
from tpulint.editor.documents import Document, document_of
from tpulint.editor.positions import place_at, range_of
from tpulint.rule_docs import explain

_QUIET = 0.25
"""Seconds without a key pressed before a text is linted."""


class Server(LanguageServer):
    """Lints the documents that are open, each whenever it changes."""

    def __init__(self) -> None:
        # Cells of Markdown, and of languages that an editor was told of, are not asked for.
        cells = [types.NotebookCellLanguage(language="python")]
        super().__init__(
            "tpulint",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=types.NotebookDocumentSyncOptions(
                notebook_selector=[types.NotebookDocumentFilterWithNotebook(notebook="*", cells=cells)], save=True
            ),
        )
        self.projects = Projects()
        self.linted: dict[str, tuple[Document, Linted]] = {}
        """By address of the document: what was linted, and what was found."""
        self.waiting: dict[str, asyncio.Task[None]] = {}
        self.open: dict[str, tuple[str, ...]] = {}
        """Addresses of the open documents, as the editor wrote them, and of the texts that have diagnostics there."""
        self._told: str = ""

    def lint(self, uri: str) -> tuple[Document, Linted] | None:
        """What is found in a document as it stands; None when it cannot be linted, of which the user is told once."""
        now = document_of(self.workspace, uri)
        if now is None or not now.parts:
            return None
        known = self.linted.get(now.uri)
        if known is not None and known[0] == now:
            return known
        try:
            found = self.projects.lint(now.source())
        except ConfigError as error:
            self._tell(str(error))
            return None
        self._tell(self.projects.trouble)
        self.linted[now.uri] = (now, found)
        return now, found

    def publish(self, uri: str) -> None:
        """Send the diagnostics of a document. Where it cannot be linted, those that were sent before stay."""
        answer = self.lint(uri)
        document = answer[0] if answer else document_of(self.workspace, uri)
        before = self.open.get(uri, ())
        self.open[uri] = () if document is None else tuple(part.uri for part in document.parts)
        for number, part in enumerate(() if document is None else document.parts, 1):
            if answer is not None:
                cell = number if answer[0].is_notebook else 0
                shown = [entry for entry in answer[1].report.entries if entry.place.cell == cell]
                self._send(part.uri, [diagnostic(self._codec, *answer, entry) for entry in shown], part.version)
            elif part.uri not in before:
                self._send(part.uri, [], part.version)
        for gone in set(before).difference(self.open[uri]):
            self._send(gone, [])

    def publish_soon(self, uri: str) -> None:
        """The same, once nobody has typed for a moment."""
        if uri not in self.open:
            return
        if (earlier := self.waiting.pop(uri, None)) is not None:
            earlier.cancel()

        async def later() -> None:
            await asyncio.sleep(_QUIET)
            self.waiting.pop(uri, None)
            self.publish(uri)

        self.waiting[uri] = asyncio.ensure_future(later())

    def publish_all(self) -> None:
        """Send the diagnostics of all open documents anew: something that may concern them all has changed."""
        self.linted.clear()
        for uri in list(self.open):
            self.publish(uri)

    def forget(self, uri: str) -> None:
        """A document was closed: its diagnostics go."""
        if (earlier := self.waiting.pop(uri, None)) is not None:
            earlier.cancel()
        self.linted.pop(uri, None)
        for part in self.open.pop(uri, ()):
            self._send(part, [])

    def actions(self, uri: str, asked: types.Range, only: list[str] | None) -> Iterator[types.CodeAction]:
        """What can be done about the findings in a stretch of a file or a cell."""
        document, found, cell = self._at(uri)
        if document is None or found is None:
            return
        capabilities = self.client_capabilities.workspace
        edits = capabilities.workspace_edit if capabilities else None
        offer = Offer(document, found, self._codec, tells_versions=bool(edits and edits.document_changes))
        if wants(only, types.CodeActionKind.QuickFix.value):
            yield from offer.about_findings(cell, asked)
        if wants(only, FIX_ALL):
            yield from offer.all_fixes(self.projects)

    def explanation(self, uri: str, position: types.Position) -> types.Hover | None:
        """The rules of the findings at a position, in their own words."""
        document, found, cell = self._at(uri)
        if document is None or found is None:
            return None
        at = place_at(self._codec, found.source, position, cell)
        entries = found.entries_in(cell, at, at)
        catalogue = self.projects.of(document.path)[1]
        rules = [rule for code in dict.fromkeys(entry.code for entry in entries) if (rule := catalogue.get(code))]
        if not rules:
            return None
        text = "\n---\n".join(explain(rule, level=3) for rule in rules)
        return types.Hover(
            contents=types.MarkupContent(kind=types.MarkupKind.Markdown, value=text),
            range=range_of(self._codec, found.source, entries[0].place),
        )

    def _at(self, uri: str) -> tuple[Document | None, Linted | None, int]:
        """Document, findings and number of the cell that an address stands for."""
        document, found = self.lint(uri) or (None, None)
        cell = None if document is None else document.cell_at(uri)
        return (None, None, 0) if cell is None else (document, found, cell)

    # ---------------------------------------------------------------- what is sent

    @property
    def _codec(self) -> PositionCodec:
        return self.workspace.position_codec

    def _send(self, uri: str, shown: list[types.Diagnostic], version: int | None = None) -> None:
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=shown, version=version)
        )

    def _tell(self, message: str) -> None:
        """Show a message, though not again with every key; an empty one says that all is well."""
        if message and message != self._told:
            self.window_show_message(
                types.ShowMessageParams(type=types.MessageType.Error, message=f"tpulint: {message}")
            )
        self._told = message


def make() -> Server:
    """The server with its features."""
    server = Server()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.publish(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.publish_soon(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        # What is saved may matter to the other files of the project, and may be the configuration.
        if (to_fs_path(params.text_document.uri) or "").endswith(FILE_NAMES):
            server.projects.forget()
        server.publish_all()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened_notebook(params: types.DidOpenNotebookDocumentParams) -> None:
        server.publish(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def changed_notebook(params: types.DidChangeNotebookDocumentParams) -> None:
        server.publish_soon(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def saved_notebook(params: types.DidSaveNotebookDocumentParams) -> None:
        server.publish_all()

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def closed_notebook(params: types.DidCloseNotebookDocumentParams) -> None:
        server.forget(params.notebook_document.uri)

    @server.feature(types.INITIALIZED)
    def ready(params: types.InitializedParams) -> None:
        capabilities = server.client_capabilities.workspace
        watching = capabilities.did_change_watched_files if capabilities else None
        if watching is None or not watching.dynamic_registration:
            return
        patterns = [types.FileSystemWatcher(glob_pattern=f"**/{name}") for name in FILE_NAMES]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers=patterns)
        registration = types.Registration(
            id="tpulint-configuration", method=types.WORKSPACE_DID_CHANGE_WATCHED_FILES, register_options=options
        )
        server.client_register_capability(types.RegistrationParams(registrations=[registration]))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def configured(params: types.DidChangeWatchedFilesParams) -> None:
        server.projects.forget()
        server.publish_all()

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL]),
    )
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        only = [getattr(kind, "value", kind) for kind in params.context.only] if params.context.only else None
        return list(server.actions(params.text_document.uri, params.range, only))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(params: types.HoverParams) -> types.Hover | None:
        return server.explanation(params.text_document.uri, params.position)

    return server
