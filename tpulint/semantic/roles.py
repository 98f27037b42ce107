"""What variables must be because of how they are used: the receiver of ``backward`` is a tensor."""

from __future__ import annotations

import ast

from tpulint.semantic import torch_facts as facts
from tpulint.semantic.flow import Flow
from tpulint.semantic.names import Binding
from tpulint.semantic.tree import SyntaxTree
from tpulint.semantic.values import Kind, Side, Value

_ASKING = frozenset({"item", "detach", "cpu"})
"""Methods that tell of a tensor."""


class Roles:
    """Collected in one go over the calls of a file. Nothing is inferred here: what is found is a hint."""

    def __init__(self, tree: SyntaxTree, flow: Flow, side: Side) -> None:
        self._flow = flow
        self._side = side
        self.values: dict[Binding, Value] = {}
        self.asked: set[Binding] = set()
        """Variables asked for a number, as tensors are: ``accuracy.item()``, ``parts["mask"].mean().item()``."""
        steppers: dict[Binding, set[str]] = {}
        for call in tree.calls:
            func = call.func
            if not isinstance(func, ast.Attribute):
                continue
            if func.attr == "backward":
                self._backpropagated(call, func)
            elif func.attr in ("zero_grad", "step", "load_state_dict", "state_dict", "parameters", "train", "eval"):
                for binding in self._receivers(func.value):
                    steppers.setdefault(binding, set()).add(func.attr)
            elif func.attr in _ASKING:
                root = _root(func.value)
                if root is not None:
                    self.asked.update(flow.reaching(root))
        for binding, methods in steppers.items():
            if {"step", "zero_grad"} <= methods:
                self.values.setdefault(binding, Value(Kind.OPTIMIZER, certain=False))
            elif methods & {"parameters", "train", "eval"} and "step" not in methods:
                self.values.setdefault(binding, Value(Kind.MODULE, certain=False))

    def _backpropagated(self, call: ast.Call, func: ast.Attribute) -> None:
        target = call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else func.value
        if call.args and (len(call.args) > 1 or not isinstance(target, ast.Name | ast.Attribute)):
            return
        for binding in self._receivers(target):
            self.values.setdefault(binding, Value(Kind.TENSOR, self._side, certain=False))
            made = None if binding.path or binding.kind != "assign" else _only_call(binding.value)
            if made is not None and made.args:
                # What computes a loss is a loss function, such as an object of a class that is not seen.
                for callee in self._receivers(made.func):
                    if callee.kind in ("assign", "parameter"):
                        self.values.setdefault(callee, Value(Kind.MODULE, certain=False))

    def _receivers(self, node: ast.expr) -> tuple[Binding, ...]:
        if isinstance(node, ast.Name):
            return self._flow.reaching(node)
        if isinstance(node, ast.Attribute):
            return self._flow.reaching_attribute(node)
        return ()


def _only_call(node: ast.expr | None) -> ast.Call | None:
    """The call in ``criterion(output, target) / 4``."""
    while isinstance(node, ast.BinOp):
        if isinstance(node.right, ast.Constant | ast.Name | ast.Attribute):
            node = node.left
        elif isinstance(node.left, ast.Constant | ast.Name | ast.Attribute):
            node = node.right
        else:
            return None
    return node if isinstance(node, ast.Call) else None


def _root(node: ast.expr) -> ast.Name | None:
    """The variable that a chain of tensor methods and elements begins with."""
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr not in facts.TENSOR_METHODS and node.func.attr not in _ASKING:
                return None
            node = node.func.value
        elif isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr == "data"):
            node = node.value
        else:
            return node if isinstance(node, ast.Name) else None
