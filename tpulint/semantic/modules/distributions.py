"""Which classes of torch.distributions a distribution may be of."""

from __future__ import annotations

import ast

from tpulint.semantic.project.other_files import Definition, methods
from tpulint.semantic.syntax.bindings import part_of
from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex
    from tpulint.semantic.syntax.bindings import Binding

_PREFIX = "torch.distributions."
_DEPTH = 8
_AROUND = frozenset({"Independent", "TransformedDistribution", "MixtureSameFamily"})
"""Classes that put something around another distribution."""


class Distributions:
    """Answers about one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index

    def classes_of(self, node: ast.expr, depth: int = 0) -> frozenset[str]:
        """Names of the classes that an expression may be an instance of; empty when one of them is not known."""
        index = self._index
        if depth > _DEPTH:
            return frozenset()
        if isinstance(node, ast.IfExp):
            return _all_of([self.classes_of(side, depth + 1) for side in (node.body, node.orelse)])
        if isinstance(node, ast.Name):
            return self._bound(index.flow.reaching(node), depth)
        if isinstance(node, ast.Attribute):
            return self._bound(index.flow.reaching_attribute(node), depth)
        return self._made(node, depth) if isinstance(node, ast.Call) else frozenset()

    def _made(self, call: ast.Call, depth: int) -> frozenset[str]:
        index = self._index
        name = index.qualified_name(call.func) or ""
        if name.startswith(_PREFIX):
            last = name.rpartition(".")[2]
            if last in _AROUND:
                return (
                    self.classes_of(call.args[-1 if last == "MixtureSameFamily" else 0], depth + 1)
                    if call.args
                    else frozenset()
                )
            return frozenset({last})
        function = index.definitions.function_called(call)
        if function is not None:
            return _all_of([self.classes_of(value, depth + 1) for value in index.definitions.returned_by(function)])
        found = []
        for other in index.imported.all_called(call):
            values = other.file.definitions.returned_by(other.node) if isinstance(other.node, FUNCTIONS) else []
            found += [other.file.distributions.classes_of(value, depth + 1) for value in values] or [frozenset[str]()]
        return _all_of(found)

    def _bound(self, bindings: tuple[Binding, ...], depth: int) -> frozenset[str]:
        found = []
        for binding in bindings:
            value = binding.value if binding.kind == "assign" and not binding.path else None
            found.append(frozenset[str]() if value is None else self.classes_of(value, depth + 1))
        return _all_of(found)

    def made_elsewhere(self, node: ast.expr, depth: int = 0) -> str | None:
        """The other file that makes a distribution which checks its arguments; None where none is known to do so."""
        index = self._index
        if not isinstance(node, ast.Name) or depth > _DEPTH:
            return None
        for binding in index.flow.reaching(node):
            if binding.kind == "parameter" and isinstance(binding.statement, FUNCTIONS):
                given = index.definitions.arguments.of(binding.statement, binding.name)
                found = [self.made_elsewhere(item, depth + 1) for item in given]
            elif binding.kind == "assign" and isinstance(binding.value, ast.Call):
                found = [_made_by(called, binding.path) for called in self._run_elsewhere(binding.value)]
            else:
                continue
            for path in found:
                if path is not None:
                    return path
        return None

    def _run_elsewhere(self, call: ast.Call) -> list[Definition]:
        """What a call runs in other files: of a module its forward pass."""
        imported = self._index.imported
        return [*imported.all_called(call), *methods(imported.classes_of(call.func), "forward")]


def _made_by(called: Definition, path: tuple[int, ...]) -> str | None:
    """The file of a function that returns such a distribution, or has it in the part of what it returns."""
    index = called.file
    if not isinstance(called.node, FUNCTIONS) or index.mentions(r"validate_args"):
        return None
    for value in index.definitions.returned_by(called.node):
        part = part_of(value, path)
        if part is not None and index.distributions.classes_of(part):
            return index.source.path
    return None


def _all_of(found: list[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*found) if found and all(found) else frozenset()
