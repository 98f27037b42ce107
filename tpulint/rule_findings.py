"""What rules say about one file, and what is told of a rule, or of tpulint itself, that fails."""

from __future__ import annotations

from functools import partial

from tpulint.languages import PYTHON
from tpulint.model import Finding
from tpulint.selectors import matches_any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tpulint.config import Settings
    from tpulint.rule import Rule
    from tpulint.semantic import SemanticIndex
    from tpulint.text_files import TextIndex

    Index = SemanticIndex | TextIndex


class _RuleFailed(Exception):
    """The Python of a rule that is not ours raised something, or tried to end the process."""


def found_by(rules: Iterable[Rule], index: Index, settings: Settings, ignored: Iterable[str]) -> list[Finding]:
    """What some rules say about one file, those ignored in it left out."""
    findings: list[Finding] = []
    for rule in rules:
        if matches_any(ignored, rule.code, rule.name) or (settings.portable and rule.portable == "silent"):
            continue
        found: Iterable[Finding]
        if rule.place.is_own:
            found = _found(rule, index, settings)
        else:
            found = _guarded(rule, partial(_found, rule, index, settings))
        if settings.portable:
            from tpulint.applicability import portable_findings

            found = portable_findings(found, rule, index)
        findings.extend(found)
    return findings


def _guarded(rule: Rule, found: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """The findings of a rule from a plugin. Raises ``_RuleFailed`` for whatever it raises."""
    try:
        for finding in found():
            if not isinstance(finding, Finding):
                raise TypeError(f"check yields {finding!r}, which is no finding")
            yield finding
    except (RecursionError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise _RuleFailed(f"rule {rule.code} of {rule.place.package} failed: {told(error)}") from error


def _found(rule: Rule, index: Index, settings: Settings) -> Iterator[Finding]:
    """What one rule says about one file."""
    options = rule.option_values(settings.options(rule.code).items())
    if index.language != PYTHON:
        from tpulint.text_files import TextIndex
        from tpulint.text_files.context import TextContext

        assert isinstance(index, TextIndex)
        return rule.check_text(TextContext(index, rule, settings.target, options, portable=settings.portable))
    from tpulint.context import FileContext
    from tpulint.semantic import SemanticIndex

    assert isinstance(index, SemanticIndex)
    return rule.check(
        FileContext(index, rule, settings.target, options, portable=settings.portable, runtime=settings.runtime)
    )


def crash_message(error: BaseException) -> str:
    """What failed and which line it was, for the bug report."""
    if isinstance(error, _RuleFailed):
        return str(error)
    return f"internal error: {told(error)}; this is a bug of tpulint"


def told(error: BaseException) -> str:
    """What was raised, and the line of Python that raised it."""
    where = ""
    trace = error.__traceback__
    while trace is not None:
        where = f" ({trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno})"
        trace = trace.tb_next
    return " ".join(f"{type(error).__name__}: {error}{where}".split())
