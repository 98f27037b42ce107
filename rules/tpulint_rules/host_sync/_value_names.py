"""What a number that is read from the device is called: after all that it is computed of, not after its first part."""

from __future__ import annotations

import ast
from itertools import takewhile

from tpulint.semantic import Kind, SemanticIndex
from tpulint.semantic.syntax import torch_facts as facts

_SPEAKING = frozenset({
    "argmax", "argmin", "max", "min", "amax", "amin", "median", "norm", "std", "var", "prod", "any", "all", "exp",
    "log", "sqrt", "rsqrt", "square", "pow", "abs", "neg", "sign", "sigmoid", "tanh", "logsumexp",
})  # fmt: skip
"""Methods and functions that give something else than their tensor, in other words: the mean of a loss is a loss."""
_BETWEEN = {ast.Add: "plus", ast.Sub: "minus", ast.Mult: "times", ast.Div: "per"}
_LONGEST = 32
"""Names that are put together of two are no longer."""
_UNKNOWN = "step"


def value_name(index: SemanticIndex, node: ast.expr) -> str:
    """``loss`` for ``loss.data``, ``parts_mask`` for ``parts["mask"]``, ``scores_argmax`` for ``scores.argmax()``.

    ``loss_D`` for ``loss_D1 + loss_D2``, ``loss_sum`` for ``real_loss + fake_loss``, ``loss_plus_penalty``.
    """
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return value_name(index, node.value) if _is_plain(node) else node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        name, key = value_name(index, node.value), str(node.slice.value)
        return f"{name}_{key}" if f"_{key}".isidentifier() else name
    if isinstance(node, ast.BinOp):
        return _of_both(index, node)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        return "matches"
    if isinstance(node, ast.Call):
        return _of_call(index, node)
    inner = next((child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)), None)
    return _UNKNOWN if inner is None else value_name(index, inner)


def _of_call(index: SemanticIndex, call: ast.Call) -> str:
    function = index.qualified_name(call.func) or ""
    root, _, last = function.rpartition(".")
    if root == "torch" and last in facts.TENSOR_METHODS and call.args:  # `torch.exp(loss)`
        name = value_name(index, call.args[0])
    else:
        name = value_name(index, call.func)
        last = call.func.attr if isinstance(call.func, ast.Attribute) and _is_plain(call.func) else ""
    return f"{name}_{last}" if last in _SPEAKING else name


def _of_both(index: SemanticIndex, node: ast.BinOp) -> str:
    left, right = value_name(index, node.left), value_name(index, node.right)
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    start = "".join(letter for letter, _ in alike)
    if left[len(start) :].isdigit() and right[len(start) :].isdigit():
        return start.rstrip("_") or _UNKNOWN
    if shared := start.rpartition("_")[0]:
        return shared
    tensors = [side for side in (node.left, node.right) if index.kind(side) is Kind.TENSOR]
    if len(tensors) == 1:  # `0.1 * loss`
        return value_name(index, tensors[0])
    words = takewhile(lambda pair: pair[0] == pair[1], zip(left.split("_")[::-1], right.split("_")[::-1], strict=False))
    end = "_".join([word for word, _ in words][::-1])
    if end and isinstance(node.op, ast.Add):
        return f"{end}_sum"
    between = _BETWEEN.get(type(node.op))
    if between is None or _UNKNOWN in (left, right):
        return left
    both = f"{left}_{between}_{right}"
    return both if len(both) <= _LONGEST else _UNKNOWN


def _is_plain(node: ast.Attribute) -> bool:
    """Whether an attribute says nothing about what its value is: ``loss.data``, or the method in ``x.mean()``."""
    return node.attr == "data" or node.attr in facts.TENSOR_METHODS
