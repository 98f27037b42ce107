"""Which of several GPUs a place of a file chooses, as text that can be handed on."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.semantic.devices.device_sites import device_argument


def number_text(ctx: FileContext, fix: FixBuilder, node: ast.expr) -> str:
    """Text of the number that chooses among GPUs; empty for none, and for the first."""
    number = _number_node(ctx, node)
    if number is None:
        return ""
    if isinstance(number, str):
        return "" if number == "0" else number
    if isinstance(number, ast.Constant):
        return "" if number.value == 0 else ctx.text(number)
    counted = ctx.index.device_counts.calls
    if isinstance(number, ast.BinOp) and isinstance(number.op, ast.Mod) and number.right in counted:
        # the number of GPUs, where that is not 0
        return f"{fix.text(number.left)} % max({ctx.text(number.right)}, 1)"
    if any(isinstance(item, ast.Call) for item in (number, *ctx.index.tree.inside(number))) and not _reads_variable(
        ctx, number
    ):
        fix.give_up()  # a call that may fail where there is no GPU, such as a remainder of their count
    return ctx.text(number)


def _number_node(ctx: FileContext, node: ast.expr) -> ast.expr | str | None:
    if isinstance(node, ast.Constant):
        return node if not isinstance(node.value, str) else node.value.partition(":")[2] or None
    if isinstance(node, ast.JoinedStr):
        last = node.values[-1]
        if isinstance(last, ast.FormattedValue):
            return last.value
        return str(last.value).partition(":")[2] if isinstance(last, ast.Constant) else None
    if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
        right = node.right
        if isinstance(right, ast.Call) and ctx.index.qualified_name(right.func) == "builtins.str" and right.args:
            return right.args[0]  # "cuda:" + str(i)
        return right.elts[0] if isinstance(right, ast.Tuple) and len(right.elts) == 1 else right
    if isinstance(node, ast.Call):
        name = ctx.index.qualified_name(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "format" and name is None:
            return node.args[0] if node.args else None
        if name in ("torch.accelerator.current_accelerator", "torch_geometric.device"):
            return None
        if name == "torch.device":
            return _number_of_device(ctx, node)
    return None if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call) else node


def _number_of_device(ctx: FileContext, call: ast.Call) -> ast.expr | str | None:
    """``torch.device("cuda", 1)``, ``torch.device("cuda:1")``, ``torch.device(rank)``."""
    given = [*call.args[1:2], *(item.value for item in call.keywords if item.arg == "index")]
    if given:
        return given[0]
    first = device_argument(call)
    return None if first is None else _number_node(ctx, first)


def _reads_variable(ctx: FileContext, number: ast.expr) -> bool:
    """``int(os.environ["LOCAL_RANK"])`` and its like, which read what is there on any machine."""
    calls = [item for item in (number, *ctx.index.tree.inside(number)) if isinstance(item, ast.Call)]
    names = (ctx.index.qualified_name(call.func) for call in calls)
    return all(name in ("builtins.int", "os.getenv", "os.environ.get", "torch.distributed.get_rank") for name in names)
