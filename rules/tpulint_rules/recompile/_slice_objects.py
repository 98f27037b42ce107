"""Slices that have a name: where they are made, a tensor of the same places is made instead."""

from __future__ import annotations

import ast

from tpulint.context import FileContext
from tpulint.model import Applicability, Fix
from tpulint.semantic import Kind
from tpulint.semantic.sizes.computed_places import indices_of
from tpulint.semantic.sizes.slice_objects import slice_made
from tpulint.semantic.syntax.variables import root_of
from tpulint.semantic.values.possible_lists import may_be_list
from tpulint_rules.recompile._empty_parts import may_begin_behind
from tpulint_rules.recompile._places import LEFT_ALONE, keep_meaning
from tpulint_rules.recompile._slices import bounded, is_bounded, is_least_of_several, one_line, write_range

_MOST_ENDS = 2


def choose_by_made_range(ctx: FileContext, made: ast.Call, node: ast.Subscript) -> Fix | None:
    """Write ``rows = torch.arange(i, min(i + 16, n))`` for ``rows = slice(i, min(i + 16, n))``.

    All that the variable is read for must be to index tensors, along one dimension.
    """
    uses = _uses(ctx, made, node)
    if not uses or len(made.args) != _MOST_ENDS:
        return None
    lower, upper = made.args
    if any(isinstance(end, ast.Constant) and end.value is None for end in made.args):
        return None
    if may_begin_behind(ctx, node, lower):
        return None
    end: str | None = one_line(ctx, upper)
    if not all(is_bounded(ctx, use, lower, upper) for use in uses):
        at = {indices_of(use).index(_item(ctx, use, made)) for use in uses}
        if len({ctx.text(use.value) for use in uses}) == 1 and len(at) == 1 and _is_there(ctx, uses[0].value, made):
            end = bounded(ctx, uses[0], upper, at.pop())
        elif not is_least_of_several(ctx, upper):
            return None
    if end is None:
        return None
    fix = ctx.fix("Choose the places by a tensor", Applicability.UNSAFE, LEFT_ALONE)
    write_range(ctx, fix, made, one_line(ctx, lower), end)
    for use in uses:
        keep_meaning(ctx, fix, use)
    return fix.build()


def _uses(ctx: FileContext, made: ast.Call, node: ast.Subscript) -> list[ast.Subscript]:
    """The tensors that are indexed with a slice; empty where it is used for anything else."""
    index = ctx.index
    statement = index.parent(made)
    if not isinstance(statement, ast.Assign):
        return [node] if made in indices_of(node) and _is_fixable(ctx, node, made) else []
    target = statement.targets[0]
    if len(statement.targets) > 1 or not isinstance(target, ast.Name):
        return []
    uses = []
    for name in index.names.loads_of(target):
        if not any(binding.value is made for binding in index.flow.reaching(name)):
            continue
        use = index.parent(name)
        use = index.parent(use) if isinstance(use, ast.Tuple) else use
        if not isinstance(use, ast.Subscript) or name not in indices_of(use) or not _is_fixable(ctx, use, name):
            return []
        uses.append(use)
    return uses


def _is_fixable(ctx: FileContext, use: ast.Subscript, item: ast.expr) -> bool:
    """Whether a place may be a tensor as well: a tensor is indexed, along no other dimension but by slices."""
    if ctx.index.kind(use.value) is not Kind.TENSOR or slice_made(ctx.index, item) is None:
        return False
    if not isinstance(use.slice, ast.Tuple):
        return not may_be_list(ctx.index, use.value)
    return all(isinstance(other, ast.Slice) for other in use.slice.elts if other is not item)


def _item(ctx: FileContext, use: ast.Subscript, made: ast.Call) -> ast.expr:
    return next(item for item in indices_of(use) if slice_made(ctx.index, item) is made)


def _is_there(ctx: FileContext, tensor: ast.expr, made: ast.Call) -> bool:
    """Whether a tensor is the same where the slice is made as where it is taken of it."""
    root, start = root_of(tensor), ctx.index.tree.start(made)
    bindings = ctx.index.flow.reaching(root) if root is not None else ()
    return bool(bindings) and all(
        ctx.index.flow.dominates(binding, made)
        and (binding.kind != "assign" or ctx.index.tree.start(binding.statement) < start)
        for binding in bindings
    )
