"""Loops over a loader that sets the step boundary itself, such as ``MpDeviceLoader``."""

from __future__ import annotations

import ast

from tpulint.semantic import torch_facts as facts
from tpulint.semantic.bindings import part_of
from tpulint.semantic.definitions import Definitions
from tpulint.semantic.names import Names
from tpulint.semantic.tree import FUNCTIONS, FunctionNode

_BOUNDARY_LOADERS = frozenset(
    {"torch_xla.distributed.parallel_loader.MpDeviceLoader", "torch_xla.distributed.parallel_loader.ParallelLoader"}
)
_DEPTH = 4
_CALLS_LOOKED_AT = 8


class DeviceLoaders:
    """Follows an iterable to where it was made, through wrappers, variables and arguments."""

    def __init__(self, names: Names, definitions: Definitions) -> None:
        self._names = names
        self._definitions = definitions

    def iterates(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether going through an iterable sets step boundaries."""
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Call):
            name = self._names.qualified(node.func)
            if name in _BOUNDARY_LOADERS:
                return True
            if isinstance(node.func, ast.Attribute) and node.func.attr == "per_device_loader":
                return True
            if name in facts.ITERABLE_WRAPPERS:
                return bool(node.args) and self.iterates(node.args[0], depth + 1)
            return self._makes(node, (), depth)
        if isinstance(node, ast.Name):
            for binding in self._names.bindings(node):
                if binding.kind == "assign" and binding.value is not None:
                    if binding.path and isinstance(binding.value, ast.Call):
                        found = self._makes(binding.value, binding.path, depth)
                    else:
                        found = self.iterates(binding.value, depth + 1)
                    if found:
                        return True
                if binding.kind != "parameter" or not isinstance(binding.statement, FUNCTIONS):
                    continue
                if any(self.iterates(item, depth + 1) for item in self._passed(binding.statement, binding.name)):
                    return True
        return False

    def _makes(self, call: ast.Call, path: tuple[int, ...], depth: int) -> bool:
        """Whether a function of the file returns such a loader, at a place in the tuple that it returns."""
        function = self._definitions.function_called(call)
        if function is None:
            return False
        if function.returns is not None and not path and self._names.qualified(function.returns) in _BOUNDARY_LOADERS:
            return True
        for returned in self._definitions.returned_by(function):
            value = part_of(returned, path)
            if value is not None and self.iterates(value, depth + 1):
                return True
        return False

    def _passed(self, function: FunctionNode, name: str) -> list[ast.expr]:
        """What calls of the file pass for a parameter."""
        positions = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
        offset = 1 if positions[:1] in (["self"], ["cls"]) else 0
        result: list[ast.expr] = []
        for call in self._definitions.calls_of(function)[:_CALLS_LOOKED_AT]:
            result.extend(keyword.value for keyword in call.keywords if keyword.arg == name)
            at = positions.index(name) - offset if name in positions else -1
            if 0 <= at < len(call.args):
                result.append(call.args[at])
        return result
