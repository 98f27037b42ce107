"""Comparisons with the number of GPUs, and tests of it: demands that a TPU machine cannot meet."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Scope, Severity
from tpulint.semantic.cuda.left_out import skips_test
from tpulint.semantic.devices.compared_devices import SEEDING
from tpulint.semantic.functions.passed_over import ends_program
from tpulint.semantic.processes.launches import SPAWN
from tpulint_rules.distributed._own_device import count_one

_STARTERS = ("torch.nn.DataParallel", SPAWN)
_ON_HOST = "this asks for GPUs, and a TPU machine has none: this trains on the host CPU without a word"
_NOT_CHECKED = "The number of devices is no longer checked."
_SEEDED = "The seed is set whatever the number of devices."


def demands(ctx: FileContext, node: ast.Compare) -> Iterator[Finding]:
    """A demand for GPUs: an assertion, a way out of the script, the answer of a function, a branch."""
    if any(not launch.is_xla for launch in ctx.index.launches.launches):
        return  # started processes and the conditions around them belong together
    holder = _holder(ctx, node)
    if isinstance(holder, ast.If) and holder.test is node and _only_seeds(ctx, holder):
        yield from _unseeded(ctx, node)
        return
    exact = _asks_for_exactly(ctx, node)
    wants_many = _wants_many(ctx, node)
    if exact is not None and (isinstance(holder, ast.Assert) or _is_way_out(ctx, holder)):
        wants_many = None if exact is False and _gives_result(holder) else exact
    if wants_many is None or (isinstance(holder, ast.If) and skips_test(holder)):
        return
    if isinstance(holder, ast.Assert) and wants_many:
        message = "this asks for GPUs, and a TPU machine has none: the assertion fails"
    elif _is_way_out(ctx, holder) and not wants_many:
        message = "this asks for GPUs, and a TPU machine has none: the script ends here"
    elif isinstance(holder, ast.If) and not wants_many and _sends_to_host(ctx, holder) and not _is_asked(ctx, node):
        message = _ON_HOST
    elif isinstance(holder, ast.Return) and wants_many:
        message = "this asks for GPUs, and a TPU machine has none: the answer is always no"
    else:
        # without another branch, it is extra work for several GPUs that is left out
        if isinstance(holder, ast.If) and holder.orelse and wants_many and not _starts_many(ctx, holder):
            if ctx.index.devices.is_guarded(node):
                return
            message = "this asks for GPUs, and a TPU machine has none: the branch is never taken"
            yield ctx.finding(node, message, severity=Severity.WARNING)
        return
    count = _count_used_beside(ctx, node) if exact is None else None  # to count one is not enough
    if count is not None:
        yield ctx.finding(node, message, count_one(ctx, count), severity=Severity.ERROR)
        return
    yield _demand(ctx, node, message, wants_many)


def denials(ctx: FileContext, node: ast.UnaryOp) -> Iterator[Finding]:
    """``if not torch.cuda.device_count(): device = "cpu"``"""
    if isinstance(node.op, ast.Not) and ctx.index.device_counts.is_zero(node.operand):
        holder = _holder(ctx, node)
        if isinstance(holder, ast.If) and _sends_to_host(ctx, holder) and not _is_asked(ctx, node.operand):
            yield _demand(ctx, node, _ON_HOST, False)


def _demand(ctx: FileContext, test: ast.expr, message: str, answer: bool) -> Finding:
    """A test that asks for GPUs, which the fix takes to be answered."""
    fix = ctx.fix("Do not ask for GPUs", Applicability.UNSAFE, _NOT_CHECKED, Scope.STATEMENT)
    fix.fold({test: answer}).write()
    return ctx.finding(test, message, fix, severity=Severity.ERROR)


def _only_seeds(ctx: FileContext, condition: ast.If) -> bool:
    """Whether a branch does nothing but seed the device."""
    calls = [item.value for item in condition.body if isinstance(item, ast.Expr) and isinstance(item.value, ast.Call)]
    seeds = [call for call in calls if ctx.index.qualified_name(call.func) in SEEDING]
    return len(seeds) == len(condition.body) and not condition.orelse


def _unseeded(ctx: FileContext, node: ast.Compare) -> Iterator[Finding]:
    """``if args.n_gpu > 0: torch.cuda.manual_seed_all(args.seed)``"""
    if ctx.index.device_counts.answer(node):
        fix = ctx.fix("Seed the device in any case", Applicability.UNSAFE, _SEEDED, Scope.STATEMENT)
        fix.fold({node: True}).write()
        message = "this asks for GPUs, and a TPU machine has none: the device is never seeded"
        yield ctx.finding(node, message, fix, severity=Severity.WARNING)


def _count_used_beside(ctx: FileContext, node: ast.Compare) -> ast.Name | None:
    """The variable that a comparison asks, where its number, 0, is used for more than comparisons."""
    names = ctx.index.names
    for side in (node.left, node.comparators[0]):
        if isinstance(side, ast.Name) and ctx.index.device_counts.is_count(side):
            loads = names.loads(side.id, names.scope_of(side))
            if not all(isinstance(ctx.index.parent(load), ast.Compare) for load in loads):
                return side
    return None


def _wants_many(ctx: FileContext, node: ast.Compare) -> bool | None:
    """Whether the comparison holds where there are enough GPUs; None when it is about something else."""
    left, right, operator = node.left, node.comparators[0], node.ops[0]
    if ctx.index.device_counts.is_zero(left):
        more, fewer = isinstance(operator, ast.Gt | ast.GtE), isinstance(operator, ast.Lt | ast.LtE)
    elif ctx.index.device_counts.is_zero(right):
        more, fewer = isinstance(operator, ast.Lt | ast.LtE), isinstance(operator, ast.Gt | ast.GtE)
    else:
        return None
    if not more and not fewer:
        return ctx.index.device_counts.answer(node)
    return more


def _holder(ctx: FileContext, node: ast.expr) -> ast.AST | None:
    """The statement whose test (or value, of a return) the comparison is part of."""
    child: ast.AST = node
    parent = ctx.index.parent(node)
    while isinstance(parent, ast.BoolOp):
        child, parent = parent, ctx.index.parent(parent)
    if isinstance(parent, ast.If | ast.Assert):
        return parent if parent.test is child else None
    return parent


def _asks_for_exactly(ctx: FileContext, node: ast.Compare) -> bool | None:
    """Whether ``count == len(gpus)`` holds where all GPUs are there that are to be used; None for other comparisons."""
    counts = ctx.index.device_counts
    left, right, operator = node.left, node.comparators[0], node.ops[0]
    wanted = right if counts.is_zero(left) else left
    if not isinstance(operator, ast.Eq | ast.NotEq) or not (counts.is_zero(left) or counts.is_zero(right)):
        return None
    if counts.is_count(wanted) or (isinstance(wanted, ast.Constant) and not wanted.value):
        return None
    return isinstance(operator, ast.Eq)


def _gives_result(holder: ast.AST | None) -> bool:
    """``return model``, another way than to leave."""
    last = holder.body[-1] if isinstance(holder, ast.If) else None
    return isinstance(last, ast.Return) and not isinstance(last.value, ast.Constant | None)


def _is_way_out(ctx: FileContext, holder: ast.AST | None) -> bool:
    """A condition whose branch ends the script."""
    last = holder.body[-1] if isinstance(holder, ast.If) else None
    return last is not None and (isinstance(last, ast.Raise | ast.Return) or ends_program(ctx.index.names, last))


def _sends_to_host(ctx: FileContext, condition: ast.If) -> bool:
    """``device = "cpu"`` in a branch, of a variable that holds another device otherwise."""
    index = ctx.index
    for item in condition.body:
        value = item.value if isinstance(item, ast.Assign) else None
        if isinstance(value, ast.Call) and index.qualified_name(value.func) == "torch.device" and value.args:
            value = value.args[0]
        target = item.targets[0] if isinstance(item, ast.Assign) else None
        if not isinstance(value, ast.Constant) or value.value != "cpu" or not isinstance(target, ast.Name):
            continue
        if "map" in target.id:
            continue  # where a checkpoint is loaded to
        others = (binding.value for binding in index.names.bindings(target) if binding.statement is not item)
        if any(other is not None and (index.devices.flow.derives(other) or "xla" in ctx.text(other))
               for other in others):  # fmt: skip
            return True
    return False


def _is_asked(ctx: FileContext, node: ast.expr) -> bool:
    """Whether the rule about the choice of a device answers this question."""
    return any(site.node is node for site in ctx.index.devices.sites)


def _starts_many(ctx: FileContext, condition: ast.If) -> bool:
    """Whether a rule of its own speaks about what the branch does."""
    return any(ctx.index.tree.encloses(condition, call) for call in ctx.index.calls_to(*_STARTERS))
