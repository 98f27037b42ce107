"""Boxes of a device tensor that are overwritten: of another size each time in brackets, of one size as a mask."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability

_MASKED = "The same elements are written, through a mask made on the host: its upload is one more a step."
_SHAPED_ALIKE = frozenset({"clone", "detach", "flip", "roll"})
"""Methods of a tensor whose result has its shape."""


def masked(ctx: FileContext, statement: ast.stmt, changing: ast.expr) -> FixBuilder | None:
    """``x[:, :, a:b, c:d] = x[order, :, a:b, c:d]`` as a choice, element by element, between two whole tensors."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        return None
    items = _items(target)
    texts = [ctx.text(item) for item in items]
    first = texts.index(ctx.text(changing)) if ctx.text(changing) in texts else 0
    box = items[first:]
    if not first or not all(map(_is_everything, items[:first])) or not all(map(_is_range, box)):
        return None
    fix = ctx.fix("Write through a mask of the box", Applicability.UNSAFE, _MASKED)
    torch = fix.use("torch", at=statement)
    tensor = target.value.id
    name = ctx.index.names.fresh("box", statement)
    written = _written(ctx, statement.value, target, len(items) - first)
    if written is None:
        return None
    start = -len(box) if isinstance(items[0], ast.Constant) else first
    empty = f"{name} = {torch}.zeros({tensor}.shape[{start}:], dtype={torch}.bool)"
    fix.insert_before(statement, f"{empty}\n{name}[{', '.join(texts[first:])}] = True")
    mask = f"{name}.to({tensor}.device)"
    if isinstance(statement.value, ast.Subscript):
        fix.replace(statement, f"{tensor}.copy_({torch}.where({mask}, {written}, {tensor}))")
    else:
        fix.replace(statement, f"{tensor}.masked_fill_({mask}, {written})")
    return fix


def _written(ctx: FileContext, value: ast.expr, target: ast.Subscript, count: int) -> str | None:
    """What is written: a number, or the whole tensor that the same box is taken of."""
    if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
        return ctx.text(value)
    if not isinstance(value, ast.Subscript):
        return None
    items, others = _items(value), _items(target)
    if len(items) != len(others) or not _is_shaped_alike(ctx, value.value, target.value):
        return None
    leading = items[:-count]
    if [ctx.text(item) for item in items[-count:]] != [ctx.text(item) for item in others[-count:]]:
        return None
    while leading and _is_everything(leading[-1]):
        leading.pop()
    chosen = f"[{', '.join(ctx.text(item) for item in leading)}]" if leading else ""
    return f"{ctx.text(value.value)}{chosen}"


def _is_shaped_alike(ctx: FileContext, source: ast.expr, target: ast.expr) -> bool:
    """Whether two tensors are as large, since one is made of the other."""
    return _origin(ctx, source) == _origin(ctx, target)


def _origin(ctx: FileContext, tensor: ast.expr) -> str:
    if isinstance(tensor, ast.Name):
        bindings = ctx.index.flow.reaching(tensor)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        if value is not None and not bindings[0].path and (made := _made_of(value)) is not None:
            return ctx.text(made)
        return tensor.id
    made = _made_of(tensor)
    return ctx.text(tensor) if made is None else ctx.text(made)


def _made_of(value: ast.expr) -> ast.expr | None:
    """The tensor that a copy, or one in another order, is made of."""
    is_call = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)
    return value.func.value if is_call and value.func.attr in _SHAPED_ALIKE else None  # type: ignore[attr-defined]


def _items(node: ast.Subscript) -> list[ast.expr]:
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def _is_everything(item: ast.expr) -> bool:
    """``:`` or ``...``"""
    if isinstance(item, ast.Constant):
        return item.value is ...
    return isinstance(item, ast.Slice) and item.lower is item.upper is item.step is None


def _is_range(item: ast.expr) -> bool:
    return isinstance(item, ast.Slice) and item.step is None
