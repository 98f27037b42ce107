"""Functions and classes of the file: which one a call runs, who calls it, with what arguments."""

from __future__ import annotations

import ast

from tpulint.semantic import torch_facts as facts
from tpulint.semantic.flow import Flow
from tpulint.semantic.names import Names
from tpulint.semantic.tree import FUNCTIONS, FunctionNode, SyntaxTree

_CALLS_LOOKED_AT = 8


class Definitions:
    """Calls resolved to the definitions of the same file, where it is certain which."""

    def __init__(self, tree: SyntaxTree, names: Names, flow: Flow) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._callers: dict[str, list[ast.Call]] | None = None

    def calls_of(self, function: FunctionNode) -> list[ast.Call]:
        """Calls in this file that run the function (for ``__init__``, those that make an instance)."""
        if self._callers is None:
            self._callers = {}
            for call in self._tree.calls:
                func = call.func
                last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else None
                if last is not None:
                    self._callers.setdefault(last, []).append(call)
        owner = self._tree.class_of(function)
        if function.name == "__init__" and owner is not None:
            return [call for call in self._callers.get(owner.name, ()) if self.class_called(call) is owner]
        return [call for call in self._callers.get(function.name, ()) if self.function_called(call) is function]

    def function_called(self, call: ast.Call) -> FunctionNode | None:
        """The function or method of this file that a call runs, where it is certain which."""
        func = call.func
        if isinstance(func, ast.Name):
            bindings = self._names.bindings(func)
            if len(bindings) == 1 and isinstance(bindings[0].node, FUNCTIONS):
                return bindings[0].node
            return None
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            owner = self._tree.class_of(func)
            within = self._tree.function_of(func)
            if (
                owner is not None
                and within is not None
                and within.args.args
                and within.args.args[0].arg == func.value.id
            ):
                return self.method(owner, func.attr)
            instance = self.class_of_variable(func.value)
            if instance is not None:
                return self.method(instance, func.attr)
        return None

    def class_called(self, call: ast.Call) -> ast.ClassDef | None:
        """The class of this file that a call makes an instance of."""
        if isinstance(call.func, ast.Name):
            bindings = self._names.bindings(call.func)
            if len(bindings) == 1 and isinstance(bindings[0].node, ast.ClassDef):
                return bindings[0].node
        return None

    def class_of_variable(self, name: ast.Name) -> ast.ClassDef | None:
        """The class of this file a variable is an instance of, through ``.to(...)`` and the like."""
        bindings = self._flow.reaching(name)
        if len(bindings) == 1 and bindings[0].kind == "assign":
            value = bindings[0].value
            for at in bindings[0].path:
                value = value.elts[at] if isinstance(value, ast.Tuple) and 0 <= at < len(value.elts) else None
            while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
                if value.func.attr not in facts.MODULE_SELF_METHODS:
                    return None
                value = value.func.value
            if isinstance(value, ast.Call):
                return self.class_called(value)
        return None

    def returned_by(self, function: FunctionNode) -> list[ast.expr]:
        """What a function returns; empty when some way through it returns nothing."""
        returns = [node for node in self._tree.inside(function, functions=False) if isinstance(node, ast.Return)]
        values = [node.value for node in returns if node.value is not None]
        return values if len(values) == len(returns) else []

    def method(self, owner: ast.ClassDef, name: str) -> FunctionNode | None:
        """The method of a class of this file, by name; bases of this file are searched too."""
        for item in owner.body:
            if isinstance(item, FUNCTIONS) and item.name == name:
                return item
        for base in owner.bases:
            if isinstance(base, ast.Name):
                bindings = self._names.bindings(base)
                if len(bindings) == 1 and isinstance(bindings[0].node, ast.ClassDef) and bindings[0].node is not owner:
                    return self.method(bindings[0].node, name)
        return None

    def is_module_class(self, owner: ast.ClassDef, depth: int = 0) -> bool:
        """Whether a class of this file is an nn.Module."""
        for base in owner.bases:
            name = self._names.qualified(base)
            if name is not None and (
                name in facts.MODULE_BASES or (name.startswith("torch.nn.") and name[9:10].isupper())
            ):
                return True
            if isinstance(base, ast.Name) and depth < 5:
                bindings = self._names.bindings(base)
                if len(bindings) != 1 or not isinstance(bindings[0].node, ast.ClassDef) or bindings[0].node is owner:
                    continue
                if self.is_module_class(bindings[0].node, depth + 1):
                    return True
        return False

    def arguments_for(self, function: FunctionNode, name: str) -> list[ast.expr]:
        """Expressions that module-local calls pass for a parameter, a few calls at most."""
        positions = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        offset = 1 if positions[:1] in (["self"], ["cls"]) else 0
        result: list[ast.expr] = []
        for call in self.calls_of(function)[:_CALLS_LOOKED_AT]:
            for keyword in call.keywords:
                if keyword.arg == name:
                    result.append(keyword.value)
            if name in positions:
                at = positions.index(name) - offset
                if 0 <= at < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args[: at + 1]):
                    result.append(call.args[at])
        return result
