"""The move of a model, put in front of what must come after it."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic.moves import Move


def moved_first(ctx: FileContext, optimizer: ast.AST, move: Move) -> FixBuilder | None:
    """The model moved in front of the statement that builds the optimizer; None where that is not proved."""
    tree = ctx.index.tree
    if not isinstance(optimizer, ast.Call):
        return None  # built elsewhere
    above, below = tree.statement_of(optimizer), tree.statement_of(move.call)
    if (
        above is below
        or tree.suite_of(above) is not tree.suite_of(below)
        or not isinstance(above, ast.Assign | ast.AnnAssign)
    ):
        return None
    if isinstance(below, ast.Expr):
        moved: ast.expr | None = below.value
    elif (
        isinstance(below, ast.Assign)
        and len(below.targets) == 1
        and ctx.text(below.targets[0]) == ctx.text(move.module)
    ):
        moved = below.value
    else:
        return None
    if moved is not move.call:
        return None
    suite = tree.suite_of(above)
    between = suite[suite.index(above) + 1 : suite.index(below)]
    needed = {ctx.text(node) for node in tree.inside(below) if isinstance(node, ast.Name | ast.Attribute)}
    for statement in (above, *between):
        for node in tree.inside(statement):
            if (
                isinstance(node, ast.Name | ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and ctx.text(node) in needed
            ):
                return None
    fix = ctx.fix(
        f"Move `{ctx.text(move.module)}` before its optimizer is built",
        Applicability.SAFE,
        "The optimizer then gets the parameters that are trained.",
        Scope.STATEMENT,
    )
    module = ctx.text(move.module)
    if any(_mentions(ctx, statement, module) for statement in between):
        fix.lower(Applicability.UNSAFE, "Statements in between then see the model on the device.")
    end = tree.end(below)
    row = ctx.source.row(end)
    trailing = ctx.source.line(row)[end - ctx.source.line_starts[row - 1] :]
    text = ctx.text(below)
    if "\n" in text or ";" in trailing.split("#", 1)[0]:
        return None
    fix.insert_before(above, text + trailing.rstrip())
    fix.delete(below)
    return fix


def _mentions(ctx: FileContext, statement: ast.stmt, text: str) -> bool:
    return any(
        isinstance(node, ast.Name | ast.Attribute) and ctx.text(node) == text
        for node in ctx.index.tree.inside(statement)
    )
