"""torch_xla's own GRU, which takes no packed sequences."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint_rules.step._replaced_grus import GRU, is_replaced

_PACKS = ("torch.nn.utils.rnn.pack_padded_sequence", "torch.nn.utils.rnn.pack_sequence")


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.moves.has_device or next(index.calls_to(*_PACKS), None) is None:
        return
    if next(index.calls_to(GRU), None) is None:
        return
    for call in index.calls:
        if call.args and index.qualified_name(call.func) is None and _is_packed(ctx, call.args[0]):
            made = [creation.node for creation in index.moves.creations.of(call.func)]
            if made and all(is_replaced(ctx.index, node) for node in made):
                message = "`import torch_xla` replaces `nn.GRU` by a class that takes no packed sequences"
                yield ctx.finding(call, message)


def _is_packed(ctx: FileContext, node: ast.expr) -> bool:
    """Whether an expression surely is a packed sequence, perhaps one that was moved."""
    if isinstance(node, ast.Name):
        bindings = ctx.index.flow.reaching(node)
        value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
        if value is None or bindings[0].path:
            return False
        node = value
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "cuda"):
        node = node.func.value
    return isinstance(node, ast.Call) and ctx.index.qualified_name(node.func) in _PACKS
