"""Slices that are chosen by a tensor of their indices: one graph for all places."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.semantic.devices.default_device import is_default
from tpulint.semantic.sizes.computed_places import indices_of
from tpulint_rules.recompile._empty_parts import may_begin_behind
from tpulint_rules.recompile._places import is_plain, is_stored

_DEPTH = 2


def choose_by_range(ctx: FileContext, fix: FixBuilder, node: ast.Subscript, item: ast.Slice) -> None:
    """Write ``x[torch.arange(i, min(i + 16, len(x)))]`` for ``x[i : i + 16]``.

    A slice ends where the tensor does; ``min`` says so where nothing else does.
    """
    lower, upper = item.lower, item.upper
    if lower is None or upper is None or item.step is not None:
        fix.give_up()
        return
    at = indices_of(node).index(item)
    begin: str | None = one_line(ctx, lower)
    end: str | None = one_line(ctx, upper)
    if may_begin_behind(ctx, node, lower):
        begin = bounded(ctx, node, lower, at)  # a range begins where it ends at the latest
    if not is_bounded(ctx, node, lower, upper):
        end = bounded(ctx, node, upper, at)
    if begin is None or end is None:
        fix.give_up()
        return
    write_range(ctx, fix, item, begin, end)


def bounded(ctx: FileContext, node: ast.Subscript, number: ast.expr, at: int) -> str | None:
    """``min(i + 16, len(x))``, which lies within the tensor; None where that cannot be written."""
    if not is_plain(node.value) or ctx.index.names.find("min", ctx.index.names.scope_of(node)) is not None:
        return None  # it would be written twice
    text, size = one_line(ctx, number), f"{ctx.text(node.value)}.size({at})" if at else f"len({ctx.text(node.value)})"
    is_open = is_least_of_several(ctx, number) and "\n" not in text
    return f"{text[:-1]}, {size})" if is_open else f"min({text}, {size})"


def write_range(ctx: FileContext, fix: FixBuilder, where: ast.expr, begin: str, end: str) -> None:
    """Write ``torch.arange(begin, end)`` in place of a slice."""
    # what is made on the device has its ends in the graph
    place = ', device="cpu"' if is_default(ctx.index) else ""
    fix.replace(where, f"{fix.use('torch', at=where)}.arange({begin}, {end}{place})")


def one_line(ctx: FileContext, node: ast.expr) -> str:
    """The text of an expression in one line, where that loses no comment."""
    text = ctx.text(node)
    return ast.unparse(node) if "\n" in text and "#" not in text else text


def is_bounded(ctx: FileContext, node: ast.Subscript, lower: ast.expr, upper: ast.expr) -> bool:
    """Whether a slice has its length, whatever the place: its end is a ``min`` already, or as many rows are written.

    Those are counted, ``queue[at : at + keys.shape[0]] = keys``, or go round: where fewer are left, it fails.
    Of a fixed number, ``out[i : i + 8] = net(x[i : i + 8])``, the last part has fewer on both sides.
    """
    if is_stored(ctx, node) and not _is_spread(ctx, node) and (_tells_size(ctx, upper) or _goes_round(ctx, upper)):
        return True
    if _is_least(ctx, upper) or _counts_whole_parts(ctx, upper):
        return True
    parts = [part for part in ast.walk(upper) if isinstance(part, ast.Name)]
    begun = {part.id for part in ast.walk(lower) if isinstance(part, ast.Name)}
    return isinstance(upper, ast.BinOp) and any(part.id not in begun and _is_least(ctx, part) for part in parts)


def _counts_whole_parts(ctx: FileContext, upper: ast.expr) -> bool:
    """``(i + 1) * 16`` of ``for i in range(len(x) // 16)``"""
    for part in ast.walk(upper):
        bindings = ctx.index.flow.reaching(part) if isinstance(part, ast.Name) else ()
        counted = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "loop" else None
        if not isinstance(part, ast.Name) or not isinstance(counted, ast.Call) or len(counted.args) != 1:
            continue
        parts = counted.args[0]
        parts = (_value_of(ctx, parts) or parts) if isinstance(parts, ast.Name) else parts
        if ctx.index.qualified_name(counted.func) != "builtins.range" or not isinstance(parts, ast.BinOp):
            continue
        i, size = part.id, ast.unparse(parts.right)
        ends = (f"({i} + 1) * {size}", f"{size} * ({i} + 1)", f"{i} * {size} + {size}")
        if isinstance(parts.op, ast.FloorDiv) and ast.unparse(upper) in ends and _tells_size(ctx, parts.left):
            return True
    return False


def _goes_round(ctx: FileContext, upper: ast.expr) -> bool:
    """``at = (at + 16) % 4096`` beside a slice that ends at ``at + 16``"""
    wrapped = ctx.index.tree.nodes_in(ctx.index.function_of(upper) or ctx.index.tree.module, ast.BinOp)
    end = ast.unparse(upper)
    return any(isinstance(one.op, ast.Mod) and ast.unparse(one.left) == end for one in wrapped)


def _is_spread(ctx: FileContext, node: ast.Subscript) -> bool:
    """Whether what is written may be one number, or one row, for all of the places."""
    statement = ctx.index.statement_of(node)
    value = statement.value if isinstance(statement, ast.Assign) else None
    return value is None or isinstance(value, ast.Constant) or ctx.index.dimensions.of(value) == 0


def _is_least(ctx: FileContext, node: ast.expr) -> bool:
    """``min(i + 16, len(x))``, or a variable that holds it."""
    if isinstance(node, ast.Name):
        value = _value_of(ctx, node)
        return value is not None and not isinstance(value, ast.Name) and _is_least(ctx, value)
    return is_least_of_several(ctx, node) and _tells_size(ctx, node)


def is_least_of_several(ctx: FileContext, node: ast.expr) -> bool:
    """``min(i + 16, n)``"""
    is_call = isinstance(node, ast.Call) and bool(node.args) and not node.keywords
    return isinstance(node, ast.Call) and is_call and ctx.index.qualified_name(node.func) == "builtins.min"


def _tells_size(ctx: FileContext, node: ast.expr, depth: int = 0) -> bool:
    """Whether an expression asks how large something is, ``len(x) - 1``, or reads a variable that does."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and ctx.index.qualified_name(part.func) == "builtins.len":
            return True
        if isinstance(part, ast.Attribute) and part.attr in ("shape", "size", "numel"):
            return True
        value = _value_of(ctx, part) if isinstance(part, ast.Name) and depth < _DEPTH else None
        if value is not None and _tells_size(ctx, value, depth + 1):
            return True
    return False


def _value_of(ctx: FileContext, name: ast.Name) -> ast.expr | None:
    bindings = ctx.index.flow.reaching(name)
    is_plain = len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path
    return bindings[0].value if is_plain else None
