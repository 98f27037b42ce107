"""Loops that torchnet runs with a step and hooks of the script: nothing in it sets a boundary."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Scope
from tpulint.semantic import FUNCTIONS, FunctionNode

_ENGINES = frozenset({"torchnet.engine.Engine", "torchnet.engine.engine.Engine"})
_PLACES = ("on_forward", "on_update")
"""Hooks that run once in every step: the first, behind the backward pass, is where scripts read the loss."""


def unended_engines(ctx: FileContext, reason: str) -> Iterator[Finding]:
    """``engine.train(step, loader, epochs, optimizer)`` where neither the step nor a hook sets a boundary."""
    index = ctx.index
    if not index.mentions("torchnet", "torchnet"):
        return
    for call, engine in index.method_calls("train"):
        if not isinstance(engine, ast.Name) or not _is_engine(ctx, engine):
            continue
        hooks = _hooks(ctx, engine)
        steps = index.definitions.functions_meant(call.args[0]) if call.args else []
        run = [*steps, *(function for known in (hooks or {}).values() for function in known)]
        if any(index.regions.boundaries_in(function) for function in run):
            continue
        fix = None if hooks is None else _ended(ctx, call, engine, hooks, reason)
        message = (
            "the loop of `torchnet` has no step boundary: the graph grows from step to step and is compiled anew "
            "each time"
        )
        yield ctx.finding(call, message, fix)


def _is_engine(ctx: FileContext, node: ast.Name) -> bool:
    made = [binding.value for binding in ctx.index.names.bindings(node)]
    return bool(made) and all(
        isinstance(value, ast.Call) and ctx.index.qualified_name(value.func) in _ENGINES for value in made
    )


def _hooks(ctx: FileContext, engine: ast.Name) -> dict[str, list[FunctionNode | ast.Lambda]] | None:
    """The functions of ``engine.hooks["on_forward"] = note``, by the name; None where they are set otherwise, too."""
    found: dict[str, list[FunctionNode | ast.Lambda]] = {}
    for hooks in ctx.index.tree.attributes_called("hooks"):
        if not isinstance(hooks.value, ast.Name) or hooks.value.id != engine.id:
            continue
        item = ctx.index.parent(hooks)
        statement = ctx.index.parent(item) if isinstance(item, ast.Subscript) else None
        key = item.slice if isinstance(item, ast.Subscript) else None
        if not isinstance(statement, ast.Assign) or not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return None
        value = statement.value
        named = ctx.index.definitions.functions_meant(value)
        found[key.value] = [value] if isinstance(value, ast.Lambda) else [*named]
    return found


def _ended(
    ctx: FileContext, call: ast.Call, engine: ast.Name, hooks: dict[str, list[FunctionNode | ast.Lambda]], reason: str
) -> FixBuilder | None:
    fix = ctx.fix("Mark the end of the step", Applicability.SAFE, reason, Scope.STATEMENT)
    name = next((name for name in _PLACES if name in hooks), None)
    if name is None:
        boundary = fix.emit.boundary(call)
        fix.insert_before(ctx.index.statement_of(call), f'{engine.id}.hooks["on_update"] = lambda state: {boundary}')
        return fix
    function = hooks[name][0] if len(hooks[name]) == 1 else None
    if not isinstance(function, FUNCTIONS):
        return None
    fix.insert_at_start(function, fix.emit.boundary(function.body[0]))
    return fix
