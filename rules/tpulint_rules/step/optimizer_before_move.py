"""An optimizer that was built before its model moved trains parameters nobody uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tpulint.context import FileContext, short
from tpulint.model import Certainty, Finding, Severity, Span
from tpulint.semantic import FUNCTIONS, Kind
from tpulint.semantic.devices.device_sites import devices_given
from tpulint.semantic.modules.moves import Move
from tpulint.semantic.project.other_files import Definition
from tpulint.semantic.syntax.torch_facts import COPIES
from tpulint.semantic.values.creations import Creation
from tpulint_rules.step._built_by_base import built_by_base
from tpulint_rules.step._built_optimizers import Taken, adds_to_optimizer, builds_optimizer, taken_for
from tpulint_rules.step._built_together import built_together
from tpulint_rules.step._handed_parts import parts_handed
from tpulint_rules.step._harmless_moves import is_built_anew, moves_nothing
from tpulint_rules.step._kept_parameters import keep_parameters
from tpulint_rules.step._made_modules import (
    begun,
    builds_its_own,
    classes_made,
    is_told_otherwise,
    makings,
    modules_made,
    parts_building,
    stepping_methods,
)
from tpulint_rules.step._passed_optimizers import passed_beside

_TRAINS = r"\.(?:backward|step|train|fit|learn|optimize\w*|update\w*)\("
_MOST_COPIES = 4
"""Copies of copies that are followed."""
_MAY_UPDATE = r"\.step\(|[oO]ptimizer\b|optim\w*[\"']\]"


def check(ctx: FileContext) -> Iterator[Finding]:
    moves = ctx.index.moves
    if not moves.moves and not ctx.index.imported.knows_others:
        return
    optimizers = [(call, taken_for(ctx, call)) for call in ctx.index.calls if builds_optimizer(ctx, call)]
    added = [(call, taken_for(ctx, call)) for call in ctx.index.calls if adds_to_optimizer(call)]
    # Where no optimizer is built, one may still come in from another file, to be stepped here.
    may_update = optimizers or added or ctx.index.imported.knows_others or ctx.index.mentions(_MAY_UPDATE)
    may_update = may_update or any(call.classes for call in ctx.index.outside)
    if not may_update or moves.keeps_parameters:
        return
    keeping = [move for move in moves.moves if moves.keeps_parameters_at(move.call)]
    moving = [move for move in moves.moves if move not in keeping and not _has_moved(ctx, move, keeping)]
    moving = [move for move in moving if not moves_nothing(ctx, move)]
    told: list[Move] = []
    put_first: list[ast.If] = []
    builders: set[ast.AST] = set()
    waiting: list[tuple[ast.expr, list[Creation]]] = []
    takings = [(optimizer, taken) for optimizer, all_taken in (*optimizers, *added) for taken in all_taken]
    for optimizer, taken in sorted(takings, key=lambda one: ctx.index.tree.start(one[1].at)):
        creations = moves.collected.of(taken.module)
        if _is_on_device(ctx, taken.at, creations):
            continue
        waiting.append((taken.at, creations))
        for move in moving:
            shared = [
                creation
                for creation in moves.moved_by(move)
                if any(
                    creation.overlaps(other) and not _may_be_batch(ctx, move, creation, other) for other in creations
                )
            ]
            if not shared or move in told or moves.precedes(taken.at, move.call) is not True:
                continue
            if is_built_anew(ctx, optimizer, move, (one for one, _ in optimizers)):
                continue
            told.append(move)
            known = move.certain and not any(isinstance(moved.node, ast.arg) for moved in shared)
            certainty = Certainty.CERTAIN if known else Certainty.LIKELY
            yield _finding(ctx, optimizer, move, certainty, told, taken, put_first)
    if optimizers and ctx.index.imported.knows_others:
        from tpulint_rules.step._moved_elsewhere import moved_elsewhere

        yield from moved_elsewhere(ctx, waiting, [*told, *keeping])
    for move in moving:
        if move not in told and (built := passed_beside(ctx.index, move)) is not None:
            yield _finding(ctx, built, move, Certainty.LIKELY)
        elif move not in told and (builder := _builder(ctx, move)) is not None:
            name = builder.node.name if isinstance(builder.node, ast.ClassDef) else ""
            message = (
                f"`{ctx.text(move.module)}` moves to the device after `{name}` built an optimizer of its own "
                "parameters: on XLA a move makes new parameters, and the optimizer keeps the old ones, so that the "
                "model never trains"
            )
            builders.add(builder.node)
            fix = keep_parameters(ctx, move.call, made_in=(builder.file,))
            yield ctx.finding(move.call, message, fix, certainty=Certainty.LIKELY)
        elif move not in told and (giver := _giver(ctx, move)) is not None:
            name = giver.node.name if isinstance(giver.node, (*FUNCTIONS, ast.ClassDef)) else ""
            message = (
                f"`{short(ctx.text(move.module))}` moves to the device after `{name}` built its optimizer: on XLA a "
                "move makes new parameters, and the optimizer keeps the old ones, so that the model never trains"
            )
            fix = keep_parameters(ctx, move.call, made_in=(giver.file,))
            yield ctx.finding(move.call, message, fix, certainty=Certainty.LIKELY)
    for optimizer, all_taken in optimizers:
        modules = [taken.module for taken in all_taken]
        is_free = moving and not told and ctx.index.tree.class_of(optimizer) not in builders
        if is_free and _is_of_itself(ctx, optimizer, modules):
            message = (
                "the module builds an optimizer of its own parameters before whoever makes it can move it: on XLA a "
                "move makes new parameters, and the optimizer keeps the old ones, so that the model never trains"
            )
            yield ctx.finding(optimizer, message, keep_parameters(ctx), certainty=Certainty.LIKELY)


def _giver(ctx: FileContext, move: Move) -> Definition | None:
    """Who has built the optimizer of what moves elsewhere: what gave both, or the base class of what moves it."""
    return built_together(ctx.index, move) or built_by_base(ctx.index, move)


def _finding(
    ctx: FileContext,
    optimizer: ast.AST,
    move: Move,
    certainty: Certainty,
    told: Sequence[Move] = (),
    taken: Taken | None = None,
    put_first: list[ast.If] | None = None,
) -> Finding:
    from tpulint_rules.step._moved_first import branch_of_moves, moved_first
    from tpulint_rules.step._moved_in_turns import moved_beforehand

    module = short(ctx.text(move.module))
    if not isinstance(optimizer, ast.Call):
        name = optimizer.arg if isinstance(optimizer, ast.arg) else ctx.text(optimizer)
        message = (
            f"`{name}` is built before `{module}` moves to the device here: on XLA a move makes new "
            "parameters, and the optimizer keeps the old ones, so that the model never trains"
        )
        severity = Severity.WARNING
        related: tuple[tuple[Span, str], ...] = ()
    else:
        is_early = taken is not None and taken.at is not optimizer
        is_added = adds_to_optimizer(optimizer)
        done = (
            "its parameters were added to the optimizer"
            if is_added
            else "its parameters were taken for the optimizer"
            if is_early
            else "its optimizer was built"
        )
        message = (
            f"`{module}` moves to the device after {done}: on XLA a move makes new parameters, and "
            "the optimizer keeps the old ones, so that the model never trains"
        )
        severity = Severity.ERROR
        related = ((ctx.index.span(optimizer), f"the optimizer is {'given them' if is_added else 'built'} here"),)
    branch = branch_of_moves(ctx, move)
    fix = None
    if branch is None or all(branch_of_moves(ctx, other) is not branch for other in told if other is not move):
        fix = moved_first(ctx, optimizer if taken is None else taken.at, move)
        if fix is not None and branch is not None and put_first is not None:
            put_first.append(branch)
    if fix is None and taken is not None and isinstance(optimizer, ast.Call):
        fix = moved_beforehand(ctx, taken, move)
    # A branch that is put first takes along all that moves in it.
    if fix is None and not (put_first and branch in put_first):
        fix = keep_parameters(ctx, move.call, made_in=[owner.file for owner in _owners(ctx, move)])
    return ctx.finding(move.call, message, fix, severity=severity, certainty=certainty, related=related)


# -------------------------------------------------------------------- finding


def _has_moved(ctx: FileContext, move: Move, before: list[Move]) -> bool:
    """Whether one of these moves has put on the device what this one moves, which then changes nothing."""
    moves = ctx.index.moves
    earlier = [one for one in before if moves.precedes(one.call, move.call) is True]
    taken = [creation for one in earlier for creation in moves.moved_by(one)]
    return bool(taken) and all(any(made.overlaps(other) for other in taken) for made in move.creations)


def _may_be_batch(ctx: FileContext, move: Move, moved: Creation, whole: Creation) -> bool:
    """Whether what moves comes out of an attribute that nobody knows to hold modules: ``for batch in self.loader``."""
    if len(moved.path) < len(whole.path) + 2 or moved.path[len(whole.path)].startswith("["):
        return False
    is_element = any(step.startswith("[") for step in moved.path[len(whole.path) + 1 :])
    stands_alone = isinstance(ctx.index.parent(move.call), ast.Expr)  # which does nothing with a tensor
    return is_element and not stands_alone and ctx.index.kind(move.module) is not Kind.MODULE


def _is_of_itself(ctx: FileContext, optimizer: ast.Call, modules: list[ast.expr]) -> bool:
    """Whether a module builds the optimizer of ``self.parameters()`` while it is made, on the host."""
    index = ctx.index
    owner, function = index.tree.class_of(optimizer), index.function_of(optimizer)
    if owner is None or function is None or not function.args.args:
        return False
    if all(run.node is not function for run in begun(Definition(index, owner))):
        return False
    own = function.args.args[0].arg
    if not index.definitions.is_module_class(owner) or not any(
        isinstance(module, ast.Name) and module.id == own for module in modules
    ):
        return False
    placed = any(
        index.moves.to_device(call) is not None or any(item.arg == "device" for item in call.keywords)
        for call in index.calls
        if index.tree.encloses(owner, call)
        and not index.tree.encloses(optimizer, call)
        and not any(_asks_itself(ctx, item) for item in devices_given(call))
    )
    return not placed


def _asks_itself(ctx: FileContext, device: ast.expr) -> bool:
    """Whether a device is that of the module's own parameters: ``self.device``, a property."""
    if not isinstance(device, ast.Attribute) or not isinstance(device.value, ast.Name):
        return False
    return any("parameters()" in ctx.text(item) for item in ctx.index.definitions.properties(device.attr))


def _builder(ctx: FileContext, move: Move) -> Definition | None:
    """The class of what is moved, and trained here, that builds an optimizer of its parts while it is made."""
    builders = [
        owner
        for call in makings(move.creations)
        for owner in classes_made(ctx.index, call)
        if (builds_its_own(owner) and not is_told_otherwise(ctx.index, call, owner))
        or _has_part_build(ctx, call, owner)
    ]
    # Parts of this file are told of where they build theirs.
    builders += [
        part
        for call in makings(move.creations)
        for owner in classes_made(ctx.index, call)
        for part in modules_made(owner)
        if part.file is not ctx.index
    ]
    builders += [
        part
        for call in makings(move.creations)
        for owner in classes_made(ctx.index, call)
        for given, creation, part in parts_handed(ctx.index, call, owner)
        if not _is_on_device(ctx, given, [creation])
    ]
    if any(isinstance(creation.node, ast.arg) and not creation.way for creation in move.creations):
        # What other files hand over: `Trainer(Net())`
        builders += filter(builds_its_own, ctx.index.imported.classes_here(move.module, ctx.index))
    return next((owner for owner in builders if _is_trained_here(ctx, owner)), None)


def _has_part_build(ctx: FileContext, making: ast.Call, owner: Definition) -> bool:
    """Whether an object has a part build an optimizer as it is made, which is on the host then."""
    given = parts_building(ctx.index, making, owner)
    return any(part is None or not _is_on_device(ctx, part, ctx.index.moves.creations.of(part)) for part in given)


def _is_trained_here(ctx: FileContext, owner: Definition) -> bool:
    """Whether the file trains: it says so, or calls a method of the class that steps an optimizer."""
    return ctx.index.mentions(_TRAINS) or any(
        isinstance(ctx.index.parent(use), ast.Call)
        for name in stepping_methods(owner)
        for use in ctx.index.tree.attributes_called(name)
    )


def _owners(ctx: FileContext, move: Move) -> Iterator[Definition]:
    """The classes, of this file or others, of what is moved."""
    for call in makings(move.creations):
        yield from classes_made(ctx.index, call)


def _is_on_device(ctx: FileContext, taking: ast.expr, creations: list[Creation], depth: int = 0) -> bool:
    """Whether the module has moved, or may have, when its parameters are taken."""
    moves = ctx.index.moves
    for creation in creations:
        way = (call for call in creation.way if not ctx.index.tree.encloses(call, taking))
        if any(moves.to_device(call) is not None and moves.precedes(taking, call) is not True for call in way):
            return True
        if isinstance(creation.node, ast.Call):
            arguments = [*creation.node.args, *(item.value for item in creation.node.keywords)]
            is_copy = ctx.index.qualified_name(creation.node.func) in COPIES and depth < _MOST_COPIES
            copied = moves.creations.of(arguments[0]) if is_copy and arguments else []
            if copied and _is_on_device(ctx, taking, copied, depth + 1):
                return True
            if any(item.arg in ("device", "device_map") for item in creation.node.keywords):
                return True
            if any(ctx.index.kind(item) is Kind.DEVICE for item in arguments):
                return True
        for move in moves.moves:
            if (
                any(creation.overlaps(other) for other in moves.moved_by(move))
                and moves.precedes(move.call, taking) is not False
            ):
                return True
    return ctx.index.mentions(r"set_default_(device|tensor_type)|with \w+\.device\(")
