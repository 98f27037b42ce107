"""Places of true elements that are looked for only to count them."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability
from tpulint.semantic import SemanticIndex

_COUNTED = "The same number, without the places."


def count_elements(ctx: FileContext, call: ast.Call) -> FixBuilder | None:
    """``len(torch.nonzero(mask))`` as ``int(mask.sum())``."""
    index = ctx.index
    name = index.qualified_name(call.func)
    if name is None and isinstance(call.func, ast.Attribute):
        name, arguments = f"torch.{call.func.attr}", [call.func.value, *call.args]
    else:
        arguments = call.args
    whole = _asked_for_length(index, call)
    if whole is None or name not in ("torch.nonzero", "torch.argwhere") or len(arguments) != 1 or call.keywords:
        return None
    fix = ctx.fix("Count them on the device", Applicability.UNSAFE, _COUNTED)
    mask = fix.text(arguments[0])
    fix.replace(whole, f"int({mask}.sum())" if index.masks.is_boolean(arguments[0]) else f"int(({mask} != 0).sum())")
    return fix


def _asked_for_length(index: SemanticIndex, call: ast.Call) -> ast.expr | None:
    """``len(places)``, ``places.shape[0]`` or ``places.size(0)`` around a call that finds places."""
    parent = index.parent(call)
    if isinstance(parent, ast.Call):
        return parent if index.qualified_name(parent.func) == "builtins.len" else None
    outer = index.parent(parent) if isinstance(parent, ast.Attribute) else None
    if not isinstance(parent, ast.Attribute) or not isinstance(outer, ast.Subscript | ast.Call):
        return None
    asked = [outer.slice] if isinstance(outer, ast.Subscript) else outer.args
    is_first = [ast.unparse(item) for item in asked] == ["0"]
    return outer if is_first and parent.attr == ("shape" if isinstance(outer, ast.Subscript) else "size") else None
