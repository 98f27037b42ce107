"""Lengths of what a model computes, which go into no model as a batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.semantic.loops.turn_code import EVALUATION
from tpulint.semantic.modules.module_callers import is_run_by_module

_DETACHED = ("detach", "cpu", "squeeze", "unsqueeze", "view", "reshape", "transpose")
"""Methods that give a result of a model back as another view of it, or a copy."""


def are_computed(ctx: FileContext, longest: ast.expr, turn: str) -> bool:
    """Whether the samples that ``longest`` measures are filled up while a model computes, or are what it gives.

    What one model gives in a training step may go into another.
    """
    if is_run_by_module(ctx.index, longest):
        return True
    if turn != EVALUATION:
        return False
    elements = [element for samples in _measured(ctx, longest) for element in ctx.index.kinds.contents.of(samples)]
    return bool(elements) and all(_is_result(ctx, element) for element in elements)


def _measured(ctx: FileContext, longest: ast.expr) -> Iterator[ast.expr]:
    """``rows`` of ``max(row.size(1) for row in rows)``"""
    for node in ctx.index.tree.inside(longest):
        if isinstance(node, ast.GeneratorExp | ast.ListComp):
            yield node.generators[0].iter


def _is_result(ctx: FileContext, element: ast.expr) -> bool:
    """``model(x)``, ``out.cpu()`` of ``out, _ = model(x)``"""
    while isinstance(element, ast.Call) and isinstance(element.func, ast.Attribute) and element.func.attr in _DETACHED:
        element = element.func.value
    made: list[ast.expr | None] = [element]
    if isinstance(element, ast.Name):
        made = [binding.value for binding in ctx.index.flow.reaching(element)]
    runs = ctx.index.regions.evaluation.runs
    return bool(made) and all(isinstance(value, ast.Call) and runs.is_run(value) for value in made)
