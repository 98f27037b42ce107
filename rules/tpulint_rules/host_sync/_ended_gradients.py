"""Values of which only places and answers are asked, which have no gradient: ``torch.cdist(x, y).argmin(1)``."""

from __future__ import annotations

import ast

from tpulint.semantic import SemanticIndex

_ENDING = frozenset({
    "argmax", "argmin", "argsort", "detach", "item", "tolist", "eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf",
    "isfinite", "dim", "size", "numel", "shape", "device", "dtype", "ndim",
})  # fmt: skip
"""What a tensor gives by a method or attribute, or ``torch`` by a function, that no gradient goes back through."""
_CHOOSING = frozenset({"topk", "sort", "min", "max", "kthvalue"})
"""What gives values, which have a gradient, with the places where they stand, which have none."""
_PLACES = 1
_SHAPING = frozenset({
    "view", "reshape", "squeeze", "unsqueeze", "t", "transpose", "permute", "flatten", "contiguous", "pow", "square",
    "sqrt", "neg", "abs", "exp", "float", "clone", "to", "masked_fill",
})  # fmt: skip
_DEPTH = 6


def ends_gradient(index: SemanticIndex, node: ast.expr, depth: int = 0) -> bool:
    """Whether all that becomes of a value ends its gradient; what is not seen may want one."""
    parent = index.parent(node)
    if depth > _DEPTH:
        return False
    if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
        target = parent.targets[0]
        loads = index.flow.loads_of(target, node) if isinstance(target, ast.Name) else []
        return bool(loads) and all(ends_gradient(index, load, depth + 1) for load in loads)
    if isinstance(parent, ast.Compare):
        return True
    if isinstance(parent, ast.UnaryOp | ast.BinOp):
        return ends_gradient(index, parent, depth + 1)
    if isinstance(parent, ast.Attribute):
        call = index.parent(parent)
        is_called = isinstance(call, ast.Call) and call.func is parent
        return parent.attr in _ENDING or (is_called and _ends_in(index, call, parent.attr, depth))
    if isinstance(parent, ast.Call) and node in parent.args[:1]:
        name = index.qualified_name(parent.func) or ""
        head, _, last = name.rpartition(".")
        return head == "torch" and (last in _ENDING or _ends_in(index, parent, last, depth))
    return False


def _ends_in(index: SemanticIndex, call: ast.AST, name: str, depth: int) -> bool:
    """Whether a gradient ends behind a function or method that hands it on, or chooses among the values."""
    if not isinstance(call, ast.Call):
        return False
    return (name in _SHAPING and ends_gradient(index, call, depth + 1)) or (
        name in _CHOOSING and _gives_places_alone(index, call)
    )


def _gives_places_alone(index: SemanticIndex, call: ast.Call) -> bool:
    """``dist.min(1)[1]``, ``dist.topk(3).indices``, and ``_, places = dist.sort()`` where nobody reads the values."""
    part = index.parent(call)
    if isinstance(part, ast.Attribute):
        return part.attr == "indices"
    if isinstance(part, ast.Subscript):
        return isinstance(part.slice, ast.Constant) and part.slice.value == _PLACES
    target = part.targets[0] if isinstance(part, ast.Assign) and len(part.targets) == 1 else None
    if not isinstance(target, ast.Tuple) or not target.elts or not isinstance(target.elts[0], ast.Name):
        return False
    return not index.flow.loads_of(target.elts[0], call)
