"""A loop within a step that runs another number of times in every step: the graph has as many copies of its body."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding

_FEW = 4


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists:
        return
    for loop in index.turn_code.nodes(ast.For):
        if not isinstance(loop.iter, ast.Call | ast.Subscript | ast.Name):
            continue
        turn = index.turn_code.turn_of(loop)
        if turn is None or loop in index.turn_code.loops:
            continue
        cause = next(_causes(ctx, loop.iter), None)
        if cause is None or not _computes(ctx, loop) or _has_steps(ctx, loop):
            continue
        said = f"as often as `{ctx.text(cause)}` says, another number of times in every {turn}"
        if isinstance(cause, ast.stmt):
            said = f"more often in every {turn}, by `{ctx.text(cause)}`"
        yield ctx.finding(
            loop.iter,
            f"the loop runs {said}: each number is another graph to compile",
            certainty=Certainty.LIKELY,
            related=((index.span(cause), "changes here"),),
        )


def _causes(ctx: FileContext, turns: ast.expr) -> Iterator[ast.AST]:
    """What changes the number of turns: ``range(count)``, ``blocks[:depth]``, by name too, ``enumerate(blocks)``."""
    index = ctx.index
    if isinstance(turns, ast.Call):
        name = index.qualified_name(turns.func)
        if name == "builtins.enumerate" and turns.args:
            yield from _causes(ctx, turns.args[0])
        for number in turns.args if name == "builtins.range" else ():
            for part in _cut_by(ctx, number):
                cause = index.changing_numbers.cause(part) or index.batch_measures.of(part)
                yield from () if cause is None else (cause,)
    elif isinstance(turns, ast.Subscript) and isinstance(turns.slice, ast.Slice):
        lower, upper = turns.slice.lower, turns.slice.upper
        if lower is not None and upper is not None:
            cause = index.changing_numbers.of_difference(upper, lower)
        else:
            end = lower or upper
            cause = None if end is None else index.changing_numbers.cause(end)
        yield from () if cause is None else (cause,)
    elif isinstance(turns, ast.Name):
        length = index.changing_lengths.of_list(turns)
        yield from () if length is None or length.by_mask else (length.cause,)


def _cut_by(ctx: FileContext, number: ast.expr) -> list[ast.expr]:
    """What ``min(longest, most)`` is the least of: up to the most, each number is left; of a few these are few."""
    if not isinstance(number, ast.Call) or ctx.index.qualified_name(number.func) != "builtins.min":
        return [number]
    given = [item.value for item in number.args if isinstance(item, ast.Constant)]
    return [] if any(isinstance(most, int) and most <= _FEW for most in given) else number.args


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
