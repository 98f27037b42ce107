"""The language server: diagnostics as one types, quick fixes named safe or unsafe, rules explained on hover."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path
from pygls.workspace import PositionCodec

from tpulint import __version__
from tpulint.config import ConfigError
from tpulint.config_file import FILE_NAMES
from tpulint.editor.buffers import Linted, Projects
from tpulint.editor.positions import changed_span, place_at, range_of
from tpulint.model import Applicability, Severity
from tpulint.report.entry import Entry, FixEntry, Place
from tpulint.rule_docs import explain
from tpulint.silencing import silenced
from tpulint.source import SourceFile

_QUIET = 0.25
"""Seconds without a key pressed before a text is linted."""
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
_FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.tpulint"


class Server(LanguageServer):
    """Lints the documents that are open, each whenever it changes."""

    def __init__(self) -> None:
        super().__init__("tpulint", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Incremental)
        self.projects = Projects()
        self.linted: dict[str, tuple[str, Linted]] = {}
        """By address of the document: the text that was linted, and what was found."""
        self.waiting: dict[str, asyncio.Task[None]] = {}
        self.open: dict[str, None] = {}
        """Addresses of the open documents, as the editor wrote them."""
        self._told: str = ""

    def lint(self, uri: str) -> Linted | None:
        """What is found in a document as it stands; None when it cannot be linted, of which the user is told once."""
        document = self.workspace.get_text_document(uri)
        path = path_of(uri)
        try:
            now = document.source
        except OSError:  # never opened, and not on disk
            return None
        text, known = self.linted.get(uri, (None, None))
        if known is not None and text == now:
            return known
        try:
            found = self.projects.lint(path, now)
        except ConfigError as error:
            self._tell(str(error))
            return None
        self._told = ""
        self.linted[uri] = (now, found)
        return found

    def publish(self, uri: str) -> None:
        """Send the diagnostics of a document."""
        found = self.lint(uri)
        version = self.workspace.get_text_document(uri).version
        shown = [] if found is None else [self._diagnostic(uri, found, entry) for entry in found.report.entries]
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=shown, version=version)
        )

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

    def forget(self, uri: str) -> None:
        """A document was closed: its diagnostics go."""
        if (earlier := self.waiting.pop(uri, None)) is not None:
            earlier.cancel()
        self.linted.pop(uri, None)
        self.open.pop(uri, None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri=uri, diagnostics=[]))

    def actions(self, uri: str, asked: types.Range, only: list[str] | None) -> Iterator[types.CodeAction]:
        """What can be done about the findings in a stretch of a document."""
        found = self.lint(uri)
        if found is None:
            return
        if _wants(only, types.CodeActionKind.QuickFix.value):
            first, last = (
                place_at(self._codec, found.source, asked.start),
                place_at(self._codec, found.source, asked.end),
            )
            offered: set[int] = set()
            for entry in found.entries_in(first, last):
                fix = found.fix_of(entry)
                if fix is not None and fix.applicability != Applicability.DISPLAY and entry.fix not in offered:
                    offered.add(entry.fix or 0)
                    yield self._quick_fix(uri, found, entry, fix)
            for entry in found.entries_in(first, last):
                yield from self._suppression(uri, found, entry)
        if _wants(only, _FIX_ALL):
            path = path_of(uri)
            text = found.source.text
            after = self.projects.fixed(path, text)
            if after != text:
                whole = Place(1, 1, *found.source.position(len(text)))
                yield types.CodeAction(
                    title="tpulint: apply all safe fixes",
                    kind=_FIX_ALL,
                    edit=self._change(uri, [self._edit(found.source, after, whole)]),
                )

    def explanation(self, uri: str, position: types.Position) -> types.Hover | None:
        """The rules of the findings at a position, in their own words."""
        found = self.lint(uri)
        if found is None:
            return None
        at = place_at(self._codec, found.source, position)
        entries = found.entries_in(at, at)
        catalogue = self.projects.of(path_of(uri))[1]
        rules = [rule for code in dict.fromkeys(entry.code for entry in entries) if (rule := catalogue.get(code))]
        if not rules:
            return None
        text = "\n---\n".join(explain(rule, level=3) for rule in rules)
        return types.Hover(
            contents=types.MarkupContent(kind=types.MarkupKind.Markdown, value=text),
            range=range_of(self._codec, found.source, entries[0].place),
        )

    # ---------------------------------------------------------------- what is sent

    @property
    def _codec(self) -> PositionCodec:
        return self.workspace.position_codec

    def _diagnostic(self, uri: str, found: Linted, entry: Entry) -> types.Diagnostic:
        message = f"{entry.message} ({entry.pace})" if entry.pace else entry.message
        fix = found.fix_of(entry)
        if entry.help:
            message += f"\n{entry.help}"
        elif fix is not None and fix.applicability == Applicability.DISPLAY:
            message += f"\n{fix.title}: {fix.reason}"
        related = [
            types.DiagnosticRelatedInformation(
                location=types.Location(uri=uri, range=range_of(self._codec, found.source, place)), message=text
            )
            for place, text in entry.related
        ]
        return types.Diagnostic(
            range=range_of(self._codec, found.source, entry.place),
            severity=_SEVERITIES[Severity(entry.severity)],
            code=entry.code,
            source="tpulint",
            message=message,
            related_information=related or None,
        )

    def _quick_fix(self, uri: str, found: Linted, entry: Entry, fix: FixEntry) -> types.CodeAction:
        safe = fix.applicability == Applicability.SAFE
        return types.CodeAction(
            title=f"tpulint: {fix.title} ({'safe' if safe else f'unsafe: {fix.reason}'})",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[self._diagnostic(uri, found, one) for one in found.report.entries if one.fix == entry.fix],
            is_preferred=safe,
            edit=self._change(uri, [self._edit(found.source, text, place) for text, place in fix.edits]),
        )

    def _suppression(self, uri: str, found: Linted, entry: Entry) -> Iterator[types.CodeAction]:
        try:
            done, left = silenced(found.source, [entry], "")
        except SyntaxError:
            return
        if left:
            return
        source, after = found.source, done.text
        start, kept = changed_span(source.text, after)
        place = Place(*source.position(start), *source.position(len(source.text) - kept))
        yield types.CodeAction(
            title=f"tpulint: silence {entry.code} on this line",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[self._diagnostic(uri, found, entry)],
            edit=self._change(uri, [self._edit(source, after[start : len(after) - kept], place)]),
        )

    def _change(self, uri: str, edits: list[types.TextEdit]) -> types.WorkspaceEdit:
        version = self.workspace.get_text_document(uri).version
        capabilities = self.client_capabilities.workspace
        if capabilities and capabilities.workspace_edit and capabilities.workspace_edit.document_changes:
            document = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=version)
            return types.WorkspaceEdit(
                document_changes=[types.TextDocumentEdit(text_document=document, edits=[*edits])]
            )
        return types.WorkspaceEdit(changes={uri: edits})

    def _edit(self, source: SourceFile, text: str, place: Place) -> types.TextEdit:
        return types.TextEdit(range=range_of(self._codec, source, place), new_text=text)

    def _tell(self, message: str) -> None:
        if message != self._told:  # not again with every key
            self._told = message
            self.window_show_message(
                types.ShowMessageParams(type=types.MessageType.Error, message=f"tpulint: {message}")
            )


def path_of(uri: str) -> str:
    """The path of a document; one that was never saved lies in the working directory."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return path or os.path.join(os.getcwd(), "untitled.py")


def _wants(only: list[str] | None, kind: str) -> bool:
    """Whether an editor asks for this kind of action: for any, for it, or for one that holds it."""
    return not only or any(kind == wanted or kind.startswith(f"{wanted}.") for wanted in only)


def make() -> Server:
    """The server with its features."""
    server = Server()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.open[params.text_document.uri] = None
        server.publish(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.publish_soon(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        # What is saved may matter to the other files of the project, and may be the configuration.
        server.linted.clear()
        if (to_fs_path(params.text_document.uri) or "").endswith(FILE_NAMES):
            server.projects.forget()
        for uri in list(server.open):
            server.publish(uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)

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
        server.linted.clear()
        for uri in list(server.open):
            server.publish(uri)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, _FIX_ALL]),
    )
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        only = [getattr(kind, "value", kind) for kind in params.context.only] if params.context.only else None
        return list(server.actions(params.text_document.uri, params.range, only))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(params: types.HoverParams) -> types.Hover | None:
        return server.explanation(params.text_document.uri, params.position)

    return server
