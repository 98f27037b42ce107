"""Scalers that are asked whether they are on: autocast goes on by what they were told, once they are switched off."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.semantic.cuda.mixed_precision import Autocast, Scaler
from tpulint.semantic.syntax.variables import last_name

_ASKED = "is_enabled"
_NAMED = "scaler"
_SIBLING = "autocast_enabled"
"""What keeps the answer where the expression means nothing in the place that asks."""


def answer_for(ctx: FileContext, fix: FixBuilder, scalers: list[Scaler]) -> set[ast.Call]:
    """Write what the scalers were told, ``enabled=not args.no_amp``, where they are asked; gives those questions."""
    questions = _questions(ctx)
    answered: set[ast.Call] = set()
    for scaler in scalers if questions else ():
        statement = ctx.index.statement_of(scaler.call)
        targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is scaler.call else []
        target = targets[0] if len(targets) == 1 else None
        is_kept = False
        for call, receiver in questions.items():
            text = _everywhere(ctx, scaler.call, call) if len(scalers) == 1 or _is(ctx, receiver, target) else None
            if text is None and _is(ctx, receiver, target) and not ctx.index.mentions(rf"\b{_SIBLING}\b"):
                is_kept = True
                text = f"{ctx.text(receiver.value)}.{_SIBLING}" if isinstance(receiver, ast.Attribute) else _SIBLING
            if text is not None and call not in answered:
                answered.add(call)
                fix.replace(call, text)
        if is_kept and target is not None:
            told = _told(scaler.call)
            assert told is not None
            holder = f"{ctx.text(target.value)}." if isinstance(target, ast.Attribute) else ""
            fix.insert_before(statement, f"{holder}{_SIBLING} = {ctx.text(told)}")
            if "\n" in ctx.text(told):
                fix.give_up()
    return answered


def asks_unknown(ctx: FileContext, autocast: Autocast, answered: set[ast.Call]) -> bool:
    """Whether an autocast is on where a scaler is that another place makes, and switches off."""
    return any(call not in answered for call in _asked_by(ctx, autocast))


def _questions(ctx: FileContext) -> dict[ast.Call, ast.expr]:
    """``scaler.is_enabled()`` by which an autocast goes, with the scaler."""
    if not ctx.index.mentions(rf"\.{_ASKED}\("):
        return {}
    found: dict[ast.Call, ast.expr] = {}
    for autocast in ctx.index.mixed_precision.autocasts:
        found.update(_asked_by(ctx, autocast))
    return found


def _asked_by(ctx: FileContext, autocast: Autocast) -> dict[ast.Call, ast.expr]:
    """The questions in what an autocast is told, or in the variable that it is told."""
    enabled = (autocast.arguments or {}).get("enabled")
    if enabled is None:
        return {}
    bindings = ctx.index.flow.reaching(enabled) if isinstance(enabled, ast.Name) else ()
    told = [enabled, *(one.value for one in bindings if one.kind == "assign" and one.value is not None)]
    calls = ctx.index.method_calls(_ASKED)
    return {
        call: scaler
        for call, scaler in calls
        if not call.args and _NAMED in last_name(scaler).lower()
        if any(ctx.index.tree.encloses(part, call) for part in told)
    }


def _told(call: ast.Call) -> ast.expr | None:
    return next((item.value for item in call.keywords if item.arg == "enabled"), None)


def _everywhere(ctx: FileContext, call: ast.Call, question: ast.Call) -> str | None:
    """What a scaler is told where that means the same in the whole file: nothing, a constant, a global variable."""
    told = _told(call)
    if told is None:
        return "True" if not call.args and all(item.arg for item in call.keywords) else None
    if isinstance(told, ast.Constant):
        return ctx.text(told)
    if not isinstance(told, ast.Name):
        return None
    names = ctx.index.names
    found = names.find(told.id, names.scope_of(question))
    bindings = names.bindings(told)
    is_global = len(bindings) == 1 and bindings[0].scope is names.module
    return told.id if is_global and found is not None and list(found[1]) == list(bindings) else None


def _is(ctx: FileContext, receiver: ast.expr, target: ast.expr | None) -> bool:
    """Whether what is asked is what the scaler was assigned to."""
    if isinstance(receiver, ast.Name) and isinstance(target, ast.Name):
        bindings = ctx.index.names.bindings(receiver)
        return len(bindings) == 1 and bindings == ctx.index.names.bindings(target)
    if not isinstance(receiver, ast.Attribute) or not isinstance(target, ast.Attribute):
        return False
    owners = [owner for owner in ctx.index.tree.classes if ctx.index.names.attribute_bindings(owner, target.attr)]
    return receiver.attr == target.attr and owners == [ctx.index.tree.class_of(target)]
