"""Layers told of where they are made: what they do on the host, the forward or backward pass of their model does."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import FUNCTIONS, FunctionNode, SemanticIndex
from tpulint.semantic.loops.turn_code import STEP
from tpulint_rules.host_sync import _host_operations as on_host
from tpulint_rules.host_sync._pooling import POOL_LAYERS, count_no_padding, has_pooled_gradient_on_host

_WEIGHT_NORM = ("torch.nn.utils.weight_norm", "torch.nn.utils.weight_norm.weight_norm")
_ROUNDED = "The weight is computed by other operations: its last digits may differ."


def made_layers(ctx: FileContext) -> Iterator[Finding]:
    """Layers of the models that turns run."""
    if ctx.index.kinds.mentions_device:
        yield from _wrappers(ctx)
        yield from _pools(ctx)


def _wrappers(ctx: FileContext) -> Iterator[Finding]:
    """Layers of a module that a turn runs, whose weight is computed on the host in every forward pass."""
    index = ctx.index
    found: list[tuple[ast.Call, dict[ast.expr, str]]] = []
    turns: list[str] = []
    for call, ways in _calls_of_wrappers(ctx):
        owner = index.tree.class_of(call)
        # `net = nn.Sequential(weight_norm(nn.Linear(8, 4)))` of a script
        if owner is None and index.step_loops and not index.mentions("remove_weight_norm"):
            found.append((call, ways))
            turns.append(STEP)
        runs = [] if owner is None else _runs_of(ctx, owner)
        if runs:
            found.append((call, ways))
            turns += [turn for run in runs if (turn := index.turn_code.turn_of(run.body[0])) is not None]
    # A file of layers is one model: which of them the others are made of, an option or a list may say.
    for call, ways in found if turns else ():
        operation = on_host.WRAPPERS[next(iter(ways.values()))]
        yield ctx.finding(
            call,
            f"`{operation}` computes the weight on the host in every {STEP if STEP in turns else turns[0]}: "
            "the graph is cut, and the weight is transferred",
            _own_weight_norm(ctx, ways) if all(name in _WEIGHT_NORM for name in ways.values()) else None,
            certainty=Certainty.LIKELY,
            help=on_host.INSTEAD.get(operation, on_host.NOTHING),
        )


def _calls_of_wrappers(ctx: FileContext) -> Iterator[tuple[ast.Call, dict[ast.expr, str]]]:
    """Calls of such functions, with where each is named and how: ``norm = weight_norm if old else spectral_norm``."""
    index = ctx.index
    named = [(node, name) for node, name in index.references("torch.nn.utils") if name in on_host.WRAPPERS]
    chosen: dict[ast.expr, str] = {}
    for node, name in named:
        user = index.parent(node)
        if isinstance(user, ast.Call) and user.func is node:
            yield user, {node: name}
        else:
            chosen[node] = name
    for call in index.calls if chosen else ():
        if isinstance(call.func, ast.Name) and index.qualified_name(call.func) is None:
            given = [binding.value for binding in index.flow.reaching(call.func) if not binding.path]
            ways = [way for value in given if value is not None for way in _ways(value) if way in chosen]
            if ways:
                yield call, {way: chosen[way] for way in ways}


def _ways(node: ast.expr) -> Iterator[ast.expr]:
    """What an expression may be: both of ``a if old else b``."""
    if isinstance(node, ast.IfExp):
        yield from _ways(node.body)
        yield from _ways(node.orelse)
    else:
        yield node


def _is_compared(index: SemanticIndex) -> bool:
    """Whether the file asks which function of several it has: ``norm is weight_norm``, ``{weight_norm: 1}[norm]``."""
    users = ((node, index.parent(node)) for node, name in index.references("torch.nn.utils") if name in _WEIGHT_NORM)
    return any(
        isinstance(user, ast.Compare) or (isinstance(user, ast.Dict) and node in user.keys) for node, user in users
    )


def _pools(ctx: FileContext) -> Iterator[Finding]:
    """Layers whose gradient the host computes, of a model that a step trains."""
    index = ctx.index
    made = [
        (call, name)
        for call in index.calls_to(*POOL_LAYERS)
        if (name := index.qualified_name(call.func)) is not None and has_pooled_gradient_on_host(call, name)
    ]
    trained = _trained_in(ctx) if made else None
    if trained is None:
        return
    for call, name in made:
        if not _is_part_of_model(ctx, call):
            continue
        layer = name.rpartition(".")[2]
        yield ctx.finding(
            call,
            f"the gradient of `{layer}` runs on the host in every {STEP}: "
            "the graph is cut, and its tensor is transferred",
            count_no_padding(ctx, call, name),
            certainty=Certainty.LIKELY,
            help=on_host.INSTEAD.get(layer, on_host.NOTHING),
            runs=trained,
        )


def _trained_in(ctx: FileContext) -> ast.AST | None:
    """What a step runs of the models of a file: the loop itself, or the forward pass of one of its classes."""
    index = ctx.index
    if index.step_loops:
        return index.step_loops[0].node.body[0]
    owners = filter(index.definitions.is_module_class, index.tree.classes)
    begun = (run.body[0] for owner in owners for run in _runs_of(ctx, owner))
    return next((statement for statement in begun if index.turn_code.turn_of(statement) == STEP), None)


def _is_part_of_model(ctx: FileContext, call: ast.Call) -> bool:
    """Whether a layer is one of a class, or handed to what holds layers: alone it may be there for the data."""
    index = ctx.index
    owner = index.tree.class_of(call)
    if owner is None:
        return not isinstance(index.parent(call), ast.Assign | ast.AnnAssign)
    turns = {index.turn_code.turn_of(run.body[0]) for run in _runs_of(ctx, owner)}
    return index.definitions.is_module_class(owner) and (STEP in turns or turns <= {None})


def _runs_of(ctx: FileContext, owner: ast.ClassDef) -> list[FunctionNode]:
    """The forward pass of a class, and of one that has none what it is asked for instead: ``layer.up(x)``."""
    definitions = ctx.index.definitions
    forward = definitions.method(owner, "forward")
    if forward is not None or not definitions.is_module_class(owner):
        return [] if forward is None else [forward]
    return [item for item in owner.body if isinstance(item, FUNCTIONS) and not item.name.startswith("_")]


def _own_weight_norm(ctx: FileContext, named: Iterable[ast.expr]) -> FixBuilder | None:
    if _is_compared(ctx.index):
        return None  # another function is not the same: `norm is weight_norm`
    fix = ctx.fix("Compute the weight on the device", Applicability.UNSAFE, _ROUNDED)
    for node in named:
        fix.replace(node, f"{fix.use('tpulint_runtime', at=node)}.weight_norm")
    return fix
