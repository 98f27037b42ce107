"""Functions that take the wrapper off a module: ``def unwrap(net): return net.module if is_parallel(net) else net``."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.wrapped_modules import WRAPPED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic.project.imported import Imported

_DEPTH = 6


class UnwrappedModels:
    """Answers about the functions of one file, and about its calls of those and of others."""

    def __init__(self, tree: SyntaxTree, names: Names, imported: Imported) -> None:
        self._tree = tree
        self._names = names
        self._imported = imported
        self._parameters: dict[FunctionNode, str | None] = {}

    def wrapped(self, call: ast.Call) -> ast.expr | None:
        """``net`` of ``unwrap(net)``, or of ``getattr(net, "module", net)``; None for any other call."""
        if not call.args:
            return None
        if self._names.qualified(call.func) == "builtins.getattr":
            return call.args[0] if self._is_wrapped(call) else None
        bindings = self._names.bindings(call.func) if isinstance(call.func, ast.Name) else []
        if len(bindings) == 1 and isinstance(bindings[0].node, FUNCTIONS):
            return _given(call, bindings[0].node, self.parameter(bindings[0].node))
        found = self._imported.definition(call.func)
        if found is None or not isinstance(found.node, FUNCTIONS):
            return None
        return _given(call, found.node, unwrapped_parameter(found))

    def parameter(self, function: FunctionNode) -> str | None:
        """The parameter of which a function of this file returns what it wraps, or itself where it wraps nothing."""
        if function not in self._parameters:
            self._parameters[function] = self._find(function)
        return self._parameters[function]

    def _find(self, function: FunctionNode) -> str | None:
        if self._tree.class_of(function) is not None or not self._mentions(function):
            return None
        values = [node.value for node in self._tree.nodes_in(function, ast.Return, functions=False)]
        found = {self._root(value, function, 0) for value in values}
        return found.pop() if len(found) == 1 else None

    def _mentions(self, function: FunctionNode) -> bool:
        reads = self._tree.nodes_in(function, ast.Attribute, functions=False)
        calls = self._tree.nodes_in(function, ast.Call, functions=False)
        return any(node.attr == WRAPPED for node in reads) or any(map(self._is_wrapped, calls))

    def _is_wrapped(self, call: ast.Call) -> bool:
        """``getattr(net, "module", net)``"""
        if len(call.args) != 3 or self._names.qualified(call.func) != "builtins.getattr":
            return False
        whole, name, otherwise = call.args
        return isinstance(name, ast.Constant) and name.value == WRAPPED and ast.dump(whole) == ast.dump(otherwise)

    def _root(self, node: ast.expr | None, function: FunctionNode, depth: int) -> str | None:
        """The parameter that an expression is, or the module in it; None for anything else."""
        if depth > _DEPTH:
            return None
        if isinstance(node, ast.Attribute) and node.attr == WRAPPED:
            return self._root(node.value, function, depth + 1)
        if isinstance(node, ast.IfExp):
            ways = {self._root(way, function, depth + 1) for way in (node.body, node.orelse)}
            return ways.pop() if len(ways) == 1 else None
        if isinstance(node, ast.Call):
            calls_itself = isinstance(node.func, ast.Name) and node.func.id == function.name
            is_one = self._is_wrapped(node) or (calls_itself and len(node.args) == 1)
            return self._root(node.args[0], function, depth + 1) if is_one else None
        if not isinstance(node, ast.Name):
            return None
        roots: set[str | None] = set()
        for binding in self._names.bindings(node):
            if binding.kind == "parameter":
                roots.add(binding.name if binding.statement is function else None)
            elif binding.kind == "assign" and not binding.path:
                if not _goes_on(node.id, binding.value):
                    roots.add(self._root(binding.value, function, depth + 1))
            else:
                roots.add(None)
        return roots.pop() if len(roots) == 1 else None


def unwrapped_parameter(function: Definition) -> str | None:
    """The parameter of which a function of any file returns what it wraps, or itself."""
    models = function.file.imported.unwrapped_models
    return models.parameter(function.node) if isinstance(function.node, FUNCTIONS) else None


def _given(call: ast.Call, function: FunctionNode, parameter: str | None) -> ast.expr | None:
    return None if parameter is None else dict(arguments_given(call, function, False)).get(parameter)


def _goes_on(name: str, value: ast.expr | None) -> bool:
    """``net = net.module``, which goes on from what ``net`` was."""
    held = value.value if isinstance(value, ast.Attribute) and value.attr == WRAPPED else None
    return isinstance(held, ast.Name) and held.id == name
