"""What a condition on the device opens: code for any accelerator, or features that only CUDA has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tpulint.semantic.torch_facts import CUDA_ONLY_NAMES

if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_CUDA_ONLY_ARGUMENTS = frozenset({"fused", "pin_memory", "pin_memory_device"})
_PRINTING = frozenset({"print", "info", "debug", "warning", "warn", "log", "write", "pprint", "error"})
_MOVES = frozenset({"cuda", "to"})


class CudaFeatures:
    """Answers about conditions of one file."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._tree = index.tree
        self._cuda_only = frozenset(node for node, _ in index.references(*CUDA_ONLY_NAMES))

    def is_worth_folding(self, question: ast.expr) -> bool:
        """Whether a false answer on a TPU machine does harm.

        It does none where the answer is only shown, where it switches on a feature that only CUDA has, and where all it
        guards are calls that would raise.
        """
        root = self._root(question)
        parent = self._tree.parents[root]
        if isinstance(parent, ast.keyword):
            return self._is_wanted_argument(parent)
        if isinstance(parent, ast.Call) and root in parent.args:
            return self._belongs_to_file(parent)
        if isinstance(parent, ast.FormattedValue | ast.List | ast.Tuple | ast.Set):
            return False
        if isinstance(parent, ast.If) and parent.test is root and not parent.orelse:
            return not self._holds_only_cuda(parent.body)
        if isinstance(parent, ast.IfExp) and parent.test is root:
            return not self.mentions_cuda_only(parent.body)
        return True

    def _root(self, node: ast.expr) -> ast.expr:
        while True:
            parent = self._tree.parents[node]
            if isinstance(parent, ast.BoolOp) or isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
                node = parent
            else:
                return node

    def _is_wanted_argument(self, keyword: ast.keyword) -> bool:
        call = self._tree.parents[keyword]
        if not isinstance(call, ast.Call) or keyword.arg in _CUDA_ONLY_ARGUMENTS or keyword.arg is None:
            return False
        last = _last(call)
        if last == "GradScaler" or last in _PRINTING:
            return False
        return last in ("autocast", "add_argument", "option", "Option", "dict") or self._belongs_to_file(call)

    def _belongs_to_file(self, call: ast.Call) -> bool:
        definitions = self._index.definitions
        return definitions.function_called(call) is not None or definitions.class_called(call) is not None

    # ---------------------------------------------------------------- CUDA only

    def mentions_cuda_only(self, node: ast.AST) -> bool:
        """Whether code uses what only CUDA has."""
        return bool(self._cuda_only) and any(item in self._cuda_only for item in (node, *self._tree.inside(node)))

    def _holds_only_cuda(self, body: list[ast.stmt]) -> bool:
        """Whether a branch uses what only CUDA has and moves nothing to the device."""
        if not any(self.mentions_cuda_only(statement) for statement in body):
            return False
        for statement in body:
            for node in (statement, *self._tree.inside(statement)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("cuda"):
                    return False
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MOVES:
                    return False
                if isinstance(node, ast.Attribute) and self._index.qualified_name(node) in ("torch.device", "torch.set_default_device"):
                    return False
        return True

    def cuda_reports(self, body: list[ast.stmt]) -> Iterator[ast.stmt]:
        """Statements that only print or log what CUDA alone can tell."""
        for statement in body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and _last(statement.value) in _PRINTING:
                if self.mentions_cuda_only(statement):
                    yield statement

    def guards_cuda_only(self, comparison: ast.AST | None) -> bool:
        """Whether a comparison with CUDA's name opens only what CUDA alone has: it is rightly false on a TPU machine."""
        if not isinstance(comparison, ast.expr):
            return False
        root = self._root(comparison)
        parent = self._tree.parents[root]
        if isinstance(parent, ast.If) and parent.test is root:
            return self._holds_only_cuda(parent.body)
        if isinstance(parent, ast.IfExp) and parent.test is root:
            return self.mentions_cuda_only(parent.body) or self._feeds_cuda_only(parent)
        return self._feeds_cuda_only(root)

    def _feeds_cuda_only(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a value only ever becomes ``fused=`` and the like, itself or through one variable."""
        parent = self._tree.parents[node]
        if isinstance(parent, ast.keyword):
            call = self._tree.parents[parent]
            return parent.arg in _CUDA_ONLY_ARGUMENTS or isinstance(call, ast.Call) and _last(call) == "GradScaler"
        if isinstance(parent, ast.IfExp) and parent.test is node:
            return any(isinstance(n, ast.keyword) and n.arg in _CUDA_ONLY_ARGUMENTS for n in self._tree.inside(parent.body))
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name) and depth < 3:
            target = parent.targets[0]
            if "fused" in target.id:
                return True
            home = self._index.names.find(target.id, self._index.names.scope_of(target))
            loads = [
                name for name in self._tree.names
                if name.id == target.id and isinstance(name.ctx, ast.Load)
                and self._index.names.find(name.id, self._index.names.scope_of(name)) == home
            ]  # fmt: skip
            return bool(loads) and all(self._feeds_cuda_only(load, depth + 1) for load in loads)
        return False


def _last(call: ast.Call) -> str:
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
