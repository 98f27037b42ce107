"""Options that switch on float16: what they are given on a machine without a GPU is right, for XLA has no float16."""

from __future__ import annotations

import ast
import re

from tpulint.semantic.syntax.variables import last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_HALF = r"(?i)(?:\A|_)(?:fp_?16|float16|f16|amp16|half)(?:\Z|_(?!life|width|size|dim|window|d?type))"
_ANYWHERE = r"(?i)f(?:p_?|loat)?16|amp16|half"
_AUTOCAST = r"\b(?:autocast|GradScaler)\b"
_TYPES = ("torch.float16", "torch.half")
_DEPTH = 3


class HalfOptions:
    """Answers about the options of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._tree = index.tree

    def take(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a value goes into such options alone, itself or through variables."""
        if not self._index.mentions(_ANYWHERE):
            return False
        whole = self._whole(node)
        parent = self._tree.parents[whole]
        if self.takes(node):
            return True
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            loads = self._index.names.loads_of(parent.targets[0])
            return bool(loads) and depth < _DEPTH and all(self.take(load, depth + 1) for load in loads)
        return False

    def given(self, node: ast.expr, depth: int = 0) -> list[ast.expr]:
        """The expressions that hand a value on to such options, where it is used for something else as well."""
        if not self._index.mentions(_ANYWHERE):
            return []
        whole = self._whole(node)
        if self.takes(node):
            return [whole]
        parent = self._tree.parents[whole]
        if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or depth >= _DEPTH:
            return []
        target = parent.targets[0]
        loads = self._index.names.loads_of(target) if isinstance(target, ast.Name) else []
        return [found for load in loads for found in self.given(load, depth + 1)]

    def takes(self, node: ast.expr) -> bool:
        """Whether a value goes into such an option, or chooses it: ``fp16=x``, ``{"fp16": x}``, ``args.fp16 = x``.

        What this file reads may open an autocast, which another rule gives a type that XLA has.
        """
        whole = self._whole(node)
        parent = self._tree.parents[whole]
        if isinstance(parent, ast.keyword):
            call = self._tree.parents[parent]
            return _says_half(parent.arg) and isinstance(call, ast.Call) and not self._is_read_here(call)
        if isinstance(parent, ast.Dict):
            at = next((i for i, value in enumerate(parent.values) if value is whole), None)
            return at is not None and _says_half(_text(parent.keys[at])) and not self._opens_autocast()
        if isinstance(parent, ast.IfExp):  # `torch.float16 if x else torch.float32`
            return parent.test is whole and self._index.qualified_name(parent.body) in _TYPES
        if isinstance(parent, ast.Assign):
            return any(self._is_option(target) for target in parent.targets)
        return isinstance(parent, ast.AnnAssign) and self._is_option(parent.target)

    def _is_option(self, target: ast.expr) -> bool:
        if self._opens_autocast():
            return False
        if isinstance(target, ast.Subscript):
            return _says_half(_text(target.slice))
        if isinstance(target, ast.Attribute):
            return _says_half(target.attr)
        of_class = isinstance(self._tree.parents[self._tree.parents[target]], ast.ClassDef)
        return of_class and isinstance(target, ast.Name) and _says_half(target.id)

    def _is_read_here(self, call: ast.Call) -> bool:
        definitions = self._index.definitions
        here = definitions.function_called(call) is not None or definitions.class_called(call) is not None
        return (here or last_name(call.func) == "dict") and self._opens_autocast()

    def _opens_autocast(self) -> bool:
        return self._index.mentions(_AUTOCAST)

    def _whole(self, node: ast.expr) -> ast.expr:
        """The condition or choice a value is part of: ``True if x else False``, ``x and y``."""
        while True:
            parent = self._tree.parents[node]
            part = isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.IfExp) and _chooses_truth(parent, node))
            as_bool = isinstance(parent, ast.Call) and self._index.qualified_name(parent.func) == "builtins.bool"
            if not part and not as_bool:
                return node
            assert isinstance(parent, ast.expr)
            node = parent


def _chooses_truth(choice: ast.IfExp, node: ast.expr) -> bool:
    """``True if x else False``, or a value that is chosen."""
    chosen = (choice.body, choice.orelse)
    return choice.test is not node or all(isinstance(c, ast.Constant) and isinstance(c.value, bool) for c in chosen)


def _says_half(name: str | None) -> bool:
    return name is not None and re.search(_HALF, name) is not None


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
