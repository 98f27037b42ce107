"""Reads of what is a tensor of the device on one way and a number on the host on another, which stands in for it."""

from __future__ import annotations

import ast

from tpulint.semantic.loops.regions import Step
from tpulint.semantic.loops.turn_code import STEP
from tpulint.semantic.reads.reads import How, Read, Use
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.values.kinds import Kind, Side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_NUMBERS = ("torch.tensor", "torch.Tensor", "torch.FloatTensor", "torch.zeros")


def reads_of_stand_ins(index: SemanticIndex) -> list[tuple[Read, Step | None]]:
    """Reads in front of a step's boundary, with the step: ``loss_u = torch.tensor(0)`` where there is no such loss.

    In a turn that computes it the host waits, and the step is run twice.
    """
    if not index.source.has_any(_NUMBERS):
        return []
    found = []
    for call in index.turn_code.nodes(ast.Call):
        read = read_of_stand_in(index, call)
        if read is not None and index.turn_code.turn_of(call) == STEP:
            loop = index.step_loop_of(call) or index.regions.called_step_of(call)
            if loop is None or not (index.boundaries.has(loop) and index.boundaries.is_behind(call, loop)):
                found.append((read, loop))
    return found


def read_of_stand_in(index: SemanticIndex, node: ast.expr) -> Read | None:
    """What ``loss_u.item()`` reads, where that is a tensor of the device on some ways only."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "item":
        return None
    name = _variable(node.func.value)
    if name is None or not _is_now_and_then_on_device(index, name):
        return None
    use = Use.RETURN if isinstance(index.statement_of(node), ast.Return) else Use.OTHER
    return Read(node, node.func.value, How.COPY, use, certain=False, scalar=True)


def _variable(node: ast.expr) -> ast.Name | None:
    """The variable in ``right.float().mean()``."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr not in facts.TENSOR_METHODS:
            return None
        node = node.func.value
    return node if isinstance(node, ast.Name) else None


def _is_now_and_then_on_device(index: SemanticIndex, name: ast.Name) -> bool:
    bindings = index.flow.reaching(name)
    others = [binding for binding in bindings if not _binds_device_tensor(index, binding)]
    return bool(others) and len(others) < len(bindings) and all(_stands_in(index, binding) for binding in others)


def _binds_device_tensor(index: SemanticIndex, binding: Binding) -> bool:
    value = index.kinds.binding_value(binding)
    return value.kind is Kind.TENSOR and value.side is Side.DEVICE


def _stands_in(index: SemanticIndex, binding: Binding) -> bool:
    """Whether a variable becomes a tensor of the host, ``torch.tensor(0)``, in a branch of an ``if``."""
    made = binding.value if binding.kind == "assign" and not binding.path else None
    if not isinstance(made, ast.Call) or made.keywords or len(made.args) != 1:
        return False
    numbers = made.args[0].elts if isinstance(made.args[0], ast.List) else [made.args[0]]
    is_plain = all(isinstance(number, ast.Constant | ast.UnaryOp) for number in numbers)
    in_branch = isinstance(index.parent(binding.statement), ast.If)
    return is_plain and in_branch and index.qualified_name(made.func) in _NUMBERS
