"""Code actions: quick fixes named safe or unsafe, comments that silence, all safe fixes at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lsprotocol import types
from pygls.workspace import PositionCodec

from tpulint.editor.buffers import Linted, Projects
from tpulint.editor.diagnostics import diagnostic
from tpulint.editor.documents import Document
from tpulint.editor.positions import changed_part, place_at, range_of
from tpulint.model import Applicability
from tpulint.notebooks.source import NotebookSource
from tpulint.report.entry import Entry, FixEntry, Place
from tpulint.silencing import silenced
from tpulint.source import SourceFile

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.tpulint"


class Offer(NamedTuple):
    """What can be done about the findings of one document."""

    document: Document
    found: Linted
    codec: PositionCodec
    tells_versions: bool
    """Whether the editor takes edits that name the version of the text they are for."""

    def about_findings(self, cell: int, asked: types.Range) -> Iterator[types.CodeAction]:
        """Quick fixes and comments for the findings in a stretch of a cell, 0 for a file."""
        first = place_at(self.codec, self.found.source, asked.start, cell)
        last = place_at(self.codec, self.found.source, asked.end, cell)
        entries = self.found.entries_in(cell, first, last)
        offered: set[int] = set()
        for entry in entries:
            fix = self.found.fix_of(entry)
            if fix is not None and fix.applicability != Applicability.DISPLAY and entry.fix not in offered:
                offered.add(entry.fix or 0)
                yield self._quick_fix(entry, fix)
        for entry in entries:
            yield from self._suppression(entry)

    def all_fixes(self, projects: Projects) -> Iterator[types.CodeAction]:
        """All safe fixes as one action, where there are any. Raises ``ConfigError``."""
        after = projects.fixed(self.found.source)
        if after.text != self.found.source.text:
            yield types.CodeAction(
                title="tpulint: apply all safe fixes", kind=FIX_ALL, edit=self._change(self._edits(after))
            )

    def _quick_fix(self, entry: Entry, fix: FixEntry) -> types.CodeAction:
        safe = fix.applicability == Applicability.SAFE
        if self.document.is_notebook:
            edits = self._edits(self.found.fixed_by(fix))
        else:
            edits = {0: [self._edit(text, place) for text, place in fix.edits]}
        return types.CodeAction(
            title=f"tpulint: {fix.title} ({'safe' if safe else f'unsafe: {fix.reason}'})",
            kind=types.CodeActionKind.QuickFix,
            # An editor asks for one text, and knows the diagnostics of that one.
            diagnostics=[
                diagnostic(self.codec, self.document, self.found, one)
                for one in self.found.report.entries
                if one.fix == entry.fix and one.place.cell == entry.place.cell
            ],
            is_preferred=safe,
            edit=self._change(edits),
        )

    def _suppression(self, entry: Entry) -> Iterator[types.CodeAction]:
        try:
            done, left = silenced(self.found.source, [entry], "")
        except SyntaxError:
            return
        if left:
            return
        yield types.CodeAction(
            title=f"tpulint: silence {entry.code} on this line",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic(self.codec, self.document, self.found, entry)],
            edit=self._change(self._edits(done)),
        )

    def _edits(self, after: SourceFile) -> dict[int, list[types.TextEdit]]:
        """By cell, 0 for a file, the edits that make a document what it is to become."""
        if not self.document.is_notebook:
            return {0: [changed_part(self.codec, self.document.parts[0].text, after.text)]}
        assert isinstance(after, NotebookSource)
        return {
            number: [changed_part(self.codec, part.text, text)]
            for number, (part, text) in enumerate(zip(self.document.parts, after.texts, strict=True), 1)
            if part.text != text
        }

    def _change(self, edits: dict[int, list[types.TextEdit]]) -> types.WorkspaceEdit:
        if self.tells_versions:
            changes = []
            for cell, wanted in edits.items():
                part = self.document.part(cell)
                text = types.OptionalVersionedTextDocumentIdentifier(uri=part.uri, version=part.version)
                changes.append(types.TextDocumentEdit(text_document=text, edits=[*wanted]))
            return types.WorkspaceEdit(document_changes=[*changes])
        return types.WorkspaceEdit(changes={self.document.part(cell).uri: wanted for cell, wanted in edits.items()})

    def _edit(self, text: str, place: Place) -> types.TextEdit:
        return types.TextEdit(range=range_of(self.codec, self.found.source, place), new_text=text)


def wants(only: list[str] | None, kind: str) -> bool:
    """Whether an editor asks for this kind of action: for any, for it, or for one that holds it."""
    return not only or any(kind == wanted or kind.startswith(f"{wanted}.") for wanted in only)
