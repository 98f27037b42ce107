"""How many batches there are, how long one is, and whether the last one is as long as the others."""

from __future__ import annotations

import ast

from tpulint.context import FileContext
from tpulint.semantic.syntax.bindings import part_of

_DEPTH = 3
_RESHAPING = ("reshape", "view", "contiguous", "t", "transpose")
_ROUNDING_UP = ("math.ceil", "numpy.ceil")


def counts_batches(ctx: FileContext, places: ast.Call) -> bool:
    """Whether a range goes through numbers of batches, the last of which is not full."""
    return bool(places.args) and _rounded_up(ctx, places.args[0] if len(places.args) == 1 else places.args[1])


def _rounded_up(ctx: FileContext, node: ast.expr, depth: int = 0) -> bool:
    """Whether a number of batches counts one that is not full: ``math.ceil(n / size)``, ``n // size + 1``.

    Also ``(n + size - 1) // size``, and a variable with such a value.
    """
    from tpulint.semantic.syntax.linear import Linear

    if isinstance(node, ast.Name | ast.Attribute) and depth < 2:
        values = values_of(ctx, node)
        return bool(values) and all(_rounded_up(ctx, value, depth + 1) for value in values)
    if isinstance(node, ast.Call):
        name = ctx.index.qualified_name(node.func)
        if name == "builtins.int" and len(node.args) == 1:
            return _rounded_up(ctx, node.args[0], depth)
        return name in _ROUNDING_UP and isinstance(node.args[0], ast.BinOp) and isinstance(node.args[0].op, ast.Div)
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, ast.Add):
        whole, more = node.left, node.right
        is_one = isinstance(more, ast.Constant) and more.value == 1
        is_cut = isinstance(whole, ast.Call) and ctx.index.qualified_name(whole.func) == "builtins.int"
        divided: ast.expr | None = whole
        if isinstance(whole, ast.Call):  # `int(n / size) + 1`
            divided = whole.args[0] if is_cut and len(whole.args) == 1 else None
        kinds = (ast.FloorDiv, ast.Div) if is_cut else (ast.FloorDiv,)
        return is_one and isinstance(divided, ast.BinOp) and isinstance(divided.op, kinds)
    if not isinstance(node.op, ast.FloorDiv):
        return False
    left = Linear(ctx.index).difference(node.left, node.right)  # n + size - 1: without the size, the samples are left
    mentioned = _mentions(ctx, node.left, node.right)
    return mentioned and left is not None and not any(_mentions(ctx, atom, node.right) for atom in left)


def sizes_counted_in(ctx: FileContext, lower: ast.expr) -> list[ast.expr]:
    """What a place is counted in: ``size`` of ``i * size``."""
    if isinstance(lower, ast.Name):
        bindings = ctx.index.flow.reaching(lower)
        value = part_of(bindings[0].value, bindings[0].path) if [one.kind for one in bindings] == ["assign"] else None
        return [] if value is None or isinstance(value, ast.Name) else sizes_counted_in(ctx, value)
    return [lower.left, lower.right] if isinstance(lower, ast.BinOp) and isinstance(lower.op, ast.Mult) else []


def upper_ends(ctx: FileContext, node: ast.expr, depth: int = 0) -> list[ast.expr]:
    """What a slice may end with: both of ``min(start + size, count)``, and what a branch gives the last one."""
    if isinstance(node, ast.Name) and depth < _DEPTH:
        made = [part_of(one.value, one.path) for one in ctx.index.flow.reaching(node) if one.kind == "assign"]
        values = [value for value in made if value is not None]
        return [node, *(end for value in values for end in upper_ends(ctx, value, depth + 1))]
    if isinstance(node, ast.Call) and ctx.index.qualified_name(node.func) == "builtins.min":
        return list(node.args)
    return [node]


def is_ahead(ctx: FileContext, upper: ast.expr, lower: ast.expr, size: ast.expr) -> bool:
    """Whether an end is as far behind the start as the next start."""
    from tpulint.semantic.syntax.linear import Linear

    ahead = ast.copy_location(ast.BinOp(lower, ast.Add(), size), lower)
    return Linear(ctx.index).difference(upper, ahead) == []


def divides(ctx: FileContext, places: ast.Call) -> bool:
    """Whether the places are known to end with a whole batch."""
    if counts_batches(ctx, places):
        return False
    count, size = places.args[1], places.args[2]
    counts = ctx.index.loaders.counts
    known, step = counts.number(count), counts.number(size)
    if known and step:
        return known % step == 0
    parts = [item for part in (count, *values_of(ctx, count)) for item in (part, *ctx.index.tree.inside(part))]
    if not (_is_difference(count) or any(is_count_of_samples(ctx, item) for item in parts)):
        return True  # a number that was chosen, maybe to fit
    for item in parts:
        if isinstance(item, ast.BinOp) and isinstance(item.op, ast.FloorDiv | ast.Mod | ast.Mult):
            return True
        if isinstance(item, ast.BinOp) and isinstance(item.op, ast.Sub) and _mentions(ctx, item.right, size):
            return True
        if _is_cut_to_fit(ctx, item, size):
            return True
    # The size may have been chosen for the count: `size = count // batches`.
    return any(
        isinstance(item, ast.BinOp) and isinstance(item.op, ast.FloorDiv)
        for value in values_of(ctx, size)
        for item in (value, *ctx.index.tree.inside(value))
    )


def _is_cut_to_fit(ctx: FileContext, count: ast.AST, size: ast.expr) -> bool:
    """Whether samples were cut to whole batches before they are counted: ``words = words[: batches * size]``."""
    counted = _counted(count)
    cuts = values_of(ctx, counted) if isinstance(counted, ast.Name) and is_count_of_samples(ctx, count) else []
    cuts = [value for cut in cuts for value in _before_reshaping(ctx, cut)]
    for cut in cuts:
        part = cut.slice if isinstance(cut, ast.Subscript) else None
        if not isinstance(part, ast.Slice) or part.lower is not None or part.upper is None:
            return False
        ends = [part.upper, *values_of(ctx, part.upper)]
        inside = [item for end in ends for item in (end, *ctx.index.tree.inside(end))]
        ends += [value for item in inside if isinstance(item, ast.Name) for value in values_of(ctx, item)]
        is_product = any(isinstance(item, ast.BinOp) and isinstance(item.op, ast.Mult | ast.Mod) for item in inside)
        if not is_product or not any(_mentions(ctx, end, size) for end in ends):
            return False
    return bool(cuts)


def _is_difference(count: ast.expr) -> bool:
    """``size - window``: the places of windows in a series, which nobody chooses to fit."""
    return isinstance(count, ast.BinOp) and isinstance(count.op, ast.Sub) and not isinstance(count.right, ast.Constant)


def is_count_of_samples(ctx: FileContext, node: ast.AST) -> bool:
    """``len(x)``, ``x.size(0)``, ``x.shape[0]``."""
    if isinstance(node, ast.Call):
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return method == "size" or ctx.index.qualified_name(node.func) == "builtins.len"
    return isinstance(node, ast.Attribute) and node.attr == "shape"


def values_of(ctx: FileContext, node: ast.expr) -> list[ast.expr]:
    """What is assigned to a variable, or to an attribute of that name anywhere."""
    if isinstance(node, ast.Name):
        bindings = ctx.index.flow.reaching(node)
        return [binding.value for binding in bindings if binding.value is not None and binding.kind == "assign"]
    if not isinstance(node, ast.Attribute):
        return []
    stores = [other for other in ctx.index.tree.attributes_called(node.attr) if isinstance(other.ctx, ast.Store)]
    statements = [ctx.index.statement_of(store) for store in stores]
    return [statement.value for statement in statements if isinstance(statement, ast.Assign)]


def _mentions(ctx: FileContext, node: ast.expr, size: ast.expr) -> bool:
    return any(ast.dump(part) == ast.dump(size) for part in (node, *ctx.index.tree.inside(node)))


def _counted(count: ast.AST) -> ast.expr | None:
    """What ``len(x)``, ``x.shape[1]``, ``x.size(0)`` and ``x.size`` count."""
    if isinstance(count, ast.Call) and isinstance(count.func, ast.Attribute):
        return count.func.value
    if isinstance(count, ast.Call) and len(count.args) == 1:
        return count.args[0]
    whole = count.value if isinstance(count, ast.Subscript) else count
    return whole.value if isinstance(whole, ast.Attribute) else None


def _before_reshaping(ctx: FileContext, made: ast.expr) -> list[ast.expr]:
    """What an array was before it got other dimensions: ``rows = rows.reshape((size, -1))``."""
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr in _RESHAPING:
        made = made.func.value
    return values_of(ctx, made) if isinstance(made, ast.Name) else [made]
