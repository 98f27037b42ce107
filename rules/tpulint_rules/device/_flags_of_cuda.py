"""Flags that open, beside what any device does, what only CUDA can do: there CUDA is asked for once more."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tpulint.context import FileContext
from tpulint.semantic.devices.device_sites import Role, Site
from tpulint.semantic.syntax.torch_facts import ANSWERED_BY_CUDA, WITHOUT_COUNTERPART

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tpulint.context import FixBuilder


def reads_for_cuda(ctx: FileContext, fix: FixBuilder, sites: Sequence[Site]) -> dict[ast.Name, str]:
    """Where flags that these places answer open what would raise on XLA, and what is asked there in their stead.

    That begins with the flag where it holds more than the answer.
    """
    names = ANSWERED_BY_CUDA if ctx.portable else WITHOUT_COUNTERPART
    found: dict[ast.Name, str] = {}
    for site in sites:
        asked = _asked(ctx, site)
        statement = ctx.index.parent(asked)
        value = asked
        while isinstance(statement, ast.BoolOp) and isinstance(statement.op, ast.And):
            value, statement = statement, ctx.index.parent(statement)
        if not isinstance(statement, ast.Assign) or statement.value is not value or len(statement.targets) != 1:
            continue
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or len(ctx.index.names.bindings(target)) != 1:
            continue
        is_answer = value is site.node and site.role is Role.QUESTION
        for load in ctx.index.names.loads_of(target):
            if ctx.index.devices.features.opens_what_needs(load, names):
                question = fix.emit.cuda_question(load)
                found[load] = question if is_answer else f"{target.id} and {question}"
    return found


def _asked(ctx: FileContext, site: Site) -> ast.expr:
    """The question or comparison that is true where there is a GPU; for any other place that place itself."""
    if site.role is not Role.COMPARISON:
        return site.node
    node = ctx.index.devices.flow.places.of(site.node).node
    is_equal = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.In)
    return node if is_equal and isinstance(node, ast.expr) else site.node
