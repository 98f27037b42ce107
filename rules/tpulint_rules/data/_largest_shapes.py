"""Batches of images that are filled up to the largest of them, along all axes at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext

_FILLERS = frozenset(f"torch.{name}" for name in ("zeros", "ones", "full", "empty"))
_FILLING = frozenset({"new", "new_zeros", "new_ones", "new_full", "new_empty"})
_SEQUENCES = frozenset({"builtins.list", "builtins.tuple"})
_DEPTH = 3


def filled_by_largest(ctx: FileContext, call: ast.expr) -> ast.AST | None:
    """What makes a batch of the largest shape that a call finds among its images; None where it finds or makes none.

    ``size = largest([list(image.shape) for image in images])``, ``tuple(max(s) for s in zip(*[x.shape for x in xs]))``.
    """
    return _use(ctx, call, 0) if isinstance(call, ast.Call) and _finds_largest(ctx, call) else None


def _finds_largest(ctx: FileContext, call: ast.Call) -> bool:
    index = ctx.index
    if len(call.args) != 1 or call.keywords:
        return False
    given = call.args[0]
    if index.qualified_name(call.func) in _SEQUENCES:
        return isinstance(given, ast.GeneratorExp | ast.ListComp) and _is_largest_of_each(ctx, given)
    function = index.definitions.function_called(call) if _are_shapes(ctx, given) else None
    calls = () if function is None else index.tree.nodes_in(function, ast.Call)
    return any(isinstance(one, ast.Call) and index.qualified_name(one.func) == "builtins.max" for one in calls)


def _is_largest_of_each(ctx: FileContext, each: ast.GeneratorExp | ast.ListComp) -> bool:
    """``max(s) for s in zip(*[image.shape for image in images])``"""
    index, drawn = ctx.index, each.generators[0].iter
    is_longest = isinstance(each.elt, ast.Call) and index.qualified_name(each.elt.func) == "builtins.max"
    if not is_longest or not isinstance(drawn, ast.Call) or index.qualified_name(drawn.func) != "builtins.zip":
        return False
    parts = [item.value for item in drawn.args if isinstance(item, ast.Starred)]
    return len(parts) == len(drawn.args) == 1 and _are_shapes(ctx, parts[0])


def _are_shapes(ctx: FileContext, node: ast.expr) -> bool:
    """``[list(image.shape) for image in images]``"""
    item = node.elt if isinstance(node, ast.ListComp | ast.GeneratorExp) else None
    if isinstance(item, ast.Call) and ctx.index.qualified_name(item.func) in _SEQUENCES and len(item.args) == 1:
        item = item.args[0]
    if isinstance(item, ast.Call):
        return isinstance(item.func, ast.Attribute) and item.func.attr == "size" and not item.args
    return isinstance(item, ast.Attribute) and item.attr == "shape"


def _use(ctx: FileContext, node: ast.expr, depth: int) -> ast.AST | None:
    """The call that makes a batch of a shape, which a variable may hold with the number of images in front."""
    index = ctx.index
    for ancestor in index.tree.ancestors(node):
        if isinstance(ancestor, ast.Call):
            name = index.qualified_name(ancestor.func)
            makes = isinstance(ancestor.func, ast.Attribute) and name is None and ancestor.func.attr in _FILLING
            return ancestor if name in _FILLERS or makes else None
        if isinstance(ancestor, ast.stmt):
            uses = _held(ctx, ancestor) if depth < _DEPTH else ()
            return next((found for use in uses if (found := _use(ctx, use, depth + 1)) is not None), None)
        joins = isinstance(ancestor, ast.BinOp) and isinstance(ancestor.op, ast.Add)
        if not joins and not isinstance(ancestor, ast.Starred | ast.List | ast.Tuple):
            return None
    return None


def _held(ctx: FileContext, statement: ast.stmt) -> Iterator[ast.Name]:
    """Uses of the one variable that a statement sets, where nothing rounds it later."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if isinstance(target, ast.Name):
        scope = ctx.index.names.scope_of(target)
        if len(ctx.index.names.bindings_in(scope, target.id)) == 1:
            yield from ctx.index.names.loads(target.id, scope)
