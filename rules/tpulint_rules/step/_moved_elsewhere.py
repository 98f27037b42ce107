"""Models that functions of other files move after their optimizers were built."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import FUNCTIONS
from tpulint.semantic.modules.handed_moves import HandedMove
from tpulint.semantic.modules.moves import Move
from tpulint.semantic.project.other_files import function_run
from tpulint.semantic.values.creations import Creation
from tpulint_rules.step._kept_parameters import keep_parameters
from tpulint_rules.step._passed_optimizers import passed_beside


def moved_elsewhere(
    ctx: FileContext, built: Sequence[tuple[ast.expr, list[Creation]]], told: Sequence[Move]
) -> Iterator[Finding]:
    """Models that a function of another file moves after their optimizers were ``built`` here, on the host."""
    index = ctx.index
    handed = index.handed_moves.all if built else []
    seen: list[Creation] = [creation for move in told for creation in index.moves.moved_by(move)]
    for one in handed:
        if passed_beside(one.holder, one.origin) is not None:
            continue  # told there
        if one.holder.moves.keeps_parameters_at(one.origin.call) or index.moves.keeps_parameters_at(one.move.call):
            continue
        for optimizer, creations in built:
            shared = [
                made for made in index.moves.moved_by(one.move) if any(made.overlaps(other) for other in creations)
            ]
            if not shared or any(made.overlaps(other) for made in shared for other in seen):
                continue
            if index.moves.precedes(optimizer, one.move.call) is not True:
                continue
            if _may_be_made_there(ctx, shared) or _is_handed_first(ctx, handed, optimizer, creations):
                continue
            seen += shared
            yield _finding_handed(ctx, optimizer, one)
            break


def _finding_handed(ctx: FileContext, optimizer: ast.expr, handed: HandedMove) -> Finding:
    assert isinstance(handed.function.node, FUNCTIONS)
    module, call = ctx.text(handed.move.module), handed.move.call
    message = (
        f"`{ctx.text(call.func)}` moves `{module}` to the device after its optimizer was built: on XLA a move makes "
        "new parameters, and the optimizer keeps the old ones, so that the model never trains"
    )
    made = [one.node for one in handed.move.creations if isinstance(one.node, ast.Call)]
    owners = [owner for one in made for owner in ctx.index.imported.classes_of(one)]
    fix = keep_parameters(ctx, made_in=(handed.holder, *(owner.file for owner in owners)))
    related = ((ctx.index.span(optimizer), "the optimizer is built here"),)
    return ctx.finding(call, message, fix, certainty=Certainty.LIKELY, related=related)


def _may_be_made_there(ctx: FileContext, creations: list[Creation]) -> bool:
    """Whether what makes a module in another file may have put it on the device."""
    for creation in creations:
        found = ctx.index.imported.called(creation.node) if isinstance(creation.node, ast.Call) else None
        run = None if found is None else function_run(found)
        calls = run.file.tree.nodes_in(run.node, ast.Call, functions=True) if run is not None else ()
        if run is not None and any(run.file.moves.to_device(call) is not None for call in calls):
            return True
    return False


def _is_handed_first(
    ctx: FileContext, handed: list[HandedMove], optimizer: ast.expr, creations: list[Creation]
) -> bool:
    """Whether another file moves a model, or may, before its optimizer is built."""
    return any(
        ctx.index.moves.may_precede(one.move.call, optimizer)
        and any(made.overlaps(other) for made in ctx.index.moves.moved_by(one.move) for other in creations)
        for one in handed
    )
