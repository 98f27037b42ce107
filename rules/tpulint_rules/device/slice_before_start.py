"""``tokens[:, -n:]`` of a text that is shorter than ``n`` at first, while it is generated."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import Side

_JOINS = ("torch.cat", "torch.concat", "torch.concatenate")
_CHOICES = frozenset({"multinomial", "argmax", "topk"})
_LENGTHS = ("size(", "shape", "len(")
_DEPTH = 6


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for join in index.calls_to(*_JOINS):
        statement, loop = index.parent(join), index.tree.loop_of(join)
        if loop is None or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target, dimension = statement.targets[0], _dimension(join)
        if not isinstance(target, ast.Name) or dimension is None or not _adds_choice(ctx, join, target.id):
            continue
        cut = [part for part in _parts_of(ctx, loop, dimension) if _name(part) == target.id]
        counts = {ctx.text(count) for part in cut if (count := _count(part, dimension)) is not None}
        for part in _parts_of(ctx, loop, dimension):
            count = _count(part, dimension)
            if count is not None and ctx.text(count) in counts:  # a mask beside the text is as short
                name = _name(part)
                yield ctx.finding(
                    part,
                    f"`{ctx.text(part)}` fails while `{name}` is shorter than `{ctx.text(count)}`: "
                    "XLA takes no start before the beginning",
                    _fix(ctx, count, f"{name}.size({dimension})"),
                    certainty=Certainty.LIKELY,
                )


def _parts_of(ctx: FileContext, loop: ast.AST, dimension: int) -> list[ast.Subscript]:
    """What a loop takes from the end of variables that may be shorter."""
    return [
        node
        for node in ctx.index.tree.inside(loop)
        if isinstance(node, ast.Subscript)
        and _name(node)
        and _count(node, dimension) is not None
        and _may_be_shorter(ctx, node, node.value, _name(node))
    ]


def _name(part: ast.Subscript) -> str:
    return part.value.id if isinstance(part.value, ast.Name) else ""


def _dimension(join: ast.Call) -> int | None:
    given = [*join.args[1:2], *(item.value for item in join.keywords if item.arg in ("dim", "axis"))]
    if not given:
        return 0
    node, sign = given[0], 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, sign = node.operand, -1
    return sign * node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _adds_choice(ctx: FileContext, join: ast.Call, name: str) -> bool:
    """Whether a text grows by a token that was drawn: what it began with may have had any length."""
    items = join.args[0] if join.args else None
    if not isinstance(items, ast.List | ast.Tuple) or len(items.elts) != 2:
        return False
    first, new = items.elts
    return isinstance(first, ast.Name) and first.id == name and _is_choice(ctx, new, 0)


def _is_choice(ctx: FileContext, node: ast.expr, depth: int) -> bool:
    if depth > _DEPTH:
        return False
    for item in (node, *ctx.index.tree.inside(node)):
        if isinstance(item, ast.Call) and isinstance(item.func, ast.Attribute) and item.func.attr in _CHOICES:
            return True
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load):
            values = [b.value for b in ctx.index.flow.reaching(item) if b.kind == "assign" and b.value is not None]
            if any(_is_choice(ctx, value, depth + 1) for value in values):
                return True
    return False


def _count(part: ast.Subscript, dimension: int) -> ast.expr | None:
    """``n`` of ``[:, -n:]``, where it is the dimension that grows."""
    parts = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
    dotted = isinstance(parts[0], ast.Constant) and parts[0].value is ...
    plain = all(isinstance(item, ast.Slice) for item in parts)
    last = parts[-1] if (dotted and len(parts) == 2) or (plain and len(parts) > 1) else None
    if dimension == -1:
        found = last
    else:
        found = parts[dimension] if plain and 0 <= dimension < len(parts) else None
    if not isinstance(found, ast.Slice) or found.upper is not None or found.step is not None:
        return None
    start = found.lower
    if not isinstance(start, ast.UnaryOp) or not isinstance(start.op, ast.USub):
        return None
    if isinstance(start.operand, ast.Constant):
        return start.operand if type(start.operand.value) is int and start.operand.value > 1 else None
    return start.operand if isinstance(start.operand, ast.Name | ast.Attribute) else None


def _may_be_shorter(ctx: FileContext, part: ast.Subscript, use: ast.expr, name: str) -> bool:
    """Whether nothing looks at the length before, and the text may be on the device."""
    index = ctx.index
    value = index.value(use)
    if value.side is Side.HOST:
        return False
    owner = index.tree.class_of(part)
    if not index.kinds.mentions_device and (owner is None or not index.definitions.is_module_class(owner)):
        return False
    for ancestor in index.tree.ancestors(part):
        text = ctx.text(ancestor.test) if isinstance(ancestor, ast.If | ast.IfExp) else ""
        if name in text and any(word in text for word in _LENGTHS):
            return False
    return True


def _fix(ctx: FileContext, count: ast.expr, size: str) -> FixBuilder | None:
    if ctx.index.names.find("min", ctx.index.names.scope_of(count)) is not None:
        return None
    fix = ctx.fix("Begin where the tensor begins", Applicability.UNSAFE, "The part is the same on every device.")
    fix.replace(count, f"min({ctx.text(count)}, {size})")
    return fix
