"""float16 has no units on a TPU; bfloat16 has."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding, Span
from tpulint.semantic import Kind

_FLOAT16 = ("torch.float16", "torch.half")
_REASON = "bfloat16 has more range and fewer digits than float16."


def check(ctx: FileContext) -> Iterator[Finding]:
    if not ctx.index.kinds.mentions_device:
        return
    autocasts = {
        value for autocast in ctx.index.mixed_precision.autocasts for value in (autocast.arguments or {}).values()
    }
    for call, receiver in ctx.index.method_calls("half"):
        kind = ctx.index.value(receiver)
        if call.args or call.keywords or kind.kind not in (Kind.TENSOR, Kind.MODULE):
            continue
        fix = ctx.fix("Use bfloat16", Applicability.UNSAFE, _REASON)
        end = ctx.index.span(call.func).end
        fix.replace(Span(end - len("half"), end), "bfloat16")
        certainty = Certainty.CERTAIN if kind.certain else Certainty.LIKELY
        yield ctx.finding(
            call, "`.half()` computes in float16, for which a TPU has no units; use bfloat16", fix, certainty=certainty
        )
    for node, name in ctx.index.references(*_FLOAT16):
        if name not in _FLOAT16 or node in autocasts or not _sets_dtype(ctx, node) or _is_for_runtime(ctx, node):
            continue
        fix = ctx.fix("Use bfloat16", Applicability.UNSAFE, _REASON)
        fix.replace(node, f"{fix.use('torch', at=node)}.bfloat16")
        yield ctx.finding(node, f"`{name}` has no units on a TPU; use `torch.bfloat16`", fix)


def _is_for_runtime(ctx: FileContext, node: ast.expr) -> bool:
    """Whether the dtype goes to ``tpulint_runtime``, which takes bfloat16 for it on XLA."""
    call = ctx.index.parent(ctx.index.parent(node) or node)
    return isinstance(call, ast.Call) and (ctx.index.qualified_name(call.func) or "").startswith("tpulint_runtime.")


def _sets_dtype(ctx: FileContext, node: ast.expr) -> bool:
    """Whether a dtype decides what tensors are made of, rather than being compared with or looked up."""
    parent = ctx.index.parent(node)
    if isinstance(parent, ast.keyword):
        return parent.arg in ("dtype", "torch_dtype")
    if not isinstance(parent, ast.Call) or node not in parent.args:
        return False
    func = parent.func
    if ctx.index.qualified_name(func) == "torch.set_default_dtype":
        return True
    return isinstance(func, ast.Attribute) and func.attr in ("to", "type") and ctx.index.qualified_name(func) is None
