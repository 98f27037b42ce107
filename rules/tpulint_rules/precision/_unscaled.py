"""Training steps written without their gradient scaler."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.semantic import FunctionNode
from tpulint.semantic.blocks import acts, is_elif, with_emptied_blocks
from tpulint.semantic.mixed_precision import Scaler


def take_out(ctx: FileContext, fix: FixBuilder, scalers: list[Scaler]) -> None:
    """Write the plain calls where everything done with a scaler is seen; else only switch it off."""
    plain: dict[ast.Call, str] = {}
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
    folding = fix.fold(_twins(ctx, plain, gone))
    for call, text in plain.items():
        folding.replace(call, text)
    for statement in with_emptied_blocks(ctx.index, gone):
        folding.delete(statement)
    folding.write()


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


# -------------------------------------------------------------------- branches that become the same


def _twins(ctx: FileContext, plain: dict[ast.Call, str], gone: list[ast.stmt]) -> dict[ast.expr, bool]:
    """Conditions between a branch with the scaler and one that does the same without it, with the branch to keep."""
    found: dict[ast.expr, bool] = {}
    holders = [
        ancestor for call in plain for ancestor in ctx.index.tree.ancestors(call) if isinstance(ancestor, ast.If)
    ]
    for holder in dict.fromkeys(holders):
        if (
            not holder.orelse
            or is_elif(ctx.index, holder)
            or isinstance(holder.orelse[0], ast.If)
            or acts(ctx.index, holder.test)
        ):
            continue
        if not _same_blocks(holder.body, holder.orelse, plain, gone):
            continue
        with_scaler = any(_encloses(ctx, item, call) for item in holder.body for call in plain)
        found[holder.test] = not with_scaler
    return found


def _same_blocks(one: list[ast.stmt], two: list[ast.stmt], plain: dict[ast.Call, str], gone: list[ast.stmt]) -> bool:
    left, right = [item for item in one if item not in gone], [item for item in two if item not in gone]
    return len(left) == len(right) > 0 and all(_same(a, b, plain, gone) for a, b in zip(left, right, strict=True))


def _same(one: object, two: object, plain: dict[ast.Call, str], gone: list[ast.stmt]) -> bool:
    """Whether two pieces of a tree are the same once the scaler is out."""
    if isinstance(one, ast.Call) and one in plain:
        one = ast.parse(plain[one].strip(), mode="eval").body
    if isinstance(two, ast.Call) and two in plain:
        two = ast.parse(plain[two].strip(), mode="eval").body
    if isinstance(one, list) and isinstance(two, list):
        left, right = [item for item in one if item not in gone], [item for item in two if item not in gone]
        return len(left) == len(right) and all(_same(a, b, plain, gone) for a, b in zip(left, right, strict=True))
    if isinstance(one, ast.AST) and isinstance(two, ast.AST):
        return type(one) is type(two) and all(
            _same(getattr(one, field, None), getattr(two, field, None), plain, gone) for field in one._fields
        )
    return one == two


def _encloses(ctx: FileContext, outer: ast.AST, inner: ast.AST) -> bool:
    return ctx.index.tree.encloses(outer, inner)
