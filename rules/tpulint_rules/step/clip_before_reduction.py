"""Gradients clipped before ``xm.optimizer_step`` are not averaged over the replicas."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Scope

_XM = "torch_xla.core.xla_model"
_IN_PLACE = frozenset({"clamp_", "div_", "mul_", "copy_", "add_", "sub_"})


def check(ctx: FileContext) -> Iterator[Finding]:
    steps = list(ctx.index.calls_to(f"{_XM}.optimizer_step"))
    if not steps:
        return
    edits = [call for call in ctx.index.calls if _edits_gradients(ctx, call)]
    for step in steps:
        function = ctx.index.function_of(step)
        before = [
            call for call in edits if ctx.index.function_of(call) is function and ctx.index.moves.precedes(call, step)
        ]
        before = [call for call in before if not _reduced_between(ctx, call, step)]
        if not before:
            continue
        message = (
            f"gradients changed before `xm.optimizer_step` lose their all-reduce: `{ctx.text(before[0].func)}` edits a "
            "detached view, and every replica then trains on its own batches only"
        )
        yield ctx.finding(
            step,
            message,
            _reduced_first(ctx, before, step),
            related=((ctx.index.span(before[0]), "the gradients are changed here"),),
        )


def _edits_gradients(ctx: FileContext, call: ast.Call) -> bool:
    """``clip_grad_norm_``, which torch_xla replaces, and in-place methods of ``p.grad.data`` or ``p.grad.detach()``."""
    if ctx.index.qualified_name(call.func) == "torch.nn.utils.clip_grad_norm_":
        return True
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _IN_PLACE:
        return False
    receiver = call.func.value
    if isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Attribute) and receiver.func.attr == "detach":
        receiver = receiver.func
    return (
        isinstance(receiver, ast.Attribute)
        and receiver.attr in ("data", "detach")
        and (isinstance(receiver.value, ast.Attribute) and receiver.value.attr == "grad")
    )


def _reduced_between(ctx: FileContext, edit: ast.Call, step: ast.Call) -> bool:
    """Whether the gradients are averaged before they are edited, or the edit belongs to an earlier step."""
    start, end = ctx.index.span(edit).start, ctx.index.span(step).start
    for call in ctx.index.calls_to(f"{_XM}.reduce_gradients", f"{_XM}.optimizer_step"):
        at = ctx.index.span(call).start
        is_reduction = ctx.index.qualified_name(call.func) == f"{_XM}.reduce_gradients"
        if (
            is_reduction and at < start and ctx.index.function_of(call) is ctx.index.function_of(edit)
        ) or start < at < end:
            return True
    return False


def _is_after_one_backward(ctx: FileContext, step: ast.Call) -> bool:
    """Whether every step follows one backward pass. What ``xm.reduce_gradients`` does in place is lost to clipping
    where the gradients are sums of several."""
    function = ctx.index.function_of(step)
    backwards = [call for call, _ in ctx.index.method_calls("backward") if ctx.index.function_of(call) is function]
    return len(backwards) == 1 and _block(ctx, backwards[0]) is _block(ctx, step)


def _block(ctx: FileContext, call: ast.Call) -> list[ast.stmt]:
    """The statements that a call runs among; a ``with`` block runs with those around it."""
    tree = ctx.index.tree
    statement = tree.statement_of(call)
    while isinstance(above := tree.parents[statement], ast.With | ast.AsyncWith):
        statement = above
    return tree.suite_of(statement)


def _reduced_first(ctx: FileContext, before: list[ast.Call], step: ast.Call) -> FixBuilder | None:
    """Reduce, change, step. Only where the change and the step stand in one block."""
    tree = ctx.index.tree
    last = tree.statement_of(step)
    suite = tree.suite_of(last)
    first = next((item for item in suite if any(tree.encloses(item, call) for call in before)), None)
    barrier = next((item for item in step.keywords if item.arg == "barrier"), None)
    if first is None or first is last or not isinstance(last, ast.Expr) or len(step.args) != 1:
        return None
    if any(item.arg not in ("barrier", "pin_layout", "groups") for item in step.keywords):
        return None
    fix = ctx.fix(
        "Average the gradients first",
        Applicability.SAFE,
        "Every replica then clips and applies the same average.",
        Scope.STATEMENT,
    )
    optimizer = fix.text(step.args[0])
    options = "".join(f", {item.arg}={ctx.text(item.value)}" for item in step.keywords if item is not barrier)
    if _is_after_one_backward(ctx, step):
        module = fix.use(_XM, alias="xm", at=step)
    elif options:
        return None
    else:
        module = fix.use("tpulint_runtime", at=step)
    fix.insert_before(first, f"{module}.reduce_gradients({ctx.text(step.args[0])}{options})")
    fix.replace(step, f"{optimizer}.step()")
    if barrier is not None and not (isinstance(barrier.value, ast.Constant) and barrier.value.value is False):
        if not isinstance(barrier.value, ast.Constant):
            return None
        fix.insert_after(last, f"{fix.use('torch_xla', at=step)}.sync()")
    return fix
