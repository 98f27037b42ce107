"""One file: text in, findings and fixed text out."""

from __future__ import annotations

import ast
import gc
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

from tpulint.model import Applicability, Certainty, FileResult, Finding, Fix, Severity, Span
from tpulint.selectors import matches_any
from tpulint.source import InvalidSyntax, SourceFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tpulint.catalog import Catalogue, Rule
    from tpulint.config import Settings
    from tpulint.semantic import SemanticIndex

INVALID_SYNTAX = "invalid-syntax"


class _TooComplex(Exception):
    """Python itself cannot hold the tree of this text."""


def lint(source: SourceFile, settings: Settings, catalogue: Catalogue) -> FileResult:
    """Lint one file, and fix it when the settings say so.

    Bad user input gives findings; a failure of tpulint itself gives ``FileResult.error``. Never raises for either.
    """
    text = source.text
    rules = _applicable(text, settings, catalogue)
    try:
        if not rules and not _may_suppress(text):
            _parse(text)  # a file that is not Python is told of, whatever it is about
            return FileResult(source.path, (), text, text)
        if not settings.fix:
            index, findings = _look(source, settings, catalogue)
            index.release()
            return FileResult(source.path, tuple(findings), text, text)
        from tpulint.fixer import BrokenFix, fix_rounds

        try:
            result = fix_rounds(
                source, lambda changed: _look(changed, settings, catalogue), settings.required_applicability
            )
            source.render(result.text)
        except (BrokenFix, UnicodeEncodeError) as error:
            _, findings = _look(source, settings, catalogue)
            return FileResult(source.path, tuple(findings), text, text, error=str(error))
        return FileResult(source.path, tuple(result.findings), result.text, text, result.fixed, result.rounds)
    except InvalidSyntax as invalid:
        return FileResult(source.path, (_invalid_syntax(source, invalid.error),), text, text)
    except (_TooComplex, RecursionError, MemoryError):
        return FileResult(
            source.path, (_finding(Span(0, 0), "file is nested too deeply for Python to parse"),), text, text
        )
    except Exception as error:  # a bug of ours in one file must not stop the others
        return FileResult(source.path, (), text, text, error=crash_message(error))


@lru_cache(maxsize=2)
def _applicable(text: str, settings: Settings, catalogue: Catalogue) -> tuple[Rule, ...]:
    """Enabled rules that have an anchor in the text: of a file that no rule can speak about no index is made."""
    rules = catalogue.select(settings)
    # Most words of a text occur in it many times, and an anchor without a blank lies within one of them.
    words = " ".join(set(text.split()))
    present = {anchor for anchor in _anchors(rules) if anchor in (text if " " in anchor else words)}
    return tuple(rule for rule in rules if not present.isdisjoint(rule.anchors))


def _may_suppress(text: str) -> bool:
    lowered = text.lower()  # far quicker than a search that ignores case
    return "noqa" in lowered or "tpulint:" in lowered


@lru_cache(maxsize=8)
def _anchors(rules: tuple[Rule, ...]) -> frozenset[str]:
    """Every anchor once: many rules share theirs."""
    return frozenset(anchor for rule in rules for anchor in rule.anchors)


def _look(source: SourceFile, settings: Settings, catalogue: Catalogue) -> tuple[SemanticIndex, list[Finding]]:
    """Parse and check one text. Raises ``InvalidSyntax``, ``_TooComplex``."""
    from tpulint.semantic import SemanticIndex

    # A tree is acyclic: collecting garbage while it grows only costs time.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        index = SemanticIndex(source, _parse(source.text))
        return index, _check(index, source, settings, catalogue)
    finally:
        if was_enabled:
            gc.enable()


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except SyntaxError as error:
            raise InvalidSyntax(error) from None
        except (RecursionError, MemoryError) as error:
            raise _TooComplex from error


def _check(index: SemanticIndex, source: SourceFile, settings: Settings, catalogue: Catalogue) -> list[Finding]:
    from tpulint.context import FileContext

    rules = _applicable(source.text, settings, catalogue)
    findings: list[Finding] = []
    ignored = settings.ignored_in(source.path)
    for rule in rules:
        if matches_any(ignored, rule.code, rule.name) or (settings.portable and rule.portable == "silent"):
            continue
        context = FileContext(
            index,
            rule,
            settings.target,
            rule.option_values(settings.options(rule.code).items()),
            portable=settings.portable,
            runtime=settings.runtime,
        )
        found = rule.check(context)
        if settings.portable:
            from tpulint.applicability import portable_findings

            found = portable_findings(found, rule, index)
        findings.extend(found)
    if findings:
        guarded = index.cuda_only_spans()
        if guarded:
            kept = [f for f in findings if not any(g.start <= f.span.start and f.span.end <= g.end for g in guarded)]
            findings = _without_fixes_of(findings, kept)
    unused: list[Finding] = []
    if _may_suppress(source.text) and not settings.ignore_noqa:
        from tpulint.suppressions import UNUSED, Suppressions

        suppressions = Suppressions.scan(source, catalogue.letters)
        findings = _without_fixes_of(findings, suppressions.filter(findings, index.statement_rows))
        if not matches_any((*settings.ignore, *ignored), UNUSED, UNUSED):
            enabled = [rule for rule in catalogue.select(settings) if not matches_any(ignored, rule.code, rule.name)]
            unused.extend(
                suppressions.unused(
                    {word for rule in enabled for word in (rule.code, rule.name)},
                    known={rule.code for rule in catalogue.rules if rule.default},
                    existing={word for rule in catalogue.rules for word in (rule.code, rule.name)},
                )
            )
    if findings:
        from tpulint.applicability import keep_whole, lower_applicability

        lowered: Sequence[Finding] = lower_applicability(findings, source)
        if not settings.portable:  # portable code runs on a GPU as well, however much of it is ported
            lowered = keep_whole(lowered, _adjust(lowered, settings), rules)
        findings = list(_adjust(lowered, settings))
    return sorted(dict.fromkeys([*findings, *unused]), key=lambda finding: (finding.span, finding.code))


def _adjust(findings: Sequence[Finding], settings: Settings) -> Sequence[Finding]:
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


def _without_fixes_of(findings: list[Finding], kept: list[Finding]) -> list[Finding]:
    """The kept findings; a fix shared with one that is not kept would touch what is to be left alone, so it goes."""
    if len(kept) == len(findings):
        return kept
    stay = {id(finding) for finding in kept}
    gone = {id(finding.fix) for finding in findings if finding.fix is not None and id(finding) not in stay}
    return [finding._replace(fix=None) if id(finding.fix) in gone else finding for finding in kept]


def crash_message(error: BaseException) -> str:
    """What failed and which of our lines it was, for the bug report."""
    where = ""
    trace = error.__traceback__
    while trace is not None:
        where = f" ({trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno})"
        trace = trace.tb_next
    return f"internal error: {type(error).__name__}: {error}{where}; this is a bug of tpulint"


def _finding(span: Span, message: str) -> Finding:
    return Finding(INVALID_SYNTAX, INVALID_SYNTAX, span, message, Severity.ERROR, Certainty.CERTAIN)


def _invalid_syntax(source: SourceFile, error: SyntaxError) -> Finding:
    row = min(max(error.lineno or 1, 1), source.row_count)
    column = min(max((error.offset or 1), 1), len(source.line(row)) + 1)
    start = source.offset(row, column)
    return _finding(Span(start, start), f"not valid Python: {error.msg}")
