"""Tables of which each turn gets the rows that a comparison leaves, as many as there happen to be."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding

_STEPS_BACK = 6
_OF_TABLES = frozenset({"shape", "size", "ndim", "columns", "dtypes", "dtype", "empty", "name"})
"""Attributes of tables that do not have their rows."""
_KEEPING_ROWS = frozenset({"to_numpy", "copy", "astype", "reset_index", "tolist"})
"""Methods of tables and arrays that keep all rows."""


def filtered_rows(ctx: FileContext) -> Iterator[Finding]:
    """What a generator filters out of a table for each turn: ``part = table[table.group == group]``, ``yield part``."""
    index = ctx.index
    found: dict[ast.Subscript, str] = {}
    for maker in index.batch_makers.all if "yield" in ctx.source.text else ():
        if not maker.is_drawn or maker.function is None or not isinstance(maker.loop, ast.For):
            continue
        for node in index.tree.nodes_in(maker.function, ast.Yield, functions=False):
            if index.tree.loop_of(node) is maker.loop and isinstance(node, ast.Yield) and node.value is not None:
                parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                for part in parts:
                    if (chosen := _filter_behind(ctx, part, maker.loop)) is not None:
                        found.setdefault(chosen, maker.turn)
    for chosen, turn in found.items():
        yield ctx.finding(
            chosen,
            f"`{ctx.text(chosen)}` has as many rows as the data say: the {turn} is compiled again for each number",
            certainty=Certainty.LIKELY,
            help="Fill up to one number of rows, or to a few, and leave the others out by a mask.",
        )


def _filter_behind(ctx: FileContext, node: ast.expr, loop: ast.For, depth: int = 0) -> ast.Subscript | None:
    """The choice by a comparison with what the loop goes through, of which an expression is a part."""
    index = ctx.index
    if depth > _STEPS_BACK:
        return None
    if isinstance(node, ast.Name):
        bindings = index.flow.reaching(node)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        return None if value is None or bindings[0].path else _filter_behind(ctx, value, loop, depth + 1)
    if isinstance(node, ast.Attribute):
        return None if node.attr in _OF_TABLES else _filter_behind(ctx, node.value, loop, depth + 1)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPING_ROWS:
        return _filter_behind(ctx, node.func.value, loop, depth + 1)
    if not isinstance(node, ast.Subscript):
        return None
    if isinstance(node.slice, ast.Compare):
        targets = {item.id for item in ast.walk(loop.target) if isinstance(item, ast.Name)}
        compared = {item.id for item in ast.walk(node.slice) if isinstance(item, ast.Name)}
        is_equal = len(node.slice.ops) == 1 and isinstance(node.slice.ops[0], ast.Eq | ast.NotEq)
        return node if is_equal and targets & compared else None
    is_column = isinstance(node.slice, ast.List | ast.Constant)
    return _filter_behind(ctx, node.value, loop, depth + 1) if is_column else None
