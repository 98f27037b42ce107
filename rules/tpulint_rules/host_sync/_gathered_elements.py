"""Tensors that the host puts together of single elements of one on the device, each of which it reads."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability
from tpulint.semantic import Read

_CASTS = {"LongTensor": ".long()", "IntTensor": ".int()", "FloatTensor": ".detach().float()", "tensor": ".detach()"}
_MOVES = ("to", "cuda")
_THERE = "The elements stay on the device: what takes the tensor has to take one of the device."


def gathered(ctx: FileContext, read: Read) -> FixBuilder | None:
    """``x[:n, 0].unsqueeze(0)`` for ``torch.LongTensor([[x[i][0] for i in range(n)]])``, where that is moved."""
    call = read.node
    if not isinstance(call, ast.Call) or len(call.args) != 1 or call.keywords or not _is_moved(ctx, call):
        return None
    head, _, last = (ctx.index.qualified_name(call.func) or "").rpartition(".")
    cast = _CASTS.get(last) if head == "torch" else None
    value, dimensions = call.args[0], 0
    while isinstance(value, ast.List) and len(value.elts) == 1:
        value, dimensions = value.elts[0], dimensions + 1
    rows = _rows(ctx, value) if isinstance(value, ast.ListComp) else None
    if cast is None or rows is None:
        return None
    fix = ctx.fix("Take the elements on the device", Applicability.UNSAFE, _THERE)
    fix.replace(call, f"{rows}{'.unsqueeze(0)' * dimensions}{cast}")
    return fix


def _rows(ctx: FileContext, value: ast.ListComp) -> str | None:
    """``x[:n, 0]`` for ``[x[i][0] for i in range(n)]``, and ``x[:n]`` for ``[x[i] for i in range(n)]``."""
    source = value.generators[0]
    count = source.iter
    if len(value.generators) > 1 or source.ifs or not isinstance(source.target, ast.Name):
        return None
    if not isinstance(count, ast.Call) or ctx.index.qualified_name(count.func) != "builtins.range":
        return None
    if len(count.args) != 1 or isinstance(count.args[0], ast.Starred):
        return None
    picked, column = value.elt, ""
    if isinstance(picked, ast.Subscript) and isinstance(picked.slice, ast.Constant):
        column = f", {ctx.text(picked.slice)}"
        picked = picked.value
    if not isinstance(picked, ast.Subscript) or not isinstance(picked.value, ast.Name | ast.Attribute):
        return None
    if not isinstance(picked.slice, ast.Name) or picked.slice.id != source.target.id:
        return None
    return f"{ctx.text(picked.value)}[:{ctx.text(count.args[0])}{column}]"


def _is_moved(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a tensor goes to the device where it is made, or by the next statement: ``x = x.to(device)``."""
    index = ctx.index
    if isinstance(user := index.parent(call), ast.Attribute):
        return user.attr in _MOVES
    statement = index.statement_of(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is call else None
    suite = index.tree.suite_of(statement)
    behind = suite[suite.index(statement) + 1 :][:1]
    move = behind[0] if behind else None
    value = move.value if isinstance(move, ast.Assign) else None
    if not isinstance(move, ast.Assign) or not isinstance(value, ast.Call) or not isinstance(target, ast.Name):
        return False
    moves = isinstance(value.func, ast.Attribute) and value.func.attr in _MOVES
    names = [index.text(item) for item in move.targets]
    return moves and isinstance(value.func, ast.Attribute) and names == [target.id] == [index.text(value.func.value)]
