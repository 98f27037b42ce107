"""Slices that are objects of their own: ``rows = slice(i, i + 16)``, which tensors are indexed with further down."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.semantic import SemanticIndex

_SLICE = "builtins.slice"


def slice_made(index: SemanticIndex, item: ast.expr) -> ast.Call | None:
    """The call of ``slice`` that an index is, or that its variable holds whatever way was taken."""
    if isinstance(item, ast.Name):
        bindings = index.flow.reaching(item)
        made = bindings[0] if len(bindings) == 1 and bindings[0].kind == "assign" else None
        value = None if made is None or made.path else made.value
    else:
        value = item
    if not isinstance(value, ast.Call) or index.qualified_name(value.func) != _SLICE:
        return None
    is_plain = 0 < len(value.args) < 4 and not any(isinstance(part, ast.Starred) for part in value.args)
    return value if is_plain and not value.keywords else None


def slice_meant(index: SemanticIndex, item: ast.expr) -> ast.Slice | None:
    """The slice that an index is, written in the brackets or made in front of them; None for any other index.

    One that is made is a node of no tree; its ends are.
    """
    if isinstance(item, ast.Slice):
        return item
    made = slice_made(index, item)
    if made is None:
        return None
    ends = [None if isinstance(end, ast.Constant) and end.value is None else end for end in made.args]
    if len(ends) == 1:
        return ast.Slice(None, ends[0], None)
    return ast.Slice(ends[0], ends[1], ends[2] if len(ends) > 2 else None)
