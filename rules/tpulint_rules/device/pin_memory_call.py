"""Page-locked memory: it needs a GPU driver."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope, Severity, Span
from tpulint.semantic import FunctionNode, Kind

_REASON = "Host memory is not page-locked on a TPU machine; the copy to the device works without."


def check(ctx: FileContext) -> Iterator[Finding]:
    yield from _method_calls(ctx)
    yield from _factory_arguments(ctx)


def _method_calls(ctx: FileContext) -> Iterator[Finding]:
    own_methods = _asks_for_methods(ctx) or any(_is_own_method(ctx, function) for function in ctx.index.tree.functions)
    for call, receiver in ctx.index.method_calls("pin_memory"):
        certain = ctx.index.kind(receiver) is Kind.TENSOR
        if not certain and own_methods:
            continue  # the receiver may be a batch class of this file
        if ctx.index.devices.is_guarded(call):
            continue
        if _inside_own_method(ctx, call) or any(
            isinstance(ancestor, ast.JoinedStr) for ancestor in ctx.index.tree.ancestors(call)
        ):
            continue
        if ctx.portable and (ctx.index.guards.is_for_cuda(call) or ctx.index.qualified_name(call.func) is not None):
            continue
        if ctx.portable and not call.args and not call.keywords:
            fix = ctx.fix("Pin on CUDA only", Applicability.SAFE, "On CUDA nothing changes.")
            fix.replace(call, f"{fix.emit.runtime('pin_memory', call)}({ctx.text(receiver)})")
        else:
            fix = ctx.fix("Leave out `.pin_memory()`", Applicability.SAFE, _REASON)
            _take_out(ctx, fix, call, receiver)
        message = "`.pin_memory()` fails on a TPU machine: it page-locks memory for a GPU"
        severity = Severity.WARNING if ctx.index.callers.decide(call) else None
        certainty = Certainty.CERTAIN if certain else Certainty.LIKELY
        yield ctx.finding(call, message, fix, severity=severity, certainty=certainty)


def _inside_own_method(ctx: FileContext, call: ast.Call) -> bool:
    """A batch's own ``pin_memory`` is called by a DataLoader that pins, which it does not do without a GPU."""
    function = ctx.index.function_of(call)
    return function is not None and _is_own_method(ctx, function)


def _is_own_method(ctx: FileContext, function: FunctionNode) -> bool:
    """Whether a class defines it; a function ``pin_memory(data_queue)`` of the module is called by threads."""
    return function.name == "pin_memory" and isinstance(ctx.index.parent(function), ast.ClassDef)


def _asks_for_methods(ctx: FileContext) -> bool:
    """``hasattr(batch, "pin_memory")``: batches have one of their own."""
    asked = (argument for call in ctx.index.calls_to("builtins.hasattr") for argument in call.args[1:])
    return any(isinstance(name, ast.Constant) and name.value == "pin_memory" for name in asked)


def _take_out(ctx: FileContext, fix: FixBuilder, call: ast.Call, receiver: ast.expr) -> None:
    statement = ctx.index.parent(call)
    if isinstance(statement, ast.Expr):
        fix.scope = Scope.STATEMENT
        fix.delete(statement)
    elif isinstance(statement, ast.Assign) and [ctx.text(target) for target in statement.targets] == [
        ctx.text(receiver)
    ]:
        fix.scope = Scope.STATEMENT
        fix.delete(statement)  # x = x.pin_memory()
    else:
        end = _end_with_parentheses(ctx, receiver, call)
        fix.replace(Span(end, ctx.index.span(call).end), "")


def _end_with_parentheses(ctx: FileContext, receiver: ast.expr, call: ast.Call) -> int:
    end = ctx.index.span(receiver).end
    dot = ctx.source.text.rindex(".", end, ctx.index.span(call.func).end)
    return end + len(ctx.source.text[end:dot].rstrip())


def _factory_arguments(ctx: FileContext) -> Iterator[Finding]:
    for call in ctx.index.calls:
        name = ctx.index.qualified_name(call.func)
        if name is None or not name.startswith("torch.") or name.count(".") != 1:
            continue
        for keyword in call.keywords:
            if keyword.arg == "pin_memory" and not (
                isinstance(keyword.value, ast.Constant) and keyword.value.value is False
            ):
                if ctx.index.guards.asks_cuda(keyword.value):
                    continue
                certain = isinstance(keyword.value, ast.Constant)
                fix = ctx.fix("Leave out `pin_memory`", Applicability.SAFE, _REASON)
                fix.emit.leave_to_cuda(call, keyword)
                if ctx.portable and not certain:
                    fix.give_up()  # the flag chooses among GPUs
                left = ctx.index.callers.decide(keyword.value) or not (certain or ctx.index.is_program)
                yield ctx.finding(
                    keyword, f"`pin_memory=True` of `{name}` fails on a TPU machine: it locks memory for a GPU", fix,
                    severity=Severity.WARNING if left else None,
                    certainty=Certainty.CERTAIN if certain else Certainty.LIKELY,
                )  # fmt: skip
