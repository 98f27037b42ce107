"""Tensors of the device that a variable keeps from turn to turn, and those that it gives a function: ``fill(x, y)``."""

from __future__ import annotations

import ast

from tpulint.semantic.project.outside import qualified_in_file
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.values.value import Kind, Side, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex


def values_kept(index: SemanticIndex, tensor: ast.expr) -> list[Value]:
    """What a variable is set to that holds the tensor which the turn before has left; nothing where a turn sets it."""
    if isinstance(tensor, ast.Name):
        bindings = index.flow.reaching(tensor)
    elif isinstance(tensor, ast.Attribute) and isinstance(tensor.value, ast.Name):
        bindings = index.flow.reaching_attribute(tensor) or index.flow.inherited_attribute(tensor)
    else:
        return []
    turn_of = index.turn_code.turn_of
    if any(one.kind != "assign" or turn_of(one.statement) is not None for one in bindings):
        return []
    return [index.kinds.binding_value(one) for one in bindings]


def are_on_device(values: list[Value]) -> bool:
    """Whether any is a tensor of the device; of ``if opt.cuda: noise = noise.to(device)`` the other runs nothing."""
    return any(value.kind is Kind.TENSOR and value.side is Side.DEVICE for value in values)


def is_given_one(index: SemanticIndex, tensor: ast.expr) -> bool:
    """Whether a variable is a parameter that a call in a turn, in this file or another, gives such a tensor for."""
    bindings = index.flow.reaching(tensor) if isinstance(tensor, ast.Name) else ()
    return len(bindings) == 1 and bindings[0].kind == "parameter" and _is_given(index, bindings[0])


def _is_given(index: SemanticIndex, parameter: Binding) -> bool:
    function = parameter.statement
    if not isinstance(function, FUNCTIONS):
        return False
    called = qualified_in_file(index.tree, function)
    if any(parameter.name in call.lasting for call in index.outside if call.function == called):
        return True
    given = index.definitions.arguments.of(function, parameter.name)
    return any(index.turn_code.turn_of(item) is not None and are_on_device(values_kept(index, item)) for item in given)
