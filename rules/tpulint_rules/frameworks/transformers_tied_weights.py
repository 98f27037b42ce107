"""Language models of Transformers tie their weights, and lose the tie when they are moved by hand."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding, Scope
from tpulint.semantic import Kind
from tpulint.semantic.modules.moves import Move

_TIED = re.compile(r"LMHead|ForCausalLM|ForMaskedLM|ForConditionalGeneration|ForSeq2SeqLM|ForPreTraining")


def check(ctx: FileContext) -> Iterator[Finding]:
    moves = ctx.index.moves
    for move in moves.moves:
        if moves.keeps_parameters_at(move.call):
            continue
        if not any(_is_language_model(ctx, creation.node) and not creation.path for creation in move.creations):
            continue
        if not _trains(ctx):
            return
        if _is_tied_again(ctx, move):
            continue
        message = (
            f"moving `{_short(ctx, move.module)}` to an XLA device unties its input and output embeddings, which then "
            "train apart; call `tie_weights()` behind it"
        )
        yield ctx.finding(move.call, message, _tied_again(ctx, move), certainty=Certainty.LIKELY)


def _trains(ctx: FileContext) -> bool:
    return (
        any(ctx.index.kind(call) is Kind.OPTIMIZER for call in ctx.index.calls)
        or next(ctx.index.method_calls("backward"), None) is not None
    )


def _is_language_model(ctx: FileContext, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = ctx.index.qualified_name(node.func) or ""
    return name.startswith("transformers.") and _TIED.search(name) is not None


def _is_tied_again(ctx: FileContext, move: Move) -> bool:
    return any(
        ctx.index.moves.precedes(move.call, call) is not False for call, _ in ctx.index.method_calls("tie_weights")
    )


def _tied_again(ctx: FileContext, move: Move) -> FixBuilder | None:
    statement = ctx.index.statement_of(move.call)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.value is move.call:
        model: ast.expr = statement.targets[0]
    elif isinstance(statement, ast.Expr) and statement.value is move.call:
        model = move.module
    else:
        return None
    if not isinstance(model, ast.Name | ast.Attribute):
        return None
    fix = ctx.fix(
        "Tie the weights again",
        Applicability.UNSAFE,
        "Nothing changes for a model whose weights are not tied.",
        Scope.STATEMENT,
    )
    fix.insert_after(statement, f"{ctx.text(model)}.tie_weights()")
    return fix


def _short(ctx: FileContext, node: ast.expr) -> str:
    return ctx.text(node) if isinstance(node, ast.Name | ast.Attribute) else "a language model"
