"""How functions use their parameters: what a function asks of one, calculates with it, and hands on."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from tpulint.semantic.devices.device_sites import devices_given
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree

_COPIES = ("cpu", "numpy", "tolist")
_CONFIGURATION = r"(?:^|[._])(?:config|cfg|args|hparams|hps|opt)$"


def is_called_options(name: str) -> bool:
    """Whether something is called like the options of a program, ``args`` or ``self.config``."""
    return re.search(_CONFIGURATION, name) is not None


def is_left_at_plain(default: ast.expr | None) -> bool:
    """Whether a parameter is a number or a text by default."""
    if isinstance(default, ast.UnaryOp) and isinstance(default.op, ast.USub):
        default = default.operand
    return isinstance(default, ast.Constant) and isinstance(default.value, int | float | str)


class ParameterUses:
    """Of the functions of one file, as far as it tells a tensor from other values."""

    def __init__(self, tree: SyntaxTree, names: Names) -> None:
        self._tree = tree
        self._names = names
        self._asked: dict[tuple[FunctionNode, str], bool] = {}

    def loads(self, function: FunctionNode, name: str) -> list[ast.Name]:
        """Places that read a parameter."""
        return self._names.loads(name, self._names.scope_of(function.body[0]))

    def is_asked(self, function: FunctionNode, name: str) -> bool:
        """Whether a function asks if a parameter is true, which a tensor of several elements does not tell."""
        key = (function, name)
        if key not in self._asked:
            self._asked[key] = any(map(self._is_condition, self.loads(function, name)))
        return self._asked[key]

    def is_called(self, function: FunctionNode, name: str) -> bool:
        """Whether a function calls a parameter: what can be called is no tensor."""
        loads = self.loads(function, name)
        return any(isinstance(call := self._tree.parents[load], ast.Call) and call.func is load for load in loads)

    def is_stepped(self, function: FunctionNode, name: str) -> bool:
        """``forward(self, x, optimizer)``, ``optimizer.step()``"""
        asked = (self._tree.parents[load] for load in self.loads(function, name))
        return any(isinstance(method, ast.Attribute) and method.attr in ("step", "zero_grad") for method in asked)

    def is_made_set(self, function: FunctionNode, name: str) -> bool:
        """``set(nodes)``: tensors are told apart by what they are, not by their values, and no one puts them in one."""
        made = (self._tree.parents[load] for load in self.loads(function, name))
        return any(isinstance(call, ast.Call) and self._names.qualified(call.func) == "builtins.set" for call in made)

    def is_option(self, function: FunctionNode, name: str) -> bool:
        """Whether a parameter that is not given is read from a configuration, under its own name."""
        for load in self.loads(function, name):
            chosen = self._tree.parents[load]
            if isinstance(chosen, ast.IfExp) and load in (chosen.body, chosen.orelse):
                other = chosen.orelse if load is chosen.body else chosen.body
                if isinstance(other, ast.Attribute) and other.attr == name:
                    return is_called_options(self._tree.text(other.value))
        return False

    def is_number(self, function: FunctionNode, name: str) -> bool:
        """Whether a parameter is calculated with or compared, and nothing else but, if ordered, handed on."""
        loads = self.loads(function, name)
        return all(map(self._is_calculated_with, loads)) or self._are_ordered(loads)

    def is_taken_apart(self, function: FunctionNode, name: str) -> bool:
        """``x[0]``, ``x.size``, ``*x``, ``for item in x``"""
        return any(map(self._is_taken_apart, self.loads(function, name)))

    def moves_parts(self, function: FunctionNode, name: str) -> bool:
        """Whether a function unpacks a parameter and moves what it makes of the parts: the batch came as it is.

        ``atoms, count = batch`` and ``torch.cat(rows).to(device)``, of rows of ``atoms``
        """
        parts = {
            part.id
            for load in self.loads(function, name)
            if isinstance(unpacked := self._tree.parents[load], ast.Assign) and unpacked.value is load
            for target in unpacked.targets
            if isinstance(target, ast.Tuple | ast.List)
            for part in target.elts
            if isinstance(part, ast.Name)
        }
        if not parts:
            return False
        nodes = self._tree.nodes_in(function, ast.Assign, ast.Call, functions=False)
        for node in sorted(nodes, key=self._tree.start):
            if isinstance(node, ast.Assign):
                if any(isinstance(part, ast.Name) and part.id in parts for part in ast.walk(node.value)):
                    parts |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            elif isinstance(node, ast.Call) and isinstance(func := node.func, ast.Attribute):
                is_made_of_parts = any(isinstance(part, ast.Name) and part.id in parts for part in ast.walk(node))
                if is_made_of_parts and func.attr == "append" and isinstance(func.value, ast.Name):
                    parts.add(func.value.id)
                elif is_made_of_parts and self._moves(node, func.attr):
                    return True
        return False

    def _moves(self, call: ast.Call, method: str) -> bool:
        return method == "cuda" or (method == "to" and any(map(self._may_be_device, devices_given(call))))

    def _may_be_device(self, given: ast.expr) -> bool:
        """``.to(device)`` and ``.to("cuda")``, not ``.to(torch.float)``, and not ``.to(x.device)`` of a parameter."""
        if isinstance(given, ast.Attribute):
            return given.attr == "device" and isinstance(given.value, ast.Name) and given.value.id == "self"
        return isinstance(given, ast.Name) or (isinstance(given, ast.Constant) and isinstance(given.value, str))

    def is_copied(self, load: ast.Name) -> bool:
        """Whether a use copies a parameter to the host, or hands it to a call."""
        parent = self._tree.parents[load]
        if isinstance(parent, ast.Attribute) and parent.attr == "detach":
            parent = self._tree.parents[self._tree.parents[parent]]  # `labels.detach().cpu()`
        return parent.attr in _COPIES if isinstance(parent, ast.Attribute) else _is_given(parent, load)

    def _is_condition(self, load: ast.Name) -> bool:
        parent = self._tree.parents[load]
        if isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert):
            return parent.test is load
        return isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not))

    def _is_taken_apart(self, load: ast.Name) -> bool:
        user = self._tree.parents[load]
        if isinstance(user, ast.Subscript | ast.Attribute | ast.Starred):
            return user.value is load
        return isinstance(user, ast.For | ast.comprehension) and user.iter is load

    def _is_calculated_with(self, load: ast.Name) -> bool:
        return isinstance(self._tree.parents[load], ast.BinOp | ast.Compare | ast.UnaryOp)

    def _are_ordered(self, loads: Sequence[ast.Name]) -> bool:
        """``if epoch >= self.start: x = self.smooth(x, epoch)``: no list is less than something, and handed on."""
        parents = self._tree.parents
        orders = [parent.ops for load in loads if isinstance(parent := parents[load], ast.Compare)]
        return all(self._is_calculated_with(load) or _is_given(parents[load], load) for load in loads) and any(
            isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for ops in orders for op in ops
        )


def _is_given(holder: ast.AST, load: ast.Name) -> bool:
    """Whether what holds a name gives it to a call as it is, which tells nothing of it."""
    return isinstance(holder, ast.keyword) or (isinstance(holder, ast.Call) and holder.func is not load)
