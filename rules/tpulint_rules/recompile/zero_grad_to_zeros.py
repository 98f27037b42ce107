"""Gradients filled with zeros are inputs of the next graph, which is then another graph than the first."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding
from tpulint.semantic import Kind, SemanticIndex
from tpulint.semantic.modules.zero_gradients import are_passed_over

_OF_THE_SAME = frozenset({"data", "grad"})
"""Attributes that lead to the gradient itself: ``parameter.grad.data``."""
_SHARES = r"\._?grad\s*=\s*\w[\w.]*\._?grad\s*(?:$|[#;\n])"
_SHARED = "Parameters of two models share their gradients here; where they are None, each backward pass makes others."


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
        if _are_zeros_needed(ctx.index):
            fix.lower(
                Applicability.DISPLAY,
                "Code that changes `.grad` in place, or reads it before a backward pass, would find None, not zeros.",
            )
        elif _are_shared(ctx.index):
            fix.lower(Applicability.DISPLAY, _SHARED)
        elif any(isinstance(node.ctx, ast.Load) for node in ctx.index.tree.attributes_called("grad")):
            fix.lower(Applicability.UNSAFE, "Code that reads `.grad` finds None where it found zeros.")
        elif not are_passed_over(ctx.index, receiver):
            fix.lower(
                Applicability.UNSAFE,
                "A parameter without a gradient in some step is skipped then; with zeros, momentum and weight decay "
                "moved it.",
            )
        yield ctx.finding(
            items[0],
            "`set_to_none=False` makes the step compile once more: its gradients become inputs of the graph",
            fix,
        )


def _are_shared(index: SemanticIndex) -> bool:
    """Whether the project gives a parameter the gradient of another: ``shared._grad = own.grad``."""
    return any(file.mentions(_SHARES) for file in (index, *(index.imported.mentioning("grad") or ())))


def _are_zeros_needed(index: SemanticIndex) -> bool:
    """Whether a file changes gradients in place, or reads them behind ``zero_grad``: they have to be there for that."""
    clears = [call for call, _ in index.method_calls("zero_grad")]
    writes = [call for call, _ in index.method_calls("backward")]
    for node in index.tree.attributes_called("grad"):
        if _is_changed(index, node):
            return True
        start, function = index.span(node).start, index.function_of(node)
        before = [
            call
            for call in (*clears, *writes)
            if index.function_of(call) is function and index.span(call).start < start
        ]
        if isinstance(node.ctx, ast.Load) and before and max(before, key=index.span) in clears:
            return True
    return False


def _is_changed(index: SemanticIndex, gradient: ast.Attribute) -> bool:
    """Whether a gradient is changed in place: ``parameter.grad.add_(value)``, ``parameter.grad *= 2``."""
    held: ast.AST = gradient
    above = index.parent(held)
    while isinstance(above, ast.Attribute) and above.attr in _OF_THE_SAME:
        held, above = above, index.parent(above)
    if isinstance(above, ast.Subscript):
        return above.value is held and not isinstance(above.ctx, ast.Load)
    if isinstance(above, ast.AugAssign):
        return above.target is held
    return isinstance(above, ast.Attribute) and above.attr.endswith("_") and not above.attr.startswith("_")
