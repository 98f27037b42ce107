"""Losses that may be tensors of one element instead of numbers: ``loss = torch.zeros(1).cuda()``, ``loss += term``."""

from __future__ import annotations

import ast

from tpulint.semantic import torch_facts as facts
from tpulint.semantic.values import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 6
_SIZED = frozenset(f"torch.{name}" for name in ("zeros", "ones", "empty", "full", "rand", "randn"))
_OF_LIST = frozenset({"torch.tensor", "torch.as_tensor", "torch.Tensor", "torch.FloatTensor", "torch.cuda.FloatTensor"})
_WRAPPERS = frozenset({"torch.autograd.Variable", "torch.nn.Parameter"})


def may_have_dimension(index: SemanticIndex, node: ast.expr, depth: int = 0) -> bool:
    """Whether a loss is made with a dimension, or by a method of an object that nobody sees into."""
    if depth > _DEPTH:
        return False
    if isinstance(node, ast.Name):
        values = [binding.value for binding in index.flow.reaching(node) if not binding.path]
        return any(value is not None and may_have_dimension(index, value, depth + 1) for value in values)
    if isinstance(node, ast.BinOp):
        return any(may_have_dimension(index, side, depth + 1) for side in (node.left, node.right))
    if isinstance(node, ast.UnaryOp):
        return may_have_dimension(index, node.operand, depth + 1)
    return isinstance(node, ast.Call) and _is_made_so(index, node, depth)


def _is_made_so(index: SemanticIndex, call: ast.Call, depth: int) -> bool:
    name = index.qualified_name(call.func)
    first = call.args[0] if call.args else None
    if name in _SIZED:
        return first is not None and not (isinstance(first, ast.Tuple | ast.List) and not first.elts)
    if name in _OF_LIST:
        return isinstance(first, ast.List | ast.Tuple)
    if name in _WRAPPERS:
        return first is not None and may_have_dimension(index, first, depth + 1)
    if name is not None or not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr in ("to", "cuda", "float", "double", "clone", "detach", "requires_grad_"):
        return may_have_dimension(index, call.func.value, depth + 1)
    owner = call.func.value
    is_of_object = (
        isinstance(owner, ast.Name) and owner.id != "self" and index.kind(owner) in (Kind.MODULE, Kind.UNKNOWN)
    )
    seen = index.definitions.function_called(call) is not None
    return is_of_object and not seen and call.func.attr not in facts.TENSOR_METHODS
