"""Rows, or embeddings, chosen by one of the two results of an operation: torch_xla ends the process."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder, short
from tpulint.model import Applicability, Certainty, Finding, Severity
from tpulint.semantic import Side
from tpulint_rules.device._paired_results import PairedResults

_CHOOSING = frozenset({
    "index_select", "index_add", "index_add_", "index_copy", "index_copy_", "index_fill", "index_fill_",
})  # fmt: skip
"""Methods of a tensor, whose second argument are the rows; as functions they take the tensor first."""
_EMBEDDING = "torch.nn.Embedding"
_KNOWS_DEVICES = r"\b(?:cuda|torch_xla|xla)\b"
_SAME = "It is the same tensor, made by another operation."
_LIKELY = "It is the same tensor, made by another operation; that it lies on the device is likely, no more."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    paired = PairedResults(index)
    for call in index.calls:
        rows = _rows(ctx, call)
        made = None if rows is None else paired.made_by(rows)
        if rows is None or made is None or not _is_on_device(ctx, rows):
            continue
        value = index.value(rows)
        is_certain = value.side is Side.DEVICE and value.certain
        yield ctx.finding(
            rows,
            f"rows are chosen by `{short(ctx.text(rows))}`, one of the two results of `{short(ctx.text(made))}`: "
            "torch_xla ends the process there",
            _with_operation(ctx, rows, is_certain),
            severity=Severity.ERROR,
            certainty=Certainty.CERTAIN if is_certain else Certainty.LIKELY,
            related=((index.span(made), "the two results are made here"),),
        )


def _rows(ctx: FileContext, call: ast.Call) -> ast.expr | None:
    """What rows a call chooses by, ``x.index_select(0, rows)``, ``F.embedding(rows, weight)`` and ``layer(rows)``."""
    index = ctx.index
    name = index.qualified_name(call.func)
    if any(isinstance(item, ast.Starred) for item in call.args):
        return None
    if name is None and isinstance(call.func, ast.Attribute) and call.func.attr in _CHOOSING:
        return _argument(call, 1, "index")
    if name is not None and name.removeprefix("torch.") in _CHOOSING:
        return _argument(call, 2, "index")
    if name == "torch.nn.functional.embedding":
        return _argument(call, 0, "input")
    if name is None and len(call.args) == 1 and not call.keywords and _is_embedding(ctx, call.func):
        return call.args[0]
    return None


def _argument(call: ast.Call, at: int, keyword: str) -> ast.expr | None:
    given = [item.value for item in call.keywords if item.arg == keyword]
    return call.args[at] if len(call.args) > at else given[0] if given else None


def _is_embedding(ctx: FileContext, layer: ast.expr) -> bool:
    if not isinstance(layer, ast.Name | ast.Attribute | ast.Subscript):
        return False
    index = ctx.index
    made = [one.node for item in index.members_of(layer) for one in index.moves.creations.of(item) if not one.path]
    names = {index.qualified_name(one.func) if isinstance(one, ast.Call) else None for one in made}
    return names == {_EMBEDDING}


def _is_on_device(ctx: FileContext, rows: ast.expr) -> bool:
    """Whether the rows are known to lie on the device, or are asked for by a module of a project that uses one."""
    index = ctx.index
    side = index.value(rows).side
    if side is not Side.UNKNOWN:
        return side is Side.DEVICE
    owner = index.tree.class_of(rows)
    if owner is None or not index.definitions.is_module_class(owner):
        return False
    return index.mentions(_KNOWS_DEVICES) or any(
        other.mentions(_KNOWS_DEVICES) for word in ("cuda", "xla") for other in index.imported.others_mentioning(word)
    )


def _with_operation(ctx: FileContext, rows: ast.expr, is_certain: bool) -> FixBuilder:
    applicability = Applicability.SAFE if is_certain else Applicability.UNSAFE
    fix = ctx.fix("Choose by the sum with 0", applicability, _SAME if is_certain else _LIKELY)
    fix.append(rows, " + 0")
    return fix
