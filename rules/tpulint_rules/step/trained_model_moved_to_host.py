"""A model that goes to the host and back while it is trained: its optimizer is left behind."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.semantic import FUNCTIONS, LOOPS, Kind
from tpulint.semantic.devices.device_sites import devices_given
from tpulint.semantic.modules.moves import Move
from tpulint.semantic.project.other_files import function_run
from tpulint.semantic.syntax.variables import last_name
from tpulint.semantic.values.creations import Creation, overlap
from tpulint_rules.step._built_optimizers import builds_optimizer, modules_of
from tpulint_rules.step._kept_parameters import keep_parameters
from tpulint_rules.step._round_trips import is_host, round_trips


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if index.moves.keeps_parameters:
        return
    built = [call for call in index.calls if builds_optimizer(ctx, call)]
    departures = [(call, receiver) for call, receiver in index.method_calls("cpu", "to") if _goes_to_host(ctx, call)]
    optimizers = [
        (call, [one for module in modules_of(ctx, call) for one in _with_parts(ctx, module)]) for call in built
    ]
    told: list[ast.Call] = []
    building = optimizers
    if departures and index.moves.has_device:
        from tpulint_rules.step._trained_elsewhere import trainers

        building = [*optimizers, *trainers(ctx)]
        yield from _here(ctx, departures, building, told)
        if not built:
            yield from _saved_for_others(ctx, [call for call, _ in departures if call not in told])
    if index.moves.has_device and building:
        if departures or index.imported.knows_others:
            from tpulint_rules.step._ways_apart import ways_apart

            yield from ways_apart(ctx, [item for item in departures if item[0] not in told], building)
        yield from _elsewhere(ctx, optimizers)


def _elsewhere(ctx: FileContext, optimizers: list[tuple[ast.Call, list[Creation]]]) -> Iterator[Finding]:
    """Trained models handed to a class or function of another file that sends them to the host and back."""
    index = ctx.index
    for call in index.imported.calls:
        found = index.imported.called(call)
        if found is None or isinstance(found.node, ast.Module):
            continue
        is_class = isinstance(found.node, ast.ClassDef)
        start = function_run(found)
        if start is None or not isinstance(start.node, FUNCTIONS):
            continue
        parameters = [item.arg for item in start.node.args.args][is_class:]
        trips = {last_name(module) for _, module, _ in round_trips(found.file, found.node)}
        for name, given in zip(parameters, call.args, strict=False):
            handed = index.moves.creations.of(given) if name in trips else []
            optimizer = next((one for one, owned in optimizers if overlap(handed, owned)), None)
            if optimizer is not None:
                yield ctx.finding(
                    given,
                    f"`{ctx.text(given)}` is trained here, and `{found.node.name}` takes it to the host and back: "
                    "on XLA both moves make new parameters, and the optimizer keeps the old ones, so that the model "
                    "trains no more",
                    keep_parameters(ctx, while_trained=True),
                    certainty=Certainty.LIKELY,
                    related=((index.span(optimizer), "the optimizer is built here"),),
                )


def _with_parts(ctx: FileContext, module: ast.expr) -> Iterator[Creation]:
    """What a module was created as, and what was handed to it then: ``Classifier(encoder)``."""
    creations = ctx.index.moves.creations
    for one in creations.of(module):
        yield one
        for given in one.node.args if isinstance(one.node, ast.Call) else ():
            if ctx.index.kind(given) in (Kind.MODULE, Kind.UNKNOWN) and not isinstance(given, ast.Starred):
                yield from creations.of(given)


def _here(
    ctx: FileContext,
    departures: list[tuple[ast.Call, ast.expr]],
    optimizers: list[tuple[ast.Call, list[Creation]]],
    told: list[ast.Call],
) -> Iterator[Finding]:
    index = ctx.index
    for call, receiver in departures:
        if index.kind(receiver) not in (Kind.MODULE, Kind.UNKNOWN):
            continue
        gone = index.moves.creations.of(receiver)
        sharing = [o for o, owned in optimizers if overlap(gone, owned)]
        ways = (move for move in index.moves.moves if overlap(gone, move.creations))
        back = next((move for move in ways if _is_way_back(ctx, call, move)), None)
        if back is None or _keeps_parameters(ctx, call, back):
            continue
        optimizer = next((one for one in sharing if _is_left_behind(ctx, one, call, back)), None)
        if optimizer is None:
            continue
        from tpulint_rules.step._copied_to_host import copied_to_host
        from tpulint_rules.step._saved_in_place import module_moved, saved_in_place

        from_elsewhere = _is_called_elsewhere(ctx, optimizer, call)
        known = back.certain and not from_elsewhere and not any(isinstance(one.node, ast.arg) for one in gone)
        module = ctx.text(module_moved(call))
        told.append(call)
        yield ctx.finding(
            call,
            f"`{module}` goes to the host and back while it is trained: on XLA both moves make new parameters, and the "
            "optimizer keeps the old ones, so that the model trains no more",
            saved_in_place(ctx, call, back)
            or keep_parameters(ctx, while_trained=True)
            or copied_to_host(ctx, call, back),
            certainty=Certainty.CERTAIN if known else Certainty.LIKELY,
            related=((index.span(optimizer), "the optimizer is built here"), (index.span(back.call), "the way back")),
        )


def _saved_for_others(ctx: FileContext, departures: list[ast.Call]) -> Iterator[Finding]:
    """``torch.save(net.cpu().state_dict(), path)`` and ``net.cuda()`` in a function of a file that trains nothing.

    A base class of models, whose optimizers stand in other files, or a hook of an engine.
    """
    from tpulint_rules.step._saved_in_place import is_saved_between, module_moved, saved_in_place

    index = ctx.index
    for call in departures:
        if index.function_of(call) is None:
            continue
        ways = [move for move in index.moves.moves if _is_way_back(ctx, call, move)]
        ways = [move for move in ways if not _keeps_parameters(ctx, call, move)]
        fix = next((fix for move in ways if (fix := saved_in_place(ctx, call, move)) is not None), None)
        if fix is not None or any(is_saved_between(ctx, call, move) for move in ways):
            module = ctx.text(module_moved(call))
            yield ctx.finding(
                call,
                f"`{module}` goes to the host and back when it is saved: on XLA both moves make new parameters, and an "
                "optimizer that was built before keeps the old ones, so that the model trains no more",
                fix or keep_parameters(ctx, while_trained=True),
                certainty=Certainty.LIKELY,
            )


def _keeps_parameters(ctx: FileContext, call: ast.Call, back: Move) -> bool:
    """Whether the flag for it is set on the way to the host and on the way back."""
    moves = ctx.index.moves
    return moves.keeps_parameters_at(call) and moves.keeps_parameters_at(back.call)


def _goes_to_host(ctx: FileContext, call: ast.Call) -> bool:
    assert isinstance(call.func, ast.Attribute)
    if call.func.attr == "cpu":
        return not call.args and not call.keywords
    given = devices_given(call)
    if not given or isinstance(given[0], ast.Starred):
        return False
    return is_host(ctx.index, given[0])


def _is_left_behind(ctx: FileContext, optimizer: ast.Call, call: ast.Call, back: Move) -> bool:
    """Whether an optimizer that was built before the model goes makes further steps when it is back."""
    if _is_called_elsewhere(ctx, optimizer, call):
        return True
    return ctx.index.moves.precedes(optimizer, call) is True and _trains_on(ctx, optimizer, call, back)


def _is_called_elsewhere(ctx: FileContext, optimizer: ast.Call, call: ast.Call) -> bool:
    """Whether a trainer has a method for other files that moves its model, beside those that build and train it."""
    index = ctx.index
    function = index.function_of(call)
    owner = None if function is None else index.tree.class_of(function)
    if function is None or owner is None or function.name == "__init__" or index.definitions.calls_of(function):
        return False
    updates = [update for step in index.step_loops for update in step.updates]
    return index.tree.encloses(owner, optimizer) and any(
        index.tree.encloses(owner, update) and not index.tree.encloses(function, update) for update in updates
    )


def _is_way_back(ctx: FileContext, call: ast.Call, move: Move) -> bool:
    """Whether the model comes back by this move: below, in the same function."""
    index = ctx.index
    return index.function_of(call) is index.function_of(move.call) and index.moves.precedes(call, move.call) is True


def _trains_on(ctx: FileContext, optimizer: ast.Call, call: ast.Call, back: Move) -> bool:
    """Whether the optimizer that was built before makes further steps, in the same loop or below."""
    from tpulint_rules.step._trained_elsewhere import training_calls

    moves = ctx.index.moves
    updates = [update for step in ctx.index.step_loops for update in (step.node, *step.updates)]
    return any(
        moves.precedes(back.call, update) is True or _in_one_loop(ctx, call, update, optimizer)
        for update in (*updates, *training_calls(ctx, optimizer))
    )


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
