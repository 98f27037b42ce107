"""The move of a model, put in front of what must come after it."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic.moves import Move
from tpulint.semantic.torch_facts import DEVICE_FACTORIES


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
    device = _device_between(ctx, above, between, move.call)
    needed = {ctx.text(node) for node in tree.inside(below) if isinstance(node, ast.Name | ast.Attribute)}
    if any(_gives(ctx, statement, needed) for statement in (above, *between) if statement is not device):
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
    moved_with_it = [below] if device is None else [device, below]
    rows = [_row_of(ctx, statement) for statement in moved_with_it]
    if None in rows:
        return None
    fix.insert_before(above, "\n".join(row for row in rows if row is not None))
    for statement in moved_with_it:
        fix.delete(statement)
    return fix


def _row_of(ctx: FileContext, statement: ast.stmt) -> str | None:
    """A statement and the comment behind it; None where it does not have a row of its own."""
    end = ctx.index.tree.end(statement)
    trailing = ctx.source.text[end : ctx.source.line_end(end)]
    text = ctx.text(statement)
    return None if "\n" in text or ";" in trailing.split("#", 1)[0] else text + trailing.rstrip()


def _device_between(ctx: FileContext, above: ast.stmt, between: list[ast.stmt], call: ast.Call) -> ast.stmt | None:
    """The statement ``device = torch_xla.device()`` that the move has to take with it."""
    for at, statement in enumerate(between):
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        name = statement.targets[0]
        if not isinstance(name, ast.Name) or not any(ctx.text(item) == name.id for item in call.args):
            continue
        takes = isinstance(statement.value, ast.Call) and ctx.index.qualified_name(statement.value.func)
        alone = not any(_mentions(ctx, other, name.id) for other in (above, *between[:at]))
        return statement if takes in DEVICE_FACTORIES and alone else None
    return None


def _gives(ctx: FileContext, statement: ast.stmt, names: set[str]) -> bool:
    """Whether a statement gives one of these variables a value."""
    return any(
        isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store) and ctx.text(node) in names
        for node in ctx.index.tree.inside(statement)
    )


def _mentions(ctx: FileContext, statement: ast.stmt, text: str) -> bool:
    return any(
        isinstance(node, ast.Name | ast.Attribute) and ctx.text(node) == text
        for node in ctx.index.tree.inside(statement)
    )
