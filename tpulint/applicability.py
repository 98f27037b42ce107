"""The laws that lower the applicability of any fix, whatever its rule says."""

from __future__ import annotations

from collections.abc import Sequence

from tpulint.model import Applicability, Certainty, Finding, Fix, Span
from tpulint.source import SourceFile


def lower_applicability(findings: Sequence[Finding], source: SourceFile) -> list[Finding]:
    """``likely`` is never safe; a fix that loses a comment is never safe.

    A fix shared by several findings is lowered for all of them, and stays one object.
    """
    lowered: dict[int, Fix] = {}
    comments: list[Span] | None = None
    for finding in findings:
        fix = finding.fix
        if fix is None or fix.applicability is not Applicability.SAFE or id(fix) in lowered:
            continue
        if finding.certainty is Certainty.LIKELY:
            reason = "What this code does is likely, not certain."
            lowered[id(fix)] = fix._replace(applicability=Applicability.UNSAFE, reason=reason)
            continue
        # Tokenizing a file costs as much as parsing it: only a replaced span with a "#" in it can hold a comment.
        if any("#" in source.text[edit.span.start : edit.span.end] for edit in fix.edits):
            if comments is None:
                from tpulint.comments import comment_spans

                comments = comment_spans(source.text)
            if _loses_comment(fix, source, comments):
                reason = "A comment beside the changed code would be lost."
                lowered[id(fix)] = fix._replace(applicability=Applicability.UNSAFE, reason=reason)
    return [finding._replace(fix=lowered.get(id(finding.fix), finding.fix)) for finding in findings]


def _loses_comment(fix: Fix, source: SourceFile, comments: Sequence[Span]) -> bool:
    return any(
        edit.span.start <= comment.start
        and comment.end <= edit.span.end
        # a moved statement takes its comment along, into another edit
        and not any(source.text[comment.start : comment.end] in other.text for other in fix.edits)
        for edit in fix.edits
        for comment in comments
    )
