"""Arguments of calls that a row of a mapping table speaks about."""

from __future__ import annotations

import ast

from tpulint.model import Certainty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.card import MappingRow
    from tpulint.context import FileContext


def argument_of(ctx: FileContext, node: ast.expr, row: MappingRow) -> tuple[ast.AST, Certainty] | None:
    """Where the row's argument stands in the call; None if all is well.

    For an argument that should be set and is absent it is the callee.
    """
    call = ctx.index.parent(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        return None
    found: ast.keyword | ast.expr | None = next((item for item in call.keywords if item.arg == row.argument), None)
    if found is None and row.position is not None and row.position < len(call.args):
        if any(isinstance(item, ast.Starred) for item in call.args[: row.position + 1]):
            return None
        found = call.args[row.position]
    if found is None:
        passed = ctx.index.call_arguments.of(call)
        if passed is None or _is_left_alone(passed, row):
            return None
        values = passed.get(row.argument)
        if values:
            is_given = row.given and all(_is_given(ctx, value, row) for value in values)
            return (values[0], Certainty.CERTAIN if len(values) == 1 else Certainty.LIKELY) if is_given else None
        return (node, Certainty.CERTAIN) if row.action == "set-argument" and not row.given else None
    if row.unless and _is_left_alone(ctx.index.call_arguments.of(call), row):
        return None
    value = found.value if isinstance(found, ast.keyword) else found
    if row.given is not None:
        return (found, Certainty.CERTAIN) if _is_given(ctx, value, row) else None
    if not row.allowed:
        return found, Certainty.CERTAIN
    from tpulint.semantic.values.origins import origins

    possible = origins(ctx.index, value)
    if any(isinstance(item.node, ast.Constant) and not _is_among(item.node, row.allowed) for item in possible):
        return found, Certainty.CERTAIN
    is_allowed = all(_is_among(item.node, row.allowed) and not item.by_user for item in possible)
    return None if is_allowed else (found, Certainty.LIKELY)


def _is_left_alone(passed: dict[str, list[ast.expr]] | None, row: MappingRow) -> bool:
    """Whether another argument has, or may have, a value with which the row does not matter."""
    if passed is None:
        return bool(row.unless)
    return any(
        not values or not isinstance(value, ast.Constant) or _is_among(value, tuple(values))
        for name, values in row.unless
        for value in passed.get(name, ())
    )


def _is_given(ctx: FileContext, value: ast.expr, row: MappingRow) -> bool:
    """Whether an argument is one of the values a row speaks about, or is asked of the GPU like one of them."""
    assert row.given is not None
    if isinstance(value, ast.Name):
        bindings = ctx.index.flow.reaching(value)
        if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path:
            return bindings[0].value is not None and _asked(ctx, bindings[0].value) in row.given
    if isinstance(value, ast.IfExp) and row.action in ("drop-argument", "set-argument"):
        return _asked(ctx, value.test) == "torch.cuda.is_available()" and _is_among(value.body, row.given)
    return _is_among(value, row.given) or _asked(ctx, value) in row.given


def _asked(ctx: FileContext, value: ast.expr) -> str:
    """A call without arguments (or ``not`` one) under its qualified name; empty for anything else."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        asked = _asked(ctx, value.operand)
        return f"not {asked}" if asked else ""
    if not isinstance(value, ast.Call) or value.args or value.keywords:
        return ""
    name = ctx.index.qualified_name(value.func)
    return f"{name}()" if name else ""


def _is_among(value: ast.expr, values: tuple[object, ...]) -> bool:
    """Whether an expression is one of some constants; 1 == True, so types are compared as well."""
    number = value.operand if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub) else None
    if isinstance(number, ast.Constant) and isinstance(number.value, int | float):
        value = ast.Constant(-number.value)
    return isinstance(value, ast.Constant) and any(
        type(value.value) is type(item) and value.value == item for item in values
    )
