"""Batches that ``__next__`` of an iterator cuts out of a whole, the last one of what is left.

``if self.at >= len(self.rows): raise StopIteration``, ``batch = self.rows[self.at : self.at + self.size]``, and
``self.at += self.size``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.semantic import FunctionNode
from tpulint.semantic.syntax.nodes import is_of_self
from tpulint_rules.data._batch_sizes import is_ahead, upper_ends

_LEAVES_OUT = re.compile(r"drop_last|truncat|incomplete")
"""What a class says that may leave out the rest."""


def rest_of_next(ctx: FileContext, function: FunctionNode) -> ast.Subscript | None:
    """The slice that is shorter in the end; None where it may have been left out."""
    index = ctx.index
    owner = index.tree.class_of(function)
    place = _place_asked(ctx, function)
    if owner is None or place is None or _LEAVES_OUT.search(ctx.text(owner)):
        return None
    steps = list(_steps(ctx, function, place))
    for node in index.tree.nodes_in(function, ast.Subscript):
        part = node.slice if isinstance(node, ast.Subscript) else None
        if not isinstance(node, ast.Subscript) or not isinstance(part, ast.Slice) or part.upper is None:
            continue
        if part.step is not None or part.lower is None or ctx.text(part.lower) != place:
            continue
        ends = upper_ends(ctx, part.upper)
        if any(is_ahead(ctx, end, part.lower, step) for end in ends for step in steps):
            return node
    return None


def _place_asked(ctx: FileContext, function: FunctionNode) -> str | None:
    """The attribute that is asked for the end: ``self.at`` of ``if self.at >= self.count: raise StopIteration``."""
    raised = [*ctx.index.tree.nodes_in(function, ast.Raise, functions=False)]
    asked = ctx.index.parent(raised[0]) if len(raised) == 1 else None
    test = asked.test if isinstance(asked, ast.If) and raised[0] in asked.body else None
    is_end = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.GtE | ast.Eq)
    return ctx.text(test.left) if isinstance(test, ast.Compare) and is_end and is_of_self(test.left) else None


def _steps(ctx: FileContext, function: FunctionNode, place: str) -> Iterator[ast.expr]:
    """How far a place goes on: ``self.at += size``, or ``self.at = end`` of ``end = min(self.at + size, count)``."""
    for node in ctx.index.tree.nodes_in(function, ast.AugAssign, ast.Assign, functions=False):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and ctx.text(node.target) == place:
            yield node.value
        elif isinstance(node, ast.Assign) and any(ctx.text(target) == place for target in node.targets):
            for end in upper_ends(ctx, node.value):
                if isinstance(end, ast.BinOp) and isinstance(end.op, ast.Add) and ctx.text(end.left) == place:
                    yield end.right
