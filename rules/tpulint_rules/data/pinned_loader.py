"""Pinned memory is memory that a GPU can read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Finding, Scope, Span
from tpulint.semantic.batches.loaders import LOADER
from tpulint.semantic.values.value import is_true

_REASON = "Without a GPU nothing is pinned."
_DEPTH = 4


def check(ctx: FileContext) -> Iterator[Finding]:
    yield from _pinned_by_dicts(ctx)
    for call in ctx.index.calls_to(LOADER):
        pinned = [item for item in call.keywords if item.arg == "pin_memory" and is_true(item.value)]
        pinned += [item for item in call.keywords if item.arg == "pin_memory_device"]
        if not pinned:
            continue
        fix = ctx.fix(f"Remove `{pinned[0].arg}`", Applicability.SAFE, _REASON)
        fix.delete_arguments(call, pinned)
        yield ctx.finding(pinned[0], f"`{pinned[0].arg}` only warns where there is no GPU: nothing is pinned", fix)


def _pinned_by_dicts(ctx: FileContext) -> Iterator[Finding]:
    """``options = {"num_workers": 1, "pin_memory": True}`` for ``DataLoader(data, **options)``."""
    index = ctx.index
    given = [(index.call_arguments.of(call) or {}).get("pin_memory", []) for call in index.calls_to(LOADER)]
    for value in dict.fromkeys(item for values in given for item in values):
        holder = index.parent(value)
        is_pinned = is_true(value)
        if is_pinned and isinstance(holder, ast.Dict) and _is_for_loaders(ctx, holder):
            fix = ctx.fix("Remove `pin_memory`", Applicability.SAFE, _REASON, Scope.STATEMENT)
            _delete_item(ctx, fix, holder, holder.values.index(value))
            yield ctx.finding(value, "`pin_memory` only warns where there is no GPU: nothing is pinned", fix)


def _is_for_loaders(ctx: FileContext, value: ast.expr, depth: int = 0) -> bool:
    """Whether the items of a dictionary are the options of loaders, and are looked at by nobody else."""
    index = ctx.index
    holder = index.parent(value)
    if depth > _DEPTH:
        return False
    if isinstance(holder, ast.IfExp):
        return value is not holder.test and _is_for_loaders(ctx, holder, depth + 1)
    if isinstance(holder, ast.keyword):
        call = index.parent(holder)
        return holder.arg is None and isinstance(call, ast.Call) and index.qualified_name(call.func) == LOADER
    if isinstance(holder, ast.Assign) and len(holder.targets) == 1 and isinstance(holder.targets[0], ast.Name):
        return _holds_options(ctx, holder.targets[0], depth + 1)
    if isinstance(holder, ast.Call) and isinstance(holder.func, ast.Attribute) and holder.args == [value]:
        receiver = holder.func.value
        return (
            holder.func.attr == "update" and isinstance(receiver, ast.Name) and _holds_options(ctx, receiver, depth + 1)
        )
    return False


def _holds_options(ctx: FileContext, variable: ast.Name, depth: int) -> bool:
    names = ctx.index.names
    found = names.find_name(variable)
    if depth > _DEPTH or found is None or (found[0] is names.module and not ctx.index.is_program):
        return False
    for load in names.loads(variable.id, found[0]):
        user = ctx.index.parent(load)
        if isinstance(user, ast.Attribute) and user.attr == "update":
            continue
        if isinstance(user, ast.Subscript) and isinstance(user.ctx, ast.Store):
            continue
        if not _is_for_loaders(ctx, load, depth + 1):
            return False
    return True


def _delete_item(ctx: FileContext, fix: FixBuilder, holder: ast.Dict, number: int) -> None:
    """Take an item out of a dictionary, with the comma behind it, or that in front of the last one."""
    key, tree = holder.keys[number], ctx.index.tree
    assert key is not None
    start, end = tree.start(key), tree.end(holder.values[number])
    following = holder.keys[number + 1] if number + 1 < len(holder.keys) else None
    if following is not None:
        end = tree.start(following)
    elif number > 0:
        start = tree.end(holder.values[number - 1])
    if number + 1 < len(holder.keys) and following is None:  # `**others` stands behind it
        fix.give_up()
    if "#" in ctx.source.text[start:end]:
        fix.give_up()
    fix.replace(Span(start, end), "")
