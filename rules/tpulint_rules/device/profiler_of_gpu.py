"""The profiler of torch, asked for what a GPU does."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Severity
from tpulint.semantic.values.value import is_true

_GPU = "torch.profiler.ProfilerActivity.CUDA"
_HOST = "torch.profiler.ProfilerActivity.CPU"
_OLD_PROFILER = "torch.autograd.profiler.profile"


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for node, _ in index.references(_GPU):
        wanted = index.parent(node)
        if not isinstance(wanted, ast.List | ast.Tuple | ast.Set) or index.devices.is_guarded(node):
            continue
        if not isinstance(index.parent(wanted), ast.keyword | ast.Call):
            continue
        others = [item for item in wanted.elts if index.qualified_name(item) != _GPU]
        if not all(index.qualified_name(item) == _HOST for item in others):
            continue
        if others:
            fix = ctx.fix("Do not ask for it", Applicability.SAFE, "Without a GPU nothing of it is traced.")
            items = [ctx.text(item) for item in others]
            message, severity = "the profiler traces GPUs, and no XLA device", Severity.INFO
        else:
            fix = ctx.fix("Trace the host", Applicability.UNSAFE, "What the host does is traced in place of the GPU.")
            items = [ctx.text(node)[: -len("CUDA")] + "CPU"]
            message, severity = "a profiler that may trace nothing but a GPU raises where there is none", Severity.ERROR
        opening, closing = ctx.text(wanted)[0], ctx.text(wanted)[-1]
        if closing not in ")]}":  # a tuple without parentheses
            fix.give_up()
        comma = "," if isinstance(wanted, ast.Tuple) and len(items) == 1 else ""
        fix.replace(wanted, f"{opening}{', '.join(items)}{comma}{closing}")
        yield ctx.finding(node, message, fix, severity=severity)
    for call in index.calls_to(_OLD_PROFILER):
        for item in call.keywords:
            if item.arg == "use_cuda" and is_true(item.value):
                fix = ctx.fix("Do not ask for it", Applicability.SAFE, "Without a GPU nothing of it is traced.")
                fix.delete_argument(call, item)
                yield ctx.finding(item, "the profiler traces GPUs, and no XLA device", fix, severity=Severity.INFO)
