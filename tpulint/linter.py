"""One file: text in, findings and fixed text out."""

from __future__ import annotations

import ast
import gc
import warnings

from tpulint.languages import PYTHON, SHELL, language_of
from tpulint.model import Certainty, FileResult, Finding, OutsideCall, Severity, Span
from tpulint.records import NamedTuple
from tpulint.relevance import (
    applicable,
    has_functions,
    is_run_by_base,
    may_derive_steps,
    may_drive,
    may_import_steps,
    may_run_steps,
    may_suppress,
    uses_imports,
)
from tpulint.rule_findings import crash_message, told
from tpulint.source import InvalidSyntax, SourceFile, told_syntax
from tpulint.told_findings import check

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tpulint.catalog import Catalogue
    from tpulint.config import Settings
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.project.other_files import Library
    from tpulint.text_files import TextIndex
    from tpulint.told_findings import Untouchable

    Index = SemanticIndex | TextIndex

INVALID_SYNTAX = "invalid-syntax"


class _TooComplex(Exception):
    """Python itself cannot hold the tree of this text."""


class Surroundings(NamedTuple):
    """What the other files of a project have to do with one file."""

    library: Library | None = None
    """Gives what the file imports."""
    calls: tuple[OutsideCall, ...] = ()
    """Calls that others make of its functions."""

    @property
    def serve_loops(self) -> bool:
        """Whether loops of other files use what the file defines."""
        return any(
            call.turn
            or call.fed
            or call.fed_evaluation
            or call.collates
            or call.is_quiet
            or call.replaces
            or call.trains_on_device
            or any(kind == "LOADER" or (kind == "MODULE" and side == "DEVICE") for _, kind, side in call.arguments)
            for call in self.calls
        )


ALONE = Surroundings()


def lint(
    source: SourceFile,
    settings: Settings,
    catalogue: Catalogue,
    surroundings: Surroundings = ALONE,
    untouchable: Untouchable | None = None,
    only_calls: bool = False,
) -> FileResult:
    """Lint one file, and fix it when the settings say so. ``untouchable`` takes the fixes off some of the findings.

    With ``only_calls`` nothing is looked for but what the file calls in others.
    Bad user input gives findings; a failure of tpulint itself gives ``FileResult.error``. Never raises for either.
    """
    text = source.text
    language = language_of(source.path, text)
    imports_steps, run_by_base = _steps_of_others(source, surroundings) if language == PYTHON else (False, False)
    runs_steps = imports_steps and may_run_steps(text)
    is_called = bool(surroundings.calls) or runs_steps or run_by_base
    rules = applicable(text, language, settings, catalogue, is_called)
    if source.cell_starts:
        rules += applicable(text, SHELL, settings, catalogue, False)

    def look(changed: SourceFile) -> tuple[Index, list[Finding]]:
        return _look(changed, settings, catalogue, surroundings, imports_steps, run_by_base, untouchable=untouchable)

    try:
        # What is called in the turns of others may call what the turns run next; objects that are given are handed on.
        # What imports steps may give them what they train, without a word of PyTorch.
        in_turns = imports_steps or any(call.turn or call.classes for call in surroundings.calls)
        drives = surroundings.library is not None and (in_turns or may_drive(text))
        if not rules and not drives and not may_suppress(text, catalogue.letters):
            if language != PYTHON:
                return FileResult(source.path, (), text, text)
            if surroundings.library is None or surroundings.library.known(source) is None:
                _check_syntax(source)  # a file that is not Python is told of, whatever it is about
            if source.cell_starts:
                from tpulint.notebooks.findings import with_broken_cells

                return FileResult(source.path, tuple(with_broken_cells((), source)), text, text)
            return FileResult(source.path, (), text, text, serves=has_functions(text))
        if not settings.fix:
            index, findings = _look(source, settings, catalogue, surroundings, imports_steps, run_by_base, only_calls)
            result = FileResult(source.path, _with_imports(findings, index), text, text)
            result = _with_calls(result, index, surroundings)
            index.release()
            return result
        from tpulint.fixer import BrokenFix, fix_rounds

        try:
            fixed = fix_rounds(source, look, settings.required_applicability)
            fixed.source.to_bytes()
        except (BrokenFix, UnicodeEncodeError) as error:
            index, findings = _look(source, settings, catalogue, surroundings, imports_steps, run_by_base)
            return FileResult(source.path, _with_imports(findings, index), text, text, error=str(error))
        left = _with_imports(fixed.findings, fixed.last_look)
        result = FileResult(source.path, left, fixed.source.text, text, fixed.fixed, fixed.rounds)
        result = result._replace(cell_starts=tuple(fixed.source.cell_starts))
        result = _with_calls(result, fixed.last_look, surroundings, fixed.first_look)
        fixed.last_look.release()
        if fixed.first_look is not fixed.last_look:
            fixed.first_look.release()
        return result
    except InvalidSyntax as invalid:
        return FileResult(source.path, (_not_python(source, invalid.error),), text, text)
    except _TooComplex:
        return _refused(source, "file is nested too deeply for Python to parse")
    except (RecursionError, MemoryError) as error:
        return _refused(source, f"file is too deep or too large to be examined: {told(error)}")
    except Exception as error:  # a bug of ours in one file must not stop the others
        return FileResult(source.path, (), text, text, error=crash_message(error))


def _steps_of_others(source: SourceFile, surroundings: Surroundings) -> tuple[bool, bool]:
    """Whether a file without a step of its own imports some, and whether loops of a base class may run its methods.

    Of the latter the name of the class tells, or the files that it imports.
    """
    library, text = surroundings.library, source.text
    if library is None:
        return False, False
    may_import, is_named = may_import_steps(text), is_run_by_base(text)
    may_derive = not is_named and may_derive_steps(text)
    imports = (may_import or may_derive) and library.imports_steps(source.path, text)
    return imports and may_import, is_named or (imports and may_derive)


def _refused(source: SourceFile, message: str) -> FileResult:
    return FileResult(source.path, (invalid_syntax(Span(0, 0), message),), source.text, source.text)


def _with_imports(findings: Sequence[Finding], index: Index) -> tuple[Finding, ...]:
    """The findings, their fixes with what imports what they need. A fix shared by several findings stays one object."""
    fixes = {id(finding.fix): finding.fix for finding in findings if finding.fix is not None and finding.fix.imports}
    if not fixes:
        return tuple(findings)
    from tpulint.imports import import_edit
    from tpulint.semantic import SemanticIndex

    assert isinstance(index, SemanticIndex)  # fixes of other files bring no imports
    whole = {
        number: fix._replace(import_edit=import_edit(index, fix.imports, fix.edits)) for number, fix in fixes.items()
    }
    return tuple(finding._replace(fix=whole.get(id(finding.fix), finding.fix)) for finding in findings)


def _with_calls(
    result: FileResult, index: Index, surroundings: Surroundings, before: Index | None = None
) -> FileResult:
    """The result with the calls of the text; ``before`` is the index of the text that fixes changed."""
    if surroundings.library is None or index.language != PYTHON:
        return result
    from tpulint.semantic import SemanticIndex

    assert isinstance(index, SemanticIndex)
    source = index.source
    serves = has_functions(source.text) and not source.cell_starts and not index.turn_code.loops
    calls = index.outgoing_calls
    if isinstance(before, SemanticIndex) and before is not index:
        from tpulint.semantic.project.outgoing import with_gpus_of

        calls = with_gpus_of(before.outgoing_calls, calls)
    return result._replace(calls=calls, serves=serves)


def _look(
    source: SourceFile,
    settings: Settings,
    catalogue: Catalogue,
    surroundings: Surroundings,
    imports_steps: bool,
    run_by_base: bool,
    only_calls: bool = False,
    untouchable: Untouchable | None = None,
) -> tuple[Index, list[Finding]]:
    """Parse and check one text, which may import steps or serve a base. Raises ``InvalidSyntax``, ``_TooComplex``."""
    if language_of(source.path, source.text) != PYTHON:
        from tpulint.text_files import TextIndex

        lines = TextIndex(source, surroundings.library)
        return lines, check(lines, source, settings, catalogue, False, untouchable)
    from tpulint.semantic import SemanticIndex

    # A tree is acyclic: collecting garbage while it grows only costs time.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        in_turns = bool(surroundings.calls) or imports_steps or run_by_base or uses_imports(source)
        library = surroundings.library if in_turns else None  # no other file is read for nothing
        index = None if surroundings.library is None else surroundings.library.known(source)
        if index is None:
            index = SemanticIndex(source, _parse(source), library, surroundings.calls)
        else:
            index = index.called_so(library, surroundings.calls)
        serves = surroundings.serve_loops or (imports_steps and may_run_steps(source.text))
        if library is not None and run_by_base and index.calls_of_bases:
            index, serves = index.called_so(library, (*surroundings.calls, *index.calls_of_bases)), True
        findings = [] if only_calls else check(index, source, settings, catalogue, serves, untouchable)
        return index, findings
    finally:
        if was_enabled:
            gc.enable()


def _check_syntax(source: SourceFile) -> None:
    """Raise what ``_parse`` does, without making a tree: symbols take two thirds of the time."""
    import symtable

    if not source.cell_starts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                symtable.symtable(source.code, source.path, "exec")
                return
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                pass  # names may be wrong in a text that can be parsed, and its symbols too deep
    _parse(source)


def _parse(source: SourceFile) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return source.parse()
        except SyntaxError as error:
            raise InvalidSyntax(error) from None
        except ValueError as error:  # an editor's text with half a surrogate pair
            raise InvalidSyntax(SyntaxError(str(error))) from None
        except (RecursionError, MemoryError) as error:
            raise _TooComplex from error


def invalid_syntax(span: Span, message: str) -> Finding:
    """The finding about text that cannot be read."""
    return Finding(INVALID_SYNTAX, INVALID_SYNTAX, span, message, Severity.ERROR, Certainty.CERTAIN)


def _not_python(source: SourceFile, error: SyntaxError) -> Finding:
    row = min(max(error.lineno or 1, 1), source.row_count)
    column = min(max((error.offset or 1), 1), len(source.line(row)) + 1)
    start = source.offset(row, column)
    return invalid_syntax(Span(start, start), told_syntax(error))
