"""Batches that an inner loop fills sample by sample, and leaves where there are no more.

`for i in range(size): place = at * size + i`, `if place >= len(rows): break`, `batch.append(rows[place])`.
"""

from __future__ import annotations

import ast

from tpulint.context import FileContext
from tpulint_rules.data._batch_sizes import is_count_of_samples, sizes_counted_in, values_of


def broken_off(ctx: FileContext, loop: ast.For | ast.AsyncFor) -> tuple[ast.If, list[ast.Subscript]] | None:
    """Where the last batch is left unfilled, and the samples taken for it."""
    for test in ctx.index.tree.nodes_in(loop, ast.If, functions=False):
        inner = ctx.index.parent(test)
        if not isinstance(test, ast.If) or not isinstance(inner, ast.For) or inner is loop or test.orelse:
            continue
        asked = test.test
        is_end = isinstance(asked, ast.Compare) and isinstance(asked.ops[0], ast.GtE | ast.Eq)
        if not is_end or not isinstance(asked, ast.Compare) or [type(one) for one in test.body] != [ast.Break]:
            continue
        if not is_count_of_samples(ctx, asked.comparators[0]) or not _counts_on(ctx, asked.left, loop, inner):
            continue
        place = ctx.text(asked.left)
        taken = [
            node
            for node in ctx.index.tree.nodes_in(inner, ast.Subscript, functions=False)
            if isinstance(node, ast.Subscript) and ctx.text(node.slice) == place
        ]
        if taken:
            return test, taken
    return None


def _counts_on(ctx: FileContext, place: ast.expr, loop: ast.For | ast.AsyncFor, inner: ast.For) -> bool:
    """Whether a place is ``at * size + i``, of the batch ``at`` and the sample ``i`` of ``range(size)``."""
    made = values_of(ctx, place) if isinstance(place, ast.Name) else [place]
    count = inner.iter
    if len(made) != 1 or not isinstance(count, ast.Call) or ctx.index.qualified_name(count.func) != "builtins.range":
        return False
    added = made[0]
    if len(count.args) != 1 or not isinstance(added, ast.BinOp) or not isinstance(added.op, ast.Add):
        return False
    for first, other in ((added.left, added.right), (added.right, added.left)):
        counted = {ctx.text(side) for side in sizes_counted_in(ctx, first)}
        if counted == {ctx.text(loop.target), ctx.text(count.args[0])} and ctx.text(other) == ctx.text(inner.target):
            return True
    return False
