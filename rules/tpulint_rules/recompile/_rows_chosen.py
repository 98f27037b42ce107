"""Tensors of which rows are chosen or copied: as long as before in every dimension but the first."""

from __future__ import annotations

import ast

from tpulint.context import FileContext
from tpulint.semantic import Kind
from tpulint.semantic.functions.default_flags import literal

_COPIES = ("detach", "clone", "contiguous", "to", "long", "int", "float", "half", "cuda")
_TO_COLUMN = ("view", "reshape")
_AT_ONCE = {"torch.hstack": 1}


def copied(node: ast.expr) -> ast.expr:
    """What a value is a copy of, equally long: ``x`` of ``x.detach().clone()``."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _COPIES:
        node = node.func.value
    return node


def kept_length(ctx: FileContext, node: ast.expr, join: ast.Call) -> ast.expr:
    """What is as long as a value in the dimension in which it is joined: ``x`` of ``x[order]`` and ``x.clone()``."""
    node = copied(node)
    inner: ast.expr | None = None
    if isinstance(node, ast.Subscript):
        rows, *others = node.slice.elts if isinstance(node.slice, ast.Tuple) else (node.slice,)
        is_choice = ctx.index.kind(rows) is Kind.TENSOR and all(map(_takes_all, others))
        inner = node.value if is_choice else None
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "index_select":
        first = node.args[0] if len(node.args) == 2 else None
        inner = node.func.value if isinstance(first, ast.Constant) and first.value == 0 else None
    if inner is None or not _joins_columns(ctx, join):
        return node
    return kept_length(ctx, inner, join)


def _takes_all(part: ast.expr) -> bool:
    return isinstance(part, ast.Slice) and part.lower is None and part.upper is None and part.step is None


def _joins_columns(ctx: FileContext, join: ast.Call) -> bool:
    """Whether a join is along another dimension than the first: ``dim=1``, ``-1`` beside ``token.unsqueeze(1)``."""
    if ctx.index.qualified_name(join.func) in _AT_ONCE:
        return True
    given = [keyword.value for keyword in join.keywords if keyword.arg in ("dim", "axis")] + join.args[1:2]
    (dimension,) = (literal(given[0]) if given else None) or (0,)
    if isinstance(dimension, int) and dimension > 0:
        return True
    items = join.args[0]
    parts = items.elts if isinstance(items, ast.List | ast.Tuple) else []
    return dimension == -1 and any(_is_column(part) for part in parts)


def _is_column(node: ast.expr) -> bool:
    """``token.unsqueeze(1)``, ``token.view(-1, 1)``, ``token[:, None]``."""
    node = copied(node)
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Tuple)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr == "unsqueeze" or (node.func.attr in _TO_COLUMN and len(node.args) > 1)
