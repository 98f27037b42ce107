"""Gradients filled with zeros are inputs of the next graph, which is then another graph than the first."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic import Kind


def check(ctx: FileContext) -> Iterator[Finding]:
    if not ctx.index.kinds.mentions_device:
        return
    for call, receiver in ctx.index.method_calls("zero_grad"):
        items: list[ast.keyword | ast.expr] = [item for item in call.keywords if item.arg == "set_to_none"]
        items = items or [*call.args[:1]]
        if not items or ctx.index.kind(receiver) not in (Kind.OPTIMIZER, Kind.MODULE):
            continue
        value = items[0].value if isinstance(items[0], ast.keyword) else items[0]
        if not (isinstance(value, ast.Constant) and value.value is False):
            continue
        fix = ctx.fix(
            "Let gradients be None",
            Applicability.SAFE,
            "`backward` then writes the gradients instead of adding to zeros.",
        )
        fix.delete_argument(call, items[0])
        if any(isinstance(node.ctx, ast.Load) for node in ctx.index.tree.attributes_called("grad")):
            fix.lower(Applicability.UNSAFE, "Code that reads `.grad` finds None where it found zeros.")
        yield ctx.finding(
            items[0],
            "`set_to_none=False` makes the step compile once more: its gradients become inputs of the graph",
            fix,
        )
