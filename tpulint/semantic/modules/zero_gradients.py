"""What optimizers make of gradients that are zeros: momentum and weight decay move their parameters all the same."""

from __future__ import annotations

import ast

from tpulint.semantic.values.value import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_SGD = "torch.optim.SGD"
_MOVING = frozenset({"momentum", "weight_decay", "dampening"})
"""Arguments that are to be zero."""
_HARMLESS = frozenset({"params", "lr", "nesterov", "maximize", "foreach", "differentiable", "fused"})
_CHANGED_LATER = r"""add_param_group|["'](?:momentum|weight_decay)["']|\b(?:OneCycleLR|CyclicLR)\b"""
"""What gives an optimizer momentum or weight decay that it was not made with; these schedules do by default."""


def are_passed_over(index: SemanticIndex, cleared: ast.expr) -> bool:
    """Whether a parameter whose gradient is zeros certainly stays as it is, as one without a gradient does.

    ``cleared`` is what ``zero_grad`` is called of: an optimizer, or a module that any optimizer of the file may train.
    """
    optimizers = [cleared]
    if index.kind(cleared) is not Kind.OPTIMIZER:
        optimizers = [one for _, one in index.method_calls("step") if index.kind(one) is Kind.OPTIMIZER]
    made = [creation.node for one in optimizers for creation in index.moves.creations.of(one)]
    if not made or index.mentions(_CHANGED_LATER):
        return False
    return all(isinstance(call, ast.Call) and _is_plain(index, call) for call in made)


def _is_plain(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether an optimizer moves a parameter by its gradient alone, all its parameters by the same numbers."""
    if index.qualified_name(call.func) != _SGD or len(call.args) > 2:
        return False
    parameters = call.args[0] if call.args else None
    for keyword in call.keywords:
        if keyword.arg in _MOVING:
            if not isinstance(keyword.value, ast.Constant) or keyword.value.value != 0:
                return False
        elif keyword.arg not in _HARMLESS:
            return False
        elif keyword.arg == "params":
            parameters = keyword.value
    return parameters is not None and _are_parameters(parameters)


def _are_parameters(node: ast.expr) -> bool:
    """Whether these are parameters, no groups with settings of their own."""
    if isinstance(node, ast.BinOp):
        return _are_parameters(node.left) and _are_parameters(node.right)
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple") and len(node.args) == 1:
        return _are_parameters(node.args[0])
    return isinstance(node.func, ast.Attribute) and node.func.attr == "parameters"
