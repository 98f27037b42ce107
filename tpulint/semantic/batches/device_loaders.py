"""Loops over a loader that sets the step boundary itself, such as ``MpDeviceLoader``."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.syntax import torch_facts as facts
from tpulint.semantic.syntax.bindings import part_of
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS

_BOUNDARY_LOADERS = frozenset(
    {"torch_xla.distributed.parallel_loader.MpDeviceLoader", "torch_xla.distributed.parallel_loader.ParallelLoader"}
)
_DEPTH = 4


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
                given = self._definitions.arguments.of(binding.statement, binding.name)
                if any(self.iterates(item, depth + 1) for item in given):
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
