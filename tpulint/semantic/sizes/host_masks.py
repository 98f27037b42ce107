"""Masks made of numbers alone, such as ``~torch.eye(n)``, that are moved to the device only to choose elements by them.

On the host the places are known when the step is recorded, and they are the same in every step.
"""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.bindings import Binding
from tpulint.semantic.values.kinds import Kind, Side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_DEPTH = 40
_MAKING = frozenset(f"torch.{name}" for name in (
    "eye", "arange", "zeros", "ones", "full", "tril", "triu", "linspace", "tensor", "cat", "concat", "stack", "diag",
    "block_diag", "kron", "logical_not", "logical_and", "logical_or", "eq", "ne",
))  # fmt: skip
"""Functions that make the same tensor of the same numbers every time."""
_METHODS = frozenset({
    "bool", "float", "long", "int", "view", "reshape", "unsqueeze", "squeeze", "t", "transpose", "flatten", "repeat",
    "expand", "contiguous", "clone", "eq", "ne", "logical_not", "logical_and", "logical_or", "tril", "triu", "type",
})  # fmt: skip
_SIZES = frozenset({"size", "dim", "numel", "ndimension"})
_SIZE_ATTRIBUTES = frozenset({"shape", "ndim", "dtype"})

Dropped = ast.Call | ast.keyword


class HostMasks:
    """Answers one question at a time."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._seen: set[Binding] = set()
        self._dropped: list[tuple[ast.Call, Dropped]] = []

    def moves_of(self, mask: ast.expr) -> list[tuple[ast.Call, Dropped]]:
        """What has to go so that a mask stays on the host: calls of ``to``, and ``device=`` with its call.

        Empty when the mask depends on data, or when something else needs it on the device.
        """
        self._seen, self._dropped = set(), []
        return self._dropped if self._is_made(mask, 0) else []

    # ---------------------------------------------------------------- how it is made

    def _is_made(self, node: ast.AST, depth: int) -> bool:
        """Whether an expression only depends on numbers of the host, once what is noted is dropped."""
        index = self._index
        if depth > _DEPTH:
            return False
        if isinstance(node, ast.Name):
            if index.kind(node) is Kind.HOST or index.qualified_name(node) is not None:
                return True
            bindings = index.flow.reaching(node)
            return bool(bindings) and all(self._is_made_by(binding, depth + 1) for binding in bindings)
        if isinstance(node, ast.Attribute):
            if node.attr in _SIZE_ATTRIBUTES or index.qualified_name(node) is not None:
                return True
            return self._is_made(node.value, depth + 1) if node.attr in ("T", "data") else self._is_number(node)
        if isinstance(node, ast.Call):
            return self._is_made_by_call(node, depth)
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            return self._is_made(node.elt, depth + 1)
        if isinstance(node, ast.Constant | ast.operator | ast.unaryop | ast.cmpop | ast.boolop | ast.expr_context):
            return True
        parts = (ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.UnaryOp, ast.BinOp, ast.Compare, ast.BoolOp)
        return isinstance(node, parts) and all(self._is_made(item, depth + 1) for item in ast.iter_child_nodes(node))

    def _is_number(self, node: ast.Attribute) -> bool:
        """Whether an attribute is where a size stands: `torch.arange(self.options.batch_size)`."""
        call = self._index.parent(node)
        is_size = isinstance(call, ast.Call) and self._index.qualified_name(call.func) in _MAKING
        return is_size and self._index.kind(node) in (Kind.UNKNOWN, Kind.HOST)

    def _is_made_by_call(self, call: ast.Call, depth: int) -> bool:
        index = self._index
        name = index.qualified_name(call.func)
        if name in ("builtins.len", "builtins.int", "builtins.range"):
            return True
        if name is not None:
            if name not in _MAKING:
                return False
            device = [keyword for keyword in call.keywords if keyword.arg == "device"]
            self._dropped += [(call, keyword) for keyword in device]
            rest = [*call.args, *(keyword.value for keyword in call.keywords if keyword not in device)]
            return all(self._is_made(item, depth + 1) for item in rest)
        if not isinstance(call.func, ast.Attribute):
            return False
        if call.func.attr in _SIZES:
            return True
        if index.moves.to_device(call) is not None:
            if len(call.args) + len(call.keywords) > (1 if call.func.attr == "to" else 0):
                return False  # another dtype with it
            self._dropped.append((call, call))
            return self._is_made(call.func.value, depth + 1)
        if call.func.attr not in _METHODS or call.keywords:
            return False
        return all(self._is_made(item, depth + 1) for item in (call.func.value, *call.args))

    def _is_made_by(self, binding: Binding, depth: int) -> bool:
        if binding in self._seen:
            return True
        self._seen.add(binding)
        statement, value = binding.statement, binding.value
        if binding.kind != "assign" or binding.path or value is None or not isinstance(binding.node, ast.Name):
            return False
        if not isinstance(statement, ast.Assign) or len(statement.targets) > 1 or not self._is_made(value, depth):
            return False
        if self._index.kinds.binding_value(binding).side is Side.HOST:
            return True
        scope = self._index.names.scope_of(binding.node)
        uses = self._index.names.loads(binding.name, scope)
        return all(self._is_harmless(use, depth) for use in uses if binding in self._index.flow.reaching(use))

    # ---------------------------------------------------------------- what is done with it

    def _is_harmless(self, use: ast.expr, depth: int) -> bool:
        """Whether a use of a tensor does as well with one on the host."""
        index = self._index
        node: ast.AST = use
        while True:
            parent = index.parent(node)
            if isinstance(parent, ast.Attribute):
                call = index.parent(parent)
                if parent.attr in _SIZE_ATTRIBUTES or parent.attr in _SIZES:
                    return True
                called = isinstance(call, ast.Call) and call.func is parent
                if not called and parent.attr not in ("T", "data"):
                    return False
                node = call if called and call is not None else parent
            elif isinstance(parent, ast.Subscript):
                if node is parent.slice:
                    return True
                node = parent
            elif isinstance(parent, ast.Tuple):
                outer = index.parent(parent)
                return isinstance(outer, ast.Subscript) and outer.slice is parent
            elif isinstance(parent, ast.UnaryOp | ast.BinOp | ast.Compare | ast.BoolOp):
                if not self._is_made(parent, depth + 1):
                    return False
                node = parent
            elif isinstance(parent, ast.Call):
                if index.qualified_name(parent.func) == "builtins.len":
                    return True
                if not self._is_made(parent, depth + 1):
                    return False
                node = parent
            elif isinstance(parent, ast.Assign) and len(parent.targets) == 1 and node is parent.value:
                binding = index.names.binding_at(parent.targets[0])
                return binding is not None and self._is_made_by(binding, depth + 1)
            else:
                return False
