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
    suite, text, test = index.tree.suite_of(boundary), ctx.text(statement), ctx.text(branch.test)
    if branch not in suite or statement not in branch.body or suite.index(branch) > suite.index(boundary):
        return None
    if not all(isinstance(node, (*_PLAIN, *_SORTS)) for node in ast.walk(branch.test)) or "\n" in text + test:
        return None
    inside, between = branch.body, suite[suite.index(branch) + 1 : suite.index(boundary)]
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
