"""A model that goes to the host and back while it is trained: its optimizer is left behind."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import LOOPS, Kind
from tpulint.semantic.creations import Creation
from tpulint.semantic.moves import Move
from tpulint_rules.step._built_optimizers import builds_optimizer, modules_of
from tpulint_rules.step._kept_parameters import keep_parameters
from tpulint_rules.step._saved_in_place import module_moved, saved_in_place


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    departures = [(call, receiver) for call, receiver in index.method_calls("cpu", "to") if _goes_to_host(ctx, call)]
    if not departures or index.moves.keeps_parameters or not index.moves.has_device:
        return
    optimizers = [
        (call, [one for module in modules_of(ctx, call) for one in index.moves.creations.of(module)])
        for call in index.calls
        if builds_optimizer(ctx, call)
    ]
    for call, receiver in departures:
        if index.kind(receiver) not in (Kind.MODULE, Kind.UNKNOWN):
            continue
        gone = index.moves.creations.of(receiver)
        optimizer = next((o for o, owned in optimizers if _share(gone, owned) and _is_before(ctx, o, call)), None)
        ways = (move for move in index.moves.moves if _share(gone, move.creations))
        back = next((move for move in ways if _is_way_back(ctx, call, move)), None)
        if optimizer is None or back is None or not _trains_on(ctx, optimizer, call, back):
            continue
        known = back.certain and not any(isinstance(one.node, ast.arg) for one in gone)
        module = ctx.text(module_moved(call))
        yield ctx.finding(
            call,
            f"`{module}` goes to the host and back while it is trained: on XLA both moves make new parameters, and the "
            "optimizer keeps the old ones, so that the model trains no more",
            saved_in_place(ctx, call, back) or keep_parameters(ctx),
            certainty=Certainty.CERTAIN if known else Certainty.LIKELY,
            related=((index.span(optimizer), "the optimizer is built here"), (index.span(back.call), "the way back")),
        )


def _goes_to_host(ctx: FileContext, call: ast.Call) -> bool:
    assert isinstance(call.func, ast.Attribute)
    if call.func.attr == "cpu":
        return not call.args and not call.keywords
    given = [*call.args[:1], *(item.value for item in call.keywords if item.arg == "device")]
    if not given or isinstance(given[0], ast.Starred):
        return False
    place = given[0]
    if isinstance(place, ast.Call) and ctx.index.qualified_name(place.func) == "torch.device" and place.args:
        place = place.args[0]
    return isinstance(place, ast.Constant) and place.value == "cpu"


def _share(left: list[Creation], right: list[Creation]) -> bool:
    return any(one.overlaps(other) for one in left for other in right)


def _is_before(ctx: FileContext, optimizer: ast.Call, call: ast.Call) -> bool:
    return ctx.index.moves.precedes(optimizer, call) is True


def _is_way_back(ctx: FileContext, call: ast.Call, move: Move) -> bool:
    """Whether the model comes back by this move: below, in the same function."""
    index = ctx.index
    return index.function_of(call) is index.function_of(move.call) and index.moves.precedes(call, move.call) is True


def _trains_on(ctx: FileContext, optimizer: ast.Call, call: ast.Call, back: Move) -> bool:
    """Whether the optimizer that was built before makes further steps, in the same loop or below."""
    moves = ctx.index.moves
    for step_loop in ctx.index.step_loops:
        for update in (step_loop.node, *step_loop.updates):
            if moves.precedes(back.call, update) is True or _in_one_loop(ctx, call, update, optimizer):
                return True
    return False


def _in_one_loop(ctx: FileContext, call: ast.Call, update: ast.AST, optimizer: ast.Call) -> bool:
    """Whether a loop that does not build the optimizer holds both, itself or through functions it calls."""
    tree, moves = ctx.index.tree, ctx.index.moves
    builders = [place for _, place in moves.places(optimizer)]
    updates = [place for _, place in moves.places(update)]
    for _, place in moves.places(call):
        for ancestor in tree.ancestors(place):
            if not isinstance(ancestor, LOOPS) or any(tree.encloses(ancestor, built) for built in builders):
                continue
            if any(ancestor is one or tree.encloses(ancestor, one) for one in updates):
                return True
    return False
