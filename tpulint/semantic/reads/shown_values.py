"""What methods of the project with the name of a logger's do with what they are given: ``history.log(loss)``."""

from __future__ import annotations

import ast

from tpulint.semantic.loops.intervals import is_remainder
from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.syntax.nodes import FUNCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_KEEPING = frozenset({
    "append", "extend", "update", "setdefault", "get", "pop", "items", "values", "keys", "add", "add_", "detach",
    "clone", "to", "mean", "sum", "copy", "defaultdict", "deque", "list", "dict", "tuple", "len", "isinstance",
    "range", "enumerate", "zip",
})  # fmt: skip
"""Calls that look at no value."""


def is_only_kept(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether a method that the project defines keeps what it is given, or shows it every n-th time only.

    `def log(self, loss): self.losses.append(loss.detach())` is no logger whatever its name.
    """
    own = index.definitions.function_called(call)
    runs = index.imported.all_called(call) if own is None else (Definition(index, own),)
    return bool(runs) and all(map(_keeps, runs))


def _keeps(run: Definition) -> bool:
    if not isinstance(run.node, FUNCTIONS):
        return False
    tree = run.file.tree
    for node in tree.nodes_in(run.node, ast.Call, ast.JoinedStr, ast.BinOp):
        if isinstance(node, ast.BinOp) and not (isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)):
            continue
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in _KEEPING:
                continue
        branches = (one for one in tree.ancestors(node) if isinstance(one, ast.If) and tree.encloses(run.node, one))
        if not any(is_remainder(part) for one in branches for part in ast.walk(one.test) if isinstance(part, ast.expr)):
            return False
    return True
