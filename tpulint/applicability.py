"""What decides how safe a fix is beside its rule: laws that lower any fix, and what the settings say."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from tpulint.model import Applicability, Certainty, Finding, Fix, Severity, Span
from tpulint.selectors import matches_any
from tpulint.source import SourceFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.config import Settings
    from tpulint.rule import Rule
    from tpulint.semantic import SemanticIndex
    from tpulint.text_files import TextIndex

HALF_PORTED = "Other errors of the file need a look first: half ported, it would fail, or train nothing."
_HIDDEN_STAY = "Errors of the file that a comment silences stay: half ported, it would fail, or train nothing."
_OF_CUDA = ("device", "distributed")
"""Categories of rules whose fixes take CUDA away, also where they write nothing of XLA."""
_OF_XLA = "versions"
"""Category of rules about code that is XLA's already."""
_CHANGES_CUDA = "It would change what runs on CUDA."
_TIES = "It would tie the code to torch_xla, and it is to run on CUDA and the CPU as well."


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
                from tpulint.comments import comments_of

                comments = comments_of(source)
            if _loses_comment(fix, source, comments):
                reason = "A comment beside the changed code would be lost."
                lowered[id(fix)] = fix._replace(applicability=Applicability.UNSAFE, reason=reason)
    return [finding._replace(fix=lowered.get(id(finding.fix), finding.fix)) for finding in findings]


def keep_whole(
    findings: Sequence[Finding], wished: Sequence[Finding], silenced: Sequence[Finding], rules: Iterable[Rule]
) -> Sequence[Finding]:
    """While an error that would break the port has no safe fix, no part of the file is turned to XLA by one.

    Half of it ported, a script would run on neither machine, or train nothing there. ``wished`` are the findings as the
    settings want them; those that comments have ``silenced`` stay, whatever fix they have.
    A fix shared by several findings stays one object.
    """
    by_code = {rule.code: rule for rule in rules}
    if any(by_code[finding.code].moves and _stays(finding) for finding in wished):
        reason = HALF_PORTED
    elif any(by_code[finding.code].moves and finding.severity is Severity.ERROR for finding in silenced):
        reason = _HIDDEN_STAY
    else:
        return findings
    lowered: dict[int, Fix] = {}
    for finding in findings:
        fix = finding.fix
        if fix is None or fix.applicability is not Applicability.SAFE or id(fix) in lowered:
            continue
        if _turns_to_xla(fix, by_code[finding.code].category):
            lowered[id(fix)] = fix._replace(applicability=Applicability.UNSAFE, reason=reason)
    return [finding._replace(fix=lowered.get(id(finding.fix), finding.fix)) for finding in findings]


def _stays(finding: Finding) -> bool:
    """Whether plain fixing leaves an error as it is."""
    if finding.severity is not Severity.ERROR:
        return False
    return finding.fix is None or finding.fix.applicability is not Applicability.SAFE


def turns_to_xla(written: Iterable[str], category: str) -> bool:
    """Whether a fix of a rule of this category turns code to XLA by what it writes."""
    if category == _OF_XLA:
        return False
    return category in _OF_CUDA or any("xla" in text for text in written)


def _turns_to_xla(fix: Fix, category: str) -> bool:
    return turns_to_xla([*(need.module for need in fix.imports), *(edit.text for edit in fix.edits)], category)


def _loses_comment(fix: Fix, source: SourceFile, comments: Sequence[Span]) -> bool:
    return any(
        edit.span.start <= comment.start
        and comment.end <= edit.span.end
        # a moved statement takes its comment along, into another edit
        and not any(source.text[comment.start : comment.end] in other.text for other in fix.edits)
        for edit in fix.edits
        for comment in comments
    )


def adjust(findings: Sequence[Finding], settings: Settings) -> Sequence[Finding]:
    """What the settings say about the fixes of each rule. A fix shared by several findings stays one object."""
    adjusted: dict[int, Fix] = {}
    for finding in findings:
        fix = finding.fix
        if fix is None or fix.applicability is Applicability.DISPLAY or id(fix) in adjusted:
            continue
        applicability = _wished(finding, fix, settings)
        if applicability is not fix.applicability:
            adjusted[id(fix)] = fix._replace(applicability=applicability)
    if not adjusted:
        return findings
    return [finding._replace(fix=adjusted.get(id(finding.fix), finding.fix)) for finding in findings]


def _wished(finding: Finding, fix: Fix, settings: Settings) -> Applicability:
    code, name = finding.code, finding.name
    if not matches_any(settings.fixable, code, name) or matches_any(settings.unfixable, code, name):
        return Applicability.DISPLAY
    if settings.runtime == "never" and any(need.module.startswith("tpulint_runtime") for need in fix.imports):
        return Applicability.DISPLAY
    applicability = fix.applicability
    if matches_any(settings.extend_safe_fixes, code, name):
        applicability = Applicability.SAFE
    if matches_any(settings.extend_unsafe_fixes, code, name):
        applicability = min(applicability, Applicability.UNSAFE)
    return applicability


def portable_findings(findings: Iterable[Finding], rule: Rule, index: SemanticIndex | TextIndex) -> Iterator[Finding]:
    """In portable code a fix never brings torch_xla in, and that of a rule whose card says so is only shown.

    A fix shared by several findings stays one object.
    """
    lowered: dict[int, Fix] = {}
    is_tied: bool | None = None
    found = list(findings)  # which keeps every fix alive, and with it its id
    for finding in found:
        fix = finding.fix
        if fix is None or id(fix) in lowered:
            yield finding if fix is None else finding._replace(fix=lowered[id(fix)])
            continue
        reason = _CHANGES_CUDA if rule.portable == "display" else ""
        if not reason and any(f"{need.module}.".startswith("torch_xla.") for need in fix.imports):
            if is_tied is None:
                is_tied = _imports_torch_xla(index)
            reason = "" if is_tied else _TIES
        if reason and fix.applicability is not Applicability.DISPLAY:
            fix = fix._replace(applicability=Applicability.DISPLAY, reason=reason)
        lowered[id(finding.fix)] = fix
        yield finding._replace(fix=fix)


def _imports_torch_xla(index: SemanticIndex | TextIndex) -> bool:
    """Whether the file cannot be imported without torch_xla as it is."""
    from tpulint.semantic import SemanticIndex

    assert isinstance(index, SemanticIndex)  # fixes of other files bring no imports
    for statement in index.tree.module.body:
        modules: list[str] = []
        if isinstance(statement, ast.Import):
            modules = [item.name for item in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            modules = [statement.module or ""]
        if any(f"{module}.".startswith("torch_xla.") for module in modules):
            return True
    return False
