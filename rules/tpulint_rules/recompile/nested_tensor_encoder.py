"""Transformer encoders that look, in evaluation, whether nested tensors could be used; on XLA they never can."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic.values.value import is_true

_ENCODER = "torch.nn.TransformerEncoder"
_LAYER = "torch.nn.TransformerEncoderLayer"
_NESTED_AT = 3
_SAME = "Nested tensors are for the CPU and CUDA alone: only the question is left out."
_PADDING = "On CUDA the outputs at padding are no longer zeros, and padding is computed."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.kinds.mentions_device and index.is_program:
        return
    for call in index.calls_to(_ENCODER):
        given = len(call.args) > _NESTED_AT or any(k.arg in ("enable_nested_tensor", None) for k in call.keywords)
        layers = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "encoder_layer")]
        if given or not layers or not _may_be_nested(ctx, layers[0]):
            continue
        fix = ctx.fix("Leave nested tensors out", Applicability.SAFE, _SAME)
        fix.set_argument(call, "enable_nested_tensor", "False")
        if ctx.portable:
            fix.lower(Applicability.UNSAFE, _PADDING)
        yield ctx.finding(
            call,
            "with a padding mask, each evaluation batch asks on the host whether nested tensors can be used, "
            "which cuts the graph in two; on XLA they never are",
            fix,
        )


def _may_be_nested(ctx: FileContext, node: ast.expr) -> bool:
    """Whether the layers are of the kind for which the question is asked: the batch first, norms last."""
    found = False
    for creation in ctx.index.moves.creations.of(node):
        made = creation.node
        if not isinstance(made, ast.Call) or creation.path or ctx.index.qualified_name(made.func) != _LAYER:
            return False
        options = {keyword.arg: keyword.value for keyword in made.keywords}
        first, norm = options.get("batch_first"), options.get("norm_first")
        if not is_true(first):
            return False
        if norm is not None and not (isinstance(norm, ast.Constant) and norm.value is False):
            return False
        found = True
    return found
