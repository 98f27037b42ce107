"""Variables that a loss is put together of."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.semantic.syntax.flow import Flow

_DEPTH = 4
"""Calls within calls that a loss is followed through."""
_JOINED = frozenset({"stack", "cat", "sum", "mean"})
"""Functions of torch, and methods of tensors, that make a loss of several."""


def summands(node: ast.expr | None, flow: Flow, depth: int = 0) -> Iterator[ast.Name]:
    """The variables in ``value_loss - 0.1 * entropy``, ``a + (b if b is not None else 0)``, ``sum([a, b])``.

    Of ``sum(losses.values())`` and ``torch.stack(losses).sum()`` those that the dictionary or list is written of.
    """
    if isinstance(node, ast.BinOp):
        yield from summands(node.left, flow, depth)
        yield from summands(node.right, flow, depth)
    elif isinstance(node, ast.UnaryOp):
        yield from summands(node.operand, flow, depth)
    elif isinstance(node, ast.IfExp):
        yield from summands(node.body, flow, depth)
        yield from summands(node.orelse, flow, depth)
    elif isinstance(node, ast.Name):
        yield node
    elif isinstance(node, ast.Call) and depth < _DEPTH:
        for part in _parts_joined(node, flow):
            yield from summands(part, flow, depth + 1)


def _parts_joined(call: ast.Call, flow: Flow) -> list[ast.expr]:
    """What ``sum``, ``torch.stack`` and the like are given, or the tensor that a method makes one number of."""
    func = call.func
    if isinstance(func, ast.Name):
        return _elements(call.args[0], flow) if func.id == "sum" and call.args else []
    if not isinstance(func, ast.Attribute) or func.attr not in _JOINED:
        return []
    if isinstance(func.value, ast.Name) and func.value.id == "torch":
        return _elements(call.args[0], flow) if call.args else []
    return [func.value]


def _elements(node: ast.expr, flow: Flow) -> list[ast.expr]:
    """What a list, tuple or dictionary is written of, here or where a variable gets it."""
    if isinstance(node, ast.List | ast.Tuple):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "values":
        node = node.func.value
    if not isinstance(node, ast.Name):
        return [node] if isinstance(node, ast.Call | ast.BinOp) else []
    made = (binding.value for binding in flow.reaching(node) if binding.kind == "assign" and not binding.path)
    written = (value for value in made if isinstance(value, ast.List | ast.Tuple | ast.Dict))
    return [part for value in written for part in _elements(value, flow)]
