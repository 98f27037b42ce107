"""What cannot be handed to new processes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Finding, Scope
from tpulint.semantic import FUNCTIONS
from tpulint.semantic.processes.launches import XLA_LAUNCH, XMP_SPAWN, Launch


def check(ctx: FileContext) -> Iterator[Finding]:
    for launch in ctx.index.launches.launches:
        if launch.launcher not in (XLA_LAUNCH, XMP_SPAWN) or not launch.starts_processes:
            continue
        passed = launch.arguments.get("args")
        if passed is not None and _is_single(passed):
            fix = ctx.fix("Write a tuple", Applicability.SAFE, "The call raised before.")
            fix.insert(ctx.index.span(passed).end, ",")
            if not _in_parentheses(ctx, passed):
                fix.give_up()
            yield ctx.finding(passed, "`args` is no tuple: the function cannot be called with it", fix)
        method = launch.arguments.get("start_method")
        if method is not None and not (isinstance(method, ast.Constant) and method.value == "spawn"):
            continue
        function = launch.arguments.get("fn")
        if function is not None and _is_local(ctx, function):
            message = "new processes cannot look up a function without a name at the top level of the file"
            yield ctx.finding(function, message)
        if ctx.source.cell_starts:
            if launch.functions:
                yield _of_notebook(ctx, launch)
        elif ctx.index.parent_process.function_running(launch.call) is None and not _is_guarded(ctx, launch):
            yield _unguarded(ctx, launch)


def _is_single(node: ast.expr) -> bool:
    """Whether an expression is surely one value that cannot be iterated."""
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float | None)


def _in_parentheses(ctx: FileContext, node: ast.expr) -> bool:
    span, text = ctx.index.span(node), ctx.source.text
    return text[: span.start].endswith("(") and text[span.end :].startswith(")")


def _is_local(ctx: FileContext, node: ast.expr) -> bool:
    """Whether an expression is a lambda, or a function defined within another one."""
    if isinstance(node, ast.Lambda):
        return True
    bindings = ctx.index.names.bindings(node) if isinstance(node, ast.Name) else []
    return bool(bindings) and all(
        isinstance(item.node, FUNCTIONS) and ctx.index.function_of(item.node) is not None for item in bindings
    )


def _is_guarded(ctx: FileContext, launch: Launch) -> bool:
    """Whether a launch at the top level stands under a condition; notebooks and prompts have no file to import."""
    conditions = [item for item in ctx.index.tree.ancestors(launch.call) if isinstance(item, ast.If)]
    return bool(conditions) or ctx.index.mentions(r"get_ipython|^# %%|^# In\[")


def _of_notebook(ctx: FileContext, launch: Launch) -> Finding:
    reason = "A process cannot be forked once a cell has taken the device."
    fix = ctx.fix("Fork the processes", Applicability.UNSAFE, reason)
    fix.set_argument(launch.call, "start_method", '"fork"')
    if "start_method" in launch.arguments and not any(item.arg == "start_method" for item in launch.call.keywords):
        fix.give_up()
    message = "new processes cannot look up a function of a notebook, which they do not import: they are to be forked"
    return ctx.finding(launch.call, message, fix)


def _unguarded(ctx: FileContext, launch: Launch) -> Finding:
    statement = ctx.index.statement_of(launch.call)
    reason = "A file that is imported for the sake of its launch no longer does it."
    fix = ctx.fix("Guard the launch", Applicability.UNSAFE, reason, Scope.STATEMENT)
    fix.put_under([statement], 'if __name__ == "__main__":')
    if not isinstance(statement, ast.Expr):
        fix.give_up()
    message = 'new processes import this file, and come to the launch again: it needs `if __name__ == "__main__":`'
    return ctx.finding(launch.call, message, fix)
