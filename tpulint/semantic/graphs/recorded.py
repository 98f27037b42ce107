"""What is known to take part in a gradient: outputs of modules in a training step, and parts and views of them."""

from __future__ import annotations

import ast

from tpulint.semantic.loops.turn_code import STEP
from tpulint.semantic.values.kinds import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 6
_VIEWS = frozenset({
    "contiguous", "view", "reshape", "flatten", "transpose", "permute", "squeeze", "unsqueeze", "to", "float",
    "log_softmax", "softmax", "relu", "tanh", "sigmoid",
})  # fmt: skip
_FUNCTIONS = frozenset({f"torch.nn.functional.{name}" for name in ("log_softmax", "softmax", "relu", "dropout")})


def is_recorded(index: SemanticIndex, node: ast.expr, depth: int = 0) -> bool:
    """Whether a tensor is what a module gives in a training step, the first of several, as it is or as a view.

    A module may hand on its input beside what it computes: of the others of several outputs nothing is known.
    """
    if depth > _DEPTH:
        return False
    if isinstance(node, ast.Name):
        bindings = index.flow.reaching(node)
        return bool(bindings) and all(
            binding.kind == "assign"
            and binding.value is not None
            and (binding.path == () or (binding.path == (0,) and _runs_module(index, binding.value)))
            and is_recorded(index, binding.value, depth + 1)
            for binding in bindings
        )
    if isinstance(node, ast.Subscript):
        return is_recorded(index, node.value, depth + 1)
    if not isinstance(node, ast.Call) or not index.regions.records_gradient(node):
        return False
    if index.qualified_name(node.func) in _FUNCTIONS and node.args:
        return is_recorded(index, node.args[0], depth + 1)
    if isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
        return is_recorded(index, node.func.value, depth + 1)
    return _runs_module(index, node) and index.turn_code.turn_of(node) == STEP


def _runs_module(index: SemanticIndex, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and index.kind(node.func) is Kind.MODULE
