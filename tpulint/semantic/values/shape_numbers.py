"""Numbers of shapes, which lie on the host: sizes of tensors, what is calculated of them, and sequences of them."""

from __future__ import annotations

import ast

from tpulint.semantic.functions.definitions import Definitions
from tpulint.semantic.modules.module_calls import ModuleCalls
from tpulint.semantic.project.imported import Imported
from tpulint.semantic.project.other_files import methods, unpacked
from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.syntax.flow import Flow
from tpulint.semantic.syntax.names import Names
from tpulint.semantic.syntax.nodes import FUNCTIONS, FunctionNode
from tpulint.semantic.syntax.tree import SyntaxTree
from tpulint.semantic.values.value import Path

_DEPTH = 24
"""Variables and modules that a number is followed back through."""
_SIZES = frozenset({"size", "dim", "numel", "nelement"})
_OF_NUMBERS = frozenset(f"builtins.{name}" for name in ("list", "tuple", "int", "float", "max", "min", "round"))
"""Functions of Python that give numbers, or sequences of them, where they are given such."""


class ShapeNumbers:
    """Answers about one file, whose ``Kinds`` asks for what forward passes return beside tensors."""

    def __init__(
        self, tree: SyntaxTree, names: Names, flow: Flow, definitions: Definitions, imported: Imported
    ) -> None:
        self._names = names
        self._flow = flow
        self._definitions = definitions
        self._imported = imported
        self._calls = ModuleCalls(tree, names, flow, definitions)
        self._asked: set[tuple[Binding, Path]] = set()
        """Variables that are being looked at: one that depends on itself adds nothing."""

    def are_given(self, call: ast.Call, path: Path, depth: int = 0) -> bool:
        """Whether a part of what a call of a module gives is such numbers: ``H`` of ``x, H, W = self.patches(x)``."""
        here = [self._definitions.method(owner, "forward") for owner in self._calls.classes_called(call.func)]
        if here:
            return all(run is not None and self._are_returned(run, path, depth) for run in here)
        runs = methods(self._imported.classes_of(call.func), "forward")
        return bool(runs) and all(
            isinstance(run.node, FUNCTIONS) and run.file.kinds.shape_numbers._are_returned(run.node, path, depth)
            for run in runs
        )

    def are_handed_in(self, forward: FunctionNode, name: str) -> bool:
        """Whether calls of modules in this file give a parameter of a forward pass such numbers, or rows of them."""
        return self._are_handed_in(forward, name, (), 0)

    def _are_handed_in(self, forward: FunctionNode, name: str, path: Path, depth: int) -> bool:
        given = self._calls.given_for(forward, name)
        return bool(given) and all(self._are_numbers(item, path, depth + 1) for item in given)

    def _are_returned(self, forward: FunctionNode, path: Path, depth: int) -> bool:
        """Whether a part of what a forward pass of this file returns is such numbers, whichever way it goes."""
        values = unpacked(self._definitions.returned_by(forward))
        return bool(values) and all(self._are_numbers(value, path, depth + 1) for value in values)

    def _are_numbers(self, node: ast.expr, path: Path, depth: int) -> bool:
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Constant):
            return not path and isinstance(node.value, int | float | None)
        if isinstance(node, ast.Tuple | ast.List):
            at, inner = (path[0], path[1:]) if path else (None, ())
            items = node.elts if at is None else node.elts[at : at + 1] if isinstance(at, int) and at >= 0 else []
            return bool(items) and all(self._are_numbers(item, inner, depth + 1) for item in items)
        if isinstance(node, ast.Dict):
            entries = zip(node.keys, node.values, strict=True) if path else ()
            found = [value for key, value in entries if isinstance(key, ast.Constant) and key.value == path[0]]
            return len(found) == 1 and self._are_numbers(found[0], path[1:], depth + 1)
        if isinstance(node, ast.Name):
            bindings = self._flow.reaching(node)
            return bool(bindings) and all(self._holds_numbers(one, path, depth + 1) for one in bindings)
        if isinstance(node, ast.Attribute):
            return node.attr == "shape"
        if isinstance(node, ast.Subscript):
            return self._are_numbers(node.value, (), depth + 1)
        if isinstance(node, ast.BinOp):
            return all(self._are_numbers(side, (), depth + 1) for side in (node.left, node.right))
        return isinstance(node, ast.Call) and self._are_made(node, path, depth)

    def _are_made(self, call: ast.Call, path: Path, depth: int) -> bool:
        """``len(x)``, ``x.size(1)``, ``list(x.shape)``, and parts of what a module gives."""
        name = self._names.qualified(call.func)
        if name == "builtins.len":
            return True
        if name in _OF_NUMBERS:
            inner = path if len(call.args) == 1 else ()
            return bool(call.args) and all(self._are_numbers(item, inner, depth + 1) for item in call.args)
        if isinstance(call.func, ast.Attribute) and call.func.attr in _SIZES:
            return True
        return bool(path) and self.are_given(call, path, depth + 1)

    def _holds_numbers(self, binding: Binding, path: Path, depth: int) -> bool:
        """Whether a variable holds such numbers; a parameter of a forward pass, where all calls give it such."""
        question = (binding, path)
        if question in self._asked:
            return True
        self._asked.add(question)
        try:
            if binding.kind == "parameter":
                forward = binding.statement
                if not isinstance(forward, FUNCTIONS) or forward.name != "forward":
                    return False
                return self._are_handed_in(forward, binding.name, path, depth)
            if binding.kind != "assign" or binding.value is None:
                return False
            return self._are_numbers(binding.value, (*binding.path, *path), depth + 1)
        finally:
            self._asked.discard(question)
