"""DistributedDataParallel told which GPU is its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding
from tpulint.semantic.values.origins import origins
from tpulint_rules.distributed._wrapped_calls import Wrapped
from tpulint_rules.distributed._wrapper_inputs import move_inputs, moves_for_others

_WRAPPER = "torch.nn.parallel.DistributedDataParallel"
_BUCKET_VIEW = "gradient_as_bucket_view"
_GPUS = ("device_ids", "output_device")
_OTHER_BACKENDS = r"\b(?:npu|xpu|hpu|mlu|musa)\b"


def check(ctx: FileContext) -> Iterator[Finding]:
    if ctx.index.guards.knows_xla() and not ctx.index.is_program and ctx.index.mentions(_OTHER_BACKENDS):
        return  # a library that serves them all does not come here with an XLA device
    wrappers = Wrapped(ctx.index, ctx.index.calls_to(_WRAPPER))
    for call in ctx.index.calls_to(_WRAPPER):
        if any(isinstance(item, ast.Starred) for item in call.args):
            continue
        given: list[ast.expr | ast.keyword] = [
            *call.args[1:3],
            *(item for item in call.keywords if item.arg in _GPUS),
        ]
        named = [item for item in given if _names_gpus(ctx, item)]
        if not named:
            continue
        name = named[0].arg if isinstance(named[0], ast.keyword) else _GPUS[0]
        message = f"`{name}` of `DistributedDataParallel` chooses a GPU; the process has one XLA device and no choice"
        if ctx.portable:
            yield ctx.finding(named[0], message, _left_to_cuda(ctx, call, named, wrappers))
            continue
        fix = ctx.fix(
            f"Replace with `{_BUCKET_VIEW}=True`", Applicability.SAFE,
            "Each process drives one XLA device; gradients that are views of the buckets have the same values.",
        )  # fmt: skip
        gone = list(given)
        if len(call.args) <= 3 and not any(item.arg in (_BUCKET_VIEW, None) for item in call.keywords):
            fix.replace(gone.pop(0), f"{_BUCKET_VIEW}=True")
        if len(call.args) > 3:
            fix.give_up()  # what follows by position would move up
        fix.delete_arguments(call, gone)
        _move_inputs(ctx, fix, call, wrappers)
        yield ctx.finding(named[0], message, fix)


def _left_to_cuda(
    ctx: FileContext, call: ast.Call, named: list[ast.expr | ast.keyword], wrappers: Wrapped
) -> FixBuilder:
    """Choose among GPUs where there are some."""
    reason = "On CUDA nothing changes; elsewhere the wrapper is told of no device."
    fix = ctx.fix("Choose a GPU on CUDA only", Applicability.SAFE, reason)
    for item in named:
        value = item.value if isinstance(item, ast.keyword) else item
        fix.append(value, f" if {fix.emit.cuda_question(call)} else None")
    _move_inputs(ctx, fix, call, wrappers)
    return fix


def _move_inputs(ctx: FileContext, fix: FixBuilder, call: ast.Call, wrappers: Wrapped) -> None:
    """Move what the wrapper moved to its GPU: here, and what other files call it with, ``train(model, loader)``."""
    move_inputs(ctx, fix, call, wrappers.calls_of(call))
    if moves := moves_for_others(ctx, fix, call, wrappers):
        fix.insert_after(ctx.index.statement_of(call), moves)


def _names_gpus(ctx: FileContext, item: ast.expr | ast.keyword) -> bool:
    """Whether an argument is a list of devices, or one device, wherever it may come from."""
    value = item.value if isinstance(item, ast.keyword) else item
    if isinstance(item, ast.keyword) and item.arg == "output_device":
        return not any(isinstance(origin.node, ast.Constant) for origin in origins(ctx.index, value))
    return all(isinstance(origin.node, ast.List) and origin.node.elts for origin in origins(ctx.index, value))
