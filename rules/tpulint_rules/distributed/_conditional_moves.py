"""Batches that are moved where there is one GPU only, and left to the wrapper where there are several.

``if n_gpu == 1: batch = tuple(part.to(device) for part in batch)``, and then ``x, y = batch`` and ``model(x, y)``.
"""

from __future__ import annotations

import ast

from tpulint.context import FileContext
from tpulint.semantic.syntax.variables import last_name

_MOVES = frozenset({"to", "cuda"})
_COUNTS = frozenset({"gpu", "gpus", "device", "devices", "world"})
"""Words in the name of a number of GPUs or processes."""


def moved_at_times(ctx: FileContext, call: ast.Call) -> bool:
    """Whether what a model is called with is moved under such a condition, itself or what it is unpacked from."""
    return any(isinstance(item, ast.Name) and _is_moved_at_times(ctx, item, 1) for item in call.args)


def _is_moved_at_times(ctx: FileContext, name: ast.Name, depth: int) -> bool:
    bindings = ctx.index.flow.reaching(name)
    for binding in bindings:
        branch = ctx.index.parent(binding.statement)
        if len(bindings) > 1 and isinstance(branch, ast.If) and not branch.orelse and _asks_for_one(branch.test):
            value = binding.value
            if value is not None and any(map(_is_move, (value, *ctx.index.tree.inside(value)))):
                return True
    made = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
    return depth > 0 and isinstance(made, ast.Name) and _is_moved_at_times(ctx, made, depth - 1)


def _asks_for_one(test: ast.expr) -> bool:
    """``n_gpu == 1`` and ``args.n_gpu <= 1``"""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq | ast.LtE):
        return False
    one = test.comparators[0]
    is_one = isinstance(one, ast.Constant) and one.value == 1
    return is_one and not _COUNTS.isdisjoint(last_name(test.left).lower().split("_"))


def _is_move(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MOVES
