"""Variables that hold a weight of a module: ``weight = layer.weight``, which an update changes under that name too."""

from __future__ import annotations

import ast

from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_VIEWS = frozenset({"detach", "view", "reshape", "squeeze", "unsqueeze", "flatten", "t", "to", "float", "contiguous"})
"""Methods whose result may be the tensor itself."""
_DEPTH = 4


def holds_weight(index: SemanticIndex, name: ast.Name, depth: int = 0) -> bool:
    """Whether a variable may hold a weight where it is used, or a view of one."""
    return depth < _DEPTH and any(
        binding.kind == "assign" and not binding.path and binding.value is not None
        and _is_weight(index, binding.value, depth)
        for binding in index.flow.reaching(name)
    )  # fmt: skip


def _is_weight(index: SemanticIndex, value: ast.expr, depth: int) -> bool:
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _VIEWS:
        value = value.func.value
    if isinstance(value, ast.Name):
        return holds_weight(index, value, depth + 1)
    while isinstance(value, ast.Attribute | ast.Subscript):
        value = value.value
        if index.kind(value) is Kind.MODULE:
            return True
    return False
