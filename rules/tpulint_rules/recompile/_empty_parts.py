"""Parts of tensors that may be empty, as a condition behind them says: ``if len(part) == 0: break``."""

from __future__ import annotations

import ast

from tpulint.context import FileContext
from tpulint.semantic.sizes.computed_places import indices_of
from tpulint.semantic.sizes.slice_objects import slice_meant
from tpulint.semantic.syntax.bindings import part_of

_COUNTS = frozenset({"numel", "nelement", "size"})
_NONE_OR_ONE = (0, 1)


def may_begin_behind(ctx: FileContext, node: ast.AST, lower: ast.expr) -> bool:
    """Whether a slice that begins so may lie behind its tensor: a part that begins there is asked whether it is empty.

    It may be another part, ``x, y = images[i:j], labels[i:j]`` and ``if len(x) == 0``.
    """
    index = ctx.index
    holder = index.function_of(node) or index.tree.module
    return any(
        isinstance(name, ast.Name)
        and isinstance(name.ctx, ast.Load)
        and _is_asked_for_emptiness(ctx, name)
        and any(_begins_at(ctx, part_of(one.value, one.path), lower) for one in index.flow.reaching(name))
        for name in index.tree.nodes_in(holder, ast.Name, functions=False)
    )


def _is_asked_for_emptiness(ctx: FileContext, name: ast.Name) -> bool:
    """``len(part) == 0``, ``part.shape[0] < 1``, ``not part.numel()``, ``if len(part):``"""
    size = _size_asked(ctx, name)
    parent = None if size is None else ctx.index.parent(size)
    if isinstance(parent, ast.Compare):
        others = [item for item in (parent.left, *parent.comparators) if item is not size]
        return all(isinstance(item, ast.Constant) and item.value in _NONE_OR_ONE for item in others)
    if isinstance(parent, ast.If | ast.While | ast.IfExp):
        return parent.test is size
    return isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not))


def _size_asked(ctx: FileContext, name: ast.Name) -> ast.expr | None:
    """The expression that tells how large a variable is."""
    index, parent = ctx.index, ctx.index.parent(name)
    if isinstance(parent, ast.Call) and index.qualified_name(parent.func) == "builtins.len":
        return parent
    if not isinstance(parent, ast.Attribute):
        return None
    whole = index.parent(parent)
    if parent.attr == "shape":
        return whole if isinstance(whole, ast.Subscript) else None
    return whole if parent.attr in _COUNTS and isinstance(whole, ast.Call) and whole.func is parent else None


def _begins_at(ctx: FileContext, value: ast.expr | None, lower: ast.expr) -> bool:
    """Whether a value is made of a slice that begins at the same place."""
    parts = [] if value is None else [part for part in ast.walk(value) if isinstance(part, ast.Subscript)]
    begun = (meant.lower for part in parts for item in indices_of(part) if (meant := slice_meant(ctx.index, item)))
    return any(begin is not None and ctx.text(begin) == ctx.text(lower) for begin in begun)
