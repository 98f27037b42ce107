"""An optimizer that was built before its model moved trains parameters nobody uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding, Severity, Span
from tpulint.semantic.moves import Move
from tpulint_rules.step._kept_parameters import keep_parameters
from tpulint_rules.step._moved_first import branch_of_moves, moved_first


def check(ctx: FileContext) -> Iterator[Finding]:
    told: list[Move] = []
    for optimizer, move, certain in ctx.index.late_moves.all:
        certainty = Certainty.CERTAIN if certain else Certainty.LIKELY
        if move is None:
            message = (
                "the module builds an optimizer of its own parameters before whoever makes it can move it: on XLA a "
                "move makes new parameters, and the optimizer keeps the old ones, so that the model never trains"
            )
            yield ctx.finding(optimizer, message, keep_parameters(ctx), certainty=certainty)
            continue
        if isinstance(optimizer, ast.Call):
            told.append(move)
        yield _finding(ctx, optimizer, move, certainty, told)


def _finding(ctx: FileContext, optimizer: ast.AST, move: Move, certainty: Certainty, told: Sequence[Move]) -> Finding:
    module = ctx.text(move.module)
    if not isinstance(optimizer, ast.Call):
        name = optimizer.arg if isinstance(optimizer, ast.arg) else ctx.text(optimizer)
        message = (
            f"`{name}` is built before `{module}` moves to the device here: on XLA a move makes new "
            "parameters, and the optimizer keeps the old ones, so that the model never trains"
        )
        severity = Severity.WARNING
        related: tuple[tuple[Span, str], ...] = ()
    else:
        message = (
            f"`{module}` moves to the device after its optimizer was built: on XLA a move makes new parameters, and "
            "the optimizer keeps the old ones, so that the model never trains"
        )
        severity = Severity.ERROR
        related = ((ctx.index.span(optimizer), "the optimizer is built here"),)
    branch = branch_of_moves(ctx, move)
    # One that moves under the same condition takes this one along.
    is_taken = branch is not None and any(branch_of_moves(ctx, other) is branch for other in told if other is not move)
    fix = None if is_taken else moved_first(ctx, optimizer, move) or keep_parameters(ctx)
    return ctx.finding(move.call, message, fix, severity=severity, certainty=certainty, related=related)
