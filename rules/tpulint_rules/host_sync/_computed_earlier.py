"""What is computed behind a step boundary to be read there, computed in front of it: by the graph of the step."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic import Kind, Read, Step

_SAME = "The same values, computed by the graph of the step."
_LOOKING = frozenset({"builtins.print", "builtins.float", "builtins.int", "builtins.len", "builtins.str"})
_OF_EACH = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.IfExp, ast.BoolOp)


def computed_earlier(ctx: FileContext, read: Read, loop: Step) -> FixBuilder | None:
    """``found = torch.eq(a, b).sum()`` in front of the boundary, and ``found = found.item()`` where it was read."""
    index, tensor = ctx.index, read.tensor
    boundary = index.deferrals.boundary_statement(loop)
    statement = index.statement_of(read.node)
    if boundary is None or not isinstance(tensor, ast.Call) or "\n" in ctx.text(tensor) or _is_fetched(ctx, read, loop):
        return None
    suite = index.tree.suite_of(boundary)
    if statement not in suite or not isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr):
        return None
    between = suite[suite.index(boundary) + 1 : suite.index(statement)]
    names = {node.id for node in ast.walk(tensor) if isinstance(node, ast.Name)}
    if suite.index(statement) < suite.index(boundary) or any(_changes(ctx, item, names) for item in between):
        return None
    if index.reads.inside(tensor) or not _is_plain(ctx, tensor) or _is_of_each(ctx, read.node, statement):
        return None
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    is_target = isinstance(target, ast.Name) and isinstance(statement, ast.Assign) and statement.value is read.node
    name = target.id if is_target and isinstance(target, ast.Name) else index.names.fresh("result", statement)
    fix = ctx.fix("Compute it in front of the step boundary", Applicability.SAFE, _SAME, Scope.STATEMENT)
    fix.insert_before(boundary, f"{name} = {ctx.text(tensor)}")
    fix.replace(tensor, name)
    return fix


def _is_fetched(ctx: FileContext, read: Read, loop: Step) -> bool:
    """Whether a read is one of several that are fetched together, or is of more than a number."""
    index, func = ctx.index, read.node.func if isinstance(read.node, ast.Call) else None
    if not isinstance(func, ast.Attribute) or func.attr != "item":
        return True
    group = index.batched_reads.of(loop)
    return group is not None and read.node in {one.node for one in group.reads}


def _changes(ctx: FileContext, statement: ast.stmt, names: set[str]) -> bool:
    """Whether a statement may change what variables hold: it binds one, hands one on, or calls what works in place."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and ctx.index.qualified_name(node.func) not in _LOOKING:
            given = {item.id for item in node.args if isinstance(item, ast.Name)}
            if given & names:
                return True
        if isinstance(node, ast.Name) and node.id in names and not isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.Attribute) and node.attr.endswith("_") and not node.attr.endswith("__"):
            return True
    return False


def _is_plain(ctx: FileContext, tensor: ast.expr) -> bool:
    """Whether functions of torch and methods of tensors compute a value of variables of the turn, and nothing else.

    An update changes weights and gradients, which are read as attributes.
    """
    index = ctx.index
    methods = {call.func for call in ast.walk(tensor) if isinstance(call, ast.Call)}
    for call in ast.walk(tensor):
        if isinstance(call, ast.Attribute) and call not in methods and index.qualified_name(call) is None:
            return False
        if not isinstance(call, ast.Call):
            continue
        name = index.qualified_name(call.func)
        is_method = isinstance(call.func, ast.Attribute) and index.kind(call.func.value) is Kind.TENSOR
        if not is_method and not (name is not None and name.startswith("torch.") and "rand" not in name):
            return False
    return True


def _is_of_each(ctx: FileContext, node: ast.expr, statement: ast.stmt) -> bool:
    """Whether a read within a statement is made ever so often, or only sometimes."""
    for ancestor in ctx.index.tree.ancestors(node):
        if ancestor is statement:
            return False
        if isinstance(ancestor, _OF_EACH):
            return True
    return True
