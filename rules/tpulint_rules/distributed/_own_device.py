"""Each process drives one device: the number of devices in files that start no processes, and what is chosen by it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import FUNCTIONS
from tpulint.semantic.devices.device_counts import COUNTERS

_SEVERAL_PROCESSES = r"\b(?:LOCAL_RANK|RANK|WORLD_SIZE)\b|\blocal_rank\b|\baccelerate\b|\bdeepspeed\b"
_NAMES = ("torch.cuda.get_device_name", "torch_xla.runtime.device_type")
_ONE = {(ast.Gt, 0), (ast.GtE, 1), (ast.NotEq, 0), (ast.Eq, 0), (ast.Lt, 1), (ast.LtE, 0)}
"""Comparisons whose answer differs between no device and one."""


def count_one(ctx: FileContext, node: ast.expr, counted: Sequence[ast.Call] = ()) -> FixBuilder | None:
    """A fix that says 1 wherever the number behind an expression is asked for, or what torchrun says.

    ``counted`` are the calls that ask for it, where PyTorch is not asked. None where processes are started otherwise.
    """
    index = ctx.index
    if index.launches:
        return None
    asks_rank = any(index.calls_to("torch.distributed.get_rank", "torch.distributed.get_world_size"))
    if index.process_groups.joins or asks_rank:  # another file may have joined the group
        if index.mentions("SLURM|OMPI_|MPI"):
            return None  # the launcher is not torchrun
        reason = "torchrun starts one process for each XLA device of this machine, and says how many."
        fix = ctx.fix("Count the processes of this machine", Applicability.UNSAFE, reason, Scope.MODULE)
        text = f'int({fix.use("os", at=node)}.environ.get("LOCAL_WORLD_SIZE", 1))'
    elif index.mentions(_SEVERAL_PROCESSES):
        return None
    else:
        reason = "One process drives one XLA device; with `torch_xla.launch` there are as many processes as devices."
        fix = ctx.fix("Count the one device of this process", Applicability.UNSAFE, reason, Scope.MODULE)
        text = "1"
    if index.qualified_name(node) in COUNTERS:
        fix.replace(node, f"lambda: {text}")
        return fix
    for call in counted or ([node] if node in index.device_counts.calls else index.device_counts.calls):
        if isinstance(index.parent(call), ast.Compare) and not counted:
            continue
        if _is_shown(ctx, call) or is_shut_out(ctx, call):
            continue
        product = index.parent(call)
        statement = index.statement_of(call)
        if text == "1" and _changes_nothing(ctx, statement, call) and not fix.has_comment(statement):
            fix.delete(statement)
            continue
        factor = _other_factor(ctx, product, call) if text == "1" and isinstance(product, ast.BinOp) else None
        if factor is not None and product is not None and "#" not in ctx.text(product):
            fix.replace(product, ctx.text(factor))
        else:
            fix.replace(call, text)
    return fix


def _other_factor(ctx: FileContext, product: ast.BinOp, call: ast.expr) -> ast.expr | None:
    """What stands beside the number: ``64`` of ``64 * torch.cuda.device_count()``, ``size`` of ``size // n``.

    Not of ``lr = lr * torch.cuda.device_count()``, of which ``lr = lr`` would be left.
    """
    factor = product.left if product.right is call else product.right
    holder = ctx.index.parent(product)
    if isinstance(holder, ast.Assign) and ctx.text(holder.targets[0]) == ctx.text(factor):
        return None
    is_one = isinstance(factor, ast.Name | ast.Attribute | ast.Constant | ast.Call | ast.Subscript)
    return factor if is_one and _keeps(product.op, factor is product.left) else None


def _keeps(operator: ast.operator, is_right: bool) -> bool:
    """Whether a whole number stays as it is with 1, on its right or its left."""
    return isinstance(operator, ast.Mult) or (isinstance(operator, ast.FloorDiv) and is_right)


def _changes_nothing(ctx: FileContext, statement: ast.stmt, call: ast.expr) -> bool:
    """``batch_size = batch_size * torch.cuda.device_count()`` where the number is 1, or ``batch_size *= ...``."""
    if isinstance(statement, ast.AugAssign):
        return statement.value is call and _keeps(statement.op, is_right=True)
    product = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or not isinstance(product, ast.BinOp) or len(statement.targets) != 1:
        return False
    if call not in (product.left, product.right) or not _keeps(product.op, product.right is call):
        return False
    factor = product.left if product.right is call else product.right
    return ctx.text(statement.targets[0]) == ctx.text(factor)


def is_for_several(ctx: FileContext, node: ast.expr) -> bool:
    """Whether code runs only where there are several devices: ``if n > 1: batch_size // n``."""
    child: ast.AST = node
    for ancestor in ctx.index.tree.ancestors(node):
        if isinstance(ancestor, ast.If) and child in ancestor.body and ctx.index.device_counts.answer(ancestor.test):
            return True
        child = ancestor
    return False


def is_shut_out(ctx: FileContext, node: ast.AST) -> bool:
    """Whether a condition around a node asks for GPUs: ``if n > 1 and batch_size: assert batch_size % n == 0``."""
    child = node
    for ancestor in ctx.index.tree.ancestors(node):
        if isinstance(ancestor, FUNCTIONS):
            break
        asked: list[ast.expr] = []
        is_branch = isinstance(ancestor, ast.If) and child in ancestor.body
        if isinstance(ancestor, ast.If | ast.IfExp) and (is_branch or child is ancestor.body):
            asked = _conjuncts(ancestor.test)
        elif isinstance(ancestor, ast.BoolOp) and isinstance(ancestor.op, ast.And) and isinstance(child, ast.expr):
            asked = ancestor.values[: ancestor.values.index(child)]
        if any(_fails_at_zero(ctx, part) for part in asked):
            return True
        child = ancestor
    return False


def _conjuncts(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _fails_at_zero(ctx: FileContext, test: ast.expr) -> bool:
    """``n``, ``n > 1``, ``n >= 1``, ``n != 0``"""
    counts = ctx.index.device_counts
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return counts.is_zero(test)
    bound = test.comparators[0]
    least = bound.value if isinstance(bound, ast.Constant) else None
    if not isinstance(least, int) or not counts.is_zero(test.left):
        return False
    operator = test.ops[0]
    return (
        (isinstance(operator, ast.Gt) and least >= 0)
        or (isinstance(operator, ast.GtE | ast.Eq) and least > 0)
        or (isinstance(operator, ast.NotEq) and least == 0)
    )


def choices(ctx: FileContext) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Calls that ask for the number, where a variable that holds it decides between device and host."""
    index = ctx.index
    if index.guards.knows_xla():
        return  # several backends: the number is what keeps CUDA's branch apart
    counts, features = index.device_counts, index.devices.features
    calls = [call for call in counts.calls if _is_kept(index.parent(call), call)]
    if not calls:
        return
    for node in index.tree.parents:
        if isinstance(node, ast.expr) and _asks_for_one(ctx, node) and features.placement.is_decided_by(node):
            yield from ((call, node) for call in calls)
            return


def _is_kept(parent: ast.AST | None, call: ast.Call) -> bool:
    """``n = torch.cuda.device_count()``, ``n = 0 if args.no_cuda else torch.cuda.device_count()``"""
    if isinstance(parent, ast.IfExp):
        return parent.test is not call
    return isinstance(parent, ast.Assign | ast.AnnAssign | ast.Call)


def _asks_for_one(ctx: FileContext, node: ast.expr) -> bool:
    """``n > 0``, or ``n`` itself as a condition, where n holds the number."""
    counts = ctx.index.device_counts
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        right = node.comparators[0]
        return (
            isinstance(right, ast.Constant)
            and (type(node.ops[0]), right.value) in _ONE
            and node.left not in counts.calls  # asks it straight away; another rule answers
            and counts.is_count(node.left)
        )
    if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
        return False
    parent = ctx.index.parent(node)
    is_condition = (
        (isinstance(parent, ast.If | ast.IfExp) and parent.test is node)
        or isinstance(parent, ast.BoolOp)
        or (isinstance(parent, ast.UnaryOp) and type(parent.op) is ast.Not)
    )
    return is_condition and counts.is_count(node)


def is_told_with_name(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a message tells the number beside the name of the device, which is that of XLA by now or soon will be.

    ``print("{} x {}".format(torch.cuda.device_count(), torch.cuda.get_device_name(0)))``
    """
    index, statement = ctx.index, ctx.index.statement_of(call)
    holder = index.parent(call)
    is_counted = isinstance(holder, ast.Call) and index.qualified_name(holder.func) == "builtins.range"
    if not isinstance(statement, ast.Expr) or is_counted or _is_shown(ctx, call):
        return False
    if index.devices.is_guarded(call) or index.devices.is_asked_for(call) or is_shut_out(ctx, call):
        return False
    return any(index.tree.encloses(statement, other) for other in index.calls_to(*_NAMES))


def _is_shown(ctx: FileContext, call: ast.Call) -> bool:
    """Whether the number stands in an f-string, where nothing is rewritten."""
    return any(isinstance(ancestor, ast.JoinedStr) for ancestor in ctx.index.tree.ancestors(call))
