"""Batch normalisations that are left in float32 in a network in half precision."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic import SemanticIndex

_NORM = "Statistics of a batch are then kept in bfloat16, with fewer digits."


def norms_in_float32(ctx: FileContext) -> Iterator[Finding]:
    """``if isinstance(m, nn.BatchNorm2d): m.float()`` in a network in float16: cuDNN takes both, XLA does not."""
    for call, receiver in ctx.index.method_calls("float"):
        statement, branch = ctx.index.statement_of(call), ctx.index.parent(ctx.index.statement_of(call))
        asked = branch.test if isinstance(branch, ast.If) and statement in branch.body else None
        if not isinstance(receiver, ast.Name) or not isinstance(asked, ast.Call) or not isinstance(statement, ast.Expr):
            continue
        is_norm = ctx.index.qualified_name(asked.func) == "builtins.isinstance" and "BatchNorm" in ctx.text(asked)
        if not is_norm or not isinstance(asked.args[0], ast.Name) or asked.args[0].id != receiver.id:
            continue
        fix = ctx.fix("Leave it in bfloat16", Applicability.UNSAFE, _NORM)
        fix.delete(_emptied(ctx, statement))
        yield ctx.finding(
            call,
            "batch normalization in float32 gives float32 on XLA, which the next layer in bfloat16 refuses",
            fix,
        )


def casts_for_module(ctx: FileContext) -> bool:
    """Whether a model here, or in a file that is imported, gives a part of it float32: ``self.norm(x.float())``."""
    return any(
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "float"
        and isinstance(module := index.tree.parents[call], ast.Call)
        and isinstance(module.func, ast.Attribute)
        and _is_part_of_model(index, module.func)
        for index in (ctx.index, *ctx.index.imported.files())
        for call in index.calls
    )


def _is_part_of_model(index: SemanticIndex, module: ast.Attribute) -> bool:
    """``self.norm`` in the ``forward`` of a module; the loss of a trainer is none."""
    function, owner = index.function_of(module), index.tree.class_of(module)
    within = function is not None and function.name == "forward" and isinstance(module.value, ast.Name)
    return within and owner is not None and index.definitions.is_module_class(owner)


def _emptied(ctx: FileContext, statement: ast.stmt) -> ast.stmt:
    """The outermost condition or loop that is there for nothing but a statement."""
    while True:
        holder = ctx.index.parent(statement)
        if not isinstance(holder, ast.If | ast.For) or holder.body != [statement] or holder.orelse:
            return statement
        if isinstance(holder, ast.If) and ctx.source.text.startswith("elif", ctx.index.span(holder).start):
            return statement
        statement = holder
