"""Rows of a mapping table about modules that moved: findings on imports, and on names written with the whole path."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.declarative import message_of, problem_of
from tpulint.model import Finding, Span
from tpulint.row_fixes import applicability_of
from tpulint.targets import parse_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.context import FileContext
    from tpulint.declarative import NameTable

_SAME_NAMES = "The same names live in the new module."


def module_findings(ctx: FileContext, table: NameTable) -> Iterator[Finding]:
    """Findings on imports of modules that moved, and on names written with the whole path of such a module."""
    for where, old, span, text in _uses_of_modules(ctx, table):
        row = table.modules[old]
        problem = problem_of(row, ctx.target, ctx.rule.severity)
        if problem is None:
            continue
        fix = None
        if span is not None and not (row.since and ctx.target.version < parse_version(row.since)):
            reason = row.reason or _SAME_NAMES
            fix = ctx.fix(f"Replace with `{row.new}`", applicability_of(ctx, row), reason)
            fix.replace(span, text)
        yield ctx.finding(where, message_of(row, problem[0]), fix, severity=problem[1])


def _uses_of_modules(ctx: FileContext, table: NameTable) -> Iterator[tuple[ast.AST, str, Span | None, str]]:
    """Node, old module, span to change (None where no fix can be given), text to put there."""
    index, modules = ctx.index, table.modules
    for statement in index.tree.binders:
        if isinstance(statement, ast.ImportFrom) and not statement.level:
            module = statement.module or ""
            if module in modules:
                yield statement, module, _module_span(ctx, statement), modules[module].new
                continue
            for alias in statement.names:
                old = f"{module}.{alias.name}"
                if old in modules:
                    new_module, _, new_name = modules[old].new.rpartition(".")
                    local = alias.asname or alias.name
                    name = new_name if local == new_name else f"{new_name} as {local}"
                    alone = len(statement.names) == 1
                    yield alias, old, index.span(statement) if alone else None, f"from {new_module} import {name}"
        elif isinstance(statement, ast.Import):
            for alias in statement.names:
                if alias.name in modules:
                    start = index.span(alias).start
                    yield alias, alias.name, Span(start, start + len(alias.name)), modules[alias.name].new
    for node, _ in index.references(*modules):
        current: ast.expr = node
        # Down to the part that means the module; when that is a plain name, its import is what has to change.
        while isinstance(current, ast.Attribute):
            found = index.qualified_name(current)
            if found in modules:
                is_written_out = index.text(current) == found
                yield current, found, index.span(current) if is_written_out else None, modules[found].new
                break
            current = current.value


def _module_span(ctx: FileContext, statement: ast.ImportFrom) -> Span | None:
    span = ctx.index.span(statement)
    at = ctx.source.text.find(statement.module or "", span.start, span.end)
    return Span(at, at + len(statement.module or "")) if at >= 0 else None
