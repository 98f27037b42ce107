"""Reads under a condition of the step, ``if extractor is not None: log.append(part.item())``, behind its boundary."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import Read, Step

_ASKED_AGAIN = "The condition is asked again behind the boundary; nothing in between changes what it asks."
_PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.expr_context)
_SORTS = (ast.cmpop, ast.boolop, ast.unaryop)


def moved_with_condition(ctx: FileContext, read: Read, loop: Step) -> FixBuilder | None:
    """The statement that reads, moved behind the boundary with its condition; None where that would change anything."""
    index = ctx.index
    boundary, statement = index.boundaries.sync_of(loop), index.statement_of(read.node)
    branch = index.parent(statement)
    if boundary is None or not isinstance(statement, ast.Expr) or not isinstance(branch, ast.If):
        return None
    between = _between(ctx, branch, boundary)
    if between is None or statement not in branch.body:
        return None
    text, test = ctx.text(statement), ctx.text(branch.test)
    if not all(isinstance(node, (*_PLAIN, *_SORTS)) for node in ast.walk(branch.test)) or "\n" in text + test:
        return None
    inside = branch.body
    later = [*inside[inside.index(statement) + 1 :], *between]
    effect = index.effects.of(statement)
    if effect.is_output or not effect.is_movable or index.effects.clash(statement, later):
        return None
    if any(map(index.tree.may_leave, later)) or index.deferrals.may_change([*inside, *between], [branch.test]):
        return None
    fix = ctx.fix("Move behind the step boundary", Applicability.UNSAFE, _ASKED_AGAIN, Scope.STATEMENT)
    if fix.has_comment(statement) or fix.has_neighbours(statement):
        return None
    fix.delete(statement)
    fix.insert_after(boundary, f"if {test}:\n    {text}")
    return fix


def _between(ctx: FileContext, branch: ast.If, boundary: ast.stmt) -> list[ast.stmt] | None:
    """What runs between a branch and the boundary, where the branch stands in its block, or in ``with autocast():``."""
    tree = ctx.index.tree
    suite, between = tree.suite_of(boundary), list[ast.stmt]()
    place: ast.stmt = branch
    while place not in suite:
        around, block = tree.parent(place), tree.suite_of(place)
        if not isinstance(around, ast.With) or not all(_is_of_torch(ctx, item.context_expr) for item in around.items):
            return None
        between += block[block.index(place) + 1 :]
        place = around
    if suite.index(place) > suite.index(boundary):
        return None
    return between + suite[suite.index(place) + 1 : suite.index(boundary)]


def _is_of_torch(ctx: FileContext, node: ast.expr) -> bool:
    """``torch.autocast("xla")``, ``torch.no_grad()``: a read is the same behind it."""
    name = ctx.index.qualified_name(node.func) if isinstance(node, ast.Call) else None
    return name is not None and name.startswith("torch.")
