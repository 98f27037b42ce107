"""Slices that are chosen by a tensor of their indices: one graph for all places."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.semantic.computed_places import indices_of
from tpulint.semantic.default_device import is_default
from tpulint_rules.recompile._places import is_plain, is_stored


def choose_by_range(ctx: FileContext, fix: FixBuilder, node: ast.Subscript, item: ast.Slice) -> None:
    """Write ``x[torch.arange(i, min(i + 16, len(x)))]`` for ``x[i : i + 16]``.

    A slice ends where the tensor does; ``min`` says so where nothing else does.
    """
    at = indices_of(node).index(item)
    size = f"len({ctx.text(node.value)})" if at == 0 else f"{ctx.text(node.value)}.size({at})"
    lower, upper = item.lower, item.upper
    if lower is None or upper is None or item.step is not None:
        fix.give_up()
        return
    end = _one_line(ctx, upper)
    if not _is_bounded(ctx, node, lower, upper):
        if not is_plain(node.value) or ctx.index.names.find("min", ctx.index.names.scope_of(node)) is not None:
            fix.give_up()  # it would be written twice
            return
        end = f"min({end}, {size})"
    # what is made on the device has its ends in the graph
    place = ', device="cpu"' if is_default(ctx.index) else ""
    fix.replace(item, f"{fix.use('torch', at=node)}.arange({_one_line(ctx, lower)}, {end}{place})")


def _one_line(ctx: FileContext, node: ast.expr) -> str:
    text = ctx.text(node)
    return ast.unparse(node) if "\n" in text and "#" not in text else text


def _is_bounded(ctx: FileContext, node: ast.Subscript, lower: ast.expr, upper: ast.expr) -> bool:
    """Whether a slice has its length, whatever the place: its end is a ``min`` already, or it is written.

    Where fewer rows are left than are written, the assignment fails.
    """
    if is_stored(ctx, node) and not _is_spread(ctx, node):
        return True
    if _is_least(ctx, upper):
        return True
    parts = [part for part in ast.walk(upper) if isinstance(part, ast.Name)]
    begun = {part.id for part in ast.walk(lower) if isinstance(part, ast.Name)}
    return isinstance(upper, ast.BinOp) and any(part.id not in begun and _is_least(ctx, part) for part in parts)


def _is_spread(ctx: FileContext, node: ast.Subscript) -> bool:
    """Whether what is written may be one number, or one row, for all of the places."""
    statement = ctx.index.statement_of(node)
    value = statement.value if isinstance(statement, ast.Assign) else None
    return value is None or isinstance(value, ast.Constant) or ctx.index.dimensions.of(value) == 0


def _is_least(ctx: FileContext, node: ast.expr) -> bool:
    """``min(i + 16, len(x))``, or a variable that holds it."""
    if isinstance(node, ast.Name):
        bindings = ctx.index.flow.reaching(node)
        return bool(bindings) and all(
            binding.kind == "assign" and not binding.path and binding.value is not None
            and isinstance(binding.value, ast.Call) and _is_least(ctx, binding.value)
            for binding in bindings
        )  # fmt: skip
    return isinstance(node, ast.Call) and ctx.index.qualified_name(node.func) == "builtins.min"
