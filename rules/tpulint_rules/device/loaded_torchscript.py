"""A module of ``torch.jit.load`` that is moved to the device: on XLA the move raises."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic.syntax.nodes import is_of_self
from tpulint.semantic.syntax.torch_facts import MODULE_SELF_METHODS


def check(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls_to("torch.jit.load"):
        for move in _moves(ctx, call):
            is_sure = ctx.index.moves.to_device(move)
            if is_sure is None or not (is_sure or ctx.index.kinds.mentions_device):
                continue
            yield ctx.finding(
                move,
                "a module of `torch.jit.load` cannot be moved to an XLA device: the move raises",
                certainty=Certainty.CERTAIN if is_sure else Certainty.LIKELY,
                related=((ctx.index.span(call), "loaded here"),),
            )


def _moves(ctx: FileContext, loaded: ast.expr) -> Iterator[ast.Call]:
    """Methods that are called on it, ``torch.jit.load(path).eval().to(device)``, or on the variable that holds it."""
    node, parent = loaded, ctx.index.parent(loaded)
    while isinstance(parent, ast.Attribute) and isinstance(call := ctx.index.parent(parent), ast.Call):
        if call.func is not parent or parent.attr not in MODULE_SELF_METHODS:
            return
        yield call
        node, parent = call, ctx.index.parent(call)
    if not isinstance(parent, ast.Assign) or parent.value is not node or len(parent.targets) != 1:
        return
    target = parent.targets[0]
    for use in _uses(ctx, target, node):
        method = ctx.index.parent(use)
        call = ctx.index.parent(method) if isinstance(method, ast.Attribute) else None
        if isinstance(method, ast.Attribute) and isinstance(call, ast.Call) and call.func is method:
            yield call


def _uses(ctx: FileContext, target: ast.expr, value: ast.expr) -> list[ast.expr]:
    if isinstance(target, ast.Name):
        return [*ctx.index.flow.loads_of(target, value)]
    if not isinstance(target, ast.Attribute) or not is_of_self(target):
        return []
    uses = (node for node in ctx.index.tree.attributes_called(target.attr) if is_of_self(node))
    return [use for use in uses if [one.value for one in ctx.index.flow.bindings_of(use)] == [value]]
