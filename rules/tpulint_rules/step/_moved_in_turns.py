"""A model that a function moves in every turn of a loop, put on the device before its optimizer is built."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Scope
from tpulint.semantic.modules.moves import Move
from tpulint_rules.step._built_optimizers import Taken


def moved_beforehand(ctx: FileContext, taken: Taken, move: Move) -> FixBuilder | None:
    """One more move where the optimizer is built, which leaves those in the turns without effect.

    Kept parameters would not do: they cannot be swapped while the turn before has a graph that reads them.
    """
    tree, names = ctx.index.tree, ctx.index.names
    above, function = tree.statement_of(taken.at), ctx.index.function_of(taken.at)
    module, device = taken.module, move.call.args[0] if len(move.call.args) == 1 else None
    if tree.loop_of(move.call) is None or ctx.index.function_of(move.call) in (None, function):
        return None
    if _goes_back(ctx, move):
        return None
    if not isinstance(above, ast.Assign | ast.AnnAssign) or not isinstance(module, ast.Name):
        return None
    if not isinstance(device, ast.Name) or move.call.keywords:
        return None
    found = names.find_name(device)
    if found is None or found[0] is not names.module or len(found[1]) != 1:
        return None
    made = found[1][0].statement
    if function is None:
        if not isinstance(made, ast.stmt) or tree.suite_of(made) is not tree.suite_of(above):
            return None
        if tree.start(made) > tree.start(above):
            return None
    elif names.bindings_in(names.scope_of(module), device.id):
        return None  # another device
    fix = ctx.fix(
        f"Move `{module.id}` before its optimizer is built",
        Applicability.UNSAFE,
        "What is done with the model until it was moved is then done on the device.",
        Scope.STATEMENT,
    )
    fix.insert_before(above, f"{module.id}.to({device.id})")
    return fix


def _goes_back(ctx: FileContext, move: Move) -> bool:
    """Whether the model is put on the host in between, ``net.to("cpu")``: the moves in the turns have an effect."""
    module = ctx.text(move.module)
    others = (call for call, receiver in ctx.index.method_calls("to", "cpu") if ctx.text(receiver) == module)
    return any(call is not move.call and ctx.index.moves.to_device(call) is None for call in others)
