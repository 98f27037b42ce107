"""What a training leaves as it is, in a model that is averaged: the average shares it, and deletes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Applicability, Certainty, Finding, Scope

_REASON = "Each tensor of the model is multiplied by 1; that one of them stays as it is is likely, not certain."


def check(ctx: FileContext) -> Iterator[Finding]:
    for update in ctx.index.averaged_models.shared:
        statement = ctx.index.statement_of(update.call)
        fix = ctx.fix("Renew the tensors of the model first", Applicability.UNSAFE, _REASON, Scope.STATEMENT)
        if isinstance(statement, ast.Expr) and statement.value is update.call:
            fix.insert_before(statement, f"{fix.use('tpulint_runtime')}.renew_tensors({update.model})")
        else:
            fix.give_up()
        yield ctx.finding(
            update.call,
            f"no step changes {update.reason}; on XLA its copy in the average shares its memory, and the next update "
            "deletes it",
            fix,
            certainty=Certainty.LIKELY,
            related=() if update.place is None else ((ctx.index.span(update.place), "this"),),
        )
