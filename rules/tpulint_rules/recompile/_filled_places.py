"""Rows of a tensor that are filled where a mask is true, by the places that it tells."""

from __future__ import annotations

import ast
import re

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope

_REASON = "The rows are the same; where there are none, none is filled."
_ANY = r"{0}\.dim\(\) > 0|len\({0}\) > 0|{0}\.(numel|nelement)\(\) > 0|{0}\.(size\(0\)|shape\[0\]) > 0"
_FLAT = r"{0}\.squeeze\((1|-1)?\)|{0}\.(view|reshape)\(-1\)|{0}\.flatten\(\)|{0}\[:, 0\]"


def filled_places(ctx: FileContext, node: ast.expr) -> FixBuilder | None:
    """``places = torch.nonzero(mask)`` and ``x.index_fill_(0, places.squeeze(), 0)``: the mask does it as well."""
    index, statement = ctx.index, ctx.index.parent(node)
    mask = _mask(ctx, node)
    if mask is None or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, suite = statement.targets[0], index.tree.suite_of(statement)
    behind = suite[suite.index(statement) + 1 :]
    if not isinstance(target, ast.Name) or not behind:
        return None
    name = re.escape(target.id)
    holder = fill = behind[0]
    if isinstance(holder, ast.If):
        if holder.orelse or len(holder.body) != 1 or not _asks_for_any(holder.test, name):
            return None
        fill = holder.body[0]
    filled = _filled(fill, name)
    uses = index.held_values.uses_of(statement, target)
    fix = ctx.fix("Fill through the mask", Applicability.UNSAFE, _REASON, Scope.STATEMENT)
    if filled is None or not uses or fix.has_comment(holder) or fix.has_neighbours(holder):
        return None
    if not all(index.tree.encloses(holder, use) for use in uses):
        return None
    tensor, value = ctx.text(filled.func.value), ctx.text(filled.args[2])  # type: ignore[attr-defined]
    rows = f"{target.id}.view({target.id}.shape + (1,) * ({tensor}.dim() - {target.id}.dim()))"
    fix.replace(node, ctx.text(mask))
    fix.replace(holder, f"{tensor}.masked_fill_({rows}, {value})")
    return fix


def _mask(ctx: FileContext, node: ast.expr) -> ast.expr | None:
    """The comparison whose places ``torch.nonzero`` or ``.nonzero()`` tells."""
    if not isinstance(node, ast.Call) or any(keyword.arg != "as_tuple" for keyword in node.keywords):
        return None
    if any(not isinstance(k.value, ast.Constant) or k.value.value for k in node.keywords):
        return None
    if ctx.index.qualified_name(node.func) == "torch.nonzero":
        found = node.args[0] if len(node.args) == 1 else None
    else:
        is_method = isinstance(node.func, ast.Attribute) and node.func.attr == "nonzero" and not node.args
        found = node.func.value if is_method else None  # type: ignore[attr-defined]
    return found if isinstance(found, ast.Compare) else None


def _asks_for_any(test: ast.expr, name: str) -> bool:
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    asked = re.compile(_ANY.format(name) + rf"|{name}\.sum\(\) > 0")
    return all(asked.fullmatch(ast.unparse(part)) for part in parts)


def _filled(statement: ast.stmt, name: str) -> ast.Call | None:
    """The call ``x.index_fill_(0, places.squeeze(), value)`` that a statement is."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "index_fill_":
        return None
    if len(call.args) != 3 or call.keywords or not isinstance(call.func.value, ast.Name):
        return None
    first = isinstance(call.args[0], ast.Constant) and call.args[0].value == 0
    return call if first and re.fullmatch(_FLAT.format(name), ast.unparse(call.args[1])) else None
