"""Two layers that share a parameter stop sharing it when the model moves to an XLA device."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tpulint.context import FileContext
from tpulint.model import Finding
from tpulint.semantic.syntax.variables import root_of
from tpulint.semantic.values.creations import overlap
from tpulint_rules.step._handed_parameters import PARAMETERS, is_layer_of, module_made_at, parameters_handed_over
from tpulint_rules.step._kept_parameters import keep_parameters
from tpulint_rules.step._kept_ties import keep_ties, keeps_ties
from tpulint_rules.step._listed_parameters import parameters_of_plain_lists


def check(ctx: FileContext) -> Iterator[Finding]:
    if ctx.index.moves.keeps_parameters or _stays_on_host(ctx):
        return
    for target in ctx.index.tree.attributes:
        if target.attr not in PARAMETERS or not isinstance(target.ctx, ast.Store):
            continue
        statement = ctx.index.parent(target)
        if not isinstance(statement, ast.Assign) or target not in statement.targets:
            continue
        source = _parameter(ctx, statement.value)
        if source is None or keeps_ties(ctx, target):
            continue
        if _in_init(ctx, target, source):
            fix = keep_ties(ctx, target)
        elif (moving := _moves_behind(ctx, target, source)) is not None:
            fix = keep_parameters(ctx, *moving)
        else:
            continue
        message = (
            f"`{ctx.text(target)}` is tied to `{ctx.text(source)}` only until the model moves to an XLA device: "
            "the move makes new parameters, and the two train apart"
        )
        yield ctx.finding(statement, message, fix)
    if ctx.index.moves.swap_flag.is_used:
        return  # perhaps around the move of these
    for call, given in parameters_handed_over(ctx):
        if keeps_ties(ctx, call):
            continue
        message = (
            f"`{ctx.text(call.func)}` shares `{ctx.text(given)}` only until the model moves to an XLA device: "
            "the move makes new parameters, and the two train apart"
        )
        yield ctx.finding(call, message, keep_ties(ctx, call))
    for made, layer in parameters_of_plain_lists(ctx.index):
        message = (
            f"`{ctx.text(layer)}` stands in a plain list and does not move with the module: to an XLA device only the "
            "copies move that the `ParameterList` gets, and the layer stays on the host"
        )
        yield ctx.finding(made, message, keep_parameters(ctx))


def _stays_on_host(ctx: FileContext) -> bool:
    """Whether a script trains its model itself where it was made, and says nothing of devices: it never moves."""
    index = ctx.index
    return bool(index.step_loops) and not index.kinds.mentions_device and not index.outside


def _parameter(ctx: FileContext, value: ast.expr, depth: int = 0) -> ast.Attribute | None:
    """The parameter of another layer that an expression means: ``self.encoder.weight``, or a variable that holds it."""
    if isinstance(value, ast.Attribute) and value.attr in PARAMETERS:
        return value
    if isinstance(value, ast.Name) and depth == 0:
        bindings = ctx.index.flow.reaching(value)
        if (
            len(bindings) == 1
            and bindings[0].kind == "assign"
            and bindings[0].value is not None
            and not bindings[0].path
        ):
            return _parameter(ctx, bindings[0].value, 1)
    return None


def _in_init(ctx: FileContext, target: ast.Attribute, source: ast.Attribute) -> bool:
    """Whether a module ties parts of itself while it is made, to be moved by whatever move."""
    if ctx.index.moves.swap_flag.is_used:
        return False  # perhaps around that one
    # `self.weight = ...` gives a parameter to this module itself; a tie has a layer on both sides
    own = module_made_at(ctx, target)
    return bool(own) and is_layer_of(target, own) and is_layer_of(source, own)


def _moves_behind(ctx: FileContext, target: ast.Attribute, source: ast.Attribute) -> list[ast.Call] | None:
    """The moves by which a script parts what it tied: of the module of both layers, or of the two modules."""
    creations = ctx.index.moves.creations
    one, two = root_of(target), root_of(source)
    if one is None or two is None or ctx.text(target) == ctx.text(source):
        return None
    roots = creations.of(two)
    is_one = any(creation.overlaps(other) for creation in creations.of(one) for other in roots)
    # One that does not move is often there only to give its parameter away.
    first = _first_move(ctx, target, target.value)
    other = first if is_one else _first_move(ctx, target, source.value)
    return None if first is None or other is None else [first, other]


def _first_move(ctx: FileContext, tie: ast.Attribute, layer: ast.expr) -> ast.Call | None:
    """The first move of a layer's module, or of one that it is a part of, if it stands behind a tie."""
    moves = ctx.index.moves
    found = moves.creations.of(layer)
    moving = [move for move in moves.moves if overlap(list(moves.moved_by(move)), found)]
    for move in moving:
        if moves.precedes(tie, move.call) is True:
            is_first = (
                not moves.keeps_parameters_at(move.call)
                and not any(moves.to_device(call) is not None for creation in found for call in creation.way)
                and not any(other is not move and moves.precedes(other.call, tie) is not False for other in moving)
            )
            return move.call if is_first else None
    return None
