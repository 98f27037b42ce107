"""A random number of the host that decides what the graph of a step is made of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from math import prod

from tpulint.context import FileContext, FixBuilder
from tpulint.model import Applicability, Certainty, Finding
from tpulint.semantic import Kind, Side
from tpulint.semantic.syntax.nodes import FUNCTIONS

_MODULES = ("ModuleList", "Sequential", "ModuleDict")
_FEW = 2
_MANY = 8
"""Graphs, as many as three draws make."""
_BOTH = "Both values are computed, and must have one shape; the random numbers stay the same."


def check(ctx: FileContext) -> Iterator[Finding]:
    index = ctx.index
    if not index.turn_code.exists:
        return
    nodes: list[ast.IfExp | ast.If] = [*index.turn_code.nodes(ast.IfExp), *index.turn_code.nodes(ast.If)]
    yield from _layers_chosen(ctx)
    yield from _branches_in_a_row(ctx, nodes)
    yield from _functions_chosen(ctx)
    for node in nodes:
        turn = index.turn_code.turn_of(node)
        if turn is None or index.turn_code.loop_within(node) is None:
            continue
        draw = index.changing_numbers.draw(node.test)
        if draw is None or not _makes_graph(ctx, node):
            continue
        yield ctx.finding(
            node.test,
            f"a random number decides, several times in every {turn}, what the graph is made of: "
            "each pattern of outcomes is compiled",
            _fix(ctx, node) if isinstance(node, ast.IfExp) else None,
            certainty=Certainty.LIKELY,
            related=() if index.tree.encloses(node.test, draw) else ((index.span(draw), "drawn here"),),
        )


def _branches_in_a_row(ctx: FileContext, nodes: list[ast.IfExp | ast.If]) -> Iterator[Finding]:
    """Branches that draws of their own decide, in one function or turn: three of them are eight graphs."""
    index = ctx.index
    by_place: dict[tuple[ast.AST | None, ast.AST | None], dict[ast.AST, ast.Call]] = {}
    for node in nodes:
        if index.turn_code.turn_of(node) is None or index.turn_code.loop_within(node) is not None:
            continue
        draw = index.changing_numbers.draw(node.test)
        if draw is not None and _makes_graph(ctx, node):
            by_place.setdefault((index.function_of(node), index.tree.loop_of(node)), {})[node] = draw
    for (function, loop), draws in by_place.items():
        holder, first = loop or function, next(iter(draws))
        if holder is None or _graphs_of(holder, draws, set()) < _MANY:
            continue
        assert isinstance(first, ast.IfExp | ast.If)
        yield ctx.finding(
            first.test,
            f"random numbers decide, {len(set(draws.values()))} times in every {index.turn_code.turn_of(first)}, what "
            "the graph is made of: each pattern of outcomes is compiled",
            certainty=Certainty.LIKELY,
            related=tuple((index.span(draw), "drawn here") for draw in draws.values()),
        )


def _graphs_of(node: ast.AST, draws: dict[ast.AST, ast.Call], seen: set[ast.Call]) -> int:
    """How many graphs the branches below a node make; what one draw decides again, it has decided before."""
    if not isinstance(node, ast.If | ast.IfExp):
        inner = (child for child in ast.iter_child_nodes(node) if not isinstance(child, FUNCTIONS))
        return prod(_graphs_of(child, draws, seen) for child in inner)
    suites = [part if isinstance(part, list) else [part] for part in (node.body, node.orelse)]
    sides = [prod(_graphs_of(item, draws, seen) for item in suite) for suite in suites]
    if node not in draws or draws[node] in seen:
        return max(sides)
    seen.add(draws[node])
    return sum(sides)


def _layers_chosen(ctx: FileContext) -> Iterator[Finding]:
    """``layers[random.randrange(len(layers))](x)`` in every step; of two there are two graphs, which is no matter."""
    index = ctx.index
    for node in index.turn_code.nodes(ast.Subscript) if index.source.has_any(_MODULES) else ():
        turn = index.turn_code.turn_of(node)
        if turn is None or isinstance(node.slice, ast.Constant) or index.kind(node) is not Kind.MODULE:
            continue
        draw = index.changing_numbers.cause(node.slice)
        if not isinstance(draw, ast.Call) or _has_two_outcomes(draw):
            continue
        yield ctx.finding(
            node,
            f"a random number chooses, in every {turn}, which layer runs: each choice is compiled",
            certainty=Certainty.LIKELY,
            related=() if index.tree.encloses(node, draw) else ((index.span(draw), "drawn here"),),
        )


def _functions_chosen(ctx: FileContext) -> Iterator[Finding]:
    """``random.choice([flip, turn, fade])(x)`` of a tensor of the device."""
    index = ctx.index
    for draw in index.calls_to("random.choice"):
        call = index.parent(draw)
        turn = index.turn_code.turn_of(draw)
        if turn is None or not isinstance(call, ast.Call) or call.func is not draw or len(draw.args) != 1:
            continue
        made = [one.node for one in index.moves.creations.of(draw.args[0])]
        is_many = len(made) == 1 and isinstance(made[0], ast.List | ast.Tuple) and len(made[0].elts) > _FEW
        if is_many and any(map(index.is_device_tensor, call.args)):
            yield ctx.finding(
                draw,
                f"a random number chooses, in every {turn}, which function runs: each choice is compiled",
                certainty=Certainty.LIKELY,
            )


def _has_two_outcomes(draw: ast.Call) -> bool:
    """``randint(0, 1)``, ``randint(2)``, ``choice((first, second))``"""
    last = draw.args[-1] if draw.args else None
    if isinstance(last, ast.Tuple | ast.List):
        return len(last.elts) <= _FEW
    return isinstance(last, ast.Constant) and isinstance(last.value, int) and last.value <= _FEW


def _makes_graph(ctx: FileContext, node: ast.IfExp | ast.If) -> bool:
    """Whether the outcome decides what the device computes."""
    index = ctx.index
    if isinstance(node, ast.IfExp):
        sides = (node.body, node.orelse)
        on_device = any(index.is_device_tensor(side) for side in sides)
        return on_device and not any(index.kind(side) is Kind.HOST for side in sides)
    left_out: list[ast.stmt] = []
    if isinstance(node.body[-1], ast.Continue):  # it decides whether what stands behind it is run
        suite = index.tree.suite_of(node)
        left_out = suite[suite.index(node) + 1 :]
    statements = (*node.body, *node.orelse, *left_out)
    values = [item.value for item in statements if isinstance(item, ast.Assign | ast.AugAssign)]
    parts = (part for value in values for part in (value, *index.tree.inside(value)) if isinstance(part, ast.expr))
    return any(index.kind(part) is Kind.TENSOR and index.value(part).side is not Side.HOST for part in parts)


def _fix(ctx: FileContext, node: ast.IfExp) -> FixBuilder | None:
    """Choose on the device; the outcome is an input of the graph, as a tensor of one element."""
    index = ctx.index
    if not all(index.is_device_tensor(side) for side in (node.body, node.orelse)):
        return None
    if any(index.scalars.is_scalar(side) for side in (node.body, node.orelse)):
        return None  # one element against none: the result would have a dimension more
    fix = ctx.fix("Choose on the device", Applicability.UNSAFE, _BOTH)
    torch, body = fix.use("torch", at=node), ctx.text(node.body)
    source = node.body
    while isinstance(source, ast.Subscript):
        source = source.value
    outcome = f"{torch}.tensor([{ctx.text(node.test)}], device={fix.text(source)}.device)"
    fix.replace(node, f"{torch}.where({outcome}, {body}, {ctx.text(node.orelse)})")
    return fix
