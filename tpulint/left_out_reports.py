"""The fix for what is only told of a GPU and fails where there is none: the message goes, or the entry of a report."""

from __future__ import annotations

import ast
from collections.abc import Collection

from tpulint.model import Applicability, Scope
from tpulint.semantic.cuda.cuda_mentions import READINGS, is_text, tells
from tpulint.semantic.syntax.torch_facts import CUDA_ONLY_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.card import MappingRow
    from tpulint.context import FileContext, FixBuilder

_TOLD = CUDA_ONLY_NAMES | READINGS
_LEFT_OUT = "The message about the GPU is left out."


def leave_out_report(ctx: FileContext, node: ast.expr, row: MappingRow) -> FixBuilder | None:
    """A statement that tells nothing but what fails here goes; what reads as nothing may stay."""
    statement = ctx.index.statement_of(node)
    mentions = ctx.index.devices.features.mentions
    loop = next((item for item in ctx.index.tree.ancestors(statement) if mentions.is_report_loop(item)), None)
    if isinstance(loop, ast.For):
        fix = ctx.fix("Remove the message about the GPUs", Applicability.UNSAFE, _LEFT_OUT, Scope.STATEMENT)
        fix.delete(loop)
        return fix
    inside = ctx.index.tree.inside
    asked = next((call for call in inside(statement) if isinstance(call, ast.Call) and call.func is node), None)
    if row.severity or asked is None or not mentions.are_in(asked, _TOLD):
        return None
    gone = (
        [statement] if _tells_only(ctx, statement, {asked, *inside(asked)}) else _with_messages(ctx, statement, asked)
    )
    if not gone:
        return None
    fix = ctx.fix("Remove the message about the GPU", Applicability.UNSAFE, _LEFT_OUT, Scope.STATEMENT)
    for item in gone:
        fix.delete(item)
    return fix


def _with_messages(ctx: FileContext, statement: ast.stmt, asked: ast.Call) -> list[ast.stmt]:
    """``major, minor = get_device_capability()``, with all that reads these variables; none if that does more."""
    names = ctx.index.names
    if ctx.index.function_of(statement) is None and not ctx.index.step_loops:
        return []  # other files may read it
    if not isinstance(statement, ast.Assign) or statement.value is not asked or len(statement.targets) != 1:
        return []
    target = statement.targets[0]
    kept = target.elts if isinstance(target, ast.Tuple) else [target]
    variables = [item for item in kept if isinstance(item, ast.Name)]
    if len(variables) != len(kept) or any(len(names.bindings(item)) != 1 for item in variables):
        return []
    loads = {load for item in variables for load in names.loads_of(item)}
    uses = list(dict.fromkeys(map(ctx.index.statement_of, loads)))
    return [statement, *uses] if uses and all(_tells_only(ctx, use, loads) for use in uses) else []


def _tells_only(ctx: FileContext, statement: ast.stmt, told: Collection[ast.AST]) -> bool:
    """Whether a statement prints or logs these expressions and nothing else, or keeps a text of them in a report."""
    inside = ctx.index.tree.inside
    if isinstance(statement, ast.Assign):
        shown, printer = statement.value, set[ast.AST]()
        if not is_text(shown) or not ctx.index.devices.features.mentions.is_reported(shown):
            return False
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and tells(statement):
        shown, printer = statement.value, {statement.value.func, *inside(statement.value.func)}
    else:
        return False
    return all(part in told or part in printer for part in inside(shown) if isinstance(part, ast.Name))
