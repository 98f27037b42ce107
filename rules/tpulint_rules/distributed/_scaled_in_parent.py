"""What a parent multiplies by the number of GPUs for the processes that it starts: each can do it itself."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic.processes.launches import Launch
from tpulint.semantic.syntax.nodes import FunctionNode

_WORLD_SIZE = "torch_xla.runtime.world_size"
_REASON = "Each process multiplies by the number of processes that there are, of which the parent knows nothing."


def scale_in_process(ctx: FileContext, node: ast.AST, count: ast.expr) -> FixBuilder | None:
    """Move ``args.lr = args.lr * args.world_size`` to where the started function counts the processes anew.

    None where that function does not, or what it is given may not be what the statement speaks of.
    """
    index = ctx.index
    statement = index.statement_of(node)
    launches = [one for one in index.launches.launches if _is_behind(ctx, statement, one)]
    if len(index.launches.launches) != 1 or not launches or len(launches[0].functions) != 1:
        return None
    launch, worker = launches[0], launches[0].functions[0]
    counted = _counted(ctx, worker, ctx.text(count))
    target = _target(statement)
    if counted is None or target is None or not _means_the_same(statement, launch, worker):
        return None
    if _is_read_behind(ctx, target, statement):
        return None
    fix = ctx.fix("Multiply in each process", Applicability.UNSAFE, _REASON, Scope.MODULE)
    if fix.has_comment(statement) or "\n" in ctx.text(statement):
        return None
    fix.delete(statement)
    fix.insert_after(counted, ctx.text(statement))
    return fix


def _is_behind(ctx: FileContext, statement: ast.stmt, launch: Launch) -> bool:
    """Whether a launch comes behind a statement, and whenever that has run."""
    suite = ctx.index.tree.suite_of(statement)
    at = suite.index(statement)
    return launch.is_xla and any(ctx.index.tree.encloses(later, launch.call) for later in suite[at + 1 :])


def _counted(ctx: FileContext, worker: FunctionNode, count: str) -> ast.stmt | None:
    """Where the function of the processes says what the count is in them: ``args.world_size = xr.world_size()``."""
    for item in worker.body:
        value = item.value if isinstance(item, ast.Assign) and len(item.targets) == 1 else None
        if isinstance(value, ast.Call) and ctx.index.qualified_name(value.func) == _WORLD_SIZE:
            assert isinstance(item, ast.Assign)
            if ctx.text(item.targets[0]) == count:
                return item
    return None


def _target(statement: ast.stmt) -> ast.Attribute | None:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AugAssign) else targets
    target = targets[0] if len(targets) == 1 else None
    return target if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) else None


def _means_the_same(statement: ast.stmt, launch: Launch, worker: FunctionNode) -> bool:
    """Whether the names of a statement stand in the started function for what the parent hands it."""
    nodes = list(ast.walk(statement))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    passed = [(name, launch.passed_for(worker, name)) for name in names]
    return all(isinstance(given, ast.Name) and given.id == name for name, given in passed) and not any(
        isinstance(node, ast.Call) for node in nodes
    )


def _is_read_behind(ctx: FileContext, target: ast.Attribute, statement: ast.stmt) -> bool:
    """Whether the parent itself goes on with what the statement computes."""
    index = ctx.index
    function, end = index.function_of(statement), index.span(statement).end
    return any(
        other.attr == target.attr and index.function_of(other) is function and index.span(other).start > end
        for other in index.tree.attributes
    )
