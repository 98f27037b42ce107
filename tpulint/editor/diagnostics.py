"""Findings as an editor shows them."""

from __future__ import annotations

from lsprotocol import types
from pygls.workspace import PositionCodec

from tpulint.editor.buffers import Linted
from tpulint.editor.documents import Document
from tpulint.editor.positions import range_of
from tpulint.model import Applicability, Severity
from tpulint.report.entry import Entry

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def diagnostic(codec: PositionCodec, document: Document, found: Linted, entry: Entry) -> types.Diagnostic:
    """One finding. What has no fix that can be applied says in its message what to do."""
    message = f"{entry.message} ({entry.pace})" if entry.pace else entry.message
    fix = found.fix_of(entry)
    if entry.help:
        message += f"\n{entry.help}"
    elif fix is not None and fix.applicability == Applicability.DISPLAY:
        message += f"\n{fix.title}: {fix.reason}"
    related = [
        types.DiagnosticRelatedInformation(
            location=types.Location(uri=document.part(place.cell).uri, range=range_of(codec, found.source, place)),
            message=text,
        )
        for place, text in entry.related
    ]
    return types.Diagnostic(
        range=range_of(codec, found.source, entry.place),
        severity=_SEVERITIES[Severity(entry.severity)],
        code=entry.code,
        source="tpulint",
        message=message,
        related_information=related or None,
    )
