"""Values that differ between the processes of one run, and what runs on some of them only."""

from __future__ import annotations

import ast

from tpulint.semantic.syntax.nodes import FUNCTIONS
from tpulint.semantic.values.origins import origins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

RANK_CALLS = frozenset({
    "torch.distributed.get_rank", "torch.distributed.get_node_local_rank", "torch_xla.runtime.global_ordinal",
    "torch_xla.runtime.local_ordinal", "torch_xla.runtime.process_index", "torch_xla.core.xla_model.get_ordinal",
    "torch_xla.core.xla_model.get_local_ordinal", "torch_xla.core.xla_model.is_master_ordinal",
})  # fmt: skip
"""Calls whose result differs between processes."""
RANK_VARIABLES = {
    "RANK": "global_ordinal",
    "LOCAL_RANK": "local_ordinal",
    "WORLD_SIZE": "world_size",
    "LOCAL_WORLD_SIZE": "local_device_count",
}
"""Variables that torchrun sets, and the function of torch_xla.runtime that gives the same number."""

_GETTERS = ("os.getenv", "os.environ.get")


class Ranks:
    """Which expressions of one file depend on the rank of the process."""

    def __init__(self, index: SemanticIndex) -> None:
        self._index = index
        self._memo: dict[ast.expr, bool] = {}

    def depends_on_rank(self, test: ast.expr) -> bool:
        """Whether a condition holds on some processes and not on others."""
        found = self._memo.get(test)
        if found is None:
            self._memo[test] = False
            found = self._memo[test] = any(
                self._is_rank(node) for node in (test, *self._index.tree.inside(test)) if isinstance(node, ast.expr)
            )
        return found

    def is_made_from_rank(self, node: ast.expr) -> bool:
        """Whether the rank is part of how a value is made: a slice of the data for each process."""
        made_of = [origin.node for origin in origins(self._index, node)]
        return any(self.depends_on_rank(part) for part in made_of)

    def _is_rank(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call):
            return self._index.qualified_name(node.func) in RANK_CALLS
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            if isinstance(node, ast.Name) and self._is_process_index(node):
                return True
            return any(self._is_rank_origin(origin.node, node) for origin in origins(self._index, node))
        return self._is_rank_origin(node, None)

    def _is_rank_origin(self, node: ast.expr, use: ast.expr | None) -> bool:
        if node is use:
            return False
        if isinstance(node, ast.Name):
            return self._is_process_index(node)
        if environment_variable(self._index, node) in ("RANK", "LOCAL_RANK"):
            return True
        if isinstance(node, ast.Call):
            name = self._index.qualified_name(node.func)
            return name in RANK_CALLS or (
                name == "builtins.int" and any(self._is_rank_origin(item, None) for item in node.args)
            )
        return isinstance(node, ast.Compare | ast.UnaryOp | ast.BoolOp) and self.depends_on_rank(node)

    def _is_process_index(self, name: ast.Name) -> bool:
        """Whether a name is the first parameter of a launched function."""
        for binding in self._index.flow.reaching(name):
            function = binding.statement
            if binding.kind == "parameter" and isinstance(function, FUNCTIONS):
                first = [*function.args.posonlyargs, *function.args.args][:1]
                if first == [binding.node] and any(
                    function in launch.functions for launch in self._index.launches.launches
                ):
                    return True
        return False

    def condition_of(self, node: ast.AST) -> ast.If | None:
        """The ``if`` on the rank around a node, within its function; None when every process runs the node."""
        child = node
        for ancestor in self._index.tree.ancestors(node):
            if isinstance(ancestor, (*FUNCTIONS, ast.Lambda)):
                return None
            if isinstance(ancestor, ast.If) and child is not ancestor.test and self.depends_on_rank(ancestor.test):
                return ancestor
            child = ancestor
        return None


def environment_variable(index: SemanticIndex, node: ast.expr) -> str | None:
    """Name of the environment variable that an expression reads."""
    key: ast.expr | None = None
    if isinstance(node, ast.Subscript) and index.qualified_name(node.value) == "os.environ":
        key = node.slice
    elif isinstance(node, ast.Call) and node.args and index.qualified_name(node.func) in _GETTERS:
        key = node.args[0]
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None
