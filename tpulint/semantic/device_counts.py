"""Values that count the GPUs of the machine: where the number is taken and where it ends up."""

from __future__ import annotations

import ast

from tpulint.semantic.definitions import Definitions
from tpulint.semantic.flow import Flow
from tpulint.semantic.names import Names
from tpulint.semantic.tree import SyntaxTree

COUNTERS = frozenset({"torch.cuda.device_count", "torch.accelerator.device_count"})
_WRAPPERS = frozenset({"builtins.int", "builtins.max", "builtins.min"})
_DEPTH = 8


class DeviceCounts:
    """Which expressions of one file hold the number of GPUs, or that number times the number of machines."""

    def __init__(self, tree: SyntaxTree, names: Names, flow: Flow, definitions: Definitions) -> None:
        self._tree = tree
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._memo: dict[ast.expr, bool] = {}
        self.calls = [call for call in tree.calls if names.qualified(call.func) in COUNTERS]
        """Calls that ask for the number."""

    def is_count(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether the expression may hold the number."""
        if not self.calls or depth > _DEPTH:
            return False
        found = self._memo.get(node)
        if found is None:
            self._memo[node] = False  # a number that depends on itself adds nothing
            found = self._memo[node] = self._is_count(node, depth + 1)
        return found

    def _is_count(self, node: ast.expr, depth: int) -> bool:
        if isinstance(node, ast.Call):
            if node in self.calls:
                return True
            wrapper = self._names.qualified(node.func) in _WRAPPERS
            return wrapper and any(self.is_count(item, depth) for item in node.args)
        if isinstance(node, ast.Name):
            for binding in self._flow.reaching(node):
                if binding.kind == "assign" and not binding.path and binding.value is not None:
                    if self.is_count(binding.value, depth):
                        return True
                elif binding.kind == "parameter" and isinstance(binding.statement, ast.FunctionDef):
                    passed = self._definitions.arguments_for(binding.statement, binding.name)
                    if any(self.is_count(item, depth) for item in passed):
                        return True
            return False
        if isinstance(node, ast.Attribute):
            return any(self.is_count(store.value, depth) for store in self.attribute_stores(node))
        if isinstance(node, ast.IfExp):
            return self.is_count(node.body, depth) or self.is_count(node.orelse, depth)
        if isinstance(node, ast.BoolOp):
            return any(self.is_count(item, depth) for item in node.values)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            return self.is_count(node.left, depth) or self.is_count(node.right, depth)
        return False

    def attribute_stores(self, node: ast.Attribute) -> list[ast.Assign]:
        """Assignments in the file to the same attribute of a variable of the same name: ``args.world_size = ...``."""
        if not isinstance(node.value, ast.Name):
            return []
        stores = []
        for other in self._tree.attributes:
            if other.attr != node.attr or not isinstance(other.value, ast.Name) or other.value.id != node.value.id:
                continue
            statement = self._tree.parents.get(other)
            if isinstance(statement, ast.Assign) and statement.targets == [other]:
                stores.append(statement)
        return stores
