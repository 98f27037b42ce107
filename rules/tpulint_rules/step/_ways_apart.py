"""Ways to the host and back of a trained model that no function makes as a whole: one sends it, another brings it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tpulint.context import FileContext
from tpulint.model import Certainty, Finding
from tpulint.records import NamedTuple
from tpulint.semantic import FUNCTIONS, LOOPS, Kind, SemanticIndex
from tpulint.semantic.functions.passed_arguments import arguments_given
from tpulint.semantic.modules.moves import Move
from tpulint.semantic.project.other_files import function_run
from tpulint.semantic.values.creations import Creation, overlap
from tpulint_rules.step._kept_parameters import keep_parameters
from tpulint_rules.step._made_modules import classes_made, makings
from tpulint_rules.step._round_trips import is_asked_for, left_on_host
from tpulint_rules.step._trained_elsewhere import training_calls


class _Departure(NamedTuple):
    """A call that sends a module to the host, itself or by a function of another file."""

    call: ast.Call
    module: ast.expr
    file: SemanticIndex | None = None
    """The other file."""


def ways_apart(
    ctx: FileContext,
    departures: Sequence[tuple[ast.Call, ast.expr]],
    optimizers: Sequence[tuple[ast.Call, list[Creation]]],
) -> Iterator[Finding]:
    """Models that ``evaluate_on_host(model)`` leaves on the host, in a loop that moves them to the device each time."""
    moves = ctx.index.moves
    ways = [move for move in moves.moves if _moves_module(ctx, move.call, move.module)]
    returning = [(move, moves.collected.among(move.creations)) for move in ways]
    own = [_Departure(call, module) for call, module in departures if _moves_module(ctx, call, module)]
    own = [one for one in own if not is_asked_for(ctx.index, one.call)]
    for departure in (*own, *_handed(ctx)) if returning else ():
        gone = moves.collected.of(departure.module)
        backs = [move for move, creations in returning if overlap(gone, creations)]
        backs = [move for move in backs if not _is_whole(ctx, departure, move.call)]
        for optimizer, owned in optimizers:
            back = next((one for one in backs if _trains_on(ctx, departure.call, one.call, optimizer)), None)
            if back is not None and overlap(gone, owned):
                yield _finding(ctx, departure, gone, back, optimizer)
                break


def _finding(ctx: FileContext, departure: _Departure, gone: list[Creation], back: Move, optimizer: ast.Call) -> Finding:
    module = ctx.text(departure.module)
    is_own = departure.file is None
    leaves = (
        f"`{module}` goes to the host" if is_own else f"`{ctx.text(departure.call.func)}` takes `{module}` to the host"
    )
    owners = [owner.file for one in makings(gone) for owner in classes_made(ctx.index, one)]
    files = owners if departure.file is None else [departure.file, *owners]
    return ctx.finding(
        departure.call,
        f"{leaves}, and it comes back to be trained further: on XLA both moves make new parameters, and the optimizer "
        "keeps the old ones, so that the model trains no more",
        keep_parameters(ctx, made_in=files, while_trained=True),
        certainty=Certainty.LIKELY,
        related=(
            (ctx.index.span(optimizer), "the optimizer is built here"),
            (ctx.index.span(back.call), "the way back"),
        ),
    )


def _handed(ctx: FileContext) -> Iterator[_Departure]:
    """Calls of functions of other files that leave on the host what they are given."""
    for call in ctx.index.imported.calls:
        found = ctx.index.imported.called(call)
        run = None if found is None else function_run(found)
        if run is None or not isinstance(run.node, FUNCTIONS) or run.file is ctx.index:
            continue
        sent = [node for node in left_on_host(run.file, run.node) if isinstance(node, ast.Name)]
        left = {node.id for node in sent if _is_given(run.file, node)}
        is_method = run.file.tree.class_of(run.node) is not None
        for name, given in arguments_given(call, run.node, is_method) if left else ():
            if name in left and not isinstance(given, ast.Starred):
                yield _Departure(call, given, run.file)


def _is_given(file: SemanticIndex, name: ast.Name) -> bool:
    """Whether a name is what a function was given, and no copy of it."""
    bindings = file.flow.reaching(name)
    return bool(bindings) and all(binding.kind == "parameter" for binding in bindings)


def _moves_module(ctx: FileContext, call: ast.Call, module: ast.expr) -> bool:
    """Whether a call surely moves a module: it is one, or nobody takes what the call gives, as one must of a tensor."""
    statement = ctx.index.parent(call)
    while isinstance(statement, ast.Attribute | ast.Call):
        statement = ctx.index.parent(statement)
    return ctx.index.kind(module) is Kind.MODULE or (
        ctx.index.kind(module) is Kind.UNKNOWN and isinstance(statement, ast.Expr)
    )


# -------------------------------------------------------------------- order


def _is_whole(ctx: FileContext, departure: _Departure, back: ast.Call) -> bool:
    """Whether one function makes the way as a whole, or only one of the two moves: ``if on: ... else: ...``."""
    moves, away = ctx.index.moves, departure.call
    is_own = departure.file is None
    if (
        is_own
        and ctx.index.function_of(away) is ctx.index.function_of(back)
        and moves.precedes(away, back) is not False
    ):
        return True
    if moves.keeps_parameters_at(away) and moves.keeps_parameters_at(back):
        return True
    return any(moves.exclude_each_other(one, two) for one, two in _in_one_function(ctx, away, back))


def _trains_on(ctx: FileContext, away: ast.Call, back: ast.Call, optimizer: ast.Call) -> bool:
    """Whether the optimizer makes further steps behind the way back, or in a loop that holds both moves."""
    tree, moves = ctx.index.tree, ctx.index.moves
    if moves.precedes(optimizer, away) is not True:
        return False
    builders = [place for _, place in moves.places(optimizer)]
    steps = (step for step in ctx.index.step_loops if any(_may_step(ctx, call, optimizer) for call in step.updates))
    updates = [update for step in steps for update in (step.node, *step.updates)]
    updates += training_calls(ctx, optimizer)
    stepping = [(function, place) for update in updates for function, place in moves.places(update)]
    for one, two in _in_one_function(ctx, away, back):
        within = [place for function, place in stepping if function is ctx.index.function_of(one)]
        is_behind = one is not two and tree.start(one) < tree.start(two)
        if is_behind and any(tree.start(two) < tree.start(place) for place in within):
            return True
        for loop in (above for above in tree.ancestors(one) if isinstance(above, LOOPS)):
            if any(tree.encloses(loop, built) for built in builders) or not tree.encloses(loop, two):
                continue
            if any(place is loop or tree.encloses(loop, place) for place in within):
                return True
    return False


def _may_step(ctx: FileContext, update: ast.Call, optimizer: ast.Call) -> bool:
    """Whether an update may be one of this optimizer: of what a function is given it is not always known."""
    stepped = update.func.value if isinstance(update.func, ast.Attribute) else None
    made = [] if stepped is None else [one.node for one in ctx.index.moves.creations.of(stepped)]
    return not made or any(node is optimizer or not isinstance(node, ast.Call) for node in made)


def _in_one_function(ctx: FileContext, one: ast.AST, two: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Where a function brings both about, itself or by what it calls."""
    places = list(ctx.index.moves.places(two))
    for function, place in ctx.index.moves.places(one):
        yield from ((place, other) for where, other in places if where is function)
