"""Batches that `split` or `chunk` make: the last one is what is left over."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import Kind

_FUNCTIONS = ("torch.split", "torch.chunk", "torch.tensor_split", "numpy.array_split")
_METHODS = ("split", "chunk", "tensor_split")
_WRAPPERS = ("builtins.enumerate", "builtins.zip", "tqdm.tqdm")


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    for loop in index.step_loops:
        if not isinstance(loop.node, ast.For | ast.AsyncFor):
            continue
        waiting = [loop.node.iter]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Name):
                waiting.extend(
                    b.value for b in index.flow.reaching(node) if b.kind == "assign" and not b.path and b.value
                )
            elif isinstance(node, ast.Call) and index.qualified_name(node.func) in _WRAPPERS:
                waiting.extend(node.args)
            elif isinstance(node, ast.Call) and _splits(ctx, node):
                yield ctx.finding(
                    node,
                    "the last part may be smaller, and the training step is compiled again for its size",
                    certainty=Certainty.LIKELY,
                    related=((index.span(loop.node.target), "each part is a batch"),),
                )
                break


def _splits(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a call cuts a tensor into parts of one size and a rest."""
    index = ctx.index
    if index.qualified_name(call.func) in _FUNCTIONS:
        whole, rest = call.args[:1], call.args[1:]
    elif isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS and not index.qualified_name(call.func):
        whole, rest = [call.func.value], call.args
        if index.kind(call.func.value) is not Kind.TENSOR:
            return False  # of a text
    else:
        return False
    if any(keyword.arg not in ("dim", "axis") for keyword in call.keywords):
        return False
    if not whole or len(rest) != 1 or isinstance(rest[0], ast.List | ast.Tuple | ast.ListComp):
        return False
    if index.loaders.counts.number(rest[0]) == 1 or index.kind(rest[0]) is Kind.TENSOR:
        return False
    text = index.text(whole[0])
    return "//" not in text and "%" not in text
