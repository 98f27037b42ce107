"""Parts of a batch that are passed to a wrapped model as the loader gave them, beside parts that are moved."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from tpulint.context import FileContext
from tpulint.semantic import Binding, Kind, Side

TEXTS = r"(?i)name|path|file|text|caption|sentence|word|prompt|question|answer|report|url|meta|info|lang|str"
"""What parts are called that come as lists of texts: what is not a tensor has no ``to``."""
_BESIDE = r"\b(?:enumerate|zip)\("
"""What puts something else beside a batch."""
_Batch = tuple[ast.AST, tuple[int, ...]]
"""The loop that deals it out, and where it lies in what the loop is given."""


def parts_left(ctx: FileContext, call: ast.Call) -> Iterator[ast.expr]:
    """``data["target"]`` of ``model(data["image"].cuda(), data["target"])``, in lists that are written out as well.

    A wrapper gives each GPU its share of all tensors, moved before or not. The parts of one batch are made by the same
    loader, so what lies beside a part that is moved is a tensor, too, unless its name says that it is a text.
    """
    given = list(_items([*call.args, *(keyword.value for keyword in call.keywords if keyword.arg is not None)]))
    batches = {batch for item in given if (batch := _batch_moved(ctx, item)) is not None}
    for item in given if batches else ():
        batch = _batch_of(ctx, item)
        value = ctx.index.value(item)
        is_open = value.kind in (Kind.UNKNOWN, Kind.TENSOR) and value.side is not Side.DEVICE
        if batch in batches and is_open and not re.search(TEXTS, _name_of(item)):
            yield item


def _items(given: Iterable[ast.expr]) -> Iterator[ast.expr]:
    for item in given:
        if isinstance(item, ast.List | ast.Tuple):
            yield from _items(item.elts)
        else:
            yield item


def _batch_moved(ctx: FileContext, item: ast.expr) -> _Batch | None:
    """The batch that an item is a part of which is moved, where it is passed or in front of that."""
    if isinstance(item, ast.Name):
        bindings = ctx.index.flow.reaching(item)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        return None if value is None or isinstance(value, ast.Name) else _batch_moved(ctx, value)
    is_moved = False
    while isinstance(item, ast.Call) and isinstance(item.func, ast.Attribute):
        is_moved |= ctx.index.moves.to_device(item) is not None
        item = item.func.value
    return _batch_of(ctx, item) if is_moved else None


def _batch_of(ctx: FileContext, item: ast.expr) -> _Batch | None:
    """The batch that an item is a part of: ``y`` of ``for x, y in loader``, ``data["y"]`` of ``for data in loader``."""
    if isinstance(item, ast.Subscript) and isinstance(item.slice, ast.Constant):
        dealt = _dealt(ctx, item.value)
        return None if dealt is None or _is_changed(ctx, item.value) else (dealt.statement, dealt.path)
    dealt = _dealt(ctx, item)
    if dealt is None or not dealt.path:
        return None
    is_beside = dealt.value is not None and re.search(_BESIDE, ctx.text(dealt.value)) is not None
    return None if is_beside and len(dealt.path) == 1 else (dealt.statement, dealt.path[:-1])


def _dealt(ctx: FileContext, node: ast.expr) -> Binding | None:
    """The loop that gives a variable its value, and nothing else does."""
    bindings = ctx.index.flow.reaching(node) if isinstance(node, ast.Name) else ()
    is_dealt = len(bindings) == 1 and bindings[0].kind == "loop" and isinstance(bindings[0].statement, ast.For)
    return bindings[0] if is_dealt else None


def _is_changed(ctx: FileContext, batch: ast.expr) -> bool:
    """Whether something is put in place of a part of a batch: ``data["y"] = data["y"].cuda()``."""
    loads = ctx.index.names.loads_of(batch) if isinstance(batch, ast.Name) else []
    parts = (ctx.index.parent(load) for load in loads)
    return any(isinstance(part, ast.Subscript) and not isinstance(part.ctx, ast.Load) for part in parts)


def _name_of(item: ast.expr) -> str:
    if isinstance(item, ast.Subscript) and isinstance(item.slice, ast.Constant):
        return str(item.slice.value)
    return item.id if isinstance(item, ast.Name) else ""
