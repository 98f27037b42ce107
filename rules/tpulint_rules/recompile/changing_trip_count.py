"""A loop within a step that runs another number of times in every step: the graph has as many copies of its body."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists:
        return
    for loop in index.turn_code.nodes(ast.For):
        call = loop.iter
        if not isinstance(call, ast.Call) or index.qualified_name(call.func) != "builtins.range":
            continue
        turn = index.turn_code.turn_of(loop)
        if turn is None or loop in index.turn_code.loops:
            continue
        causes = (index.changing_numbers.cause(item) or index.batch_measures.of(item) for item in call.args)
        cause = next((found for found in causes if found is not None), None)
        if cause is None or not _computes(ctx, loop) or _has_steps(ctx, loop):
            continue
        yield ctx.finding(
            call,
            f"the loop runs as often as `{ctx.text(cause)}` says, another number of times in every {turn}: "
            "each number is another graph to compile",
            certainty=Certainty.LIKELY,
            related=((index.span(cause), "changes here"),),
        )


def _computes(ctx: FileContext, loop: ast.For) -> bool:
    """Whether the body adds to the graph: it binds, or puts into a list, what it computes on the device."""
    for node in ctx.index.tree.inside(loop, functions=False):
        value = node.value if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            value = node.args[0] if node.args else None
        if isinstance(value, ast.Call | ast.BinOp) and ctx.index.is_device_tensor(value):
            return True
    return False


def _has_steps(ctx: FileContext, loop: ast.For) -> bool:
    """Whether each turn of the loop is a graph of its own."""
    if ctx.index.regions.boundaries_in(loop) or ctx.index.reads.inside(loop):
        return True
    return any(ctx.index.tree.encloses(loop, other) for other in ctx.index.turn_code.loops)
