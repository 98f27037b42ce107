"""What is computed behind a step boundary to be read there, computed in front of it: by the graph of the step."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import Read, Step

_SAME = "The same values, computed by the graph that the boundary runs."
_OF_EACH = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.IfExp, ast.BoolOp)


def computed_earlier(ctx: FileContext, read: Read, boundary: ast.Expr | None) -> FixBuilder | None:
    """``found = torch.eq(a, b).sum()`` in front of the boundary, and ``found = found.item()`` where it was read."""
    index, tensor = ctx.index, read.tensor
    statement = index.statement_of(read.node)
    if boundary is None or not isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr):
        return None
    suite = index.tree.suite_of(boundary)
    if statement not in suite or suite.index(statement) < suite.index(boundary) or "\n" in ctx.text(tensor):
        return None
    if not isinstance(tensor, ast.Call | ast.Subscript) or _is_of_each(ctx, read.node, statement):
        return None
    if index.reads.inside(tensor) or not index.batched_reads.is_ready(tensor, boundary, statement):
        return None
    name = _target_of(statement, read.node) or index.names.fresh("result", statement)
    fix = ctx.fix("Compute it in front of the boundary", Applicability.SAFE, _SAME, Scope.STATEMENT)
    fix.insert_before(boundary, f"{name} = {ctx.text(tensor)}")
    fix.replace(tensor, name)
    return fix


def is_fetched(ctx: FileContext, read: Read, loop: Step) -> bool:
    """Whether a read is one of several that are fetched together, or is of more than a number."""
    func = read.node.func if isinstance(read.node, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr != "item":
        return True
    group = ctx.index.batched_reads.of(loop)
    return group is not None and read.node in {one.node for one in group.reads}


def _target_of(statement: ast.stmt, read: ast.expr) -> str:
    """The variable that a statement gives what is read, and nothing else: ``found = x.cpu().numpy()``."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    value: ast.expr = statement.value
    while value is not read and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        value = value.func.value
    target = statement.targets[0]
    return target.id if value is read and isinstance(target, ast.Name) else ""


def _is_of_each(ctx: FileContext, node: ast.expr, statement: ast.stmt) -> bool:
    """Whether a read within a statement is made ever so often, or only sometimes."""
    for ancestor in ctx.index.tree.ancestors(node):
        if ancestor is statement:
            return False
        if isinstance(ancestor, _OF_EACH):
            return True
    return True
