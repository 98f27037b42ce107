"""What holds on to a parameter before its model moves holds on to the wrong one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint.semantic import Kind
from tpulint.semantic.modules.moves import Move

_HOOKS = ("register_hook", "register_post_accumulate_grad_hook")
_PARAMETERS = ("weight", "bias")
_OF_TORCH = frozenset({"data", "grad", "requires_grad", "names"})
"""Attributes of all tensors that can be set."""


def check(ctx: FileContext) -> Iterator[Finding]:
    if not ctx.index.moves.moves:
        return
    advice = "Do it behind the move to the device"
    for call, receiver in ctx.index.method_calls(*_HOOKS):
        module = _module_of(ctx, receiver)
        if module is not None and (move := _later_move(ctx, module, call)) is not None:
            yield ctx.finding(
                call,
                f"this hook never runs: {_moved(ctx, move)}",
                help=advice,
                related=((ctx.index.span(move.call), "the move"),),
            )
    yield from _marked(ctx, advice)
    for node in ctx.index.tree.attributes:
        statement = ctx.index.parent(node)
        if node.attr not in _PARAMETERS or not isinstance(statement, ast.Assign) or statement.value is not node:
            continue
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, ast.Name):
            continue
        move = _later_move(ctx, node.value, statement)
        if move is None or ctx.index.moves.keeps_parameters_at(move.call):
            continue
        if _is_read_behind(ctx, target, move):
            yield ctx.finding(
                statement,
                f"`{target.id}` stays on the host: {_moved(ctx, move)}",
                help=advice,
                related=((ctx.index.span(move.call), "the move"),),
            )


def _marked(ctx: FileContext, advice: str) -> Iterator[Finding]:
    """``p.is_expert = True``: attributes of their own that parameters are given, and asked for behind the move."""
    attributes = ctx.index.tree.attributes
    for node in attributes:
        if not isinstance(node.ctx, ast.Store) or node.attr in _OF_TORCH:
            continue
        module = _module_of(ctx, node.value)
        move = _later_move(ctx, module, node) if module is not None else None
        if move is None:
            continue
        same = [other for other in attributes if other.attr == node.attr and other is not node]
        behind = [other for other in same if ctx.index.moves.precedes(node, other) is not False]
        is_asked = any(
            isinstance(other.ctx, ast.Load)
            and ctx.index.moves.precedes(move.call, other)
            and _module_of(ctx, other.value) is not None
            for other in behind
        )
        is_set_again = any(
            isinstance(other.ctx, ast.Store) and ctx.index.moves.precedes(move.call, other) is not False
            for other in behind
        )
        if is_asked and not is_set_again:
            yield ctx.finding(
                node,
                f"`{ctx.text(node)}` is lost: {_moved(ctx, move)}",
                help=advice,
                related=((ctx.index.span(move.call), "the move"),),
            )


def _moved(ctx: FileContext, move: Move) -> str:
    return f"`{ctx.text(move.module)}` gets new parameters when it moves to an XLA device"


def _module_of(ctx: FileContext, receiver: ast.expr) -> ast.expr | None:
    """The module whose parameter an expression is: ``model.fc.weight``, or ``p`` of ``for p in model.parameters()``."""
    if isinstance(receiver, ast.Attribute) and receiver.attr in _PARAMETERS:
        return receiver.value
    if isinstance(receiver, ast.Name):
        for binding in ctx.index.flow.reaching(receiver):
            value = binding.value
            if binding.kind == "loop" and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
                return value.func.value if value.func.attr in ("parameters", "named_parameters") else None
    return None


def _later_move(ctx: FileContext, module: ast.expr, node: ast.AST) -> Move | None:
    moves = ctx.index.moves
    found = moves.creations.of(module)
    if any(moves.to_device(call) is not None for creation in found for call in creation.way):
        return None
    later: Move | None = None
    for move in moves.moves:
        if (
            not move.certain
            or ctx.index.kind(move.module) is not Kind.MODULE
            or not any(creation.overlaps(other) for creation in move.creations for other in found)
        ):
            continue
        order = moves.precedes(node, move.call)
        if order is not True:
            return None  # it has moved before, or may have
        later = later or move
    return later


def _is_read_behind(ctx: FileContext, target: ast.Name, move: Move) -> bool:
    return any(
        node.id == target.id
        and isinstance(node.ctx, ast.Load)
        and ctx.index.moves.precedes(move.call, node)
        and any(binding.node is target for binding in ctx.index.flow.reaching(node))
        for node in ctx.index.tree.names
    )
