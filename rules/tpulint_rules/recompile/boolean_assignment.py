"""Writing where a mask is true: done by asking the mask, on the host, where that is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import Kind
from tpulint.semantic.sizes.byte_masks import chooses_by_bytes

_WRITTEN = (Kind.TENSOR, Kind.UNKNOWN)
"""What a mask of the device may choose of; where that lies on the host, the mask is fetched."""
_MASKS = r"(?:\w+_)?(?:dones?|terminals?|terminated|truncated)(?:_mask|_batch|_flags?)?|is_\w+"
"""Names of tensors that say yes or no of each element."""
_BY_NAME = "If it holds truth values, write with `masked_fill_`, which reads none of them"
_SAME = "The same elements get the same value, in place."
_ROWS = (
    "Both tensors have the shape of the mask, but for dimensions behind it: otherwise this raises where torch did not."
)


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists:
        return
    for node in index.turn_code.nodes(ast.Subscript):
        turn = index.turn_code.turn_of(node)
        if isinstance(node.ctx, ast.Load) or turn is None or index.kind(node.value) not in _WRITTEN:
            continue
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        is_bytes = any(chooses_by_bytes(index, item) for item in items)
        if not is_bytes and not any(index.masks.is_mask(item) for item in items):
            if _is_named_mask(ctx, node):
                yield ctx.finding(
                    node,
                    f"`{ctx.text(node)} = ...` reads `{ctx.text(node.slice)}` on the host in every {turn} if it is a "
                    "mask, and compiles again for each number of true elements",
                    certainty=Certainty.LIKELY,
                    help=_BY_NAME,
                )
            continue
        certain = index.value(node.value).certain
        yield ctx.finding(
            node,
            f"`{ctx.text(node)} = ...` reads the mask on the host in every {turn}, "
            "and compiles again for each number of true elements",
            _fix(ctx, node, certain) if index.is_device_tensor(node.value) and not is_bytes else None,
            certainty=Certainty.CERTAIN if certain else Certainty.LIKELY,
        )


def _is_named_mask(ctx: FileContext, node: ast.Subscript) -> bool:
    """``q_target[dones] = 0.0``, of a tensor of the device whose type nobody tells: its name says what it is for."""
    index, mask, statement = ctx.index, node.slice, ctx.index.parent(node)
    if not isinstance(mask, ast.Name) or re.fullmatch(_MASKS, mask.id) is None:
        return False
    if not isinstance(statement, ast.Assign) or statement.targets != [node] or not _is_number(ctx, statement.value):
        return False
    made = [one.value for one in index.flow.reaching(mask) if one.value is not None]
    lists = [node for value in made for node in ast.walk(value) if isinstance(node, ast.List)]
    if any(isinstance(item, ast.Constant) and type(item.value) is int for one in lists for item in one.elts):
        return False
    are_there = index.is_device_tensor(node.value) and index.is_device_tensor(mask)
    return are_there and not index.number_types.is_integer(mask)


def _fix(ctx: FileContext, node: ast.Subscript, certain: bool) -> FixBuilder | None:
    """``masked_fill_`` for a number, ``copy_(where(...))`` for a tensor chosen by the same mask."""
    index, statement = ctx.index, ctx.index.parent(node)
    fix = ctx.fix("Write through the mask", Applicability.SAFE if certain else Applicability.UNSAFE, _SAME)
    target, mask = node.value, node.slice
    same = index.masks.is_mask_of(target, mask)
    text, mask_text = ctx.text(target), ctx.text(mask)
    if isinstance(statement, ast.AugAssign) and same and _is_number(ctx, statement.value):
        sign = ctx.text(node), ctx.text(statement)[len(ctx.text(node)) :].lstrip().split("=", 1)[0]
        new = f"{text} {sign[1]} {fix.text(statement.value)}"
        fix.lower(
            Applicability.UNSAFE, "The new value is computed for all elements; where it overflows, so may gradients."
        )
    elif not isinstance(statement, ast.Assign) or statement.targets != [node]:
        return None
    elif _is_number(ctx, statement.value):
        if _has_fraction(statement.value) and index.number_types.is_integer(target):
            return None
        if isinstance(mask, ast.Tuple):
            return None
        if not same and not isinstance(mask, ast.Name):
            name = _name_mask(ctx, fix, statement, mask_text)
            if name is None:
                return None
            mask_text = name
        dims = "" if same else f".view({mask_text}.shape + (1,) * ({text}.dim() - {mask_text}.dim()))"
        fix.replace(statement, f"{text}.masked_fill_({mask_text}{dims}, {ctx.text(statement.value)})")
        return fix
    elif same and _is_same_choice(ctx, statement.value, mask, target):
        assert isinstance(statement.value, ast.Subscript)
        new = ctx.text(statement.value.value)
    elif not same and _is_choice(ctx, statement.value, mask):
        return _write_rows(ctx, fix, statement, node)
    else:
        return None
    torch = fix.use("torch", at=node)
    fix.replace(statement, f"{text}.copy_({torch}.where({mask_text}, {new}, {text}))")
    return fix


def _write_rows(ctx: FileContext, fix: FixBuilder, statement: ast.Assign, node: ast.Subscript) -> FixBuilder | None:
    """``x[mask] = y[mask]``, where the mask may have fewer dimensions: it chooses rows."""
    assert isinstance(statement.value, ast.Subscript)
    text, mask = ctx.text(node.value), ctx.text(node.slice)
    if not isinstance(node.slice, ast.Name):
        name = _name_mask(ctx, fix, statement, mask)
        if name is None:
            return None
        mask = name
    fix.lower(Applicability.UNSAFE, _ROWS)
    rows = f"{mask}.view({mask}.shape + (1,) * ({text}.dim() - {mask}.dim()))"
    new = f"{fix.use('torch', at=node)}.where({rows}, {ctx.text(statement.value.value)}, {text})"
    fix.replace(statement, f"{text}.copy_({new})")
    return fix


def _name_mask(ctx: FileContext, fix: FixBuilder, statement: ast.stmt, mask: str) -> str | None:
    """A variable for a mask that is needed more than once; None where the names for it are taken."""
    taken = ctx.index.xla_devices.is_taken
    name = next((name for name in ("mask", "chosen") if not taken(name, statement)), None)
    if name is not None:
        fix.insert_before(statement, f"{name} = {mask}")
    return name


def _is_number(ctx: FileContext, node: ast.expr, depth: int = 0) -> bool:
    """Whether a value is certainly a single Python number."""
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float, bool)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return _is_number(ctx, node.operand, depth)
    if isinstance(node, ast.BinOp):
        return _is_number(ctx, node.left, depth) and _is_number(ctx, node.right, depth)
    name = ctx.index.qualified_name(node.func if isinstance(node, ast.Call) else node)
    if name in (
        "builtins.float",
        "builtins.int",
        "math.inf",
        "math.nan",
        "torch.inf",
        "torch.nan",
        "numpy.inf",
        "numpy.nan",
    ):
        return True
    if isinstance(node, ast.Attribute) and node.attr in ("min", "max", "eps", "tiny"):
        inner = node.value
        return isinstance(inner, ast.Call) and ctx.index.qualified_name(inner.func) in ("torch.finfo", "torch.iinfo")
    if isinstance(node, ast.Name) and depth < 4 and ctx.index.kind(node) is Kind.HOST:
        values = [b.value if b.kind == "assign" and not b.path else None for b in ctx.index.flow.reaching(node)]
        return bool(values) and all(value is not None and _is_number(ctx, value, depth + 1) for value in values)
    return False


def _has_fraction(node: ast.expr) -> bool:
    return any(
        not isinstance(item, ast.Constant) or isinstance(item.value, float)
        for item in ast.walk(node)
        if isinstance(item, ast.Constant | ast.Name | ast.Attribute | ast.Call)
    )


def _is_same_choice(ctx: FileContext, value: ast.expr, mask: ast.expr, target: ast.expr) -> bool:
    """``y[mask]`` of a tensor of the same shape, by the same mask."""
    same = isinstance(value, ast.Subscript) and ctx.index.masks.have_one_shape(value.value, target)
    return same and _is_choice(ctx, value, mask)


def _is_choice(ctx: FileContext, value: ast.expr, mask: ast.expr) -> bool:
    """``y[mask]``, by the same mask."""
    return (
        isinstance(value, ast.Subscript)
        and ast.dump(value.slice) == ast.dump(mask)
        and ctx.index.masks.is_mask(mask)
        and ctx.index.is_device_tensor(value.value)
    )
