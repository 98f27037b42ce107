"""Training steps written without their gradient scaler."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.semantic import FunctionNode
from tpulint.semantic.cuda.mixed_precision import Scaler
from tpulint.semantic.cuda.twin_branches import twin_branches
from tpulint.semantic.syntax.blocks import with_emptied_blocks


def take_out(ctx: FileContext, fix: FixBuilder, scalers: list[Scaler]) -> None:
    """Write the plain calls where everything done with a scaler is seen; else only switch it off."""
    plain: dict[ast.AST, str] = {}
    gone: list[ast.stmt] = []
    for scaler in scalers:
        if not scaler.closed:
            torch = fix.use("torch", at=scaler.call)
            fix.replace(scaler.call, f'{torch}.amp.GradScaler("xla", enabled=False)')
            continue
        gone.extend(scaler.statements)
        for call in scaler.uses:
            assert isinstance(call.func, ast.Attribute)
            if call.func.attr in ("scale", "step"):
                plain[call] = _plain_call(ctx, fix, call, call.func.attr)
            else:
                gone.append(ctx.index.statement_of(call))
    _take_out_parameters(fix, [scaler for scaler in scalers if scaler.closed])
    folding = fix.fold(twin_branches(ctx.index, plain, gone))
    for node, text in plain.items():
        folding.replace(node, text)
    for statement in with_emptied_blocks(ctx.index, gone):
        folding.delete(statement)
    folding.write()


def only_off(scalers: list[Scaler]) -> list[ast.Call]:
    """The scalers that are only switched off: what asks whether there is one goes on asking."""
    return [scaler.call for scaler in scalers if not scaler.closed]


def _take_out_parameters(fix: FixBuilder, scalers: list[Scaler]) -> None:
    """Let functions no longer take scalers: those of one function, and of one call, go together."""
    parameters: dict[FunctionNode, list[ast.arg]] = {}
    arguments: dict[ast.Call, list[ast.expr | ast.keyword]] = {}
    for scaler in scalers:
        for passage in scaler.passages:
            parameters.setdefault(passage.function, []).append(passage.parameter)
            for call, argument in passage.arguments:
                arguments.setdefault(call, []).append(argument)
    for function, gone in parameters.items():
        fix.delete_parameters(function, gone)
    for call, items in arguments.items():
        fix.delete_arguments(call, items)


def _plain_call(ctx: FileContext, fix: FixBuilder, call: ast.Call, method: str) -> str:
    if method == "scale":
        is_alone = isinstance(ctx.index.parent(call), ast.Assign) and "\n" not in ctx.text(call)
        return ctx.text(call.args[0]) if is_alone else fix.text(call.args[0])
    rest = [*call.args[1:], *call.keywords]
    end = ctx.index.span(call).end - 1
    arguments = ctx.source.text[ctx.index.span(rest[0]).start : end] if rest else ""
    return f"{fix.text(call.args[0])}.step({arguments})"
