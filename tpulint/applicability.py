"""The laws that lower the applicability of any fix, whatever its rule says."""

from __future__ import annotations

from tpulint.model import Applicability, Certainty, Finding
from tpulint.source import SourceFile


def lower_applicability(finding: Finding, source: SourceFile) -> Finding:
    """``likely`` is never safe; a fix that loses a comment is never safe."""
    fix = finding.fix
    if fix is None or fix.applicability is not Applicability.SAFE:
        return finding
    if finding.certainty is Certainty.LIKELY:
        return finding._replace(
            fix=fix._replace(applicability=Applicability.UNSAFE, reason="What this code does is likely, not certain.")
        )
    for edit in fix.edits:
        # Tokenizing a file costs as much as parsing it: only a replaced span with a "#" in it can hold a comment.
        if "#" in source.text[edit.span.start : edit.span.end]:
            from tpulint.comments import comment_spans

            for comment in comment_spans(source.text):
                inside = edit.span.start <= comment.start and comment.end <= edit.span.end
                text = source.text[comment.start : comment.end]
                # a moved statement takes its comment along, into another edit
                if inside and not any(text in other.text for other in fix.edits):
                    reason = "A comment beside the changed code would be lost."
                    return finding._replace(fix=fix._replace(applicability=Applicability.UNSAFE, reason=reason))
    return finding
