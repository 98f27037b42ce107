"""Models that only a wrapper moves, or a branch for several GPUs: ``if n > 1: net = nn.DataParallel(net).cuda()``."""

from __future__ import annotations

import ast

from tpulint.context import FileContext, FixBuilder
from tpulint.records import NamedTuple
from tpulint.semantic import Kind
from tpulint.semantic.functions.passed_arguments import values_given
from tpulint.semantic.project.other_files import definition_called, function_run
from tpulint.semantic.values.creations import Creation, overlap
from tpulint_rules.distributed._state_prefixes import same
from tpulint_rules.step._made_modules import classes_made

_MOVING = (".to(", ".cuda(", "device")
"""Words of what makes models that puts them on a device itself."""


class OnlyMove(NamedTuple):
    """A branch that moves what nothing else moves."""

    branch: ast.If
    model: ast.Name | ast.Attribute
    is_bound: bool
    """Whether the variable gets the model anew with the move."""


def keep_move(ctx: FileContext, fix: FixBuilder, move: OnlyMove) -> bool:
    """Write a move where its branch was; false where there is more to the branch."""
    branch = move.branch
    if branch.orelse or ctx.source.text.startswith("elif", ctx.index.span(branch).start):
        return False
    name = ctx.text(move.model)
    moved = f"{name}.to({fix.device(branch)})"
    fix.replace(branch, f"{name} = {moved}" if move.is_bound else moved)
    return True


def only_move(ctx: FileContext, wrapper: ast.Call, wrapped: ast.expr) -> OnlyMove | None:
    """The move of a wrapped model in the branch around the wrapper, where it is not moved in front or behind."""
    index = ctx.index
    branch = next((item for item in index.tree.ancestors(wrapper) if isinstance(item, ast.If)), None)
    statement = index.statement_of(wrapper)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    model = wrapped
    while isinstance(model, ast.Call) and isinstance(model.func, ast.Attribute) and model.func.attr in ("cuda", "to"):
        model = model.func.value
    if branch is None or not isinstance(model, ast.Name | ast.Attribute) or target is None or not same(target, model):
        return None
    own = [move for move in index.moves.moves if index.tree.encloses(branch, move.call)]
    inside = [move.call for move in own if move.certain and _is_of(move.call, model, wrapper)]
    used = index.moves.creations.of(model)
    others = (move for move in index.moves.moves if move not in own)
    if not inside or any(a.overlaps(b) for move in others for a in move.creations for b in used):
        return None
    return OnlyMove(branch, model, any(index.tree.encloses(statement, call) for call in inside))


def is_moved_by_wrapper(ctx: FileContext, wrapped: ast.expr) -> bool:
    """Whether nothing in sight moves a wrapped model, and so ``DataParallel`` alone did, where there was one GPU.

    One that a branch wraps, ``if torch.cuda.device_count() > 0:``, would only be moved where that is taken.
    """
    index = ctx.index
    if any(isinstance(around, ast.If | ast.IfExp | ast.BoolOp) for around in index.tree.ancestors(wrapped)):
        return False
    owner = index.tree.class_of(wrapped)
    if owner is not None and index.definitions.is_module_class(owner):
        return False  # it moves with what it is a part of
    used = index.moves.creations.of(wrapped)
    moves = [*index.moves.moves, *(handed.move for handed in index.handed_moves.all)]
    return (
        bool(used)
        and all(_is_left(ctx, one) for one in used)
        and not any(overlap(index.moves.collected.among(move.creations), used) for move in moves)
    )


def _is_left(ctx: FileContext, one: Creation) -> bool:
    """Whether a model is made whole by a call that leaves it on the host, and is moved on no way from there."""
    index, made = ctx.index, one.node
    if not isinstance(made, ast.Call) or one.path or one.way:
        return False
    if any(index.kind(item) is Kind.DEVICE for item in values_given(made)):
        return False
    called = definition_called(index, made)
    makers = [called] if called is not None and not called.is_class else list(classes_made(index, made))
    runs = (function_run(maker) for maker in makers)
    return not any(word in run.file.text(run.node) for run in runs if run is not None for word in _MOVING)


def _is_of(move: ast.Call, model: ast.expr, wrapper: ast.Call) -> bool:
    """Whether a call moves the model, or what the wrapper gave."""
    moved = move.func.value if isinstance(move.func, ast.Attribute) else move
    return moved is wrapper or (isinstance(moved, ast.Name | ast.Attribute) and same(moved, model))
