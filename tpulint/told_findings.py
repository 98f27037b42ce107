"""What is told of one text: of all that rules find in it, what neither comments nor questions for CUDA keep silent."""

from __future__ import annotations

from tpulint.languages import SHELL
from tpulint.relevance import applicable, may_suppress
from tpulint.rule_findings import found_by
from tpulint.selectors import matches_any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tpulint.catalog import Catalogue
    from tpulint.config import Settings
    from tpulint.model import Finding, Fix
    from tpulint.notebooks.shell_lines import ShellLines
    from tpulint.semantic import SemanticIndex
    from tpulint.source import SourceFile
    from tpulint.text_files import TextIndex

    Index = SemanticIndex | TextIndex
    Untouchable = Callable[[SourceFile, list[Finding]], list[Finding]]
    """Takes the fixes off some of the findings."""


def check(
    index: Index,
    source: SourceFile,
    settings: Settings,
    catalogue: Catalogue,
    called: bool,
    untouchable: Untouchable | None = None,
) -> list[Finding]:
    """The findings of one text, in order. ``called`` says that calls in other files decide how often its lines run."""
    rules = applicable(source.text, index.language, settings, catalogue, called)
    ignored = settings.ignored_in(source.path)
    findings = found_by(rules, index, settings, ignored)
    shell: ShellLines | None = None
    if source.cell_starts:
        from tpulint.notebooks.findings import of_cells

        in_shell = applicable(source.text, SHELL, settings, catalogue, False)
        rules += in_shell
        findings, shell = of_cells(findings, source, lambda lines: found_by(in_shell, lines, settings, ignored))
    if findings:
        guarded = [*index.cuda_only_spans(), *(() if shell is None else shell.cuda_only_spans())]
        if guarded:
            kept = [f for f in findings if not any(g.start <= f.span.start and f.span.end <= g.end for g in guarded)]
            findings = _without_fixes_of(findings, kept)
    unused: list[Finding] = []
    silenced: list[Finding] = []
    if may_suppress(source.text) and not settings.ignore_noqa:
        from tpulint.suppressions import UNUSED, Suppressions

        suppressions = Suppressions.scan(source, catalogue.letters, found=bool(findings))
        kept = suppressions.filter(findings, index.statement_rows if shell is None else shell.rows_around(index))
        if len(kept) < len(findings):
            stay = {id(finding) for finding in kept}
            silenced = [finding for finding in findings if id(finding) not in stay]
        findings = _without_fixes_of(findings, kept)
        if not matches_any((*settings.ignore, *ignored), UNUSED, UNUSED):
            enabled = [rule for rule in catalogue.select(settings) if not matches_any(ignored, rule.code, rule.name)]
            unused.extend(
                suppressions.unused(
                    {word for rule in enabled for word in (rule.code, rule.name)},
                    known={rule.code for rule in catalogue.rules if rule.default},
                    existing={word for rule in catalogue.rules for word in (rule.code, rule.name)},
                )
            )
    if untouchable is not None:
        told = untouchable(source, _in_order([*findings, *unused]))
        by_rules = {rule.code for rule in rules}
        findings = [finding for finding in told if finding.code in by_rules]
        unused = [finding for finding in told if finding.code not in by_rules]
    if findings:
        from tpulint.applicability import adjust, keep_whole, lower_applicability

        lowered: Sequence[Finding] = lower_applicability(findings, source)
        if not settings.portable:  # portable code runs on a GPU as well, however much of it is ported
            lowered = keep_whole(lowered, adjust(lowered, settings), silenced, rules)
        findings = list(adjust(lowered, settings))
    if source.cell_starts:
        from tpulint.notebooks.findings import with_broken_cells

        findings = with_broken_cells(findings, source)
    return _in_order([*findings, *unused])


def _in_order(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(_each_once(findings), key=lambda finding: (finding.span, finding.code))


def _each_once(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without repetitions. A fix that many share is large: it is compared last, and never hashed."""
    kept: dict[Finding, list[Fix | None]] = {}
    result = []
    for finding in findings:
        fixes = kept.setdefault(finding._replace(fix=None), [])
        if finding.fix not in fixes:
            fixes.append(finding.fix)
            result.append(finding)
    return result


def _without_fixes_of(findings: list[Finding], kept: list[Finding]) -> list[Finding]:
    """The kept findings; a fix shared with one that is not kept would touch what is to be left alone, so it goes."""
    if len(kept) == len(findings):
        return kept
    stay = {id(finding) for finding in kept}
    gone = {id(finding.fix) for finding in findings if finding.fix is not None and id(finding) not in stay}
    return [finding._replace(fix=None) if id(finding.fix) in gone else finding for finding in kept]
