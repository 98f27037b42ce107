"""Blocks that lose all of their statements."""

from __future__ import annotations

import ast
from collections.abc import Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_QUESTIONS = frozenset({
    "builtins.callable", "builtins.getattr", "builtins.hasattr", "builtins.int", "builtins.isinstance", "builtins.len",
    "builtins.str", "builtins.tuple", "os.environ.get", "os.getenv", "torch.cuda.get_device_capability",
    "torch.cuda.is_available",
})  # fmt: skip
_ASKING = ("platform.", "packaging.version.")
_OF_TEXTS = frozenset({"endswith", "lower", "split", "startswith", "strip", "upper"})
"""Methods that texts have, and give another value."""


def with_emptied_blocks(index: SemanticIndex, gone: Iterable[ast.stmt]) -> list[ast.stmt]:
    """The statements to delete, an ``if`` in place of its contents where nothing else is in it."""
    result = list(dict.fromkeys(gone))
    for statement in result:
        holder = index.parent(statement)
        if not isinstance(holder, ast.If) or holder in result or is_elif(index, holder) or acts(index, holder.test):
            continue
        contents = [*holder.body, *holder.orelse]
        if all(item in result for item in contents):
            return with_emptied_blocks(index, [*(item for item in result if item not in contents), holder])
    return result


def is_elif(index: SemanticIndex, node: ast.If) -> bool:
    """Whether an ``if`` is the ``elif`` of another (or stands alone in its ``else``)."""
    outer = index.parent(node)
    return isinstance(outer, ast.If) and outer.orelse == [node]


def acts(index: SemanticIndex, test: ast.expr) -> bool:
    """Whether a condition does more than look at values."""
    return any(
        isinstance(node, ast.NamedExpr | ast.Await) or (isinstance(node, ast.Call) and not _only_looks(index, node))
        for node in (test, *index.tree.inside(test))
    )


def _only_looks(index: SemanticIndex, call: ast.Call) -> bool:
    """Whether a call only asks: ``platform.system().lower()``, ``hasattr(torch, "compile")``."""
    name = index.qualified_name(call.func)
    if name is not None:
        return name in _QUESTIONS or name.startswith(_ASKING)
    return isinstance(call.func, ast.Attribute) and call.func.attr in _OF_TEXTS
