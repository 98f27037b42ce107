"""Tensors of bytes, which PyTorch takes for masks where they stand as an index: ``loss[target.byte()]``."""

from __future__ import annotations

import ast

from tpulint.semantic.sizes.masks import KEEPING
from tpulint.semantic.syntax.bindings import Binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 12
_CLASSES = frozenset({"torch.ByteTensor", "torch.cuda.ByteTensor"})
_TYPES = frozenset({"torch.uint8", *_CLASSES})
_CONVERTING = ("to", "type")
_JOINING = ast.BitAnd | ast.BitOr | ast.BitXor | ast.Mult | ast.Sub
"""Operators whose result is of bytes where both sides are: ``1 - mask``, ``mask * other``."""


def chooses_by_bytes(index: SemanticIndex, node: ast.expr) -> bool:
    """Whether an index is a tensor of bytes on the device, and so a mask; what is written out is the same always."""
    return index.is_device_tensor(node) and _holds_bytes(index, node, 0)


def _holds_bytes(index: SemanticIndex, node: ast.expr, depth: int) -> bool:
    if depth > _DEPTH:
        return False
    if isinstance(node, ast.Name):
        bindings = index.flow.reaching(node)
        return bool(bindings) and all(_binds_bytes(index, binding, depth + 1) for binding in bindings)
    if isinstance(node, ast.Subscript):
        return _holds_bytes(index, node.value, depth + 1)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Invert) and _holds_bytes(index, node.operand, depth + 1)
    if isinstance(node, ast.BinOp):
        sides = [side for side in (node.left, node.right) if not isinstance(side, ast.Constant)]
        joined = isinstance(node.op, _JOINING) and bool(sides)
        return joined and all(_holds_bytes(index, side, depth + 1) for side in sides)
    return isinstance(node, ast.Call) and _gives_bytes(index, node, depth)


def _binds_bytes(index: SemanticIndex, binding: Binding, depth: int) -> bool:
    if binding.value is None or binding.path:
        return False
    if binding.kind == "augment":  # `mask *= other` stays what it was, which its other bindings tell
        return isinstance(binding.statement, ast.AugAssign) and isinstance(binding.statement.op, _JOINING)
    return binding.kind == "assign" and _holds_bytes(index, binding.value, depth)


def _gives_bytes(index: SemanticIndex, call: ast.Call, depth: int) -> bool:
    name = index.qualified_name(call.func)
    types = [index.qualified_name(keyword.value) for keyword in call.keywords if keyword.arg == "dtype"]
    if types:
        return types[0] in _TYPES and not _is_written_out(call)
    if name in _CLASSES:
        return not _is_written_out(call)
    if name == "torch.autograd.Variable" and call.args:
        return _holds_bytes(index, call.args[0], depth + 1)
    if name is not None or not isinstance(call.func, ast.Attribute):
        return False
    method = call.func.attr
    if method == "byte":
        return True
    if method in _CONVERTING:
        names = {index.qualified_name(item) or "" for item in call.args}
        if names & _TYPES:
            return True
        if method == "type" or any(one.startswith("torch.") and one != "torch.device" for one in names):
            return False
    return (method in KEEPING or method.endswith("_")) and _holds_bytes(index, call.func.value, depth + 1)


def _is_written_out(call: ast.Call) -> bool:
    """``torch.ByteTensor([0, 1])``"""
    lists = [item for item in call.args if isinstance(item, ast.List | ast.Tuple)]
    return any(all(isinstance(item, ast.Constant) for item in one.elts) and one.elts for one in lists)
