"""Rows of a mapping table in portable code: calls of CUDA stay, and are left out where CUDA is not the device."""

from __future__ import annotations

import ast

from tpulint.model import Applicability, Scope
from tpulint.semantic.cuda.cuda_mentions import PRINTING
from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.card import MappingRow
    from tpulint.context import FileContext, FixBuilder

KEEP = "keep"
GUARD = "guard"
"""Action of a row whose call is put under a condition."""
_NOT_PORTABLE = "The code must still run on CUDA, where the old name is right."


def portable_row(ctx: FileContext, node: ast.Attribute | ast.Name, row: MappingRow) -> MappingRow | None:
    """The row as it is in portable code; None where the call does no harm there."""
    if row.old.startswith(ctx.target.name + "."):
        return row  # the code asks for XLA already
    if row.portable == KEEP or ctx.index.guards.is_for_cuda(node):
        return None
    if row.portable:
        # a call with other arguments is written out, a reference keeps those it will be called with
        action = "replace" if "(" in row.portable else "rename"
        return row._replace(action=action, new=row.portable, since="")
    return row._replace(action=GUARD) if row.with_item or _statement_to_guard(ctx, node, row) is not None else row


def guarded(ctx: FileContext, node: ast.Attribute | ast.Name, row: MappingRow) -> FixBuilder | None:
    """The call under a condition that holds where CUDA is the device."""
    fix = ctx.fix("Do it on CUDA only", Applicability.SAFE, "On CUDA nothing changes.", Scope.STATEMENT)
    if row.with_item:
        call = ctx.index.parent(node)
        if not isinstance(call, ast.Call) or not isinstance(ctx.index.parent(call), ast.withitem):
            return None
        nothing = f"{fix.use('contextlib', at=node)}.nullcontext()"
        fix.insert(ctx.index.span(call).end, f" if {_question(fix, node, row)} else {nothing}")
        return fix
    statement = _statement_to_guard(ctx, node, row)
    assert statement is not None
    if isinstance(statement, ast.Expr) and fix.has_neighbours(statement):  # no `if` can stand on a row with others
        fix.insert(ctx.index.span(statement.value).end, f" if {_question(fix, node, row)} else None")
        return fix
    fix.put_under([statement], f"if {_question(fix, node, row)}:")
    return fix


def only_shown(ctx: FileContext, fix: FixBuilder | None, row: MappingRow) -> None:
    """Lower a fix that takes away what CUDA needs."""
    if fix is not None and not row.portable and not row.old.startswith(ctx.target.name + "."):
        fix.lower(Applicability.DISPLAY, _NOT_PORTABLE)


def _question(fix: FixBuilder, node: ast.expr, row: MappingRow) -> str:
    if row.old.startswith("torch.accelerator."):
        return f"{fix.use('torch', at=node)}.accelerator.is_available()"
    return fix.emit.cuda_question(node)


def _statement_to_guard(ctx: FileContext, node: ast.expr, row: MappingRow) -> ast.stmt | None:
    """The statement that is nothing but the call, or shows what it tells; none whose work another device needs."""
    statement = ctx.index.statement_of(node)
    if row.argument or not row.old.startswith("torch."):
        return None
    if row.assigned:
        return statement if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    func = statement.value.func
    return statement if func is node or last_name(func) in PRINTING else None
